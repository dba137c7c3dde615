"""A named instance as a dataset, and its document."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Annotated, Any, NotRequired

from annotated_types import Len
from typing_extensions import TypedDict

from marginaudit.claims.box import complexity
from marginaudit.claims.series import is_ball
from marginaudit.orders import InputError, shown
from marginaudit.orders.kind import Kind
from marginaudit.orders.reading import Name, validated


class Parameters(dict[str, Any]):
    """Values of an instance by name: ``x["K"]``, or ``x.K``.

    >>> Parameters(K=3).K
    3
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            expected = ", ".join(self)
            raise AttributeError(f"instance: got no value {name}, expected one of {expected}") from None


@dataclass(frozen=True, eq=False)
class Instance:
    """A named instance.

    Attributes
    ----------
    value : `Parameters`, or a dataclass
        Argument of a claim's functions.
    """

    name: str
    value: Any

    @property
    def values(self) -> dict[str, Any]:
        """Values by name."""
        return values_of(self.value)

    @property
    def complexity(self) -> int:
        """Sum of the numerators and denominators of its numbers."""
        return complexity(self.values)


def values_of(value: Any) -> dict[str, Any]:
    """Values of an instance by name."""
    if isinstance(value, Mapping):
        return dict(value)
    return {known.name: getattr(value, known.name) for known in fields(value)}


def instance(given: str | Callable[[], Any], /, **values: Any) -> Instance:
    """Name an instance: a decorator of a function that returns it, or a name with values.

    Parameters
    ----------
    given : function without arguments, or str
        A function returns a dict of values by name, or a dataclass, and gives the instance its name.

    Raises
    ------
    InputError
        The name is no text, or the function returns something else.

    >>> @instance
    ... def edge():
    ...     return dict(L=Fraction(1), eta=Fraction(1, 2))
    >>> edge.name, edge.value.L, instance("wide", L=3).values
    ('edge', Fraction(1, 1), {'L': 3})
    """
    if callable(given):
        return named(given.__name__, given())
    return named(given, values)


def named(name: Any, value: Any) -> Instance:
    """Instance of a dict or a dataclass, under a name.

    Raises
    ------
    InputError
    """
    name = validated(Name, name, "instance")
    if isinstance(value, Mapping) and value and all(isinstance(key, str) for key in value):
        return Instance(name, Parameters(value))
    if is_dataclass(value) and not isinstance(value, type):
        return Instance(name, value)
    expected = "a dict of values by name, or a dataclass"
    raise InputError(f"instance {name}", got=shown(value), expected=expected)


def plain(value: Any) -> Any:
    """A value as JSON data: Fractions and balls as text, functions by name.

    >>> plain({"K": Fraction(7, 2), "x": (1, 0.5), "f": max})
    {'K': '7/2', 'x': [1, 0.5], 'f': 'max'}
    """
    if isinstance(value, Fraction):
        return str(value) if value.denominator > 1 else value.numerator
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist") and not is_ball(value):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {known.name: plain(getattr(value, known.name)) for known in fields(value)}
    return getattr(value, "__name__", None) or str(value)


def parsed(value: Any) -> Any:
    """Inverse of `plain` for numbers: texts such as "7/2" become Fractions.

    >>> parsed({"K": "7/2", "x": [1, 0.5], "mode": "wide"})
    {'K': Fraction(7, 2), 'x': [1, 0.5], 'mode': 'wide'}
    """
    if isinstance(value, str):
        numerator, slash, denominator = value.partition("/")
        whole = numerator.removeprefix("-").isdecimal() and denominator.isdecimal() and int(denominator)
        return Fraction(int(numerator), int(denominator)) if slash and whole else value
    if isinstance(value, dict):
        return {key: parsed(item) for key, item in value.items()}
    return [parsed(item) for item in value] if isinstance(value, list) else value


class Document(TypedDict, closed=True):
    """Fields of a file of an instance."""

    name: NotRequired[Name]
    instance: Annotated[dict[str, Any], Len(1)]


def from_document(document: Any, where: str, default_name: str) -> Instance:
    """Parse a document."""
    found = validated(Document, document, where)
    return Instance(found.get("name", default_name), Parameters(parsed(found["instance"])))


def in_words(data: Instance) -> str:
    """Values of an instance on one line.

    >>> in_words(instance("edge", K=Fraction(7, 2), x=[1, 2]))
    'K = 7/2, x = [1, 2]'
    """
    return ", ".join(f"{name} = {_shown(plain(value))}" for name, value in data.values.items())


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else shown(value)


KIND = Kind(
    name="instances",
    data=Instance,
    accepts=lambda document: isinstance(document, dict) and "instance" in document,
    from_document=from_document,
    to_document=lambda data: {"name": data.name, "instance": plain(data.values)},
    cases={},
    assumptions={},
    describe=lambda data: plain(data.values),
    in_words=in_words,
)
