"""The mistakes are made as they are meant to be, and are noticed by a test that looks and by no other."""

import tomllib
from pathlib import Path

import pytest

from tests.mutation import __main__ as program
from tests.mutation.__main__ import EQUIVALENT, Kept, drawn, equivalent, modules
from tests.mutation.mutate import Mutation, mutations
from tests.mutation.trial import ROOT, Outcome, Tree, covering_tests, kernel_modules


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The processes that are forked for trials find this package, as they do under `make mutants`."""
    monkeypatch.syspath_prepend(str(ROOT))


def changed(source: str, kind: str) -> set[str]:
    return {mutation.after for mutation in mutations(source) if mutation.kind == kind}


@pytest.mark.parametrize(
    ("kind", "source", "expected"),
    [
        ("constant", "x = 3", {"x = 6", "x = 4", "x = 0"}),
        ("constant", "x = 0", {"x = 1"}),
        ("constant", "x = 1e-9", {"x = 2e-09", "x = 1.000000001", "x = 0.0"}),
        ("boundary", "x = a < b <= c", {"x = a <= b <= c", "x = a < b < c"}),
        ("comparison", "x = a < b != c", {"x = a >= b != c", "x = a < b == c"}),
        ("comparison", "x = a is not b", {"x = a is b"}),
        ("comparison", "x = a in b", {"x = a not in b"}),
        ("guard", "for x in y:\n    if x == z:\n        continue", {"if False:"}),
        ("guard", "if x == z:\n    y = f()\n    raise ValueError", {"if False:"}),
        ("dropped call", "demand(x, 'no')", {"pass"}),
        ("negation", "x = y if a or b else z", {"x = y if (not (a or b)) else z"}),
        ("negation", "x = not y", {"x = (y)"}),
        ("negation", "x = [y for y in z if y]", {"x = [y for y in z if (not (y))]"}),
        ("and, or", "x = a and b or c", {"x = ((a and b) and (c))", "x = ((a) or (b)) or c"}),
        ("arithmetic", "x = (a + b) * -c", {"x = (a - b) * -c", "x = (a + b) / -c", "x = (a + b) * (c)"}),
        ("arithmetic", "x = -a**2 // b", {"x = -((a) * (2)) // b", "x = (a**2) // b", "x = -a**2 * b"}),
        ("arithmetic", "x += 'µ' + y", {"x -= 'µ' + y", "x += 'µ' - y"}),
        ("error bar", "state_error = a + b", {"state_error = (0.5 * (a + b))"}),
        ("error bar", "f(radius=a)", {"f(radius=(0.5 * (a)))"}),
        ("error bar", "def rounding(x):\n    return x", {"return (0.5 * (x))"}),
        ("error bar", "terror = a", set()),
        ("error bar", "error = float('inf')", set()),
        ("error bar", "error = 0.0", set()),
        ("evidence", "x = Evidence.FLOAT64", {"x = Evidence.EXACT", "x = Evidence.CERTIFIED"}),
        ("evidence", "x = Evidence.EXACT", set()),
        ("extreme", "x = min(a, np.argmax(b))", {"x = max(a, np.argmax(b))", "x = min(a, np.argmin(b))"}),
        ("boolean", "f(x, y=True, strict=True)", {"f(x, y=False, strict=True)"}),
        ("answer", "def f() -> bool:\n    return x", {"return True", "return False"}),
        ("answer", "def f() -> bool:\n    return True", {"return False"}),
    ],
)
def test_mistakes(kind: str, source: str, expected: set[str]) -> None:
    assert changed(source, kind) == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""One of 3."""',
        "x: Literal[3]",
        "def f(x: A | B) -> Literal[1]:\n    '''Not 2.'''",
        "x = f'{y:.3g} or {1 + z}'",
        "raise ValueError('at least ' + 3)",
        "from a import b",
        "if TYPE_CHECKING:\n    x = 3",
        "A: TypeAlias = B | C",
        "@dataclass(frozen=True)\nclass C:\n    pass",
    ],
)
def test_what_is_left_alone(source: str) -> None:
    assert mutations(source) == []


def test_a_mutant_changes_its_line_alone() -> None:
    source = (ROOT / "orders" / "text.py").read_text(encoding="utf-8")
    lines = source.splitlines()
    found = mutations(source)
    assert {mutation.scope for mutation in found} >= {"", "shown"}
    for mutation in found:
        compile(mutation.source, "mutant", "exec")
        mutated = mutation.source.splitlines()
        differing = [i for i, (one, other) in enumerate(zip(lines, mutated, strict=True)) if one != other]
        assert differing == [mutation.line - 1]
        assert (lines[differing[0]].strip(), mutated[differing[0]].strip()) == (mutation.before, mutation.after)


