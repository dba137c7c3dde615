"""Random tiny datasets with odd settings: what an audit is given."""

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

EXAMPLE = [list(sentence) for sentence in ("SVOP", "VOP", "OPP", "PSV")]

LENGTHS = (0, 1, 2, 3, 7, 40, 150, 151, 299)
STEP_SIZES = (2.0, 5.0, 50.0, 4.9, 0.5, 1e17, 1e20)


@dataclass(frozen=True)
class Settings:
    """Options of an audit; None stands for the default."""

    steps1: int
    steps2: int | None
    lr1: float | None
    lr2: float | None
    at: tuple[int, ...] | None
    certify: int


def random_audit(seed: int) -> tuple[dict[str, Any], Settings]:
    """A dataset's document and settings."""
    rng = random.Random(seed)
    return random_document(rng), random_settings(rng)


def random_document(rng: random.Random) -> dict[str, Any]:
    if rng.random() < 0.03:
        return {"name": "oracle", "sentences": EXAMPLE}
    V = rng.choice((1, 2, 2, 3, 3, 3, 4, 4, 5, 6))
    tokens = [f"t{i}" for i in range(V)]
    following = tokens[:]
    rng.shuffle(following)
    n = dict(zip(tokens, following, strict=True))
    document: dict[str, Any] = {"name": "oracle", "vocabulary": tokens, "next_token": n}
    if rng.random() < 0.2:
        document["sentences"] = [_walk(rng, tokens, n, rng.randint(2, 6)) for _ in range(rng.randint(1, 4))]
    else:
        # winners under each query, so that no token is confused; now and then any token may win
        winners = {q: {x for x in tokens if rng.random() < 0.5} or {rng.choice(tokens)} for q in tokens}
        if rng.random() < 0.2:
            winners = {q: set(tokens) for q in tokens}
        document["samples"] = [_sample(rng, tokens, n, winners) for _ in range(rng.choice((1, 1, 2, 2, 3, 4, 6, 9)))]
        if rng.random() < 0.3:
            document["samples"] = _closed(document["samples"], n)
    _break(rng, document, tokens)
    if rng.random() < 0.45:
        document["embedding"] = random_embedding(rng, V)
    return document


def _walk(rng: random.Random, tokens: list[str], n: dict[str, str], length: int) -> list[str]:
    """A sentence whose every token is n of one before it."""
    sentence = [rng.choice(tokens)]
    while len(sentence) < length:
        sentence.append(n[rng.choice(sentence) if rng.random() < 0.9 else sentence[-1]])
    sentence[1] = n[sentence[0]]
    return sentence


def _sample(rng: random.Random, tokens: list[str], n: dict[str, str], winners: dict[str, set[str]]) -> dict[str, Any]:
    """A sentence with one of its query's winners in it, and where there are others, they are no winners."""
    q = rng.choice(tokens)
    winner = q if q in winners[q] and len(winners[q]) < len(tokens) else rng.choice(sorted(winners[q]))
    others = sorted(set(tokens) - winners[q]) or tokens
    sentence = [rng.choice([winner, *others]) for _ in range(rng.choice((0, 0, 1, 1, 2, 3, 5)))]
    if q != winner:
        sentence.insert(rng.randint(0, len(sentence)), winner)
    sentence.append(q)
    if rng.random() < 0.9:  # as Assumption 3 has it
        most = max((sentence.count(x) for x in sentence if x != winner), default=0)
        sentence = [winner] * max(0, most - sentence.count(winner)) + sentence
    sample: dict[str, Any] = {"tokens": sentence, "next": n[winner]}
    if rng.random() < 0.4:
        sample["count"] = rng.choice((2, 3, 10, 1000, 10**6, 10**9))
    return sample


def _closed(samples: list[dict[str, Any]], n: dict[str, str]) -> list[dict[str, Any]]:
    """Samples whose every prefix is one too, where the sentence allows it."""
    found = list(samples)
    for sample in samples:
        tokens = sample["tokens"]
        for i in range(1, len(tokens)):
            if tokens[i] in {n[x] for x in tokens[:i]}:
                found.append({"tokens": tokens[:i], "next": tokens[i]})
    return found


def _break(rng: random.Random, document: dict[str, Any], tokens: list[str]) -> None:
    """Now and then, break an assumption about samples."""
    if len(tokens) > 1 and rng.random() < 0.05:
        document["next_token"][rng.choice(tokens)] = rng.choice(tokens)
    if rng.random() < 0.04 and "samples" in document:
        rng.choice(document["samples"])["next"] = rng.choice(tokens)
    if rng.random() < 0.02:
        del document["next_token"][rng.choice(tokens)]
    # no explicit n(x), and no other sample [x] -> z, against a sample [x] -> y: that is an input error
    alone = [sample for sample in document.get("samples", []) if len(sample["tokens"]) == 1]
    single = {sample["tokens"][0]: sample["next"] for sample in alone}
    for sample in alone:
        sample["next"] = single[sample["tokens"][0]]
    single |= {s[0]: s[1] for s in document.get("sentences", [])}
    for x, y in document["next_token"].items():
        if single.get(x, y) != y:
            document["next_token"][x] = single[x]


def random_embedding(rng: random.Random, V: int) -> list[list[float]]:
    """One-hot, rotated, nearly orthonormal or not orthonormal at all."""
    kind = rng.choice(("one-hot", "rotated", "rotated", "scaled", "noisy", "noisy", "free"))
    d = V + rng.choice((0, 0, 1))
    identity: np.ndarray[Any, Any] = np.eye(V, d)
    if kind == "one-hot":
        return identity.tolist()  # type: ignore[no-any-return]
    generator = np.random.default_rng(rng.getrandbits(64))
    if kind == "free":
        return generator.integers(-2, 3, size=(V, d)).astype(float).tolist()  # type: ignore[no-any-return]
    rotation, _ = np.linalg.qr(generator.standard_normal((d, d)))
    found = rotation[:V]
    off = 10.0 ** rng.uniform(-13.5, -11.8)
    if kind == "scaled":
        found = identity * (1 + off / 2)
    if kind == "noisy":
        found = found + off * generator.uniform(-0.5, 0.5, size=found.shape)
    return found.tolist()  # type: ignore[no-any-return]


def random_settings(rng: random.Random) -> Settings:
    steps1 = rng.choice((*LENGTHS, 900, 900, 900, 900))
    steps2 = rng.choice((*LENGTHS, 900, 2000, 20_000, None, None, None))
    at = None
    if rng.random() < 0.3:
        last = 10**6 if steps2 is None else steps2
        at = tuple(
            sorted(
                {rng.randint(0, max(1, min(10 ** rng.randint(0, 6), last, 10**6))) for _ in range(rng.randint(1, 5))}
            )
        )
        at = tuple(t for t in at if t <= max(steps1, last)) or (0,)
    lr1, lr2 = random_step_size(rng), random_step_size(rng)
    certify = rng.choice((0, 0, 1, 7, 60))
    return Settings(steps1, steps2, lr1, lr2, at, certify)


def random_step_size(rng: random.Random) -> float | None:
    kind = rng.random()
    if kind < 0.25:
        return None
    if kind < 0.45:
        return rng.choice(STEP_SIZES)
    exponent = rng.uniform(-3, 1.5) if kind < 0.75 else rng.uniform(-8, 17)
    return float(10.0**exponent)
