"""Figures 7 and 10 on the text that ships and on one's own, and what is no text."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marginaudit.orders.running_text import alice, running_text
from marginaudit.reports.snap.figures import text as figures
from marginaudit.reports.snap.figures.text import snap_7, snap_10
from marginaudit.training.snap.text import TextRecipe, attention, train_on_text
from tests.command_line import Command

WORDS = " ".join(["the cat sat on a mat and $ the dog sat on the cat"] * 12)


def trained(text: Any, eta: float, seed: int, at: tuple[int, ...]) -> Any:
    recipe = TextRecipe(d=16, T=13, batch=32, updates=400, longest=0.5, held_out=0.2)
    return train_on_text(text.tokens, len(text.vocabulary), recipe, eta, seed, at)


def test_attention_over_training() -> None:
    told: list[float] = []
    figure = snap_7(None, told.append)
    found = trained(alice(), 5.0, 0, tuple(range(0, 401, 10)))
    *maps, lower = figure.subfigs[0].axes + figure.subfigs[1].axes
    shown = alice().tokens[-(len(alice().tokens) // 5) :]
    windows = np.array([shown[i : i + 13] for i in range(24)])
    for axis, update in zip(maps, (0, 100, 200, 400), strict=True):
        np.testing.assert_array_equal(axis.images[0].get_array(), attention(found.parameters[update // 10], windows))
        assert tuple(axis.images[0].get_extent()) == (-12.5, -0.5, 24.5, 0.5)
        assert axis.get_title(loc="left") == f"{update} updates"
    curve, most = lower.lines
    np.testing.assert_array_equal(curve.get_xdata(), np.arange(0, 401, 10))
    np.testing.assert_array_equal(curve.get_ydata(), found.entropy)
    np.testing.assert_array_equal(most.get_ydata(), np.log(12))
    assert found.entropy[-1] < 0.8 * found.entropy[0]
    assert re.findall(r"\d+", figure.get_suptitle()) == ["767", "148", "301", "16", "13", "32", "5", "0"]
    assert told == pytest.approx(np.arange(1, 401) / 400, rel=1e-15, abs=0)


def test_entropy_against_the_step_size(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With two step sizes and seeds in place of five."""
    assert (figures.ETAS, figures.SEEDS) == ((0.5, 1.0, 2.0, 5.0, 10.0), 5)
    monkeypatch.setattr(figures, "ETAS", (0.5, 2.0))
    monkeypatch.setattr(figures, "SEEDS", 2)
    path = tmp_path / "cat$.txt"
    path.write_text(WORDS)
    told: list[float] = []
    [axis] = snap_10(path, told.append).axes
    [container] = axis.containers
    line, _, (bars,) = container.lines  # type: ignore[attr-defined]
    for eta, mean, bar in zip((0.5, 2.0), line.get_ydata(), bars.get_segments(), strict=True):
        each = [trained(running_text("cat$", WORDS), eta, seed, (400,)).entropy[0] for seed in range(2)]
        assert mean == pytest.approx(np.mean(each), rel=1e-12, abs=0)
        assert (bar[1, 1] - bar[0, 1]) / 2 == pytest.approx(np.std(each, ddof=1), rel=1e-9, abs=0)
    assert told == pytest.approx(np.arange(1, 1601) / 1600, rel=1e-15, abs=0)
    assert (axis.get_xscale(), axis.get_xlabel()) == ("log", "step size η")
    assert ([label.get_text() for label in axis.get_xticklabels()], len(axis.get_xticks(minor=True))) == (
        ["0.5", "2"],
        0,
    )
    assert "SGD, 400 updates, 2 seeds" in axis.figure.get_suptitle()
    assert r"cat\$: 156 words" in axis.figure.get_suptitle()


def test_the_command_takes_a_text(command: Command) -> None:
    Path("mine").write_text(WORDS)
    assert command.json("figure", "snap-7", "--text", "mine") == {"figure": "snap-7", "file": "snap-7.svg"}
    assert Path("snap-7.svg").read_bytes().startswith(b"<?xml")
    assert {"snap-7", "snap-10"} <= set(command.json("figure", "list")["figures"])


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (None, "mine.txt: got No such file or directory, expected a text file"),
        (b"one\n\xff", "mine.txt: line 2: got text that is not UTF-8, expected UTF-8"),
        (b"one two", "mine.txt: got 2 words, expected at least 71"),
        (b"a " * 70, "mine.txt: got 70 words, expected at least 71"),
        (b"", "mine.txt: got 0 words, expected at least 71"),
    ],
)
def test_what_is_no_text(content: bytes | None, line: str, command: Command) -> None:
    if content is not None:
        Path("mine.txt").write_bytes(content)
    for name in ("snap-7", "snap-10"):
        assert command.refused("figure", name, "--text", "mine.txt") == line
        assert not Path(f"{name}.svg").exists()
