"""Checks of a report by itself: the numbers of a row against each other, and its files against their hashes."""

import hashlib
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from marginaudit.claims.row import names
from marginaudit.claims.series import as_floats
from marginaudit.claims.verdict import LEAST, Output
from marginaudit.reports.page.exports import csv_table
from marginaudit.reports.page.folder import manifest
from marginaudit.reports.recheck.differences import Difference

WAY = "arithmetic on the row"
OF_FILES = "hash of the file"

LEAST_DIGITS = 1e-6
"""Relative accuracy of a slack: ratios of logarithms near the ends of float64 lose digits."""

BOUNDS = ("upper bound", "lower bound", "two-sided bound")
"""Kinds of statements with the sign of the slack's distance from 1."""


def row_faults(place: str, row: Mapping[str, Any]) -> Iterator[Difference]:
    """Contradictions among the numbers of a row."""
    for name in ("measured", "bound"):
        if exact := row[f"{name}_exact"]:
            found = _float(exact)
            if row[name] != found:
                yield Difference(place, name, row[name], found, 0.0, WAY)
    slack, ratio = row["slack"], _ratio(row)
    if slack is not None and ratio is not None and abs(slack - ratio) > LEAST_DIGITS * abs(ratio):
        yield Difference(place, "slack", slack, ratio, LEAST_DIGITS * abs(ratio), WAY)
    if ratio is not None and row["kind"] in BOUNDS and row["control_of"] is None:
        broken, verdict = ratio < 1 - LEAST_DIGITS, row["verdict"]
        if broken is not (verdict == "violated") and (broken or ratio > 1 + LEAST_DIGITS):
            yield Difference(place, "verdict", verdict, "violated" if broken else "not violated", None, WAY)


def _float(exact: str) -> float | None:
    """Float64 of a fraction ``p/q``; None beyond its range, and for other texts."""
    try:
        found = float(as_floats(np.array([Fraction(exact)], dtype=object))[0])
    except (ValueError, ZeroDivisionError):
        return None
    return found if math.isfinite(found) else None


def _ratio(row: Mapping[str, Any]) -> float | None:
    """Slack of a row by its two numbers, where both are positive."""
    measured, bound = row["measured"], row["bound"]
    if row["side"] is None or measured is None or bound is None or min(measured, bound) <= LEAST:
        return None
    return float(bound / measured if row["side"] == "upper" else measured / bound)


def verdicts_hash(document: Mapping[str, Any]) -> str:
    """SHA-256 of verdicts.csv, made from the rows of report.json."""
    return hashlib.sha256(csv_table(names(Output.CSV), document["verdicts"]).encode()).hexdigest()


def file_faults(file: Path, document: Mapping[str, Any]) -> Iterator[Difference]:
    """Files of a report that are changed or missing, and a table of verdicts that is not that of report.json."""
    hashes = manifest(file.parent) or {}
    own = verdicts_hash(document)
    if hashes.get("verdicts.csv", own) != own:
        yield Difference("verdicts.csv", "sha256", hashes["verdicts.csv"], own, None, "rows of report.json")
    for name, digest in hashes.items():
        path = file.parent / name
        found = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
        if found != digest:
            yield Difference(name, "sha256", digest, found, None, OF_FILES)
