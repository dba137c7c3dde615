"""A paper's definition of its sweeps: parameters to vary, and functions from their values to results."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from marginaudit.claims.settings import STEP_LIST, Setting, Values, settings_of
from marginaudit.claims.values.reportable import Number, Step
from marginaudit.claims.verdict import Finding, Output, columns

if TYPE_CHECKING:
    from marginaudit.claims.claim import Claim

Result = float | str | None
"""A number, a word, or None for a missing result."""

AUDITED: Mapping[str, type[float] | type[str]] = {
    known.name: float if known.type in (Number, Step) else str for known in columns(Finding, Output.SWEEP)
}
"""Fields of a finding stored by a sweep."""


def audit_results(claims: "Iterable[Claim | str]") -> dict[str, type[float] | type[str]]:
    """The results of an auditing sweep, for claims or their ids.

    >>> from marginaudit import Claim, Equal
    >>> equal = Equal(lambda run: run.w, lambda run: 0)
    >>> claim = Claim(id="mine.zero", source="here", statement="w = 0.", assumptions=(), judgement=equal)
    >>> found = audit_results([claim])
    >>> found["mine.zero:verdict"], found["mine.zero:slack"]
    (<class 'str'>, <class 'float'>)
    >>> found == audit_results(["mine.zero"])
    True
    """
    ids = [claim if isinstance(claim, str) else claim.id for claim in claims]
    return {f"{name}:{word}": kind for name in ids for word, kind in AUDITED.items()}


@dataclass(frozen=True)
class Generator:
    """Generator of synthetic datasets.

    Attributes
    ----------
    parameters : the allowed values of each, by name
    make : callable, parameters and ``seed`` as keywords -> dataset
    """

    parameters: Mapping[str, Values]
    make: Callable[..., Any]


@dataclass(frozen=True)
class Design:
    """One-factor-at-a-time design: datasets and settings that vary one at a time.

    Attributes
    ----------
    levels : values of each parameter of the generator, and of settings of the paper
        The first value of each is its default while others vary.
    """

    generator: str
    levels: Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True, kw_only=True)
class Sweeps:
    """A paper's sweeps: datasets to generate, settings to vary, results to compute.

    Attributes
    ----------
    config : the default settings of a run; a dataclass whose fields are made by `setting`
    generators : generators of datasets, by name
    results : type of each result, number or word, by name
    rows : callable, (dataset, configs, seed, names of results) -> results of each config
        A config's results do not depend on the other configs. None for an audit of the kept claims, with the results of
        `audit_results` and `config` as the paper's settings.
    together : int
        Batch size: configs of one dataset and seed to compute at once, where faster than one by one.
    specs : names of the built-in sweeps, files ``sweeps/NAME.toml`` of the paper's package
    designs : experiments of `marginaudit tighten`
    factors : quantities that bounds may depend on, by name, each a callable of a run; those varied by the designs first
    """

    config: Any
    generators: Mapping[str, Generator]
    results: Mapping[str, type[float] | type[str]]
    rows: Callable[[Any, Sequence[Any], int, Sequence[str]], list[dict[str, Result]]] | None = None
    together: int = 1
    specs: tuple[str, ...] = field(default=())
    designs: tuple[Design, ...] = ()
    factors: Mapping[str, Callable[[Any], float]] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, Setting]:
        """The settings with one value per run, by name. A setting `seed` is filled from the spec's seeds."""
        found = settings_of(type(self.config))
        return {name: setting for name, setting in found.items() if setting.values is not STEP_LIST and name != "seed"}
