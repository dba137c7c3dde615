"""Orders: data of next-token prediction, the orders in them, and the assumptions of papers as predicates.

Each paper's kind of dataset is in its own sub-package.
"""

from marginaudit.orders.assumption import Assumption, Witness, as_document
from marginaudit.orders.errors import InputError
from marginaudit.orders.files import file_content
from marginaudit.orders.kind import Data, Kind, content_of, read
from marginaudit.orders.reading import Token
from marginaudit.orders.relations import Relations
from marginaudit.orders.text import counted, on_a_line, printable, shortened, shown, shown_path

__all__ = [
    "Assumption",
    "Data",
    "InputError",
    "Kind",
    "Relations",
    "Token",
    "Witness",
    "as_document",
    "content_of",
    "counted",
    "file_content",
    "on_a_line",
    "printable",
    "read",
    "shortened",
    "shown",
    "shown_path",
]
