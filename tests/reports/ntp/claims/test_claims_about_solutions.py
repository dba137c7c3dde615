"""Claims about W*_ov, W*_kq, gradients and the paper's examples: each entry that they compare, and its error bar."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest

from marginaudit.margins.ntp import Cycle, solve_kq
from marginaudit.margins.ntp.solution import infeasible
from marginaudit.orders.ntp import CASES, Dataset, QueryOrder, Sample, free_dataset
from marginaudit.reports import LEDGER, Evidence, Verdict
from marginaudit.reports.ntp import Config, Run, closed_form, derivatives, random_part
from marginaudit.reports.ntp.claims import example1, example2, lemma2, lemma3, proposition2
from marginaudit.reports.ntp.error_bars import margin_error, moved_attention, score_error, state_error
from marginaudit.reports.ntp.sharper import proposition2 as sharp_proposition2
from marginaudit.reports.ntp.sharper import stage1 as sharp_stage1
from marginaudit.reports.series import FORMULA_ROUNDING
from marginaudit.training.ntp import loss_gradient, stage1_loss_gradient
from tests.solutions import inexact

EPS = float(np.finfo(float).eps)

UNEVEN = Dataset(
    "uneven",
    tuple("abcde"),
    (Sample(("b", "c"), "b"), Sample(("d", "c"), "e"), Sample(("a", "e", "c"), "d")),
    (1, 2, 3),
    next_token={"a": "a", "b": "b", "c": "c", "d": "e", "e": "d"},
)
"""Under c, {b, d} beat c alone: three optimal and two non-optimal tokens, of which S = {b, d} reaches one."""


# Proposition 2


def test_a_violated_closed_form_shows_the_set_that_reaches_too_few() -> None:
    found = LEDGER["ntp.prop2.closed-form"].judge(Run(UNEVEN))
    assert (found.verdict, found.evidence) == (Verdict.VIOLATED, Evidence.EXACT)
    assert found.witness == {
        "query": "c",
        "optimal": ["b", "d", "e"],
        "non_optimal": ["a", "c"],
        "relations": [list(pair) for pair in UNEVEN.orders["c"].relations],
        "S": ["b", "d"],
        "N(S)": ["c"],
        "weights": {"a": "-1/2", "b": "1/3", "c": "-2/3", "d": "1/3", "e": "1/2"},
    }
    assert LEDGER["ntp.prop2.closed-form"].judge(Run(CASES["example-1"]())).witness is None


def test_the_closed_form_is_compared_on_every_token_related_under_a_query() -> None:
    on = Run(UNEVEN)
    values = proposition2._solution(on)
    assert values.label == tuple(f"x = {x!r} under query 'c'" for x in "abcde")
    assert values.value.tolist() == [Fraction(*v) for v in ((-1, 2), (1, 3), (-2, 3), (1, 3), (1, 2))]
    assert proposition2._closed_form(on).value.tolist() == [
        Fraction(*v) for v in ((-3, 5), (2, 5), (-3, 5), (2, 5), (2, 5))
    ]


def test_without_an_exact_solution_the_weights_have_the_solvers_error() -> None:
    data = replace(UNEVEN, embedding=np.diag([1.0, 2.0, 3.0, 1.0, 1.0]))
    on = Run(data)
    on.__dict__["kq"] = inexact(solve_kq(data), weight_radius=0.25)
    values = proposition2._solution(on)
    assert values.radius.tolist() == [0.25 * size * 3 for size in (1, 2, 3, 1, 1)]
    assert values.value.tolist() == on.kq.optimal().scores[:, data.index["c"]].tolist()
    on.__dict__["kq"] = infeasible(Cycle("c", ()), {})
    with pytest.raises(ValueError, match="infeasible"):
        proposition2._weights(on, [("c", "a")], ("",))


def test_the_corollary_compares_the_least_and_the_most_of_each_sample() -> None:
    on = Run(UNEVEN)
    assert proposition2._extremes(on) == [("c", "c", "a")]
    found = LEDGER["ntp.prop2.corollary"].judge(on)
    assert found.verdict is Verdict.VIOLATED
    assert found.measured == pytest.approx(-2 / 3)
    assert found.bound == -0.5
    assert "x = 'c', x' = 'a' under query 'c'" in found.detail
    n = {"a": "b", "b": "c", "c": "a"}
    same = Run(Dataset("same", ("a", "b", "c"), (Sample(("a", "b", "c"), "b"),), (1,), next_token=n))
    assert proposition2._extremes(same) == [("c", "b", "c")]
    on.__dict__["kq"] = inexact(on.kq)
    on.kept.clear()
    assert proposition2._extremes(on) == [("c", "c", "a")]
    on.__dict__["kq"] = infeasible(Cycle("c", ()), {})
    on.kept.clear()
    with pytest.raises(ValueError, match="infeasible"):
        proposition2._extremes(on)


def order_of(edges: list[tuple[str, str]]) -> QueryOrder:
    graph = nx.DiGraph(edges)
    return QueryOrder("q", tuple(sorted(graph)), graph)


@pytest.mark.parametrize("seed", range(30))
def test_the_maximum_flow_decides_as_every_set_does(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    k, m = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    edges = [(f"o{i}", f"x{rng.integers(m)}") for i in range(k)] + [(f"o{rng.integers(k)}", f"x{j}") for j in range(m)]
    edges += [(f"o{rng.integers(k)}", f"x{rng.integers(m)}") for _ in range(int(rng.integers(0, 5)))]
    order = order_of(edges)
    beaten = {f"o{i}": {x for o, x in edges if o == f"o{i}"} for i in range(k)}
    expected = all(
        len(set().union(*(beaten[o] for o in S))) * k >= size * m
        for size in range(1, k + 1)
        for S in combinations(beaten, size)
    )
    assert closed_form.hall_condition(order) == expected
    monkeypatch.setattr(closed_form, "BRUTE_FORCE", 0)
    assert closed_form.hall_condition(order) == expected


def test_many_optimal_tokens_are_decided_by_a_flow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("networkx.maximum_flow_value", lambda *_: pytest.fail("a flow"))
    assert closed_form.hall_condition(order_of([(f"o{i}", "x") for i in range(10)]))
    with pytest.raises(pytest.fail.Exception):
        closed_form.hall_condition(order_of([(f"o{i}", "x") for i in range(11)]))


def test_which_queries_have_the_closed_form_is_said_of_each() -> None:
    two = replace(UNEVEN, samples=(*UNEVEN.samples, Sample(("b", "a"), "b")), counts=(1, 2, 3, 1))
    on = Run(two)
    found = sharp_proposition2._holds(on)
    assert dict(zip(found.label, found.value.tolist(), strict=True)) == {"query 'c'": 0, "query 'a'": 1}
    assert LEDGER["sharp.prop2"].judge(on).verdict is Verdict.HOLDS
    on.__dict__["kq"] = inexact(on.kq)
    with pytest.raises(ValueError, match="no exact solution"):
        sharp_proposition2._holds(on)


# sharp.stage1


@pytest.mark.parametrize(("T", "steps"), [(0, [0]), (1, [0]), (2, [0, 1]), (11, [0, 1, 10]), (101, [0, 1, 10, 100])])
def test_steps_from_the_ray_are_looked_at_at_powers_of_ten(T: int, steps: list[int]) -> None:
    assert sharp_stage1._on_the_ray(Run(CASES["example-1"](), Config(steps1=T))) == steps


def test_what_is_compared_of_stage_1() -> None:
    on = Run(CASES["example-1"](), Config(steps1=12, steps2=1))
    stage, found = on.training.stage1, sharp_stage1._stage1(on)
    entries = dict(zip(found.label, zip(found.value.tolist(), found.radius.tolist(), strict=True), strict=True))
    assert len(entries) == len(found) == 4 + 12 + 12 + 3
    off = stage.distance_error
    for t in (1, 12):
        assert entries[f"direction at t = {t}"] == (stage.distance[t], off[t])
        assert entries[f"norm at t = {t}"] == (stage.norm[t] / (t * on.eta0) - 1, off[t] + FORMULA_ROUNDING)
    A = 12 * on.eta0 / math.sqrt(3)
    bar = on.training.margin_error / A + FORMULA_ROUNDING
    assert entries["common margin A"] == (pytest.approx(on.training.margin / A - 1, abs=1e-15), pytest.approx(bar))
    assert entries["spread of the margins"][0] == pytest.approx(on.training.margin_spread / A)
    assert entries["||W*_ov||^2"] == (0.0, FORMULA_ROUNDING)
    for t in (0, 1, 10, 11):
        value, radius = entries[f"step from the ray at t = {t}"]
        assert abs(value) <= radius < 1e-30
    wide = replace(stage, distance_error=np.where(stage.step >= 5, 6e-10, 4e-10))
    on.__dict__["trained"] = replace(on.training, stage1=wide)
    on.kept.clear()
    assert [name for name in sharp_stage1._stage1(on).label if name.startswith("norm")] == [
        f"norm at t = {t}" for t in (1, 2, 3, 4)
    ]
    none = sharp_stage1._stage1(Run(on.dataset, Config(steps1=0, steps2=0)))
    assert none.label == ("step from the ray at t = 0", "||W*_ov||^2")


# Lemmas 2 and 3


def test_the_bars_of_lemmas_2_and_3() -> None:
    on = Run(CASES["example-1"](), Config(steps1=6, steps2=1))
    stage = on.stage1_steps
    quotient, spread = lemma2._quotient(on), lemma3._label_spread(on)
    assert quotient.step is not None
    assert quotient.step.tolist() == [1, 2, 3, 4, 5, 6]
    for t in range(1, 7):
        low, high = stage.min_margin[t], stage.max_margin[t]
        assert quotient.value[t - 1] == pytest.approx((low + high) / 2)
        error = margin_error(on, stage)[t] + state_error(stage)[t] / math.sqrt(3)
        bar = (high - low) / 2 + error + FORMULA_ROUNDING * max(abs(low), abs(high))
        assert quotient.radius[t - 1] == pytest.approx(bar, rel=1e-9, abs=0)
        assert spread.radius[t - 1] == margin_error(on, stage)[t]
        assert spread.value[t - 1] == stage.label_spread[t]
    assert lemma3._norm(on).tolist() == stage.norm[1:].tolist()
    skew = replace(on.dataset, embedding=np.eye(4) + np.triu(np.full((4, 4), 0.3), 1))
    apart = Run(skew, Config(steps1=6, steps2=1))
    stage, scores = apart.stage1_steps, apart.ov.optimal().scores
    largest = max(scores[y, x] - scores[v, x] for x, y in enumerate((1, 2, 3, 0)) for v in range(4) if v != y)
    low = np.minimum(stage.min_margin, stage.min_margin / largest)[1:]
    high = np.maximum(stage.max_margin, stage.max_margin / largest)[1:]
    error = margin_error(apart, stage)[1:] + state_error(stage)[1:] / apart.norm_ov
    rounding = FORMULA_ROUNDING * np.abs(np.array([low, high])).max(axis=0)
    np.testing.assert_allclose(lemma2._quotient(apart).radius, (high - low) / 2 + error + rounding, rtol=1e-15)
    assert (high - low > 0.01).all()
    two = Dataset.from_sentences("two", ["ab", "ba"])
    assert "only one is not n(x)" in str(lemma3._no_two_labels(Run(two)))
    assert lemma3._no_two_labels(on) is None


# The gradients


@pytest.mark.parametrize("stage", [1, 2])
def test_the_gradients_are_compared_at_random_weights(stage: Any) -> None:
    data = free_dataset(V=5, N=7, L=4, seed=2)
    found = derivatives.compare(Run(data), stage)
    rng = np.random.default_rng(2409_17335)
    expected: list[float] = []
    size: list[float] = []
    for scale in (0.0, 1.0, 3.0):
        weights = [scale * rng.standard_normal((5, 5)) for _ in range(stage)]
        G: Any = stage1_loss_gradient(data, weights[0]) if stage == 1 else loss_gradient(data, *weights)
        for _ in range(6):
            D = rng.standard_normal((5, 5))
            expected.append(float(np.vdot(G, D) / np.linalg.norm(D)))
            size.append(max(float(np.linalg.norm(G)), 0.01))
    np.testing.assert_allclose(found.printed.value, expected, rtol=1e-12)
    np.testing.assert_allclose(found.derivative.value, expected, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(found.size, size, rtol=1e-12)
    radius = EPS * (data.N + data.L_max + 5 + 5) * 16 * np.maximum(size, 1)
    np.testing.assert_allclose(found.printed.radius, radius, rtol=1e-12)
    assert found.derivative.radius.tolist() == found.printed.radius.tolist()
    assert found.printed.label[7] == "logits of deviation 1, direction 2"
    assert found.part == ""


def test_long_and_zero_embeddings_are_scaled() -> None:
    rng = np.random.default_rng(0)
    data = replace(free_dataset(V=3, N=3, L=3, seed=0), embedding=np.array([[3e200, 4e200], [1e200, 0], [0, 2e200]]))
    scaled = derivatives._manageable(data, rng).embeddings
    np.testing.assert_allclose(scaled, [[0.6, 0.8], [0.2, 0], [0, 0.4]], rtol=1e-15)
    zero = derivatives._manageable(replace(data, embedding=np.zeros((3, 2))), rng).embeddings
    assert not zero.any()


def test_how_much_of_a_large_problem_is_looked_at() -> None:
    rng = np.random.default_rng(0)
    for number, entries, taken in (
        (100, 1, 100),
        (101, 1, 100),
        (50, 1_000_000, 20),
        (20, 1_000_000, 20),
        (9, 10**9, 1),
    ):
        found, said = random_part.some(number, "tokens", entries, rng)
        assert len(set(found.tolist())) == len(found) == taken
        assert found.tolist() == sorted(found.tolist())
        assert bool(said) == (taken < number)
    assert random_part.in_part(3, 3, "samples") == ""
    assert random_part.in_part(2, 3, "samples") == "2 of 3 samples, a random part, stand for all."


# The examples


def renamed() -> Dataset:
    data, name = CASES["example-1"](), dict(zip("SVOP", "wxyz", strict=True))
    samples = tuple(Sample(tuple(name[x] for x in s.tokens), name[s.next]) for s in data.samples)
    return replace(data, vocabulary=tuple("zyxw"), samples=samples)


def test_the_examples_are_known_by_any_names() -> None:
    assert example1.names(Run(renamed())) == dict(zip("SVOP", "wxyz", strict=True))
    other = replace(renamed(), samples=(*renamed().samples[:-1], Sample(("w", "w", "w"), "w")))
    assert example1.names(Run(other)) is None
    assert example1.names(Run(UNEVEN)) is None
    with pytest.raises(ValueError, match="not that of Example 1"):
        example1._found(Run(UNEVEN))
    for claim in ("ntp.example1", "ntp.example2"):
        assert LEDGER[claim].judge(Run(renamed(), Config(steps1=200, steps2=200))).verdict is Verdict.HOLDS
        assert LEDGER[claim].judge(Run(other, Config(steps1=2, steps2=2))).verdict is Verdict.NOT_APPLICABLE


def test_the_facts_of_example_1() -> None:
    found, printed = example1._found(Run(renamed())), example1._printed(Run(renamed()))
    facts = dict(zip(found.label, found.value.tolist(), strict=True))
    assert (len(facts), sum(facts.values())) == (16 + 64, 4 + 5)
    assert [name for name, value in facts.items() if value] == [
        *("n(S) = V", "n(V) = O", "n(O) = P", "n(P) = S"),
        *("S >_S P", "V >_V S", "O >_O S", "O >_O V", "O >_P P"),
    ]
    assert printed.value.tolist() == found.value.tolist()


def test_the_lead_of_example_2_is_a_softmaxs() -> None:
    on = Run(renamed(), Config(steps1=40, steps2=30, lr2=0.1))
    found, data, training = example2._lead(on), on.dataset, on.training
    assert found.label == ("SP -> V", "OSP -> P")
    S = training.stage2.score_matrix(30, 4)
    for number, (sentence, answer) in enumerate((("wz", "x"), ("ywz", "z"))):
        tokens = [data.index[x] for x in sentence]
        phi = np.exp(S[tokens, tokens[-1]])
        phi /= phi.sum()
        logits = training.B[:, tokens] @ phi
        right = data.index[answer]
        assert found.value[number] == pytest.approx(logits[right] - np.delete(logits, right).max(), abs=1e-12)
        other = sum(p for x, p in zip(sentence, phi, strict=True) if data.collocation.function[x] != answer)
        moved = moved_attention(score_error(on)[-1:], np.array([math.log(other)]))[0]
        bar = training.margin * moved + 2 * training.margin_error + FORMULA_ROUNDING * abs(found.value[number])
        assert found.radius[number] == pytest.approx(bar, rel=1e-6, abs=0)
