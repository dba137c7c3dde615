"""Random sequence classes with odd settings: what an audit of the second paper is given."""

import math
import random
from dataclasses import dataclass
from typing import Any

RATES = (0.5, 0.5, 1.0, 4.0, 4.000001, 30.0, 499.9, 500.0, 500.1, 1e17, 1e-100, 1e100)

LENGTHS = (0, 1, 2, 5, 40, 1000, 10**6, 10**12, 10**18, 10**18)

VOCABULARIES = (0, 0, 1, 2, 10, 100, 1000, 10**4, 10**6, 10**9)
"""Tokens beside those that are named."""

NAMES = tuple("abcdefghijklmnopqrstuvwxyz")

Weights = dict[str, float]


@dataclass(frozen=True)
class Settings:
    """Options of an audit."""

    lr_y: float
    lr_z: float
    steps: int
    at: tuple[int, ...] | None
    seeds: int
    seed: int


def random_audit(seed: int) -> tuple[dict[str, Any], Settings]:
    """A dataset's document and settings."""
    rng = random.Random(f"snap {seed}")
    return random_document(rng), random_settings(rng)


def random_document(rng: random.Random) -> dict[str, Any]:
    make = rng.choices((anything, meeting, broken, degenerate), (3, 4, 2, 1))[0]
    return make(rng)


def anything(rng: random.Random) -> dict[str, Any]:
    """Classes of any structure."""
    K, tokens = rng.choice((1, 2, 2, 2, 3, 3, 4, 5, 6, 12)), rng.choice((1, 2, 3, 3, 4, 5, 6, 8))
    names = NAMES[:tokens]
    queries = NAMES[: rng.randint(1, K)]
    weigh = rng.choice((lambda: 1.0, lambda: float(rng.randint(1, 9)), rng.random, lambda: 10.0 ** rng.uniform(-9, 0)))
    listed = []
    for n in range(K):
        row = {l: weigh() for l in rng.sample(names, rng.randint(1, tokens))}  # noqa: E741
        if len(row) > 1 and rng.random() < 0.2:
            row[next(iter(row))] = 1e-9 * sum(row.values())
        listed.append((NAMES[n], rng.choice(queries), row))
    return frequent(rng, document(listed, named(listed) + rng.choice(VOCABULARIES)))


def meeting(rng: random.Random) -> dict[str, Any]:
    """Classes that meet Assumption 2, or miss it by little; overlaps are often at an end of what it leaves."""
    squares, M, queries = assumption_2(rng)
    found = of_squares(squares, M, queries)
    return frequent(rng, found) if rng.random() < 0.15 else found


def assumption_2(rng: random.Random) -> tuple[list[Weights], int, int]:
    """Squares of the entries of each f_n, M and the number of queries; all overlaps one e, or a pair of classes' own.

    With one e the eigenvalues of E are (K-1) e and -e, so that e is between 6/sqrt(M) and 1/(K (K-1)).
    """
    K = rng.choice((2, 2, 2, 3, 3, 4))
    fewest = 36 * (K * (K - 1)) ** 2
    M = min(10**9, math.ceil(fewest * 10.0 ** rng.choice((rng.uniform(0.01, 1), rng.uniform(1, 6)))))
    least, most = 6 / math.sqrt(M), 1 / (K * (K - 1))
    e = least * (most / least) ** rng.random()
    if rng.random() < 0.4:
        off = rng.choice((-1, 1)) * 10.0 ** rng.uniform(-16, -1)
        e = rng.choice((least, most)) * (1 + off)
    structure = rng.choice(("one", "one", "several", "uneven", "pairs", "slanted"))
    shared = {"c": e}
    if structure == "several":
        parts = [rng.uniform(0.2, 1) for _ in range(rng.randint(2, 3))]
        shared = {f"c{i}": e * part / sum(parts) for i, part in enumerate(parts)}
    squares = []
    parts = own_parts(rng)
    for n in range(K):
        factor = rng.uniform(0.8, 1.2) if structure == "uneven" else 1.0
        taken = {l: factor * x for l, x in shared.items()}  # noqa: E741
        if structure == "pairs":  # that share nothing, so that E' is 0 between them
            taken = {f"c{n // 2}": e}
        if structure == "slanted":  # a token that is nearly distinct, of the first class, and gains at first
            taken["g"] = 0.3 if n == 0 else (0.1 * e) ** 2
        if rng.random() < 0.5 and structure != "several":
            parts = own_parts(rng)
        left = 1 - sum(taken.values())
        squares.append(taken | {f"d{n}.{i}": left * part for i, part in enumerate(parts)})
    return squares, M, rng.choice((1, 1, 1, rng.randint(1, K)))


def own_parts(rng: random.Random) -> list[float]:
    parts = [rng.choice((rng.uniform(0.2, 1), 1.0, 10.0 ** rng.uniform(-18, 0))) for _ in range(rng.randint(1, 3))]
    return [part / sum(parts) for part in parts]


