"""Make the generated pages anew.

Usage: python docs/make.py

Writes the schema of report.json, docs/statements.md and its picture, docs/findings.md, docs/ablation.md from the cells
that were hunted, the tables of verdicts in docs/default-audit.md, which an audit of the built-in cases fills, and, in
some minutes, docs/constants.md.
"""

from pathlib import Path

import ablation
import constants
import findings
import statements

from marginaudit import audit
from marginaudit.claims.paper import Paper
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.audit.schema import FILE, schema
from marginaudit.reports.counterexample import WITHOUT
from marginaudit.reports.page.files import json_text, write_whole

HERE = Path(__file__).parent
DEFAULT_AUDIT = HERE / "default-audit.md"


def verdicts(paper: Paper) -> str:
    """The table of a paper: how each statement stands, and its verdict on each built-in case."""
    report = audit(list(paper.kind.cases))
    rows = [("statement", "for every dataset", *paper.kind.cases), ("---",) * (2 + len(paper.kind.cases))]
    rows += [
        (f"`{claim.id}`", claim.standing.status, *(report.verdict(claim.id, name).verdict for name in paper.kind.cases))
        for claim in paper.claims
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def default_audit() -> str:
    """The page with its tables made anew."""
    text = DEFAULT_AUDIT.read_text(encoding="utf-8")
    for paper in PAPERS:
        start = text.index("\n", text.index(f"<!-- verdicts of {paper.name}")) + 1
        end = text.index(f"\n<!-- end of verdicts of {paper.name}")
        text = text[:start] + verdicts(paper) + text[end:]
    return text


def main() -> None:
    """Write all of them."""
    write_whole(HERE.parent / "reports" / "audit" / FILE, json_text(schema(), indent=2))
    for paper in ablation.HUNTED:
        file = HERE.parent / "reports" / paper.name / "counterexamples" / WITHOUT
        write_whole(file, json_text(ablation.without(paper)))
    statements.main()
    write_whole(HERE / "findings.md", findings.page())
    write_whole(HERE / "ablation.md", ablation.page())
    write_whole(DEFAULT_AUDIT, default_audit())
    constants.main()


if __name__ == "__main__":
    main()
