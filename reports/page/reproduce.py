"""The command that gives one row of a report again."""

import shlex
from dataclasses import fields
from typing import Any

from marginaudit.orders import printable
from marginaudit.reports.audit.auditing import Row
from marginaudit.reports.settings import settings_of


def settings_given(paper: Any, config: Any) -> list[str]:
    """The options that make an audit's settings from those that it has unless told otherwise."""
    options, defaults = [], paper.config()
    for field in fields(config):
        value, usual = getattr(config, field.name), getattr(defaults, field.name)
        known = settings_of(type(config)).get(field.name)
        if known is None or value == usual or value is None:
            continue
        dashed = f"--{field.name.replace('_', '-')}"
        if known.switch:
            options += [f"--{known.switch.replace('_', '-')}"]
            dashed = f"--{known.switch.replace('_', '-')}-steps"
            if value == known.switched_on:
                continue
        options += [dashed, ",".join(map(str, value)) if isinstance(value, tuple) else str(value)]
    return options


def command(row: Row, origin: str, config: Any, claims_file: str | None) -> str:
    """`marginaudit audit` of the row's dataset and statement alone, with the same settings."""
    own = [] if row.paper.has(row.claim) or claims_file is None else ["--claims", claims_file]
    words = ["marginaudit", "audit", origin, "--claim", row.claim.id, *own, *settings_given(row.paper, config)]
    return printable(shlex.join(words))
