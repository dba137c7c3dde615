"""Claims from a file and from installed packages: audited beside the built-in ones, and broken by themselves."""

import csv
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest

from marginaudit.claims import Claim, Finding, Verdict
from marginaudit.claims.claim import NOT_STATED, Judgement
from marginaudit.claims.judgements import Bounded, Decided, Limit
from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.ntp import run as run_module
from marginaudit.claims.ntp.quantities import norm
from marginaudit.claims.snap import ClassRun
from marginaudit.orders import InputError
from marginaudit.orders.ntp import CASES, Dataset, read_dataset
from marginaudit.orders.snap import CASES as CLASS_CASES
from marginaudit.reports import LEDGER
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.audit.user_claims import GROUP, all_claims
from tests.command_line import SHORT, Command, dataset_file, strict_json
from tests.papers import audit_only, with_claims
from tests.third_paper.installed import install

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "att_svm.py"

FILE = """
from marginaudit.claims import Claim, Finding, Verdict
from marginaudit.claims.judgements import Decided

def claim(name, decide, assumptions=()):
    judgement = Decided(decide, kind="test")
    return Claim(id=name, source="", statement="", formula="1", assumptions=assumptions, judgement=judgement)

"""


@pytest.fixture(autouse=True)
def own_folder(own_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "path", [*sys.path])
    modules = set(sys.modules)
    yield own_folder
    for name in set(sys.modules) - modules:
        if name.startswith("claims_of_") or name in ("planted", "sibling"):
            del sys.modules[name]


def claims_file(text: str, name: str = "mine.py") -> Path:
    path = Path(name)
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def no_notice(text: str) -> None:
    raise AssertionError(text)


def claim(judgement: Judgement, **fields: Any) -> Claim:
    texts: dict[str, Any] = {"id": "mine", "source": "here", "statement": "It is so.", "formula": "1"}
    return Claim(**texts | {"assumptions": (), "judgement": judgement} | fields)


def decided(found: object, **fields: Any) -> Claim:
    return claim(Decided(lambda _: found, kind="test"), **fields)  # type: ignore[arg-type, return-value]


def short(dataset: Dataset | None = None) -> Run:
    return Run(CASES["example-1"]() if dataset is None else dataset, Config(steps1=5, steps2=5))


# a file's claims in the audit


EVERY_KIND = (
    FILE
    + """print("text that is no JSON")

def slack(run):
    print("more of it")
    return Finding(Verdict.HOLDS, measured=1.0, bound=2.0, slack=2.0)

def fails(run):
    return 1 / 0

CLAIMS = (
    claim("mine.holds", slack),
    claim("mine.violated", lambda run: Finding(Verdict.VIOLATED, measured=3)),
    claim("mine.raises", fails),
    claim("mine.nan", lambda run: Finding(Verdict.HOLDS, measured=float("nan"))),
    claim("mine.nothing", lambda run: None),
    claim("mine.leaves", lambda run: exit()),
    Claim(id="mine.forgetful", source="", statement="", formula="1", judgement=Decided(slack, "test")),
    claim("mine.assumes", slack, ("orthonormal",)),
    claim("mine.elsewhere", slack, ("orthonormal", "prefix_closed")),
)
"""
)
VERDICTS = {
    "mine.holds": "holds",
    "mine.violated": "violated",
    "mine.raises": "broken",
    "mine.nan": "broken",
    "mine.nothing": "broken",
    "mine.leaves": "broken",
    "mine.forgetful": "broken",
    "mine.assumes": "holds",
    "mine.elsewhere": "not-applicable",
}
NOT_PREFIX_CLOSED = {
    "samples": [{"tokens": ["a", "b", "q"], "next": "a"}, {"tokens": ["a", "c", "q"], "next": "a", "count": 2}],
    "next_token": {"a": "a", "b": "b", "c": "c", "q": "q"},
}


