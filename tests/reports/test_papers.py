"""The contract that every paper keeps: the two built in, and a third one that is installed as a package."""

import html
import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from itertools import product
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import pytest

from marginaudit.claims import Claim, judgements, ntp, snap
from marginaudit.claims.paper import Figure, Paper
from marginaudit.claims.row import row_from_document
from marginaudit.claims.settings import settings_of
from marginaudit.claims.values.json_data import finite
from marginaudit.claims.verdict import Verdict
from marginaudit.orders import InputError
from marginaudit.reports import LEDGER
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.audit.sources import load
from marginaudit.reports.bound_constants.measure import measured
from marginaudit.reports.command.arguments import papers
from marginaudit.reports.command.options import dashed
from marginaudit.reports.plots.measured import rendered
from marginaudit.reports.study.grid import rows_of
from marginaudit.reports.study.spec import Spec, read_spec
from marginaudit.reports.study.sweep import cells_in_memory
from tests.command_line import Command, dataset_file, strict_json
from tests.papers import changed
from tests.reports.plots.test_letters import words
from tests.third_paper.installed import forget_papers, install

BUILT_IN = tuple(paper.name for paper in PAPERS)
NAMES = (*BUILT_IN, "third")


SHORT = {"ntp": ("--steps1", "30", "--steps2", "30"), "snap": ("--steps", "1000", "--seeds", "20"), "third": ()}
"""Options that keep runs short."""

OWN_CLAIM = """
from marginaudit.claims import Claim, Finding, Verdict
from marginaudit.claims.judgements import Decided

CLAIMS = (
    Claim(
        id="mine.any",
        source="here",
        statement="Everything is so.",
        formula="1=1",
        assumptions=(),
        paper="{paper}",
        judgement=Decided(lambda run: Finding(Verdict.HOLDS, detail=type(run).__name__), kind="test"),
    ),
)
"""


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The third paper beside the others, and a folder of its own for what commands write."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    install(tmp_path / "site", "tests.third_paper.paper:PAPER", monkeypatch)
    yield
    forget_papers()


def paper_named(name: str) -> Paper:
    return next(paper for paper in papers() if paper.name == name)


def another(name: str) -> Paper:
    return next(paper for paper in papers() if paper.name not in (name, "snap"))


def first_case(paper: Paper) -> str:
    return next(iter(paper.kind.cases))


@pytest.mark.parametrize("name", NAMES)
class TestData:
    """Documents, cases and assumptions."""

    def test_every_case_survives_being_written_and_read(self, name: str, tmp_path: Path) -> None:
        paper = paper_named(name)
        assert paper.kind.cases
        for case, made in paper.kind.cases.items():
            data = made()
            assert isinstance(data, paper.kind.data)
            document = strict_json(json.dumps(paper.kind.to_document(data), allow_nan=False))
            assert paper.kind.accepts(document)
            source = load(str(dataset_file(tmp_path, document)), papers())
            assert source.paper is paper
            assert source.dataset.name == data.name
            assert finite(paper.kind.to_document(source.dataset)) == document
            assert paper.kind.describe(source.dataset) == paper.kind.describe(data), case

    def test_documents_of_other_kinds_and_no_documents_are_not_accepted(self, name: str) -> None:
        paper = paper_named(name)
        for other in papers():
            if other is not paper:
                assert not paper.kind.accepts(other.kind.to_document(other.kind.cases[first_case(other)]()))
        documents: tuple[Any, ...] = (None, True, 3, "numbers", [], [{}], {})
        for document in documents:
            assert not paper.kind.accepts(document)

    def test_a_bad_document_is_refused_where_it_is_bad(self, name: str) -> None:
        kind = paper_named(name).kind
        document = kind.to_document(kind.cases[first_case(paper_named(name))]())
        with pytest.raises(InputError, match=r"here: /surprise: got .*, expected "):
            kind.from_document(document | {"surprise": 1}, "here", "x")
        with pytest.raises(InputError, match=r"here: /name: got .*, expected "):
            kind.from_document(document | {"name": 3}, "here", "x")

    def test_assumptions_hold_or_have_a_witness_that_json_can_write(self, name: str) -> None:
        paper = paper_named(name)
        for case in paper.kind.cases.values():
            data = case()
            for predicate in paper.kind.assumptions.values():
                witness = predicate(data)
                assert witness is None or json.loads(json.dumps(finite(witness), allow_nan=False))


