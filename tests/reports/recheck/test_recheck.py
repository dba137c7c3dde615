"""`recheck` as a command: ways that agree, what it could not recompute, exit statuses, files beside a report."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import SHORT, SVOP, Command, dataset_file

CHOSEN = ("--claim", "ntp.theorem1.*", "--claim", "ntp.prop2.*", "--claim", "ntp.lemma7.*")
ORACLE = Path(__file__).parents[2] / "oracle" / "second.py"

Edit = Callable[[Any], None]


@pytest.fixture
def report(command: Command) -> Path:
    """The folder of a small audit."""
    assert command("audit", "example-1", *SHORT, *CHOSEN, "--out", "report").status == 0
    return Path("report")


def edit(folder: Path, change: Edit) -> None:
    """Change report.json alone, which no hash covers."""
    file = folder / "report.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    change(document)
    file.write_text(json.dumps(document), encoding="utf-8")


def row(document: Any, claim: str) -> Any:
    return next(row for row in document["verdicts"] if row["claim"] == claim)


def ways_of(found: Any) -> dict[str, set[str]]:
    """Ways by place of the differences."""
    ways: dict[str, set[str]] = {}
    for one in found["differences"]:
        ways.setdefault(one["place"], set()).add(one["way"])
    return ways


def test_a_report_is_confirmed_by_a_second_program_an_enclosure_and_verify(command: Command, report: Path) -> None:
    found = command.json("recheck", report)
    assert found["differences"] == []
    assert found["digit_by_digit"] is True
    assert found["rows"]["example-1: ntp.theorem1.direction.any-step"] == "enclosure: numbers"
    assert found["rows"]["example-1: ntp.prop2.closed-form"] == "the same program, rigorously"
    assert found["certificates"]["example-1: kq"].startswith("kq: optimal, ||W*||^2 = 13/6")
    with_oracle = command.json("recheck", report, "--second", ORACLE)
    assert with_oracle["rows"]["example-1: ntp.prop2.closed-form"].startswith("second program")
    assert sum(found["counts"].values()) == sum(with_oracle["counts"].values()) == len(found["rows"])
    answer = command("recheck", report)
    assert (answer.status, answer.out.count("certificate checked by verify")) == (0, 2)
    assert f"{len(found['rows'])} of {len(found['rows'])} rows agree" in answer.out


def test_each_way_finds_a_lie_by_itself(command: Command, report: Path) -> None:
    claim = "ntp.theorem1.direction.any-step"

    def lie(document: Any) -> None:
        found = row(document, claim)
        at = found["curve"]["step"].index(found["worst_step"])
        found["measured"] = found["curve"]["measured"][at] = 1.1 * found["measured"]
        document["datasets"][0]["kq"]["norm_squared_exact"] = "13/7"

    edit(report, lie)
    ways = ways_of(command.json("recheck", report, "--second", ORACLE, status=1))
    assert ways[f"example-1: {claim}"] == {
        "the same program",
        "arithmetic on the row",
        "enclosure",
        "second program",
    }
    assert ways["example-1: kq"] == {"verify"}
    answer = command("recheck", report)
    assert answer.status == 1
    assert "13/7" in answer.out


def test_a_changed_or_missing_file_is_named(command: Command, report: Path) -> None:
    (report / "tables" / "direction.csv").write_text("another", encoding="utf-8")
    (report / "trajectories" / "example-1-stage2.csv").unlink()
    found = command.json("recheck", report, status=1)
    assert {one["place"] for one in found["differences"]} == {
        "tables/direction.csv",
        "trajectories/example-1-stage2.csv",
    }
    assert command("recheck", report / "report.json").status == 1


def test_a_row_that_differs_from_the_table_beside_it_is_named(command: Command, report: Path) -> None:
    edit(report, lambda document: row(document, "ntp.prop2.closed-form").update(detail="another"))
    found = ways_of(command.json("recheck", report, status=1))
    assert found["verdicts.csv"] == {"rows of report.json"}


def test_data_of_a_file_that_is_gone_are_taken_from_the_report(command: Command, tmp_path: Path) -> None:
    file = dataset_file(tmp_path, SVOP, "svop.json")
    command("audit", file, *SHORT, "--claim", "ntp.prop2.*", "--out", "report")
    assert command.json("recheck", "report")["not_recomputed"][0]["place"] == "ntp"
    dataset_file(tmp_path, SVOP | {"sentences": [list("SVOP")]}, "svop.json")
    found = command.json("recheck", "report")
    assert found["not_recomputed"][0]["reason"].startswith("its file is not here, or changed")
    assert found["differences"] == []


def test_what_is_unknown_here_is_not_recomputed(command: Command, report: Path) -> None:
    def rename(document: Any) -> None:
        for one in (*document["claims"], *document["verdicts"]):
            key = "id" if "id" in one else "claim"
            one[key] = one[key].replace("ntp.prop2.closed-form", "ntp.prop2.other")

    edit(report, rename)
    found = command.json("recheck", report, status=1)
    assert found["rows"]["example-1: ntp.prop2.other"] == "not recomputed"
    assert {one["place"]: one["reason"] for one in found["not_recomputed"]}["ntp.prop2.other"].startswith("no claim")


MEASURED = """
from marginaudit.claims import Bounded, Claim, instance
from marginaudit.claims.series import series

