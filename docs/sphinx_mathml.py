"""Formulas as MathML, made when the pages are built: a browser needs no script and no network for them."""

from html import unescape
from re import sub
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def mathml(node: nodes.Element, display: str) -> str:
    """The formula of a node; a warning, which fails the build, where a command is left as it is."""
    found: str = convert(node.astext(), display=display)
    if "\\" in unescape(sub("<[^>]*>", "", found)):
        LOGGER.warning("latex2mathml leaves a command as it is: %s", node.astext(), location=node)
    return found


def inline(writer: Any, node: nodes.Element) -> None:
    """Within a line."""
    writer.body.append(mathml(node, "inline"))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.Element) -> None:
    """On lines of its own, which scroll where the page is narrow."""
    writer.body.append(f'<div style="overflow: auto hidden; padding: 2px 0">{mathml(node, "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
