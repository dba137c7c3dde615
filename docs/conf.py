"""How Sphinx builds the pages of docs/: `make docs`."""

import re
from html import unescape
from importlib.metadata import metadata
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

import marginaudit
from marginaudit import reports

LOGGER = logging.getLogger(__name__)

ABOUT = metadata("marginaudit")

project = "marginaudit"
author = ABOUT["Author"]
project_copyright = author
release = version = ABOUT["Version"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["_build"]
default_role = "literal"  # a name in single backticks, as the docstrings have them

myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4  # as GitHub makes them, so that one link serves here and there

autodoc_member_order = "bysource"
for package in (marginaudit, reports):
    for name in package.__all__:  # they load when first asked for, and autodoc looks among what is loaded
        setattr(package, name, getattr(package, name))
OTHERS = ("annotated_types.Len", "annotated_types.MaxLen", "collections.abc.Sequence", "decimal.Decimal")
nitpick_ignore = [("py:class", name) for name in OTHERS]
autodoc_typehints = "none"  # docstrings have types and shapes in words
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"marginaudit {release}"
html_math_renderer = "mathml"
html_show_copyright = False


def setup(app: Sphinx) -> None:
    """Sphinx calls this."""
    app.connect("autodoc-process-docstring", as_numpydoc_reads, priority=400)  # before numpydoc, at 500
    app.connect("doctree-read", keep_github_anchors)
    app.add_html_math_renderer("mathml", (inline, None), (block, None))


def as_numpydoc_reads(*event: Any) -> None:
    """Mend a docstring in place: absolute values are no substitutions, and doctests have a title of their own."""
    lines = event[-1]
    first = next((n for n, line in enumerate(lines) if line.lstrip().startswith(">>>")), len(lines))
    lines[:first] = [re.sub(r"(`[^`]*`)|\|", lambda found: found[1] or r"\|", line) for line in lines[:first]]
    if first < len(lines) and any(set(line) == {"-"} for line in lines):
        lines[first:first] = ["Examples", "--------"]


def keep_github_anchors(app: Sphinx, tree: nodes.document) -> None:
    """Give each section also the anchor that it has on GitHub, which is how claims name their proofs."""
    for section in tree.findall(nodes.section):
        if section.get("slug", "") not in ("", *section["ids"]):
            section["ids"].append(section["slug"])


def mathml(node: nodes.Element, display: str) -> str:
    """A formula, for which a browser needs no script and no network; a warning where a command is left as it is."""
    found: str = convert(node.astext(), display=display)
    if "\\" in unescape(re.sub("<[^>]*>", "", found)):
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
