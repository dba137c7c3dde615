"""Guards of the exact solutions, each with the one input that it is there for."""

import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.margins import CertificateError, exact, tight
from marginaudit.margins.exact import solve_exactly
from marginaudit.margins.ntp import solve_kq
from marginaudit.margins.tight import solve_near
from marginaudit.orders import Relations
from tests.margins.restated import related
from tests.solutions import known


def test_a_cut_with_no_edge_across_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two queries are cut; of the first all tokens are said to be reached, as by a flow that is none."""
    edges = [(0, 3), (1, 3), (1, 4), (1, 5), (1, 6)]
    relations = Relations(*np.array([(q, w, x, 0) for q in (0, 1) for w, x in edges]).T)
    right, calls = exact.reachable, []

    def wrong(
        tail: NDArray[np.int64], head: NDArray[np.int64], flow: NDArray[np.int64], starts: NDArray[np.int64], size: int
    ) -> NDArray[np.bool_]:
        reached = right(tail, head, flow, starts, size)
        calls.append(reached.copy())
        reached[: size // 2] = True
        return reached

    assert len(set(solve_exactly(relations, 7).block.tolist())) == 4
    monkeypatch.setattr(exact, "reachable", wrong)
    with pytest.raises(CertificateError, match="not a maximum flow"):
        solve_exactly(relations, 7)
    ((first, second),) = (np.split(reached, 2) for reached in calls)
    assert first.tolist() == second.tolist()
    assert not first.all()


def test_a_wrong_flow_near_a_right_guess_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = related({"z": [("a", "b"), ("b", "c")]})
    scores, right = solve_kq(dataset).optimal().scores, tight.flow_on_tight
    assert solve_near(dataset.relations, dataset.V, scores)
    monkeypatch.setattr(tight, "flow_on_tight", lambda *arguments: known(right(*arguments)) + 1)
    with pytest.raises(CertificateError):
        solve_near(dataset.relations, dataset.V, scores)
