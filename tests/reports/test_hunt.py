"""A hunt step by step: what it tries, counts, confirms and keeps, and every way in which it makes a dataset smaller."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from time import monotonic, sleep
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginaudit.claims import Evidence, Finding, Verdict, exact_series
from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Equal
from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.standing import OPEN, Status
from marginaudit.claims.verdict import not_applicable
from marginaudit.orders import Assumption, InputError
from marginaudit.orders.ntp import (
    CASES,
    Dataset,
    Sample,
    check_assumption,
    dataset_from_document,
    dataset_to_document,
    free_dataset,
)
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_3
from marginaudit.reports import LEDGER
from marginaudit.reports.hunt import Hunt, Search, TimeIsUp, ended_after, hunt, hunt_answer
from marginaudit.reports.ntp.hunting import strategies
from marginaudit.reports.ntp.hunting.smallest import smallest_datasets
from marginaudit.reports.ntp.hunting.space import LATE, SHORT, SentenceSpace, size, smaller
from marginaudit.reports.ntp.hunting.strategies import datasets
from marginaudit.reports.ntp.paper import PAPER
from tests.papers import changed
from tests.test_contract import PAPER_OF, twins

ASSUMED = (*ASSUMPTION_1, *ASSUMPTION_3)
SMALL, LARGE = CASES["example-1"](), free_dataset(V=6, N=9, L=4, seed=1)
FIRST, SECOND = Config(lr1=0.1), Config(lr1=0.2)
ONE = {False: [(FIRST, FIRST)]}
TWO = {False: [(FIRST, FIRST), (SECOND, SECOND)]}
TRIED = [tried for tried, _ in PAPER.space.runs[False]]
HOLDS, VIOLATED = Finding(Verdict.HOLDS), Finding(Verdict.VIOLATED)


class TwoRuns(SentenceSpace):
    """A claim is tried in two runs."""

    runs = TWO


class OneRun(SentenceSpace):
    """It is tried in one."""

    runs = ONE


class Told:
    """A judgement that is told what to find, and remembers how it was asked."""

    kind = "told"

    def __init__(self, find: Callable[[Run], Finding], *, late: bool = False) -> None:
        self.find, self.late = find, late
        self.asked: list[Config] = []

    def judge(self, run: Run) -> Finding:
        self.asked.append(run.config)
        return self.find(run)


def planted(judgement: Any, assumptions: tuple[str, ...] = ASSUMED) -> Claim:
    return replace(LEDGER["ntp.prop2.closed-form.any-data"], id="planted", assumptions=assumptions, judgement=judgement)


def searching(
    judgement: Any, without: str | None = None, paper: Any = PAPER, seconds: float = 1e6, **change: Any
) -> Search:
    return Search(planted(judgement, **change), paper, without, seconds, lambda _: None)


@pytest.mark.parametrize(("late", "tried"), [(False, SHORT), (True, LATE)])
def test_what_is_found_is_confirmed_by_the_run_of_an_audit(late: bool, tried: Config) -> None:
    told = Told(lambda _: VIOLATED, late=late)
    looking = searching(told)
    assert looking.violates(SMALL)
    assert told.asked == [tried, Config()]
    assert (looking.found.dataset, looking.found.verdicts) == (SMALL, {"violated": 1})
    told = Told(lambda run: VIOLATED if run.config == tried else HOLDS, late=late)
    looking = searching(told)
    assert not looking.violates(SMALL)
    assert (looking.found.dataset, looking.found.verdicts, looking.found.tried) == (None, {"holds": 1}, 1)


def test_what_is_found_in_the_first_run_goes_before_what_is_found_in_another() -> None:
    def find(run: Run) -> Finding:
        return VIOLATED if run.config == SECOND or run.dataset is LARGE else HOLDS

    told = Told(find)
    looking = searching(told, paper=changed(PAPER, space=TwoRuns()))
    assert looking.violates(SMALL)
    assert told.asked == [FIRST, SECOND]
    assert (looking.found.dataset, looking.found.settings) == (SMALL, {"lr1": 0.2})
    assert looking.violates(LARGE)
    assert not looking.violates(SMALL)
    assert told.asked == [FIRST, SECOND, FIRST, FIRST]
    assert (looking.found.dataset, looking.found.settings) == (LARGE, {})
    assert looking.found.verdicts == {"violated": 2, "holds": 1}


def test_a_run_of_which_the_statement_says_nothing_is_passed_over() -> None:
    told = Told(lambda run: not_applicable("nothing") if run.config == FIRST else HOLDS)
    looking = searching(told, paper=changed(PAPER, space=TwoRuns()))
    assert not looking.violates(SMALL)
    assert looking.found.verdicts == {"holds": 1}


def test_the_smallest_is_kept_and_the_largest_counted() -> None:
    looking = searching(Told(lambda _: VIOLATED))
    for dataset in (LARGE, SMALL, replace(SMALL, name="as small"), LARGE):
        assert looking.violates(dataset)
    assert looking.found.dataset is SMALL
    assert looking.found.finding is not None
    assert looking.found.largest == {"V": 6, "N": 9, "L_max": 4}
    assert looking.found.tried == 4


def test_what_a_statement_says_nothing_of_does_not_count() -> None:
    told = Told(lambda _: not_applicable("nothing"))
    looking = searching(told)
    assert not looking.violates(SMALL)
    assert (looking.found.tried, looking.found.largest["V"], looking.found.met) == (0, 0, 1)
    assert told.asked == TRIED
    told = Told(lambda _: HOLDS)
    assert not searching(told).violates(SMALL)
    assert told.asked == TRIED


def test_only_what_meets_the_assumptions_is_tried() -> None:
    crossed = Dataset(
        "short", ("o", "x", "q"), (Sample(("o", "x", "x", "q"), "x"),), (1,), next_token={"o": "x", "x": "q", "q": "o"}
    )
    told = Told(lambda _: VIOLATED)
    assert not searching(told).violates(crossed)
    assert told.asked == []
    assert searching(told, without="optimal_majority").violates(crossed)
    within = searching(told, without="optimal_majority")
    assert not within.violates(SMALL)
    assert (within.found.looked_at, within.found.met) == (1, 0)
    assert searching(told, assumptions=()).violates(crossed)


def test_an_assumption_on_settings_is_met_or_broken_by_the_runs() -> None:
    """It is a predicate of the run: no dataset by itself breaks it."""

    class Small(Run):
        def assumption(self, name: str) -> Assumption:
            return Assumption(name, self.config == FIRST, None) if name == "injective" else super().assumption(name)

    told = Told(lambda _: HOLDS)
    paper = changed(PAPER, space=TwoRuns(), run=Small)
    for without, tried in (("injective", SECOND), (None, FIRST)):
        looking, told.asked = searching(told, without, paper), []
        assert not looking.violates(SMALL)
        assert (told.asked, looking.found.met) == ([tried], 1)


@pytest.mark.parametrize(("assumptions", "without"), [(ASSUMED, None), (ASSUMED, "optimal_majority"), ((), None)])
def test_each_assumption_that_is_not_made_fails_in_a_share_of_the_draws(
    assumptions: tuple[str, ...], without: str | None
) -> None:
    looking = searching(Told(lambda _: HOLDS), without, assumptions=assumptions)
    free = set(PAPER.kind.assumptions) - set(looking.required)
    for seed in "012":
        failed: Counter[str] = Counter()

        def count(dataset: Dataset, failed: Counter[str] = failed) -> bool:
            failed.update(name for name in free if not check_assumption(dataset, name).holds)
            failed["all"] += 1
            return failed["all"] >= 400

        looking.draw(seed, count)
        assert min(failed[name] for name in free) >= 10, seed


def test_what_is_broken_with_an_assumption() -> None:
    def dropped(without: str | None, assumptions: tuple[str, ...] = ASSUMED) -> tuple[set[str], set[str]]:
        looking = searching(Told(lambda _: HOLDS), without, assumptions=assumptions)
        return set(assumptions) - set(looking.required), looking.broken

    assert dropped(None) == (set(), set())
    orders = {"well_defined_orders", "no_confused_tokens"}
    assert dropped("well_defined_orders") == (orders, orders)
    assert dropped("no_confused_tokens") == ({"no_confused_tokens"}, {"no_confused_tokens"})
    sentence = {"next_from_sentence", "optimal_majority"}
    assert dropped("next_from_sentence") == (sentence, sentence)


def test_what_is_drawn_breaks_what_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[set[str], bool]] = []
    monkeypatch.setattr(strategies, "datasets", lambda broken, *, prefix_closed: drawn.append((broken, prefix_closed)))
    SentenceSpace().drawn(set(), ASSUMED)
    SentenceSpace().drawn({"optimal_majority"}, (*ASSUMED, "prefix_closed"))
    assert drawn == [(set(), False), ({"optimal_majority"}, True)]


def test_time_is_up_and_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("marginaudit.reports.hunt.time.monotonic", lambda: now[0])
    told: list[float] = []
    looking = Search(planted(Told(lambda _: HOLDS)), PAPER, None, 5.0, told.append)
    for later in (101.0, 105.0):
        now[0] = later
        assert not looking.violates(SMALL)
    now[0] = 105.5
    with pytest.raises(TimeIsUp):
        looking.violates(SMALL)
    assert told == [1.0, 5.0, 5.5]
    assert looking.result().seconds == 5.5


def test_the_smallest_sizes_are_tried_for_a_quarter_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("marginaudit.reports.hunt.time.monotonic", lambda: now[0])
    monkeypatch.setattr(SentenceSpace, "smallest", lambda _: iter([SMALL] * 9))

    def tick(_: Run) -> Finding:
        now[0] += 1.0
        return HOLDS

    once = changed(PAPER, space=OneRun())

    def counted(seconds: float, **change: Any) -> tuple[int, bool]:
        now[0] = 0.0
        looking = searching(Told(tick), seconds=seconds, paper=once, **change)
        looking.smallest()
        return looking.found.tried, looking.found.exhausted

    assert counted(12.0) == (4, False)
    assert counted(400.0) == (9, True)
    assert counted(400.0, assumptions=(*ASSUMED, "prefix_closed")) == (0, False)
    without = searching(Told(tick), "injective", seconds=400.0)
    without.smallest()
    assert (without.found.tried, without.found.exhausted) == (0, False)
    first = searching(Told(lambda _: VIOLATED))
    first.smallest()
    assert (first.found.tried, first.found.exhausted) == (1, False)


def test_it_looks_on_for_as_long_as_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("marginaudit.reports.hunt.time.monotonic", lambda: now[0])
    for seconds, deadline in ((100.0, 14.0), (9.0, 9.0)):
        now[0] = 0.0
        looking = searching(Told(lambda _: HOLDS), seconds=seconds)
        now[0] = 7.0
        looking.smaller(0)
        assert looking.deadline == deadline


def test_only_smaller_ones_are_looked_at_in_the_end() -> None:
    told = Told(lambda _: VIOLATED)
    looking = searching(told)
    assert not looking.violates_below(size(SMALL), LARGE)
    assert not looking.violates_below(size(SMALL), SMALL)
    assert told.asked == []
    assert looking.violates_below(size(LARGE), SMALL)
    looking.deadline = looking.started
    with pytest.raises(TimeIsUp):
        looking.violates_below(size(SMALL), LARGE)


def test_the_answer_of_a_hunt_and_its_certificate() -> None:
    exact = Finding(Verdict.VIOLATED, Evidence.EXACT, detail="why")
    looking = searching(Told(lambda _: exact))
    looking.violates(SMALL)
    found = looking.result()
    assert found.dataset is not None
    assert (found.dataset.name, found.without) == ("planted", None)
    found.seconds = 1.23456
    assert hunt_answer(found, "x.json") == {
        "claim": "planted",
        "without": None,
        "found": True,
        "tried": 1,
        "dataset": "x.json",
        "settings": {},
        "verdicts": {"violated": 1},
        "largest_tried": {"V": 4, "N": SMALL.N, "L_max": SMALL.L_max},
        "looked_at": 1,
        "met_assumptions": 1,
        "smallest_sizes_exhausted": False,
        "seconds": 1.235,
        "evidence": "exact",
        "detail": "why",
    }
    assert found.certificate() is not None
    found.finding = VIOLATED
    assert found.certificate() is None
    nothing = hunt_answer(Hunt("planted", "injective", PAPER, verdicts=Counter(holds=2, broken=3)), None)
    assert (nothing["found"], nothing["detail"], nothing["without"]) == (False, None, "injective")
    assert nothing["tried"] == 2, "what could not be evaluated does not count"
    assert Hunt("planted", None, PAPER).certificate() is None
    unsolved = replace(SMALL, embedding=SMALL.embeddings * 1.0 + 0.1)
    assert Hunt("planted", None, PAPER, None, unsolved, exact).certificate() is None
    apart = searching(Told(lambda _: VIOLATED), without="optimal_majority")
    apart.found.dataset = SMALL
    named = apart.result().dataset
    assert named is not None
    assert named.name == "planted-without-optimal_majority"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_alarm_that_a_destructor_swallows_rings_again() -> None:
    class Slow:
        def __del__(self) -> None:
            sleep(0.3)

    def endless() -> None:
        Slow()
        sleep(60)

    began = monotonic()
    with pytest.raises(TimeIsUp), ended_after(0.1):
        endless()
    assert monotonic() - began < 30


def test_an_inner_alarm_leaves_the_outer_one() -> None:
    def nested() -> None:
        with suppress(TimeIsUp), ended_after(60):
            sleep(60)
        sleep(60)

    began = monotonic()
    with pytest.raises(TimeIsUp), ended_after(0.3):
        nested()
    assert monotonic() - began < 30


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_claim_without_an_end_ends_with_the_hunt(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(_: Run) -> Any:
        while True:
            pass

    monkeypatch.setattr("marginaudit.reports.hunt.GRACE", 0.2)
    found = hunt(planted(Equal(measure=endless, expected=endless)), PAPER, seconds=2)
    assert (found.dataset, found.tried) == (None, 0)
    assert 2.1 < found.seconds < 30


REFUTED = [
    name
    for name, claim in LEDGER.items()
    if claim.standing.status is Status.REFUTED and not claim.standing.formula  # which no float64 dataset shows
]

OF_RUNS = {"snap.theorem2.distinct.sgd", "snap.theorem2.common.sgd", "snap.theorem3.growth.sgd"}
"""Statements on recorded runs."""

OF_ONE_DATASET = {"ntp.example1", "ntp.example2", "snap.fig6.direction", *OF_RUNS}
"""Statements on a dataset of the paper, or a run, which no hunt makes."""


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUTED)
def test_each_refuted_statement_is_found_by_its_own_hunt_in_a_minute(name: str) -> None:
    claim, paper = LEDGER[name], PAPER_OF[name]
    found = hunt(claim, paper, seconds=60)
    assert found.dataset is not None
    again = paper.kind.from_document(paper.kind.to_document(found.dataset), "", name)
    run = paper.run(again, replace(paper.config(), **found.settings))
    assert claim.judge(run).verdict is Verdict.VIOLATED
    assert all(run.assumption(asked).holds for asked in claim.asked)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", [name for name in LEDGER if name not in OF_ONE_DATASET])
def test_each_planted_twin_is_found_by_its_own_hunt_in_a_minute(name: str) -> None:
    for part, judgement in twins(LEDGER[name]):
        twin = replace(LEDGER[name], judgement=judgement, standing=OPEN, implications=())
        assert hunt(twin, PAPER_OF[name], seconds=60).dataset is not None, part


def test_a_paper_without_a_space_of_datasets_is_refused() -> None:
    with pytest.raises(InputError, match=r"^paper ntp: got no space of datasets to hunt in, expected"):
        hunt(LEDGER["ntp.lemma4"], changed(PAPER, space=None))


def shrunk(start: Dataset, claim: Claim) -> Dataset:
    looking = Search(claim, PAPER, None, 1e6, lambda _: None)
    looking.found.dataset = start
    looking.shrunk()
    smallest = looking.found.dataset
    assert isinstance(smallest, Dataset)
    return smallest


def test_shrinking_ends_where_nothing_smaller_violates() -> None:
    three = Equal(measure=lambda run: exact_series([int(run.dataset.N >= 3)]), expected=lambda _: exact_series([0]))
    smallest = shrunk(free_dataset(V=6, N=20, L=5, seed=0), planted(three, ()))
    assert smallest.N == 3
    assert sum(smallest.counts) == 3


def test_a_sample_goes_where_another_one_can_take_its_token() -> None:
    """Two samples are enough against the closed form, and no single token or sample can go from these three."""
    n = {"a": "a", "b": "b", "c": "c", "d": "e", "e": "d"}
    samples = (Sample(("b", "c"), "b"), Sample(("d", "c"), "e"), Sample(("a", "e", "c"), "d"))
    start = Dataset("three", tuple("abcde"), samples, (1, 1, 1), next_token=n)
    smallest = shrunk(start, LEDGER["ntp.prop2.closed-form.any-data"])
    assert sorted(len(sample.tokens) for sample in smallest.samples) == [2, 4]


def test_each_way_to_make_a_dataset_smaller() -> None:
    one, two = Sample(("a", "b"), "b"), Sample(("c", "c", "b"), "a")
    n = {"a": "b", "b": "c", "c": "a"}
    start = Dataset("start", ("a", "b", "c"), (one, two), (2, 1), next_token=n)
    found = [(d.vocabulary, dict(d.next_token), dict(zip(d.samples, d.counts, strict=True))) for d in smaller(start)]
    abc = ("a", "b", "c")
    shorter = {one: 2, Sample(("c", "b"), "a"): 1}
    assert found == [
        (("b", "c"), {"b": "c", "c": "b"}, {Sample(("c", "c", "b"), "b"): 1}),
        (("a", "b"), {"a": "b", "b": "a"}, {one: 2}),
        (abc, n, {two: 1}),
        (abc, n, {one: 2}),
        (abc, n, shorter),
        (abc, n, shorter),
        (abc, n, {one: 1, two: 1}),
        (abc, n, {one: 1, two: 1}),
        *((abc, n, {Sample((x, "c", "c", "b"), "a"): 1}) for x in abc),
        *((abc, n, {Sample((x, "a", "b"), "b"): 2}) for x in abc),
    ]


def test_samples_that_become_one_are_counted_together() -> None:
    long, short = Sample(("b", "b", "a"), "a"), Sample(("b", "a"), "a")
    start = Dataset("start", ("a", "b"), (long, short), (3, 4), next_token={"a": "b", "b": "a"})
    assert [d.counts for d in smaller(start) if d.samples == (short,)] == [(4,), (7,), (7,)]
    skew = replace(start, embedding=LARGE.embeddings[:2, :3])
    for reduced in smaller(replace(skew, next_token={"a": "a", "b": "b"})):
        if reduced.V == 1:
            assert reduced.embedding is not None
            assert reduced.embedding.tolist() == skew.embedding[[start.index[reduced.vocabulary[0]]]].tolist()  # type: ignore[index]


def test_the_smallest_datasets_are_all_of_one_sample_then_of_two() -> None:
    """By hand: 2, 16 and 51 samples over 1, 2 and 3 tokens; as many kinds of permutations as tokens."""
    one, two = 2 * 1 + 16 * 2 + 51 * 3, 1 * 1 + 16 * 15 // 2 * 2 + 51 * 50 // 2 * 3
    found = list(islice(smallest_datasets(), one + two + 1))
    assert [data.N for data in found] == [1] * one + [2] * two + [3]
    assert len({(tuple(data.next_token.items()), data.samples) for data in found}) == len(found)
    assert {data.V for data in found} == {1, 2, 3}
    assert all(set(data.counts) == {1} for data in found)
    for data in found[:one]:
        assert data.samples[0].next in {data.next_token[x] for x in data.samples[0].tokens}
        assert 2 <= len(data.samples[0].tokens) <= 3


@settings(max_examples=20)
@given(st.data())
def test_every_reduction_is_a_dataset_and_smaller(data: st.DataObject) -> None:
    dataset = data.draw(datasets({"injective", "next_from_sentence", "well_defined_orders"}))
    for reduced in islice(smaller(dataset), 200):
        assert reduced.relations is not None
        assert dataset_from_document(dataset_to_document(reduced)).samples == reduced.samples
        assert size(reduced) < size(dataset)


@settings(max_examples=60)
@given(st.data())
def test_ordered_strategies_meet_assumptions_1_to_3(data: st.DataObject) -> None:
    dataset = data.draw(datasets())
    assert all(check_assumption(dataset, name).holds for name in ASSUMED)
    closed = data.draw(datasets(prefix_closed=True))
    assert all(check_assumption(closed, name).holds for name in ("collocation", "injective", "next_from_sentence"))


def test_a_token_that_follows_itself_is_taken_out_with_the_samples_it_answers() -> None:
    samples = (Sample(("b", "b"), "a"), Sample(("b", "b", "b"), "b"))
    dataset = Dataset("fixed", ("a", "b"), samples, (1, 1), next_token={"a": "a", "b": "b"})
    reduced = [d for d in smaller(dataset) if d.vocabulary == ("b",)]
    assert [d.samples for d in reduced] == [samples[1:]]
