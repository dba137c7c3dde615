"""The pytest plugin: the fixture `bound_constants`, ``--update-bounds`` and ``--reason``.

Tests only read the files. What they want kept travels with their reports, under pytest-xdist from the workers to
the controller, and is written there when the session ends: one writer, whatever the number of workers.
"""

from collections.abc import Generator
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from marginaudit.reports.bound_constants.entry import Entry
    from marginaudit.reports.bound_constants.kept_sweep import KeptSweep
    from marginaudit.reports.bound_constants.store import Key
    from marginaudit.reports.bound_constants.swept import Swept
    from marginaudit.reports.claim import Claim
    from marginaudit.reports.verdict import Finding

Record = dict[str, Any]
"""``key``, the document to keep or None, and ``notes``: plain data, as a report carries it between processes.

A key is that of an entry, or file and test of a sweep.
"""

RECORDS = pytest.StashKey[list[Record]]()

UPDATE = "pytest --update-bounds"

MOST_TOLD = 20
"""Moves of a sweep that a failure lists, and statements that moved."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the two options."""
    group = parser.getgroup("marginaudit")
    group.addoption(
        "--update-bounds", action="store_true", help="Write what bound_constants measured to the *.bounds.json files."
    )
    group.addoption("--reason", metavar="TEXT", help="Why --update-bounds may loosen; kept in the file.")


