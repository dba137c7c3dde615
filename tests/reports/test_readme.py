"""The README's tables of verdicts are what the program finds."""

from pathlib import Path

import pytest

from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.paper import Paper

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_the_table_of_verdicts_is_true(paper: Paper) -> None:
    cases = paper.kind.cases
    runs = [paper.run(case(), paper.config()) for case in cases.values()]
    rows = [f"| statement | for every dataset | {' | '.join(cases)} |", "| --- " * (len(cases) + 2) + "|"]
    for claim in paper.claims:
        verdicts = " | ".join(claim.judge(run).verdict for run in runs)
        rows.append(f"| `{claim.id}` | {claim.standing.status} | {verdicts} |")
    text = README.read_text(encoding="utf-8")
    start = text.index(f"<!-- verdicts of {paper.name}")
    table = text[text.index("\n", start) + 1 : text.index(f"<!-- end of verdicts of {paper.name}")]
    assert table.strip().splitlines() == rows, "expected in README.md:\n" + "\n".join(rows)
