"""Planted power laws: the constant, the powers and the nearest dataset come back; the command on a whole paper."""

import math
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
import pytest
from scipy.stats import linregress, t, ttest_1samp

from marginaudit.claims.answers.sweeps import Design
from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded, Equal
from marginaudit.claims.judgements.bounded import Threshold
from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.series import series
from marginaudit.orders import InputError
from marginaudit.orders.ntp import CASES
from marginaudit.reports import LEDGER
from marginaudit.reports.command.tighten import powers as factor_rows
from marginaudit.reports.hunt import Hunt
from marginaudit.reports.ntp.paper import PAPER as NTP
from marginaudit.reports.starts.paper import MeanRun, Numbers
from marginaudit.reports.study.executor import Executor, Task
from marginaudit.reports.study.store import Store
from marginaudit.reports.tighten.fit import Tightened, tightened
from marginaudit.reports.tighten.measure import DRAWN, DesignPoint, Measured, cases, measured
from marginaudit.reports.tighten.picture import picture
from tests.command_line import Command, dataset_file
from tests.third_paper.installed import forget_papers, install
from tests.third_paper.paper import PAPER, SWEEPS

T = np.arange(1, 101)
N, RATE = (4, 2, 8, 16), (0.5, 0.25, 0.125)


@dataclass(frozen=True)
class Stub:
    """All that tightening asks a paper for."""

    sweeps: Any
    kind: Any = PAPER.kind
    config: Any = PAPER.config
    space: Any = None
    run: Any = MeanRun


STUB: Any = Stub(replace(SWEEPS, designs=(Design("counting", {"N": N, "rate": RATE}),)))


def claim(**judged: Any) -> Claim:
    return Claim(
        id="planted", source="here", statement="f <= g", formula="f", assumptions=(), judgement=Bounded(**judged)
    )


def law(run: MeanRun, t: Any) -> Any:
    """0.7 N^1.5 rate^-1 t^-2, N at most 16."""
    return 0.7 * run.dataset.N**1.5 / run.config.rate * np.asarray(t, dtype=float) ** -2


def scattered(size: float, bar: float = 0.0) -> Any:
    """The law times a factor drawn anew for each dataset, as its mean is the seed's."""

    def measure(run: MeanRun) -> Any:
        rng = np.random.default_rng(int(run.dataset.mean * 2 + 1000 * run.dataset.N + 1e6 * run.config.rate))
        value = law(run, T) * math.exp(size * rng.normal())
        return series(value, radius=bar * value, step=T)

    return measure


def stated(run: MeanRun, t: Any) -> Any:
    return 5.0 * run.dataset.N**2 / t


def runs(planted: Claim, given: Sequence[Numbers] = (), paper: Any = STUB) -> list[Measured]:
    made = cases(paper, paper.config(), given)
    found = [measured(planted, paper, case, MeanRun(case.dataset, case.config)) for case in made]
    return [one for one in found if isinstance(one, Measured)]


def powers(found: Tightened) -> dict[str, Any]:
    return {one.factor: one for one in found.exponents}


def test_a_planted_law_comes_back() -> None:
    """The ratio is 0.14 N^-0.5 rate^-1 t^-1: most at N = 2, t = 1, with the middle rate; then at the least rate."""
    found = tightened("upper", runs(claim(measure=scattered(0.0), upper=stated)))
    assert found.constant == pytest.approx(0.14 * 4**-0.5 / 0.125, rel=1e-9, abs=0)
    assert (found.nearest.step, found.nearest.settings) == (1, {"rate": 0.125})
    assert found.nearest.dataset.startswith("counting N=4 seed=")
    assert found.window == (1.0, 100.0)
    of = powers(found)
    for name, power, bound in (("t", -2, -1), ("N", 1.5, 2), ("rate", -1, 0)):
        low, high = of[name].interval
        assert low - 1e-9 <= power <= high + 1e-9
        assert high - low < 1e-6
        assert of[name].bound == pytest.approx(bound, abs=1e-9)
    assert of["t"].decades == pytest.approx(2)
    assert of["N"].decades == pytest.approx(0.5 * math.log10(8))


