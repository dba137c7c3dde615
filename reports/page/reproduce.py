"""Command that reproduces one row of a report."""

from typing import TYPE_CHECKING, Any

from marginaudit.claims.claim import Claim
from marginaudit.claims.paper import Paper
from marginaudit.claims.settings import differences, settings_of
from marginaudit.orders import printable
from marginaudit.reports.audit.auditing import Row
from marginaudit.reports.audit.sources import IN_PYTHON, Source
from marginaudit.reports.shell import argument, joined

if TYPE_CHECKING:
    from marginaudit.training.weight_files.run_file import RunFile


def settings_given(paper: Any, config: Any) -> list[str]:
    """Options for the settings that differ from the defaults."""
    options, settings = [], settings_of(type(config))
    for name, value in differences(config, paper.config()).items():
        if name in settings and value is not None:
            options.append(f"--{name.replace('_', '-')}")
            if value != settings[name].values.alone:
                options.append(",".join(map(str, value)) if isinstance(value, tuple) else str(value))
    return options


def command(row: Row, source: Source, config: Any, claims_file: str | None, in_python: bool = False) -> str:
    """`marginaudit audit` of the row's dataset and statement alone, with the same settings.

    If the command line cannot name the dataset or claim, give Python instead: ``data`` is a dataset made in Python,
    ``claim`` a user's claim in an audit made ``in_python``.
    """
    made_there, run = source.place == IN_PYTHON, source.trajectory
    own_claim = not row.paper.has(row.claim)
    if made_there or (own_claim and in_python):
        data = ("data", f"data: {row.dataset}") if made_there else (repr(source.place), "")
        claim = ("claim", f"claim: {row.claim.id}") if own_claim else (repr(row.claim.id), "")
        note = ", ".join(filter(None, (data[1], claim[1])))
        of_run = "" if run is None else f", trajectory={ {_file_name(row, run): str(run)} }" + _map_given(run)
        return printable(f"audit({data[0]}, claims={claim[0]}{of_run}{_config_given(row.paper, config)})  # {note}")
    own = ["--claims", claims_file] if own_claim and claims_file is not None else []
    of_run_given = [] if run is None else ["--trajectory", f"{_file_name(row, run)}={run}"]
    of_run_given += [word for rule in run.rules for word in ("--map", rule)] if run else []
    of_run_given += ["--head", run.head] if run and run.head else []
    words = ["--claim", row.claim.id, *of_run_given, *own, *paper_given(row.paper), *settings_given(row.paper, config)]
    return printable(f"marginaudit audit {dataset_argument(source)} {joined(words)}")


def claims_command(claim: Claim, paper: Paper, claims_file: str | None) -> str:
    """`marginaudit claims` of the statement, with the claims file for a user's claim."""
    own = ["--claims", claims_file] if claims_file is not None and not paper.has(claim) else []
    return joined(["marginaudit", "claims", claim.id, *own, *paper_given(paper)])


def paper_given(paper: Paper) -> list[str]:
    """`--paper FILE` for a paper of a file."""
    return ["--paper", paper.file] if paper.file else []


def dataset_argument(source: Source) -> str:
    """Dataset as an argument of a command; for one made in Python, a name to be defined by the user first."""
    return "DATASET.json" if source.place == IN_PYTHON else argument(source.place)


def _file_name(row: Row, run: "RunFile") -> str:
    """The name of the recorded run, without that of its head."""
    return row.dataset.removesuffix(f" {run.quantity}") if run.quantity else row.dataset


def _map_given(run: "RunFile") -> str:
    return (f", map={list(run.rules)}" if run.rules else "") + (f", head={run.head!r}" if run.head else "")


def _config_given(paper: Any, config: Any) -> str:
    changed = differences(config, paper.config())
    given = {name: changed[name] for name in settings_of(type(config)) if name in changed}
    return f", config={given}" if given else ""
