"""What the commands print for a person, where standard output is a pipe and where standard error is a terminal."""

import io
import sys
import threading
from pathlib import Path

import pytest
from pandas import DataFrame

from marginaudit.claims.table import Captioned
from marginaudit.claims.verdict import Verdict
from marginaudit.orders.ntp import dataset_to_document, free_dataset
from marginaudit.reports import LEDGER
from marginaudit.reports.command.console import (
    MOST_ROWS,
    cell,
    print_captioned,
    print_line,
    print_summary,
    print_table,
    progress_bar,
)
from marginaudit.reports.command.output import print_json, print_text
from marginaudit.reports.plots.style import VERDICTS
from tests.command_line import SHORT, SVOP, Command, dataset_file


def test_a_line_is_one_line_however_long(capsys: pytest.CaptureFixture[str]) -> None:
    print_line("[bold]word[/bold] \x1b[31m " + "word " * 100 + "end")
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith("[bold]word[/bold] ")
    assert line.endswith("word end")
    assert "\x1b" not in line


def test_what_standard_output_cannot_encode_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    print_json(["\N{SNOWMAN}", float("nan")])
    print_text("\N{SNOWMAN} 1\n")
    sys.stdout.flush()
    assert written.getvalue() == b'["\\u2603", null]\n\\u2603 1\n'


def test_a_piped_table_is_wide_and_plain(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("A [b]title", ["name", "value"], [["w" * 150, 0.5], ["v" * 250, None], ["[i]x", True]])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].strip() == "A [b]title"
    assert lines[1].split() == ["name", "value"]
    assert lines[1].startswith("name ")
    assert lines[2].split() == ["w" * 150, "0.5"]
    assert max(len(line) for line in lines) == 200
    assert "".join(line.split()[0] for line in lines[3:5]) == "v" * 250
    assert lines[5].split() == ["[i]x", "True"]
    assert lines[6:] == [""]