def test_a_sample_takes_each_kind_in_turn() -> None:
    def mutants(kind: str, size: int) -> list[tuple[str, Mutation]]:
        return [("m", Mutation(kind, "", i, "", "", f"{kind} {i}")) for i in range(size)]

    population = mutants("common", 50) + mutants("rare", 2) + mutants("other", 5)
    one, same, another = (drawn(population, 9, seed) for seed in (1, 1, 2))
    assert one == same != another
    assert [sum(m.kind == kind for _, m in one) for kind in ("common", "rare", "other")] == [4, 2, 3]
    assert sorted(drawn(population, None, 1), key=str) == sorted(population, key=str)


def test_the_equivalent_mutants_are_mutants_of_the_code_with_a_reason() -> None:
    """So that a line that was changed or mended leaves the list."""
    entries = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", [])
    found = {m: mutations((ROOT / m).read_text(encoding="utf-8")) for m in {entry["module"] for entry in entries}}
    for entry in entries:
        assert set(entry) == {"module", "scope", "before", "after", "reason"}, entry
        assert entry["reason"].strip()
        assert any(equivalent((entry["module"], mutation), [entry]) for mutation in found[entry["module"]]), entry


def test_the_tests_of_a_module_begin_with_its_own() -> None:
    tests = covering_tests(ROOT, "training/ntp/steps/compiled.py")
    assert tests[:2] == ["tests/training/ntp/steps/test_compiled.py", "marginaudit.training"]
    assert tests.index("tests/training/ntp/certified/test_enclosure.py") < len(tests)
    assert "tests/test_docs.py" not in tests
    assert "tests/test_docs.py" in covering_tests(ROOT, "reports/counterexample.py")
    assert {
        "training/ntp/steps/compiled.py",
        "training/ntp/steps/reduced.py",
        "training/ntp/steps/iterate.py",
    } <= kernel_modules(ROOT)
    limit = covering_tests(ROOT, "reports/judgements/limit.py")
    assert limit[0] == "tests/reports/judgements/test_limit.py"
    near, far = "tests/reports/judgements/test_judgements.py", "tests/reports/test_audit_constants.py"
    assert limit.index(near) < limit.index(far)


def test_the_tests_that_call_a_command_are_near_to_its_module() -> None:
    tests = covering_tests(ROOT, "reports/ntp/commands/verify.py")
    assert "tests/reports/command/test_commands.py" in tests[:4]
    assert covering_tests(ROOT, "reports/command/sweep.py")[1] == "tests/reports/sweep/test_sweep.py"
    assert tests.index("tests/reports/command/test_surroundings.py") < tests.index("tests/reports/ntp/test_run.py")


def test_an_import_of_several_lines_is_one() -> None:
    assert "tests/reports/snap/test_conditions.py" in covering_tests(ROOT, "reports/snap/claims/rows.py")[:3]


def test_a_file_of_another_room_with_the_same_name_is_not_the_module_s_own() -> None:
    tests = covering_tests(ROOT, "orders/snap/generate.py")
    assert tests[:2] == ["tests/orders/snap/test_generate.py", "marginaudit.orders"]
    assert tests.index("tests/orders/snap/test_graph.py") < tests.index("tests/orders/ntp/test_generate.py")


def test_targets() -> None:
    assert modules(["margins/ntp/verify.py", "margins/ntp/verify.py"]) == ["margins/ntp/verify.py"]
    assert set(modules(["orders"])) < set(modules([]))
    for wrong in ("tests", "nowhere", "docs/ablation.py"):
        with pytest.raises(SystemExit, match="expected a package"):
            modules([wrong])


def test_outcomes_are_kept(tmp_path: Path) -> None:
    one, other = (
        ("orders/text.py", Mutation("constant", "", 1, "x = 1", after, after)) for after in ("x = 2", "x = 3")
    )
    tests = ["tests/orders/test_text.py", "marginaudit.orders"]
    kept = Kept(tmp_path / "kept.json", fresh=False)
    kept.keep(one, tests, Outcome(True, "a test", 1.0))
    kept.keep(other, tests, Outcome(False, "", 2.0))
    again = Kept(tmp_path / "kept.json", fresh=False)
    assert again.outcome(one, tests) == Outcome(True, "a test", 1.0)
    assert again.outcome(other, tests) == Outcome(False, "", 2.0)
    assert again.outcome(one, tests[:1]) is not None
    assert again.outcome(other, [*tests, "tests/orders/ntp/test_formats.py"]) is None
    again.tests = "changed since"
    assert again.outcome(one, tests) is not None
    assert again.outcome(other, tests) is None
    assert Kept(tmp_path / "kept.json", fresh=True).outcome(one, tests) is None


