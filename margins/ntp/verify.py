"""Check a certificate of the two hard-margin solutions; standard library only.

Usage: python verify.py DATASET CERTIFICATE
Exit status: 0 confirmed; 1 refused; 2 an unreadable file, or no dataset or certificate; 70 an internal error.

Deliberately self-contained: it reads the dataset and the certificate, derives the constraints of
eq. 2 and eq. 3 of arXiv 2409.17335 from the dataset, and confirms in rational arithmetic that

* the weights W satisfy every constraint,
* the multipliers are nonnegative and belong to constraints,
* ||W||^2 = 2 sum(multipliers) - ||A^T multipliers||^2 = the stated norm, for the rows A of the constraints,

which by weak duality proves W optimal; or, for an infeasible problem, that the stated cycle is one. Where the
certificate states that Proposition 2's closed form holds or fails for a query, W is compared with the form, and a
failure needs a set S of optimal tokens with |N(S)| k < |S| m. Tokens are taken as orthonormal, and an embedding that is
not (within 1e-12) is refused, except for a cycle or without constraints, where it does not matter.

A rational is "p/q" in lowest terms, in ASCII digits without leading zeros, at most 4000 each. Denominators of weights
and multipliers are at most the number V of tokens, which suffices, as their values come from tokens connected by tight
constraints. So all sums stay short.

A dataset is as in README.md and `marginaudit.orders.read_dataset`, but counts and entries beyond float64 are accepted,
as no constraint depends on them. A line of a text dataset ends with LF, CR LF or CR; any other Unicode white space
separates its tokens.
"""

import json
import re
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from io import StringIO, TextIOWrapper
from math import gcd
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

FORMAT = "marginaudit-certificate-1"
ORTHONORMAL_TOLERANCE = Fraction(1, 10**12)
RATIONAL = re.compile("(0|-?[1-9][0-9]{0,3999})/([1-9][0-9]{0,3999})")
LONGEST_SHOWN = 60
ZERO = Fraction(0)

Sample: TypeAlias = tuple[tuple[str, ...], str]
Edge: TypeAlias = tuple[str, str]
Relations: TypeAlias = dict[str, set[Edge]]
Weights: TypeAlias = dict[tuple[str, str], Fraction]
Read = TypeVar("Read")


class Refused(Exception):  # noqa: N818
    """The certificate does not prove its statement; the message names the place."""


class Unreadable(ValueError):  # noqa: N818
    """No dataset or no certificate; place (file, JSON pointer or line), value and expectation."""

    def __init__(self, where: str, *, got: str, expected: str) -> None:
        super().__init__(f"{where}: got {got}, expected {expected}")
        self.where, self.got, self.expected = where, got, expected


class StatedDataset(NamedTuple):
    """The parts of a dataset that matter to the constraints; ``n`` as stated by the file, besides the samples."""

    vocabulary: set[str]
    samples: set[Sample]
    n: dict[str, str]
    embedding: list[list[float]]


def verify(dataset: str | Path, certificate: str | Path) -> list[str]:
    """One line per confirmed problem; `Refused` or `Unreadable` otherwise."""
    data, stated = read(dataset, read_dataset), read(certificate, read_certificate)
    n = collocation(data)
    V, required = len(data.vocabulary), relations(data.samples, n)
    ov, kq, lines, supposed = stated.get("ov"), stated.get("kq"), [], False
    if ov is not None:
        lines, supposed = [verify_ov(ov, V)], V > 1
    if kq is not None and kq["status"] == "infeasible":
        lines.append(verify_cycle(kq, required))
    elif kq is not None:
        lines.append(verify_kq(kq, V, required))
        supposed |= bool(required)
    deviation = float(orthonormal_within(data.embedding)) if supposed else 0
    note = f"for orthonormal tokens; the embedding's Gram matrix is within about {deviation:.3g} of I"
    return [*lines, note] if deviation else lines


