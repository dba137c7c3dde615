"""Users' claims that misbehave: their rows are broken, and nothing else is touched."""

import decimal
import itertools
import os
import random
import signal
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from marginaudit.orders import shown
from marginaudit.orders.ntp import CASES, dataset_from_document
from marginaudit.reports import Claim, Finding, Verdict
from marginaudit.reports.audit.containment import HandedOut, contained, process_kept
from marginaudit.reports.audit.read_only import read_only
from marginaudit.reports.claim import LONGEST_MESSAGE, described, message
from marginaudit.reports.judgements import Decided
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.paper import PAPER
from marginaudit.reports.time_limit import TimeIsUp, time_limit
from marginaudit.reports.verdict import Curve
from tests.command_line import SHORT, Command, strict_json
from tests.papers import audit_only

FILE = """
import os, sys
import numpy as np
from marginaudit.reports import Claim, Finding, Verdict
from marginaudit.reports.judgements import Decided
from marginaudit.reports.verdict import Curve

CLAIMS = []

def claim(decide, cls=Claim, **fields):
    judgement = Decided(decide, kind="test")
    texts = dict(id="mine." + decide.__name__, source="", statement="", formula="1", assumptions=())
    CLAIMS.append(cls(judgement=judgement, **(texts | fields)))

def fingerprint(run):
    stage, kq, data = run.training.stage2, run.kq, run.dataset
    found = [run.eta, stage.norm.sum(), float(stage.rest.sum()), float(kq.scores.sum()), kq.norm_squared]
    found += [len(data.index), len(data.orders), data.frequencies.sum(), data.embeddings.sum(), len(kq.weights_exact)]
    found += [run.config.steps1, data.relations.winner.sum(), data.V, run.trained.B.sum(), len(run.assumptions)]
    return float(sum(found))

HOLDS = Finding(Verdict.HOLDS)
"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("claims_of_")]:
        del sys.modules[name]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Audits draw nothing and judge a few built-in claims."""
    audit_only(monkeypatch, "ntp.prop")


def page(folder: str) -> str:
    """The page, less what differs between two commands that ask for the same."""
    text = Path(folder, "report.html").read_text(encoding="utf-8")
    return text.replace("--out again", "--out report").replace(" --json", "")


def audited(command: Command, text: str, *arguments: object) -> dict[str, dict[str, Any]]:
    """Rows of an audit of example-1 with the claims of a file, by claim; JSON, CSV, page and terminal are written."""
    Path("mine.py").write_text(FILE + textwrap.dedent(text), encoding="utf-8")
    options = ("audit", "example-1", "--claims", "mine.py", "--paper", "ntp", *SHORT, *arguments)
    found = command.json(*options, "--out", "report")
    assert strict_json(Path("report/report.json").read_text(encoding="utf-8"))["verdicts"] == found["verdicts"]
    printed = command(*options, "--out", "again")
    assert printed.status == 0
    assert page("again") == page("report")
    return {row["claim"]: row for row in found["verdicts"]}


# what a claim changes


CHANGES = """
def first(run): return Finding(Verdict.HOLDS, measured=fingerprint(run))
claim(first)
def array(run): run.training.stage2.norm[:] = 0; return HOLDS
claim(array)
def pairs(run): run.training.stage2.rest *= 2; return HOLDS
claim(pairs)
def weights(run): run.trained.B[0, 0] = 7; return HOLDS
claim(weights)
def solution(run): run.kq.scores.fill(3); return HOLDS
claim(solution)
def frequencies(run): run.dataset.frequencies[0] = 1; return HOLDS
claim(frequencies)
def relations(run): run.dataset.relations.winner[:] = 0; return HOLDS
claim(relations)
def flags(run): run.training.stage2.norm.setflags(write=True); return HOLDS
claim(flags)
def base(run): run.training.stage2.norm.base.setflags(write=True); run.training.stage2.norm.base[:] = 0; return HOLDS
def steps(run): run.config = None; return HOLDS
claim(steps)
def trained(run): run.trained = None; return HOLDS
claim(trained)
def everything(run): run.__dict__.clear(); return HOLDS
claim(everything)
def frozen(run): object.__setattr__(run.dataset, "vocabulary", ()); return HOLDS
claim(frozen)
def record(run): object.__setattr__(run.training.stage2, "norm", 0 * run.training.stage2.norm); return HOLDS
claim(record)
def index(run): run.dataset.index.clear(); run.dataset.orders.clear(); return HOLDS
claim(index)
def exact(run): run.kq.weights_exact.clear(); return HOLDS
claim(exact)
def witness(run): run.assumption("orthonormal"); run._assumptions.clear(); return HOLDS
claim(witness)
def last(run): return Finding(Verdict.HOLDS, measured=fingerprint(run))
claim(last)
"""
READ_ONLY = ("array", "pairs", "weights", "solution", "frequencies", "relations", "flags")


