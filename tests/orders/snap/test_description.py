"""What `classify` answers of sequence classes."""

import json

from hypothesis import given

from marginaudit.orders.snap import CLASSES, check_assumptions, classes_from_document
from tests.orders.snap import restated
from tests.orders.snap.strategies import class_documents
from tests.strategies import Document


@given(class_documents())
def test_the_answer(document: Document) -> None:
    data = classes_from_document(document)
    answer = CLASSES.classified(data)
    json.dumps(answer, allow_nan=False)
    assert list(answer) == ["classes", "overlap", "assumptions"]
    P, own, shared = restated.probabilities(document), restated.distinct(document), restated.common(document)
    for c, found, distinct in zip(document["classes"], P, own, strict=True):
        described = answer["classes"][c["next"]]
        assert described["query"] == c["query"]
        assert set(described["distinct"]) == distinct
        assert set(described["common"]) == shared & set(found)
        assert described["common"] == [token for token in data.tokens if token in described["common"]]
    assert len(answer["classes"]) == data.K
    assert answer["assumptions"] == {
        name: {"holds": a.holds, "witness": a.witness} for name, a in check_assumptions(data).items()
    }
    overlap = answer["overlap"]
    assert overlap["eigenvalues"] == sorted(data.overlap.eigenvalues.tolist())
    assert overlap["largest"] == max(map(abs, overlap["eigenvalues"]))
    assert overlap["error"] == data.overlap.eigenvalue_error