def test_a_lower_bound_has_the_largest_constant_and_no_less_room_than_it_has() -> None:
    found = tightened("lower", runs(claim(measure=scattered(0.0), lower=lambda run, t: law(run, t) / 3 / t)))
    assert found.constant == pytest.approx(3, rel=1e-9, abs=0)
    assert found.room == pytest.approx(math.log10(3))
    assert powers(found)["t"].decades == pytest.approx(2)


def test_error_bars_count_in_the_constant_and_in_intervals() -> None:
    exact, barred = (tightened("upper", runs(claim(measure=scattered(0.0, bar), upper=stated))) for bar in (0.0, 0.1))
    assert barred.constant == pytest.approx(1.1 * exact.constant, rel=1e-9, abs=0)
    lengths = [high - low for found in (exact, barred) for low, high in [powers(found)["rate"].interval]]
    assert lengths[1] > lengths[0] + 0.05
    longer_bar, (low, high) = -math.log(0.9), powers(barred)["t"].interval
    assert (high - low) / 2 == pytest.approx(3 / math.log(100) * longer_bar, rel=0.05, abs=0)
    below = tightened("lower", runs(claim(measure=scattered(0.0, 0.1), lower=law)))
    assert below.constant == pytest.approx(0.9, rel=1e-9, abs=0)


def only_N(*designs: Design) -> Any:
    return Stub(replace(STUB.sweeps, designs=designs, factors={"N": SWEEPS.factors["N"]}))


def test_intervals_are_students() -> None:
    """Beside scipy's, of a line through the logarithms of each run, and of the mean of the runs' slopes."""

    def noise(run: MeanRun) -> Any:
        return np.random.default_rng(int(2 * run.dataset.mean + 1000 * run.dataset.N)).normal(size=2)

    def measure(run: MeanRun) -> Any:
        size, slope = noise(run)
        return series(run.dataset.N**1.5 * np.exp(0.3 * size) * (T / 10.0) ** (-2 + 0.2 * slope), radius=0.0, step=T)

    along_N = only_N(Design("counting", {"N": N, "rate": (0.5,)}))
    found = powers(tightened("upper", runs(claim(measure=measure, upper=stated), paper=along_N)))
    made = [MeanRun(case.dataset, case.config) for case in cases(along_N, along_N.config(), [])]
    size, slope = np.array([noise(run) for run in made]).T
    log_N = np.log([run.dataset.N for run in made])
    line = linregress(log_N, 1.5 * log_N + 0.3 * size)
    half = t.ppf(0.975, len(made) - 2) * line.stderr
    assert found["N"].interval == pytest.approx((line.slope - half, line.slope + half))
    of_slopes = ttest_1samp(-2 + 0.2 * slope, 0).confidence_interval(0.95)
    assert found["t"].interval == pytest.approx((of_slopes.low, of_slopes.high))


def test_a_line_that_bends_is_no_power_and_its_interval_holds_the_slopes_of_halves() -> None:
    """log^2 t/t^2 where N = 2, beside t^-2: the mean slope, -1.99, is of neither. Slopes are those of `linregress`."""
    far = np.unique(np.geomspace(1e6, 1e18, 500).astype(np.int64))

    def measure(run: MeanRun) -> Any:
        log = 2 * np.log(np.log(far)) if run.dataset.N == 2 else 0.0
        return series(log - 2 * np.log(far), radius=0.0, step=far, log=True)

    planted = claim(measure=measure, upper=lambda run, t: -np.log(t))
    found = powers(tightened("upper", runs(planted, paper=only_N(Design("counting", {"N": N, "rate": (0.5,)})))))["t"]
    clock = np.linspace(math.log(far[0]), math.log(far[-1]), 50)
    steepest, flattest = (linregress(half, 2 * np.log(half) - 2 * half).slope for half in (clock[25:], clock[:25]))
    assert flattest > steepest > -1.95
    assert found.measured == pytest.approx(-2 + (2 + steepest / 2 + flattest / 2) / len(N), abs=2e-3)
    assert found.interval == pytest.approx((-2, flattest), abs=1e-4)
    assert found.no_support.startswith(f"the line bends in {DRAWN} of ")


