"""What the commands answer: JSON of the contract's form, claims and datasets as they are named, exit statuses."""

import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import pytest

from marginaudit.reports import LEDGER
from marginaudit.reports.audit.sources import once_each
from marginaudit.reports.command.arguments import matching
from marginaudit.reports.command.cli import cli, commands
from tests.command_line import NO_FUNCTION, SHORT, SVOP, Command, dataset_file, strict_json


def test_classify_tells_what_is_undecided_from_what_fails(command: Command, own_folder: Path) -> None:
    uniform = dict.fromkeys("abcd", 1 / 4)
    classes = [
        {"next": "n", "query": "p", "probabilities": uniform},
        {"next": "m", "query": "q", "probabilities": {"a": 1}},
    ]
    path = dataset_file(own_folder, {"classes": classes}, "half.json")
    assert re.search(r"small_overlap\s+undecided", command("classify", path).out)


def test_solve(command: Command, svop: Path) -> None:
    found = command.json("solve", svop)
    assert set(found) == {"ov", "kq"}
    for which, answer in found.items():
        keys = {"status", "method", "norm_squared", "norm_squared_exact", "weights", "weights_exact", "certificate"}
        assert keys <= set(answer)
        assert ("closed_form" in answer) == (which == "kq")
        assert answer["status"] == "optimal"
        assert set(answer["certificate"]) == {"primal", "dual", "gap", "max_violation"}
        exact = [Fraction(v) for column in answer["weights_exact"].values() for v in column.values()]
        rounded = [v for column in answer["weights"].values() for v in column.values() if v]
        assert sum(v * v for v in exact) == Fraction(answer["norm_squared_exact"])
        assert math.isclose(answer["norm_squared"], sum(v * v for v in rounded), rel_tol=1e-14)
    for form in found["kq"]["closed_form"].values():
        assert form == {"holds": True, "witness": None}
    for method in ("auto", "exact", "cvxpy"):
        for only in ("ov", "kq"):
            one = command.json("solve", svop, "--only", only, "--method", method)
            assert list(one) == [only]
            assert math.isclose(one[only]["norm_squared"], found[only]["norm_squared"], rel_tol=1e-6)
            assert (one[only]["method"] == "cvxpy") == (method == "cvxpy")


def test_solve_says_what_it_supposes_of_the_embedding(command: Command, own_folder: Path) -> None:
    for entry in (1.0, 1 + 4.5e-13):
        rows = [[entry * (i == j) for j in range(4)] for i in range(4)]
        path = dataset_file(own_folder, SVOP | {"embedding": rows})
        deviation = 0.0 if entry == 1 else pytest.approx(9.006e-13, rel=1e-3, abs=0)
        note = (
            None if entry == 1 else "for orthonormal tokens; the embedding's Gram matrix is within about 9.01e-13 of I"
        )
        for answer in command.json("solve", path).values():
            assert answer["norm_squared_exact"] is not None
            assert (answer["gram_deviation"], answer["note"]) == (deviation, note)
        text = command("solve", path).out
        assert (f"ov: {note}" in text, f"kq: {note}" in text) == (entry > 1, entry > 1)


def test_solve_infeasible(command: Command, own_folder: Path) -> None:
    path = dataset_file(own_folder, {"sentences": [list("abba"), list("ba")]})
    for method in ("auto", "cvxpy"):
        answer = command.json("solve", path, "--only", "kq", "--method", method)["kq"]
        assert answer["status"] == "infeasible"
        assert answer["norm_squared"] is answer["norm_squared_exact"] is answer["weights_exact"] is None
    assert "infeasible" in command("solve", path).out


