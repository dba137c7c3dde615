"""Steps and numbers of the proofs of printed statements: docs/proofs.md, sections 12 to 16, proofs-snap.md, 5 to 7."""

import math
import re
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import brentq

from marginaudit.claims.ntp import Config, Run
from marginaudit.margins.ntp import solve_kq
from marginaudit.orders.ntp import SENTENCES, Dataset, Sample, dataset_from_document, free_dataset
from marginaudit.orders.snap import CASES, SequenceClasses, overlap_of
from marginaudit.reports import LEDGER
from marginaudit.training.approximation import Approximation
from marginaudit.training.ntp import loss_gradient
from marginaudit.training.snap.attention.logits import Logits
from marginaudit.training.snap.attention.rates import mean_counts, rates
from marginaudit.training.snap.limit.backpropagated import mended_beta
from marginaudit.training.snap.limit.continuous import continuous
from marginaudit.training.snap.limit.fluctuation import fluctuation
from marginaudit.training.snap.limit.overlap import overlap
from tests.pages import ROOT
from tests.training.snap.growth import DIGITS, lags, precise_logit, precise_star, zeros

NTP = (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8")
SNAP = (ROOT / "docs" / "proofs-snap.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def digits() -> Any:
    with mp.workdps(DIGITS):
        yield


def section(page: str, number: str) -> str:
    return re.split(r"^### ", page.split(f"### {number} ")[1], maxsplit=1, flags=re.M)[0]


def number(page: str, place: str, pattern: str) -> float:
    [found] = re.findall(pattern, section(page, place))
    return float(found)


# proofs.md


def test_3_3_what_the_rederived_lemma_7_leaves() -> None:
    """Lambda <= 4 p L^2 w (1 + log(2 L ||W||)) at its tightest: w = 1/sqrt 2, ||W|| = 4 sqrt2 L w."""
    w = 1 / np.sqrt(2)
    for L in range(2, 200):
        for log_p in (0.0, 0.1, 1.0, 5.0, 50.0):
            right = 4 * np.exp(log_p) * L**2 * w * (1 + np.log(2 * L * 4 * np.sqrt(2) * L * w))
            middle = np.exp(log_p) * (1 + 1.5 * np.log(8 * L**2))
            assert np.log(2 * L**3) + log_p <= middle <= right


def test_3_5_a_norm_of_2500_refutes_lemma_7() -> None:
    norm = number(NTP, "14.5", r"is below \$0\.3\$ at \$(\d+)\$")
    rho = 10 ** number(NTP, "14.5", r"rho=10\^\{(-\d)\}")
    a = 64 * (1 + math.log(4 * norm)) / norm
    assert 0.25 < a < 0.3
    assert 1.26 < (1 + a) * (1 + rho) * math.sqrt(1 + rho**2) < 1.31 < math.sqrt(2)
    assert f"{4 * 4 * 2**2}(1+" in section(NTP, "14.5"), "4 N L^2 w^2 of N = 4, L = 2, w = 1"


def one_sample() -> Dataset:
    following = dict(zip("oyxz", "yxzo", strict=True))
    return Dataset("one", tuple("oyxz"), (Sample(tuple("oyxx"), "y"),), (1,), following)


@pytest.mark.parametrize("A", [5.5, 5.77, 5.78, 6.0, 52.0])
def test_4_2_the_first_step_raises_a_losing_token(A: float) -> None:
    data = one_sample()
    gradient = loss_gradient(data, A * Run(data, Config()).ov.optimal().matrix, np.zeros((4, 4)))
    rises = -gradient[data.index["y"], data.index["x"]] > 0
    assert rises == (math.exp(A / 4) > 2 + math.sqrt(5))


def test_4_2_the_number_at_which_it_does() -> None:
    least = number(NTP, "15.2", r"\$A\\gt(5\.\d+)\$")
    assert least - 0.01 < 4 * math.log(2 + math.sqrt(5)) < least
    assert 900 * 0.1 / math.sqrt(3) > number(NTP, "15.2", r"sqrt3\\gt(\d+)") > 50


@pytest.mark.parametrize("A", [51.0, 51.96, 80.0, 1000.0])
def test_4_2_on_data_closed_under_prefixes_too(A: float) -> None:
    """The prefixes of y o x x x."""
    text = section(NTP, "15.2")
    following = dict(zip("yoxz", "oxzy", strict=True))
    samples = tuple(Sample(tuple("yoxxx"[:k]), "oxxxx"[k - 1]) for k in range(1, 6))
    data = Dataset("prefixes", tuple("yoxz"), samples, (1,) * 5, following)
    assert SENTENCES.check(data, "prefix_closed").holds
    gradient = loss_gradient(data, A * Run(data, Config()).ov.optimal().matrix, np.zeros((4, 4)))
    found = -5 * gradient[data.index["y"], data.index["x"]] / A
    assert found == pytest.approx(-(1 / 9 - 1 / 16 - 2 / 25), abs=1e-4)
    assert r"\frac19-\frac1{16}-\frac2{25}" in text
    assert found > -number(NTP, "15.2", r"below \$(-0\.\d+)\$")
    assert number(NTP, "15.2", r"at every \$A\\gt(\d+)\$") <= A


@pytest.mark.parametrize("seed", range(12))
def test_4_1_optimal_tokens_have_positive_weight_and_the_others_negative(seed: int) -> None:
    data = free_dataset(V=6, N=8, L=4, seed=seed, optimal=(1, 3))
    weights = solve_kq(data).exact().weights_exact
    for query, order in data.orders.items():
        assert all(weights[query][x] > 0 for x in order.optimal)
        assert all(weights[query][x] < 0 for x in order.non_optimal)
        assert all(weights[query].get(x, 0) == 0 for x in order.non_comparable)


def test_4_1_and_4_5_scores_have_their_sign_from_the_first_step_on() -> None:
    run = Run(dataset_from_document({"sentences": [list("SVOP"), list("VOP"), list("OPP"), list("PSV")]}), Config())
    stage, index = run.training.stage2, run.dataset.index
    kept = stage.step >= 1
    for query, order in run.dataset.orders.items():
        q = index[query]
        assert (stage.scores_under(q, [index[x] for x in order.optimal])[:, kept] > 0).all()
        assert (stage.scores_under(q, [index[x] for x in order.non_optimal])[:, kept] < 0).all()
        assert (stage.scores_under(q, [index[x] for x in order.non_comparable])[:, kept] == 0).all()


def test_5_4_a_threshold_whose_factor_is_5_is_beyond_e_squared() -> None:
    most = number(NTP, "16.4", r"t/\\ell\^2\\le(4\.2)")
    t = np.geomspace(2, math.e**2, 1000)
    assert 4.1 < (t / np.log(t) ** 2).max() <= most < number(NTP, "16.4", r"kappa\\ge(5)")
    beyond = np.geomspace(math.e**2, 1e9, 1000)
    assert (np.diff(beyond / np.log(beyond) ** 2) > 0).all()


def test_5_5_the_weights_of_theorem_2() -> None:
    text = section(NTP, "16.5")
    assert 1 / (1 + math.exp(-1)) < 0.74
    assert 864 * 64 * math.log(2) ** 2 / 8 > number(NTP, "16.5", r"eta/8\\gt(\d+)") > 1000
    assert r"864\cdot64" in text


def test_5_5_how_rare_a_sample_is_that_refutes_the_bounds_of_stage_2() -> None:
    """exp(-sqrt(2) t eta) to one digit, at the default eta and the step from which each printed bound speaks."""
    eta = 0.05 / math.sqrt(2)

    def crossing(factor: float) -> float:
        return math.exp(brentq(lambda log_t: log_t - math.log(factor * log_t**2 / eta), 5, 60))

    speaks = {
        "ntp.theorem1.direction": crossing(54 * 4 * 2**4 / 0.2),
        "ntp.theorem2.weight": crossing(1696 * 4 * 2**4),
        "ntp.lemma7": 2500 * math.sqrt(2) / eta,
    }
    for name, t in speaks.items():
        least = float(f"{math.sqrt(2) * t * eta:.0e}")
        assert (
            f"eps small enough: about exp(-{least:.0f} - A) at the default step size" in LEDGER[name].standing.formula
        )


# proofs-snap.md


@pytest.mark.parametrize("M", [5, 30, 1000])
@pytest.mark.parametrize("eta", [0.05, 0.5, 1.0, 3.0])
def test_5_6_the_gap_is_at_most_eta_and_one_c_serves(M: int, eta: float) -> None:
    steps = 60
    x = precise_star(steps, M, eta)
    gaps = [value - precise_logit(s, M, eta) for s, value in enumerate(x)]
    assert max(gaps) <= eta
    assert min(gaps) >= 0
    scan = [lag for s, lag in enumerate(lags(x, M, eta)) if s <= math.log(M) / eta]
    assert max(scan) < min(math.exp(eta) * math.log(2) / 2, 1 / eta) <= 1


@pytest.mark.parametrize("log_M", [math.log(1000), 10.0, 50.0, 300.0])
def test_5_8_the_sizes_of_omega(log_M: float) -> None:
    M: Any = mp.exp(log_M)
    x_0, x_1 = zeros(M)
    omega_0, omega_1 = (x_0 - mp.log1p(-1 / M)) / log_M, x_1 / log_M - 1
    assert omega_0 < number(SNAP, "5.8", r"omega_0\\lt(\d)/") / ((M - 1) * log_M)
    low, high = (number(SNAP, "5.8", pattern) for pattern in (r"between \$([\d.]+)\$", r"and \$([\d.]+)\$ times"))
    assert low <= omega_1 * log_M / mp.log(log_M) <= high


def test_5_9_the_constant_of_theta() -> None:
    factor = number(SNAP, "5.9", r"L\\le([\d.]+)\\sqrt\{N\+L\}")
    lag = number(SNAP, "5.9", r"L\\le([\d.]+)\\sqrt N\$")
    constant = number(SNAP, "5.9", r"rvert\\le(\d)\\frac K")
    assert math.e / 2 <= factor
    for N in (1, 2, 10, 10**6):
        largest = brentq(lambda L, N=N: L - factor * math.sqrt(N + L), 0, 100 * N + 100)
        assert largest <= lag * math.sqrt(N)
    assert 1 + (1 + lag) / math.sqrt(math.log(2)) <= constant
    assert (
        number(SNAP, "5.9", r"lvert\\theta_n\\rvert\\le\\frac K\{\\sqrt N\}\(\\sqrt\{\\ln\\frac K\\delta\}\+([\d.]+)")
        == 1 + lag
    )


@pytest.mark.parametrize(("M", "eta", "N"), [(5, 1.0, 200), (1000, 0.5, 400), (50, 0.1, 400)])
def test_5_9_the_lag_is_below_that_bound(M: int, eta: float, N: int) -> None:
    x = precise_star(N, M, eta)
    L = mp.exp(eta) / 2 * mp.log((M - 1 + mp.exp(x[N])) / M)
    assert lags(x, M, eta)[N] <= L <= number(SNAP, "5.9", r"L\\le([\d.]+)\\sqrt N\$") * mp.sqrt(N)


@pytest.mark.parametrize("seed", range(8))
def test_6_2_the_diagonal_of_e_prime(seed: int) -> None:
    rng = np.random.default_rng(seed)
    P = rng.random((4, 9)) * (rng.random((4, 9)) < 0.6) + np.eye(4, 9)
    own = overlap_of(P / P.sum(axis=1, keepdims=True))
    diagonal = np.diag(overlap(own.F).E_prime.value)
    apart = ~own.E.any(axis=0)
    assert (diagonal[apart] == 0).all()
    assert (diagonal[~apart] < 0).all()


@pytest.mark.parametrize("K", [2, 3, 7])
@pytest.mark.parametrize("e", [0.01, 0.2, 0.9])
def test_7_1_beta_of_equal_overlaps_is_positive(K: int, e: float) -> None:
    """(q_1 e + |q_0|)/D against the product's eq. 88, where all classes were drawn alike."""
    M = 400
    features = np.linalg.cholesky(np.full((K, K), e) + (1 - e) * np.eye(K)).T
    at = fluctuation(np.full((1, K), 3), M, 0.5)
    drawn = (1 + at.sigma.value[0, 0]) * (1 + at.theta.value[0, 0])
    D = (1 - e) * (1 + (K - 1) * e)
    q_1, q_0 = M / (M - 1), -M / (M - 1) ** 2
    beta = mended_beta(overlap(features), at).value[0][~np.eye(K, dtype=bool)]
    assert beta / drawn == pytest.approx((q_1 * e + abs(q_0)) / D, rel=1e-9, abs=0)


@pytest.mark.parametrize("seed", range(4))
def test_7_2_how_distinct_tokens_and_a_single_common_one_move(seed: int) -> None:
    rng = np.random.default_rng(seed)
    P = rng.random(4)
    data = SequenceClasses.from_weights(
        "pair", 400, [("m", "q", {"a": P[0], "x": P[1]}), ("n", "q", {"b": P[2], "x": P[3]})]
    )
    logits = Logits(data)
    z = Approximation(rng.standard_normal(3), np.zeros(3))
    found = rates(logits, z, mean_counts(continuous(np.array(50.0), data.M, 0.5), data.K))
    f, xi = found.f.value, found.gradient.xi.value
    assert (xi > 0).all()
    column = data.contextual.index
    for n, token in enumerate("ab"):
        moved = found.z_dot.value[logits.position(n, token)]
        assert moved == pytest.approx(f[n, column(token)] ** 2 * xi[n], rel=1e-9, abs=0)
    common = found.z_dot.value[logits.position(0, "x")]
    assert common == pytest.approx(-((1 - f[:, column("x")] ** 2) * xi).sum(), rel=1e-9, abs=0)


def test_7_3_how_common_tokens_of_symmetric_classes_move() -> None:
    data = CASES["snap-symmetric"]()
    logits, K = Logits(data), data.K
    size = dict(zip("abcdefghi", [0.3, -0.2, 0.5] * 3, strict=True)) | {"the": -0.4, "of": 0.1}
    z = Approximation(np.array([size[token] for _, token in logits.names]), np.zeros(len(logits.names)))
    found = rates(logits, z, mean_counts(continuous(np.array(50.0), data.M, 0.5), K))
    e, beta = float(found.overlap.E[0, 1]), float(found.gradient.beta.value[0, 1])
    assert np.ptp(found.overlap.E[~np.eye(K, dtype=bool)]) < 1e-14
    for token in ("the", "of"):
        f = found.f.value[0, data.contextual.index(token)]
        moved = found.z_dot.value[logits.position(0, token)]
        gamma = float(found.gradient.gamma.value)
        assert moved == pytest.approx(-gamma * K * (K - 1) * beta * f**2 * (1 - e), rel=1e-9, abs=0)


def test_7_6_six_tokens_are_enough_and_five_are_not() -> None:
    """The slope of ln x against ln y where y >= 2 x_1, and each number that steps 3 to 5 name."""

    def p(x: float, M: int) -> float:
        return float(mp.exp(x) + (M - 1) * x)

    def f(x: float, M: int) -> float:
        return float((x - 2) * mp.exp(x) - (M - 1) * x + 2)

    for M in (6, 7, 8, 14, 100, 10**6):
        x_1 = zeros(M)[1]
        first = mp.findroot(
            lambda x, M=M, x_1=x_1: mp.exp(x) + (M - 1) * x - 2 * M * x_1 - 1, (x_1, x_1 + 1), solver="anderson"
        )
        for x in np.linspace(float(first), 60, 200):
            assert (p(x, M) - 1) / (x * (mp.exp(x) + M - 1)) < 0.5
    assert float(zeros(8)[1]) > 3 > float(zeros(7)[1])
    assert mp.exp(3) < 7 * 3
    for M, least, end, before, room in ((7, 2.83, 3.09, 40.62, 7), (6, 2.54, 2.84, 31.48, 2)):
        assert mp.exp(least) < (M - 1) * least
        assert p(end, M) < before <= 2 * M * least + 1
        assert f(end, M) > room
    assert (2 - 1) * mp.exp(2) > 7 - 1  # f'
    assert mp.exp(2.154) > 4 * 2.154
    assert 2 * 5 * 2.154 + 1 <= 22.54 < p(2.53, 5)
    assert f(2.53, 5) < -1
    x = mp.findroot(lambda x: mp.exp(x) + 4 * x - 2 * 5 * zeros(5)[1] - 1, (2, 3), solver="anderson")
    assert (p(x, 5) - 1) / (x * (mp.exp(x) + 4)) > 0.51
