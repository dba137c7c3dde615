"""Theorem 3's sentences: the worst of up to L_max tokens, the shortest one answered wrongly, and their error bars.

The oracle tries every short one.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations_with_replacement, product
from types import SimpleNamespace
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given

from marginaudit.claims import Evidence, Verdict
from marginaudit.claims.ntp.appendix_d_orders import theorem3_answers, theorem3_misled
from marginaudit.claims.ntp.appendix_d_orders.theorem3_answers import log_wrong, put_through, right_from, sentences
from marginaudit.claims.ntp.appendix_d_orders.theorem3_misled import Misled, shortest_misled
from marginaudit.claims.ntp.appendix_d_orders.theorem3_prediction import decide_any_length, fall, paper_length
from marginaudit.claims.ntp.config import Config
from marginaudit.claims.ntp.error_bars import score_error
from marginaudit.claims.ntp.run import Run
from marginaudit.orders.ntp import CASES, Dataset, Sample, dataset_from_document, free_dataset
from marginaudit.reports import LEDGER
from marginaudit.reports.audit.planted import tightened
from tests.claims.ntp.samples import SKEW, changed, retrained
from tests.measured import judgement, measured
from tests.solutions import known
from tests.strategies import datasets

SAVES_ONE = {
    "samples": [{"tokens": ["a", "b", "q"], "next": "a"}],
    "next_token": {"a": "a", "b": "b", "c": "c", "q": "q"},
}


def probabilities(run: Run, record: int, query: str, bag: tuple[str, ...]) -> dict[str, float]:
    """Softmax over labels of A times the attention, position by position."""
    data, S = run.dataset, run.training.stage2.score_matrix(record, run.dataset.V)
    attention = [math.exp(S[data.index[x], data.index[query]]) for x in bag]
    logits = dict.fromkeys(data.vocabulary, 0.0)
    for x, weight in zip(bag, attention, strict=True):
        logits[data.collocation.function[x]] += run.training.margin * weight / sum(attention)
    total = sum(map(math.exp, logits.values()))
    return {label: math.exp(logit) / total for label, logit in logits.items()}


def test_the_prediction_of_any_length_is_judged_at_the_last_step() -> None:
    on, step = Run(CASES["section-7"](), Config(steps1=60, steps2=30)), 30
    found = LEDGER["ntp.theorem3.prediction.any-length"].judge(on)
    assert (found.verdict, found.worst_step, found.first_violation) == (Verdict.VIOLATED, step, step)
    witness = known(found.witness)
    others = (witness["x"],) * (witness["copies"] - (witness["x"] == witness["query"]))
    P = probabilities(on, step, witness["query"], (witness["x_0"], *others, witness["query"]))
    assert witness["expected"] == on.dataset.collocation.function[witness["x_0"]]
    assert max(P, key=P.__getitem__) == witness["answer"]
    assert found.measured == pytest.approx(P[witness["expected"]], rel=1e-9, abs=0)
    assert f"at t = {step}, T = 60" in found.detail
    assert f"At t = {int(on.training.stage2.step[paper_length(on)])} all" in found.detail


def test_the_papers_length_is_the_last_record_to_900_or_the_first_trained_one() -> None:
    def at(*steps: int) -> int:
        on = Run(CASES["example-1"](), Config(steps1=5, steps2=1000, at=(0, *steps)))
        return int(on.training.stage2.step[paper_length(on)])

    assert [at(5, 899, 950), at(5, 900, 901), at(901, 1000), at(7, 1000)] == [899, 900, 901, 7]


def runs() -> list[Run]:
    config = Config(steps1=300, steps2=600, at=tuple(range(0, 601, 20)))
    return [
        Run(data, config)
        for data in (CASES["example-1"](), free_dataset(V=6, N=14, L=4, seed=5, optimal=(1, 2), non_optimal=(1, 3)))
    ]


def of_the_kind(run: Run, tokens: tuple[str, ...]) -> str | None:
    """x_0, if the string is a sentence of the theorem's kind."""
    order = run.dataset.orders.get(tokens[-1])
    if order is None:
        return None
    middle = [x for x in tokens if x in order.non_comparable]
    rest = [x for x in tokens if x not in order.non_comparable]
    if len(middle) != 1 or not rest or any(x not in order.non_optimal for x in rest):
        return None
    return middle[0]