def verify_ov(stated: dict[str, Any], V: int) -> str:
    """Verify W*_ov: one value on the entries (n(x), x), one on the others, one multiplier."""
    next_token, elsewhere, multiplier = (stated[name] for name in ("at_next_token", "elsewhere", "multiplier"))
    norm_squared, others = stated["norm_squared"], V - 1
    for value in (next_token, elsewhere, multiplier):
        demand(value.denominator <= V, "ov: a denominator is above the number of tokens")
    demand(V == 1 or next_token - elsewhere >= 1, "ov: a constraint is violated")
    demand(multiplier >= 0, "ov: a multiplier is negative")
    primal = V * (next_token**2 + others * elsewhere**2)
    dual = V * (2 * others * multiplier - (others * multiplier) ** 2 - others * multiplier**2)
    demand(primal == norm_squared, f"ov: ||W||^2 is {shown(primal)}, stated {shown(norm_squared)}")
    demand(dual == norm_squared, f"ov: the dual objective is {shown(dual)}, stated {shown(norm_squared)}")
    return f"ov: optimal, ||W*||^2 = {norm_squared}"


def verify_cycle(stated: dict[str, Any], required: Relations) -> str:
    """Verify infeasibility of W_kq: the constraints along a cycle add up to 0 >= their number."""
    query, cycle = stated["query"], stated["cycle"]
    demand(cycle != [], "kq: the cycle is empty")
    for winner, loser in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
        beats = (winner, loser) in required.get(query, ())
        demand(beats, f"kq: under {query!r}, {winner!r} does not beat {loser!r}")
    return f"kq: infeasible, a cycle of {len(cycle)} tokens under query {query!r}"


def verify_kq(stated: dict[str, Any], V: int, required: Relations) -> str:
    """Verify the weights and multipliers of W*_kq."""
    weight = {(q, x): value for q, column in stated["weights"].items() for x, value in column.items()}
    pulled = {(q, x): ZERO for q, edges in required.items() for edge in edges for x in edge}
    for (q, x), value in weight.items():
        demand((q, x) in pulled, f"kq: under {q!r}, the weight of {x!r} is in no constraint")
        demand(value.denominator <= V, f"kq: under {q!r}, the weight of {x!r} has a denominator above V")
    for q, edges in required.items():
        for winner, loser in sorted(edges):
            room = weight.get((q, winner), ZERO) - weight.get((q, loser), ZERO)
            demand(room >= 1, f"kq: under {q!r}, {winner!r} beats {loser!r} by {shown(room)}, not by 1")
    total, seen = ZERO, set()
    for q, winner, loser, value in ((q, *row) for q, rows in stated["multipliers"].items() for row in rows):
        where = f"kq: under {q!r}, the multiplier of {winner!r} above {loser!r}"
        demand((winner, loser) in required.get(q, ()), f"{where} is of no constraint")
        demand((q, winner, loser) not in seen, f"{where} is stated twice")
        demand(value >= 0, f"{where} is negative")
        demand(value.denominator <= V, f"{where} has a denominator above V")
        seen.add((q, winner, loser))
        total += value
        pulled[q, winner] += value
        pulled[q, loser] -= value
    norm_squared = stated["norm_squared"]
    primal = sum((value**2 for value in weight.values()), ZERO)
    dual = 2 * total - sum((value**2 for value in pulled.values()), ZERO)
    demand(primal == norm_squared, f"kq: ||W||^2 is {shown(primal)}, stated {shown(norm_squared)}")
    demand(dual == norm_squared, f"kq: the dual objective is {shown(dual)}, stated {shown(norm_squared)}")
    forms = stated.get("closed_form", {}).items()
    failing = [q for q, form in forms if not closed_form_holds(q, form, weight, required.get(q, set()))]
    counterexample = f"; Proposition 2's closed form fails under {failing}" if failing else ""
    constraints = sum(map(len, required.values()))
    return f"kq: optimal, ||W*||^2 = {norm_squared}, {constraints} constraint{'s' * (constraints != 1)}{counterexample}"


