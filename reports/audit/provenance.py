"""Provenance of an audit: date, command, processor, commit, and hashes of the input files."""

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from marginaudit.orders import InputError, printable, shown

EPOCH = "SOURCE_DATE_EPOCH"


def provenance(command: str | None = None, files: Iterable[Path] = ()) -> dict[str, Any]:
    """Provenance for a report.

    Parameters
    ----------
    command : command line as typed; None from Python
    files : input files to hash, except datasets
    """
    return {
        "date": date(),
        "command": None if command is None else printable(command),
        "cpu": _cpu(),
        "commit": _commit(),
        "files": {printable(str(path)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files},
    }


def reproducible() -> bool:
    """Whether SOURCE_DATE_EPOCH asks for the same bytes from the same input, and so for no durations."""
    return bool(os.environ.get(EPOCH, ""))


def date() -> str:
    """Current time, or that of SOURCE_DATE_EPOCH (https://reproducible-builds.org/specs/source-date-epoch).

    Raises
    ------
    InputError
        SOURCE_DATE_EPOCH is no time.
    """
    given = os.environ.get(EPOCH, "")
    try:
        now = datetime.fromtimestamp(int(given), UTC) if given else datetime.now(UTC)
    except (ValueError, OverflowError, OSError):
        expected = "whole seconds since 1970, up to the year 9999"
        raise InputError(f"environment variable {EPOCH}", got=shown(given), expected=expected) from None
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


def _cpu() -> str:
    """Name of the processor, or its architecture if unknown."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()


@cache
def _commit() -> str | None:
    """Commit of the installed package, or of the program's checkout; None if unknown."""
    try:
        installed = json.loads(distribution("marginaudit").read_text("direct_url.json") or "{}")
        if "vcs_info" in installed:
            return str(installed["vcs_info"]["commit_id"])
        here = Path(__file__).resolve()
        git = ["git", "-C", str(here.parent)]
        for command in (["ls-files", "--error-unmatch", here.name], ["describe", "--always", "--dirty", "--exclude=*"]):
            answer = subprocess.run([*git, *command], capture_output=True, check=True, text=True, timeout=10).stdout
        return answer.strip() or None
    except (PackageNotFoundError, OSError, ValueError, KeyError, TypeError, subprocess.SubprocessError):
        return None
