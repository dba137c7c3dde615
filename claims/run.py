"""One dataset under audit: everything that a claim may measure, computed once and when first asked for."""

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, Generic, ParamSpec, TypeVar, cast

from marginaudit.claims.verdict import Evidence
from marginaudit.orders import Assumption, Data, InputError, Kind
from marginaudit.orders.notebook import html_table, in_json

D = TypeVar("D", bound=Data)

Progress = Callable[[int], None]
"""Takes the number of steps done."""

Rows = tuple[Sequence[str], Sequence[Sequence[Any]]]
"""A header, and rows under it."""


T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R", bound="BaseRun[Any]")


def once_a_run(measure: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """Cache a quantity in its run, by arguments."""
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
    """Stands for what `BaseRun.__init__` sets, until it does."""

    def __get__(self, run: "BaseRun[Any] | None", owner: type) -> Any:
        if run is None:
            return self
        expected = "super().__init__(dataset, progress) as its first line"
        raise InputError(f"{owner.__qualname__}.__init__", got="no call of super().__init__", expected=expected)


class BaseRun(Generic[D]):
    """A dataset and the quantities that a paper computes of it; each paper derives its class.

    Parameters
    ----------
    progress : takes the steps done

    Attributes
    ----------
    between : float
        Largest ratio of two neighbouring steps that settings chose for which they speak for the steps between.
    used_weights : bool
        Whether the claim that is being judged has asked for the run's steps: see `ask_premise`.
    """

    kind: ClassVar[Kind[Any]]
    between: ClassVar[float] = 10.0
    used_weights = False
    if not TYPE_CHECKING:
        dataset = kept = _progress = _assumptions = _OfInit()

    def __init__(self, dataset: D, progress: Progress | None = None) -> None:
        self.dataset = dataset
        self._progress = progress
        self._assumptions: dict[str, Assumption] = {}
        self.kept: dict[tuple[Any, ...], Any] = {}

    @property
    def ended(self) -> str:
        """Why a run ended before its last step; "" where it did not."""
        return ""

    @property
    def departs(self) -> bool:
        """Whether its steps are not, or are not shown to be, those of the paper's algorithm."""
        return False

    def begin(self) -> None:
        """Forget what the last claim asked for."""
        self.used_weights = False

    def ask_premise(self) -> None:
        """Ask whether the steps are the paper's algorithm's, before a claim asks which of them there are.

        Whatever gives a claim steps of the run, or says that there are none, calls it first: where the run `departs`,
        no proof decides that claim from then on.

        Raises
        ------
        NotJudged
            The steps are another algorithm's, of which no such claim says anything.
        """
        self.used_weights = True

    @property
    def undecided(self) -> str:
        """Why it is not decided whether a recorded run follows the algorithm; "" if it is."""
        return ""

    @property
    def lengths(self) -> tuple[int, ...]:
        """How many steps each stage takes, where the settings chose which of them are recorded; else ()."""
        return ()

    @property
    def carried_over(self) -> bool:
        """Whether the current statement asked for steps of a run that departs from the algorithm."""
        return self.used_weights and self.departs

    def assumption(self, name: str) -> Assumption:
        """An assumption of the paper, judged on the dataset."""
        if name not in self._assumptions:
            self._assumptions[name] = self.kind.check(self.dataset, name)
        return self._assumptions[name]

    @property
    def assumptions(self) -> dict[str, Assumption]:
        """All assumptions of the paper, by name."""
        return {name: self.assumption(name) for name in self.kind.assumptions}

    def reservation(self, assumptions: Sequence[str]) -> str:
        """A reservation to print beside verdicts under these assumptions, which hold; "" for none."""
        return ""

    def surest(self, assumptions: Sequence[str]) -> Evidence:
        """The surest evidence of a verdict under these assumptions, which hold."""
        return Evidence.PROVED

    def _repr_html_(self) -> str:
        """The dataset, the settings, and which assumptions hold."""
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
        """Compute the expensive quantities, before users' claims are judged in workers."""
