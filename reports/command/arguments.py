"""Arguments and options shared by commands."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marginaudit.orders import InputError, shown, shown_path
from marginaudit.reports.command.options import FilePath, NamedTrajectory, Parsed, with_values
from marginaudit.reports.command.output import notify
from marginaudit.reports.command.usage import OneOf

if TYPE_CHECKING:
    from marginaudit.claims.claim import Claim, Ledger
    from marginaudit.claims.paper import Paper
    from marginaudit.training.weight_files.run_file import RunFile

DATASET = click.argument("dataset", metavar="DATASET")
DATASETS = click.argument("datasets", metavar="[DATASET ...]", nargs=-1)
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables.")
CLAIMS = click.option(
    "--claims",
    "claims_file",
    type=FilePath(),
    metavar="FILE",
    help="Python file with claims of your own; the file is executed.",
)

TRAJECTORIES = click.option(
    "--trajectory",
    "trajectories",
    type=NamedTrajectory(),
    multiple=True,
    metavar="[NAME=]FILE",
    help="Recorded run on the only DATASET, as `conform` reads it, judged beside the computed one. May be given again.",
)

MAP = click.option(
    "--map",
    "rules",
    multiple=True,
    metavar="RULE",
    help="How a matrix is computed from the file's tensors, such as 'W_kq = k.weight.T @ q.weight / sqrt(64)', or "
    "several such rules separated by ';'; saved beside the file. May be given again.",
)


HEAD = click.option(
    "--head",
    type=OneOf(["trained", "given", "joint"]),
    help="How W_ov of the recorded run was trained: by stage 1, not at all, or jointly with W_kq.  [default: what FILE "
    "shows]",
)


def mapped(
    trajectories: Iterable[tuple[str, Path]], rules: Sequence[str], head: str | None
) -> "list[tuple[str, RunFile]]":
    """Recorded runs with their map and head."""
    from marginaudit.training.weight_files.run_file import RunFile

    return [(name, RunFile(path, tuple(rules), head or "")) for name, path in trajectories]


def save_maps(runs: "Iterable[RunFile]") -> None:
    """Save maps beside their files, and say so on standard error."""
    for run in runs:
        try:
            if saved := run.save_map():
                notify(f"map saved in {shown_path(saved)}")
        except OSError as error:
            notify(f"{run.where}.map: map not saved: {error.strerror}")


ONLY_MINE = click.option("--only-mine", is_flag=True, help="Only the claims of --claims FILE.")

CHOSEN = click.option(
    "--claim",
    "patterns",
    multiple=True,
    metavar="ID",
    help="Only claims with this id or pattern, such as 'ntp.theorem2.*'. May be given again.",
)


@cache
def papers() -> "tuple[Paper, ...]":
    """Built-in and installed papers; import failures are reported once on standard error."""
    from marginaudit.reports.audit.ledger import all_papers

    return all_papers(notify)


class OnePaper(click.ParamType["tuple[Paper, ...]"]):
    """Name or Python file of a paper; `Commands` has already loaded the file."""

    name = "paper"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> "tuple[Paper, ...]":
        """Look up the paper; unknown names are a usage error."""
        known = papers()
        found = tuple(paper for paper in known if value and value in (paper.name, paper.file))
        if not found:
            names = ", ".join(paper.name for paper in known)
            self.fail(f"got {shown(value)}, expected one of {names}, or a Python file, .py", param, ctx)
        return found


ONE_PAPER = click.option(
    "--paper",
    "known",
    type=OnePaper(),
    metavar="NAME|FILE",
    callback=lambda _context, _option, value: value or papers(),
    help="One paper only: its name, or a Python file with a PAPER of your own, which is executed.",
)


class AsksPapers(click.Command):
    """Command with options from the papers (made by ``of_papers``); imports the papers only when called."""

    def __init__(
        self, *args: Any, of_papers: "Callable[[tuple[Paper, ...]], Iterable[click.Option]]", **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.of_papers = of_papers

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; an option with an optional number consumes no other word."""
        kinds = {name: option.type for option in self.get_params(ctx) for name in option.opts}
        optional = {name: kind.values for name, kind in kinds.items() if isinstance(kind, Parsed) and kind.values.alone}
        return super().parse_args(ctx, with_values(args, optional))

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Parameters in order: the command's, the papers', then --json and --help."""
        *own, as_json, asks_help = super().get_params(ctx)
        return [*own, *self.of_papers(papers()), as_json, asks_help]


def ledger(claims_file: Path | None, known: "tuple[Paper, ...]") -> "Ledger":
    """Claims of the papers, of installed packages and of a file, by id."""
    from marginaudit.reports.audit.user_claims import all_claims

    return all_claims(known, claims_file, notify)


def one_claim(name: str, known: "Ledger") -> "Claim":
    """Look up a claim by id or unique prefix of one.

    Raises
    ------
    InputError
        No claim matches, or several do.
    """
    from marginaudit.reports.audit.ledger import known_ids, some_of

    found = [name] if name in known else [known_id for known_id in known if name and known_id.startswith(name)]
    if len(found) > 1:
        raise InputError(f"claim {shown(name)}", got=f"the beginning of {len(found)} ids", expected=some_of(found))
    if not found:
        raise InputError(f"claim {shown(name)}", got="no claim of that id", expected=known_ids(name, known))
    return known[found[0]]


def matching(patterns: Sequence[str], known: "Ledger", where: str = "--claim", of: str = "") -> "list[Claim]":
    """Select claims by patterns of ids, in the ledger's order; all claims without a pattern.

    Error messages begin with ``where``, the origin of the patterns, and describe the ledger by ``of``.

    Raises
    ------
    InputError
        A pattern matches no claim.
    """
    from marginaudit.reports.audit.ledger import matching_ids

    if not patterns:
        return list(known.values())
    wanted = {name for pattern in patterns for name in matching_ids(pattern, known, where, of)}
    return [claim for name, claim in known.items() if name in wanted]
