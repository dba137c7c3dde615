"""How a token, a path or any other text from outside is shown inside one line of output."""

LONGEST_SHOWN = 60


def printable(text: str) -> str:
    r"""Text with every character that a terminal would act on, or not show, written as an escape.

    >>> printable("a\x1b[31mb\n")
    'a\\x1b[31mb\\n'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def shown(value: object) -> str:
    r"""``repr`` on one line, cut to a length that an error message can hold.

    >>> shown("S\n")
    "'S\\n'"
    """
    try:
        text = printable(repr(value))
    except (RecursionError, ValueError):  # nested too deeply, or an integer of more digits than Python writes
        return "a value too large to show"
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 2] + " …"