@pytest.mark.parametrize("name", NAMES)
class TestCommands:
    """Every command takes the paper from the Paper."""

    def test_classify(self, name: str, command: Command) -> None:
        paper = paper_named(name)
        answer = command.json("classify", first_case(paper))
        assert list(answer["assumptions"]) == list(paper.kind.assumptions)
        assert all(set(found) == {"holds", "witness"} for found in answer["assumptions"].values())
        shown = command("classify", first_case(paper))
        assert (shown.status, shown.err) == (0, "")
        assert all(assumption in shown.out for assumption in paper.kind.assumptions)

    def test_its_problems_are_solved_and_the_certificate_is_checked(self, name: str, command: Command) -> None:
        paper = paper_named(name)
        case = first_case(paper)
        if not paper.problems:
            line = command.refused("solve", case)
            assert f"got a built-in case of {paper.kind.name}, expected sentences or numbers: " in line
            Path("none.json").write_text("{}", encoding="utf-8")
            assert command.refused("verify", case, "none.json") == line
            return
        found = command.json("solve", case, "--certificate", "proof.json")
        assert tuple(found) == tuple(paper.problems)
        for problem, answer in found.items():
            assert (answer["status"], answer["certificate"]["gap"]) == ("optimal", 0)
            assert command.json("solve", case, "--only", problem) == {problem: answer}
        assert command("solve", case).out.startswith(f"{case}: hard-margin solutions\n")
        confirmed = command.json("verify", case, "proof.json")
        assert [line.partition(":")[0] for line in confirmed["statements"]] == [*paper.problems]
        proof = json.loads(Path("proof.json").read_text(encoding="utf-8"))
        for problem, answer in found.items():
            exact = Fraction(proof[problem]["norm_squared"])
            assert (Fraction(answer["norm_squared_exact"]), answer["norm_squared"]) == (exact, float(exact))
            assert "." not in answer["norm_squared_exact"]
        proof[paper.problems[-1]]["norm_squared"] = "7/1"
        assert command("verify", case, str(dataset_file(Path(), proof, "lie.json"))).status == 1
        theirs = another(name).problems[0]
        expected = f"one of {', '.join(paper.problems)} for {paper.kind.name}"
        assert command.refused("solve", case, "--only", theirs) == f"--only: got '{theirs}', expected {expected}"

    def test_train(self, name: str, command: Command) -> None:
        paper = paper_named(name)
        answer = command.json("train", first_case(paper), *SHORT[name])
        assert all(isinstance(rows, list) and rows for rows in answer.values())
        assert command("train", first_case(paper), *SHORT[name]).status == 0

    def test_audit_judges_its_claims_on_its_datasets_and_the_page_says_so(self, name: str, command: Command) -> None:
        paper, beside = paper_named(name), another(name)
        case, other = first_case(paper), first_case(beside)
        options = (*SHORT[name], *SHORT[beside.name])
        Path("mine.py").write_text(OWN_CLAIM.format(paper=name), encoding="utf-8")
        report = command.json("audit", case, other, "--claims", "mine.py", *options)
        judged_here = [row["claim"] for row in report["verdicts"] if row["dataset"] == case]
        assert judged_here == [*(claim.id for claim in paper.claims), "mine.any"]
        [own_row] = (row for row in report["verdicts"] if row["claim"] == "mine.any")
        assert (own_row["dataset"], own_row["verdict"], own_row["detail"]) == (case, "holds", paper.run.__name__)
        assert Verdict.BROKEN not in {row["verdict"] for row in report["verdicts"]}
        (dataset,) = (found for found in report["datasets"] if found["name"] == case)
        assert dataset["paper"] == name
        assert set(dataset["assumptions"]) == set(paper.kind.assumptions)
        assert all(table.name in dataset for table in paper.tables)
        assert set(report["config"]) == {name, beside.name}
        page = Path("audit-report/report.html").read_text(encoding="utf-8")
        assert f'id="data-{name}"' in page
        assert all(claim.id in page for claim in paper.claims)
        assert all(table.heading in html.unescape(page) for table in paper.tables)
        for line in re.findall(r"<tr><td><a class=\"mono\".*?</tr>", page, re.DOTALL):
            assert line.count("<td") == 5, "a claim, its standing and kind, and a cell for each dataset"
            claim = re.findall(r"#([^\"]+)\"", line)[0]
            cells = line.split("<td>")[4:]
            own = claim in {"mine.any", *(entry.id for entry in paper.claims)}
            assert ["badge" in cell for cell in cells] == [own, not own]

    def test_the_paper_is_chosen_by_name(self, name: str, command: Command) -> None:
        answer = command("audit", "nosuch", "--paper", name)
        assert answer.status == 2
        cases = ", ".join(paper_named(name).kind.cases)
        assert answer.err == f"marginaudit: 'nosuch': got no file of that name, expected a path or one of {cases}\n"
        assert paper_named(name).source in " ".join(command("audit", "--help").out.split())

    def test_hunt(self, name: str, command: Command) -> None:
        paper = paper_named(name)
        if paper.space is None:
            line = command.refused("hunt", paper.claims[0].id, "--seconds", "1")
            assert line == f"paper {name}: got no space of datasets to hunt in, expected a paper with one"
            return
        answer = command.json("hunt", paper.claims[0].id, "--seconds", "5")
        assert answer["tried"] > 0
        assert set(answer["largest_tried"]) == set(paper.space.measures)

    def test_tables(self, name: str, command: Command) -> None:
        paper = paper_named(name)
        for table in paper.tables:
            arguments = ("table", table.name, first_case(paper), *SHORT[name])
            assert table.name in command.json(*arguments)["datasets"][0]
            for form in ("csv", "latex", "markdown"):
                assert command(*arguments, "--format", form).out
            header = command(*arguments, "--format", "csv").out.splitlines()[0]
            assert header.split(",") == list(table.columns)

    def test_bound_constants(self, name: str) -> None:
        paper = paper_named(name)
        finding, row = measured(paper.claims[0].id, first_case(paper), None, None)
        assert finding.verdict is not Verdict.BROKEN
        assert row_from_document(strict_json(json.dumps(row.kept())), "here") == row


