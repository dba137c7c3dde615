"""Sequence classes of arXiv 2305.16380 (Scan and Snap): datasets, tokens, overlaps, assumptions, generators."""

from marginaudit.orders.snap.assumptions import (
    ASSUMPTIONS,
    dominant_tokens,
    queries_with_distinct,
)
from marginaudit.orders.snap.breaking import FAIL_WITH, broken, rescaled
from marginaudit.orders.snap.cases import CASES, syn_medium, syn_small
from marginaudit.orders.snap.classes import SequenceClass, SequenceClasses
from marginaudit.orders.snap.documents import classes_from_document, classes_to_document
from marginaudit.orders.snap.generate import single_common_dataset, symmetric_dataset, weakly_correlated_dataset
from marginaudit.orders.snap.graph import common_tokens, distinct_tokens, token_class_graph
from marginaudit.orders.snap.kind import CLASSES, check_assumption, check_assumptions, describe, read_classes
from marginaudit.orders.snap.overlap import AttentionOverlap, overlap_of

__all__ = [
    "ASSUMPTIONS",
    "CASES",
    "CLASSES",
    "FAIL_WITH",
    "AttentionOverlap",
    "SequenceClass",
    "SequenceClasses",
    "broken",
    "check_assumption",
    "check_assumptions",
    "classes_from_document",
    "classes_to_document",
    "common_tokens",
    "describe",
    "distinct_tokens",
    "dominant_tokens",
    "overlap_of",
    "queries_with_distinct",
    "read_classes",
    "rescaled",
    "single_common_dataset",
    "symmetric_dataset",
    "syn_medium",
    "syn_small",
    "token_class_graph",
    "weakly_correlated_dataset",
]
