"""What a user meets: ids by their beginning, one's own claims alone, a file named twice, pipes, long texts."""

import json
from pathlib import Path
from typing import Any

import pytest

from marginaudit.orders.ntp import dataset_to_document, free_dataset
from marginaudit.reports import LEDGER
from marginaudit.reports.audit.sources import once_each
from marginaudit.reports.command.arguments import matching
from marginaudit.reports.command.console import MOST_ROWS, progress_bar
from tests.command_line import SHORT, SVOP, Command, dataset_file

MINE = """
from dataclasses import replace
from marginaudit.orders.ntp import dataset_to_document, free_dataset
from marginaudit.reports import LEDGER

CLAIMS = (replace(LEDGER["ntp.theorem1.norm"], id="mine.norm"), replace(LEDGER["ntp.lemma3"], id="mine.other"))
"""
AUDIT = ("audit", "data.json", *SHORT, "--out", "report")


@pytest.fixture(autouse=True)
def here(tmp_path: Path) -> None:
    dataset_file(tmp_path, SVOP)
    Path("mine.py").write_text(MINE, encoding="utf-8")


def claims_of(document: Any) -> list[str]:
    return [row["claim"] for row in document["verdicts"]]


def test_only_ones_own_claims(command: Command) -> None:
    assert claims_of(command.json(*AUDIT, "--claims", "mine.py", "--only-mine")) == ["mine.norm", "mine.other"]
    chosen = command.json(*AUDIT, "--claims", "mine.py", "--only-mine", "--claim", "mine.n*")
    assert claims_of(chosen) == ["mine.norm"]
    line = command.refused(*AUDIT, "--only-mine")
    assert line == "--only-mine: got no claims of yours, expected --claims FILE beside it"
    line = command.refused(*AUDIT, "--claims", "mine.py", "--only-mine", "--claim", "ntp.lemma3")
    assert "--claim 'ntp.lemma3': got no claim of that id among those of mine.py, expected one of mine." in line
    Path("taken.py").write_text(MINE.replace("mine.other", "ntp.lemma3"), encoding="utf-8")
    assert "ntp.lemma3: got an id that another claim has" in command.refused(
        *AUDIT, "--claims", "taken.py", "--only-mine"
    )
    line = command.refused("audit", "snap-single", "--claims", "mine.py", "--only-mine", "--out", "report")
    assert line.startswith("--only-mine: got claims about other data alone, expected one about sequence classes")


def test_claims_by_the_beginning_of_their_ids(command: Command) -> None:
    theorem = [name for name in LEDGER if name.startswith("ntp.theorem1.")]
    assert [claim.id for claim in matching(["ntp.theorem1"], LEDGER)] == theorem
    assert [claim.id for claim in matching(["ntp.lemma7"], LEDGER)] == ["ntp.lemma7"]
    assert [claim.id for claim in matching(["ntp.theorem1", "ntp.lemma2"], LEDGER)][-1] == theorem[-1]
    assert "no claim of that id" in command.refused("audit", "--claim", "ntp.theo", "--out", "report")
    assert command.json("claims", "ntp.prop2.closed")["id"] == "ntp.prop2.closed-form"
    assert command.json("claims", "ntp.lemma7")["id"] == "ntp.lemma7"
    several = command.refused("claims", "ntp.prop1.")
    assert several.startswith("claim 'ntp.prop1.': got the beginning of 3 ids, expected one of ntp.prop1.norm, ")
    assert command.refused("claims", "ntp.").endswith(f" and {sum(n.startswith('ntp.') for n in LEDGER) - 5} more")
    assert "such as ntp.lemma7" in command.refused("claims", "ntp.lema7")


def test_a_file_named_twice_is_one_dataset(command: Command) -> None:
    arguments = ("--claim", "ntp.theorem1.norm", *SHORT, "--out", "report")
    answer = command("audit", "data.json", "./data.json", str(Path("data.json").absolute()), *arguments, "--json")
    assert [one["name"] for one in json.loads(answer.out)["datasets"]] == ["svop"]
    assert "there is one already" not in answer.err
    Path("copy.json").write_bytes(Path("data.json").read_bytes())
    document = command.json("audit", "data.json", "copy.json", *arguments)
    assert [one["name"] for one in document["datasets"]] == ["svop", "svop-2"]
    assert list(command.json("table", "direction", "example-1", "example-1", *SHORT)) == list(
        command.json("table", "direction", "example-1", *SHORT)
    )
    first, second = object(), object()
    assert once_each(["b", first, "a", "b", second, first]) == ["b", first, "a", second]