def bags(run: Run, length: int) -> set[tuple[str, tuple[tuple[str, int], ...]]]:
    return {
        (tokens[-1], tuple(sorted(Counter(tokens).items())))
        for tokens in product(run.dataset.vocabulary, repeat=length)
        if of_the_kind(run, tokens) is not None
    }


@pytest.mark.parametrize("run", runs(), ids=lambda run: run.dataset.name)
@pytest.mark.parametrize("length", [2, 3, 4])
def test_the_sentences_are_those_of_the_kind(run: Run, length: int) -> None:
    listed = [(tokens[-1], tuple(sorted(Counter(tokens).items()))) for tokens in sentences(run, length)]
    assert len(set(listed)) == len(listed)
    assert set(listed) == bags(run, length)


@pytest.mark.parametrize(
    ("before", "last", "errors", "expected"),
    [
        (0.1, 1.0, (0.05, 0.05), 1),
        (0.1, 1.0, (0.11, 0.11), "3 or earlier"),
        (-0.1, 1.0, (0.11, 0.11), "3 or earlier"),
        (-0.1, 1.0, (0.09, 0.09), 3),
        (0.0, 1.0, (0.0, 0.0), 3),
        (-1.0, 0.1, (0.0, 0.0), 3),
        (-1.0, 0.0, (0.0, 0.0), "never"),  # a tie is not answered n(x_0)
        (-1.0, 0.1, (0.0, 0.09), 3),
        (-1.0, 0.1, (0.0, 0.11), "open"),
        (-1.0, -0.1, (0.0, 0.11), "open"),
        (-1.0, -0.1, (0.0, 0.09), "never"),
    ],
)
def test_right_from_says_what_the_error_bars_leave_open(
    monkeypatch: pytest.MonkeyPatch, before: float, last: float, errors: tuple[float, float], expected: int | str
) -> None:
    """Up to 4 tokens hold 3 copies of the query, 2 of others."""
    run = Run(CASES["example-1"](), Config(steps1=3, steps2=3, at=(1, 2, 3)))
    leads = np.array([before, before, last]) + np.log([[3], [2]])
    monkeypatch.setattr(theorem3_answers, "least_leads", lambda run: leads)
    monkeypatch.setattr(theorem3_answers, "score_error", lambda run: np.array([errors[0], *errors]))
    assert right_from(run, 4) == expected


@pytest.mark.parametrize("error", [0.0, 0.3, 50.0])
def test_sentences_that_the_error_bars_leave_open_are_counted(monkeypatch: pytest.MonkeyPatch, error: float) -> None:
    run = runs()[0]
    record, data = 3, run.dataset
    S, leads = run.training.stage2.score_matrix(record, data.V), []
    for length in range(2, put_through(run, record).longest + 1):
        for query, bag in bags(run, length):
            attention = {x: copies * math.exp(S[data.index[x], data.index[query]]) for x, copies in bag}
            (middle,) = (x for x in attention if x in data.orders[query].non_comparable)
            leads.append(math.log(attention.pop(middle) / max(attention.values())))
    monkeypatch.setattr(theorem3_answers, "score_error", lambda run: np.full(len(run.training.stage2), error))
    tried = put_through(run, record)
    expected = sum(lead > error for lead in leads), sum(-error < lead <= error for lead in leads)
    assert (tried.right, tried.unsure) == expected
    assert (expected[1] > 0) == (error > 0)
    said = f"of {tried.unsure} more the error bars leave it open."
    assert (said in theorem3_answers.summary(run, record)) == (error > 0)


