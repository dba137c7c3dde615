"""Maps from the tensors of a file to the weights of an algorithm, such as ``W_kq = k.weight.T @ q.weight``."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from marginaudit.orders import InputError, shown, shown_path
from marginaudit.orders.files import file_content
from marginaudit.training.weight_files.expressions import Parsed, parse, total
from marginaudit.training.weight_files.tensors import Tensor

RULE = re.compile(r"\s*([A-Za-z_]\w*)(?:\[(\d{1,6})\])?\s*=(?!=)(.*)", re.DOTALL)

SUMMED = "W_ov"
"""The matrix whose sum over heads a paper trains: in a sample of one token every head attends to it."""

ONE_RULE = re.compile(r'(?:[^;"]|"[^"]*(?:"|$))+')
"""A part of a line up to a semicolon that is not in a name in double quotes."""

EXAMPLE = 'a rule such as "W_kq = k.weight.T @ q.weight"'

KEY = re.compile(r"(?:^|[._])(?:w_?k|k|key|k_proj|to_k|k_lin|keys)(?=[._]|$)", re.IGNORECASE)
"""Usual names of the key's matrix; those of the query and of the value are as long."""

FUSED = re.compile(r"(?:^|[._])(?:c_attn|in_proj|in_proj_weight|qkv|qkv_proj|query_key_value|to_qkv|Wqkv)(?=[._]|$)")
"""Usual names of one matrix of queries, keys and values, in this order."""

EMBEDDING = re.compile(r"(?:^|[._])(?:wte|embed\w*|tok_emb\w*|emb|word_embeddings|token_emb\w*)(?=[._]|$)")

HEAD = re.compile(r"(?:^|[._])(?:lm_head|head|unembed\w*|output|decoder|embed_out|fc_out)(?=[._]|$)")


@dataclass(frozen=True, eq=False)
class Rule:
    """How one matrix, or that of one head, is computed from a file's tensors."""

    target: str
    head: int | None
    where: str
    text: str
    parsed: Parsed


def split_rules(line: str) -> list[str]:
    """The rules of a line, which semicolons separate; [] for a comment.

    >>> split_rules('W_kq = "a;b" ; W_ov = c;'), split_rules("# a; b")
    (['W_kq = "a;b"', 'W_ov = c'], [])
    """
    if line.lstrip().startswith("#"):
        return []
    return [rule.strip() for rule in ONE_RULE.findall(line) if rule.strip()]


def parse_map(where: str, lines: Sequence[str], targets: Sequence[str]) -> tuple[Rule, ...]:
    """Parse rules ``NAME = EXPRESSION`` or ``NAME[HEAD] = EXPRESSION``, one a line or separated by ``;``.

    Raises
    ------
    InputError
        A line is no rule of a target, or a target has two.
    """
    found: dict[tuple[str, int | None], Rule] = {}
    for place, text in _placed(where, lines):
        match = RULE.fullmatch(text)
        if match is None or match[1] not in targets:
            got = shown(match[1] if match else text)
            raise InputError(place, got=got, expected=f"{EXAMPLE}, of {' or '.join(targets)}")
        target, head = match[1], None if match[2] is None else int(match[2])
        if (target, head) in found:
            raise InputError(place, got=f"two rules of {target}", expected="one of each")
        found[target, head] = Rule(target, head, place, text, parse(place, match[3]))
    if not found:
        raise InputError(where, got="no rule", expected=EXAMPLE)
    return tuple(found.values())