def test_what_a_claim_changes_reaches_nothing_else(command: Command) -> None:
    assert command("audit", "example-1", "--paper", "ntp", *SHORT, "--out", "without").status == 0
    expected = strict_json(Path("without/report.json").read_text(encoding="utf-8"))
    rows = audited(command, CHANGES)
    written = strict_json(Path("report/report.json").read_text(encoding="utf-8"))
    assert written["datasets"] == expected["datasets"]
    assert [row for row in written["verdicts"] if not row["claim"].startswith("mine.")] == expected["verdicts"]
    for path in (*Path("without/trajectories").iterdir(), *Path("without/tables").iterdir()):
        assert (Path("report") / path.relative_to("without")).read_bytes() == path.read_bytes()
    assert rows["mine.last"]["measured"] == rows["mine.first"]["measured"]
    for name, row in rows.items():
        if name.startswith("mine."):
            assert row["verdict"] == ("broken" if name.removeprefix("mine.") in READ_ONLY else "holds"), row
    assert "read-only" in rows["mine.array"]["detail"]
    assert "cannot set WRITEABLE" in rows["mine.flags"]["detail"]


def test_built_in_claims_find_the_same_on_a_copy() -> None:
    run = Run(CASES["example-1"](), Config(steps1=60, steps2=60, certify=20))
    handed_out = HandedOut(run)
    for claim in PAPER.claims:
        assert claim.judge(handed_out.copy()) == claim.judge(run)
    untrainable = HandedOut(Run(dataset_from_document({"samples": [{"tokens": ["a", "q"], "next": "a"}]})))
    assert untrainable.copy().dataset.N == 1


def test_what_takes_long_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    handed_out = HandedOut(Run(CASES["example-1"](), Config(steps1=5, steps2=5, certify=5)))
    for name in ("train_against", "solve_kq", "solve_ov"):
        monkeypatch.delattr(f"marginaudit.reports.ntp.run.{name}")
    monkeypatch.delattr("marginaudit.training.ntp.certified.enclosure.enclose")
    copy = handed_out.copy()
    assert isinstance(copy, Run)
    assert (len(copy.training.stage2), copy.enclosure is not None, copy.norm_kq > 0) == (6, True, True)


def test_arrays_of_a_run_are_read_only() -> None:
    run = Run(CASES["example-1"](), Config(steps1=5, steps2=5))
    arrays = [run.training.B, run.training.S, run.training.classes.token]
    for record in (run.training.stage2, run.training.stage1, run.stage1):
        arrays += [value for value in vars(record).values() if isinstance(value, np.ndarray)]
    assert not any(array.flags.writeable for array in arrays)


def test_an_array_that_is_a_view_is_handed_out_as_a_copy() -> None:
    run = Run(CASES["example-1"](), Config(steps1=5, steps2=5))
    whole = np.arange(6.0)
    run.__dict__["trained"] = replace(run.trained, B=whole[1:], S=whole[1:])
    copy = HandedOut(run).copy()
    assert isinstance(copy, Run)
    trained = copy.trained
    assert np.shares_memory(trained.B, trained.B.base)
    assert not np.shares_memory(trained.B, whole)
    assert trained.B.tolist() == [1, 2, 3, 4, 5]
    assert not run.trained.B.flags.writeable
    with pytest.raises(ValueError, match="WRITEABLE"):
        trained.B.setflags(write=True)
    assert read_only(run.trained) is run.trained


# what a claim raises and returns


