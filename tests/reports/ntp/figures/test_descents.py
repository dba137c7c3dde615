"""Plain descent beside normalised: a panel for each built-in case, with what `train` records of both."""

from dataclasses import replace

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
