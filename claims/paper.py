"""A paper: its kind of dataset, its claims, and their runs, tables and figures."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from marginaudit.claims.answers.results import Lists, Solved, Trained
from marginaudit.claims.claim import NOT_STATED, Claim
from marginaudit.claims.run import BaseRun, Progress, Rows
from marginaudit.claims.standing import Implication, Status, require_proof
from marginaudit.claims.table import Table
from marginaudit.claims.values.json_data import finite, witness_text
from marginaudit.claims.verdict import Evidence, Finding
from marginaudit.orders import InputError, Kind

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from marginaudit.claims.answers.sweeps import Sweeps
    from marginaudit.margins import HardMargin
    from marginaudit.margins.rational import Matrix


@dataclass(frozen=True)
class RunRecords:
    """A run of a figure of several runs.

    Attributes
    ----------
    document : the report's entry on its dataset
    records : texts of CSV files, by name
    """

    name: str
    document: Mapping[str, Any]
    records: Mapping[str, str]


@dataclass(frozen=True)
class Figure:
    """A figure of a paper.

    Attributes
    ----------
    name : str
        Name in `marginaudit figure`. For a figure of a run also the suffix of its file's name, and possibly "": the
        command then has the paper's name.
    draws : callable, -> matplotlib figure
    of : {"paper", "text", "dataset", "run", "runs"}
        Source of the figure, which sets the arguments of ``draws``. "paper": none. "text": a file, None for the paper's
        text, and a progress callback, both optional. "dataset": the dataset. "run": a run and its findings by claim,
        for every dataset of an audit; may return None to skip the figure. "runs": the `RunRecords` of our own run and
        of the recorded runs on the dataset, if any.
    beside : str
        The id of the claim that the report shows it with, if that claim applies to a dataset of the audit. "" for none:
        the report then shows a figure of a run among the plots, and omits any other.
    caption : str
        Description in `marginaudit figure list`, by default the docstring of ``draws``; caption of figures of a run.
    """

    name: str
    draws: Callable[..., Any]
    of: Literal["paper", "text", "dataset", "run", "runs"] = "paper"
    beside: str = ""
    caption: str = ""


class Space(ABC):
    """Base class for the search space of hunts for counterexamples.

    Attributes
    ----------
    measures : names of the dataset's attributes that measure its size
    implies : assumptions that fail with the key, because the others imply it
    runs : pairs of configurations, to test a claim and to confirm its violation, by whether it is about late steps.
        Pairs are in order of preference.
    """

    measures: tuple[str, ...]
    implies: Mapping[str, frozenset[str]] = {}
    runs: Mapping[bool, Sequence[tuple[Any, Any]]]

    @abstractmethod
    def smallest(self) -> Iterator[Any]:
        """All datasets of the smallest sizes, smallest first."""

    @abstractmethod
    def drawn(self, broken: Collection[str], required: Collection[str]) -> "SearchStrategy[Any]":
        """Random datasets that meet the required assumptions and may break others."""

    @abstractmethod
    def reductions(self, dataset: Any) -> Iterator[Any]:
        """Smaller datasets, largest reductions first."""

    @abstractmethod
    def size(self, dataset: Any) -> tuple[int, ...]:
        """Sort key of datasets, smallest first."""

    def enumerated(self, required: Collection[str], without: str | None) -> bool:
        """Whether some of the smallest datasets meet the required assumptions and break the other one."""
        return True

    def proof(self, dataset: Any) -> Mapping[str, Any] | None:
        """An independently checkable certificate, if any."""
        return None

    def confirmed(self, claim: Claim, dataset: Any, finding: Finding) -> Finding:
        """Finding on the smallest counterexample, judged again with surer evidence if possible."""
        return finding


class Paper:
    """Base class for the papers of an audit; its first six attributes are required.

    Attributes
    ----------
    name : str
        Name in `--paper`, and the default prefix of its claims' ids.
    source : str
        Where it is published.
    config : type
        A dataclass of settings. Every field has a default, used by audits; fields with ``metadata`` are options of
        commands.
    run : class of its runs, made from a dataset, a config and a progress callback
    recorded : class of its recorded runs, or None
        Made from a dataset, a config, a progress callback and the path of a file.
    claims : tuple of Claim
        Statements on this paper's datasets only, marked by their field ``paper``. A `cached_property` for a deferred
        import returns `own` of them.
    bibtex : str
        Its BibTeX entry; "" for a generated entry with its source alone.
    tables : sequence of Table, which the report has of every dataset
    problems : names of the hard-margin problems that `marginaudit solve` solves, () for none
        The problems of `rows`, unless `solve` and `verify` are overridden.
    commands : module and description of each command of this paper alone, by name
        `--help` lists those of third-party papers without importing them. With ``--json`` a command prints its result
        by `print_json`, and all else goes to standard error.
    conformity : function, or None
        Compares a recorded run with the paper's algorithm: from a dataset, its place for errors, the path of a file,
        a ``recorded_config`` and a progress callback to a `Conformity`.
    recorded_config : type, or None
        A dataclass of settings like ``config``, the options of `marginaudit conform`.
    package : str
        Package of its data: ``templates/sections.html`` for the page, ``counterexamples/``, ``sweeps/``; "" for none.
    space : Space or None
        None if its claims cannot be hunted.
    sweeps : Sweeps or None
        Its sweeps, if any.
    file : str
        The file of `--paper FILE`; "" for one that is built in or installed.

    Raises
    ------
    ValueError
        A required attribute is missing, a claim's assumption is no predicate of the kind, a claim is about another
        paper, an implication has an unproved source, or the claim of a figure does not exist.
    InputError
        The page or section of a proof does not exist. A built-in paper raises it on its first decision.
    """

    name: str
    source: str
    kind: Kind[Any]
    config: type[Any]
    run: Callable[..., BaseRun[Any]]
    claims: tuple[Claim, ...]
    recorded: Callable[..., BaseRun[Any]] | None = None
    bibtex: str = ""
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    problems: Sequence[str] = ()
    commands: Mapping[str, tuple[str, str]] = {}
    conformity: Callable[..., Any] | None = None
    recorded_config: type[Any] | None = None
    package: str = ""
    space: Space | None = None
    sweeps: "Sweeps | None" = None
    file: str = ""

    def __init__(self) -> None:
        if missing := [name for name in Paper.__annotations__ if name not in dir(self)]:
            raise ValueError(f"paper {type(self).__name__}: got no {', '.join(missing)}, expected one")
        if not isinstance(getattr(type(self), "claims", None), cached_property):
            self.claims = self.own(self.claims)

    def own(self, claims: Iterable[Claim]) -> tuple[Claim, ...]:
        """The claims after validation, with the proofs that decide them."""
        found = tuple(claims)
        for claim in found:
            if not self.judges(claim):
                unknown = [name for name in claim.assumptions if name not in self.kind.assumptions]
                got = f"the assumption {', '.join(unknown)}" if unknown else f"the paper {claim.paper}"
                expected = f"one of {', '.join(self.kind.assumptions)}" if unknown else self.name
                raise ValueError(f"claim {claim.id}: got {got}, expected {expected}")
        for figure in self.figures:
            if figure.beside not in {"", *(claim.id for claim in found)}:
                got = f"the claim {figure.beside}"
                raise ValueError(f"figure {figure.name}: got {got}, expected one of the paper's own")
        proved = {claim.id for claim in found if claim.standing.status is Status.PROVED}
        for claim in found:
            unproved = [source for one in claim.implications for source in one.sources if source not in proved]
            if unproved:
                got = f"{', '.join(unproved)}, which is not proved"
                raise ValueError(f"implication to {claim.id}: got {got}, expected claims of the paper")
        own = tuple(self._with_proofs(claim, found) for claim in found)
        if self.evidence is not Evidence.PROVED:
            for claim in own:
                for one in claim.decided_by or ():
                    require_proof(claim.id, one.proof, self.package)
        return own

    @property
    def ours(self) -> bool:
        """Whether it belongs to this project."""
        return type(self).__module__.startswith("marginaudit.")

    @property
    def evidence(self) -> Evidence:
        """Evidence of verdicts by its proofs; for a third-party paper `PROVED_BY_AUTHOR`."""
        return Evidence.PROVED if self.ours else Evidence.PROVED_BY_AUTHOR

    @property
    def own_claims(self) -> str:
        """Data of users' claims on its datasets, in the report."""
        return f"the runs of {self.source}"

    @property
    def trained(self) -> Any:
        """Default config of `marginaudit train`."""
        return self.config()

    def usual(self, command: str) -> Any:
        """Default config of a command, None if the paper lacks the command."""
        if command == "conform":
            return self.recorded_config and self.recorded_config()
        return self.trained if command == "train" else self.config()

    def load(self) -> None:
        """Run the deferred imports of its runs, before processes are forked."""

    def steps(self, config: Any) -> int:
        """Number of steps of a run, for progress bars."""
        return 1

    def expected(self, dataset: Any, config: Any) -> tuple[float, str]:
        """Rough processor seconds of an audit of a dataset, 0 if short, and an option that makes it shorter."""
        return 0.0, ""

    def about(self, claim: Claim, run: BaseRun[Any]) -> bool:
        """Whether a claim about its kind of data has a row on this dataset."""
        return True

    def facts(self, run: Any) -> dict[str, Any]:
        """Facts on the dataset and its run for the report, as plain data."""
        return {}

    def records(self, run: Any) -> Mapping[str, Rows]:
        """Records along the run by name, for CSV files."""
        return {}

    def train(
        self, dataset: Any, config: Any, progress: Progress, notify: Callable[[str], None], origin: str
    ) -> Trained:
        """Result of `marginaudit train`, by default the `records`; ``notify`` takes notes, ``origin`` opens errors."""
        run = self.run(dataset, config, progress)
        found = self.records(run)
        if not found:
            raise InputError(origin, got="a dataset without recorded training", expected="one with it")
        if run.ended:
            notify(f"{dataset.name}: {run.ended}")
        answer = {name: [dict(zip(header, row, strict=True)) for row in rows] for name, (header, rows) in found.items()}
        return Trained(finite(answer), {name: (name, tuple(header)) for name, (header, _) in found.items()})

    def rows(self, dataset: Any, problem: str) -> "HardMargin | Matrix":
        """The rows x_n of a problem min |w| s.t. x_n.w >= 1, in rational numbers.

        Or a `HardMargin`, also with equalities, labels of the rows, and another norm.
        """
        raise NotImplementedError(f"paper {self.name}: got no rows of {problem}, expected some, or its own solve")

    def solve(self, dataset: Any, place: str, method: str, problems: Sequence[str]) -> Solved:
        """Result of `marginaudit solve` for some problems; ``place`` is the dataset's path as given, or its case.

        Raises
        ------
        InputError
            The dataset has no such problem, or the method does not apply to it.
        NotExact, SolverFailure
            From `marginaudit.margins`: the requested solution is not available.
        """
        from marginaudit.claims.answers.exact_rows import solve_rows

        return solve_rows(dataset.name, {problem: self.rows(dataset, problem) for problem in problems}, method)

    def verify(self, dataset: Any, place: str, certificate: Path) -> list[str]:
        """Result of `marginaudit verify`: lines on the facts that the certificate's file proves of the dataset.

        Raises
        ------
        InputError
            The file is no certificate of this paper's problems.
        CertificateError
            From `marginaudit.margins`: the certificate does not prove its statement.
        """
        from marginaudit.claims.answers.exact_rows import verify_rows

        return verify_rows({problem: self.rows(dataset, problem) for problem in self.problems}, certificate)

    def classified(self, dataset: Any, answer: dict[str, Any]) -> Lists:
        """Tables that `marginaudit classify` prints of a dataset; by default the fields of its `Kind.describe`."""
        rows = [
            (name, witness_text(value) if isinstance(value, Mapping | list | tuple) else value)
            for name, value in answer.items()
            if name != "assumptions"
        ]
        return ((f"{dataset.name}: {self.kind.name}", ("", "value"), rows),) if rows else ()

    def remark(self, dataset: Any, origin: str) -> str:
        """One line on a dataset, printed before its audit, "" for none; ``origin`` is its path or case."""
        return ""

    def _with_proofs(self, claim: Claim, claims: tuple[Claim, ...]) -> Claim:
        """The claim as one of this paper, with its deciding proofs: its own, then its implications."""
        found = list(claim.implications)
        if claim.standing.status is Status.PROVED:
            found.insert(0, Implication(sources=(claim.id,), proof=claim.standing.proof or ""))
        assumptions = {one.id: one.assumptions for one in claims}
        needed = (dict.fromkeys(name for of in (claim.id, *one.sources) for name in assumptions[of]) for one in found)
        decided_by = tuple(
            replace(one, assumed=tuple(names), evidence=self.evidence, package=self.package)
            for one, names in zip(found, needed, strict=True)
        )
        if (claim.paper, claim.decided_by) == (self.name, decided_by):
            return claim
        own = replace(claim, paper=self.name)
        object.__setattr__(own, "decided_by", decided_by)
        return own

    def figures_of(self, *of: str) -> dict[str, Figure]:
        """Its figures of the given kinds, by name."""
        return {figure.name: figure for figure in self.figures if figure.of in of}

    @property
    def figures_by_command(self) -> dict[str, Figure]:
        """Its figures that `marginaudit figure` draws, by name."""
        return {name or self.name: one for name, one in self.figures_of("paper", "text", "dataset", "run").items()}

    def has(self, claim: Claim) -> bool:
        """Whether the claim is one of the paper's, not another of the same id."""
        return any(own is claim for own in self.claims)

    def judges(self, claim: Claim) -> bool:
        """Whether the claim is about this paper's datasets: they have its assumptions, and it names no other paper."""
        known = claim.assumptions == NOT_STATED or all(name in self.kind.assumptions for name in claim.asked)
        return known and claim.paper in ("", self.name)