RAISES = """
from marginaudit.reports.checked import Unreportable
from marginaudit.reports.claim import BeyondTheRun
from marginaudit.reports.ntp.run import NotAlgorithm1
class Mute(Exception):
    def __str__(self): raise RuntimeError("no")
class NoText(Exception):
    def __str__(self): return 3
class Leaves(Exception):
    def __str__(self): sys.exit(0)
class Meta(type):
    def __getattribute__(cls, name):
        if name == "__name__": raise KeyError(name)
        return super().__getattribute__(name)
class Nameless(Exception, metaclass=Meta): pass
class Text(str):
    def __iter__(self): raise RuntimeError("no")
    def __str__(self): raise RuntimeError("no")
class Odd(Exception):
    def __str__(self): return Text("odd words")
class Bottom(BaseException): pass

def mute(run): raise Mute
claim(mute)
def notext(run): raise NoText
claim(notext)
def leaves(run): raise Leaves
claim(leaves)
def nameless(run): raise Nameless
claim(nameless)
def odd(run): raise Odd
claim(odd)
def bottom(run): raise Bottom("deep")
claim(bottom)
def generator(run): raise GeneratorExit
claim(generator)
def exits(run): sys.exit("bye")
claim(exits)
def deep(run): return deep(run)
claim(deep)
def memory(run): return [0] * 10**18
claim(memory)
def stops(run): return next(iter(()))
claim(stops)
def lazily(run): yield HOLDS
claim(lazily)
def algorithm(run): raise type("Evil", (NotAlgorithm1,), {"__str__": lambda error: 1 / 0})
claim(algorithm)
def beyond(run): raise type("Evil", (BeyondTheRun,), {"__str__": lambda error: 1 / 0})
claim(beyond)
def unreportable(run): raise type("Evil", (Unreportable,), {"__str__": lambda error: 1 / 0})
claim(unreportable)
def long(run): raise ValueError("x" * 10**6)
claim(long)
"""
SAID = {
    "mute": "Mute: its message cannot be shown, RuntimeError (in mute, mine.py line",
    "notext": "NoText: its message cannot be shown, TypeError (in notext",
    "leaves": "Leaves: its message cannot be shown, SystemExit (in leaves",
    "nameless": "It raised what cannot be described.",
    "odd": "Odd: odd words (in odd",
    "bottom": "Bottom: deep (in bottom",
    "generator": "GeneratorExit:  (in generator",
    "exits": "SystemExit: bye (in exits",
    "deep": "RecursionError: maximum recursion depth exceeded",
    "memory": "MemoryError:  (in memory",
    "stops": "StopIteration:  (in stops",
    "lazily": "Its code returned a value of type generator, expected a Finding.",
    "long": "ValueError: xxx",
}


def test_what_a_claim_raises_breaks_its_row_only(command: Command) -> None:
    rows = audited(command, RAISES)
    for name, said in SAID.items():
        row = rows[f"mine.{name}"]
        assert row["verdict"] == "broken"
        assert row["detail"].startswith(said), row["detail"][:300]
    for name, verdict in (("algorithm", "not-applicable"), ("beyond", "inconclusive"), ("unreportable", "broken")):
        assert rows[f"mine.{name}"]["verdict"] == verdict
        assert "its message cannot be shown, ZeroDivisionError" in rows[f"mine.{name}"]["detail"]
    assert len(rows["mine.long"]["detail"]) < LONGEST_MESSAGE + 100
    assert rows["ntp.prop2.closed-form"]["verdict"] == "holds"