def test_claims_of_a_file_are_audited_beside_the_built_in_ones(
    command: Command, monkeypatch: pytest.MonkeyPatch, own_folder: Path
) -> None:
    audit_only(monkeypatch, "ntp.prop2.c")
    data = dataset_file(own_folder, NOT_PREFIX_CLOSED)
    arguments = ("audit", data, "--claims", claims_file(EVERY_KIND), "--paper", "ntp", *SHORT, "--out", "report")

    found = command.json(*arguments)
    rows = {row["claim"]: row for row in found["verdicts"]}
    assert [name for name in rows if not name.startswith("ntp.prop2.c")] == [*VERDICTS]
    assert {name: rows[name]["verdict"] for name in VERDICTS} == VERDICTS
    assert (rows["mine.holds"]["slack"], rows["mine.nan"]["measured"]) == (2.0, None)
    detail = {name: rows[name]["detail"] for name in VERDICTS}
    assert detail["mine.raises"] == (
        "ZeroDivisionError: division by zero (in fails, mine.py line 16). "
        "Not assumed by the claim, and failing here: prefix_closed."
    )
    assert "NaN as measured" in detail["mine.nan"]
    assert "returned None, expected a Finding" in detail["mine.nothing"]
    assert detail["mine.leaves"].startswith("SystemExit: ")
    assert "assumptions" in detail["mine.forgetful"]
    assert detail["mine.elsewhere"].startswith("Assumption prefix_closed fails")

    page = Path("report/report.html").read_text(encoding="utf-8")
    report = strict_json(Path("report/report.json").read_text(encoding="utf-8"))
    assert report["verdicts"] == found["verdicts"]
    with Path("report/verdicts.csv").open(encoding="utf-8", newline="") as file:
        table = {row["claim"]: row["verdict"] for row in csv.DictReader(file)}
    answer = command(*arguments, "--fail-on", "violated")
    assert answer.status == 1
    assert answer.err.startswith("text that is no JSON\n")
    for name, verdict in VERDICTS.items():
        assert table[name] == verdict
        assert f'id="{name}"' in page
        assert re.search(rf"^{name} +data +{verdict} ", answer.out, flags=re.MULTILINE)
    assert not list(own_folder.glob("**/__pycache__"))


def test_the_ledger_and_the_hunt_know_them(command: Command) -> None:
    path = claims_file(
        FILE
        + """
CLAIMS = [
    claim("mine.short", lambda run: Finding(Verdict.VIOLATED if run.dataset.N > 1 else Verdict.HOLDS)),
    Claim(id="mine.forgetful", source="here", statement="No.", formula="1", judgement=Decided(print, "test")),
]
"""
    )
    listed = command.json("claims", "--claims", path)
    assert [entry["id"] for entry in listed] == [*LEDGER, "mine.short", "mine.forgetful"]
    assert command.json("claims", "mine.short", "--claims", path)["assumptions"] == []
    assert command.json("claims", "mine.forgetful", "--claims", path)["assumptions"] == list(NOT_STATED)
    assert command.refused("claims", "mine.short").startswith("claim 'mine.short': got no claim of that id")
    hunted = command.json("hunt", "mine.short", "--claims", path, "--seconds", 60)
    assert hunted["found"]
    assert read_dataset(Path("mine.short.json")).N == 2
    line = command.refused("hunt", "mine.forgetful", "--claims", path)
    assert line == "claim mine.forgetful: got assumptions that are not stated, expected assumptions=() for none"


def changed(fields: str) -> str:
    """A file with a claim of which these fields are changed."""
    return FILE + f"from dataclasses import replace\nCLAIMS = [replace(claim('a', print), {fields})]"


