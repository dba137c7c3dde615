"""How a paper takes part in sweeps: what can be varied, and how settings of it become results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from marginaudit.reports.settings import STEP_LIST, Setting, Values, settings_of

Result = float | str | None
"""A number, a word, or None where there is none."""


@dataclass(frozen=True)
class Generator:
    """Datasets that are made, not read.

    Attributes
    ----------
    parameters : what each may be, by name
    make : from the parameters and ``seed``, all by name, to a dataset
    """

    parameters: Mapping[str, Values]
    make: Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Sweeps:
    """What a sweep of a paper varies and computes.

    Attributes
    ----------
    config : the settings of a run where a spec gives no others; a dataclass whose fields are made by `setting`
    generators : by name
    results : whether each result is a number or a word, by name
    rows : from a dataset, configs, a seed and names of results to the results of each config
        A config's results are the same whatever configs stand beside it.
    together : int
        So many configs of one dataset and seed are computed at once, where that is faster than one by one.
    specs : names of the built-in ones, files ``sweeps/NAME.toml`` of the paper's package
    """

    config: Any
    generators: Mapping[str, Generator]
    results: Mapping[str, type[float] | type[str]]
    rows: Callable[[Any, Sequence[Any], int, Sequence[str]], list[dict[str, Result]]]
    together: int = 1
    specs: tuple[str, ...] = field(default=())

    @property
    def settings(self) -> dict[str, Setting]:
        """The settings that have one value a run, by name."""
        found = settings_of(type(self.config))
        return {name: setting for name, setting in found.items() if setting.values is not STEP_LIST}
