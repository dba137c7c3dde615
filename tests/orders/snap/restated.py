"""The definitions once more: plain loops over the document, rational numbers, nothing of the package."""

from fractions import Fraction
from itertools import combinations
from typing import Any

import mpmath

from tests.strategies import Document


def probabilities(document: Document) -> list[dict[str, Fraction]]:
    """P(l|n) of each class as the quotient of small whole numbers that it was made from, without zeros."""
    read = [
        {token: Fraction(p).limit_denominator(100) for token, p in c["probabilities"].items()}
        for c in document["classes"]
    ]
    return [{token: p for token, p in c.items() if p} for c in read]


def named(document: Document) -> set[str]:
    tokens: set[str] = set()
    for c in document["classes"]:
        tokens |= {c["next"], c["query"], *c["probabilities"]}
    return tokens


def common(document: Document) -> set[str]:
    P = probabilities(document)
    return {token for c, d in combinations(P, 2) for token in c if token in d}


def distinct(document: Document) -> list[set[str]]:
    return [set(c) - common(document) for c in probabilities(document)]


def overlaps(P: list[dict[str, Fraction]]) -> mpmath.matrix:
    """E of exact probabilities, in as many digits as mpmath works with."""
    E = mpmath.zeros(len(P))
    for i, j in combinations(range(len(P)), 2):
        E[i, j] = E[j, i] = mpmath.sqrt(squared_overlap(P[i], P[j]))
    return E


def squared_overlap(c: dict[str, Fraction], d: dict[str, Fraction]) -> Fraction:
    product = sum((p * d[token] for token, p in c.items() if token in d), Fraction())
    return product**2 / (_norm_squared(c) * _norm_squared(d))


def _norm_squared(c: dict[str, Fraction]) -> Fraction:
    return sum((p**2 for p in c.values()), Fraction())


def eigenvalues(P: list[dict[str, Fraction]]) -> list[Any]:
    """Of E, ascending."""
    if len(P) == 1:
        return [mpmath.mpf(0)]
    return sorted(mpmath.eigsy(overlaps(P), eigvals_only=True))


def witnesses(document: Document, name: str, witness: Any) -> bool:
    """Whether the witness shows by itself, with the document, that the assumption fails."""
    P = dict(zip((c["next"] for c in document["classes"]), probabilities(document), strict=True))
    given = {c["next"]: c for c in document["classes"]}
    K, M = len(P), document.get("M", len(named(document)))
    shared, own = common(document), dict(zip(P, distinct(document), strict=True))
    match name:
        case "uniform_classes":
            frequencies = [given[n]["frequency"] for n in witness["classes"]]
            return bool(frequencies == witness["frequencies"] and frequencies[0] != frequencies[1])
        case "wide_vocabulary":
            return bool(witness == {"M": M, "K": K, "least": 10 * K * K} and witness["least"] > M)
        case "large_vocabulary":
            return bool(witness == {"M": M, "least": 1000} and M < 1000)
        case "small_overlap" | "overlap_below_one":
            sizes = [abs(e) for e in eigenvalues(list(P.values()))]
            bound = 1 / K if name == "small_overlap" else 1
            near = abs(max(sizes) - witness["largest"]) <= witness["error"] < 1e-13
            decided = witness["largest"] - witness["error"] >= bound
            exact = bound == 1 and abs(max(sizes) - 1) < 1e-25  # dependent classes are told in rational arithmetic
            return bool(near and witness["below"] == bound and witness["undecided"] is not (decided or exact))
        case "spread_overlap":
            near = any(abs(e - witness["eigenvalue"]) <= witness["error"] for e in eigenvalues(list(P.values())))
            long = abs(witness["eigenvalue"]) + witness["error"] >= witness["least"] * (1 - 1e-15)
            return near and abs(witness["least"] * M**0.5 - 6) < 1e-12 and (long or not witness["undecided"])
        case "single_common":
            return bool(
                witness["common"] == len(shared) != 1
                and shared.issuperset(witness["tokens"])
                and len(set(witness["tokens"])) == min(len(shared), 10)
            )
        case "symmetric_classes":
            ranked = [sorted((P[n][token] for token in own[n]), reverse=True) for n in witness["classes"]]
            longest = max(map(len, ranked))
            padded = [[float(p) for p in r] + [0.0] * (longest - len(r)) for r in ranked]
            return witness["probabilities"] in [[p, q] for p, q in zip(*padded, strict=True) if p != q]
        case "shared_common":
            found = [float(P[n].get(witness["token"], 0)) for n in witness["classes"]]
            return witness["token"] in shared and found == witness["probabilities"] and found[0] != found[1]
        case "single_query":
            queries = [given[n]["query"] for n in witness["classes"]]
            return bool(queries == witness["queries"] and queries[0] != queries[1])
        case "distinct_beside_common":
            members = [n for n in P if given[n]["query"] == witness["query"]]
            met = any(witness["common"] in P[n] for n in members)
            return witness["common"] in shared and met and not any(own[n] for n in members)
        case "dominant_distinct":
            n, tokens = witness["class"], witness["tokens"]
            most = max(P[n][token] for token in own[n])
            return len(set(tokens)) == 2 and own[n] >= set(tokens) and all(P[n][token] == most for token in tokens)
        case "equal_overlaps":
            found = [float(squared_overlap(P[a], P[b])) ** 0.5 for a, b in witness["classes"]]
            close = all(abs(f - g) < 1e-12 for f, g in zip(found, witness["overlaps"], strict=True))
            return close and witness["overlaps"][0] < witness["overlaps"][1]
    raise ValueError(name)
