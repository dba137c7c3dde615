"""How Sphinx builds the pages of docs/: `make docs`."""

import re
import sys
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

import marginaudit
from marginaudit import reports

sys.path.append(str(Path(__file__).parent))

ABOUT = metadata("marginaudit")

project = "marginaudit"
author = ABOUT["Author"]
project_copyright = author
release = version = ABOUT["Version"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "sphinx_mathml"]
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
autodoc_typehints = "none"  # the docstrings say types and shapes in words
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"marginaudit {release}"
html_math_renderer = "mathml"
html_show_copyright = False


def setup(app: Sphinx) -> None:
    """Sphinx calls this."""
    app.connect("autodoc-process-docstring", as_numpydoc_reads, priority=400)  # before numpydoc, at 500
    app.connect("doctree-read", keep_github_anchors)


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
