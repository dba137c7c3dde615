"""Second computations of a report's rows, from a recheck stored in its folder."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

FILE = "recheck.json"
"""File of `marginaudit recheck REPORT --out REPORT/recheck.json`."""


def second_computations(folder: Path, verdicts: str) -> Mapping[str, str]:
    """Other ways that agree, by ``dataset: claim``; empty without a recheck of these rows, the text of verdicts.csv."""
    try:
        document = json.loads((folder / FILE).read_bytes())
        of_rows = document["verdicts_sha256"] == hashlib.sha256(verdicts.encode()).hexdigest()
        return {
            str(place): f"marginaudit recheck, {way}" for place, way in document["by_another_way"].items() if of_rows
        }
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}