def _placed(where: str, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each rule and its place in errors: the line of a file, and the matrix if other rules share the place."""
    split = [split_rules(line) for line in lines]
    of_option = where.startswith("--")
    for number, rules in enumerate(split, 1):
        place = where if of_option else f"{where}:{number}"
        several = sum(map(len, split)) > 1 if of_option else len(rules) > 1
        for text in rules:
            target = text.partition("=")[0].strip()
            yield (f"{place}: {target}" if several and RULE.fullmatch(text) else place), text


def quantities(lines: Sequence[str]) -> list[str]:
    """What runs a map makes of its heads: ``W_kq[0]``, .. and, of several W_ov, their sum; [""] without heads.

    >>> quantities(["W_kq[0] = a", "W_kq[1] = b", "W_ov[0] = c", "W_ov[1] = d"]), quantities(["W_kq = a"])
    (['W_kq[0]', 'W_kq[1]', 'W_ov'], [''])
    """
    named = [match for line in lines if (match := RULE.fullmatch(line)) and match[2] is not None]
    heads = dict.fromkeys(f"{one[1]}[{int(one[2])}]" for one in named if one[1] != SUMMED)
    return [*heads, *dict.fromkeys(one[1] for one in named if one[1] == SUMMED)] or [""]


def rules_of(quantity: str, rules: Sequence[Rule]) -> list[Rule]:
    """The rules of a head's run: its own, those of no head, and W_ov's sum in the run of that.

    Raises
    ------
    InputError
        No head is chosen of several.
    """
    if quantity == SUMMED:
        terms = [rule for rule in rules if rule.target == SUMMED]
        text = f"{SUMMED} = {' + '.join(rule.text.partition('=')[2].strip() for rule in terms)}"
        return [replace(terms[0], head=None, text=text, parsed=total(terms[0].where, [one.parsed for one in terms]))]
    head = int(quantity.partition("[")[2][:-1]) if quantity else None
    if head is None and any(rule.head is not None for rule in rules):
        raise InputError(rules[0].where, got="rules of heads", expected="rules of one run, without [..]")
    own = [rule for rule in rules if rule.head == head]
    return own + [rule for rule in rules if rule.head is None and rule.target not in {one.target for one in own}]


def map_file(path: Path) -> Path:
    """The file of the map, beside the weights.

    >>> map_file(Path("runs/ckpts"))
    PosixPath('runs/ckpts.map')
    """
    named = path if path.name else path.absolute()
    return named.parent / f"{named.name}.map"


def saved_lines(path: Path) -> list[str] | None:
    """Lines of the map beside the weights; None without one."""
    beside = map_file(path)
    if not beside.is_file():
        return None
    try:
        return file_content(beside, "a map").decode().splitlines()
    except UnicodeDecodeError:
        raise InputError(shown_path(beside), got="bytes that are no UTF-8", expected="a map in text") from None


def identity(tensors: Mapping[str, Tensor], targets: Sequence[str]) -> list[str]:
    """A map for tensors that bear the targets' names."""
    return [f"{target} = {target}" for target in targets if target in tensors]


def suggestion(tensors: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]]) -> list[str]:
    """Rules that fit the tensors by name and shape, as far as some do; ``shapes`` are those of the targets."""
    rules = {
        target: next(_fitting(tensors, target, *shape), "") for target, shape in shapes.items() if target in _FITTING
    }
    return [f"{target} = {rule}" for target, rule in rules.items() if rule]


def _fitting(tensors: Mapping[str, Tensor], target: str, rows: int, columns: int) -> Iterator[str]:
    for left, right in _FITTING[target](tensors):
        (a, b), (inner, c) = left[1], right[1]
        if b == inner:
            product = f"{left[0]} @ {right[0]}"
            if (a, c) == (rows, columns):
                yield product
            for name in _named(EMBEDDING, tensors):
                if tensors[name].shape == (columns, c) and a in (rows, c):
                    yield f"{name} @ {product} @ {name}.T" if target == "W_kq" else f"{product} @ {name}.T"
    for name, one in tensors.items():
        if one.shape == (rows, columns) and (name.split(".")[-1] == target or len(tensors) == 1):
            yield name


_Factor = tuple[str, tuple[int, int]]


def _key_and_query(tensors: Mapping[str, Tensor]) -> Iterator[tuple[_Factor, _Factor]]:
    for name in _named(KEY, tensors):
        other = _renamed(name, "q")
        if other in tensors and tensors[other].shape == tensors[name].shape:
            m, d = tensors[name].shape
            yield (f"{name}.T", (d, m)), (other, (m, d))
    for name in _named(FUSED, tensors):
        m, d = tensors[name].shape
        if m % 3 == 0:
            of_key = f"{name}[{m // 3}:{2 * (m // 3)}].T"
            yield (of_key, (d, m // 3)), (f"{name}[0:{m // 3}]", (m // 3, d))


def _head_and_value(tensors: Mapping[str, Tensor]) -> Iterator[tuple[_Factor, _Factor]]:
    for head in _named(HEAD, tensors):
        V, m = tensors[head].shape
        for name in _named(KEY, tensors):
            value = _renamed(name, "v")
            if value in tensors and len(tensors[value].shape) == 2:
                a, b = tensors[value].shape
                yield (head, (V, m)), (value, (a, b))
        for name in _named(FUSED, tensors):
            a, b = tensors[name].shape
            if a % 3 == 0:
                yield (head, (V, m)), (f"{name}[{2 * (a // 3)}:{a}]", (a // 3, b))


_FITTING = {"W_kq": _key_and_query, "W_ov": _head_and_value}


def _named(pattern: re.Pattern[str], tensors: Mapping[str, Tensor]) -> list[str]:
    return [name for name, one in tensors.items() if len(one.shape) == 2 and pattern.search(name)]


def _renamed(name: str, letter: str) -> str:
    """The name of the key's matrix with another letter: ``k_proj`` to ``q_proj``, ``key`` to ``query``."""
    words = {"q": "query", "v": "value"}

    def changed(match: re.Match[str]) -> str:
        found = re.sub("key", words[letter], match[0], flags=re.IGNORECASE)
        if found != match[0]:
            return found
        return re.sub("[kK](?=_?|$)", lambda one: letter.upper() if one[0] == "K" else letter, match[0], count=1)

    return KEY.sub(changed, name)
