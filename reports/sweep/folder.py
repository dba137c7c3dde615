"""The folder of a sweep: its parts, what they were computed by, and what is made of them."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from marginaudit.orders import InputError, shown_path
from marginaudit.reports.identity import difference, digest, identity
from marginaudit.reports.page.files import json_text, remove_leftovers, write_whole
from marginaudit.reports.page.folder import refusing
from marginaudit.reports.sweep.part import Outcome, Part, parts_of, read_part
from marginaudit.reports.sweep.spec import Spec
from marginaudit.reports.sweep.work import paper_module

ABOUT, SPEC, PARTS = "sweep.json", "spec.toml", "parts"

MADE = ("runs.parquet", "runs.csv", "cells.csv", "statements.csv", "sweep.html", "figure.svg", "figure.pdf")
"""What is made of the parts."""


class Folder:
    """A sweep's folder, of which nothing is written before `begin`.

    Raises
    ------
    InputError
        It holds something else, or parts of other code or versions; the latter unless ``fresh``.
    """

    def __init__(self, path: Path, spec: Spec, *, fresh: bool = False) -> None:
        self.path, self.spec, self._fresh = path, spec, fresh
        self._identity = identity(paper_module(spec.paper))
        self.all = list(parts_of(spec, digest(self._identity)))
        where = f"--out {shown_path(path)}"
        with refusing(path):
            if path.exists() and not path.is_dir():
                raise InputError(where, got="a file", expected="a folder to write the sweep to")
            about = self._about(where)
        if about is not None and not fresh and (changed := difference(about, self._identity)):
            raise InputError(where, got=f"parts of {changed}", expected="what computed them, or --fresh to start over")

    def _about(self, where: str) -> Mapping[str, Any] | None:
        file = self.path / ABOUT
        if not file.exists():
            if self.path.exists() and any(self.path.iterdir()):
                got = "a folder of files that are no sweep"
                raise InputError(where, got=got, expected="a new folder, an empty one or an earlier sweep's")
            return None
        try:
            document: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            return {name: {**document[name]} for name in ("versions", "code")}
        except (ValueError, KeyError, TypeError, RecursionError):
            raise InputError(shown_path(file), got="a damaged file", expected="an earlier sweep's") from None

    @property
    def parts(self) -> Path:
        """Where the parts lie."""
        return self.path / PARTS

    def begin(self) -> None:
        """Make the folder, and write what is run and by which code; what was made for another spec goes."""
        with refusing(self.path):
            if self._fresh:
                shutil.rmtree(self.parts, ignore_errors=True)
            if self._fresh or not self._same_spec():  # the parts of another spec stay: some may be this one's too
                for name in MADE:
                    (self.path / name).unlink(missing_ok=True)
            self.parts.mkdir(parents=True, exist_ok=True)
            remove_leftovers(self.parts)
            write_whole(self.path / ABOUT, json_text(self._identity, indent=1))
            write_whole(self.path / SPEC, self.spec.text)

    def _same_spec(self) -> bool:
        file = self.path / SPEC
        return file.is_file() and file.read_bytes() == self.spec.text.encode("utf-8")

    def outcomes(self) -> dict[str, list[Outcome] | None]:
        """What the parts hold, by key; None for those that are missing."""
        with refusing(self.path):
            return {part.key: read_part(self.parts, part.key, len(part.runs)) for part in self.all}

    def todo(self, *, retry_failed: bool) -> list[Part]:
        """The parts that are missing; or, with ``retry_failed``, those with runs that failed or were killed."""
        found = self.outcomes()
        return [part for part in self.all if _wanted(found[part.key], retry_failed)]


def _wanted(outcomes: Sequence[Outcome] | None, retry_failed: bool) -> bool:
    if outcomes is None:
        return not retry_failed
    return retry_failed and any(outcome["status"] != "done" for outcome in outcomes)