def test_two_runs_have_no_power_and_a_claim_that_says_nothing_no_constant() -> None:
    planted, given = claim(measure=scattered(0.0), upper=stated), [Numbers(f"of {n}", (1.0,) * n) for n in (2, 3)]
    two = runs(planted, given, only_N())
    found = tightened("upper", two)
    [_, of_N] = found.exponents
    assert (of_N.measured, of_N.no_support) == (None, "too few datasets")
    none = replace(found, exponents=tuple(one for one in found.exponents if one.interval is None))
    assert not picture("planted", {"upper": none}, two).axes[1].get_yticks().size
    assert runs(replace(planted, absent=lambda _: "nothing here"), given, only_N()) == []


def test_no_two_runs_of_a_design_share_a_seed_and_one_thing_varies_at_a_time() -> None:
    made = cases(STUB, STUB.config(), [])
    assert len({case.dataset.values for case in made}) == len(made) == DRAWN * (1 + 3 + 2)
    assert all(case.dataset.N == 4 or case.config.rate == RATE[0] for case in made)


def test_the_factors_of_sentences_are_what_their_names_say() -> None:
    """Of example-1, of which Proposition 2 gives ||W*_kq||^2 = 13/6."""
    run, own = Run(CASES["example-1"]()), NTP.sweeps
    assert own is not None
    sizes = {"V": 4, "N": 9, "L_max": 3, "eta0": 0.1, "eta": 0.025, "||W*_ov||": 3**0.5, "||W*_kq||": (13 / 6) ** 0.5}
    assert {name: factor(run) for name, factor in own.factors.items()} == pytest.approx(sizes)


def test_a_factor_without_support_says_why() -> None:
    fixed = Stub(
        replace(
            STUB.sweeps,
            factors={**SWEEPS.factors, "twice": lambda run: 2.0 * run.dataset.N, "zero": lambda run: 0.0},
        )
    )
    of = powers(tightened("upper", runs(claim(measure=scattered(3.0), upper=law), paper=fixed)))
    assert "together" in of["twice"].no_support
    assert "above 0" in of["zero"].no_support
    assert "0 and the bound" in of["rate"].no_support
    alone = replace(fixed, sweeps=replace(fixed.sweeps, designs=(Design("counting", {"N": N, "rate": (0.5,)}),)))
    assert (
        "vary"
        in powers(tightened("upper", runs(claim(measure=scattered(0.0), upper=law), paper=alone)))["rate"].no_support
    )


def test_only_steps_at_which_the_bound_says_something_have_powers_but_all_have_a_constant() -> None:
    """Two powers, of which the late one alone is below what the quantity can reach."""

    def measure(run: MeanRun) -> Any:
        return series(np.where(T < 20, 10.0 / T, 200.0 / T**2), radius=0.0, step=T)

    found = tightened("upper", runs(claim(measure=measure, upper=lambda run, t: 100 / t, largest=100 / 25.5)))
    assert found.window == (26.0, 100.0)
    assert found.window_informative
    assert powers(found)["t"].measured == pytest.approx(-2)
    assert found.constant == pytest.approx(0.1)
    assert found.informative == pytest.approx(2 / 26)


def test_step_0_counts_in_the_constant_and_not_in_the_powers() -> None:
    def measure(run: MeanRun) -> Any:
        return series(1 / (1.0 + np.arange(100)), radius=0.0, step=np.arange(100))

    found = tightened("upper", runs(claim(measure=measure, upper=lambda run, t: 2 - t / 100)))
    assert found.constant == pytest.approx(0.5)
    assert found.window == (1.0, 99.0)


