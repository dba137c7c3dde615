"""Quotations: the source's words, their place, and how they were read."""

from dataclasses import dataclass, fields

from marginaudit.orders import shown

MOST_WORDS = 25
"""Most words of a quotation."""


@dataclass(frozen=True, kw_only=True)
class SourceWords:
    """A printed statement in the source's own words, or what a statement of this project corrects.

    Attributes
    ----------
    quotation : str
        At most `MOST_WORDS` words; formulas in plain symbols, " .. " where something is left out.
    place : str
        Where it stands: section, theorem, equation. Neither text that was read says its version or its pages.
    reading : str
        What was taken where the words leave a choice; "" where they leave none.
    reconstructed : str
        Which of its constants is not legible in the text that was read and stands here as the proof has it, or as it
        was guessed; "" for none.
    corrects : str
        The id of the printed statement that a re-derived or sharper one corrects, sharpens or varies; "" for a
        printed one.
    mended : str
        What a re-derived statement mends, as in "with the exponent mended"; "" for any other one.

    Raises
    ------
    ValueError
        A field is no text, the quotation is too long, or it has no place.
    """

    quotation: str = ""
    place: str = ""
    reading: str = ""
    reconstructed: str = ""
    corrects: str = ""
    mended: str = ""

    def __post_init__(self) -> None:
        for name in (field.name for field in fields(self)):
            value = getattr(self, name)
            if not isinstance(value, str):
                raise ValueError(f"source_words: got {shown(value)} as {name}, expected text")
        words = len(self.quotation.split())
        if words > MOST_WORDS:
            raise ValueError(f"source_words: got a quotation of {words} words, expected at most {MOST_WORDS}")
        if self.quotation and not self.place:
            raise ValueError(f"source_words: got no place of {shown(self.quotation)}, expected one")


UNQUOTED = SourceWords()
"""For a claim whose source is not quoted."""


def quoted(place: str, quotation: str, reading: str = "", *, reconstructed: str = "") -> SourceWords:
    """Quote a printed statement."""
    return SourceWords(quotation=quotation, place=place, reading=reading, reconstructed=reconstructed)


def corrected(claim: str, reading: str = "", *, mended: str = "") -> SourceWords:
    """A statement of this project: the id of the printed one, and the difference."""
    return SourceWords(corrects=claim, reading=reading, mended=mended)
