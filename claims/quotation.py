"""Quotations: the source's words, their place, how they were read, and whose statement it is."""

from dataclasses import dataclass, fields
from enum import StrEnum

from marginaudit.orders import shown

MOST_WORDS = 25
"""Most words of a quotation."""


class Form(StrEnum):
    """Whose statement it is, and how it relates to the print."""

    PRINTED = "printed"
    REDERIVED = "rederived"
    VARIANT = "variant"
    OWN = "own"
    CONTROL = "control"


@dataclass(frozen=True, kw_only=True)
class SourceWords:
    """A printed statement in the source's own words, or what a statement of this project corrects.

    Attributes
    ----------
    form : Form
        Printed: the source says it, within all that it says of its setting. Re-derived: what the algebra gives in its
        place. Variant: beyond what is printed. Own: nobody printed it. Control: it is false on purpose.
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

    form: Form = Form.OWN
    quotation: str = ""
    place: str = ""
    reading: str = ""
    reconstructed: str = ""
    corrects: str = ""
    mended: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.form, Form):
            raise ValueError(f"source_words: got {shown(self.form)} as form, expected a Form")
        for name in (field.name for field in fields(self) if field.name != "form"):
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
    return SourceWords(
        form=Form.PRINTED, quotation=quotation, place=place, reading=reading, reconstructed=reconstructed
    )


def rederived(claim: str, reading: str = "", *, mended: str = "") -> SourceWords:
    """What the algebra gives in place of a printed statement, and the difference."""
    return SourceWords(form=Form.REDERIVED, corrects=claim, reading=reading, mended=mended)


def varied(claim: str, reading: str = "") -> SourceWords:
    """A printed statement beyond its setting, and what was left out or added."""
    return SourceWords(form=Form.VARIANT, corrects=claim, reading=reading)


def sharpened(claim: str, reading: str = "") -> SourceWords:
    """A statement of this project beside a printed one."""
    return SourceWords(form=Form.OWN, corrects=claim, reading=reading)