RETURNS = """
class Text(str):
    def __iter__(self): raise RuntimeError("no")
    def __str__(self): raise RuntimeError("no")
    def encode(self, *a): raise RuntimeError("no")
class Whole(int):
    def __int__(self): raise RuntimeError("no")
class Number(float):
    def __float__(self): raise RuntimeError("no")
class Late(float):
    def __str__(self): raise RuntimeError("no")
    __repr__ = __format__ = __str__
class Words(dict):
    def items(self): raise RuntimeError("no")
class Lazy(Finding):
    def __getattribute__(self, name):
        if name == "measured": raise RuntimeError("no")
        return super().__getattribute__(name)
class Own(Claim):
    def judge(self, run): return None

def result(name, *args, **fields):
    def decide(run): return Finding(Verdict.HOLDS, *args, **fields)
    decide.__name__ = name
    claim(decide)

result("step", worst_step=10**5000)
result("violation", first_violation=-10**101)
result("informative", informative_from=10**99)
result("large", measured=10**400)
result("constant", constant="much")
result("repeats", repeats_within=float("nan"))
result("text", detail=Text("a"))
result("whole", worst_step=Whole(3))
result("number", measured=Number(3))
result("late", measured=Late(3), constant=Late(2))
result("digits", witness={"n": 10**5000})
result("words", witness=Words(a=1))
result("list", witness=[1])
result("side", side="left")
result("curve", curve=3)
result("curves", curve=Curve([1, 2], [1.0]))
result("unsteady", curve=Curve([1, None], [1.0, 2.0]))
result("values", curve=Curve([1], ["a"]))
result("none", curve=Curve([1], [None]))
result("drawn", curve=Curve(np.array([1]), (np.float32(1.5),), upper=[float("nan")], lower=[Late(1)], vacuous_above=2))
def lazy(run): return Lazy(Verdict.HOLDS)
claim(lazy)
def own(run): return HOLDS
claim(own, Own)
"""
WHOLE = {"informative", "text", "late", "drawn", "own"}
RETURNED = {
    "step": "Its code returned a whole number of more than 100 digits as worst_step.",
    "violation": "Its code returned a whole number of more than 100 digits as first_violation.",
    "large": "Its code returned a number too large for float64 as measured.",
    "constant": "Its code returned a value of type str as constant, expected a number.",
    "repeats": "Its code returned NaN as repeats_within.",
    "whole": "RuntimeError: no (in __int__",
    "number": "RuntimeError: no (in __float__",
    "digits": "Its code returned a detail or a witness that is no JSON: Exceeds the limit",
    "words": "RuntimeError: no (in items",
    "list": "Its code returned a value of type list as witness, expected a mapping.",
    "side": "Its code returned a value of type str as side, expected upper, lower or None.",
    "curve": "Its code returned a value of type int as curve, expected a Curve.",
    "curves": "Its code returned a curve whose columns have not one number a step.",
    "unsteady": "Its code returned a curve whose columns have not one number a step.",
    "values": "Its code returned a value of type str as curve.measured, expected a number.",
    "none": "Its code returned None in curve.measured, expected a number.",
    "lazy": "RuntimeError: no (in __getattribute__",
}


def test_what_no_report_can_hold_is_broken_and_the_rest_is_plain(command: Command) -> None:
    rows = audited(command, RETURNS)
    mine = {name.removeprefix("mine."): row for name, row in rows.items() if name.startswith("mine.")}
    assert set(mine) == WHOLE | set(RETURNED)
    for name, row in mine.items():
        assert row["verdict"] == ("holds" if name in WHOLE else "broken"), row
        assert row["detail"].startswith(RETURNED.get(name, "")), row["detail"]
    assert mine["informative"]["informative_from"] == 10**99
    assert (mine["late"]["measured"], mine["late"]["constant"]) == (3.0, 2.0)


def test_the_curve_is_plain() -> None:
    curve = Curve(np.array([1]), (np.float32(1.5),), upper=[np.nan], lower=[np.inf], vacuous_above=2)  # type: ignore[arg-type]
    judgement = Decided(lambda _: Finding(Verdict.HOLDS, side="lower", curve=curve), kind="test")
    claim = Claim(id="mine", source="", statement="", formula="1", assumptions=(), judgement=judgement)
    found = claim.judge(Run(CASES["example-1"](), Config(steps1=2, steps2=2)))
    assert found.side == "lower"
    assert found.curve is not None
    assert (found.curve.step, found.curve.measured, found.curve.lower) == ([1], [1.5], [np.inf])
    assert [type(v) for v in (*found.curve.step, *found.curve.measured, found.curve.vacuous_above)] == [
        int,
        float,
        float,
    ]
    assert found.curve.upper is not None
    assert np.isnan(found.curve.upper).all()


def test_an_error_of_any_kind_is_described() -> None:
    class Endless(BaseException):
        def __str__(self) -> str:
            raise TimeIsUp

    for within in (message, described):
        with pytest.raises(TimeIsUp):
            within(Endless())
    assert message(ValueError("a\n" * 3)) == r"a\na\na\n"

    class Mute:
        def __repr__(self) -> str:
            raise KeyError

    assert shown(Mute()) == "a value of type Mute that cannot be shown"


