"""Check a certificate of the two hard-margin solutions; standard library only.

Usage: python verify.py DATASET CERTIFICATE

This file stands alone on purpose: it reads the dataset and the certificate, derives the constraints of
eq. 2 and eq. 3 of arXiv 2409.17335 from the dataset itself, and confirms in rational arithmetic that

* the weights W satisfy every constraint,
* the multipliers are nonnegative and stand on constraints that exist,
* ||W||^2 = 2 sum(multipliers) - ||A^T multipliers||^2 = the stated norm, for the rows A of the constraints,

which by weak duality proves W optimal; or, for an infeasible problem, that the stated cycle is one. Where it
states of a query that Proposition 2's closed form holds or fails, W is compared with the form, and a failure has
to show a set S of optimal tokens with |N(S)| k < |S| m. Tokens are taken as orthonormal; a dataset whose
embedding is not (within 1e-12) is refused.
"""

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

FORMAT = "marginaudit-certificate-1"
ORTHONORMAL_TOLERANCE = Fraction(1, 10**12)


class Refused(Exception):  # noqa: N818
    """The certificate does not prove what it states; the message says where."""


def verify(dataset: str | Path, certificate: str | Path) -> list[str]:
    """One line per confirmed problem; `Refused` otherwise, or the error of a file that has not the form."""
    document = json.loads(Path(certificate).read_text(encoding="utf-8"))
    demand(isinstance(document, dict) and document.get("format") == FORMAT, f"not a certificate of format {FORMAT}")
    only_keys(document, {"format", "dataset", "ov", "kq"}, "certificate")
    demand("ov" in document or "kq" in document, "the certificate states neither ov nor kq")
    vocabulary, samples, n, embedding = read_dataset(Path(dataset))
    demand(set(n) == set(vocabulary), "n is not a function on the whole vocabulary")
    demand_orthonormal(embedding)
    lines = [verify_ov(document["ov"], len(vocabulary))] if "ov" in document else []
    return lines + ([verify_kq(document["kq"], relations(samples, n))] if "kq" in document else [])


def read_dataset(path: Path) -> tuple[list[str], set[tuple[tuple[str, ...], str]], dict[str, str], Any]:
    """Vocabulary, distinct samples, n where it is a function, and the embedding or None."""
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix.lower() == ".txt":
        lines = [line.split() for line in text.splitlines()]
        document: dict[str, Any] = {"sentences": [line for line in lines if line and not line[0].startswith("#")]}
    else:
        document = json.loads(text)
    samples = {(tuple(s["tokens"]), s["next"]) for s in document.get("samples", [])}
    for sentence in document.get("sentences", []):
        samples |= {(tuple(sentence[:i]), sentence[i]) for i in range(1, len(sentence))}
    n = dict(document.get("next_token", {}))
    for tokens, following in samples:
        if len(tokens) == 1:
            demand(n.setdefault(tokens[0], following) == following, f"two next tokens of {tokens[0]!r}")
    used = {x for tokens, following in samples for x in (*tokens, following)} | set(n) | set(n.values())
    return document.get("vocabulary") or sorted(used), samples, n, document.get("embedding")


def relations(samples: set[tuple[tuple[str, ...], str]], n: dict[str, str]) -> set[tuple[str, str, str]]:
    """Every (query, winner, loser) of Definition 1."""
    found = set()
    for tokens, following in samples:
        winners = {x for x in tokens if n[x] == following}
        found |= {(tokens[-1], winner, loser) for winner in winners for loser in set(tokens) - winners}
    return found


def verify_ov(stated: dict[str, Any], size: int) -> str:
    """W*_ov, constant on the entries (n(x), x), on the others, and in its multipliers."""
    only_keys(stated, {"status", "norm_squared", "at_next_token", "elsewhere", "multiplier"}, "ov")
    demand(stated["status"] == "optimal", "ov: status is not optimal")
    next_token, elsewhere = rational(stated["at_next_token"]), rational(stated["elsewhere"])
    multiplier, norm_squared = rational(stated["multiplier"]), rational(stated["norm_squared"])
    demand(size == 1 or next_token - elsewhere >= 1, "ov: a constraint is violated")
    demand(multiplier >= 0, "ov: a multiplier is negative")
    others = size - 1
    primal = size * (next_token**2 + others * elsewhere**2)
    dual = size * (2 * others * multiplier - (others * multiplier) ** 2 - others * multiplier**2)
    demand(primal == norm_squared, f"ov: ||W||^2 is {primal}, stated {norm_squared}")
    demand(dual == norm_squared, f"ov: the dual objective is {dual}, stated {norm_squared}")
    return f"ov: optimal, ||W*||^2 = {norm_squared}"


