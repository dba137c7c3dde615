"""Worst cases by n: the constants are exact, and a guessed formula counts where an n not used for it confirms it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from marginaudit import Claim, WorstCase
from marginaudit.claims.instances.instance import instance
from marginaudit.orders import InputError
from marginaudit.reports.tighten.in_steps import InSteps, in_steps
from tests.command_line import Command
from tests.pages import ROOT

CLAIMS = ROOT / "examples" / "first_order" / "claims.py"


@dataclass(frozen=True)
class Planted(WorstCase):
    """A worst case of known values."""

    value: Callable[[int], Fraction | None] = lambda n: Fraction(1, n)

    def exact(self, of: Any) -> Fraction | None:
        return self.value(of.n)


def planted(
    value: Callable[[int], Fraction | None], steps: Sequence[int] = range(1, 6), seconds: float = 60
) -> InSteps:
    judgement = Planted(problem=lambda of: of, bound=lambda _: Fraction(2), value=value)
    claim = Claim(
        id="mine.planted", source="here", statement="f <= 2", formula="f", assumptions=(), judgement=judgement
    )
    instances = [instance(f"of-{k}", n=n, L=Fraction(3)) for k, n in enumerate(steps)]
    (found,) = in_steps(claim, instances, monotonic() + seconds)
    return found


def test_a_formula_is_checked_at_an_n_not_used_for_it() -> None:
    found = planted(lambda n: Fraction(1, n + 4))
    assert (found.guess, found.checked_at, found.parameters) == ("1/(n + 4)", 5, {"L": 3})
    assert [(one.n, one.factor) for one in found.constants] == [(n, Fraction(1, 2 * n + 8)) for n in range(1, 6)]


def test_a_formula_that_the_next_n_refutes_is_no_guess() -> None:
    found = planted(lambda n: Fraction(1, n + 4 if n < 5 else 2**n))
    assert (found.guess, found.checked_at) == (None, None)
    assert [one.n for one in found.constants] == list(range(1, 9))


def test_further_n_are_tried_until_one_confirms_a_formula() -> None:
    found = planted(lambda n: Fraction(1, n * n + 1))
    assert (found.guess, found.checked_at) == ("1/(n^2 + 1)", 6)


def test_an_n_without_an_exact_value_is_left_out_of_the_guess() -> None:
    found = planted(lambda n: None if n == 2 else Fraction(1, n + 4), range(1, 7))
    assert (found.guess, found.checked_at) == ("1/(n + 4)", 6)
    assert found.constants[1].factor is None


def test_an_instance_given_twice_confirms_no_formula() -> None:
    once = planted(lambda n: Fraction(1, n + 4), range(1, 6))
    assert planted(lambda n: Fraction(1, n + 4), [*range(1, 6), 5]) == once
    twice = planted(lambda n: None if n > 4 else Fraction(1, n + 4), [1, 2, 3, 4, 4])
    assert (twice.guess, twice.checked_at) == (None, None)


def test_an_instance_without_time_is_missing() -> None:
    found = planted(lambda n: Fraction(1, n), seconds=-1)
    assert (found.constants, found.missing) == ((), (1, 2, 3, 4, 5))


def test_instances_without_n_are_refused() -> None:
    claim = Claim(
        id="mine.planted", source="here", statement="f <= 2", formula="f", assumptions=(),
        judgement=Planted(problem=lambda of: of, bound=lambda _: Fraction(2)),
    )  # fmt: skip
    with pytest.raises(InputError, match="no instance with a whole number n among 1"):
        in_steps(claim, [instance("one", L=3)], monotonic() + 1)


def test_the_command_guesses_nesterovs_formula(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = Command(capsys)
    (found,) = command.json("tighten", "first-order.nesterov", "--claims", CLAIMS)["series"]
    assert (found["guess"], found["checked_at"]) == ("6/(n^2 + 5 n + 6)", 6)
    assert found["constants"][0] == {"n": 1, "worst_case": "1/2", "factor": 1}
    told = command("tighten", "first-order.gradient-descent", "--claims", CLAIMS).out
    assert "guess: 3/(4 n + 2), made from n < 5 and right at n = 5; not proved for every n." in told
    line = command.refused("tighten", "first-order.nesterov", "--claims", CLAIMS, "--out", "a.svg")
    assert line.endswith("expected none: a claim on worst cases gets no figure")
    line = command.refused("tighten", "first-order.nesterov", "--claims", CLAIMS, "--lr2", "0.1")
    assert line.startswith("--lr2: got instances to run")
    told = command("tighten", "first-order.nesterov", "--claims", CLAIMS, "--seconds", "1e-9").out
    assert "no time was left for n = 1, 2, 3, 4, 5; see --seconds." in told
    assert not list(tmp_path.iterdir())