def test_a_file_whose_errors_cannot_be_shown_is_refused(command: Command) -> None:
    Path("mine.py").write_text("class E(BaseException):\n    def __str__(self): raise KeyError\nraise E")
    line = command.refused("audit", "--claims", "mine.py")
    assert line == "mine.py:3: got E: its message cannot be shown, KeyError, expected Python that runs"
    Path("mine.py").write_text("class R:\n    def __repr__(self): raise KeyError\nCLAIMS = [R()]")
    line = command.refused("audit", "--claims", "mine.py")
    assert line == "mine.py: got a value of type R that cannot be shown as CLAIMS[0], expected a Claim"


# time


ENDLESS = """
def endless(run):
    while True: pass
claim(endless)
def stubborn(run):
    tries = 0
    while tries < 2:
        try:
            while True: pass
        except BaseException: tries += 1
    while True: pass
claim(stubborn)
def after(run): return HOLDS
claim(after)
"""


def test_a_claim_that_does_not_end_is_broken(command: Command) -> None:
    before = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)[0] > 0
    Path("mine.py").write_text(FILE + ENDLESS, encoding="utf-8")
    options = ("--claims", "mine.py", "--paper", "ntp", *SHORT, "--claim-timeout", 0.2)
    found = command.json("audit", "example-1", *options)
    rows = {row["claim"]: row for row in found["verdicts"]}
    for name in ("endless", "stubborn"):
        assert rows[f"mine.{name}"]["verdict"] == "broken"
        assert rows[f"mine.{name}"]["detail"] == "Its code was ended after 0.2 s (--claim-timeout)."
    assert rows["mine.after"]["verdict"] == "holds"
    assert (signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)[0] > 0) == before
    assert "[default: 600.0]" in " ".join(command("audit", "--help").out.split())
    assert command.refused("audit", "--claim-timeout", 0).startswith("--claim-timeout: got '0', expected a positive")


def spin(until: Callable[[], bool]) -> None:
    for _ in itertools.takewhile(lambda _: not until(), itertools.count()):
        time.sleep(0.001)


def test_the_time_that_is_up_is_told_again_and_only_within() -> None:
    told = 0

    def stubborn() -> None:
        nonlocal told
        with time_limit(0.05):
            try:
                spin(lambda: False)
            except TimeIsUp:
                told += 1
            spin(lambda: False)

    with pytest.raises(TimeIsUp):
        stubborn()
    assert told == 1
    with time_limit(0.05):
        pass
    time.sleep(0.1)


@pytest.fixture
def alarm() -> Iterator[list[float]]:
    """A handler of SIGALRM that counts; pytest's own timer is set aside."""
    rung: list[float] = []
    handler = signal.signal(signal.SIGALRM, lambda *_: rung.append(time.monotonic()))
    rest = signal.setitimer(signal.ITIMER_REAL, 0)
    yield rung
    signal.setitimer(signal.ITIMER_REAL, *rest)
    signal.signal(signal.SIGALRM, handler)


def test_a_timer_that_was_set_before_is_kept(alarm: list[float]) -> None:
    signal.setitimer(signal.ITIMER_REAL, 50.0, 7.0)
    with pytest.raises(TimeIsUp), time_limit(0.05):
        spin(lambda: False)
    rest, interval = signal.getitimer(signal.ITIMER_REAL)
    assert 0 < rest < 49.96
    assert interval == 7.0
    assert alarm == []


def limited(seconds: float, *conditions: Callable[[], bool]) -> None:
    with time_limit(seconds):
        for condition in conditions:
            spin(condition)


def test_a_timer_that_comes_first_rings(alarm: list[float]) -> None:
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    with pytest.raises(TimeIsUp):
        limited(0.3, lambda: bool(alarm), lambda: False)
    assert len(alarm) == 1


def test_a_timer_that_comes_later_rings_afterwards(alarm: list[float]) -> None:
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    with pytest.raises(TimeIsUp):
        limited(0.05, lambda: False)
    assert alarm == []
    spin(lambda: bool(alarm))


def test_without_a_timer_none_is_left(alarm: list[float]) -> None:
    handler = signal.getsignal(signal.SIGALRM)
    with time_limit(50):
        assert signal.getsignal(signal.SIGALRM) is not handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is handler


def test_a_signal_that_was_under_way_when_the_block_ended_is_not_heard(alarm: list[float]) -> None:
    with time_limit(0.05):
        signal.setitimer(signal.ITIMER_REAL, 0)
        late = signal.getsignal(signal.SIGALRM)
    time.sleep(0.06)
    assert callable(late)
    late(signal.SIGALRM, None)
    assert alarm == []


