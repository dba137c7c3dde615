"""Values within bars."""

from typing import Any

import numpy as np

from marginaudit.reports.series import Series


def bars_are(found: Series, expected: Any) -> None:
    np.testing.assert_allclose(found.radius, np.broadcast_to(expected, found.radius.shape), rtol=1e-9, atol=0)
    assert (found.radius > 0).any()