BAD_FILES = {
    "missing": (None, "mine.py: got No such file or directory, expected a Python file of claims"),
    "syntax": ("a = (\n\n", "mine.py:1: got SyntaxError: '(' was never closed, expected Python that runs"),
    "encoding": (b"a = 1\n'\xe9'\n", "mine.py:"),
    "import": ("import math\nimport nosuchmodule\n", "mine.py:2: got ModuleNotFoundError: No module named 'nosuch"),
    "below": ("import json\n\njson.loads('[')\n", "mine.py:3: got JSONDecodeError: "),
    "lines": ("raise ValueError('a\\nb\\x1b')", r"mine.py:1: got ValueError: a\nb\x1b, expected"),
    "exit": ("import sys\nsys.exit(0)", "mine.py:2: got SystemExit: 0, expected Python that runs"),
    "nothing": ("x = 1", "mine.py: got no CLAIMS, expected CLAIMS = (..), the claims to audit"),
    "none": ("CLAIMS = ()", "mine.py: got no claim in CLAIMS, expected at least one"),
    "number": ("CLAIMS = 3", "mine.py: got 3 as CLAIMS, expected CLAIMS = (..)"),
    "text": ("CLAIMS = 'abc'", "mine.py: got 'a' as CLAIMS[0], expected a Claim"),
    "late": (
        "def f():\n    yield from ()\n    raise KeyError('k')\n\nCLAIMS = f()",
        "mine.py:3: got KeyError: 'k', expected Python that runs",
    ),
    "id": (
        FILE + "CLAIMS = [claim('a/b', print)]",
        "mine.py:7: got ValueError: claim a/b: got 'a/b' as id, expected l",
    ),
    "unknown": (
        FILE + "CLAIMS = [claim('a', print, ('orthogonal',))]",
        "mine.py: claim a: got the assumption 'orthogonal', expected one of collocation",
    ),
    "unknown setting": (
        changed("assumptions=(), setting=('orthogonal',)"),
        "mine.py: claim a: got the assumption 'orthogonal', expected one of collocation",
    ),
    "unknown setting of an instance": (
        changed("assumptions=(), setting=('orthogonal',), paper='instances'"),
        "mine.py: claim a: got the assumption 'orthogonal', expected none",
    ),
    "unknown in its paper": (
        changed("assumptions=('small_overlap',), paper='ntp'"),
        "mine.py: claim a: got the assumption 'small_overlap', expected one of collocation",
    ),
    "letters": (
        FILE + "CLAIMS = [claim('a', print, 'orthonormal')]",
        "got 'orthonormal' as assumptions, expected a tuple",
    ),
    "field": (FILE + "CLAIMS = [Claim(id='a')]", "mine.py:9: got TypeError: Claim.__init__() missing"),
    "judgement": (
        FILE + "CLAIMS = [Claim(id='a', source='', statement='', formula='1', assumptions=(), judgement=print)]",
        "mine.py:9: got ValueError: claim a: got <built-in function print> as judgement, expected one of",
    ),
    "formula": (
        changed("formula=' '"),
        "mine.py: claim a: got the formula ' ' (NoAvailableTokensError), expected LaTeX",
    ),
    "raw command": (
        changed("formula=r'x\\quid y'"),
        r"whose \quid stays as it is, expected commands supported by latex2mathml",
    ),
    "raw command in a text": (
        changed("instead=r'so $x\\quid y$'"),
        r"whose \quid stays as it is, expected commands supported by latex2mathml",
    ),
    **{
        f"formula with {what}": (
            changed(f"formula={formula!r}"),
            f", in which {what}, expected LaTeX as between dollar signs",
        )
        for formula, what in (
            ("$x$", "$ would be shown"),
            (r"\begin{aligned}a&=b\end{aligned}", "& would be shown"),
            ("x}", "} would be shown"),
            (r"\operatorname{arg\,max} x", r"\operatorname has more than letters"),
        )
    },
    **{
        formula: (
            changed(f"formula={formula!r}"),
            f", whose {what}, expected every argument of its commands, in braces",
        )
        for formula, what in (
            (r"\frac{a}", "mfrac in MathML has 1 part of 2"),
            (r"x+\overset{a}", "mover in MathML has 1 part of 2"),
        )
    },
    "no raw string": (changed("formula='\\theta'"), "control characters, expected a raw string"),
    "built-in": (
        FILE + "CLAIMS = [claim('b', print), claim('ntp.example1', print)]",
        "mine.py: claim ntp.example1: got an id that another claim has, expected one of its own",
    ),
    "twice": (
        FILE + "CLAIMS = [claim('a', print), claim('b', print), claim('a', len)]",
        "mine.py: claim a: got an id that another claim has, expected one of its own",
    ),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_file_whose_claims_cannot_be_had(command: Command, own_folder: Path, kind: str) -> None:
    text, said = BAD_FILES[kind]
    if text is not None:
        Path("mine.py").write_bytes(text if isinstance(text, bytes) else text.encode())
    assert said in command.refused("claims", "--claims", "mine.py")
    assert {path.name for path in own_folder.iterdir()} <= {"mine.py"}


def test_a_file_imports_what_lies_beside_it_and_shadows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    Path("more").mkdir()
    Path("more/sibling.py").write_text("NAME = 'mine.sibling'\n")
    Path("more/colorsys.py").write_text("raise AssertionError\n")
    text = "import colorsys\nfrom dataclasses import dataclass\nfrom sibling import NAME\n"
    text += "@dataclass\nclass Named:\n    name: 'str'\n"
    path = claims_file(text + FILE + "CLAIMS = (claim(Named(NAME).name, print) for _ in range(1))", "more/numpy.py")
    assert list(all_claims(PAPERS, path, no_notice)) == [*LEDGER, "mine.sibling"]
    assert sys.modules["numpy"] is np


def test_another_process_can_have_what_a_file_defines(monkeypatch: pytest.MonkeyPatch) -> None:
    path = claims_file("def measured(run):\n    return 7\n" + FILE + "CLAIMS = (claim('mine.own', measured),)")
    own = all_claims(PAPERS, path, no_notice)["mine.own"]
    data = cloudpickle.dumps(own)
    monkeypatch.delitem(sys.modules, "claims_of_mine")
    there = cloudpickle.loads(data)
    assert there.judgement.decide(None) == 7


# how a claim fails


def test_a_reason_for_absence_is_words() -> None:
    sound = Finding(Verdict.HOLDS)
    assert decided(sound, absent=lambda _: "nothing here").judge(short()).verdict is Verdict.NOT_APPLICABLE
    for reason in (False, True, 0, "", " "):
        found = decided(sound, absent=lambda _, reason=reason: reason).judge(short())
        assert found.verdict is Verdict.BROKEN
        assert f"returned {reason!r} from absent" in found.detail


def test_every_part_of_a_claim_may_fail() -> None:
    def fails(_: object) -> Any:
        raise RuntimeError("no\nway")

    condition = replace(LEDGER["ntp.theorem1.direction.any-step"].proof_uses[0], holds=fails)
    for broken in (
        decided(Finding(Verdict.HOLDS), absent=fails),
        decided(Finding(Verdict.HOLDS), proof_uses=(condition,)),
        claim(Decided(fails, kind="test")),
        claim(Bounded(fails, upper=lambda _, t: t)),
    ):
        found = broken.judge(short())
        assert found.verdict is Verdict.BROKEN
        line = fails.__code__.co_firstlineno + 1
        assert found.detail == rf"RuntimeError: no\nway (in fails, {Path(__file__).name} line {line})."


def test_a_built_in_claim_s_failure_is_located_in_this_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "solve_kq", lambda _: None)
    finding = LEDGER["ntp.prop2.closed-form"].judge(Run(CASES["example-1"]()))
    assert finding.verdict is Verdict.BROKEN
    assert re.search(r"AttributeError: .* \(in \w+, proposition2\.py line \d+\)", finding.detail)