def test_in_another_thread_there_is_no_limit() -> None:
    found: list[Finding] = []
    handed_out = HandedOut(Run(CASES["example-1"](), Config(steps1=2, steps2=2)))

    def slowly(_: Run) -> Finding:
        time.sleep(0.1)
        return Finding(Verdict.HOLDS)

    slow = Claim(
        id="mine",
        source="",
        statement="",
        formula="1",
        assumptions=(),
        judgement=Decided(slowly, kind="test"),
    )
    thread = threading.Thread(target=lambda: found.append(contained(slow, handed_out, 0.01)))
    thread.start()
    thread.join()
    assert [finding.verdict for finding in found] == [Verdict.HOLDS]
    assert contained(slow, handed_out, 0.01).verdict is Verdict.BROKEN


# the process


def mode_of_a_new_file() -> int:
    path = Path("new")
    path.unlink(missing_ok=True)
    path.touch()
    return path.stat().st_mode


def change_environment() -> None:
    os.environ["MARGINAUDIT"] = "changed"
    os.environ.pop("PATH")


STATE: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "error state": (np.geterr, lambda: np.seterr(all="ignore", over="raise")),
    "print options": (lambda: str(np.array([1 / 3])), lambda: np.set_printoptions(precision=2)),
    "numpy's random state": (lambda: np.random.get_state()[1].tolist(), lambda: np.random.seed(3)),  # type: ignore[index]  # noqa: NPY002
    "random state": (random.getstate, lambda: random.seed(3)),
    "environment": (lambda: dict(os.environ), change_environment),
    "working directory": (os.getcwd, lambda: os.chdir("/")),
    "warnings": (lambda: list(warnings.filters), lambda: warnings.simplefilter("ignore")),
    "matplotlib": (lambda: mpl.rcParams["font.size"], lambda: mpl.rcParams.update({"font.size": 99.0})),
    "decimal": (lambda: decimal.getcontext().prec, lambda: setattr(decimal.getcontext(), "prec", 3)),
    "recursion": (sys.getrecursionlimit, lambda: sys.setrecursionlimit(5000)),
    "digits": (sys.get_int_max_str_digits, lambda: sys.set_int_max_str_digits(700)),
    "umask": (mode_of_a_new_file, lambda: os.umask(0o777)),
    "interrupts": (lambda: signal.getsignal(signal.SIGINT), lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)),
    "stdout": (lambda: (sys.stdout, sys.stdout.closed), lambda: sys.stdout.close()),
    "stderr": (lambda: (sys.stderr, sys.stderr.closed), lambda: sys.stderr.close()),
    "no stdout": (lambda: sys.stdout, lambda: setattr(sys, "stdout", None)),
    "no stderr": (lambda: sys.stderr, lambda: setattr(sys, "stderr", None)),
    "no stdin": (lambda: sys.stdin, lambda: setattr(sys, "stdin", None)),
}


@pytest.mark.parametrize("kind", STATE)
@pytest.mark.parametrize("ends", ["returns", "raises"])
def test_the_process_is_put_back(kind: str, ends: str, own_folder: Path) -> None:
    read, change = STATE[kind]
    before = read()
    try:
        with process_kept():
            change()
            if ends == "raises":
                raise TimeIsUp
    except TimeIsUp:
        pass
    assert read() == before
    assert own_folder.exists()


def test_what_a_claim_prints_goes_to_standard_error(command: Command) -> None:
    Path("mine.py").write_text(
        FILE
        + textwrap.dedent("""
        def prints(run):
            print("one")
            sys.stdout.write("two\\n")
            sys.stderr.write("three\\n")
            sys.stdout.close()
            sys.stderr.close()
            print("four")
            return HOLDS
        claim(prints)
        def later(run): print("five"); return HOLDS
        claim(later)
        """)
    )
    answer = command("audit", "example-1", "--claims", "mine.py", "--paper", "ntp", *SHORT, "--json")
    assert answer.status == 0
    verdicts = strict_json(answer.out)["verdicts"]
    assert {row["verdict"] for row in verdicts if row["claim"].startswith("mine.")} == {"holds"}
    assert answer.err.startswith("one\ntwo\nthree\nfour\nfive\n")
