"""The README's table of verdicts is what the program finds."""

from pathlib import Path

from marginaudit.orders.ntp import CASES
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.paper import PAPER

README = Path(__file__).parents[2] / "README.md"


def test_the_table_of_verdicts_is_true() -> None:
    runs = [Run(case(), Config(steps2=None)) for case in CASES.values()]
    rows = [f"| statement | {' | '.join(CASES)} |", "| --- " * (len(CASES) + 1) + "|"]
    for claim in PAPER.claims:
        rows.append(f"| `{claim.id}` | {' | '.join(claim.judge(run).verdict for run in runs)} |")
    text = README.read_text(encoding="utf-8")
    start = text.index("<!-- verdicts")
    table = text[text.index("\n", start) + 1 : text.index("<!-- end of verdicts")]
    assert table.strip().splitlines() == rows, "expected in README.md:\n" + "\n".join(rows)