def test_a_threshold_leaves_out_what_is_before_it() -> None:
    found = tightened(
        "upper", runs(claim(measure=scattered(0.0), upper=stated, threshold=lambda run: Threshold(position=10)))
    )
    assert found.window == (10.0, 100.0)
    assert found.constant == pytest.approx(0.14 * 4**-0.5 / 0.125 / 10, rel=1e-9, abs=0)
    later = tightened("upper", runs(claim(measure=scattered(0.0), upper=stated, first=10)))
    assert (later.window, later.constant) == (found.window, found.constant)
    early = runs(claim(measure=scattered(0.0), upper=stated, threshold=lambda run: Threshold(position=10, early=2)))
    assert tightened("upper", early).window == (1.0, 100.0)
    for beyond in (Threshold(position=1e6), Threshold(position=1, needed=9, there=8, size="T")):
        assert runs(claim(measure=scattered(0.0), upper=stated, threshold=lambda run, start=beyond: start)) == []


def test_entries_without_an_error_bar_are_counted_and_left_out() -> None:
    def measure(run: MeanRun) -> Any:
        return series(law(run, T), radius=np.where(T == 1, np.inf, 0.0), step=T)

    found = tightened("upper", runs(claim(measure=measure, upper=stated)))
    assert found.constant == pytest.approx(0.14 * 4**-0.5 / 0.125 / 2, rel=1e-9, abs=0)
    assert found.unknown == DRAWN * (1 + 3 + 2)


@pytest.mark.parametrize(("steps2", "which"), [(900, "constant"), (10**18, "informative")])
def test_the_constant_is_the_inverse_of_the_slack_that_an_audit_finds(steps2: int, which: str) -> None:
    """The run of 900 steps ends before the bound says anything, and has its slack from all steps."""
    known, data = LEDGER["ntp.theorem1.direction"], CASES["example-1"]()
    case = DesignPoint("given", data, Config(steps2=steps2), {})
    found = measured(known, NTP, case, Run(data, case.config))
    assert isinstance(found, Measured)
    assert found.finding.slack == pytest.approx(1 / getattr(tightened("upper", [found]), which), rel=1e-6, abs=0)


def test_given_datasets_count_and_may_be_the_nearest() -> None:
    one = Numbers("mine", (9.0,))
    found = tightened("upper", runs(claim(measure=scattered(0.0), upper=lambda run, t: stated(run, t) / 9), [one]))
    assert found.nearest.dataset.startswith("counting")

    def measure(run: MeanRun) -> Any:
        return series(law(run, T) * (100 if run.dataset.name == "mine" else 1), radius=0.0, step=T)

    found = tightened("upper", runs(claim(measure=measure, upper=stated), [one]))
    assert found.nearest.dataset == "mine"
    low, high = powers(found)["N"].interval
    assert low - 1e-9 <= 1.5 <= high + 1e-9, "a dataset of another kind has a constant to itself"


def test_what_has_no_constant_is_refused() -> None:
    zero = claim(measure=scattered(0.0), upper=lambda run, t: 0 * t)
    with pytest.raises(InputError, match="a bound of 0 or below"):
        runs(zero)
    equal = replace(zero, judgement=Equal(measure=scattered(0.0), expected=scattered(0.0)))
    with pytest.raises(InputError, match=r"got equality \(Equal\), expected a bound with its constant"):
        runs(equal)


def test_a_statement_off_the_clock_has_a_figure_and_powers() -> None:
    def measure(run: MeanRun) -> Any:
        return series([run.dataset.N**0.5, run.dataset.N**1.5], radius=0.0, label=("small", "large"))

    planted = claim(measure=measure, upper=lambda run, t: np.full(len(t), 2.0 * run.dataset.N**2))
    found = runs(planted)
    one = tightened("upper", found)
    assert one.constant == pytest.approx(0.5 * 2**-0.5)
    assert (one.nearest.label, one.nearest.step, one.window) == ("large", None, None)
    assert powers(one)["N"].measured == pytest.approx(1.5)
    left, right = picture("planted", {"upper": one}, found).axes
    assert left.get_title("left") == f"measured / upper bound, {len(found)} runs"
    assert [label.get_text() for label in right.get_yticklabels()] == ["N", "mean", "rate"]


