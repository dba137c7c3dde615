"""The pages of proofs beside a report: what statements name is on them, and every link leads there."""

import html
import re
from pathlib import Path

import pytest

from marginaudit.claims.paper import Paper
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.page.proofs import proof_pages
from tests.papers import changed

DOCS = Path(__file__).parents[3] / "docs"
NAMES = sorted(page.stem for page in DOCS.glob("proofs*.md"))


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return proof_pages(PAPERS)


def test_they_are_those_of_the_docs(pages: dict[str, str]) -> None:
    for paper in PAPERS:
        folder = Path(__file__).parents[3] / "reports" / paper.name / "proofs"
        for page in folder.iterdir():
            assert page.read_text(encoding="utf-8") == (DOCS / page.name).read_text(encoding="utf-8")
    assert sorted(pages) == NAMES


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_what_is_named_is_on_the_papers_own_pages(paper: Paper) -> None:
    own = proof_pages([paper])
    named = {claim.standing.proof for claim in paper.claims} | {
        one.proof for claim in paper.claims for one in claim.implications
    }
    places = [re.fullmatch(r"docs/([\w-]+)\.md#([\w-]+)", proof) for proof in named if proof]
    assert len(places) > 10
    for place in places:
        assert place is not None
        assert f'id="{place[2]}"' in own[place[1]]


@pytest.mark.parametrize("name", NAMES)
def test_every_formula_is_mathml_and_every_link_leads_somewhere(name: str, pages: dict[str, str]) -> None:
    page = pages[name]
    source = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    inline = re.findall(r"(?<!\$)\$[^$]+\$", re.sub(r"```.*?```", "", source, flags=re.S))
    formulas = re.findall("<math.*?</math>", page, re.S)
    assert len(formulas) == len(inline) + source.count("```math")
    words = re.sub("<(math|code|pre|style).*?</\\1>", "", page, flags=re.S)
    assert not re.search(r"[$\\]", html.unescape(words))
    assert "\\" not in html.unescape("".join(re.sub("<[^>]*>", "", found) for found in formulas))
    for place, anchor in re.findall(r'href="([^"#]*)#?([^"]*)"', page):
        if place != "../report.html":
            target = pages[place.removesuffix(".html")] if place else page
            assert not anchor or f'id="{anchor}"' in target


def test_pages_of_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "with_proofs" / "proofs").mkdir(parents=True)
    for name, text in (
        ("bare.md", "a < b\n\n```\n$x$ <y>\n```"),
        ("other.txt", "# no page"),
        ("titled.md", "# A `<b>`\n## B"),
    ):
        (tmp_path / "with_proofs" / "proofs" / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    pages = proof_pages([changed(PAPERS[0], package="with_proofs")])
    assert list(pages) == ["bare", "titled"]
    assert "<title>marginaudit: bare</title>" in pages["bare"]
    assert "<p>a &lt; b</p>\n<pre>$x$ &lt;y&gt;\n</pre>" in pages["bare"]
    assert "<title>marginaudit: A `&lt;b&gt;`</title>" in pages["titled"]
    assert '<h2 id="b">B</h2>' in pages["titled"]


def test_a_paper_without_pages_has_none() -> None:
    assert proof_pages([changed(PAPERS[0], package="")]) == {}
    assert proof_pages([changed(PAPERS[0], package="marginaudit.reports.page")]) == {}
