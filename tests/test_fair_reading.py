"""A printed statement is refuted only by data, step sizes and times within all that its source says of its setting."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from marginaudit.claims import Claim, Verdict
from marginaudit.claims.ntp.step_size import beyond_order_one
from marginaudit.claims.paper import Paper
from marginaudit.claims.quotation import Form
from marginaudit.claims.snap.conditions import SETTING as CLASSES
from marginaudit.claims.snap.conditions import outside_range_r, slow_decoder
from marginaudit.claims.standing import Status
from marginaudit.orders.ntp import Dataset, Sample
from marginaudit.orders.ntp.assumptions import SETTING as SENTENCES
from marginaudit.reports import LEDGER
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.counterexample import smallest_counterexample
from marginaudit.reports.tally import cause

SETTING: Mapping[str, tuple[str, ...]] = {"ntp": SENTENCES, "snap": CLASSES}

PAPER_OF: Mapping[str, Paper] = {claim.id: paper for paper in PAPERS for claim in paper.claims}

ACCUSED = [
    name
    for name, claim in LEDGER.items()
    if claim.source_words.form is Form.PRINTED and claim.standing.status is Status.REFUTED
]

UNEVEN = Dataset(
    "uneven",
    ("a", "b"),
    tuple(Sample(tuple(tokens), y) for tokens, y in (("a", "b"), ("ab", "b"), ("b", "a"), ("ba", "a"))),
    (2**51, 2**51, 1, 1),
    {"a": "b", "b": "a"},
)
"""The samples of the counterexamples in formulas, at frequencies that float64 holds."""


def data_of(claim: Claim) -> Any:
    """The data that refute a claim, or those of its formula with other frequencies."""
    return smallest_counterexample(PAPER_OF[claim.id], claim) or UNEVEN


def asked(claim: Claim) -> dict[str, None]:
    """All that the statement and its source's setting ask of data."""
    return dict.fromkeys((*claim.asked, *SETTING[PAPER_OF[claim.id].name]))


@pytest.mark.parametrize("name", ACCUSED)
def test_the_data_that_refute_a_printed_statement_meet_its_setting(name: str) -> None:
    kind, data = PAPER_OF[name].kind, data_of(LEDGER[name])
    assert [one for one in asked(LEDGER[name]) if not kind.check(data, one).holds] == []


@pytest.mark.parametrize("name", ACCUSED)
def test_so_do_the_step_sizes(name: str) -> None:
    claim, paper = LEDGER[name], PAPER_OF[name]
    run: Any = paper.run(data_of(claim), replace(paper.config(), **dict(claim.standing.settings)))
    if paper.name == "ntp":
        assert not run.dataset.orders or beyond_order_one(run) is None
        assert 2 * run.eta0 <= run.norm_ov
    else:
        assert (outside_range_r(run), slow_decoder(run)) == (None, None)


def test_the_formulas_samples_are_those() -> None:
    formulas = {LEDGER[name].standing.formula for name in ACCUSED} - {""}
    assert len(formulas) == 3
    for formula in formulas:
        for sample in UNEVEN.samples:
            assert f"[{', '.join(sample.tokens)}] -> {sample.next} " in formula


@pytest.mark.parametrize("name", ACCUSED)
def test_a_printed_statement_that_is_refuted_says_what_its_authors_would_answer(name: str) -> None:
    assert LEDGER[name].standing.defence


@pytest.mark.parametrize("name", [name for name, claim in LEDGER.items() if claim.standing.cause])
def test_a_cause_is_a_refuted_statement_with_a_fault_of_its_own(name: str) -> None:
    lead = LEDGER[cause(LEDGER[name])]
    assert lead.standing.status is Status.REFUTED
    assert not lead.standing.cause
    assert PAPER_OF[lead.id] is PAPER_OF[name]


def test_outside_its_setting_a_statement_is_not_applicable_unless_it_is_proved_there() -> None:
    """Without its prefixes: the floor is not accused, and Theorem 1, which is proved there, keeps its verdict."""
    paper = PAPER_OF["ntp.theorem2.floor"]
    outside = Dataset("outside", ("a", "b"), (Sample(("b", "a"), "a"),), (1,), {"a": "a", "b": "b"})
    run = paper.run(outside, paper.config())
    floor, direction = (LEDGER[name].judge(run) for name in ("ntp.theorem2.floor", "ntp.theorem1.direction"))
    assert floor.verdict is Verdict.NOT_APPLICABLE
    assert "as prefix_closed fails" in floor.detail
    assert "There it would be violated" in floor.detail
    assert (direction.verdict, direction.evidence) == (Verdict.HOLDS, "proved")
    assert "as prefix_closed fails" in direction.detail


def test_what_most_rests_on_comes_first() -> None:
    names = ("ntp.theorem1.direction", "snap.lemma4", "snap.theorem1.form", "ntp.theorem2.floor", "snap.eq64")
    standings = [LEDGER[name].standing for name in names]
    mixed = standings[3:] + standings[:3]
    assert sorted(mixed, key=lambda one: one.gravity) == standings
