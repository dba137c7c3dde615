"""Small self-contained pages: a few tables, no script."""

from typing import Any

from marginaudit.claims.values.numbers import brief
from marginaudit.orders import counted, printable


def small_page(package: str, template: str, **values: Any) -> str:
    """HTML of a package's template, which extends ``small.html``.

    Filter ``shown`` rounds numbers for reading; filter ``words`` writes a count with its noun. Every text is escaped,
    control characters included.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loader = ChoiceLoader([PackageLoader(package), PackageLoader("marginaudit.reports.page")])
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters |= {"shown": _shown, "words": counted}
    return environment.get_template(template).render(values)


def _shown(value: Any) -> str:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return brief(value)
    return printable(str(value))