def test_classify_prints_the_description_of_its_kind(command: Command) -> None:
    title, _, mean, *_ = command("classify", "three-numbers").out.splitlines()
    assert (title, mean.split()) == ("three-numbers: numbers", ["mean", "3"])


@pytest.mark.parametrize("name", NAMES)
class TestSettings:
    """Settings are options of the commands, and bad ones are refused."""

    def test_bad_values_are_refused_by_the_command_line(self, name: str, command: Command) -> None:
        paper = paper_named(name)
        for setting, known in settings_of(paper.config).items():
            if not known.only:
                line = command.refused("train", first_case(paper), dashed(setting), "?")
                assert line.startswith(f"{dashed(setting)}: got '?', expected ")

    def test_options_of_another_kind_are_errors_that_say_so(self, name: str, command: Command) -> None:
        paper = paper_named(name)
        own = settings_of(paper.config)
        for other in papers():
            for setting, known in settings_of(other.config).items():
                if setting in own or known.only:
                    continue
                given = next(iter(known.values.choices), "1")
                line = command.refused("train", first_case(paper), dashed(setting), given)
                assert line.startswith(f"{dashed(setting)}: got {paper.kind.name} to run, expected a dataset of ")
                assert other.kind.name in line


SWEPT: dict[str, tuple[str, dict[str, int], dict[str, list[Any]], list[str]]] = {
    "ntp": (
        "free",
        {"V": 5, "N": 8, "L": 3},
        {"steps1": [20], "steps2": [20], "lr2": [0.1, 0.2]},
        ["ntp.theorem1.norm:verdict", "ntp.theorem1.norm:slack"],
    ),
    "snap": ("syn-medium", {"num_last": 1}, {"updates": [2], "lr_z": [0.5, 2.0]}, ["loss", "entropy"]),
    "third": ("counting", {"N": 3}, {"rate": [0.25, 0.5]}, ["end"]),
}
"""Of each paper a generator with its parameters, settings, and results to keep."""