def test_a_query_that_is_itself_the_rival_saves_one() -> None:
    """Both rivals b and q have one score, so two copies of each outweigh c: [c, b, b, q] has 4 tokens, [c, q, q] 3."""
    run = Run(dataset_from_document(SAVES_ONE), Config(steps1=200, steps2=5))
    finding = LEDGER["ntp.theorem3.prediction.any-length"].judge(run)
    assert "has 3 tokens (put through the model" in finding.detail
    assert [known(finding.witness)[name] for name in ("query", "x_0", "x", "copies", "answer", "expected")] == [
        *("q", "c", "q", 2, "q", "c")
    ]
    P = probabilities(run, list(run.training.stage2.step).index(5), "q", ("c", "q", "q"))
    assert finding.measured == pytest.approx(P["c"], rel=1e-12, abs=0)


@given(datasets())
def test_a_query_is_related_under_itself(data: Dataset) -> None:
    """So that x_0 is never the query."""
    assert all(query in order.graph for query, order in data.orders.items())


def scored(
    monkeypatch: pytest.MonkeyPatch, radius: float, document: dict[str, Any] = SAVES_ONE, **scores: float
) -> Misled:
    """The shortest with x^T W q as given; a, b and q are related under q in the dataset, other tokens are not."""
    run = Run(dataset_from_document(document))
    S = np.zeros((run.dataset.V, run.dataset.V))
    for x, score in scores.items():
        S[run.dataset.index[x], run.dataset.index["q"]] = score
    record = SimpleNamespace(score_matrix=lambda record, size: S)
    monkeypatch.setattr(Run, "training", SimpleNamespace(stage2=record))
    monkeypatch.setattr(theorem3_misled, "score_error", lambda run: np.array([radius]))
    return shortest_misled(run, 0)


@pytest.mark.parametrize(
    ("b", "q", "radius", "expected"),
    [
        (0.0, 0.1, 1e-9, ("q", 1, 2)),  # the query alone outweighs x_0
        (0.0, 0.0, 0.0, ("q", 1, 2)),  # a tie is not answered n(x_0)
        (0.0, -1e-300, 0.0, ("b", 1, 3)),
        (-1e-300, -1e-300, 0.0, ("q", 2, 3)),
        (-math.log(4.5), -math.log(5.5), 1e-9, ("b", 5, 7)),  # 5 + 2 tokens, as many as 6 + 1
        (-math.log(4.5), -math.log(4.6), 1e-9, ("q", 5, 6)),
        (-math.log(4.5), -math.log(1.5), 1e-9, ("q", 2, 3)),
        (-math.log(4), -9.0, 0.0, ("b", 4, 6)),
        (-math.log(4), -9.0, 1e-9, ("b", 5, 6)),  # 4 copies tie to rounding
        (-math.log(4.5), -9.0, 0.5, ("b", 8, 5)),
        (0.2, -1.4, 1.5, ("b", 4, 2)),  # with either sign of the errors
        (-9.0, 0.9, 1.0, ("q", 2, 2)),
        (-math.log(999_999.5), -20.0, 1e-9, ("b", 1_000_000, 1_000_002)),
        (-math.log(1_000_000.5), -20.0, 1e-9, ("b", None, None)),
        (-math.log(2), -1e16, 13.2, ("b", None, None)),
        (5.0, -9.0, 14.0, ("b", None, None)),
        (-math.log(4), -math.log(4.5), 1e-9, ("q", 5, 6)),
    ],
)
def test_copies_within_the_error_bars(
    monkeypatch: pytest.MonkeyPatch, b: float, q: float, radius: float, expected: tuple[str, int | None, int | None]
) -> None:
    found = scored(monkeypatch, radius, a=3.0, b=b, q=q)
    assert (found.rival.other, found.copies, found.answered_below) == expected


