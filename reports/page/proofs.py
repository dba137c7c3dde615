"""Pages of the proofs cited by a report, and links to them."""

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import pairwise
from typing import Any

from markupsafe import Markup, escape

from marginaudit.claims.paper import Paper
from marginaudit.reports.page.formulas import mathml
from marginaudit.reports.page.small import small_page

PLACE = re.compile(r"docs/([\w-]+)\.md(#[\w-]+)?")
"""Page and anchor of a proof, as standings name it: ``docs/proofs.md#5-sharplemma6``."""


def proof_pages(papers: Sequence[Paper]) -> dict[str, str]:
    """HTML by name of the pages in the folders ``proofs`` of the papers' packages: ``proofs`` for ``proofs.md``."""
    return {name: _page(name, text) for name, text in sorted(proof_sources(papers).items())}


def proof_sources(papers: Sequence[Paper]) -> dict[str, str]:
    """Markdown of the pages of proofs, by name."""
    sources: dict[str, str] = {}
    for paper in papers:
        folder = files(paper.package) / "proofs" if paper.package else None
        if folder is not None and folder.is_dir():
            pages = [page for page in folder.iterdir() if page.name.endswith(".md")]
            sources |= {page.name.removesuffix(".md"): page.read_text(encoding="utf-8") for page in pages}
    return sources


def with_links(text: str, pages: Mapping[str, Any], words: str = "") -> Any:
    """Escaped text with each citation of a proof linked to its page beside the report, if the page exists.

    >>> with_links("By docs/proofs.md#5-x, or docs/other.md & more", {"proofs": ""})
    Markup('By <a href="proofs/proofs.html#5-x">docs/proofs.md#5-x</a>, or docs/other.md &amp; more')
    >>> with_links("By docs/proofs.md#5-x", {"proofs": ""}, words="proof")
    Markup('By <a href="proofs/proofs.html#5-x">proof</a>')
    """

    def link(found: re.Match[str]) -> str:
        page, anchor = found[1], found[2] or ""
        return f'<a href="proofs/{page}.html{anchor}">{words or found[0]}</a>' if page in pages else found[0]

    return Markup(PLACE.sub(link, str(escape(text))))  # a match has no characters to escape


def _page(name: str, text: str) -> str:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.anchors import anchors_plugin
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    markdown = MarkdownIt("commonmark").enable("table").use(anchors_plugin, max_level=4)
    markdown.use(dollarmath_plugin, renderer=_formula)
    markdown.add_render_rule("fence", _fence)
    markdown.add_render_rule("table_open", lambda *_, **__: '<div class="scroll"><table>\n')
    markdown.add_render_rule("table_close", lambda *_, **__: "</table></div>\n")
    tokens = markdown.parse(text)
    for token in (inside for block in tokens for inside in block.children or ()):
        if "href" in token.attrs:
            token.attrSet("href", re.sub(r"^([\w-]+)\.md(?=#|$)", r"\1.html", str(token.attrGet("href"))))
    title = next((after.content for token, after in pairwise(tokens) if token.type == "heading_open"), name)
    body = markdown.renderer.render(tokens, markdown.options, {})
    return small_page("marginaudit.reports.page", "proofs.html", title=title, body=Markup(body))


def _formula(formula: str, options: Mapping[str, Any]) -> str:
    return mathml(formula, "block" if options["display_mode"] else "inline")


def _fence(_: Any, tokens: Sequence[Any], index: int, *__: Any) -> str:
    """Render GitHub's ``math`` fence as a displayed formula, other fences as text."""
    token = tokens[index]
    if token.info.strip() == "math":
        return f'<div class="scroll">{mathml(token.content)}</div>\n'
    return f"<pre>{escape(token.content)}</pre>\n"
