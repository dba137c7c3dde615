"""What the commands print for a person, where standard output is a pipe and where standard error is a terminal."""

import io
import sys
import threading
from pathlib import Path

import pytest

from marginaudit.reports.command.console import (
    MOST_ROWS,
    cell,
    print_grid,
    print_line,
    print_summary,
    print_table,
    progress_bar,
)
from marginaudit.reports.command.output import print_json, print_text
from marginaudit.reports.grid import Grid
from marginaudit.reports.plots.style import VERDICTS
from marginaudit.reports.verdict import Verdict
from tests.command_line import Command, dataset_file


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


# commands, word for word, on small inputs

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
    assert title == "data, the limit of long sequences by Lemma 3's gradient and eq. 10"
    assert header.endswith(r"growth q\x07 a\x9b B n\x1b[31m[red]")
    print_grid(Grid("T", ("a\x1b[red]",), (("b",),), ()))
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
