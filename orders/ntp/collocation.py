"""The collocation: the map n from a token to its next token (Assumption 1 (i) of arXiv 2409.17335)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from marginaudit.orders.errors import InputError
from marginaudit.orders.reading import Token
from marginaudit.orders.text import shown


class CollocationError(InputError):
    """The data do not give n as a function on the whole vocabulary."""


@dataclass(frozen=True)
class Collocation:
    """The collocation n of the data: for each token x, all values read for n(x).

    Under Assumption 1 each token has one value; otherwise it may have none or several, and ``x`` *maps to* ``y`` if y
    is among them.

    >>> n = Collocation({"S": ("V",), "V": ("O", "P"), "O": ()})
    >>> n.function
    {'S': 'V'}
    >>> n.maps("V", "P"), n.maps("O", "P")
    (True, False)
    """

    values: Mapping[Token, tuple[Token, ...]]

    @cached_property
    def function(self) -> dict[Token, Token]:
        """n on the tokens with exactly one value."""
        return {x: read[0] for x, read in self.values.items() if len(read) == 1}

    def maps(self, x: Token, y: Token) -> bool:
        """Whether y is among the values of n(x)."""
        return y in self.values[x]

    def require_function(self) -> dict[Token, Token]:
        """n as a function on the whole vocabulary.

        Raises
        ------
        CollocationError
            A token has no next token, or several; the message names the first.
        """
        return self._on_the_whole_vocabulary

    @cached_property
    def _on_the_whole_vocabulary(self) -> dict[Token, Token]:
        for x, read in self.values.items():
            if not read:
                expected = "n to be a function on the whole vocabulary"
                expected += " (a length-1 sample of each token, or an entry of next_token)"
                raise CollocationError("next_token", got=f"no value for token {shown(x)}", expected=expected)
            if len(read) > 1:
                got = f"{shown(read[0])} and {shown(read[1])} for token {shown(x)} from two length-1 samples"
                raise CollocationError("next_token", got=got, expected="one value")
        return self.function
