"""Source code of a claim: its definition, its functions, and what they use of the same file."""

import ast
import linecache
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache, partial
from pathlib import Path
from types import FunctionType
from typing import Any

from marginaudit.claims.claim import Claim

LIBRARY = ("marginaudit.claims.judgements", "marginaudit.claims.claim", "marginaudit.claims.series")
"""Modules of every claim, whose code is no claim's own."""


@dataclass(frozen=True)
class Code:
    """Part of a Python file.

    Attributes
    ----------
    file : name of the file, or of the module for built-in claims
    text : the top-level statements that the claim uses, in the file's order
    """

    file: str
    text: str


def code_of(claim: Claim) -> Code | None:
    """Code behind a claim; None without a readable file.

    >>> from marginaudit.reports.audit.ledger import LEDGER
    >>> found = code_of(LEDGER["ntp.lemma6"])
    >>> found.file
    'marginaudit.claims.ntp.appendix_c_stage2.lemma6'
    """
    functions = [one for one in _functions(vars(claim), set()) if not one.__module__.startswith(LIBRARY)]
    files = {one.__code__.co_filename: one.__module__ for one in functions}
    texts = {file: text for file in files if (text := _text(file)) is not None}
    if not texts:
        return None
    file = next((file for file, text in texts.items() if f'"{claim.id}"' in text), next(iter(texts)))
    lines = {one.__code__.co_firstlineno for one in functions if one.__code__.co_filename == file}
    module = files[file]
    return Code(module if module.startswith("marginaudit.") else Path(file).name, _slice(texts[file], claim.id, lines))


def _text(file: str) -> str | None:
    linecache.checkcache(file)
    return "".join(linecache.getlines(file)) or None


@dataclass(frozen=True)
class Statement:
    """Top-level statement of a file.

    Attributes
    ----------
    first, last : its lines, decorators included
    defines, uses : its names
    words : texts that are arguments of its calls
    """

    first: int
    last: int
    defines: tuple[str, ...]
    uses: frozenset[str]
    words: frozenset[str]


@lru_cache
def _statements(text: str) -> tuple[Statement, ...]:
    return tuple(map(_statement, ast.parse(text).body))


def _statement(node: ast.stmt) -> Statement:
    inner = list(ast.walk(node))
    calls = [one for one in inner if isinstance(one, ast.Call)]
    arguments = [word for call in calls for word in (*call.args, *(one.value for one in call.keywords))]
    texts = [word.value for word in arguments if isinstance(word, ast.Constant)]
    loaded = [one.id for one in inner if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]
    return Statement(
        first=_first(node),
        last=node.end_lineno or node.lineno,
        defines=tuple(_defined(node, inner)),
        uses=frozenset(loaded),
        words=frozenset(text for text in texts if isinstance(text, str)),
    )


def _functions(value: Any, seen: set[int]) -> Iterator[FunctionType]:
    """Functions inside a value: of dataclasses, containers, partials and closures."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, FunctionType):
        yield value
        for cell in value.__closure__ or ():
            yield from _functions(cell.cell_contents, seen)
    elif isinstance(value, partial):
        yield from _functions(value.func, seen)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _functions(item, seen)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _functions(item, seen)
    elif is_dataclass(value) and not isinstance(value, type):
        for known in fields(value):
            yield from _functions(getattr(value, known.name, None), seen)


def _slice(text: str, claim: str, lines: set[int]) -> str:
    """Top-level statements at the lines or that make the claim, and those that define the names they use."""
    body = _statements(text)
    defines: dict[str, list[int]] = {}
    for at, one in enumerate(body):
        for name in one.defines:
            defines.setdefault(name, []).append(at)
    chosen = {at for at, one in enumerate(body) if any(one.first <= line <= one.last for line in lines)}
    chosen |= _makers(body, claim)
    waiting = list(chosen)
    while waiting:
        for name in body[waiting.pop()].uses:
            new = set(defines.get(name, ())) - chosen
            chosen |= new
            waiting += new
    source, found, end = text.splitlines(), list[str](), 0
    for one in (body[at] for at in sorted(chosen)):
        found += [] if one.first == end + 1 or not end else [""]
        found += source[one.first - 1 : one.last]
        end = one.last
    return "\n".join(found) + "\n"


def _first(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
    return min([node.lineno, *(one.lineno for one in decorators)])


def _defined(node: ast.stmt, inner: Sequence[ast.AST]) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(one.asname or one.name).partition(".")[0] for one in node.names]
    return [one.id for one in inner if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]


def _makers(body: Sequence[Statement], name: str) -> set[int]:
    """Statements that make a claim: a call with its id, or else with the longest end of its id."""
    while not (found := {at for at, one in enumerate(body) if name in one.words}) and "." in name:
        name = name.partition(".")[2]
    return found
