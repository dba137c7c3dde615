"""Lies planted in a report: each changes one thing of its document, and returns the place that it is about."""

import random
from collections.abc import Callable, Mapping
from typing import Any

Document = dict[str, Any]
Lie = Callable[[Document, random.Random], str | None]
"""None where the report has nothing to lie about in this way."""

EVIDENCE = ["float64", "certified", "exact", "proved"]
VERDICTS = ["holds", "violated", "vacuous", "inconclusive", "not-applicable"]

VALUES = {"standing": ["proved", "refuted", "open"], "form": ["printed", "variant", "own", "control"]}


def _row(document: Document, rng: random.Random, wanted: Callable[[Document], Any]) -> Document | None:
    found = [row for row in document["verdicts"] if wanted(row)]
    return rng.choice(found) if found else None


def _place(row: Mapping[str, Any] | None) -> str | None:
    return None if row is None else f"{row['dataset']}: {row['claim']}"


def _off(value: float, rng: random.Random) -> float:
    """A number that differs by 0.1 % to 100 %, or is not 0."""
    factor = 1 + rng.choice([-1, 1]) * 10 ** rng.uniform(-3, -0.01)
    return value * factor if value else 10 ** rng.uniform(-3, 3)


def number(name: str) -> Lie:
    """Measured, bound, slack or constant is another one, and its fraction, if any, is left."""

    def lie(document: Document, rng: random.Random) -> str | None:
        row = _row(document, rng, lambda row: row[name] is not None)
        if row is not None:
            row[name] = _off(row[name], rng)
        return _place(row)

    return lie


def both_forms(document: Document, rng: random.Random) -> str | None:
    """An exact number is another one, as a fraction and as a float."""
    row = _row(document, rng, lambda row: row["measured_exact"])
    if row is not None:
        row["measured_exact"], row["measured"] = "7/8", 0.875
        row["slack"] = row["slack"] and row["bound"] / 0.875
    return _place(row)


def with_slack(document: Document, rng: random.Random) -> str | None:
    """Measured is another one, and the slack and the curve are made to fit."""
    row = _row(document, rng, lambda row: row["slack"] and row["measured"] and row["bound"])
    if row is not None:
        factor = rng.uniform(1.01, 2)
        row["slack"] = row["slack"] / factor if row["side"] == "upper" else row["slack"] * factor
        for at, step in enumerate(row["curve"]["step"] if row["curve"] else ()):
            if step == row["worst_step"] and row["curve"]["measured"][at] is not None:
                row["curve"]["measured"][at] *= factor
        row["measured"] *= factor
    return _place(row)


def in_the_curve(document: Document, rng: random.Random) -> str | None:
    """A measured value of the curve is another one."""
    row = _row(document, rng, lambda row: row["curve"] and any(row["curve"]["measured"]))
    if row is not None:
        known = [at for at, value in enumerate(row["curve"]["measured"]) if value]
        at = rng.choice(known)
        row["curve"]["measured"][at] = _off(row["curve"]["measured"][at], rng)
    return _place(row)


def verdict(document: Document, rng: random.Random) -> str | None:
    """The verdict is another one."""
    row = _row(document, rng, lambda row: True)
    if row is not None:
        row["verdict"] = rng.choice([one for one in VERDICTS if one != row["verdict"]])
    return _place(row)


def evidence(document: Document, rng: random.Random) -> str | None:
    """The evidence is a surer one."""
    row = _row(document, rng, lambda row: row["evidence"] in EVIDENCE[:-1])
    if row is not None:
        row["evidence"] = rng.choice(EVIDENCE[EVIDENCE.index(row["evidence"]) + 1 :])
    return _place(row)


def witness(document: Document, rng: random.Random) -> str | None:
    """A witness is another one."""
    row = _row(document, rng, lambda row: row["witness"])
    if row is not None:
        row["witness"][rng.choice(list(row["witness"]))] = "another"
    return _place(row)


def bars(document: Document, rng: random.Random) -> str | None:
    """The error bars of a curve are shrunk."""
    row = _row(document, rng, lambda row: row["curve"] and any(row["curve"]["measured_bar"] or ()))
    if row is not None:
        factor = rng.uniform(0, 0.9)
        row["curve"]["measured_bar"] = [bar and bar * factor for bar in row["curve"]["measured_bar"]]
    return _place(row)


def relative_bar(document: Document, rng: random.Random) -> str | None:
    """The relative error bar of a row is shrunk."""
    row = _row(document, rng, lambda row: row["repeats_within"])
    if row is not None:
        row["repeats_within"] *= rng.uniform(0, 0.9)
    return _place(row)