@pytest.mark.parametrize("columns", ["1", "20", "80"])
def test_a_table_breaks_no_id_and_no_number(
    columns: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    print_table(
        "t", ["claim", "why"], [["ntp.theorem1.direction.rederived", "it " * 60 + "w" * 60], [-1.234e-12, None]]
    )
    text = capsys.readouterr().out
    for word in ("ntp.theorem1.direction.rederived", "w" * 60, "-1.234e-12"):
        assert word in text
    assert text.split().count("it") == 60
    assert max(map(len, text.splitlines())) == 32 + 1 + 60


@pytest.mark.parametrize(("columns", "spare"), [("60", 0), ("40", 20)])
def test_the_widest_column_gives_way(
    columns: str, spare: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    print_table("t", ["claim", "why"], [["an.id", "a b c " * 8 + "three"]])
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith("an.id  a b c a b c")
    assert max(map(len, lines)) == int(columns)
    assert " ".join(" ".join(lines[2:]).split()) == "an.id " + "a b c " * 8 + "three"
    assert len(lines) == (5 if spare else 4)


@pytest.mark.parametrize("more", [0, 3])
def test_the_first_rows_stand_for_many(more: int, capsys: pytest.CaptureFixture[str]) -> None:
    print_summary("t", ["row"], [[f"r{i}"] for i in range(MOST_ROWS + more)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[MOST_ROWS + 1 :] == [
        f"r{MOST_ROWS - 1}",
        "",
        *["and 3 rows more; --json has all of them."] * (more > 0),
    ]


def test_numbers_are_to_the_right_and_verdicts_in_colour() -> None:
    for number in (None, 3, 0.25):
        assert cell(number).justify == "right"
    for word in (True, "text"):
        assert (cell(word).justify, str(cell(word)), cell(word).style) == (None, str(word), "")
    for verdict in Verdict:
        assert cell(verdict).style == f"bold {VERDICTS[verdict]}"


def test_progress_is_for_a_terminal_alone(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with progress_bar(4) as bar:
        bar.say("under [b]way\x1b")
        bar.reach(3)
        assert (bar.progress.tasks[0].completed, bar.progress.tasks[0].total) == (3, 4)
        assert bar.progress.tasks[0].description.startswith("under [b]way")
        assert "\x1b" not in bar.progress.tasks[0].description
    assert capsys.readouterr() == ("", "")
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress_bar(4) as bar:
        alone = threading.active_count()
        bar.say("under [b]way")
        assert threading.active_count() == alone + 1  # what a terminal is shown has a thread, and none before
        bar.reach(3)
        bar.progress.refresh()
    assert "under [b]way" in terminal.getvalue()
    assert "75 %" in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[2K")  # the line is gone in the end


# commands

LETTERS = {"sentences": [list("aäa"), list("aäb"), list("baä")]}
ABC = {"sentences": [list("abcb"), list("bca"), list("cab")]}


def printed(command: Command, *arguments: object) -> list[str]:
    """The lines that are not empty, with one space between words."""
    answer = command(*arguments)
    assert answer.status == 0, answer.err
    return [" ".join(line.split()) for line in answer.out.splitlines() if line.strip()]


def test_names_in_a_header_are_text(
    command: Command, own_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without control characters and without markup, on classes and in a table of texts."""
    names = {"next": "n\x1b[31m[red]", "query": "q\x07", "probabilities": {"a\x9b": 1.0}}
    path = dataset_file(own_folder, {"classes": [names]})
    monkeypatch.setenv("COLUMNS", "200")
    title, header, *_ = printed(command, "train", path, "--steps", "2")
    assert title.startswith("data, ")
    assert header.endswith(r"growth q\x07 a\x9b B n\x1b[31m[red]")
    print_captioned(Captioned(DataFrame({"a\x1b[red]": ["b"]}), "T"))
    assert capsys.readouterr().out.splitlines()[1].strip() == r"a\x1b[red]"


def test_what_is_said_of_sentences(command: Command, own_folder: Path) -> None:
    sample = '{"sample": {"tokens": ["a", "ä"], "next": "a"}'
    assert printed(command, "classify", dataset_file(own_folder, LETTERS, "letters.json")) == [
        "letters: collocation",
        "token next token",
        "a ä",
        "ä –",
        "b a",
        "Token classes under each query",
        "query optimal non-optimal confused non-comparable",
        "a a b ä",
        "Assumptions",
        "assumption witness",
        'collocation fails {"token": "ä", "next_tokens": []}',
        "injective holds",
        f"next_from_sentence fails {sample}}}",
        "well_defined_orders holds",
        "no_confused_tokens holds",
        "orthonormal holds",
        f'optimal_majority fails {sample}, "optimal_positions": 0, "token": "a", "multiplicity": 1}}',
        "prefix_closed holds",
    ]


def test_what_is_said_of_solutions(command: Command, own_folder: Path) -> None:
    assert printed(command, "solve", dataset_file(own_folder, ABC, "abc.json")) == [
        "abc: hard-margin solutions",
        "problem status method ‖W*‖² duality gap largest violation direction error at most",
        "ov optimal closed-form 2 0 0 0",
        "kq optimal exact 3 0 0 0",
        "W*_kq: x^T W q",
        "query q key x weight exact",
        "a a 0.5 1/2",
        "a c -0.5 -1/2",
        "b a -0.5 -1/2",
        "b b 0.5 1/2",
        "c a 1 1",
        "c b -1 -1",
        "Proposition 2's closed form",
        "query witness S",
        "a holds",
        "b holds",
        "c fails a b",
    ]
    rounded = printed(command, "solve", "abc.json", "--method", "cvxpy")
    assert [line.split()[:3] for line in rounded[2:4]] == [["ov", "optimal", "cvxpy"], ["kq", "optimal", "cvxpy"]]
    assert [len(line.split()) for line in rounded[6:12]] == [3] * 6


def test_an_audits_verdicts_are_told_at_any_width(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """From 118 columns on a row a verdict with its numbers; in fewer a row a claim: how many of each, and the worst."""
    audit = ("audit", "example-1", "section-7", "free-20", "--claim", "ntp.prop2.*", *SHORT, "--out", "report")
    monkeypatch.setenv("COLUMNS", "118")
    wide = [line.split() for line in command(*audit).out.splitlines()]
    assert wide[1] == ["claim", "dataset", "verdict", "evidence", "measured", "bound", "slack", "informative", "from"]
    assert ["ntp.prop2.corollary.any-data", "free-20", "violated"] in [line[:3] for line in wide]
    monkeypatch.setenv("COLUMNS", "117")
    short = [line.split() for line in command(*audit).out.splitlines()]
    assert short[1] == ["claim", "verdicts", "worst"]
    assert ["ntp.prop2.closed-form.any-data", "1", "violated,", "2", "holds", "free-20"] in short
    for lines in (wide, short):
        at = lines.index(["Why", "not", "applicable"])
        assert lines[at + 1] == ["verdicts", "why", "datasets"]
        assert lines[at + 2][0] == "2"
        assert lines[at + 2][-1] == "free-20"
        fails = lines.index(["What", "fails"])
        assert at < fails
        assert lines[fails + 2][:1] == ["ntp.prop2.closed-form.any-data"]
        assert lines[-3] == ["12", "verdicts:", "2", "violated,", "2", "not-applicable,", "8", "holds."]
        assert lines[-2] == ["Violated:", "2", "variants."]
    monkeypatch.setenv("COLUMNS", "149")
    assert [line.split() for line in command(*audit).out.splitlines()] == wide
    monkeypatch.setenv("COLUMNS", "150")
    named = [line.split() for line in command(*audit).out.splitlines()]
    assert named[1][:3] == ["claim", "statement", "dataset"]
    assert ["ntp.prop2.closed-form", "Proposition", "2,", "closed", "form", "example-1"] in [line[:6] for line in named]


def test_many_verdicts_are_printed_when_asked_for(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marginaudit.reports.command.audit.MOST_VERDICTS", 2)
    audit = ("audit", "free-20", "--claim", "ntp.prop2.*", *SHORT, "--out", "report")
    told, asked = command(*audit).out, command(*audit, "--verdicts").out
    assert "\nWhat fails\n" in f"\n{told}"
    assert "Verdicts\n" not in told
    assert asked.startswith("Verdicts\n")
    assert asked.endswith(told)


def test_a_log_stands_for_the_bar_where_there_is_no_terminal(
    command: Command, svop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = command("audit", svop, "example-1", "--claim", "ntp.theorem1.norm", *SHORT, "--out", "report")
    assert answer.err.splitlines() == ["svop: audited", "example-1: audited"]
    again = command("audit", svop, "example-1", "--claim", "ntp.theorem1.norm", *SHORT, "--out", "report")
    assert again.err.splitlines() == [
        f"{name}: as it was audited before (--fresh audits it anew)" for name in ("svop", "example-1")
    ]
    with progress_bar(1) as bar:
        bar.log("a\x1b line")
        bar.progress.disable = False
        bar.log("none beside a bar")
        bar.progress.disable = True
    assert capsys.readouterr().err == "a\\x1b line\n"


def test_a_large_text_is_summarised(command: Command, svop: Path) -> None:
    words = [f"w{i}" for i in range(3 * MOST_ROWS)]
    dataset_file(Path(), SVOP | {"vocabulary": [*"SVOP", *words]}, "large.json")
    out = command("classify", "large.json").out
    assert f"and {2 * MOST_ROWS + 4} rows more; --json has all of them." in out
    assert " … " in out
    assert "w100" not in out
    classes = command.json("classify", "large.json")["queries"]["S"]
    assert len(classes["non_comparable"]) >= len(words)
    assert "rows more" not in command("classify", svop).out
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


def test_an_error_bar_in_few_digits_is_no_narrower(command: Command, svop: Path) -> None:
    rows = command.json("train", svop, *SHORT)["stage2"]
    printed = command("train", svop, *SHORT).out.strip().splitlines()[-len(rows) :]
    bars = [(float(line.split()[-1]), row["error"]) for row, line in zip(rows, printed, strict=True) if row["error"]]
    assert len(bars) > 10
    assert all(bar <= shown < 1.001 * bar for shown, bar in bars)


def test_an_enclosure_beside_a_proof_is_shown(command: Command) -> None:
    chosen = ("example-1", *SHORT, "--claim", "ntp.theorem1.*", "--claim", "ntp.prop2.closed-form", "--out", "out")
    enclosed = command("audit", *chosen, "--certify", "30")
    assert enclosed.out.count("proved, measured: certified") == 3
    counted = "Enclosed rigorously: the measurements of 3 verdicts, 3 of them beside a proof."
    assert counted in enclosed.out
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert page.count("<br>measured: certified") == 3
    assert counted in page
    plain = command("audit", *chosen)
    assert "certified" not in plain.out