@instance
def tenth():
    return dict(x=0.1)

def claim(id, bar):
    judgement = Bounded(measure=lambda at: series([3 * at.x - 0.3], radius=bar), upper=lambda at, _: 1.0)
    return Claim(id=id, source="arXiv 2301.00001v2", statement="3 x - 0.3 <= 1", assumptions=(), judgement=judgement)

CLAIMS = (claim("mine.wide", 1e-16), claim("mine.narrow", 1e-30))
"""


def test_error_bars_of_a_users_claim_are_rerun_in_more_digits(command: Command) -> None:
    Path("mine.py").write_text(MEASURED, encoding="utf-8")
    assert command("audit", "--claims", "mine.py", "--out", "report").status == 0
    found = command.json("recheck", "report", "--claims", "mine.py", status=1)
    assert found["rows"] == {"tenth: mine.wide": "256 bits: numbers", "tenth: mine.narrow": "differs"}
    assert ways_of(found) == {"tenth: mine.narrow": {"256 bits"}}
    assert command("audit", "--claims", "mine.py", "--check-bars", "--out", "report").status == 1
    rows = command.json("recheck", "report", "--claims", "mine.py")["rows"]
    assert rows == {"tenth: mine.wide": "256 bits: numbers", "tenth: mine.narrow": "256 bits: verdict"}


def test_planted_twins_are_planted_again(command: Command) -> None:
    command("audit", "example-1", *SHORT, "--claim", "ntp.prop2.closed-form", "--controls", "--out", "report")
    found = command.json("recheck", "report")
    assert found["rows"]["example-1: ntp.prop2.closed-form.planted"] == "the same program, rigorously"


def test_a_second_program_that_fails_is_named(command: Command, report: Path) -> None:
    Path("second.py").write_text(
        "SECOND = {'ntp': lambda data, config, rows: [('no claim', True, 'numbers')]}", "utf-8"
    )
    found = command.json("recheck", report, "--second", "second.py")
    assert ["second program" in one["reason"] for one in found["not_recomputed"]] == [True, False]


def test_what_is_no_report_is_refused(command: Command, report: Path) -> None:
    assert command.refused("recheck", "nowhere").startswith("nowhere: got ")
    assert command.refused("recheck", report, "--second", "nowhere.py").startswith("nowhere.py: got ")
    edit(report, lambda document: document["verdicts"][0].update(verdict="true"))
    assert command.refused("recheck", report).startswith("report/report.json: /verdicts/0/verdict: got 'true'")
    edit(report, lambda document: document.update(claims=[], verdicts=[]))
    assert "nothing to recompute" in command.refused("recheck", report)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_report_of_both_papers_is_confirmed_by_the_oracle(command: Command) -> None:
    assert command("audit", "--out", "report").status == 0
    found = command.json("recheck", "report", "--second", ORACLE)
    assert found["differences"] == []
    counts = found["counts"]
    assert counts["second program: numbers"] >= 0.2 * len(found["rows"])
    assert counts["the same program"] <= 0.05 * len(found["rows"])
    assert "not recomputed" not in counts