def test_train(command: Command, svop: Path) -> None:
    found = command.json("train", svop, *SHORT)
    assert set(found) == {"stage1", "stage2"}
    for stage, rows in found.items():
        assert [rows[0]["step"], rows[-1]["step"]] == [0, 30]
        for row in rows:
            assert {"step", "loss", "norm", "one_minus_cos", "distance", "gradient_norm"} <= set(row)
            assert type(row["step"]) is int
            assert (row["one_minus_cos"] is None) == (row["distance"] is None) == (row["step"] == 0)
            if row["step"]:
                assert math.isclose(2 * row["one_minus_cos"], row["distance"] ** 2, rel_tol=1e-12)
            if stage == "stage2":
                assert 0 <= row["min_optimal_weight"] <= 1
    norms = [row["norm"] for row in found["stage1"]]
    assert math.isclose(norms[1], 0.2 / math.sqrt(4), rel_tol=1e-12)
    assert norms == sorted(norms)
    halved = command.json("train", svop, *SHORT, "--lr1", "0.05", "--lr2", "1e-2", "--at", "1")
    assert math.isclose(halved["stage1"][0]["norm"], 0.05, rel_tol=1e-12)
    assert math.isclose(halved["stage2"][0]["norm"], 0.01, rel_tol=1e-12)


def test_claims_of_a_pattern(command: Command) -> None:
    found = [entry["id"] for entry in command.json("claims", "ntp.prop1.*")]
    assert found == ["ntp.prop1.norm", "ntp.prop1.direction", "ntp.prop1.loss"]
    told = command("claims", "ntp.prop1.*").out
    assert all(name in told for name in found)
    assert "ntp.theorem1" not in told


def test_claims_by_the_beginning_of_their_ids(command: Command) -> None:
    theorem = [name for name in LEDGER if name.startswith("ntp.theorem1.")]
    assert [claim.id for claim in matching(["ntp.theorem1"], LEDGER)] == theorem
    assert [claim.id for claim in matching(["ntp.lemma7"], LEDGER)] == ["ntp.lemma7"]
    assert [claim.id for claim in matching(["ntp.theorem1", "ntp.lemma2"], LEDGER)][-1] == theorem[-1]
    assert "no claim of that id" in command.refused("audit", "--claim", "ntp.theo", "--out", "report")
    assert command.json("claims", "ntp.theorem1.n")["id"] == "ntp.theorem1.norm"
    assert command.json("claims", "ntp.lemma7")["id"] == "ntp.lemma7"
    several = command.refused("claims", "ntp.prop1.")
    assert several.startswith("claim 'ntp.prop1.': got the beginning of 3 ids, expected one of ntp.prop1.norm, ")
    assert command.refused("claims", "ntp.").endswith(f" and {sum(n.startswith('ntp.') for n in LEDGER) - 5} more")


MINE = """
from dataclasses import replace
from marginaudit.reports import LEDGER

CLAIMS = (replace(LEDGER["ntp.theorem1.norm"], id="mine.norm"), replace(LEDGER["ntp.lemma3"], id="mine.other"))
"""


def claims_of(document: Any) -> list[str]:
    return [row["claim"] for row in document["verdicts"]]


def test_only_ones_own_claims(command: Command, svop: Path) -> None:
    Path("mine.py").write_text(MINE, encoding="utf-8")
    audit = ("audit", svop, *SHORT, "--out", "report", "--only-mine")
    assert claims_of(command.json(*audit, "--claims", "mine.py")) == ["mine.norm", "mine.other"]
    chosen = command.json(*audit, "--claims", "mine.py", "--claim", "mine.n*")
    assert claims_of(chosen) == ["mine.norm"]
    line = command.refused(*audit)
    assert line == "--only-mine: got no claims of yours, expected --claims FILE beside it"
    line = command.refused(*audit, "--claims", "mine.py", "--claim", "ntp.lemma3")
    assert "--claim 'ntp.lemma3': got no claim of that id among those of mine.py, expected one of mine." in line
    Path("taken.py").write_text(MINE.replace("mine.other", "ntp.lemma3"), encoding="utf-8")
    assert "ntp.lemma3: got an id that another claim has" in command.refused(*audit, "--claims", "taken.py")
    line = command.refused("audit", "snap-single", "--claims", "mine.py", "--only-mine", "--out", "report")
    assert line.startswith("--only-mine: got claims about other data alone, expected one about sequence classes")


