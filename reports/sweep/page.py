"""What a sweep of audits found, as one self-contained page."""

from typing import Any

from marginaudit.orders import printable
from marginaudit.reports.page.html import number
from marginaudit.reports.sweep.merge import Rows
from marginaudit.reports.sweep.spec import Spec
from marginaudit.reports.verdict import Verdict


def page(spec: Spec, statements: Rows, runs: Rows, figure: bytes | None) -> str:
    """The HTML; ``figure`` is an SVG of this program's."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    text = "" if figure is None else figure.decode("utf-8")

    environment = Environment(
        loader=PackageLoader("marginaudit.reports.sweep"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["shown"] = _shown
    verdicts = [verdict.value for verdict in Verdict if any(row[verdict.value] for row in statements)]
    order = [verdict.value for verdict in Verdict]
    ranked = sorted(statements, key=lambda row: [-row[verdict] for verdict in order[:2]])
    return environment.get_template("sweep.html").render(
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


def _shown(value: Any) -> str:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return number(value)
    return printable(str(value))
