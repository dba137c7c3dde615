"""What must not change a verdict: the tokens' names, repeating everything, rotating the embedding."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ortho_group

from marginaudit.orders.ntp import ASSUMPTIONS, CASES, Dataset, Sample, broken
from marginaudit.reports import Verdict
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.paper import PAPER
from tests.measured import measured

CONFIG = Config(steps1=200, steps2=200)


def relabelled(dataset: Dataset) -> Dataset:
    order = np.random.default_rng(5).permutation(dataset.V)
    name = {x: f"t{order[i]}" for i, x in enumerate(dataset.vocabulary)}
    samples = [Sample(tuple(name[x] for x in s.tokens), name[s.next]) for s in dataset.samples]
    return replace(
        dataset,
        vocabulary=tuple(sorted(name.values())),
        samples=tuple(reversed(samples)),
        counts=tuple(reversed(dataset.counts)),
        next_token={name[x]: name[y] for x, y in dataset.next_token.items()},
    )


def repeated(dataset: Dataset) -> Dataset:
    return replace(dataset, counts=tuple(2 * count for count in dataset.counts))


def rotated(dataset: Dataset) -> Dataset:
    rotation = ortho_group.rvs(dataset.V + 3, random_state=np.random.default_rng(8))
    return replace(dataset, embedding=np.ascontiguousarray(rotation[: dataset.V]))


def verdicts(dataset: Dataset) -> dict[str, tuple[str, str]]:
    run = Run(dataset, CONFIG)
    findings = {claim.id: measured(claim).judge(run) for claim in PAPER.claims}
    return {claim: (found.verdict, found.evidence) for claim, found in findings.items()}


def test_verdicts_are_invariant() -> None:
    dataset = CASES["section-7"]()
    expected = verdicts(dataset)
    assert Verdict.BROKEN not in {verdict for verdict, _ in expected.values()}
    change: Callable[[Dataset], Dataset]
    for change in (relabelled, repeated, rotated):
        assert verdicts(change(dataset)) == expected, change.__name__


@pytest.mark.parametrize("assumption", ASSUMPTIONS)
def test_breaking_an_assumption_makes_exactly_its_claims_not_applicable(assumption: str) -> None:
    whole = CASES["section-7"]()
    run = Run(broken(whole, assumption), CONFIG)
    before = Run(whole, CONFIG)
    for claim in PAPER.claims:
        found = measured(claim).judge(run)
        if assumption in claim.assumptions:
            assert found.verdict is Verdict.NOT_APPLICABLE
            assert found.detail.startswith(("Assumption", "The statement is about"))
            assert found.witness is not None
        else:
            implied = [name for name in claim.assumptions if not run.assumption(name).holds]
            if not implied:
                assert found.verdict == measured(claim).judge(before).verdict, claim.id