def pytest_configure(config: pytest.Config) -> None:
    """Collect what is to be kept, in the one process that writes.

    Raises
    ------
    pytest.UsageError
        A reason without an update, or an empty one.
    """
    reason = config.getoption("--reason")
    if reason is not None and not config.getoption("--update-bounds"):
        raise pytest.UsageError("--reason: got no --update-bounds, expected both or neither")
    if reason is not None and not reason.strip():
        raise pytest.UsageError("--reason: got an empty text, expected a reason")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Keeper(config), "bound_constants_keeper")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let the report carry what the test asked for."""
    report = yield
    records = item.stash.get(RECORDS, [])
    if records or item.config.getoption("--update-bounds"):
        vars(report)["bound_constants"] = {"module": str(item.path), "records": records}
    return report


@pytest.fixture
def bound_constants(request: pytest.FixtureRequest) -> "BoundConstants":
    """Audit a claim on a dataset; fail where a constant is worse than the one kept beside the test."""
    return BoundConstants(request)


class BoundConstants:
    """What the fixture `bound_constants` gives a test."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._item: pytest.Item = request.node
        self._update = bool(request.config.getoption("--update-bounds"))
        self._reason: str | None = request.config.getoption("--reason")
        self._asked: set[tuple[str, ...]] = set()

    def __call__(
        self,
        claim: "str | Claim",
        dataset: Any,
        *,
        config: Any | None = None,
        tolerance: float | None = None,
        seed: int | None = None,
    ) -> "Finding":
        """Audit, compare with what is kept, and return what was found.

        Parameters
        ----------
        claim : str or Claim
            The id of a built-in claim or of an installed package's, or a claim of one's own.
        dataset : str, path or a dataset
            A built-in case's name, a path, or a dataset; its name is part of where the entry is.
        config : of the paper, or None
            How the run is made; by default as `marginaudit audit` does.
        tolerance : float or None
            Up to this, relative, a constant may get worse; by default what its error bars allow.
        seed : int or None
            The one that the dataset was made from; it is kept.

        Raises
        ------
        pytest.fail.Exception
            Something is worse, nothing is kept yet, or there is no such claim or dataset.
        """
        from marginaudit.orders import InputError
        from marginaudit.reports.bound_constants.measure import entry_of, find_claim, find_dataset, run_of
        from marginaudit.reports.bound_constants.store import DamagedFile, read_entry
        from marginaudit.reports.verdict import Verdict

        try:
            audited, data = find_claim(claim), find_dataset(dataset)
            key = self._key(audited.id, data.name)
            old = read_entry(key)
        except (InputError, DamagedFile) as error:
            raise pytest.fail.Exception(f"bound_constants: {error}", pytrace=False) from None
        finding = audited.judge(run_of(data, config))
        if finding.verdict is Verdict.BROKEN:
            self._fail(key, _named(key), "is broken", [finding.detail])
        new = entry_of(finding, data, config, tolerance, seed)
        if self._update:
            self._keep(key, old, new, tolerance)
        else:
            self._compare(key, old, new, tolerance)
        return finding

    def check_sweep(self, table: "str | PathLike[str]", *, tolerance: float | None = None) -> list[dict[str, Any]]:
        """Compare what a sweep of audits found with what is kept of it, run by run, and return it by statement.

        Parameters
        ----------
        table : path
            The folder of a `marginaudit sweep` that keeps verdicts, or its runs.csv.
        tolerance : float or None
            Up to this, relative, a number may differ; by default what the error bars allow, if the sweep kept
            ``CLAIM:repeats_within``.

        Raises
        ------
        pytest.fail.Exception
            A dataset got worse or better, is gone or new; nothing is kept yet; or there is no such table.
        """
        from marginaudit.orders import InputError
        from marginaudit.reports.bound_constants.store import SWEEPS_SUFFIX, DamagedFile, bounds_file, read_sweeps
        from marginaudit.reports.bound_constants.swept import read_swept
        from marginaudit.reports.verdict import Verdict

        key = (str(bounds_file(self._item.path, SWEEPS_SUFFIX)), self._test)
        self._ask(key, "a sweep", "one sweep a test")
        try:
            new = read_swept(Path(table))
            old = read_sweeps(Path(key[0])).get(self._test)
        except (InputError, DamagedFile) as error:
            raise pytest.fail.Exception(f"bound_constants: {error}", pytrace=False) from None
        found = new.entries(tolerance)
        if broken := [
            f"{claim} on {name}" for (name, claim), entry in found.items() if entry.verdict is Verdict.BROKEN
        ]:
            self._fail(key, "a sweep", "has what is broken", broken[:MOST_TOLD])
        if self._update:
            self._keep_sweep(key, old, new, tolerance)
        else:
            self._compare_sweep(key, old, new, tolerance)
        return new.statements

    @property
    def _test(self) -> str:
        """The test's name in its file, with its class and parameters."""
        inside = [node.name for node in self._item.listchain() if not isinstance(node, pytest.Collector)]
        classes = [node.name for node in self._item.listchain() if isinstance(node, pytest.Class)]
        return "::".join(classes + inside)

    def _key(self, claim: str, dataset: str) -> "Key":
        from marginaudit.reports.bound_constants.store import Key, bounds_file

        key = Key(str(bounds_file(self._item.path)), self._test, claim, dataset)
        self._ask(key, f"{claim} on {dataset}", "datasets of different names, or two tests")
        return key

    def _ask(self, key: tuple[str, ...], what: str, expected: str) -> None:
        if key in self._asked:
            self._fail(key, what, "is asked for twice in one test", [f"expected {expected}"])
        self._asked.add(key)

    def _compare(self, key: "Key", old: "Entry | None", new: "Entry", tolerance: float | None) -> None:
        from marginaudit.reports.bound_constants.entry import better, other_terms, worse

        if old is None:
            self._fail(key, _named(key), "has nothing kept", [f"to keep what was measured: {UPDATE}"])
        if terms := other_terms(old, new, tolerance):
            self._fail(key, _named(key), "is not what was kept", [*terms, f"to keep what is measured now: {UPDATE}"])
        if lines := worse(old, new):
            self._fail(key, _named(key), "got worse", [*lines, f"to accept it: {UPDATE} --reason TEXT"])
        self._record(key, None, [f"{line}; {UPDATE} keeps it" for line in better(old, new)])

    def _keep(self, key: "Key", old: "Entry | None", new: "Entry", tolerance: float | None) -> None:
        from marginaudit.reports.bound_constants.entry import better, loosened, updated

        if old is None:
            self._record(key, new, [f"kept: {new.verdict}, {', '.join(new.constants) or 'no constants'}"])
            return
        kept = updated(old, new, tolerance)
        lines = loosened(old, kept)
        if lines and self._reason is None:
            self._fail(key, _named(key), "would be loosened", [*lines, f"to accept it: {UPDATE} --reason TEXT"])
        if lines:
            kept = replace(kept, history=(*old.history, {"reason": self._reason, "loosened": lines}))
            self._record(key, kept, [f"loosened: {line}" for line in lines])
        elif kept is old:
            self._record(key, None, [])
        else:
            self._record(key, kept, better(old, kept) or ["updated"])

    def _compare_sweep(
        self, key: tuple[str, str], old: "KeptSweep | None", new: "Swept", tolerance: float | None
    ) -> None:
        from marginaudit.reports.bound_constants.moves import NEED_REASON, moves, summary_moves

        if old is None:
            self._fail(key, "a sweep", "has nothing kept", [f"to keep what was measured: {UPDATE}"])
        if terms := old.other_terms(new, tolerance):
            self._fail(key, "a sweep", "is not what was kept", [*terms, f"to keep what is measured now: {UPDATE}"])
        if moved := moves(old.swept, new, tolerance):
            reason = " --reason TEXT" if any(move.direction in NEED_REASON for move in moved) else ""
            lines = _told(list(map(str, moved))) + _told(list(summary_moves(old.swept, new)))
            self._fail(key, "a sweep", "moved", [*lines, f"to accept it: {UPDATE}{reason}"])
        self._record(key, None, [])

    def _keep_sweep(self, key: tuple[str, str], old: "KeptSweep | None", new: "Swept", tolerance: float | None) -> None:
        from marginaudit.orders import counted
        from marginaudit.reports.audit.made import date
        from marginaudit.reports.bound_constants.kept_sweep import first_kept
        from marginaudit.reports.bound_constants.moves import NEED_REASON, moves

        if old is None:
            runs = f"kept: {counted(len(new.runs), 'run')}, {counted(len(new.claims), 'statement')}"
            self._record(key, first_kept(new, tolerance, date()), [runs])
            return
        moved, terms = moves(old.swept, new, old.tolerance), old.other_terms(new, tolerance)
        lines = [str(move) for move in moved if move.direction in NEED_REASON]
        if tolerance != old.tolerance:
            lines.append(f"tolerance: {old.tolerance} -> {tolerance}")
        if lines and self._reason is None:
            self._fail(key, "a sweep", "would be loosened", [*_told(lines), f"to accept it: {UPDATE} --reason TEXT"])
        if not moved and not terms and old.swept.keep == new.keep:
            self._record(key, None, [])
            return
        kept = old.updated(new, tolerance, moved, date(), self._reason if lines else None)
        self._record(key, kept, _told(list(map(str, moved))) or ["updated"])

    def _record(self, key: tuple[str, ...], kept: "Entry | KeptSweep | None", notes: list[str]) -> None:
        document = None if kept is None else kept.as_document()
        self._item.stash.setdefault(RECORDS, []).append({"key": list(key), "document": document, "notes": notes})

    def _fail(self, key: tuple[str, ...], name: str, what: str, lines: list[str]) -> NoReturn:
        head = f"bound_constants: {name} {what}"
        where = f"in {_short(key[0], self._item.config)}, {' / '.join(key[1:])}"
        self._record(key, None, [])
        pytest.fail("\n  ".join([head, *lines, where]), pytrace=False)


