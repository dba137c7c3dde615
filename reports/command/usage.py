"""One-line usage errors: where, got, expected."""

from typing import Any

import click

from marginaudit.orders import shortened, shown

LONGEST = 100
"""Longest quotation of a message of click."""


class OneOf(click.Choice[str]):
    """Choice with a one-line error message."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check the value; case matters."""
        if value not in self.choices:
            self.fail(f"got {shown(value)}, expected one of {', '.join(self.choices)}", param, ctx)
        return str(value)


def one_line(error: click.ClickException, group: click.Group) -> str:
    """One-line message of a click usage error."""
    match error:
        case click.exceptions.NoSuchCommand():
            return _line(
                f"command {shown(error.command_name)}", "no such command", f"one of {', '.join(_names(group))}"
            )
        case click.exceptions.NoSuchOption(ctx=click.Context() as context):
            known = [name for parameter in context.command.get_params(context) for name in parameter.opts]
            options = [name for name in known if name.startswith("--")]
            return _line(f"option {shown(error.option_name)}", "no such option", f"one of {', '.join(options)}")
        case click.exceptions.BadOptionUsage():
            option = _option(error.option_name, group)
            if option.is_flag:
                return _line(error.option_name, "a value", "none")
            return _line(error.option_name, "no value", _values(option))
        case click.exceptions.MissingParameter(ctx=click.Context() as context, param=click.Parameter() as parameter):
            return _line(parameter.human_readable_name, "nothing", _usage(context))
        case click.BadParameter(param=click.Parameter() as parameter):
            name = parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name
            return f"{name}: {error.message}"
        case click.UsageError(ctx=click.Context() as context):
            got = shortened(" ".join(error.message.removeprefix("Got ").rstrip(".").split()), LONGEST)
            return _line(context.command_path, got[:1].lower() + got[1:], _usage(context))
    return error.format_message()


def _option(name: str, group: click.Group) -> click.Option:
    context = click.Context(group)
    commands = [group.get_command(context, known) for known in _names(group)]
    options = (parameter for command in commands if command is not None for parameter in command.get_params(context))
    return next(option for option in options if isinstance(option, click.Option) and name in option.opts)


def _values(option: click.Option) -> str:
    """Description of an option's values."""
    if isinstance(option.type, click.Choice):
        return f"one of {', '.join(option.type.choices)}"
    return str(getattr(option.type, "expected", option.metavar or option.type.name.upper()))


def _names(group: click.Group) -> list[str]:
    return group.list_commands(click.Context(group))


def _usage(context: click.Context) -> str:
    return " ".join([f"`{context.command_path}", *context.command.collect_usage_pieces(context)]) + "`"


def _line(where: str, got: str, expected: str) -> str:
    return f"{where}: got {got}, expected {expected}"
