"""What commands print for a person, word for word, on small inputs; what they answer with --json is the same."""

from pathlib import Path

import pytest

from marginaudit.reports.command import console
from marginaudit.reports.grid import Grid
from tests.command_line import Command, dataset_file

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
    console.print_grid(Grid("T", ("a\x1b[red]",), (("b",),), ()))
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
