"""The papers of examples/light: their verdicts, and their numbers by a second way."""

from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import flint
import mpmath
import pytest

from marginaudit import WithProbability
from tests.command_line import Command
from tests.pages import ROOT

LIGHT = ROOT / "examples" / "light"

VERDICTS = {
    "heavy_ball": {
        "heavy-ball.cesaro": {"holds": 6},
        "heavy-ball.cesaro.control": {"holds": 2, "violated": 1},
        "heavy-ball.quadratic": {"holds": 1, "violated": 3},
        "heavy-ball.quadratic.rederived": {"holds": 4},
        "heavy-ball.quadratic.control": {"holds": 3, "violated": 1},
    },
    "ntp_linear": {
        "ntp-linear.eq9": {"holds": 3},
        "ntp-linear.eq9.control": {"holds": 2, "violated": 1},
        "ntp-linear.eq15": {"violated": 3},
        "ntp-linear.eq15.rederived": {"holds": 3},
        "ntp-linear.contexts": {"holds": 1, "violated": 2},
        "ntp-linear.contexts.rederived": {"holds": 3},
        "ntp-linear.entropy": {"holds": 1},
        "ntp-linear.entropy.any-data": {"holds": 2, "violated": 1},
    },
    "genetic_drift": {
        "genetic-drift.cga": {"holds": 2, "vacuous": 2},
        "genetic-drift.cga.control": {"holds": 1, "violated": 3},
        "genetic-drift.pbil": {"holds": 1, "vacuous": 1},
        "genetic-drift.variance": {"holds": 4},
        "genetic-drift.hitting-time": {"holds": 4},
    },
}


def loaded(name: str) -> SimpleNamespace:
    return SimpleNamespace(**run_path(str(LIGHT / f"{name}.py")))


@pytest.mark.parametrize("name", VERDICTS)
def test_a_light_paper_has_its_verdicts_and_its_controls_are_noticed(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = LIGHT / f"{name}.py"
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 250
    rows = Command(capsys).json("audit", "--claims", file, "--out", "report")["verdicts"]
    assert "severity not stated" not in Path("report/report.html").read_text(encoding="utf-8")
    found: dict[str, Counter[str]] = {}
    for row in rows:
        if row["verdict"] != "not-applicable":
            found.setdefault(row["claim"], Counter())[row["verdict"]] += 1
    assert {claim: dict(counts) for claim, counts in found.items()} == VERDICTS[name]
    evidence = {row["evidence"] for row in rows if row["verdict"] != "not-applicable"}
    assert evidence <= {"exact", "certified", "sampled"}


def test_the_mean_of_heavy_ball_is_worst_for_a_function_with_a_linear_part() -> None:
    """f = e |x| - e^2/2 beyond e, as in Drori and Teboulle: without leaving the linear part, f(mean) is e (1 - e c)."""
    paper = loaded("heavy_ball")
    [claim] = [claim for claim in paper.CLAIMS if claim.id == "heavy-ball.cesaro"]
    p = SimpleNamespace(**paper.INSTANCES["short"])
    x, before, moved = Fraction(0), Fraction(0), [Fraction(0)]
    for _ in range(p.T):
        x, before = x - p.alpha + p.beta * (x - before), x
        moved.append(x)
    c = -sum(moved) / (p.T + 1) + Fraction(1, 2)
    assert claim.judgement.exact(p) == 1 / (4 * c)


def test_loss_and_its_bound_agree_with_mpmath() -> None:
    paper = loaded("ntp_linear")
    p = SimpleNamespace(**paper.INSTANCES["far"])
    with mpmath.workdps(60), flint.ctx.workprec(256):
        a, b, R = (mpmath.mpf(x.numerator) / x.denominator for x in (p.a, p.b, p.R))
        rows = ((a, 1 - a), (b, 1 - b))
        excess = sum(
            mpmath.mpf(1) / 2 * q * mpmath.log1p(q * mpmath.sqrt((1 - q) / q) * mpmath.exp(-R))
            for row in rows
            for q in row
        )
        assert mpmath.almosteq(mpmath.mpf(paper.excess(p).str(40, radius=False)), excess, 1e-30)
        norm = mpmath.sqrt(
            sum(
                mpmath.log(q / (1 - q)) ** 2 / (2 * (mpmath.mpf(s.numerator) / s.denominator) ** 2)
                for q, s in ((a, p.s), (b, p.t))
            )
        )
        bound = 3 * mpmath.exp(norm * mpmath.sqrt(2) * mpmath.mpf(1)) * mpmath.exp(-R)
        assert mpmath.almosteq(mpmath.mpf(paper.decay(p).str(40, radius=False)), bound, 1e-30)


def test_contexts_of_equal_length_never_become_fewer() -> None:
    paper = loaded("ntp_linear")
    sentences = ["".join(letters) for letters in product("ab", repeat=3)]
    for chosen in product((0, 1), repeat=8):
        some = tuple(s for s, taken in zip(sentences, chosen, strict=True) if taken)
        if some:
            assert max(paper.sizes(SimpleNamespace(sentences=some))) <= 0


def chain(K: int) -> list[Any]:
    """Transition rows of the cGA as Fractions."""
    rows = []
    for k in range(K + 1):
        move = Fraction(k * (K - k), K * K)
        rows.append({k + 1: move, k - 1: move, k: 1 - 2 * move} if 0 < k < K else {k: Fraction(1)})
    return rows


def test_sampled_frequencies_and_hitting_times_are_those_of_the_chain() -> None:
    paper = loaded("genetic_drift")
    for name in ("pair", "cga-short"):
        p = SimpleNamespace(**(paper.pair.values if name == "pair" else paper.INSTANCES[name]))
        at, rows = {p.K // 2: Fraction(1)}, chain(p.K)
        for _ in range(p.T):
            moved: Counter[int] = Counter()
            for k, share in at.items():
                for to, chance in rows[k].items():
                    if abs(Fraction(to, p.K) - Fraction(1, 2)) < p.gamma:
                        moved[to] += share * chance
            at = dict(moved)  # type: ignore[arg-type]
        exact = float(sum(at.values()))
        found = WithProbability(paper.inside(paper.cga), lambda _: 0.5).judge(p)
        assert found.measured == pytest.approx(exact, abs=0.012)
    for K in (2, 4, 10):
        times = mpmath.lu_solve(
            mpmath.matrix([[(i == j) - float(chain(K)[i].get(j, 0)) for j in range(1, K)] for i in range(1, K)]),
            mpmath.matrix([1] * (K - 1)),
        )
        assert float(paper.hitting_time(SimpleNamespace(K=K))) == pytest.approx(float(times[K // 2 - 1]))


def test_a_probability_of_0_or_less_says_nothing() -> None:
    def head(_: Any, rng: Any, n: int) -> Any:
        return rng.random(n) < 0.5

    for stated in (0.0, -3.0):
        found = WithProbability(head, lambda _, stated=stated: stated).judge({})  # type: ignore[misc]
        assert (found.verdict.value, found.slack) == ("vacuous", None)
    with pytest.raises(ValueError, match="expected a probability"):
        WithProbability(head, lambda _: 1.5).judge({})
