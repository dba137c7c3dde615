"""Safe display of tokens, paths and other external text in one line of output."""

from pathlib import Path

LONGEST_SHOWN = 60
LONGEST_PATH_SHOWN = 200


def printable(text: str) -> str:
    r"""Text with control and invisible characters escaped.

    >>> printable("a\x1b[31mb\n")
    'a\\x1b[31mb\\n'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def on_a_line(text: str) -> str:
    r"""Text on one line, control and invisible characters escaped.

    >>> on_a_line("a\n  b\x1b")
    'a b\\x1b'
    """
    return printable(" ".join(text.split()))


def shown(value: object) -> str:
    r"""``repr`` on one line, cut to the length of an error message.

    >>> shown("S\n")
    "'S\\n'"
    """
    try:
        text = printable(repr(value))
    except (RecursionError, ValueError):  # nested too deeply, or an integer of more digits than Python writes
        return "a value too large to show"
    except Exception:  # of the value's own class
        return f"a value of type {type(value).__name__} that cannot be shown"
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 2] + " …"


def counted(count: int, one: str, many: str = "") -> str:
    """A count with its noun or verb.

    >>> counted(1, "verdict"), counted(2, "verdict"), counted(1, "class", "classes"), counted(0, "is", "are")
    ('1 verdict', '2 verdicts', '1 class', '0 are')
    """
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def shortened(text: str, most: int) -> str:
    """The text, shortened in the middle to ``most`` characters and a gap.

    >>> shortened("abcdefgh", 4)
    'ab … gh'
    """
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-(most // 2) :]}"


def shown_path(path: Path | str) -> str:
    r"""A path on one line, shortened in the middle if very long.

    >>> shown_path("a\x1b/b.json")
    'a\\x1b/b.json'
    """
    return shortened(printable(str(path)), LONGEST_PATH_SHOWN)
