"""Quotations: the source's words, their place and reading, and the statement's relation to the print."""

from dataclasses import dataclass, fields
from enum import StrEnum

from marginaudit.orders import shown

MOST_WORDS = 25
"""Most words of a quotation."""


class Form(StrEnum):
    """Form of a statement: its author, and its relation to the print."""

    PRINTED = "printed"
    REDERIVED = "rederived"
    VARIANT = "variant"
    OWN = "own"
    CONTROL = "control"


@dataclass(frozen=True, kw_only=True)
class SourceWords:
    """A printed statement in the source's words, or the correction of one by this project.

    Attributes
    ----------
    form : Form
        Printed: from the source, with all conditions of its setting. Re-derived: the algebra's correction of a printed
        one. Variant: beyond the printed one. Own: not in print. Control: false on purpose.
    quotation : str
        At most `MOST_WORDS` words; formulas in plain symbols, " .. " for omissions.
    place : str
        Section, theorem or equation of the quotation. Neither text used has a version or page numbers.
    reading : str
        Interpretation of ambiguous words; "" if unambiguous.
    reconstructed : str
        The constant that is illegible in the text used, and is taken from the proof or guessed; "" for none.
    corrects : str
        The id of the printed statement that a re-derived or sharper one corrects, sharpens or varies; "" for a
        printed one.
    mended : str
        Correction made by a re-derived statement, as in "with the exponent mended"; "" for any other.

    Raises
    ------
    ValueError
        A field is not a string, the quotation is too long, or its place is missing.
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
"""Default for a claim without a quotation."""


def quoted(place: str, quotation: str, reading: str = "", *, reconstructed: str = "") -> SourceWords:
    """Quote a printed statement."""
    return SourceWords(
        form=Form.PRINTED, quotation=quotation, place=place, reading=reading, reconstructed=reconstructed
    )


def rederived(claim: str, reading: str = "", *, mended: str = "") -> SourceWords:
    """Correct a printed statement by the algebra, and name the difference."""
    return SourceWords(form=Form.REDERIVED, corrects=claim, reading=reading, mended=mended)


def varied(claim: str, reading: str = "") -> SourceWords:
    """Vary a printed statement beyond its setting, and name the omission or addition."""
    return SourceWords(form=Form.VARIANT, corrects=claim, reading=reading)


def sharpened(claim: str, reading: str = "") -> SourceWords:
    """Sharpen a printed statement by one of this project."""
    return SourceWords(form=Form.OWN, corrects=claim, reading=reading)
