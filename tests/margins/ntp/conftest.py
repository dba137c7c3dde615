"""What the stand-alone checker makes of a dataset and a certificate."""

import re
from pathlib import Path
from typing import Any

import pytest

from marginaudit.margins.ntp.verify import FORMAT, Refused, verify
from tests.margins.ntp.lies import Outcome, Refusal
from tests.margins.ntp.readings import written
from tests.strategies import Document


@pytest.fixture
def outcome(tmp_path: Path) -> Outcome:
    """What the checker makes of a dataset and what is stated of it."""

    def check(dataset: Document, **stated: Any) -> list[str]:
        return verify(*written(tmp_path, dataset, {"format": FORMAT} | stated))

    return check


@pytest.fixture
def refused(outcome: Outcome) -> Refusal:
    """The one reason for which a lie is refused."""

    def check(reason: str, dataset: Document, **stated: Any) -> None:
        with pytest.raises(Refused, match=f"^{re.escape(reason)}"):
            outcome(dataset, **stated)

    return check