def test_an_audits_verdicts_are_told_at_any_width(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """From 118 columns on a row a verdict with its numbers; in fewer a row a claim: how many of each, and the worst."""
    audit = ("audit", "example-1", "section-7", "free-20", "--claim", "ntp.prop2.*", *SHORT, "--out", "report")
    monkeypatch.setenv("COLUMNS", "118")
    wide = [line.split() for line in command(*audit).out.splitlines()]
    assert wide[1] == ["claim", "dataset", "verdict", "evidence", "measured", "bound", "slack", "informative", "from"]
    assert ["ntp.prop2.corollary", "free-20", "violated"] in [line[:3] for line in wide]
    monkeypatch.setenv("COLUMNS", "117")
    short = [line.split() for line in command(*audit).out.splitlines()]
    assert short[1] == ["claim", "verdicts", "worst"]
    assert ["ntp.prop2.closed-form", "1", "violated,", "2", "holds", "free-20"] in short
    for lines in (wide, short):
        at = lines.index(["Why", "not", "applicable"])
        assert lines[at + 1] == ["verdicts", "why", "datasets"]
        assert lines[at + 2][0] == "1"
        assert lines[at + 2][-1] == "free-20"
        fails = lines.index(["What", "fails"])
        assert at < fails
        assert lines[fails + 1][:1] == ["ntp.prop2.closed-form"]
        assert lines[-2] == ["9", "verdicts:", "2", "violated,", "1", "not-applicable,", "6", "holds."]
    monkeypatch.setenv("COLUMNS", "149")
    assert [line.split() for line in command(*audit).out.splitlines()] == wide
    monkeypatch.setenv("COLUMNS", "150")
    named = [line.split() for line in command(*audit).out.splitlines()]
    assert named[1][:3] == ["claim", "statement", "dataset"]
    assert ["ntp.prop2.closed-form", "Proposition", "2,", "closed", "form", "free-20"] in [line[:6] for line in named]


def test_many_verdicts_are_printed_when_asked_for(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marginaudit.reports.command.audit.MOST_VERDICTS", 2)
    audit = ("audit", "free-20", "--claim", "ntp.prop2.*", *SHORT, "--out", "report")
    told, asked = command(*audit).out, command(*audit, "--verdicts").out
    assert "\nWhat fails\n" in f"\n{told}"
    assert "Verdicts\n" not in told
    assert asked.startswith("Verdicts\n")
    assert asked.endswith(told)


def test_a_log_stands_for_the_bar_where_there_is_no_terminal(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = command("audit", "data.json", "example-1", "--claim", "ntp.theorem1.norm", *SHORT, "--out", "report")
    assert answer.err.splitlines() == ["svop: audited", "example-1: audited"]
    again = command("audit", "data.json", "example-1", "--claim", "ntp.theorem1.norm", *SHORT, "--out", "report")
    assert again.err.splitlines() == [
        f"{name}: as it was audited before (--fresh audits it anew)" for name in ("svop", "example-1")
    ]
    with progress_bar(1) as bar:
        bar.log("a\x1b line")
        bar.progress.disable = False
        bar.log("none beside a bar")
        bar.progress.disable = True
    assert capsys.readouterr().err == "a\\x1b line\n"


def test_a_large_text_is_summarised(command: Command) -> None:
    words = [f"w{i}" for i in range(3 * MOST_ROWS)]
    dataset_file(Path(), SVOP | {"vocabulary": [*"SVOP", *words]}, "large.json")
    out = command("classify", "large.json").out
    assert f"and {2 * MOST_ROWS + 4} rows more; --json has all of them." in out
    assert " … " in out
    assert "w100" not in out
    classes = command.json("classify", "large.json")["queries"]["S"]
    assert len(classes["non_comparable"]) >= len(words)
    assert "rows more" not in command("classify", "data.json").out
    many = free_dataset(V=MOST_ROWS + 3, N=20 * MOST_ROWS, L=8, seed=1, optimal=(1, 2), non_optimal=(1, 2))
    dataset_file(Path(), dataset_to_document(many), "many.json")
    assert "and 3 rows more; --json has all of them." in command("solve", "many.json").out


def test_on_a_narrow_terminal_the_claims_are_texts_and_no_table(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = command("claims").out.splitlines()
    assert [line for line in lines if line and " " not in line] == [*LEDGER]
    assert max(map(len, lines)) <= 80
    said = " ".join(" ".join(lines).split())
    for claim in LEDGER.values():
        for text in (claim.statement, claim.source, ", ".join(claim.assumptions)):
            assert " ".join(text.split()) in said
    monkeypatch.setenv("COLUMNS", "123")
    assert command("claims").out.splitlines()[0] == next(iter(LEDGER))
    monkeypatch.setenv("COLUMNS", "124")
    assert command("claims").out.splitlines()[1].split() == ["id", "statement", "standing", "source", "assumptions"]
