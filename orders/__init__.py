"""Orders: datasets of next-token prediction, their collocation, partial orders and assumptions."""

from marginaudit.orders.assumption import Assumption
from marginaudit.orders.assumptions import ASSUMPTIONS, check_assumption, check_assumptions, gram_deviation
from marginaudit.orders.cases import CASES
from marginaudit.orders.collocation import Collocation
from marginaudit.orders.dataset import Dataset, Sample
from marginaudit.orders.errors import CollocationError, InputError
from marginaudit.orders.files import file_content
from marginaudit.orders.formats import (
    dataset_content,
    dataset_from_content,
    dataset_from_document,
    dataset_to_document,
    read_dataset,
)
from marginaudit.orders.generate import broken, free_dataset, prefix_closed_dataset
from marginaudit.orders.partial_order import QueryOrder, query_orders
from marginaudit.orders.reading import Token
from marginaudit.orders.relations import Encoded, Relations, relations
from marginaudit.orders.text import printable, shortened, shown, shown_path

__all__ = [
    "ASSUMPTIONS",
    "CASES",
    "Assumption",
    "Collocation",
    "CollocationError",
    "Dataset",
    "Encoded",
    "InputError",
    "QueryOrder",
    "Relations",
    "Sample",
    "Token",
    "broken",
    "check_assumption",
    "check_assumptions",
    "dataset_content",
    "dataset_from_content",
    "dataset_from_document",
    "dataset_to_document",
    "file_content",
    "free_dataset",
    "gram_deviation",
    "prefix_closed_dataset",
    "printable",
    "query_orders",
    "read_dataset",
    "relations",
    "shortened",
    "shown",
    "shown_path",
]
