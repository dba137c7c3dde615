"""The command line: a command a file, loaded when it is called."""

import sys
from importlib import import_module

import click

from marginaudit.orders import InputError, shown_path
from marginaudit.reports.command.arguments import papers
from marginaudit.reports.command.interrupts import Interrupted, interrupts_kept
from marginaudit.reports.command.streams import open_streams, standard_output, tell
from marginaudit.reports.command.usage import told

COMMANDS = ("audit", "classify", "train", "table", "hunt", "figure", "claims")
"""Those that every paper has; others are a paper's own."""


class Commands(click.Group):
    """A group that imports a command when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return [*COMMANDS, *_of_papers()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name."""
        if cmd_name in COMMANDS:
            found: click.Command = getattr(import_module(f"marginaudit.reports.command.{cmd_name}"), cmd_name)
            return found
        if (module := _of_papers().get(cmd_name)) is None:
            return None
        command: click.Command = getattr(import_module(module), cmd_name)
        return command


def _of_papers() -> dict[str, str]:
    """The modules of the papers' own commands, by name."""
    return {name: module for paper in papers() for name, module in paper.commands.items()}


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="marginaudit", message="%(prog)s %(version)s")
def cli() -> None:
    """Numerical audits of theorems on how transformers train.

    DATASET is a .json or .txt file, or the name of a built-in case, such as example-1 or section-7.

    Start with `marginaudit audit`: it audits every statement on the papers' own settings.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; bad input is one line on standard error and exit status 2."""
    sys.exit(_status(arguments))


def _status(arguments: list[str] | None) -> int:
    try:
        open_streams()
        with interrupts_kept():
            try:
                return int(cli.main(args=arguments, prog_name="marginaudit", standalone_mode=False))
            except click.exceptions.NoArgsIsHelpError as error:
                with standard_output() as output:
                    output.write(f"{error.format_message()}\n")
                return 0
            except OSError as error:
                if error.filename is None:  # click's own printing
                    with standard_output():
                        raise
                raise
    except click.ClickException as error:
        tell(f"marginaudit: {told(error, cli)}")
    except InputError as error:
        tell(f"marginaudit: {error}")
    except (click.Abort, KeyboardInterrupt, Interrupted):
        tell("marginaudit: interrupted")
        return 130
    except BrokenPipeError:
        return 1
    except MemoryError:
        tell("marginaudit: got too little memory, expected enough for the dataset and the steps")
    except OSError as error:
        tell(f"marginaudit: {shown_path(error.filename)}: got {error.strerror}, expected a file to read or write")
    return 2
