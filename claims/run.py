"""Run of a dataset under audit: all measurable quantities, computed on first use and cached."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, Generic, ParamSpec, TypeVar, cast

from marginaudit.claims.predicates import Predicate, checked
from marginaudit.claims.verdict import Evidence, Finding
from marginaudit.orders import Assumption, Data, InputError, Kind
from marginaudit.orders.notebook import html_table, in_json

D = TypeVar("D", bound=Data)

Progress = Callable[[int], None]
"""Callback with the number of steps done."""

Rows = tuple[Sequence[str], Sequence[Sequence[Any]]]
"""Header and rows of a table."""


T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R", bound="BaseRun[Any]")


def once_a_run(measure: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """Decorator: cache a quantity in its run, by arguments."""
    name = f"{measure.__module__}.{measure.__qualname__}"

    @wraps(measure)
    def kept(run: R, /, *args: P.args, **kwargs: P.kwargs) -> T:
        key = (name, args, tuple(sorted(kwargs.items())))
        if key not in run.kept:
            before, run.used_weights = run.used_weights, False
            try:
                run.kept[key] = measure(run, *args, **kwargs), run.used_weights
            finally:
                run.used_weights |= before
        found, on_weights = run.kept[key]
        run.used_weights |= on_weights
        return cast(T, found)

    return kept


class _OfInit:
    """Descriptor of attributes set by `BaseRun.__init__`: raises a clear error before that."""

    def __get__(self, run: "BaseRun[Any] | None", owner: type) -> Any:
        if run is None:
            return self
        expected = "super().__init__(dataset, progress) as its first line"
        raise InputError(f"{owner.__qualname__}.__init__", got="no call of super().__init__", expected=expected)


class BaseRun(Generic[D]):
    """Base class of runs: a dataset and the quantities a paper computes from it.

    Parameters
    ----------
    progress : callback with the number of steps done

    Attributes
    ----------
    between : float or None
        Largest ratio of neighbouring recorded steps, chosen by settings, that represent the steps between them; None
        for `marginaudit.training.schedule.NEIGHBOURS`.
    used_weights : bool
        Whether the current claim has used the run's steps: see `ask_premise`.
    """

    kind: ClassVar[Kind[Any]]
    between: ClassVar[float | None] = None
    used_weights = False
    if not TYPE_CHECKING:
        dataset = kept = _progress = _assumptions = _OfInit()

    def __init__(self, dataset: D, progress: Progress | None = None) -> None:
        self.dataset = dataset
        self._progress = progress
        self._assumptions: dict[str, Assumption] = {}
        self.kept: dict[tuple[Any, ...], Any] = {}

    @property
    def subject(self) -> Any:
        """Argument of a claim's functions: the run itself, or a named instance."""
        return self

    def judged(self, judgement: Any) -> Finding:
        """Finding of a judgement on the subject."""
        found: Finding = judgement.judge(self.subject)
        return found

    def checked(self, name: str, predicate: Predicate) -> Assumption:
        """Check an assumption of a claim's own."""
        return checked(name, predicate, self.subject, self.kind.describe(self.dataset))

    @property
    def ended(self) -> str:
        """Reason why a run ended before its last step, or ""."""
        return ""

    @property
    def departs(self) -> bool:
        """Whether the run's steps differ, or may differ, from those of the paper's algorithm."""
        return False

    def begin(self) -> None:
        """Reset `used_weights` for the next claim."""
        self.used_weights = False

    def ask_premise(self) -> None:
        """Record that the current claim uses the run's steps.

        Every access to steps, also to a missing one, must call this first. If the run `departs`, the claim is no longer
        decided by proof.

        Raises
        ------
        NotJudged
            The steps are of another algorithm, to which the claim does not apply.
        """
        self.used_weights = True

    @property
    def undecided(self) -> str:
        """Reason why conformity of a recorded run is undecided, or ""."""
        return ""

    @property
    def sampled(self) -> Mapping[str, Any]:
        """Evidence, confidence, samples and seed of measurements of a sampled run with error bars for its draws."""
        return {}

    @property
    def lengths(self) -> tuple[int, ...]:
        """Number of steps of each stage, if the settings chose the recorded steps; else ()."""
        return ()

    @property
    def own_steps(self) -> bool:
        """Whether the run chose the recorded steps: not its settings, and not the author of an instance."""
        return not self.lengths and self.subject is self

    @property
    def carried_over(self) -> bool:
        """Whether the current claim has used steps of a run that departs from the algorithm."""
        return self.used_weights and self.departs

    def assumption(self, name: str) -> Assumption:
        """Check an assumption of the paper on the dataset, cached."""
        if name not in self._assumptions:
            self._assumptions[name] = self.kind.check(self.dataset, name)
        return self._assumptions[name]

    @property
    def assumptions(self) -> dict[str, Assumption]:
        """All assumptions of the paper by name, checked."""
        return {name: self.assumption(name) for name in self.kind.assumptions}

    def reservation(self, assumptions: Sequence[str]) -> str:
        """Reservation to print with verdicts under these assumptions, which hold, or ""."""
        return ""

    def surest(self, assumptions: Sequence[str]) -> Evidence:
        """Strongest possible evidence of a verdict under these assumptions, which hold."""
        return Evidence.PROVED

    def _repr_html_(self) -> str:
        """HTML table of the dataset, settings and assumptions."""
        config = getattr(self, "config", None)
        names = [one.name for one in fields(config)] if is_dataclass(config) else []
        values = [(name, getattr(config, name)) for name in names]
        settings = [(name, "default" if value is None else value, "") for name, value in values]
        holds = [
            (f"assumption {name}", one.in_words, "" if one.holds else in_json(one.witness))
            for name, one in self.assumptions.items()
        ]
        return html_table(f"{type(self).__name__} of {self.dataset.name}", (), [*settings, *holds])

    def prepare(self) -> None:
        """Compute the expensive quantities before workers judge users' claims."""