def test_a_file_named_twice_is_one_dataset(command: Command, svop: Path) -> None:
    arguments = ("--claim", "ntp.theorem1.norm", *SHORT, "--out", "report")
    answer = command("audit", "svop.json", "./svop.json", svop, *arguments, "--json")
    assert [one["name"] for one in strict_json(answer.out)["datasets"]] == ["svop"]
    assert "there is one already" not in answer.err
    Path("copy.json").write_bytes(svop.read_bytes())
    document = command.json("audit", "svop.json", "copy.json", *arguments)
    assert [one["name"] for one in document["datasets"]] == ["svop", "svop-2"]
    assert list(command.json("table", "direction", "example-1", "example-1", *SHORT)) == list(
        command.json("table", "direction", "example-1", *SHORT)
    )
    first, second = object(), object()
    assert once_each(["b", first, "a", "b", second, first]) == ["b", first, "a", second]


def test_what_most_rests_on_comes_first_and_a_cause_is_told_once(command: Command, own_folder: Path) -> None:
    claims = (f"snap.{name}" for name in ("remark1", "remark2", "theorem4.scan", "theorem4.ends", "lemma12.any-step"))
    chosen = [part for name in claims for part in ("--claim", name)]
    said = command("audit", "snap-single", *chosen, "--steps", "1e6", "--seeds", "10").out
    fails = said[said.index("What fails") :].splitlines()[1:]
    assert [re.sub(r" \(.*", "", line) for line in fails if line.startswith("  snap.")] == [
        "  snap.theorem4.scan",
        "  snap.theorem4.ends",
        "  snap.remark1",
        "  snap.remark2",
        "  snap.lemma12.any-step",
    ]
    assert "ln(C0)/4" in fails[0]
    assert re.findall(r"\d+ [a-z]+", fails[-2]) == [*("4 printed", "3 causes", "2 false", "2 false", "1 variant")]


@pytest.mark.parametrize("kind", ["figure", "table"])
def test_a_list_says_what_each_shows(command: Command, kind: str) -> None:
    lines = [line.split(maxsplit=1) for line in command(kind, "list").out.splitlines()]
    assert [name for name, _ in lines] == command.json(kind, "list")[f"{kind}s"]
    assert all(len(text) > 10 for _, text in lines)


@pytest.mark.parametrize("ending", [".pdf", ".SVG"])
def test_figure_formats(command: Command, own_folder: Path, ending: str) -> None:
    path = own_folder / f"f{ending}"
    assert command.json("figure", "ntp-2", "--out", path) == {"figure": "ntp-2", "file": str(path)}
    drawn = path.read_bytes()
    assert drawn.startswith({".svg": b"<?xml", ".pdf": b"%PDF"}[ending.lower()])
    assert b"date>" not in drawn
    assert b"CreationDate" not in drawn


def test_fail_on_violated(command: Command, svop: Path, own_folder: Path) -> None:
    no_function = dataset_file(own_folder, NO_FUNCTION, "no-function.json")
    arguments = ("--claim", "ntp.prop1.norm", "--claim", "ntp.theorem2.floor", *SHORT, "--fail-on", "violated")
    answer = command("audit", svop, *arguments, "--json")
    assert (answer.status, answer.err) == (1, "report: audit-report/report.html\n")
    rows = strict_json(answer.out)["verdicts"]
    assert [row["verdict"] for row in rows] == ["holds", "violated"]
    answer = command("audit", no_function, *arguments)
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.rstrip().endswith("report: audit-report/report.html")


def test_the_list_of_commands_says_what_each_one_says() -> None:
    context = click.Context(cli)
    assert cli.list_commands(context) == list(commands())
    for name, (_, does) in commands().items():
        command = cli.get_command(context, name)
        assert command is not None
        assert (command.name, command.get_short_help_str(100)) == (name, does)
    assert cli.get_command(context, "nothing") is None
