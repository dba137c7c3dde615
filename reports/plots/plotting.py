"""matplotlib with the project's settings, whatever the user's are."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec

from marginaudit.orders import printable
from marginaudit.reports.plots.style import FIGURE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

P = ParamSpec("P")


def load_drawing() -> None:
    """Import what figures as SVG are drawn with."""
    import matplotlib.backends.backend_svg
    import matplotlib.figure  # noqa: F401


@contextmanager
def plot_settings() -> Iterator[None]:
    """Within, figures are drawn with matplotlib's defaults and the project's settings upon them."""
    import matplotlib as mpl

    defaults = {name: value for name, value in mpl.rcParamsDefault.items() if name != "backend"}
    with mpl.rc_context(defaults | FIGURE):
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
