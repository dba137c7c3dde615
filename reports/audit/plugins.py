"""Loading of plug-ins: users' claims files and modules of installed packages; failures are reported on one line."""

import ast
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

from marginaudit.claims.values.error_text import error_text
from marginaudit.orders import InputError, file_content, printable, shown_path

Notice = Callable[[str], None]


def warn(text: str) -> None:
    """Warn a caller from Python about a plug-in left out."""
    warnings.warn(text, stacklevel=4)


def place_of(point: EntryPoint) -> str:
    """Name of an entry point and its package in error messages."""
    package = "a package" if point.dist is None else point.dist.name
    return printable(f"{package}: entry point {point.name} = {point.value}")


@contextmanager
def failures_in_one_line(where: str, file: str | None = None) -> Iterator[None]:
    """Context for plug-in code: its output goes to standard error, its exceptions become an InputError.

    The error message begins with ``where`` and names the failing line of ``file``.
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


def module_of_file(
    file: Path,
    name: str,
    expected: str,
    *,
    change: Callable[[ast.Module], ast.Module] = lambda tree: tree,
    variables: Mapping[str, Any] | None = None,
) -> ModuleType:
    """Import a Python file as a module of a given name; the file can import modules beside it.

    Parameters
    ----------
    change : applied to the syntax tree of the file
    variables : variables that the module begins with

    Raises
    ------
    InputError
        The file cannot be read or run.
    """
    from cloudpickle import register_pickle_by_value

    where, text = shown_path(file), file_content(file, expected)
    module = ModuleType(name)
    module.__file__ = str(file)
    vars(module).update(variables or {})
    sys.modules[name] = module  # for dataclasses, which resolve annotations there
    register_pickle_by_value(module)  # workers cannot import it
    if (folder := str(file.resolve().parent)) not in sys.path:
        sys.path.append(folder)
    with failures_in_one_line(where, str(file)):
        tree = ast.fix_missing_locations(change(ast.parse(text, str(file))))
        exec(compile(tree, str(file), "exec", dont_inherit=True), module.__dict__)
    return module