COLLOCATION = "orders/ntp/collocation.py"
PLANTED = """
import pytest
from marginaudit.orders.ntp import Collocation
maps = Collocation({"a": ("b",)}).maps

def test_weak():
    assert maps("a", "b") is not None

def test_strong():
    assert maps("a", "b")

def test_endless():
    while not maps("a", "b"):
        pass

def test_where(tmp_path):
    import os, resource, sys, tempfile
    from pathlib import Path
    from numba.core import config
    for name in ("marginaudit", "marginaudit.orders"):
        assert Path(sys.modules[name].__file__).resolve().is_relative_to(Path.cwd())
    assert config.CACHE_DIR == str(Path.cwd() / ".kernels")
    assert tempfile.gettempdir() == str(Path.cwd() / ".scratch")
    assert not tmp_path.is_relative_to(Path.cwd())  # whose pyproject.toml is not that of a test's own project
    assert os.getsid(0) == os.getpid()
    assert 40 <= resource.getrlimit(resource.RLIMIT_CPU)[0] < 80
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == 12 * 2**30
    assert not any(name.startswith("tests.mutation") for name in sys.modules)

def test_crash():
    import os, signal
    os.kill(os.getpid(), signal.SIGSEGV)

@pytest.mark.slow
def test_slow():
    assert False
"""


RED = "def test_shown_cuts_only_what_is_too_long():\n    assert False\n"


def planted(folder: Path, body: str) -> tuple[Tree, str]:
    tree = Tree(ROOT, folder)
    (tree.folder / "tests" / "test_planted.py").write_text(body, encoding="utf-8")
    return tree, "tests/test_planted.py::test_"


def the_mutant(module: str, after: str) -> Mutation:
    (found,) = (m for m in mutations((ROOT / module).read_text(encoding="utf-8")) if m.after == after)
    return found


def a_minute(_: str) -> float:
    return 60.0


def test_a_weak_test_lets_a_mutant_live_and_a_strong_one_kills_it(tmp_path: Path) -> None:
    tree, test = planted(tmp_path / "tree", PLANTED)
    mutant = the_mutant(COLLOCATION, "return y not in self.values[x]")
    assert not tree.try_mutation(COLLOCATION, mutant, [test + "weak", test + "slow"], a_minute).killed
    outcome = tree.try_mutation(COLLOCATION, mutant, [test + "weak", test + "strong"], a_minute)
    assert (outcome.killed, outcome.by) == (True, test + "strong")
    assert 0 < outcome.seconds < 60
    assert (tree.folder / COLLOCATION).read_bytes() == (ROOT / COLLOCATION).read_bytes()


@pytest.mark.slow
def test_what_ends_by_a_signal_is_said_by_its_name(tmp_path: Path) -> None:
    """As where a mutant of a compiled kernel writes past an array's end."""
    tree, test = planted(tmp_path / "tree", PLANTED)
    outcome = tree.test(test + "crash")
    assert (outcome.killed, outcome.by) == (True, "SIGSEGV")


def test_a_trial_sees_the_copy_of_the_tree_alone(tmp_path: Path) -> None:
    tree, test = planted(tmp_path / "tree", PLANTED)
    outcome = tree.test(test + "where", 40)
    assert (outcome.killed, outcome.by) == (False, "")


@pytest.fixture
def two_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Mutation, list[str]]:
    """A tree with one mutant and two tests of it, neither of which is red, and the list of the tests that are run.

    While the first is run, the tree gets a third.
    """
    origin = tmp_path / "origin"
    (origin / "orders").mkdir(parents=True)
    (origin / "orders" / "one.py").write_text("x = 1\n", encoding="utf-8")
    (origin / "tests" / "orders").mkdir(parents=True)
    for name in ("old", "one"):
        (origin / "tests" / "orders" / f"test_{name}.py").write_text("def test(): pass\n", encoding="utf-8")
    asked: list[str] = []

    class Watched(Tree):
        def test(self, test: str, limit: float | None = None, *, fresh_kernels: bool = False) -> Outcome:
            asked.append(f"{test} {'unchanged' if limit is None else f'for {limit:.0f} s'}")
            (origin / "tests" / "orders" / "test_new.py").write_text("def test_new(): pass\n", encoding="utf-8")
            return Outcome(False, "", 1.0)

    monkeypatch.setattr(program, "ROOT", origin)
    monkeypatch.setattr(program, "Tree", Watched)
    monkeypatch.setattr(program, "demand_that_mistakes_show", lambda tree: asked.append(f"known {tree.folder.name}"))
    (mutant,) = (m for m in mutations("x = 1\n") if m.after == "x = 2")
    return tmp_path, mutant, asked