def test_the_detail_says_what_the_error_bars_leave_open() -> None:
    run = Run(CASES["example-1"](), Config(steps1=200, steps2=100, at=(1, 50, 100)))
    claim = measured(LEDGER["ntp.theorem3.prediction.any-length"])
    assert "all shorter ones" in claim.judge(run).detail
    stage = run.trained.stage2
    wide = changed(run, distance_error=np.full(3, 1.0 / (2 * 100 * run.eta)))  # leads within one
    found = shortest_misled(wide, -1)
    assert known(found.answered_below) < known(found.length)
    said = f"{found.length} tokens is not answered n(x_0) at t = 100, T = 200"
    finding = claim.judge(wide)
    assert finding.verdict is Verdict.VIOLATED
    assert said in finding.detail
    assert f"fewer than {found.answered_below} are, " in finding.detail

    far = changed(run, rest=1e6 * stage.rest, along=1e6 * stage.along)
    lead = shortest_misled(far, -1).rival.lead
    assert f"has exp({lead:.6g}) tokens (too long" in claim.judge(far).detail
    far = changed(far, distance_error=np.full(3, 1 / (100 * run.eta)))
    assert f"has exp({lead - 2:.6g} to {lead + 2:.6g}) tokens" in claim.judge(far).detail

    lost = claim.judge(changed(run, rest=np.full_like(stage.rest, np.nan)))
    assert lost.verdict is Verdict.INCONCLUSIVE
    assert "t = 100, T = 200." in lost.detail


MERGED: dict[str, Any] = {
    "samples": [{"tokens": ["a", "b", "q"], "next": "a"}],
    "next_token": {"a": "a", "b": "c", "c": "c", "q": "q"},
}


def test_without_an_injective_n_no_sentence_is_called_the_shortest() -> None:
    """b and c have one next token, so copies of b do not outweigh c, and no count of tokens tells the answer."""
    claim = replace(LEDGER["ntp.theorem3.prediction.any-length"], assumptions=())
    run = Run(dataset_from_document(MERGED), Config(steps1=200, steps2=5))
    finding = claim.judge(run)
    assert finding.verdict is Verdict.VIOLATED
    witness = known(finding.witness)
    assert witness["x"] == witness["answer"] == "q"
    assert "3 tokens is not answered n(x_0) at t = 5, T = 200 (put" in finding.detail
    assert "shorter" not in finding.detail
    wide = changed(run, distance_error=np.full(len(run.trained.stage2), 0.5 / run.eta))
    assert (shortest_misled(wide, -1).length, shortest_misled(wide, -1).answered_below) != (3, 3)
    assert "all of fewer" not in claim.judge(wide).detail
    assert "All sentences" not in finding.detail
    assert probabilities(run, 1, "q", ("c", "q", "q"))["c"] < 0.5
    one_answer = MERGED | {"next_token": {"a": "a", "b": "c", "c": "c", "q": "c"}}
    assert claim.judge(Run(dataset_from_document(one_answer), Config(steps1=200, steps2=5))).verdict is (
        Verdict.NOT_APPLICABLE
    )


