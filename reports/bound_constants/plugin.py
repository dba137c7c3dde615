"""The pytest plugin: the fixtures `bound_constants`, with the option ``--update-bounds``, and `conforms`.

Tests only read the files. The rows that they measure travel as user properties of their reports, under pytest-xdist
from the workers to the controller, which writes when the session ends: one writer, however many workers.
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
"""The user property of a measured row: plain data, the ``file`` that keeps it, the ``row``, and what ``changed``."""

UPDATE = "pytest --update-bounds"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    group = parser.getgroup("marginaudit")
    help_text = "Write the rows that bound_constants measured to the *.bounds.json files."
    group.addoption("--update-bounds", action="store_true", help=help_text)


def pytest_configure(config: pytest.Config) -> None:
    """Collect rows in the process that writes."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Keeper(config), "bound_constants_keeper")


@pytest.fixture
def bound_constants(request: pytest.FixtureRequest) -> "BoundConstants":
    """Audit a claim on a dataset; fail where its row is worse than the one kept beside the test."""
    return BoundConstants(request)


@pytest.fixture
def conforms() -> Callable[..., Any]:
    """Compare a recorded run with its paper's algorithm, as `marginaudit.conform`; fail where a step departs."""

    def run(dataset: Any, file: str | Path, **settings: Any) -> Any:
        from marginaudit.orders import InputError
        from marginaudit.reports.python import conform

        try:
            found = conform(dataset, file, **settings)
        except InputError as error:
            raise pytest.fail.Exception(f"conforms: {error}", pytrace=False) from None
        if not found.conforms:
            raise pytest.fail.Exception(f"conforms: {found.line}", pytrace=False)
        return found

    return run


class BoundConstants:
    """The value of the fixture `bound_constants`."""

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
        """Audit, compare with the kept row, and return the finding.

        Parameters
        ----------
        claim : str or Claim
            The id of a built-in claim or of an installed package's, or a claim of one's own.
        dataset : str, path or a dataset
            A built-in case's name, a path, or a dataset, whose name the row bears.
        config : of the paper, or None
            How the run is made; by default as `marginaudit audit` does.
        tolerance : float or None
            Up to this, relative, a number may get worse; by default what error bars allow.
        seed : int or None
            The one that the dataset was made from, if the row is to bear it.

        Raises
        ------
        pytest.fail.Exception
            The row is worse or broken, none is kept yet, or there is no such claim or dataset.
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
    """Writes the files when the session ends, and reports the changes."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._update = bool(config.getoption("--update-bounds"))
        self._records: list[Any] = []
        self._notes: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the constants of a finished test."""
        if report.when == "teardown":
            self._records += [record for name, record in report.user_properties if name == PROPERTY]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write; a file that cannot be written fails the session."""
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
        """Print the constants that are better, new, or not tested in this run."""
        if self._notes:
            terminalreporter.section("bound constants")
            for note in self._notes:
                terminalreporter.line(note)


def _short(path: Path, config: pytest.Config) -> str:
    return str(path.relative_to(config.rootpath) if path.is_relative_to(config.rootpath) else path)
