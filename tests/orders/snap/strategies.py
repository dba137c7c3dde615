"""Hypothesis strategies: documents of sequence classes, damaged ones too."""

from typing import Any

from hypothesis import strategies as st

from marginaudit.orders.snap import SequenceClasses, classes_from_document
from tests.strategies import HOSTILE, PLAIN, Document, damaged

VOCABULARIES = [list(PLAIN), *(list(HOSTILE[start : start + 5]) for start in range(0, len(HOSTILE), 5))]


@st.composite
def class_documents(draw: st.DrawFn) -> Document:
    """Any valid document over five tokens, its probabilities quotients of small whole numbers."""
    words = draw(st.sampled_from(VOCABULARIES))
    classes = []
    for following in words[: draw(st.integers(1, 4))]:
        weights = draw(st.dictionaries(st.sampled_from(words), st.integers(0, 4), min_size=1))
        if not any(weights.values()):
            weights[words[0]] = 1
        total = sum(weights.values())
        probabilities = {token: weight / total for token, weight in weights.items()}
        classes.append({"next": following, "query": draw(st.sampled_from(words)), "probabilities": probabilities})
    document: Document = {"classes": classes}
    if draw(st.booleans()):
        document["name"] = draw(st.sampled_from(["a", "b c", "\x1b"]))
    if draw(st.booleans()):
        document["M"] = draw(st.sampled_from([5, 39, 40, 89, 90, 159, 160, 400, 999, 1000, 5000, 2**53]))
    if draw(st.booleans()):
        for c in classes:
            c["frequency"] = draw(st.sampled_from([1, 1.0, 1, 2, 1e-50, 1e50]))
    return document


def class_datasets() -> st.SearchStrategy[SequenceClasses]:
    return class_documents().map(classes_from_document)


@st.composite
def damaged_class_documents(draw: st.DrawFn) -> Any:
    """A valid document in which one to three places hold something else, or nothing."""
    document: Any = draw(class_documents())
    for _ in range(draw(st.integers(1, 3))):
        document = damaged(draw, document)
    return document