def closed_form_holds(query: str, form: dict[str, Any], weight: Weights, edges: set[Edge]) -> bool:
    """Verify the certificate's statement on Proposition 2's closed form under the query; return whether it holds."""
    winners, losers = {winner for winner, _ in edges}, {loser for _, loser in edges}
    demand(bool(edges) and not winners & losers, f"kq: under {query!r} the closed form does not apply")
    k, m = len(winners), len(losers)
    expected = dict.fromkeys(winners, Fraction(m, k + m)) | dict.fromkeys(losers, Fraction(-k, k + m))
    equal = all(weight.get((query, x), ZERO) == value for x, value in expected.items())
    demand(equal == form["holds"], f"kq: under {query!r} the closed form {'holds' if equal else 'fails'}")
    S = set(form["S"])
    demand(not (equal and S), f"kq: under {query!r} the closed form holds, yet a set S against it is stated")
    demand(S.issubset(winners), f"kq: under {query!r}, S holds other tokens than optimal ones")
    beaten = {loser for winner, loser in edges if winner in S}
    demand(equal or len(beaten) * k < len(S) * m, f"kq: under {query!r}, S does not violate |N(S)| k >= |S| m")
    return equal


def orthonormal_within(embedding: list[list[float]]) -> Fraction:
    """Largest entry of |Gram matrix - I|; refuses an embedding above the tolerance."""
    ratios = [[value.as_integer_ratio() for value in row] for row in embedding]
    scale = max((denominator for row in ratios for _, denominator in row), default=1)  # all are powers of 2
    rows = [[numerator * (scale // denominator) for numerator, denominator in row] for row in ratios]
    entries = (
        sum(map(mul, left, right)) - (i == j) * scale**2
        for i, left in enumerate(rows)
        for j, right in enumerate(rows[: i + 1])
    )
    deviation = Fraction(max(map(abs, entries), default=0), scale**2)
    demand(deviation <= ORTHONORMAL_TOLERANCE, "the embedding is not orthonormal")
    return deviation


def collocation(data: StatedDataset) -> dict[str, str]:
    """n on the whole vocabulary, as a function."""
    n = dict(data.n)
    for tokens, following in sorted(data.samples):
        if len(tokens) == 1:
            demand(n.setdefault(tokens[0], following) == following, f"two next tokens of {tokens[0]!r}")
    demand(set(n) == data.vocabulary, "n is not a function on the whole vocabulary")
    return n


def relations(samples: set[Sample], n: dict[str, str]) -> Relations:
    """Every (winner, loser) of Definition 1, by query."""
    found: Relations = {}
    for tokens, following in samples:
        winners = {x for x in tokens if n[x] == following}
        edges = {(winner, loser) for winner in winners for loser in set(tokens) - winners}
        if edges:
            found.setdefault(tokens[-1], set()).update(edges)
    return found


def read_certificate(path: Path) -> dict[str, Any]:
    """Read the certificate, with rationals as fractions."""
    document: dict[str, Any] = matched(parsed(path), CERTIFICATE, "")
    expect("ov" in document or "kq" in document, "", document, "the key 'ov' or 'kq'")
    return document


def read_dataset(path: Path) -> StatedDataset:
    """Read the dataset of a .json or .txt file."""
    suffix = path.suffix.lower()
    expect(suffix in (".json", ".txt"), "", suffix, "the ending .json or .txt")
    document: dict[str, Any] = {} if suffix == ".txt" else matched(parsed(path), DATASET, "")
    sentences = {f"/sentences/{i}": words for i, words in enumerate(document.get("sentences", []))}
    if suffix == ".txt":
        lines = enumerate(StringIO(decoded(path), newline=None), start=1)
        sentences = {f"line {i}": words for i, line in lines if (words := line.split()) and words[0][0] != "#"}

    samples: list[tuple[str, Sample]] = []
    for where, words in sentences.items():
        expect(len(words) >= 2, where, words, "at least 2 tokens")
        samples += [(where, (tuple(words[:end]), words[end])) for end in range(1, len(words))]
    for i, sample in enumerate(document.get("samples", [])):
        expect(sample["tokens"] != [], f"/samples/{i}/tokens", [], "at least one token")
        samples.append((f"/samples/{i}", (tuple(sample["tokens"]), sample["next"])))
    expect(samples != [], "", document, "a sentence or a sample")

    n = document.get("next_token", {})
    used = [(where, x) for where, (tokens, following) in samples for x in (*tokens, following)]
    used += [(below("/next_token", x), token) for x, y in n.items() for token in (x, y)]
    vocabulary: set[str] = set()
    for i, x in enumerate(document.get("vocabulary", {x for _, x in used})):
        expect(x not in vocabulary, f"/vocabulary/{i}", x, "each token once")
        vocabulary.add(x)
    for where, x in used:
        expect(x in vocabulary, where, x, "a token of the vocabulary")
    for where, (tokens, following) in samples:
        stated = n.get(tokens[0], following) if len(tokens) == 1 else following
        expect(stated == following, where, following, f"{stated!r} after {tokens[0]!r}, as in next_token")

    embedding = document.get("embedding")
    if embedding is not None:
        expect(len(embedding) == len(vocabulary), "/embedding", len(embedding), f"{len(vocabulary)}, one row per token")
        for i, row in enumerate(embedding):
            expect(0 < len(row) == len(embedding[0]), f"/embedding/{i}", row, "as many numbers as in row 0, at least 1")
    return StatedDataset(vocabulary, {sample for _, sample in samples}, n, embedding or [])


def read(path: str | Path, reader: Callable[[Path], Read]) -> Read:
    """Read the file; errors name it."""
    try:
        return reader(Path(path))
    except Unreadable as error:
        where, got, expected = f"{path}: {error.where}" if error.where else str(path), error.got, error.expected
    except OSError as error:
        where, got, expected = str(path), error.strerror or "no file", "a file that can be read"
    except RecursionError:
        where, got, expected = str(path), "JSON nested too deeply", "a dataset and its certificate"
    except ValueError as error:  # no JSON, no UTF-8, a path with a zero byte, an integer of thousands of digits
        where, got, expected = str(path), str(error), "JSON in UTF-8 (a dataset may be text)"
    raise Unreadable(where, got=got, expected=expected)


def decoded(path: Path) -> str:
    """UTF-8 text of a regular file, without a byte order mark."""
    if path.exists() and not path.is_file():
        raise Unreadable("", got="no regular file", expected="one")
    return path.read_bytes().decode("utf-8-sig")


@dataclass(frozen=True)
class Repeated:
    """Placeholder for a JSON object with a repeated key."""

    key: str


def parsed(path: Path) -> Any:
    """Parse JSON, with `Repeated` for an object with a repeated key."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any] | Repeated:
        times = Counter(key for key, _ in pairs)
        return dict(pairs) if len(times) == len(pairs) else Repeated(times.most_common()[0][0])

    return json.loads(decoded(path), object_pairs_hook=once)


class ScalarKind(NamedTuple):
    """A kind of JSON scalar: name, test and conversion."""

    name: str
    accepts: Callable[[Any], bool]
    convert: Callable[[Any], Any] = lambda value: value


def is_text(value: Any) -> bool:
    """Whether the value is a string that UTF-8 can encode; JSON allows lone surrogates."""
    return isinstance(value, str) and not any("\ud800" <= c <= "\udfff" for c in value)


def is_rational(value: Any) -> bool:
    """Whether the value is "p/q" in lowest terms; the form is matched before conversion."""
    match = RATIONAL.fullmatch(value) if isinstance(value, str) else None
    return match is not None and gcd(*map(int, match.groups())) == 1


def kq_shape(value: Any) -> Any:
    """The shape of W*_kq, or of a cycle."""
    return CYCLE if isinstance(value, dict) and value.get("status") == "infeasible" else OPTIMAL


TEXT = ScalarKind("a string that UTF-8 can encode", is_text)
NAME = ScalarKind("a string that is not empty", lambda value: is_text(value) and value != "")
FLAG = ScalarKind("a boolean", lambda value: isinstance(value, bool))
COUNT = ScalarKind("a positive integer", lambda value: type(value) is int and value > 0)
FINITE = ScalarKind(
    "a finite number", lambda value: type(value) in (int, float) and abs(value) <= sys.float_info.max, float
)
NUMBER = ScalarKind('a rational "p/q" in lowest terms, of at most 4000 digits each', is_rational, Fraction)
STATUS = ScalarKind("'optimal'", lambda value: value == "optimal")

CYCLE = {"status": TEXT, "query": TEXT, "cycle": [TEXT]}
OPTIMAL = {
    "status": ScalarKind("'optimal' or 'infeasible'", lambda value: value == "optimal"),
    "norm_squared": NUMBER,
    "weights": {TEXT: {TEXT: NUMBER}},
    "multipliers": {TEXT: [(TEXT, TEXT, NUMBER)]},
    "closed_form?": {TEXT: {"holds": FLAG, "S": [TEXT]}},
}
CERTIFICATE = {
    "format": ScalarKind(repr(FORMAT), lambda value: value == FORMAT),
    "dataset?": TEXT,
    "ov?": dict.fromkeys(("norm_squared", "at_next_token", "elsewhere", "multiplier"), NUMBER) | {"status": STATUS},
    "kq?": kq_shape,
}
DATASET = {
    "name?": NAME,
    "vocabulary?": [TEXT],
    "sentences?": [[TEXT]],
    "samples?": [{"tokens": [TEXT], "next": TEXT, "count?": COUNT}],
    "next_token?": {TEXT: TEXT},
    "embedding?": [[FINITE]],
}


def matched(value: Any, shape: Any, where: str) -> Any:
    """Convert a value according to its shape.

    A shape is a `ScalarKind`; [shape] for an array; a tuple of shapes for an array of that length; {key: shape} for an
    object, with "?" after an optional key; {TEXT: shape} for any keys; or a function that chooses a shape.
    """
    if isinstance(value, Repeated):
        raise Unreadable(below(where, value.key), got="this key more than once in one object", expected="once")
    if isinstance(shape, ScalarKind):
        expect(shape.accepts(value), where, value, shape.name)
        return shape.convert(value)
    if isinstance(shape, list | tuple):
        expect(isinstance(value, list), where, value, "an array")
        shapes = shape * len(value) if isinstance(shape, list) else shape
        expect(len(value) == len(shapes), where, value, f"an array of {len(shapes)}")
        return [matched(inner, shapes[i], f"{where}/{i}") for i, inner in enumerate(value)]
    if not isinstance(shape, dict):
        return matched(value, shape(value), where)
    expect(isinstance(value, dict), where, value, "an object")
    members = dict.fromkeys(value, shape[TEXT]) if TEXT in shape else {k.rstrip("?"): shape[k] for k in shape}
    for key in shape:
        expect(key == TEXT or key in value or key.endswith("?"), where, value, f"the key {key!r}")
    for key in value:
        expect(key in members and is_text(key), below(where, key), value[key], f"no key but {', '.join(members)}")
    return {key: matched(inner, members[key], below(where, key)) for key, inner in value.items()}


def below(where: str, key: str) -> str:
    """The JSON pointer of a member."""
    return where + "/" + key.replace("~", "~0").replace("/", "~1")


def expect(condition: bool, where: str, got: Any, expected: str) -> None:
    """Raise `Unreadable` unless the condition holds."""
    if not condition:
        raise Unreadable(where, got=shown(got), expected=expected)


def demand(condition: bool, otherwise: str) -> None:
    """Raise `Refused` unless the condition holds."""
    if not condition:
        raise Refused(otherwise)


def shown(value: Any) -> str:
    """The value on one line, cut to the length of a message."""
    try:
        text = str(value) if isinstance(value, Fraction) else repr(value)
    except ValueError:  # an integer of more digits than Python prints
        return "a number of thousands of digits"
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + " .."


def printable(text: str) -> str:
    """The text with escapes for control and invisible characters."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def main(arguments: list[str]) -> int:
    """Return the exit status: 0 confirmed; 1 refused; 2 no dataset or certificate; 70 internal error."""
    if len(arguments) != 2:
        print("usage: verify.py DATASET CERTIFICATE", file=sys.stderr)
        return 2
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        print("\n".join(verify(*arguments)))
    except Refused as reason:
        print(printable(f"refused: {reason}"), file=sys.stderr)
        return 1
    except Unreadable as error:
        print(printable(str(error)), file=sys.stderr)
        return 2
    except Exception as error:  # its exit status would be 1, that of a refused certificate
        print("\n".join(map(printable, traceback.format_exc().splitlines())), file=sys.stderr)
        print(f"internal error: {type(error).__name__}; neither confirmed nor refused", file=sys.stderr)
        return 70
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