def verify_kq(stated: dict[str, Any], required: set[tuple[str, str, str]]) -> str:
    """W*_kq by its weights and multipliers, or its infeasibility by a cycle."""
    if stated["status"] == "infeasible":
        only_keys(stated, {"status", "query", "cycle"}, "kq")
        query, cycle = stated["query"], stated["cycle"]
        demand(len(cycle) >= 1, "kq: the cycle is empty")
        for winner, loser in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            demand((query, winner, loser) in required, f"kq: under {query!r}, {winner!r} does not beat {loser!r}")
        return f"kq: infeasible, a cycle of {len(cycle)} tokens under query {query!r}"
    only_keys(stated, {"status", "norm_squared", "weights", "multipliers", "closed_form"}, "kq")
    demand(stated["status"] == "optimal", "kq: status is neither optimal nor infeasible")
    weight = {(q, x): rational(value) for q, row in stated["weights"].items() for x, value in row.items()}
    zero = Fraction(0)
    for query, winner, loser in required:
        room = weight.get((query, winner), zero) - weight.get((query, loser), zero)
        demand(room >= 1, f"kq: under {query!r}, {winner!r} beats {loser!r} by {room}, not by 1")
    total, combination = zero, dict[tuple[str, str], Fraction]()
    seen = set()
    for query, rows in stated["multipliers"].items():
        for winner, loser, value in rows:
            multiplier, pair = rational(value), (query, winner, loser)
            demand(
                pair in required and pair not in seen,
                f"kq: a multiplier on {pair}, which is no constraint or stated twice",
            )
            demand(multiplier >= 0, f"kq: a negative multiplier on {pair}")
            seen.add(pair)
            total += multiplier
            combination[query, winner] = combination.get((query, winner), zero) + multiplier
            combination[query, loser] = combination.get((query, loser), zero) - multiplier
    norm_squared = rational(stated["norm_squared"])
    primal = sum((value**2 for value in weight.values()), zero)
    dual = 2 * total - sum((value**2 for value in combination.values()), zero)
    demand(primal == norm_squared, f"kq: ||W||^2 is {primal}, stated {norm_squared}")
    demand(dual == norm_squared, f"kq: the dual objective is {dual}, stated {norm_squared}")
    failing = [q for q, form in stated.get("closed_form", {}).items() if verify_closed_form(q, form, weight, required)]
    counterexample = f"; Proposition 2's closed form fails under {failing}" if failing else ""
    return f"kq: optimal, ||W*||^2 = {norm_squared}, {len(required)} constraints{counterexample}"


def verify_closed_form(
    query: str, form: dict[str, Any], weight: dict[tuple[str, str], Fraction], required: set[tuple[str, str, str]]
) -> bool:
    """Whether Proposition 2's closed form fails under the query, as it is stated to hold or to fail."""
    edges = [(winner, loser) for q, winner, loser in required if q == query]
    winners, losers = {winner for winner, _ in edges}, {loser for _, loser in edges}
    demand(bool(edges) and not winners & losers, f"kq: under {query!r} the closed form does not apply")
    k, m = len(winners), len(losers)
    expected = {x: Fraction(m, k + m) for x in winners} | {x: Fraction(-k, k + m) for x in losers}
    equal = {x: value for (q, x), value in weight.items() if q == query and value} == expected
    demand(equal == form["holds"], f"kq: under {query!r} the closed form {'holds' if equal else 'fails'}")
    beaten = {loser for winner, loser in edges if winner in set(form["S"])}
    violating = set(form["S"]) <= winners and len(beaten) * k < len(set(form["S"])) * m
    demand(equal or violating, f"kq: under {query!r}, S does not violate |N(S)| k >= |S| m")
    return not equal


def demand_orthonormal(embedding: Any) -> None:
    """Refuse an embedding whose Gram matrix is not the identity within the tolerance."""
    rows = [[Fraction(value) for value in row] for row in embedding or []]
    for i, left in enumerate(rows):
        for j, right in enumerate(rows[: i + 1]):
            product = sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))
            demand(abs(product - (i == j)) <= ORTHONORMAL_TOLERANCE, "the embedding is not orthonormal")


def rational(text: Any) -> Fraction:
    """A rational written "p/q" in lowest terms."""
    demand(isinstance(text, str), f"{text!r} is not a rational written as a string")
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise Refused(f"{text!r} is not a rational") from None
    demand(f"{value.numerator}/{value.denominator}" == text, f"{text!r} is not written p/q in lowest terms")
    return value


def only_keys(document: dict[str, Any], expected: set[str], where: str) -> None:
    """Refuse a key that nothing checks."""
    demand(set(document) <= expected, f"{where}: unknown keys {sorted(set(document) - expected)}")


def demand(condition: bool, otherwise: str) -> None:
    """Refuse unless the condition holds."""
    if not condition:
        raise Refused(otherwise)


def main(arguments: list[str]) -> int:
    """Exit status 0: confirmed; 1: refused; 2: not a dataset or not a certificate."""
    if len(arguments) != 2:
        print("usage: verify.py DATASET CERTIFICATE", file=sys.stderr)
        return 2
    try:
        print("\n".join(verify(*arguments)))
    except Refused as reason:
        print(f"refused: {reason}", file=sys.stderr)
        return 1
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
