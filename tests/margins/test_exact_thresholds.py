"""Guards of the exact solutions, each with the one input that it is there for."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.margins import CertificateError, exact, tight
from marginaudit.margins.exact import solve_exactly
from marginaudit.margins.ntp import kq, solve_kq
from marginaudit.margins.tight import solve_near
from marginaudit.orders import Relations
from marginaudit.orders.ntp import CASES, broken
from tests.margins.restated import related
from tests.solutions import known


def test_a_cut_with_no_edge_across_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two queries are cut; of the first all tokens are said to be reached, as by a flow that is none."""
    edges = [(0, 3), (1, 3), (1, 4), (1, 5), (1, 6)]
    relations = Relations(*np.array([(q, w, x, 0) for q in (0, 1) for w, x in edges]).T)
    right, calls = exact._reached, []

    def wrong(
        tail: NDArray[np.int64], head: NDArray[np.int64], flow: NDArray[np.int64], starts: NDArray[np.int64], size: int
    ) -> NDArray[np.bool_]:
        reached = right(tail, head, flow, starts, size)
        calls.append(reached.copy())
        reached[: size // 2] = True
        return reached

    assert len(set(solve_exactly(relations, 7).block.tolist())) == 4
    monkeypatch.setattr(exact, "_reached", wrong)
    with pytest.raises(CertificateError, match="not a maximum flow"):
        solve_exactly(relations, 7)
    ((first, second),) = (np.split(reached, 2) for reached in calls)
    assert first.tolist() == second.tolist()
    assert not first.all()


@pytest.mark.parametrize("digits", range(3, 9))
def test_rows_count_as_tight_at_each_slack_that_is_tried(digits: int) -> None:
    """Two winners of m and m + 1 losers, one row between the blocks: its slack is 1/((m + 1)(m + 2)), here 1.5e-digits.

    A tight row is off by 0.5e-digits, so of all slacks tried 1e-digits alone tells the two rows apart.
    """
    m = int((10**digits / 1.5) ** 0.5) - 1
    winner = np.array([0] * m + [1] * (m + 1) + [1])
    loser = np.array([*range(2, 2 * m + 3), 2])
    scores = np.empty((2 * m + 3, 1))
    scores[:, 0] = [m / (m + 1), (m + 1) / (m + 2), *[-1 / (m + 1)] * m, *[-1 / (m + 2)] * (m + 1)]
    slack = scores[1, 0] - scores[2, 0] - 1
    assert 1.2 * 10**-digits < slack < 1.9 * 10**-digits
    scores[3, 0] -= 0.5 * 10**-digits
    zeros = np.zeros(len(winner), dtype=np.int64)
    relations = Relations(zeros, winner, loser, zeros)
    (found,) = solve_near(relations, len(scores), scores).values()
    assert found.norm_squared == Fraction(m, m + 1) + Fraction(m + 1, m + 2)
    for off in (0.9, 1.1):  # a row further off than the largest slack is not tight
        scores[3, 0] = -1 / (m + 1) - off * 10**-3
        assert bool(solve_near(relations, len(scores), scores)) == (digits == 3 and off < 1)


def test_a_wrong_flow_near_a_right_guess_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = related({"z": [("a", "b"), ("b", "c")]})
    scores, right = solve_kq(dataset).optimal().scores, tight._flow
    assert solve_near(dataset.relations, dataset.V, scores)
    monkeypatch.setattr(tight, "_flow", lambda *arguments: known(right(*arguments)) + 1)
    with pytest.raises(CertificateError):
        solve_near(dataset.relations, dataset.V, scores)


def test_a_joined_solution_without_a_margin_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = broken(CASES["free-20"](), "no_confused_tokens")
    monkeypatch.setattr(kq, "solve_near", lambda relations, size, scores: {})
    monkeypatch.setattr(kq, "certify", lambda rows, W, multipliers: None)
    with pytest.raises(CertificateError, match="margin that is not positive"):
        solve_kq(dataset)


def test_the_second_opinion_takes_nothing_from_the_exact_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(relations: Relations, size: int, scores: NDArray[np.float64]) -> None:
        raise AssertionError

    monkeypatch.setattr(kq, "solve_near", refuse)
    tangled = [("a", "b"), ("b", "c")]
    dataset = related({"z": tangled, "y": [("a", "b"), ("b", "a")]})
    assert solve_kq(dataset, method="cvxpy").closed_form["z"] is not None
    with pytest.raises(AssertionError):
        solve_kq(dataset)
