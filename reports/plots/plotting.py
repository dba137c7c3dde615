"""matplotlib with the project's settings, whatever the user's are."""

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

from marginaudit.orders import printable
from marginaudit.reports.plots.style import FIGURE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

P = ParamSpec("P")


def load_matplotlib() -> None:
    """Import matplotlib past the settings that it reads meanwhile; some of them would end the program.

    They are ``matplotlibrc`` in the working directory and the user's own, and ``MPLBACKEND``.
    """
    if "matplotlib" in sys.modules:
        return
    before = os.environ.copy()
    os.environ |= {"MPLBACKEND": "agg", "MATPLOTLIBRC": os.devnull}
    try:
        with _quiet("matplotlib"), chdir(Path(__file__).parent):
            import_module("matplotlib")
    finally:
        for name in ("MPLBACKEND", "MATPLOTLIBRC"):
            del os.environ[name]
        os.environ |= before


def load_drawing() -> None:
    """Import what figures as SVG are drawn with."""
    load_matplotlib()
    import matplotlib.backends.backend_svg
    import matplotlib.figure  # noqa: F401


@contextmanager
def plot_settings() -> Iterator[None]:
    """Within, figures are drawn with matplotlib's defaults and the project's settings upon them."""
    load_matplotlib()
    import matplotlib as mpl

    defaults = {name: value for name, value in mpl.rcParamsDefault.items() if name != "backend"}
    with _quiet("matplotlib"), mpl.rc_context(defaults | FIGURE):
        yield


def styled(draw: "Callable[P, Figure]") -> "Callable[P, Figure]":
    """Draw with the project's plot settings."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> "Figure":
        with plot_settings():
            return draw(*args, **kwargs)

    return drawn


def as_text(name: str) -> str:
    r"""A name as a figure shows it letter by letter: what stands between dollar signs is no formula.

    >>> as_text("$1 and $2")
    '\\$1 and \\$2'
    """
    return printable(name).replace("$", r"\$")


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Within, the library of that name logs errors only."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
