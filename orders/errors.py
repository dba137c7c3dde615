"""Errors of input."""

from functools import partial


class InputError(ValueError):
    """Bad input, in one line: the place, what was got and what was expected.

    >>> print(InputError("svop.json: /sentences/0", got="1 token", expected="at least 2"))
    svop.json: /sentences/0: got 1 token, expected at least 2
    """

    def __init__(self, where: str, *, got: str, expected: str) -> None:
        super().__init__(f"{where}: got {got}, expected {expected}")
        self.where, self.got, self.expected = where, got, expected

    def __reduce__(self) -> tuple[partial["InputError"], tuple[str]]:
        """Pickle the message."""
        return partial(InputError, got=self.got, expected=self.expected), (self.where,)
