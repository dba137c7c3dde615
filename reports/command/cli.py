"""Command line: one module per command, imported on demand."""

import gc
import os
import signal
import sys
from importlib import import_module
from itertools import pairwise

import click

from marginaudit.orders import InputError, shown_path
from marginaudit.reports.audit.reserved import COMMANDS, PAPER_FILE
from marginaudit.reports.command.arguments import papers
from marginaudit.reports.command.output import discard_output, notify, reserve_output, standard_output
from marginaudit.reports.command.usage import one_line

BEFORE_COLLECTING = 50_000
"""Threshold of the garbage collector; Python's default, 700, slows down reading large files."""

ROOM = {"realize": "ntp.realize", "relax": "ntp.relax"}
"""Modules of commands for one paper only."""

NEW = {
    "new-paper": ("marginaudit.reports.command.new", "Write a FOLDER with a template of a paper."),
    "new-claim": ("marginaudit.reports.command.new", "Write a FILE with a template of a claim."),
}


def commands() -> dict[str, tuple[str, str]]:
    """Module and description of each command by name: built-in commands, papers' own commands, templates."""
    built_in = {name: (f"marginaudit.reports.command.{ROOM.get(name, name)}", does) for name, does in COMMANDS.items()}
    own = {name: command for paper in papers() for name, command in paper.commands.items()}
    return built_in | own | NEW


class Commands(click.Group):
    """Group that imports commands on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands."""
        return list(commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None for an unknown name."""
        module, _ = commands().get(cmd_name, (None, ""))
        return None if module is None else getattr(import_module(module), cmd_name.replace("-", "_"))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; load `--paper FILE` first, because the paper's settings become options."""
        given = [value for option, value in pairwise(args) if option == "--paper"]
        given += [word.removeprefix("--paper=") for word in args if word.startswith("--paper=")]
        os.environ[PAPER_FILE] = next((value for value in given if value.endswith(".py") and "\0" not in value), "")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List commands and descriptions without importing the commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, does) for name, (_, does) in commands().items()])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="marginaudit", message="%(prog)s %(version)s")
def cli() -> None:
    """Numerical audits of theorems on how transformers train.

    DATASET is a .json or .txt file, or the name of a built-in case, such as example-1 or section-7.

    The papers are ntp (arXiv 2409.17335) and snap (arXiv 2305.16380).

    Start with `marginaudit audit`: it audits every statement on the papers' own settings.
    """
    from marginaudit.reports.audit.provenance import date

    date()  # refuse a bad SOURCE_DATE_EPOCH before any work; matplotlib reads it too


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; bad input gives one line on standard error and exit status 2."""
    gc.set_threshold(BEFORE_COLLECTING)
    sys.exit(_status(arguments))


def _status(arguments: list[str] | None) -> int:
    try:
        if arguments is None and "--json" in sys.argv and not {"-h", "--help"} & set(sys.argv):
            reserve_output()
        typed = sys.argv[1:] if arguments is None else arguments
        status = int(cli.main(args=typed or ["--help"], prog_name="marginaudit", standalone_mode=False, obj=typed))
        standard_output().flush()
        return status
    except click.ClickException as error:
        notify(f"marginaudit: {one_line(error, cli)}")
    except InputError as error:
        notify(f"marginaudit: {error}")
    except (click.Abort, KeyboardInterrupt):
        notify("marginaudit: interrupted")
        return 130
    except (BrokenPipeError, SystemExit):  # click turns a broken pipe into SystemExit(1)
        discard_output()
        return 128 + signal.SIGPIPE  # as if ended by the signal; 1 would mean violated or refused
    except MemoryError:
        notify("marginaudit: got too little memory, expected enough for the dataset and the steps")
    except OSError as error:
        if error.filename is None:
            discard_output()
        place = "standard output" if error.filename is None else shown_path(error.filename)
        notify(f"marginaudit: {place}: got {error.strerror}, expected a file to read or write")
    return 2