# installed packages


@pytest.mark.parametrize(
    ("value", "text", "said"),
    [
        ("planted:CLAIMS", "x = 1 / 0", "got ZeroDivisionError: division by zero, expected"),
        ("planted", "x = 1", "got <module 'planted' from"),
        ("planted:CLAIMS", FILE + "CLAIMS = [claim('ntp.example1', print)]", "claim ntp.example1: got an id"),
    ],
)
def test_a_broken_package_is_told_in_one_line_and_left_out(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, text: str, said: str
) -> None:
    for name, content in (("site", text), ("other", FILE + "CLAIMS = [claim('sound', print)]")):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{'planted' if name == 'site' else 'sibling'}.py").write_text(content)
    install(tmp_path / "other", "sibling:CLAIMS", monkeypatch, "other", "claim")
    install(tmp_path / "site", value, monkeypatch, "planted", "claim")
    answer = command("claims", "--json")
    assert answer.status == 0
    assert [entry["id"] for entry in strict_json(answer.out)] == [*LEDGER, "sound"]
    assert answer.err.startswith(f"planted-claim: entry point planted = {value}: ")
    assert said in answer.err
    assert answer.err.endswith("; its claims are left out\n")
    assert answer.err.count("\n") == 1


# the papers


def test_the_paper_chooses_built_in_claims_only() -> None:
    papers = with_claims("ntp.example"), with_claims("sharp.s", name="other")
    path = claims_file(FILE + "CLAIMS = [claim('mine', lambda run: Finding(Verdict.HOLDS))]")
    for paper, ids in zip(
        papers,
        (["ntp.example1", "ntp.example2"], [i for i in LEDGER if i.startswith("sharp.s")]),
        strict=True,
    ):
        assert list(all_claims([paper], None, no_notice)) == ids
        assert list(all_claims([paper], path, no_notice)) == [*ids, "mine"]
    taken = claims_file(FILE + "CLAIMS = [claim('ntp.prop1.norm', print)]")
    with pytest.raises(InputError, match=r"ntp\.prop1\.norm: got an id that another claim has"):
        all_claims(papers[1:], taken, no_notice)