@pytest.fixture(autouse=True)
def forking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that have what tests replace, whatever threads other tests have left here."""
    monkeypatch.setattr("marginaudit.reports.study.executor.forkable", lambda: True)


@pytest.fixture
def third(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    install(tmp_path, "tests.third_paper.paper:PAPER", monkeypatch)
    yield
    forget_papers()


@pytest.mark.usefixtures("third")
def test_the_command(command: Command) -> None:
    """w^(20)/max x by hand, and what breaks `w <= max x` without numbers of at least 0."""
    mine = dataset_file(Path(), {"name": "mine", "numbers": [7.0, 7.0]})
    answer = command.json("tighten", "third.below-largest", mine, "--seconds", 60, "--out", "bound.svg")
    side = answer["sides"]["upper"]
    assert side["nearest"]["dataset"] == "mine"
    assert side["constant"] == pytest.approx(1 - 0.5**20, rel=1e-12, abs=0)
    assert answer["without"]["nonnegative"]["breaks"] == {"N": 1}
    assert answer["varied"] == {"counting": {"N": [3, 2, 5], "rate": [0.5, 0.25]}}
    assert (answer["verdicts"], answer["missing"]) == ({"holds": 13}, 0)
    assert (Path("bound.svg").read_text(encoding="utf-8").count("the bound as stated"), answer["figure"]) == (
        1,
        "bound.svg",
    )
    assert command.json("classify", answer["nearest"])["mean"] == 7
    text = command("tighten", "third.below-largest", "--seconds", "60", "--rate", "0.4").out
    assert "3 datasets each: counting: N 3, 2, 5." in text
    assert "without nonnegative: counterexample N=1." in text
    assert Path("third.below-largest.svg").exists()


@pytest.mark.usefixtures("third")
@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        (
            {"broken": 2},
            "unknown: no dataset found that breaks this assumption alone and to which the claim applies",
        ),
        ({"inconclusive": 3, "broken": 1}, "unknown: inconclusive on all 3 datasets tried"),
        ({"inconclusive": 3, "holds": 2, "vacuous": 1}, "no counterexample on 3 datasets"),
    ],
)
def test_what_a_hunt_without_an_assumption_says(
    command: Command, monkeypatch: pytest.MonkeyPatch, verdicts: dict[str, int], said: str
) -> None:
    def found(claim: Claim, paper: Any, *, without: str, **_: Any) -> Hunt:
        return Hunt(claim.id, without, paper, verdicts=Counter(verdicts))

    monkeypatch.setattr("marginaudit.reports.tighten.measure.hunt", found)
    assert f"without nonnegative: {said}." in command("tighten", "third.below-largest").out


@pytest.mark.usefixtures("third")
def test_it_stops_in_time_and_goes_on_where_it_stopped(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    done, endless = Path("done.txt").absolute(), 3
    done.touch()

    def names() -> list[str]:
        return done.read_text(encoding="utf-8").splitlines()

    def endless_after_a_while(claim: Claim, paper: Any, case: DesignPoint, run: Any) -> Any:
        if len(names()) == endless:
            sleep(60)
        with done.open("a", encoding="utf-8") as file:
            file.write(f"{case.dataset.name}\n")
        return measured(claim, paper, case, run)

    monkeypatch.setattr("marginaudit.reports.command.tighten.cores", lambda: 1)
    monkeypatch.setattr("marginaudit.reports.tighten.measure.measured", endless_after_a_while)
    began = monotonic()
    first = command("tighten", "third.below-largest", "--seconds", "6").out
    assert monotonic() - began < 30
    assert re.search(r"3 runs: 3 holds\..*9 runs missing", first, re.DOTALL)
    endless = -1
    again = command.json("tighten", "third.below-largest", "--seconds", 60)
    assert (again["missing"], again["verdicts"]) == (0, {"holds": 12})
    assert len(names()) == len(set(names())) == 12


def waiting(seconds: float, *_: Any) -> float:
    sleep(seconds)
    return seconds


def test_processes_end_with_the_time_too() -> None:
    began = monotonic()
    tasks = [Task("a wait", partial(waiting, seconds)) for seconds in (60.0, 0.0, 0.1)]
    done = [result for _, result, _ in Executor(2).results(tasks, until=monotonic() + 10)]
    assert (done, monotonic() - began < 30) == ([0.0, 0.1], True)


def test_the_fastest_run_starts_first(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []

    def noted(_: Executor, tasks: Sequence[Task], until: float, least: int) -> list[Any]:
        begun.extend(task.name for task in tasks)
        return []

    monkeypatch.setattr(Executor, "results", noted)
    refused = command.refused("tighten", "ntp.theorem1.norm")
    assert refused.endswith("got runs whose processes were killed, expected one that ends by itself")
    seconds = {
        f"the run on {one.dataset.name}": NTP.expected(one.dataset, one.config)[0] for one in cases(NTP, Config(), [])
    }
    assert [seconds[name] for name in begun] == sorted(seconds.values())
    assert len({*seconds.values()}) > 20


@pytest.mark.usefixtures("third")
def test_each_call_completes_a_missing_run_even_beyond_the_limit(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one worker: its first run ends after the limit, so that repeated calls come to an end."""

    def slow(*given: Any) -> Any:
        sleep(2)
        return measured(*given)

    monkeypatch.setattr("marginaudit.reports.command.tighten.cores", lambda: 1)
    monkeypatch.setattr("marginaudit.reports.tighten.measure.measured", slow)
    for done in (1, 2):
        answer = command.json("tighten", "third.below-largest", "--seconds", 1)
        assert (answer["verdicts"], answer["missing"]) == ({"holds": done}, 12 - done)


