"""Lemma 4 as a claim: one step of SGD on whole matrices, the factor K, and whole runs."""

from dataclasses import replace

import numpy as np

from marginaudit.claims.snap import ClassRun
from marginaudit.claims.snap.appendix_e_attention import lemma4
from marginaudit.orders.snap import SequenceClasses, single_common_dataset
from marginaudit.training.approximation import Approximation
from marginaudit.training.snap.attention.logits import Logits
from marginaudit.training.snap.attention.rates import rates
from marginaudit.training.snap.limit.fluctuation import fluctuation
from tests.claims.snap.samples import run
from tests.measured import judgement
from tests.training.snap.dense import gradient, padded, sgd


def test_a_step_of_sgd_on_whole_matrices() -> None:
    """The mean over classes of what one step adds to z, Y from steps on whole matrices: eq. 10 divided by K."""
    data = replace(single_common_dataset(K=3, M=5000, seed=4, queries=2), M=40)
    M, K, sequence = data.M, data.K, [0, 1, 2, 2, 0, 1, 0, 0, 2, 1]
    F = data.overlap.F
    Y = sgd(F, sequence, M, 0.5, modified=True)[-1]
    logits = Logits(data)
    moved = np.zeros(len(logits.names))
    for n, c in enumerate(data.classes):
        f = padded(F, M)[:, n]
        added = (f * (gradient(Y, F, n) - f * (f @ gradient(Y, F, n)))) / K
        for token in c.support:
            moved[logits.position(n, token)] += added[data.contextual.index(token)]
    none = Approximation(np.zeros(len(moved)), np.zeros(len(moved)))
    at = fluctuation(np.bincount(sequence, minlength=K), M, 0.5)
    np.testing.assert_allclose(moved, rates(logits, none, at).z_dot.value / K, rtol=1e-10)
    assert np.abs(moved).min() > 1e-6


def test_a_step_is_compared_on_the_scale_of_the_token_that_moves_most() -> None:
    """The common token's, downwards."""
    at = run("snap-single", steps=1000, seeds=2)
    places = lemma4.of_eq_10(at).value.reshape(-1, len(at.path.logits.names))
    assert (-places.min(axis=1) > places.max(axis=1)).all()
    scale = judgement("snap.lemma4").scale(at).reshape(places.shape)
    assert (scale == -places.min(axis=1, keepdims=True)).all()


def test_whole_runs() -> None:
    """The slower attention learns, the nearer whole runs of the modified gradient are; eq. 7's stay far below."""
    shares = {}
    for lr_z in (0.05, 0.0005):
        detail = lemma4.whole_runs(run("snap-single", lr_z=lr_z))
        text = detail.split("with eta_Z/K: ")[1]
        shares[lr_z] = [float(part.split(" +- ")[0].split()[-1]) for part in text.split(" at t = ")[:-1]]
    late = {lr_z: (found[1], found[3]) for lr_z, found in shares.items()}
    assert 0.7 < late[0.05][0] < late[0.0005][0] < 1.05
    assert all(eq_7 < 0.05 for _, eq_7 in late.values())
    assert "z of the under q " in detail
    at_the_edge = lemma4.whole_runs(run("snap-single", lr_z=1e-100, at=(100,)))  # eta_Z/K is no setting
    assert "at t = 34, 0.97 +- 0.00069 at t = 87 " in at_the_edge
    apart = [("m", "q", {"a": 1.0}), ("n", "q", {"b": 1.0})]
    assert "No z moves" in lemma4.whole_runs(ClassRun(SequenceClasses.from_weights("apart", 5000, apart)))
    assert "not followed to t_0 = 43625" in lemma4.whole_runs(run("snap-single", lr_y=0.001))