@cache
def long() -> Run:
    return Run(CASES["example-1"](), Config(steps1=100, steps2=10**7))


def test_the_page_shows_the_example_and_it_is_short() -> None:
    page = (ROOT / "docs" / "your-own-claim.md").read_text(encoding="utf-8")
    code = EXAMPLE.read_text(encoding="utf-8")
    assert re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)[0] == code
    assert len([line for line in code.splitlines() if line.strip()]) <= 20


def test_the_code_blocks_of_the_page_run(command: Command) -> None:
    page = (ROOT / "docs" / "your-own-claim.md").read_text(encoding="utf-8")
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)):
        path = claims_file(block, f"block{number}.py")
        (own,) = list(all_claims(PAPERS, path, no_notice).values())[len(LEDGER) :]
        found = own.judge(ClassRun(CLASS_CASES["snap-medium"]()) if own.paper == "snap" else long())
        assert found.verdict is Verdict.HOLDS, found
        assert own.id in command("claims", own.id, "--claims", path).out
    (options,) = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    assert f'[project.entry-points."{GROUP}"]' in options


def example() -> Claim:
    return all_claims(PAPERS, EXAMPLE, no_notice)["att-svm.margin"]


def times(factor: float, run: Run) -> float:
    return factor / run.norm_kq


def test_the_example_is_computed_not_asserted() -> None:
    run = long()
    assert example().judge(run).verdict is Verdict.HOLDS
    judgement = example().judgement
    assert isinstance(judgement, Limit)
    for wrong in (0.98, 1.02):
        twin = replace(judgement, predicted=partial(times, wrong))
        assert replace(example(), judgement=twin).judge(run).verdict is Verdict.VIOLATED
    short = example().judge(Run(run.dataset, Config(steps2=0)))
    assert short.verdict is Verdict.INCONCLUSIVE
    assert "stage 2 has 0 steps" in short.detail


@pytest.mark.parametrize(
    "formula",
    [r"\{x\}\,\&\,50\%\,\$", r"\begin{align*}a&=b\\c&=d\end{align*}", r"\left.x\right|", r"\operatorname{softmax}(x)"],
)
def test_formulas_with_characters_of_a_meaning_of_their_own(formula: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(changed(f"formula={formula!r}"))
    assert all_claims(PAPERS, path, print)["a"].formula == formula


def test_a_users_claim_is_not_true_of_steps_that_were_not_recorded() -> None:
    far = claim(
        Bounded(measure=lambda run: norm(run.training.stage2, first=1), lower=lambda _, t: np.full(len(t), 5.0))
    )
    data = CASES["example-1"]()
    assert far.judge(Run(data, Config(steps2=10**6, at=(10**6,)))).verdict is Verdict.INCONCLUSIVE
    assert far.judge(Run(data, Config(steps2=10**6))).verdict is Verdict.VIOLATED