class Keeper:
    """Writes the files when the session ends, and says what it did."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._update = bool(config.getoption("--update-bounds"))
        self._records: list[Record] = []
        self._modules: set[Path] = set()
        self._notes: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what a report carries."""
        carried = getattr(report, "bound_constants", None)
        if carried is not None:
            self._modules.add(Path(carried["module"]))
            self._records += carried["records"]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write; a file that cannot be written fails the session."""
        if not self._records and not self._update:
            return
        from marginaudit.reports.bound_constants.store import DamagedFile, all_keys, write_all

        asked = {tuple(record["key"]): record for record in self._records}
        for key, record in sorted(asked.items()):
            self._notes += [f"{self._where(key)}: {note}" for note in record["notes"]]
        if not self._update:
            return
        try:
            write_all({key: record["document"] for key, record in asked.items() if record["document"] is not None})
        except (DamagedFile, OSError) as error:
            self._notes.append(f"not written: {error}")
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        for key in all_keys(self._modules):
            if key not in asked:
                self._notes.append(f"{self._where(key)}: not asked for in this run; remove it if its test is gone")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what is better, what was kept and what is not asked for."""
        if self._notes:
            terminalreporter.section("bound constants")
            for note in self._notes:
                terminalreporter.line(note)

    def _where(self, key: tuple[str, ...]) -> str:
        return f"{_short(key[0], self._config)}, {' / '.join(key[1:])}"


def _named(key: "Key") -> str:
    return f"{key.claim} on {key.dataset}"


def _told(lines: list[str]) -> list[str]:
    """The first of them, and how many more there are."""
    return lines if len(lines) <= MOST_TOLD else [*lines[:MOST_TOLD], f".. and {len(lines) - MOST_TOLD} more"]


def _short(file: str, config: pytest.Config) -> str:
    path = Path(file)
    return str(path.relative_to(config.rootpath) if path.is_relative_to(config.rootpath) else path)
