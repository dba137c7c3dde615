"""Arguments and options that several commands have."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marginaudit.orders import InputError, shown
from marginaudit.reports.command.options import FilePath, NamedTrajectory, PaperFile, Parsed, with_values
from marginaudit.reports.command.output import tell
from marginaudit.reports.command.usage import OneOf

if TYPE_CHECKING:
    from marginaudit.claims.claim import Claim, Ledger
    from marginaudit.claims.paper import Paper

DATASET = click.argument("dataset", metavar="DATASET")
DATASETS = click.argument("datasets", metavar="[DATASET ...]", nargs=-1)
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables.")
CLAIMS = click.option(
    "--claims",
    "claims_file",
    type=FilePath(),
    metavar="FILE",
    help="A Python file of claims of your own; it is run.",
)

TRAJECTORIES = click.option(
    "--trajectory",
    "trajectories",
    type=NamedTrajectory(),
    multiple=True,
    metavar="[NAME=]FILE",
    help="A run of your own of the one DATASET, recorded in an .npz file: judged beside ours. May be given again.",
)

PAPER = click.option(
    "--paper",
    "paper_file",
    type=PaperFile(),
    metavar="FILE",
    expose_value=False,
    help="A Python file with a PAPER of your own; it is run.",
)

ONLY_MINE = click.option("--only-mine", is_flag=True, help="Only the claims of --claims FILE.")

CHOSEN = click.option(
    "--claim",
    "patterns",
    multiple=True,
    metavar="ID",
    help="Only the claim of this id, or those whose ids match, such as 'ntp.theorem2.*'. May be given again.",
)


@cache
def papers() -> "tuple[Paper, ...]":
    """Built-in and installed papers; one that fails to import is named once on standard error."""
    from marginaudit.reports.audit.ledger import all_papers

    return all_papers(tell)


class OnePaper(click.ParamType["tuple[Paper, ...]"]):
    """A paper's name, or the Python file of one, which `Commands` has read by then."""

    name = "paper"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> "tuple[Paper, ...]":
        """The paper; fail in one line."""
        known = papers()
        found = tuple(paper for paper in known if value and value in (paper.name, paper.file))
        if not found:
            names = ", ".join(paper.name for paper in known)
            self.fail(f"got {shown(value)}, expected one of {names}, or a Python file, .py", param, ctx)
        return found


class OneOfPapers(click.ParamType[str]):
    """A choice among names from the papers, which are imported when the option is parsed."""

    def __init__(self, name: str, words: Callable[[], Iterable[str]]) -> None:
        self.name, self.words = name, words

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse other words in one line."""
        return OneOf([*self.words()]).convert(value, param, ctx)


ONE_PAPER = click.option(
    "--paper",
    "known",
    type=OnePaper(),
    metavar="NAME|FILE",
    callback=lambda _context, _option, value: value or papers(),
    help="Of one paper only, by its name or by a Python file with a PAPER of your own, which is run.",
)


class AsksPapers(click.Command):
    """A command with options of the papers, which are imported when it is called.

    ``of_papers`` makes these options.
    """

    def __init__(
        self, *args: Any, of_papers: "Callable[[tuple[Paper, ...]], Iterable[click.Option]]", **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.of_papers = of_papers

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; an option whose number is optional takes no other word."""
        kinds = {name: option.type for option in self.get_params(ctx) for name in option.opts}
        optional = {name: kind.values for name, kind in kinds.items() if isinstance(kind, Parsed) and kind.values.alone}
        return super().parse_args(ctx, with_values(args, optional))

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """All parameters, the papers' options before --json and --help."""
        *own, as_json, asks_help = super().get_params(ctx)
        return [*own, *self.of_papers(papers()), as_json, asks_help]


def ledger(claims_file: Path | None, known: "tuple[Paper, ...]") -> "Ledger":
    """The claims of papers, of installed packages and of a file."""
    from marginaudit.reports.audit.user_claims import all_claims

    return all_claims(known, claims_file, tell)


def one_claim(name: str, known: "Ledger") -> "Claim":
    """The claim of an id, or the one whose id begins with it.

    Raises
    ------
    InputError
        There is none, or several.
    """
    from marginaudit.reports.audit.ledger import known_ids, some_of

    found = [name] if name in known else [known_id for known_id in known if name and known_id.startswith(name)]
    if len(found) > 1:
        raise InputError(f"claim {shown(name)}", got=f"the beginning of {len(found)} ids", expected=some_of(found))
    if not found:
        raise InputError(f"claim {shown(name)}", got="no claim of that id", expected=known_ids(name, known))
    return known[found[0]]


def matching(patterns: Sequence[str], known: "Ledger", where: str = "--claim", of: str = "") -> "list[Claim]":
    """The claims whose ids match one of the patterns, in the ledger's order; all where there is no pattern.

    ``where`` the patterns come from stands before what is wrong with one, which says what the ledger is ``of``.

    Raises
    ------
    InputError
        A pattern matches none.
    """
    from marginaudit.reports.audit.ledger import matching_ids

    if not patterns:
        return list(known.values())
    wanted = {name for pattern in patterns for name in matching_ids(pattern, known, where, of)}
    return [claim for name, claim in known.items() if name in wanted]