@pytest.mark.parametrize("name", NAMES)
class TestSweeps:
    """What a paper says of sweeps is so."""

    def test_every_generator_and_setting_is_checked_and_every_result_is_a_number_or_a_word(self, name: str) -> None:
        paper = paper_named(name)
        sweeps = paper.sweeps
        assert sweeps is not None
        assert sweeps.settings
        assert sweeps.together >= 1
        assert set(sweeps.results.values()) <= {float, str}
        for generator, made in sweeps.generators.items():
            for parameter in made.parameters:
                others = {other: 1 for other in made.parameters if other != parameter}
                with pytest.raises(InputError, match=rf"{parameter}: got '\?', expected "):
                    spec_of(name, generator, others | {parameter: "?"}, {})
        for setting, known in sweeps.settings.items():
            with pytest.raises(InputError, match=rf"{setting}: got '\?', expected {re.escape(known.values.expected)}"):
                spec_of(name, SWEPT[name][0], SWEPT[name][1], {setting: "?"})

    def test_data_depend_on_parameters_and_seed_alone(self, name: str) -> None:
        paper = paper_named(name)
        assert paper.sweeps is not None
        generator, parameters, _, _ = SWEPT[name]
        one, again = (paper.sweeps.generators[generator].make(**parameters, seed=3) for _ in range(2))
        assert isinstance(one, paper.kind.data)
        assert paper.kind.to_document(one) == paper.kind.to_document(again)

    def test_a_configs_results_are_the_same_whatever_configs_stand_beside_it(self, name: str) -> None:
        paper = paper_named(name)
        assert paper.sweeps is not None
        generator, parameters, settings, keep = SWEPT[name]
        data = paper.sweeps.generators[generator].make(**parameters, seed=3)
        configs = [
            replace(paper.sweeps.config, **dict(zip(settings, values, strict=True)))
            for values in product(*settings.values())
        ]
        rows = rows_of(paper, paper.sweeps)
        together = rows(data, configs, 3, keep)
        assert together == [rows(data, [config], 3, keep)[0] for config in configs]
        assert together[::-1] == rows(data, configs[::-1], 3, keep)
        assert together[0] != together[1]
        for row in together:
            for result in keep:
                assert row[result] is None or isinstance(row[result], paper.sweeps.results[result])

    def test_a_spec_of_it_is_computed(self, name: str) -> None:
        generator, parameters, settings, keep = SWEPT[name]
        spec = spec_of(name, generator, parameters, settings, keep=keep, seeds=2)
        done: list[int] = []
        cells = cells_in_memory(spec, done.append)
        assert done[-1] == spec.runs == 4
        assert len(cells) == 2
        assert all(cell["seeds"] == 2 for cell in cells)
        [varied] = (setting for setting, values in settings.items() if len(values) > 1)
        assert [cell[varied] for cell in cells] == settings[varied]