def test_tokens_of_equal_scores_are_alike_unless_one_has_the_next_token_of_a_rival(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """b's next token is c's own, so b misleads d alone."""
    document = MERGED | {"vocabulary": list("abcdq"), "next_token": {**MERGED["next_token"], "d": "d"}}
    found = scored(monkeypatch, 0.0, document, a=3.0, b=0.5, q=-9.0)
    assert (found.rival.middle, found.rival.other, found.copies) == ("d", "b", 1)


def test_a_tie_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Untrained, all attentions are equal, and n(x_0) is not preferred, whichever label comes first."""
    for module in (theorem3_answers, theorem3_misled):
        monkeypatch.setattr(module, "score_error", lambda run: np.zeros(6))
    for vocabulary in ("abcq", "qcba"):
        run = Run(dataset_from_document(SAVES_ONE | {"vocabulary": list(vocabulary)}), Config(steps1=200, steps2=5))
        finding = decide_any_length(run, 0)
        assert finding.verdict is Verdict.VIOLATED
        witness = known(finding.witness)
        assert (witness["copies"], witness["answer"]) == (1, "q")


def test_a_model_that_does_not_answer_by_attention_leaves_it_open(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(CASES["example-1"](), Config(steps1=200, steps2=100, at=(1, 50, 100)))
    record = len(run.training.stage2) - 1
    assert shortest_misled(run, record).copies is not None
    expected = np.log([float(x == run.dataset.collocation.function[x]) + 1e-9 for x in run.dataset.vocabulary])
    [middle] = {shortest_misled(run, record).rival.middle}
    expected[run.dataset.index[run.dataset.collocation.function[middle]]] = 9.0
    monkeypatch.setattr(
        "marginaudit.claims.ntp.appendix_d_orders.theorem3_prediction.predict", lambda *arguments: expected
    )
    assert measured(LEDGER["ntp.theorem3.prediction.any-length"]).judge(run).verdict is Verdict.INCONCLUSIVE
    monkeypatch.undo()
    far = changed(run, rest=1e6 * run.trained.stage2.rest, along=1e6 * run.trained.stage2.along)
    assert measured(LEDGER["ntp.theorem3.prediction.any-length"]).judge(far).verdict is Verdict.VIOLATED
    apart = retrained(far, common_margin=False)
    finding = measured(LEDGER["ntp.theorem3.prediction.any-length"]).judge(apart)
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert "copies is answered n(x_0)" in finding.detail


def test_answers_that_probabilities_do_not_show_are_left_open() -> None:
    """After steps of 1e-18 the attentions differ by 1e-18."""
    data = dataset_from_document(SAVES_ONE)
    tiny, small = (put_through(Run(data, Config(steps1=200, steps2=5, lr2=lr2)), -1) for lr2 in (1e-18, 1e-3))
    assert tiny.count == small.count
    assert 0 == tiny.right < small.right <= tiny.unsure < tiny.count
    assert small.unsure == 0
    untrained = put_through(Run(data, Config(steps1=200, steps2=5)), 0)
    assert (untrained.count, untrained.right) == (small.count, 0)  # ties
    said = theorem3_answers.summary(Run(data, Config(steps1=200, steps2=5)), 0)
    assert ": 0 are answered" in said
    assert "with probability" not in said


# of at most L_max tokens


PREDICTION = "ntp.theorem3.prediction"

AHEAD = Dataset(
    "ahead",
    tuple("abcd"),
    tuple(Sample(tuple("abccc"[:k]), "bcccc"[k - 1]) for k in range(1, 6)),
    (1,) * 5,
    dict(zip("abcd", "bcda", strict=True)),
)
"""Without Assumption 3: a gets ahead of d at the first steps, when d is answered worst beside copies of a."""

MIXED = Dataset(
    "mixed",
    tuple("oabqyz"),
    (Sample(tuple("oooabqbba"), "o"), Sample(tuple("oobq"), "o")),
    (9, 1),
    {x: x for x in "oabqyz"},
)
"""Up to 9 tokens, two of them non-comparable."""


@cache
def small_runs() -> dict[str, Run]:
    free = free_dataset(V=6, N=14, L=4, seed=5, optimal=(1, 2), non_optimal=(1, 3))
    pair = dataset_from_document(
        {"samples": [{"tokens": ["a", "q"], "next": "a"}], "next_token": {x: x for x in "aqc"}}
    )
    return {
        "example-1": Run(CASES["example-1"](), Config(steps1=300, steps2=60, lr2=0.3)),
        "little-T": Run(CASES["example-1"](), Config(steps1=7, steps2=60, lr2=0.3)),
        "free": Run(free, Config(steps1=300, steps2=60, lr2=0.3)),
        "pair": Run(pair, Config(steps1=60, steps2=40, lr2=0.1)),
        "ahead": Run(AHEAD, Config(steps1=900, steps2=200, lr2=0.1)),
        "mixed": Run(MIXED, Config(steps1=100, steps2=40, lr2=0.3)),
    }


def of_at_most(run: Run, longest: int) -> Iterator[tuple[str, str, Counter[str]]]:
    """Query, x_0 and bag of every sentence of the kind, copies of x_0 included."""
    for order in run.dataset.orders.values():
        if order.query in order.non_optimal:
            for middle in order.non_comparable:
                for length in range(2, longest + 1):
                    for rest in combinations_with_replacement((middle, *order.non_optimal), length - 2):
                        yield order.query, middle, Counter((middle, order.query, *rest))


def precise_wrong(run: Run, record: int, query: str, middle: str, bag: Counter[str]) -> mp.mpf:
    """1 - P(n(x_0)), from the softmax over labels of A times the attention."""
    data, S = run.dataset, run.training.stage2.score_matrix(record, run.dataset.V)
    raw = {x: c * mp.exp(mp.mpf(S[data.index[x], data.index[query]])) for x, c in bag.items()}
    A = mp.mpf(run.training.margin)
    odds = {x: mp.exp(A * raw.get(x, 0) / sum(raw.values())) for x in data.vocabulary}
    return mp.fsum(odds[x] for x in odds if x != middle) / mp.fsum(odds.values())


@pytest.mark.parametrize("name", small_runs())
def test_the_worst_sentence_is_that_of_all_of_at_most_l_max_tokens(name: str) -> None:
    run = small_runs()[name]
    found, step = log_wrong(run), run.training.stage2.step
    assert found.log
    assert found.step is not None
    assert found.step.tolist() == step[step >= 1].tolist()
    everything = list(of_at_most(run, run.dataset.L_max))
    shapes = set()
    with mp.workdps(40):
        for entry in (0, 1, 2, 4, 8, 15, len(found) - 1):
            record = int(np.flatnonzero(step == found.step[entry])[0])
            wrong = [precise_wrong(run, record, *one) for one in everything]
            shapes.add(tuple(sorted(everything[wrong.index(max(wrong))][2].values())))
            assert abs(mp.log(max(wrong)) - mp.mpf(found.value[entry])) <= found.radius[entry] < 1e-8
    assert all(sum(counts) == run.dataset.L_max for counts in shapes)


def test_the_error_bars_hold_what_moved_scores_make_of_it() -> None:
    run, rng = small_runs()["free"], np.random.default_rng(0)
    found, stage = log_wrong(run), run.trained.stage2
    wide = changed(run, distance_error=np.full(len(stage), 1e-4))
    bars = log_wrong(wide).radius
    assert (bars > 1e3 * found.radius)[5:].all()
    for _ in range(20):
        # each score moves by half the error of a difference at most
        noise = rng.choice([-0.5, 0.5], stage.rest.shape) * score_error(wide)[:, np.newaxis]
        moved = log_wrong(changed(run, rest=stage.rest + noise)).value
        assert (np.abs(moved - found.value) <= bars).all()


def test_of_several_x_0_that_of_the_least_score_is_answered_worst() -> None:
    """In runs from zero all of their scores are 0; here those of y and z under q are not."""
    run = small_runs()["mixed"]
    stage, index, pairs = run.trained.stage2, run.dataset.index, {"y": 0.4, "z": -0.3}
    moved = changed(
        run,
        key=np.append(stage.key, [index[x] for x in pairs]),
        query=np.append(stage.query, [index["q"]] * 2),
        reference=np.append(stage.reference, [0.0, 0.0]),
        rest=np.hstack([stage.rest, np.tile(list(pairs.values()), (len(stage), 1))]),
    )
    with mp.workdps(40):
        wrong = {
            x: max(precise_wrong(moved, 5, q, x, bag) for q, m, bag in of_at_most(run, 9) if m == x) for x in pairs
        }
        assert wrong["z"] > wrong["y"]
        assert log_wrong(moved).value[4] == pytest.approx(float(mp.log(wrong["z"])), abs=1e-9)


def test_nothing_is_known_of_lost_scores_or_without_one_margin() -> None:
    run = small_runs()["example-1"]
    lost = changed(run, rest=np.full_like(run.trained.stage2.rest, np.nan))
    assert np.isinf(log_wrong(lost).radius).all()
    assert np.isinf(log_wrong(Run(SKEW, Config(steps1=30, steps2=3))).radius).all()
    unknown = changed(run, distance_error=np.full(len(run.trained.stage2), 2.0))
    assert np.isinf(log_wrong(unknown).radius).all()


@pytest.mark.parametrize("name", small_runs())
def test_the_bound_and_the_step_from_which_it_speaks(name: str) -> None:
    run = small_runs()[name]
    claim, found, data = judgement(PREDICTION), fall(run), run.dataset
    assert claim.threshold(run).position == found.since
    assert claim.largest == 0.0
    with mp.workdps(40):
        A = run.config.steps1 * mp.mpf(run.eta0) / mp.sqrt(data.V - 1)
        for t in (1.0, 30.0, 1e3, 1e6):
            phi = 1 / (1 + (data.L_max - 1) * mp.exp(-mp.mpf(found.pace) * t))
            expected = mp.log(data.V - 1) - A * (2 * phi - 1)
            assert claim.upper(run, np.array([t]))[0] == pytest.approx(float(expected), rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("eps", [0.5, 0.1, 1e-3, 1e-9, 1e-100])
@pytest.mark.parametrize("name", small_runs())
def test_the_least_t_and_t_make_it_as_small_as_any_eps(name: str, eps: float) -> None:
    run = small_runs()[name]
    data, found = run.dataset, fall(run)
    T = math.ceil(2 * run.norm_ov / run.eta0 * math.log((data.V - 1) / eps))
    later = max(found.since, math.log(3 * (data.L_max - 1)) / found.pace)
    with_T = run.with_steps1(T)
    assert fall(with_T) == found
    upper = judgement(PREDICTION).upper
    assert (upper(with_T, later * np.array([1.0, 1.5, 10.0, 1e9])) <= math.log(eps) + 1e-9).all()
    K = max(2 * run.norm_ov / run.eta0 * (1 + math.log2(data.V - 1)), later / math.log(2))
    assert K * math.log(1 / eps) >= max(2 * run.norm_ov / run.eta0 * math.log((data.V - 1) / eps), later) * (1 - 1e-12)


@cache
def late_run() -> Run:
    at = tuple(np.unique(np.geomspace(1, 10**7, 300).astype(int)).tolist())
    return Run(CASES["example-1"](), Config(steps2=10**7, at=at))


def test_late_in_the_run_it_holds_and_early_on_it_follows() -> None:
    late = measured(LEDGER[PREDICTION]).judge(late_run())
    assert late.verdict is Verdict.HOLDS
    assert late.informative_from == math.ceil(fall(late_run()).since)
    early = LEDGER[PREDICTION].judge(Run(CASES["example-1"](), Config(steps2=900)))
    assert (early.verdict, early.evidence, early.measured) == (Verdict.HOLDS, Evidence.PROVED, None)
    assert early.informative_from == late.informative_from
    assert "threshold: holds" in early.detail


@pytest.mark.parametrize(
    "change",
    [
        lambda stage: {"rest": -2 * np.outer(stage.along, stage.reference)},  # non-optimal tokens win
        lambda stage: {"along": 1e-7 * stage.along, "rest": 1e-7 * stage.rest},  # scores hardly fall
    ],
)
def test_a_model_that_answers_otherwise_violates_it(change: Any) -> None:
    wrong = changed(late_run(), **change(late_run().trained.stage2))
    found = measured(LEDGER[PREDICTION]).judge(wrong)
    assert found.verdict is Verdict.VIOLATED
    assert LEDGER[PREDICTION].judge(wrong).verdict is Verdict.BROKEN  # against what is proved


def test_a_constant_that_is_too_good_violates_it() -> None:
    twin = replace(measured(LEDGER[PREDICTION]), judgement=tightened(judgement(PREDICTION)))
    assert twin.judge(late_run()).verdict is Verdict.VIOLATED
    upper = judgement(PREDICTION).upper
    for change in (lambda run, t: upper(run, t) - 1e-6, lambda run, t: upper(run, t) - math.log(3 / 2)):
        twin = replace(measured(LEDGER[PREDICTION]), judgement=replace(judgement(PREDICTION), upper=change))
        assert twin.judge(late_run()).verdict is Verdict.VIOLATED


def test_it_says_nothing_where_no_such_sentence_ends_in_its_query() -> None:
    data = dataset_from_document(
        {"samples": [{"tokens": ["a", "q"], "next": "q"}], "next_token": {x: x for x in "aqc"}}
    )
    found = LEDGER[PREDICTION].judge(Run(data, Config(steps1=20, steps2=5)))
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert "the query itself is optimal" in found.detail


def test_a_t_that_is_too_small_for_the_bound_leaves_it_vacuous() -> None:
    late = late_run()
    little = Run(late.dataset, replace(late.config, steps1=5))
    assert measured(LEDGER[PREDICTION]).judge(little).verdict is Verdict.VACUOUS
