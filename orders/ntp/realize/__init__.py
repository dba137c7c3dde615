"""How far ordinary text is from Assumption 1 of arXiv 2409.17335, and the largest part of it that meets it."""

from marginaudit.orders.ntp.realize.part import Part, document_of, largest_part
from marginaudit.orders.ntp.realize.samples import Samples, samples_of, samples_of_dataset
from marginaudit.orders.ntp.realize.sentences import UNITS, read_sentences
from marginaudit.orders.ntp.realize.survey import Survey, survey, surveys
from marginaudit.orders.ntp.realize.words import Text, numbered

__all__ = [
    "UNITS",
    "Part",
    "Samples",
    "Survey",
    "Text",
    "document_of",
    "largest_part",
    "numbered",
    "read_sentences",
    "samples_of",
    "samples_of_dataset",
    "survey",
    "surveys",
]