def test_a_test_that_came_since_kills_nothing(two_tests: tuple[Path, Mutation, list[str]]) -> None:
    """The copy has the tests of its time, and those are run; one that it lacks is an error, not a red test."""
    folder, mutant, asked = two_tests
    program.try_all([("orders/one.py", mutant)], Kept(folder / "kept.json", fresh=True), 1, None)
    files = ("tests/orders/test_one.py", "marginaudit.orders", "tests/orders/test_old.py")
    assert asked == ["known 1", *(f"{file} {how}" for file in files for how in ("unchanged", "for 64 s"))]
    with pytest.raises(FileNotFoundError, match=r"test_new\.py"):
        Tree(ROOT, folder / "tree").test("tests/orders/test_new.py")


def test_only_the_nearest_files_of_tests_are_run(two_tests: tuple[Path, Mutation, list[str]]) -> None:
    folder, mutant, asked = two_tests
    kept = Kept(folder / "kept.json", fresh=True)
    ((_, outcome),) = program.try_all([("orders/one.py", mutant)], kept, 1, 1)
    assert not outcome.killed
    assert asked == ["known 1", *(f"tests/orders/test_one.py {how}" for how in ("unchanged", "for 64 s"))]
    program.try_all([("orders/one.py", mutant)], kept, 1, 1)
    assert asked[3:] == ["known 1"]
    program.try_all([("orders/one.py", mutant)], kept, 1, 2)
    assert asked[4:] == ["known 1", "tests/orders/test_one.py for 64 s"] + [
        f"marginaudit.orders {how}" for how in ("unchanged", "for 64 s")
    ]


@pytest.mark.slow
def test_a_tree_on_which_no_mistake_shows_stops_the_measurement(tmp_path: Path) -> None:
    """As where what is imported is not the copy."""
    tree = Tree(ROOT, tmp_path / "tree")
    program.demand_that_mistakes_show(tree)
    imported = tree.folder / ".import" / "marginaudit" / "orders"
    imported.unlink()
    imported.symlink_to(ROOT / "orders")
    with pytest.raises(SystemExit, match=r"^got no red test with a known mistake in orders/text\.py, expected tests"):
        program.demand_that_mistakes_show(tree)
    (tree.folder / "tests" / "orders" / "test_text.py").write_text(RED, encoding="utf-8")
    with pytest.raises(SystemExit, match=r"^got tests/\S+long without a known mistake in \S+, expected none$"):
        program.demand_that_mistakes_show(tree)


def test_what_is_red_without_a_mistake_stops_the_measurement(tmp_path: Path) -> None:
    tree, test = planted(tmp_path / "tree", "def test_red():\n    assert False\n")
    with pytest.raises(SystemExit, match=r"test_planted.py::test_red is red on the unchanged tree"):
        Kept(tmp_path / "kept.json", fresh=True).seconds_unchanged(tree, test + "red")


@pytest.mark.slow
def test_a_mutant_that_never_ends_is_stopped_and_killed(tmp_path: Path) -> None:
    tree, test = planted(tmp_path / "tree", PLANTED)
    mutant = the_mutant(COLLOCATION, "return y not in self.values[x]")
    outcome = tree.try_mutation(COLLOCATION, mutant, [test + "endless"], lambda _: 5.0)
    assert outcome == Outcome(True, "timeout", 5.0)
    assert not tree.test(test + "endless").killed


@pytest.mark.slow
def test_a_compiled_kernel_is_compiled_again(tmp_path: Path) -> None:
    module, body = (
        "training/ntp/steps/compiled.py",
        (
            "from math import exp\n"
            "from marginaudit.training.ntp.steps.compiled import exp_of\n"
            "def test_strong():\n    assert abs(exp_of(3.5) / exp(3.5) - 1) < 1e-14\n"
        ),
    )
    tree, test = planted(tmp_path / "tree", body)
    mutant = the_mutant(module, "p = p * r - 0.1666666666666667")
    assert not tree.test(test + "strong").killed
    assert list((tree.folder / ".kernels").rglob("*.nbc"))
    assert tree.try_mutation(module, mutant, [test + "strong"], a_minute).by == test + "strong"
    assert not (tree.folder / ".kernels-of-a-mutant").exists()
    assert not tree.test(test + "strong").killed
