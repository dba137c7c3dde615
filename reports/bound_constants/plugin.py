"""Pytest plugin: the fixtures `bound_constants`, with the option ``--update-bounds``, and `conforms`.

Tests only read the files. Measured rows are user properties of the test reports; pytest-xdist sends them from workers
to the controller, the only writer, at the end of the session.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from marginaudit.claims.claim import Claim
    from marginaudit.claims.row import ReportRow
    from marginaudit.claims.verdict import Finding

PROPERTY = "bound_constants"
"""User property with a measured row as plain data: its ``file``, ``row``, and ``changed``."""

UPDATE = "pytest --update-bounds"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    group = parser.getgroup("marginaudit")
    help_text = "Write the rows measured by bound_constants to the *.bounds.json files."
    group.addoption("--update-bounds", action="store_true", help=help_text)


def pytest_configure(config: pytest.Config) -> None:
    """Register the writer in the controller process."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Keeper(config), "bound_constants_keeper")


@pytest.fixture
def bound_constants(request: pytest.FixtureRequest) -> "BoundConstants":
    """Audit a claim on a dataset; fail if its row is worse than the stored one."""
    return BoundConstants(request)


@pytest.fixture
def conforms() -> Callable[..., Any]:
    """Compare a recorded run with its paper's algorithm, as `marginaudit.conform`; fail if a step departs."""

    def run(dataset: Any, file: str | Path, **settings: Any) -> Any:
        from marginaudit.orders import InputError
        from marginaudit.reports.python import conform

        try:
            found = conform(dataset, file, **settings)
        except InputError as error:
            raise pytest.fail.Exception(f"conforms: {error}", pytrace=False) from None
        if found.conforms is False:
            raise pytest.fail.Exception(f"conforms: {found.line}", pytrace=False)
        return found

    return run


class BoundConstants:
    """Callable value of the fixture `bound_constants`."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._item: pytest.Item = request.node
        self._file = self._item.path.with_suffix(".bounds.json")
        self._update = bool(request.config.getoption("--update-bounds"))

    def __call__(
        self,
        claim: "str | Claim",
        dataset: Any,
        *,
        config: Any | None = None,
        tolerance: float | None = None,
        seed: int | None = None,
    ) -> "Finding":
        """Audit, compare with the stored row, and return the finding.

        Parameters
        ----------
        claim : str or Claim
            Id of a built-in or installed claim, or a claim object.
        dataset : str, path or a dataset
            Name of a built-in case, path, or dataset object; its name is stored in the row.
        config : a paper's config, or None
            Settings of the run; by default those of `marginaudit audit`.
        tolerance : float or None
            Relative tolerance for worse numbers; by default the error bars.
        seed : int or None
            Seed of the dataset, to be stored in the row.

        Raises
        ------
        pytest.fail.Exception
            The row is worse or broken, no row is stored yet, or the claim or dataset is unknown.
        """
        from marginaudit.orders import InputError
        from marginaudit.reports.bound_constants.measure import measured, read_rows
        from marginaudit.reports.compare.worse import changes, worse

        if tolerance is not None and not tolerance >= 0:
            self._fail(f"got a tolerance of {tolerance}, expected 0 or more")
        try:
            kept = read_rows(self._file)
            finding, new = measured(claim, dataset, config, seed)
        except InputError as error:
            self._fail(str(error))
        name, file = f"{new.claim} on {new.place}", _short(self._file, self._item.config)
        if finding.verdict == "broken":
            self._fail(f"{name} is broken: {finding.detail}")
        old = kept.get(new.key)
        if old is None and not self._update:
            self._fail(f"{name} is not in {file}; {UPDATE} keeps it")
        reason = None if old is None else worse(old, new, tolerance)
        if reason and not self._update:
            self._fail(f"{name} is worse than in {file}: {reason}; {UPDATE} accepts it")
        changed = ["new"] if old is None else [found.text for found in changes(old, new, tolerance)]
        record = {"file": str(self._file), "row": new.kept(), "changed": "; ".join(changed)}
        self._item.user_properties.append((PROPERTY, record))
        return finding

    def _fail(self, text: str) -> NoReturn:
        raise pytest.fail.Exception(f"bound_constants: {text}", pytrace=False) from None


class Keeper:
    """Writer of the files at the end of the session, with a report of changes."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._update = bool(config.getoption("--update-bounds"))
        self._records: list[Any] = []
        self._notes: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the rows of a finished test."""
        if report.when == "teardown":
            self._records += [record for name, record in report.user_properties if name == PROPERTY]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the files; a write error fails the session."""
        if not self._records:
            return
        from marginaudit.claims.row import row_from_document
        from marginaudit.reports.bound_constants.measure import update_rows

        of_files: dict[str, list[tuple[ReportRow, str]]] = {}
        for record in self._records:
            row = row_from_document(record["row"], "a measured row")
            of_files.setdefault(record["file"], []).append((row, record["changed"]))
        for file, measured in sorted(of_files.items()):
            notes = [f"{row.claim} on {row.place}: {changed}" for row, changed in measured if changed]
            try:
                if self._update:
                    notes += [f"{name}: no test of this run asked for it" for name in update_rows(Path(file), measured)]
                else:
                    notes = [f"{note}; {UPDATE} keeps it" for note in notes]
            except (ValueError, OSError) as error:
                notes = [f"not written: {error}"]
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
            self._notes += [f"{_short(Path(file), self._config)}: {note}" for note in notes]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print rows that are better, new, or not measured in this session."""
        if self._notes:
            terminalreporter.section("bound constants")
            for note in self._notes:
                terminalreporter.line(note)


def _short(path: Path, config: pytest.Config) -> str:
    return str(path.relative_to(config.rootpath) if path.is_relative_to(config.rootpath) else path)
