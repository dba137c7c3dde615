"""What a sweep of audits found, as one self-contained page."""

from marginaudit.reports.page.small import small_page
from marginaudit.reports.sweep.merge import Rows
from marginaudit.reports.sweep.spec import Spec
from marginaudit.reports.verdict import Verdict


def page(spec: Spec, statements: Rows, runs: Rows, figure: bytes | None) -> str:
    """The HTML; ``figure`` is an SVG of this program's."""
    from markupsafe import Markup

    text = "" if figure is None else figure.decode("utf-8")
    verdicts = [verdict.value for verdict in Verdict if any(row[verdict.value] for row in statements)]
    order = [verdict.value for verdict in Verdict]
    ranked = sorted(statements, key=lambda row: [-row[verdict] for verdict in order[:2]])
    return small_page(
        "marginaudit.reports.sweep",
        "sweep.html",
        name=spec.name,
        spec=spec.text,
        runs=len(runs),
        done=sum(run["status"] == "done" for run in runs),
        failing=sum(row["violated"] > 0 for row in statements),
        verdicts=verdicts,
        statements=ranked,
        numbers=[row for row in ranked if row["slack worst"] is not None or row["constant worst"] is not None],
        figure=Markup(text[text.index("<svg") :]) if text else None,
    )