def broken(rng: random.Random) -> dict[str, Any]:
    """Classes near Assumption 2 with one thing changed by hand."""
    squares, M, queries = assumption_2(rng)
    K = len(squares)
    change = rng.choice(("M", "M", "tied", "bare", "same", "query", "skewed", "frequency", "unshared"))
    if change == "M":
        M = max(rng.choice((999, 1000, 10 * K**2 - 1, 10 * K**2, 36 * K**2, 4, 5)), K + sum(map(len, squares)) + K)
    if change == "tied":
        squares = [own | {f"d{n}.t": own[f"d{n}.0"]} for n, own in enumerate(squares)]
    if change == "bare":
        squares[0] = {l: x for l, x in squares[0].items() if not l.startswith("d")}  # noqa: E741
    if change == "same":
        squares[1] = dict(squares[0])
    if change == "query":
        queries = K
    if change == "skewed":
        first = next(iter(squares[0]))
        squares[0][first] *= 1 + rng.choice((-1, 1)) * 10.0 ** rng.uniform(-16, -1)
    if change == "unshared":
        squares[-1] = {l: x for l, x in squares[-1].items() if not l.startswith("c")} or {"d": 1.0}  # noqa: E741
    found = of_squares(squares, M, queries)
    if change == "frequency":
        for n, c in enumerate(found["classes"]):
            c["frequency"] = 2.0 if n == 0 else 1.0
    return found


def degenerate(rng: random.Random) -> dict[str, Any]:
    """Classes at the end of what a dataset can be."""
    kind = rng.choice(("single", "same", "pairs", "apart", "few", "many", "huge", "tiny"))
    K = 1 if kind == "single" else rng.choice((2, 3, 4))
    rows: list[Weights] = [{"a": 1.0, "b": rng.choice((1.0, 1e-9))} for _ in range(K)]
    more = rng.choice(VOCABULARIES)
    if kind == "pairs":
        rows = [{NAMES[n // 2]: 1.0} for n in range(K)]
    if kind == "apart":
        rows = [{NAMES[n]: 1.0} for n in range(K)]
    if kind == "few":
        rows, more = [{rng.choice(NAMES[:2]): 1.0} for _ in range(K)], 0
    if kind == "many":
        rows = [{NAMES[n % 20]: 1.0, NAMES[(7 * n + 1) % 20]: 0.5, "c": 0.01} for n in range(24)]
    if kind == "tiny":
        rows = [{"c": 10.0 ** -rng.choice((9, 150, 300)), NAMES[n + 3]: 1.0} for n in range(K)]
    listed = [(NAMES[n], rng.choice(NAMES[: rng.randint(1, 3)]), row) for n, row in enumerate(rows)]
    M = 2**53 if kind == "huge" else named(listed) + more
    return frequent(rng, document(listed, M))


def of_squares(squares: list[Weights], M: int, queries: int) -> dict[str, Any]:
    """P(l|n) is f_n divided by its sum."""
    listed = [
        (f"n{n}", f"q{n % queries}", {l: math.sqrt(max(x, 0.0)) for l, x in own.items()})  # noqa: E741
        for n, own in enumerate(squares)
    ]
    return document(listed, max(M, named(listed)))


def named(listed: list[tuple[str, str, Weights]]) -> int:
    contextual = {l for _, _, row in listed for l in row}  # noqa: E741
    return len(contextual | {q for _, q, _ in listed} | {n for n, _, _ in listed})


def document(listed: list[tuple[str, str, Weights]], M: int) -> dict[str, Any]:
    classes = []
    for following, query, row in listed:
        total = math.fsum(row.values())
        classes.append(
            {"next": following, "query": query, "probabilities": {l: x / total for l, x in row.items()}}  # noqa: E741
        )
    return {"name": "oracle", "M": M, "classes": classes}


def frequent(rng: random.Random, found: dict[str, Any]) -> dict[str, Any]:
    """Now and then with frequencies: equal ones, nearly equal ones, and others."""
    if rng.random() < 0.25:
        draw = rng.choice(
            (
                lambda: 3.0,
                lambda: rng.choice((1.0, 1.0 + 2.0**-52)),
                lambda: float(rng.randint(1, 3)),
                lambda: 10.0 ** rng.uniform(-6, 6),
                lambda: rng.choice((1e-50, 1.0, 1e50)),
            )
        )
        for c in found["classes"]:
            c["frequency"] = draw()
    return found


def random_settings(rng: random.Random) -> Settings:
    steps = rng.choice(LENGTHS) if rng.random() < 0.7 else int(10 ** rng.uniform(0, 18))
    at = None
    if rng.random() < 0.6:
        at = tuple(sorted({round(steps ** rng.random()) if steps else 0 for _ in range(rng.randint(1, 6))} | {steps}))
    seeds, seed = rng.choice((1, 2, 3, 20, 100)), rng.randint(0, 99)
    return Settings(random_rate(rng), random_rate(rng), steps, at, seeds, seed)


def random_rate(rng: random.Random) -> float:
    kind = rng.random()
    if kind < 0.35:
        return rng.choice((0.5, 0.5, 0.05, *RATES))
    if kind < 0.7:
        return float(10.0 ** rng.uniform(-3, 0))
    return float(10.0 ** rng.choice((rng.uniform(-12, 0), rng.uniform(0, 3), rng.uniform(-100, 100))))