def test_a_measurement_imports_no_drawing_library() -> None:
    code = """
import sys
from marginaudit.reports.audit.ledger import LEDGER, PAPERS
from marginaudit.reports.tighten.measure import cases, measure_task
for paper, name in zip(PAPERS, ("ntp.theorem1.norm", "snap.eq90")):
    measure_task(LEDGER[name], paper, cases(paper, paper.config(), [])[0]).load()
print("matplotlib.figure" in sys.modules)
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told == "False\n"


def test_a_measurement_comes_back_from_the_store_as_it_was(tmp_path: Path) -> None:
    planted = claim(measure=scattered(0.0, 0.1), upper=stated)
    case = cases(STUB, STUB.config(), [])[0]
    run = measured(planted, STUB, case, MeanRun(case.dataset, case.config))
    assert isinstance(run, Measured)
    store = Store(tmp_path)
    store.write("k", run)
    found = store.read("k")
    assert isinstance(found, Measured)
    assert (found.clock, found.factors, found.finding.verdict) == (run.clock, run.factors, run.finding.verdict)
    np.testing.assert_equal(asdict(found.sides["upper"]), asdict(run.sides["upper"]))


def test_a_factor_that_a_run_does_not_have_has_no_power() -> None:
    found = runs(claim(measure=scattered(0.0), upper=stated))
    unknown = [replace(run, factors={**run.factors, "N": np.nan if i == 0 else 1.0}) for i, run in enumerate(found)]
    rows = {row[0]: row for row in factor_rows(tightened("upper", unknown))}
    assert rows["N"][1:3] == ("–", "–")
    assert rows["N"][-1].startswith("no: ")


def test_what_cannot_be_tightened_is_one_line(command: Command, tmp_path: Path) -> None:
    line = "claim snap.lemma1: got equality (Equal), expected a bound with its constant (Bounded)"
    assert command.refused("tighten", "snap.lemma1") == line
    assert "ending" in command.refused("tighten", "snap.eq90", "--out", "a.txt")
    assert "--steps1" in command.refused("tighten", "snap.eq90", "--steps1", "9")
    assert "a built-in case of sentences" in command.refused("tighten", "snap.eq90", "example-1")
    assert list(tmp_path.iterdir()) == []


def test_a_claim_that_speaks_nowhere_is_one_line(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "marginaudit.reports.command.tighten.cases", lambda paper, config, given: cases(paper, config, given)[:1]
    )
    line = command.refused("tighten", "ntp.theorem2.loss", "--steps1", "30", "--steps2", "30")
    assert line.startswith("claim ntp.theorem2.loss: got no step of 1 run to which it applies (1 ")
    assert len(line) < 200
    assert list(tmp_path.iterdir()) == []
