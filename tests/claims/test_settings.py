"""Settings: each value checked where a config is made, and the options that the command line makes of them."""

import math
import re
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from marginaudit.claims.ntp import Config
from marginaudit.claims.settings import settings_of
from marginaudit.orders import InputError, shown
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.command.options import configs, dashed, powers_of_ten
from marginaudit.reports.ntp.paper import PAPER
from tests.command_line import Command

BAD: dict[str, tuple[Any, ...]] = {
    "steps": (-5, -1, 10**18 + 1, 1.5, 2e18, "9", True, np.True_, math.nan, math.inf, (1,)),
    "size": (0, 0.0, -1.0, 0.9e-100, 1.1e100, math.inf, -math.inf, math.nan, True, "0.1", 1j),
    "[steps]": (-5, 10**18 + 1, 1.5, "9", np.True_, math.nan, (1,)),
    "step list": ("5", [5, -1], (5, -1), (5, 10**18 + 1), (5, 2.5), (True,), ("5",), ((5,),)),
    "choice": ("NGD", "", 1, ["ngd"]),
    "share": (-5e-324, -1.0, 1.0, math.nan, True, "0.5"),
    "count": (0, -1, 10**6 + 1, 2.5, True, "2"),
    "number": (-1, 2**63 + 1, 2.5, True, "2"),
    "tokens": (0, -1, 10**5 + 1, 2.5, True, "2"),
    "fraction": (-5e-324, -1.0, 1.0, math.nan, True, "0.5"),
}
"""By the name of a setting's values."""

GOOD: dict[str, tuple[Any, ...]] = {
    "steps": (0, 2**53 + 1, 10**18, np.int64(7), 1e6, 1e18, np.float64(900)),
    "size": (1e-100, 1e100, 1, np.float64(0.5)),
    "[steps]": (0, 10**18, 1e6, True, False),
    "step list": (5, (), (0, 1, 900), (np.int64(3),), (1, 1e6), [1, 900], range(1, 3), np.array([1, 900])),
    "share": (0.0, 0.5, math.nextafter(1.0, 0.0)),
    "count": (1, 10**6, np.int64(2), 1e3),
    "number": (0, 2**63),
    "tokens": (1, 10**5, np.int64(2), 1e3),
    "fraction": (0.0, 0.5, 0.9999),
}

DRAWN = {"batch": 2, "length": 7}
BESIDE: dict[str, dict[str, int]] = {"batch": DRAWN, "length": DRAWN, "momentum": DRAWN, "update": DRAWN}
"""Settings without which one is refused."""


CONFIGS = dict.fromkeys(
    [paper.config for paper in PAPERS] + [type(paper.sweeps.config) for paper in PAPERS if paper.sweeps]
)
SETTINGS = [
    pytest.param(config, name, id=f"{config.__name__}-{name}") for config in CONFIGS for name in settings_of(config)
]


@pytest.mark.parametrize(("config", "name"), SETTINGS)
def test_a_config_refuses_bad_values(config: type, name: str) -> None:
    known = settings_of(config)[name]
    for value in (*BAD[known.values.name], *(() if known.none else (None,))):
        with pytest.raises(InputError) as refused:
            config(**{name: value})
        assert str(refused.value) == f"{config.__name__}.{name}: got {shown(value)}, expected {known.values.expected}"


@pytest.mark.parametrize(("config", "name"), SETTINGS)
def test_a_config_takes_the_ends_of_each_range(config: type, name: str) -> None:
    known = settings_of(config)[name]
    for value in (*(known.values.choices or GOOD[known.values.name]), *((None,) if known.none else ())):
        beside = BESIDE.get(name, {}) if value is not None else {}
        found = getattr(config(**{**beside, name: value}), name)
        if known.values.name == "step list" and value is not None:
            assert found == tuple(np.atleast_1d(value))
        else:
            assert found == (known.values.alone if value is True else value)
        assert type(found).__module__ == "builtins"
        if known.values.name in ("steps", "step list"):
            steps = found if isinstance(found, tuple) else (found,)
            assert all(step is None or type(step) is int for step in steps)


def test_a_recorded_step_lies_in_one_of_the_stages() -> None:
    assert Config(steps1=5, steps2=9, at=(9,)).at == Config(steps1=9, steps2=5, at=(9,)).at == (9,)
    assert Config(steps1=5, steps2=None, at=(10**18,)).at == (10**18,)
    with pytest.raises(InputError) as refused:
        Config(steps1=9, steps2=4, at=(2, 11))
    assert str(refused.value) == ("Config.at 11: got a step beyond both stages of 9 and 4 steps, expected at most 9")


# on the command line

SHARED = {"--at"}
"""Options of settings that several papers have."""


def test_without_an_option_a_setting_has_its_default() -> None:
    for paper in PAPERS:
        unset = dict.fromkeys(settings_of(paper.config))
        assert configs("audit", [paper], PAPERS, unset) == {paper.name: paper.config()}
        assert configs("train", [paper], PAPERS, unset) == {paper.name: paper.trained}
    assert (PAPER.trained.steps1, PAPER.trained.steps2) == (900, 900)


@pytest.mark.parametrize("name", ["audit", "train", "table"])
def test_every_setting_is_an_option_with_its_help_and_default(command: Command, name: str) -> None:
    said = re.sub(r"-\n +", "-", command(name, "--help").out)  # lines are broken at hyphens too
    said = " ".join(said.split())
    for paper in PAPERS:
        default = paper.trained if name == "train" else paper.config()
        for field in fields(paper.config):
            known = settings_of(paper.config)[field.name]
            option = dashed(field.name)
            there = (not known.only or name in known.only) and (name != "table" or bool(paper.tables))
            assert there == (re.search(rf"{option} ", said) is not None) or option in SHARED
            assert there == (known.help in said)
            if there:
                value = getattr(default, field.name)
                text = known.none if value is None else powers_of_ten(str(value))
                assert f"{known.help} [default: {text}]" in said


def test_a_bad_value_is_told_by_its_option() -> None:
    with pytest.raises(InputError, match=r"^--lr-y: got -1, expected a positive number"):
        configs("audit", PAPERS, PAPERS, {"lr_y": -1})
    with pytest.raises(InputError, match=r"^--at 9: got a step beyond both stages of 3 and 4 steps, expected at most"):
        configs("audit", [PAPER], PAPERS, {"at": (9,), "steps1": 3, "steps2": 4})
