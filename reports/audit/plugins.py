"""Plug-ins: users' files of claims and the modules of installed packages, run with their failures on one line."""

import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

from marginaudit.claims.values.error_text import error_text
from marginaudit.orders import InputError, file_content, printable, shown_path

Notice = Callable[[str], None]


def warn(text: str) -> None:
    """Warn who calls from Python of what is left out."""
    warnings.warn(text, stacklevel=4)


def place_of(point: EntryPoint) -> str:
    """An entry point with its package, as errors name it."""
    package = "a package" if point.dist is None else point.dist.name
    return printable(f"{package}: entry point {point.name} = {point.value}")


@contextmanager
def failures_in_one_line(where: str, file: str | None = None) -> Iterator[None]:
    """Run a plug-in: its output goes to standard error, and its exceptions become an InputError.

    The error begins with ``where``, and names the line of ``file`` that was run.
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        lines = [line.lineno for line in traceback.extract_tb(error.__traceback__) if line.filename == file]
        if isinstance(error, SyntaxError) and error.filename == file:
            lines.append(error.lineno)
        place = f"{where}:{lines[-1]}" if lines and lines[-1] else where
        if isinstance(error, InputError):
            raise InputError(f"{place}: {error.where}", got=error.got, expected=error.expected) from None
        raise InputError(place, got=error_text(error), expected="Python that runs") from None


def module_of_file(file: Path, name: str, expected: str) -> ModuleType:
    """A Python file as a module of that name; modules that lie beside it can be imported.

    Raises
    ------
    InputError
        It cannot be read or run.
    """
    from cloudpickle import register_pickle_by_value

    where, text = shown_path(file), file_content(file, expected)
    module = ModuleType(name)
    module.__file__ = str(file)
    sys.modules[name] = module  # where dataclasses look names of annotations up
    register_pickle_by_value(module)  # which other processes cannot import
    if (folder := str(file.resolve().parent)) not in sys.path:
        sys.path.append(folder)
    with failures_in_one_line(where, str(file)):
        exec(compile(text, str(file), "exec", dont_inherit=True), module.__dict__)
    return module
