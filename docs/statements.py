"""Which statement follows from which: the page and its picture.

Usage: python docs/statements.py

Writes docs/statements.md and docs/statements.svg.
"""

from pathlib import Path

from marginaudit.claims.paper import Paper
from marginaudit.claims.standing import Status
from marginaudit.claims.verdict import Verdict
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.page.files import write_whole
from marginaudit.reports.plots.measured import rendered
from marginaudit.reports.statements import statements_figure

HERE = Path(__file__).parent

HEADER = """# Which statement follows from which

The standing of each statement over all datasets that meet its assumptions, and its links to others. `marginaudit
claims ID` has the details of one, and `marginaudit figure statements` draws the picture. An audit gives a verdict the
evidence `proved` where one of the implications below, or the statement's own proof, applies to the dataset: its
condition is checked in rational or ball arithmetic, and the assumptions of its premises have to hold exactly.

![Statements by standing, and which follow from which](statements.svg)

`python docs/statements.py` makes this page.
"""


def page() -> str:
    """Tables of standings, of implications, and of what remains, for each paper."""
    return HEADER + "".join(f"\n## {paper.source}\n\n{_of(paper)}" for paper in PAPERS)


def _of(paper: Paper) -> str:
    counts = {status: sum(claim.standing.status is status for claim in paper.claims) for status in Status}
    words = ", ".join(f"{count} {status}" for status, count in counts.items())
    standings = [
        (f"`{claim.id}`", claim.standing.status.value, _link(claim.standing.proof), _ids(claim.standing.uses))
        for claim in paper.claims
    ]
    follows = [
        (
            _ids(one.sources),
            f"`{claim.id}`" + (" is false" if one.verdict is Verdict.VIOLATED else ""),
            one.condition or "always",
            _link(one.proof),
        )
        for claim in paper.claims
        for one in claim.implications
    ]
    remains = [
        (f"`{claim.id}`", _ids(claim.standing.relied_on_by), claim.standing.remains)
        for claim in paper.claims
        if claim.standing.relied_on_by
    ]
    return "\n".join(
        [
            f"{len(paper.claims)} statements: {words}.\n",
            _table(("statement", "stands", "proof", "which rests on"), standings),
            _table(("from", "follows", "where", "proof"), follows),
            _table(("refuted", "the source derives", "what remains"), remains),
        ]
    )


def _link(proof: str | None) -> str:
    if proof is None:
        return "–"
    target = proof.removeprefix("docs/")
    return f"[{target.partition('#')[0]}]({target})"


def _ids(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "–"


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *(tuple(cell.replace("|", "\\|") for cell in row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def main() -> None:
    """Write both files."""
    write_whole(HERE / "statements.svg", rendered(statements_figure(PAPERS), ".svg"))
    write_whole(HERE / "statements.md", page())


if __name__ == "__main__":
    main()