def position(document: Document, rng: random.Random) -> str | None:
    """A step that a row names, or the number of a curve's entries, is another one."""
    names = ["worst_step", "first_violation", "informative_from"]
    row = _row(document, rng, lambda row: any(row[name] is not None for name in names))
    if row is not None:
        row[rng.choice([name for name in names if row[name] is not None])] += rng.randint(1, 5)
    return _place(row)


def count(document: Document, rng: random.Random) -> str | None:
    """A whole number of a dataset's entry is another one."""
    data = rng.choice(document["datasets"])
    names = [name for name, value in data.items() if type(value) is int]
    if not names:
        return None
    data[rng.choice(names)] += rng.randint(1, 3)
    return f"dataset {data['name']}"


def assumption(document: Document, rng: random.Random) -> str | None:
    """An assumption is said to hold that fails, or the opposite."""
    data = rng.choice([data for data in document["datasets"] if data["assumptions"]] or [None])
    if data is None:
        return None
    one = rng.choice(list(data["assumptions"].values()))
    one["holds"] = not one["holds"]
    return f"dataset {data['name']}"


def data(document: Document, rng: random.Random) -> str | None:
    """Data are other ones than those of the rows."""
    one = rng.choice(document["datasets"])
    for key in ("instance", "samples", "classes", "M", "sentences"):
        value = (one["data"] or {}).get(key)
        if isinstance(value, int):
            one["data"][key] = value + 1
        elif isinstance(value, list) and len(value) > 1:
            value.pop(rng.randrange(len(value)))
        elif isinstance(value, dict) and (numbers := [name for name, x in value.items() if type(x) in (int, float)]):
            value[rng.choice(numbers)] += 1
        else:
            continue
        return f"dataset {one['name']}"
    return None


def text(name: str) -> Lie:
    """A text of a claim is another one."""

    def lie(document: Document, rng: random.Random) -> str | None:
        found = [claim for claim in document["claims"] if claim[name]]
        if not found:
            return None
        claim = rng.choice(found)
        at = rng.randrange(len(claim[name]))
        claim[name] = f"{claim[name][:at]}≥{claim[name][at + 1 :]}"
        return f"claim {claim['id']}"

    return lie


def standing(document: Document, rng: random.Random) -> str | None:
    """The standing of a claim is another one."""
    claim = rng.choice(document["claims"])
    claim["standing"] = rng.choice([one for one in VALUES["standing"] if one != claim["standing"]])
    return f"claim {claim['id']}"


def row_standing(document: Document, rng: random.Random) -> str | None:
    """The standing or the form in a row is another one."""
    row, name = rng.choice(document["verdicts"]), rng.choice(["standing", "form"])
    row[name] = rng.choice([one for one in VALUES[name] if one != row[name]])
    return _place(row)


def assumes(document: Document, rng: random.Random) -> str | None:
    """An assumption of a claim is left out."""
    found = [claim for claim in document["claims"] if claim["assumptions"]]
    if not found:
        return None
    claim = rng.choice(found)
    claim["assumptions"].pop(rng.randrange(len(claim["assumptions"])))
    return f"claim {claim['id']}"


def removed(document: Document, rng: random.Random) -> str | None:
    """A row is left out."""
    return _place(document["verdicts"].pop(rng.randrange(len(document["verdicts"]))))


def twice(document: Document, rng: random.Random) -> str | None:
    """A row is there twice."""
    row = rng.choice(document["verdicts"])
    document["verdicts"].append(dict(row))
    return _place(row)


def swapped(document: Document, rng: random.Random) -> str | None:
    """A row has the numbers of another dataset."""
    row = _row(document, rng, lambda row: row["measured"] is not None)
    others = [
        other
        for other in document["verdicts"]
        if row and other["claim"] == row["claim"] and other["measured"] not in (None, row["measured"])
    ]
    if row is None or not others:
        return None
    other = rng.choice(others)
    row |= {name: other[name] for name in ("measured", "bound", "slack", "measured_exact", "bound_exact", "worst_step")}
    return _place(row)


LIES: dict[str, Lie] = {
    **{name: number(name) for name in ("measured", "bound", "slack", "constant")},
    **{f"{name} of the claim": text(name) for name in ("statement", "formula", "quotation", "reading", "source")},
    "both forms": both_forms,
    "with slack": with_slack,
    "in the curve": in_the_curve,
    "verdict": verdict,
    "evidence": evidence,
    "witness": witness,
    "bars": bars,
    "relative bar": relative_bar,
    "position": position,
    "count": count,
    "assumption": assumption,
    "data": data,
    "standing": standing,
    "row's standing": row_standing,
    "assumes": assumes,
    "removed": removed,
    "twice": twice,
    "swapped": swapped,
}
"""Kinds of lies by name."""
