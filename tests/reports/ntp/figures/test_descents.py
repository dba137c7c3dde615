"""Plain descent beside normalised: a panel for each built-in case, with what `train` records of both."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from marginaudit.orders.ntp import CASES
from marginaudit.reports.ntp.figures import descents
from marginaudit.reports.plots.style import BOUND, MEASURED
from tests.command_line import Command


@pytest.fixture(scope="module")
def figure() -> Figure:
    short = tuple((replace(config, steps2=40), *line) for config, *line in descents.OPTIMIZERS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(descents, "OPTIMIZERS", short)
        return descents.ngd_and_gd()


def test_both_are_followed_for_a_hundred_thousand_steps() -> None:
    assert [(config.optimizer, config.steps2) for config, *_ in descents.OPTIMIZERS] == [("gd", 10**5), ("ngd", 10**5)]


def test_each_case_has_the_direction_errors_that_train_prints(figure: Figure, command: Command) -> None:
    assert [axis.get_title("left") for axis in figure.axes] == list(CASES)
    for axis, name in zip(figure.axes, CASES, strict=True):
        assert (axis.get_xscale(), axis.get_yscale(), axis.get_xlabel()) == ("log", "log", "step $t$")
        for line, optimizer, colour in zip(axis.lines, ("gd", "ngd"), (BOUND, MEASURED), strict=True):
            rows = command.json("train", name, "--steps2", 40, "--at", "1,7,40", "--optimizer", optimizer)["stage2"]
            step, gap = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
            assert step.tolist() == list(range(1, 41))
            assert {row["step"]: row["one_minus_cos"] for row in rows} == {t: gap[t - 1] for t in (1, 7, 40)}
            assert to_hex(str(line.get_color())) == colour


def test_the_figure_can_be_read(figure: Figure) -> None:
    assert figure.get_suptitle().startswith("Stage 2 by normalised and by plain gradient descent")
    assert figure.axes[0].get_ylabel() == r"$1-\cos(W_{kq}^{(t)},W^*_{kq})$"
    legend = figure.axes[-1].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["plain", "normalised"]
    for axis in figure.axes:
        assert axis.get_ylim() == figure.axes[0].get_ylim()
        assert axis.xaxis.get_major_formatter()(10.0) == axis.yaxis.get_major_formatter()(10.0) == "10¹"
    boxes = [axis.get_position() for axis in figure.axes]
    assert all(0.04 < box.x0 < box.x1 < 1 and 0.12 < box.y0 < box.y1 < 0.85 for box in boxes)
    assert all(right.x0 - left.x1 > 0.01 for left, right in pairwise(boxes))
    assert sum(box.width for box in boxes) > 0.86
    assert boxes[0].height > 0.6