def spec_of(name: str, generator: str, parameters: Mapping[str, Any], settings: Mapping[str, Any], **more: Any) -> Spec:
    lines = [f"paper = {json.dumps(name)}", *(f"{key} = {json.dumps(value)}" for key, value in more.items())]
    for table, values in (("data", {"generator": generator, **parameters}), ("settings", settings)):
        lines += [f"[{table}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
    return read_spec("\n".join(lines), "mine", "mine.toml", Path(), papers())


@pytest.mark.parametrize(
    ("name", "figure"),
    [("third", "third-1"), *(pytest.param(name, None, marks=pytest.mark.slow) for name in BUILT_IN)],
)
def test_figures_are_drawn(name: str, figure: str | None) -> None:
    figures = paper_named(name).figures_of("paper", "text")
    assert figure is None or list(figures) == [figure]
    for known in figures.values():
        assert words(known.draws())  # none of them of private use


def test_figures_of_a_run_are_listed_and_drawn(command: Command) -> None:
    listed = command("figure", "list", "--paper", "third").out.splitlines()
    assert [line.split() for line in listed if line.startswith("third")] == [["third-1"], ["third", "descent"]]
    command.json("figure", "third", "three-numbers", "--paper", "third")
    paper = paper_named("third")
    run = paper.run(paper.kind.cases["three-numbers"](), paper.config(), lambda _: None)
    drawn = Path("third-three-numbers.svg").read_bytes()
    assert drawn == rendered(paper.figures_by_command["third"].draws(run, {}), ".svg")
    assert command.refused("figure", "third").startswith("DATASET: got the figure third and no DATASET")


def test_a_figure_stands_beside_the_claim_that_it_illustrates(command: Command) -> None:
    command.json("audit", "three-numbers")
    page = Path("audit-report/report.html").read_text(encoding="utf-8")
    article = page[page.index('<article class="claim" id="third.below-largest">') :]
    assert re.search(r"<figure[^>]*><svg.*</svg>\s*<figcaption[^>]*>third-1</figcaption>", article, re.DOTALL)
    assert "third-1" not in page[: -len(article)]
    drawn = Path("audit-report/figures/third-1.svg").read_bytes()
    assert drawn == rendered(paper_named("third").figures_of("paper")["third-1"].draws(), ".svg")
    assert "figures/third-1.svg" in json.loads(Path("audit-report/report.json").read_text())["files"]


def test_a_figure_is_not_drawn_where_its_claim_does_not_apply(command: Command, tmp_path: Path) -> None:
    command.json("audit", str(dataset_file(tmp_path, {"numbers": [-1, 2]})))
    assert not Path("audit-report/figures/third-1.svg").exists()
    assert "third-1" not in Path("audit-report/report.html").read_text(encoding="utf-8")


def test_a_figure_stands_beside_a_claim_of_its_paper() -> None:
    wrong = Figure("third-2", print, beside="third.above")
    with pytest.raises(ValueError, match=r"figure third-2: got the claim third\.above, expected one"):
        changed(paper_named("third"), figures=[wrong])


@pytest.mark.parametrize("folder", [ntp, snap], ids=lambda folder: folder.__name__)
def test_every_file_of_a_folder_is_in_its_papers_list(folder: ModuleType) -> None:
    found = walk_packages(folder.__path__, f"{folder.__name__}.")
    modules = [import_module(one.name) for one in found if not one.name.endswith(".theorems")]
    listed = [claim.id for module in modules for claim in getattr(module, "CLAIMS", ())]
    made = {one.id for module in modules for one in vars(module).values() if isinstance(one, Claim)}
    assert made
    assert made <= set(listed) <= set(LEDGER)
    assert len(set(listed)) == len(listed)


def test_the_page_on_your_paper_shows_pieces_of_what_new_paper_writes() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs/your-own-paper.md").read_text(encoding="utf-8")
    code = (root / "reports/starts/paper.py").read_text(encoding="utf-8")
    pieces = page[page.index("from paper import *") : page.index("## Recorded runs")]
    blocks = re.findall(r"```python\n(?!>>>)(.*?)```", pieces, re.DOTALL)
    assert len(blocks) == 5
    assert [block for block in blocks if block not in code and textwrap.indent(block, "    ") not in code] == []


def test_the_page_on_your_paper_has_each_judgement() -> None:
    page = (Path(__file__).parents[2] / "docs/your-own-paper.md").read_text(encoding="utf-8")
    forms = page[page.index("| the theorem says |") : page.index("Everything else is")]
    kinds = {name for name in judgements.__all__ if hasattr(getattr(judgements, name), "judge")}
    assert len(kinds) == 15
    assert {name for name in kinds if f"`{name}(" not in forms} == set()


def test_train_tells_why_a_run_ended(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    third = paper_named("third")
    monkeypatch.setattr(third.run, "ended", "no step is left")
    assert command("train", first_case(third)).err.endswith(": no step is left\n")
