"""Built-in and installed papers, and their claims by id or pattern."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marginaudit.claims.claim import Ledger
from marginaudit.claims.instances.paper import INSTANCES
from marginaudit.claims.instances.together import ALL_INSTANCES
from marginaudit.claims.paper import Paper
from marginaudit.claims.settings import settings_of, with_settings
from marginaudit.orders import InputError, shown, shown_path
from marginaudit.reports.audit.plugins import Notice, failures_in_one_line, module_of_file, place_of
from marginaudit.reports.audit.reserved import COMMANDS, GROUP, PAPER_FILE, STATEMENTS
from marginaudit.reports.ntp.paper import PAPER as NTP
from marginaudit.reports.snap.paper import PAPER as SNAP

PAPERS: tuple[Paper, ...] = (NTP, SNAP)
"""The built-in papers, in the order of the reports."""


if TYPE_CHECKING:
    LEDGER: Ledger


def __getattr__(name: str) -> Any:
    """Build `LEDGER`, the claims of the built-in papers, on first access."""
    if name != "LEDGER":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = ledger = Ledger(claim for paper in PAPERS for claim in paper.claims)
    return ledger


def all_papers(notice: Notice) -> tuple[Paper, ...]:
    """Built-in papers, papers of installed packages, and the paper of `--paper FILE`.

    ``notice`` is called with one line per installed paper that fails to load.

    Raises
    ------
    InputError
        The file of `--paper` does not load.
    """
    papers = list(PAPERS)
    for point in entry_points(group=GROUP):
        where = place_of(point)
        try:
            with failures_in_one_line(where):
                paper = point.load()
            papers.append(_accepted(paper, where, papers))
        except InputError as error:
            notice(f"{error}; the paper is left out")
    if file := os.environ.get(PAPER_FILE):
        papers.append(_accepted(_paper_of_file(file), shown_path(Path(file)), papers))
    return tuple(papers)


@cache
def _paper_of_file(file: str) -> object:
    """Run a Python file and return its PAPER."""
    path = Path(file)
    module = module_of_file(path, f"paper_of_{path.stem}", "a Python file with a PAPER")
    if not hasattr(module, "PAPER"):
        raise InputError(shown_path(path), got="no PAPER", expected="PAPER = .., the paper to audit")
    if isinstance(module.PAPER, Paper):
        module.PAPER.file = file
    return module.PAPER


def _accepted(paper: object, where: str, papers: Iterable[Paper]) -> Paper:
    """Check that a Paper reuses no name of other papers, except settings with equal values, and `seed`."""
    if not isinstance(paper, Paper):
        raise InputError(where, got=shown(paper), expected="a Paper")
    if any(claim.paper != paper.name for claim in paper.claims):
        got = f"a {type(paper).__name__} whose __init__ does not call super().__init__()"
        raise InputError(where, got=got, expected="that call, which checks the paper's claims")
    if paper.name == "all":
        raise InputError(where, got="a paper named all", expected="another name, as --paper all means all papers")
    taken = {item for known in papers for item in _names(known)} | {("figure", STATEMENTS)}
    taken |= {("command", name) for name in COMMANDS} | {("name", INSTANCES.name), ("name", ALL_INSTANCES.name)}
    for what, name in _names(paper):
        if (what, name) in taken:
            raise InputError(where, got=f"the {what} {shown(name)}, which another paper has", expected="one of its own")
    for known in papers:
        theirs = settings_of(known.config)
        for name, setting in settings_of(paper.config).items():
            if name != "seed" and name in theirs and theirs[name].values.expected != setting.values.expected:
                got = f"the setting {name}: {setting.values.expected}"
                raise InputError(where, got=got, expected=f"as {known.name} has it: {theirs[name].values.expected}")
    return paper


def _names(paper: Paper) -> Iterator[tuple[str, str]]:
    """Kind and name of everything in the paper that a user can name."""
    yield "name", paper.name
    yield from (("claim", claim.id) for claim in paper.claims)
    yield from (("case", name) for name in paper.kind.cases)
    yield from (("figure", name) for name in paper.figures_by_command)
    yield from (("figure", name) for name in (paper.sweeps.specs if paper.sweeps is not None else ()))
    yield from (("table", table.name) for table in paper.tables)
    yield from (("command", name) for name in paper.commands)


def paper_of(data: Any, papers: Iterable[Paper]) -> Paper:
    """Paper of a dataset's kind.

    Raises
    ------
    InputError
        No paper has the kind.
    """
    known = tuple(papers)
    for paper in (*known, INSTANCES):
        if isinstance(data, paper.kind.data):
            return paper
    made = " or ".join(f"of {paper.kind.name} (a {paper.kind.data.__name__})" for paper in known)
    expected = f"a dict, sentences, a DataFrame, a path, the name of a built-in case, or a dataset {made}"
    raise InputError("data", got=f"{shown(data)} of type {type(data).__name__}", expected=expected)


def configs_of(config: Any, papers: Mapping[str, Paper]) -> dict[str, Any]:
    """Config of each paper.

    Raises
    ------
    InputError
        A config of another paper, or an unknown setting.
    """
    if config is None:
        return {name: paper.config() for name, paper in papers.items()}
    if isinstance(config, Mapping):
        for key in config:
            if not any(key in settings_of(paper.config) for paper in papers.values()):
                names = dict.fromkeys(name for paper in papers.values() for name in settings_of(paper.config))
                raise InputError(f"config {shown(key)}", got="no setting of that name", expected=", ".join(names))
        return {name: with_settings(paper.config(), config) for name, paper in papers.items()}
    if not any(isinstance(config, paper.config) for paper in papers.values()):
        expected = " or ".join(paper.config.__name__ for paper in papers.values())
        raise InputError("config", got=shown(config), expected=f"settings by name, or a {expected}")
    return {name: config if isinstance(config, paper.config) else paper.config() for name, paper in papers.items()}


MOST_NAMED = 5
"""Claims that an error names."""


def matching_ids(pattern: str, known: Collection[str], where: str, of: str = "") -> list[str]:
    """Ids matched by a pattern; for an unknown id, the ids that continue it after a dot.

    ``of`` describes the ids in error messages, if they are a part of those that `marginaudit claims` lists.

    Raises
    ------
    InputError
        The pattern matches no id.

    >>> ids = ("ntp.lemma7", "ntp.lemma7.rederived", "ntp.theorem2.loss", "ntp.theorem2.rate")
    >>> matching_ids("ntp.lemma7", ids, "claim"), matching_ids("ntp.theorem2", ids, "claim")
    (['ntp.lemma7'], ['ntp.theorem2.loss', 'ntp.theorem2.rate'])
    """
    found = ids_of(pattern, known)
    if not found:
        got = "no claim whose id matches" if is_pattern(pattern) else "no claim of that id"
        got = f"{got} among those of {of}" if of else got
        raise InputError(f"{where} {shown(pattern)}", got=got, expected=known_ids(pattern, known, of))
    return found


def ids_of(pattern: str, known: Iterable[str]) -> list[str]:
    """Ids matched by a pattern, or else continuing it after a dot; may be empty."""
    ids = list(known)
    return [name for name in ids if fnmatchcase(name, pattern)] or [
        name for name in ids if name.startswith(f"{pattern}.")
    ]


def is_pattern(text: str) -> bool:
    """Whether a text is a pattern: has ``*``, ``?`` or ``[``."""
    return bool(set(text) & set("*?["))


def known_ids(name: str, known: Collection[str], of: str = "") -> str:
    """Ids expected in place of an unknown one: all if they are few, else similar ones.

    >>> known_ids("mine.c", ["mine.a", "mine.b"])
    'one of mine.a, mine.b'
    """
    near = get_close_matches(name, known, n=3)
    if len(known) <= MOST_NAMED or (of and not near):
        return some_of(known)
    one = "one of them" if of else "an id that `marginaudit claims` lists"
    return one + (f", such as {', '.join(near)}" if near else "")


def some_of(ids: Collection[str]) -> str:
    """First ids and the number of the others.

    >>> some_of("abcdefg")
    'one of a, b, c, d, e and 2 more'
    """
    more = f" and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
    return f"one of {', '.join(list(ids)[:MOST_NAMED])}{more}"
