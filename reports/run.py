"""One dataset under audit: everything that a claim may measure, computed once and when first asked for."""

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, TypeVar, cast

from marginaudit.orders import Assumption, Data, Kind
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
            run.kept[key] = measure(run, *args, **kwargs), run.used_weights
            run.used_weights |= before
        found, on_weights = run.kept[key]
        run.used_weights |= on_weights
        return cast(T, found)

    return kept


class BaseRun(Generic[D]):
    """A dataset and the quantities that a paper computes of it; each paper derives its class.

    Parameters
    ----------
    dataset
    progress : takes the steps done

    Attributes
    ----------
    used_weights : bool
        Of a recorded run: whether its weights were looked at since a claim began to be judged.
    """

    kind: ClassVar[Kind[Any]]
    used_weights = False

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
        """Whether it is a recorded run that is not shown to be the paper's algorithm."""
        return False

    @property
    def undecided(self) -> str:
        """Why it is not decided whether a recorded run follows the algorithm; "" if it is."""
        return ""

    @property
    def lengths(self) -> tuple[int, ...]:
        """How many steps each stage takes, where the settings chose which of them are recorded; else ()."""
        return ()

    def lacks(self, claim: str) -> str | None:
        """The records that a claim needs and a recorded run lacks, in words, or None."""
        return None

    @property
    def carried_over(self) -> bool:
        """Whether the current statement used weights of a run that departs from the algorithm."""
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
