"""Datasets of arXiv 2409.17335: sentences with their collocation, partial orders and assumptions."""

from marginaudit.orders.ntp.assumptions import (
    ASSUMPTION_1,
    ASSUMPTION_2,
    ASSUMPTION_3,
    ASSUMPTIONS,
    gram_deviation,
)
from marginaudit.orders.ntp.cases import CASES
from marginaudit.orders.ntp.collocation import Collocation, CollocationError
from marginaudit.orders.ntp.dataset import Dataset, Sample
from marginaudit.orders.ntp.formats import dataset_from_document, dataset_from_text, dataset_to_document
from marginaudit.orders.ntp.generate import broken, free_dataset, prefix_closed_dataset
from marginaudit.orders.ntp.kind import SENTENCES, check_assumption, check_assumptions, read_dataset
from marginaudit.orders.ntp.partial_order import QueryOrder, query_orders
from marginaudit.orders.ntp.relations import Encoded, relations
from marginaudit.orders.reading import Token

__all__ = [
    "ASSUMPTIONS",
    "ASSUMPTION_1",
    "ASSUMPTION_2",
    "ASSUMPTION_3",
    "CASES",
    "SENTENCES",
    "Collocation",
    "CollocationError",
    "Dataset",
    "Encoded",
    "QueryOrder",
    "Sample",
    "Token",
    "broken",
    "check_assumption",
    "check_assumptions",
    "dataset_from_document",
    "dataset_from_text",
    "dataset_to_document",
    "free_dataset",
    "gram_deviation",
    "prefix_closed_dataset",
    "query_orders",
    "read_dataset",
    "relations",
]
