"""Lists and ranges of a spec's values."""

import tomllib
from decimal import Decimal
from typing import Any

import pytest

from marginaudit.claims.settings import SEED, STEP_SIZE, STEPS, Values, one_of
from marginaudit.orders import InputError
from marginaudit.reports.study.values import MOST_VALUES, values_of


def found(text: str, allowed: Values) -> tuple[Any, ...]:
    given = tomllib.loads(f"v = {text}", parse_float=Decimal)["v"]
    return values_of(given, allowed, "f: v")


@pytest.mark.parametrize(
    ("text", "allowed", "values"),
    [
        ("2", STEP_SIZE, (2.0,)),
        ("[2, 0.25]", STEP_SIZE, (2.0, 0.25)),
        ("[1e6, 7]", STEPS, (1_000_000, 7)),
        ("{from = 0.1, to = 0.7, step = 0.1}", STEP_SIZE, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)),
        ("{from = 0.001, to = 1, factor = 10}", STEP_SIZE, (0.001, 0.01, 0.1, 1.0)),
        ("{from = 3, to = 8, step = 2}", SEED, (3, 5, 7)),
        ("{from = 3, to = 3, step = 2}", SEED, (3,)),
        ('["ngd", "gd"]', one_of("ngd", "gd"), ("ngd", "gd")),
    ],
)
def test_values(text: str, allowed: Values, values: tuple[Any, ...]) -> None:
    answer = found(text, allowed)
    assert answer == values
    assert [type(value) for value in answer] == [type(value) for value in values]


@pytest.mark.parametrize(
    ("text", "allowed", "error"),
    [
        ("[]", SEED, "f: v: got 0 values, expected 1 to 10000"),
        ("[1, 1.0]", STEP_SIZE, "f: v: got 1.0 twice, expected each value once"),
        ("true", SEED, f"f: v: got True, expected {SEED.expected}"),
        ("1.5", SEED, f"f: v: got 1.5, expected {SEED.expected}"),
        ("-1", SEED, f"f: v: got -1, expected {SEED.expected}"),
        ("nan", STEP_SIZE, f"f: v: got NaN, expected {STEP_SIZE.expected}"),
        ("1e999999999", STEPS, f"f: v: got 1E+999999999, expected {STEPS.expected}"),
        ("1e300", SEED, f"f: v: got 1E+300, expected {SEED.expected}"),
        ("[[1]]", SEED, f"f: v: got [1], expected {SEED.expected}"),
        ('"1"', SEED, f"f: v: got '1', expected {SEED.expected}"),
        ("1979-05-27", SEED, "f: v: got datetime.date(1979, 5, 27), expected"),
        ("{from = 1, to = 2}", SEED, "f: v: got the keys from, to, expected a range"),
        (
            "{from = 1, to = 2, step = 1, factor = 2}",
            SEED,
            "f: v: got the keys from, to, step, factor, expected a range",
        ),
        ("{from = 1, to = 2, step = 0}", SEED, "f: v: got from 1 to 2 by step 0, expected a range"),
        ("{from = 2, to = 1, step = 1}", SEED, "f: v: got from 2 to 1 by step 1, expected a range"),
        ("{from = 0, to = 2, factor = 2}", SEED, "f: v: got from 0 to 2 by factor 2, expected a range"),
        ("{from = 1, to = 2, factor = 1}", SEED, "f: v: got from 1 to 2 by factor 1, expected a range"),
        ("{from = 1, to = inf, step = 1}", SEED, "f: v/to: got Infinity, expected a number up to 1e300"),
        ("{from = 1, to = 1e400, step = 1}", SEED, "f: v/to: got 1E+400, expected a number up to 1e300"),
        ("{from = 1, to = '2', step = 1}", SEED, "f: v/to: got '2', expected a number up to 1e300"),
    ],
)
def test_refusals(text: str, allowed: Values, error: str) -> None:
    with pytest.raises(InputError) as refused:
        found(text, allowed)
    assert str(refused.value).startswith(error)


def test_the_longest_range() -> None:
    assert found(f"{{from = 1, to = {MOST_VALUES}, step = 1}}", SEED)[-1] == MOST_VALUES
    with pytest.raises(InputError, match="f: v: got a longer range, expected at most 10000 values"):
        found(f"{{from = 1, to = {MOST_VALUES + 1}, step = 1}}", SEED)
