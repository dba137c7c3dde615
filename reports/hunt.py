"""Search for a dataset that violates a claim: enumeration, then random draws by hypothesis, then shrinking."""

import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from threading import current_thread, main_thread
from types import FrameType
from typing import TYPE_CHECKING, Any

from marginaudit.claims.box import no_folder_left, some_drawn
from marginaudit.claims.claim import Claim
from marginaudit.claims.instances.paper import INSTANCES
from marginaudit.claims.instances.space import BoxSpace
from marginaudit.claims.paper import Paper, Space
from marginaudit.claims.run import BaseRun
from marginaudit.claims.settings import differences
from marginaudit.claims.values.error_text import error_text
from marginaudit.claims.verdict import Evidence, Finding, Verdict
from marginaudit.orders import InputError, shown

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

EXHAUSTIVE_SHARE = 0.25
"""Largest share of the time for the exhaustive enumeration."""

GRACE = 60.0
"""Seconds after the time limit before a running evaluation is interrupted."""

SOON, AGAIN = 1e-3, 1.0
"""Seconds to an overdue alarm, and between repetitions."""

DECIDED = (Verdict.HOLDS, Verdict.VACUOUS, Verdict.VIOLATED)

BATCH = 2_000
"""Datasets per seed of hypothesis."""


class TimeIsUp(KeyboardInterrupt):
    """Time limit reached. A KeyboardInterrupt, because `Claim.judge` and hypothesis catch other exceptions."""


@dataclass
class Hunt:
    """Result of a hunt: the counterexample, or the search space covered.

    Attributes
    ----------
    dataset : a dataset or None
        Smallest counterexample found.
    finding : Finding or None
        The claim's verdict on it, in the paper's own run.
    settings : dict
        Settings of that run that differ from those of the first run tried.
    verdicts : Counter
        Verdicts on the datasets that met the assumptions; `broken` if the evaluation failed.
    largest : dict
        Largest value of each size measure over these datasets.
    looked_at : int
        Number of generated datasets.
    met : int
        Number of these that violate the dropped assumption and meet the others in at least one run.
    exhausted : bool
        Whether the enumeration of small datasets was completed.
    """

    claim: str
    without: str | None
    paper: Paper
    space: Space | None = None
    dataset: Any | None = None
    finding: Finding | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    verdicts: Counter[str] = field(default_factory=Counter)
    largest: dict[str, int] = field(default_factory=dict)
    looked_at: int = 0
    met: int = 0
    exhausted: bool = False
    seconds: float = 0.0

    @property
    def tried(self) -> int:
        """Number of datasets that met the assumptions and on which the claim could be evaluated."""
        return self.verdicts.total() - self.verdicts[Verdict.BROKEN]

    @property
    def decided(self) -> int:
        """Number of datasets with a decided verdict."""
        return sum(self.verdicts[verdict] for verdict in DECIDED)

    def certificate(self) -> dict[str, Any] | None:
        """Certificate of the counterexample for `marginaudit verify`; None unless the violation is exact."""
        if self.dataset is None or self.finding is None or self.finding.evidence is not Evidence.EXACT:
            return None
        proof = None if self.space is None else self.space.proof(self.dataset)
        return None if proof is None else dict(proof)


def _space(claim: Claim, paper: Paper) -> Space:
    if claim.box:
        return BoxSpace(claim.box)
    if paper is INSTANCES:
        raise InputError(
            f"claim {claim.id}", got="no box of parameters to hunt in", expected="box={name: floats(..), ..}"
        )
    if paper.space is None:
        raise InputError(f"paper {paper.name}", got="no space of datasets to hunt in", expected="a paper with one")
    return paper.space


def hunt(
    claim: Claim,
    paper: Paper,
    *,
    without: str | None = None,
    seconds: float = 60.0,
    seed: int = 0,
    progress: Callable[[float], None] = lambda _: None,
) -> Hunt:
    """Search for a dataset that meets the claim's assumptions and violates the claim, and shrink it.

    With ``without``, datasets violate that assumption and meet the others, except those that imply it. Assumptions on
    settings are met or violated by the runs of the paper's space. A share of the datasets also violates assumptions
    that the claim does not make. ``progress`` is called with the elapsed seconds.

    Raises
    ------
    InputError
        The claim does not assume ``without``, or the paper has no space of datasets.
    """
    if without is not None and without not in claim.asked:
        expected = f"one of its assumptions: {', '.join(claim.asked) or 'it has none'}"
        raise InputError(
            f"--without {shown(without)}", got=f"an assumption that {claim.id} does not make", expected=expected
        )
    search = Search(claim, paper, without, seconds, progress)
    with suppress(TimeIsUp), no_folder_left(), ended_after(seconds + GRACE):
        search.smallest()
        search.drawn(seed)
        search.shrunk()
        search.smaller(seed)
    return search.result()


@contextmanager
def ended_after(seconds: float) -> Iterator[None]:
    """Context that raises TimeIsUp after a time, by SIGALRM; without effect outside the main thread.

    Nested contexts keep the earlier deadline. The alarm repeats, because Python drops exceptions raised in destructors.
    """
    if current_thread() is not main_thread():
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TimeIsUp

    started, (outer, interval) = time.monotonic(), signal.setitimer(signal.ITIMER_REAL, 0)
    handler = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, min(seconds, outer) if outer else seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if outer:
            signal.setitimer(signal.ITIMER_REAL, max(outer - (time.monotonic() - started), SOON), interval)


class Search:
    """State of a hunt."""

    def __init__(
        self, claim: Claim, paper: Paper, without: str | None, seconds: float, progress: Callable[[float], None]
    ) -> None:
        self.paper, self.space = paper, _space(claim, paper)
        dropped = {without, *self.space.implies.get(without, ())} if without is not None else set()
        self.required = tuple(name for name in claim.asked if name not in dropped)
        # without an assumption it is another statement, without a proof
        self.claim = replace(claim, assumptions=self.required, setting=()) if dropped else claim
        fail_with = {name: {name, *self.space.implies.get(name, ())} for name in paper.kind.assumptions}
        self.not_needed = tuple(name for name, failing in fail_with.items() if failing.isdisjoint(self.required))
        self.runs = self.space.runs[bool(getattr(claim.judgement, "late", False))]
        self.without = without
        self.broken = dropped
        self.progress = progress
        self.started = time.monotonic()
        self.deadline = self.started + seconds
        self.found = Hunt(claim.id, without, paper, self.space, largest=dict.fromkeys(self.space.measures, 0))

    def violates(self, dataset: Any) -> bool:
        """Judge a dataset: whether it is a counterexample. Stores the smallest one.

        Raises
        ------
        TimeIsUp
        """
        self._look_at_the_time()
        self.found.looked_at += 1
        finding, number = self._judged(dataset)
        if finding is None:
            return False
        self.found.verdicts[finding.verdict.value] += 1
        for name in self.found.largest:
            self.found.largest[name] = max(self.found.largest[name], getattr(dataset, name))
        if finding.verdict is not Verdict.VIOLATED:
            return False
        earlier = number + 1 < len(self.runs)
        self.runs = self.runs[: number + 1]
        if earlier or self.found.dataset is None or self.space.size(dataset) < self.space.size(self.found.dataset):
            self.found.dataset, self.found.finding = dataset, finding
            self.found.settings = differences(self.runs[-1][1], self.runs[0][1])
        return True

    def _judged(self, dataset: Any) -> tuple[Finding | None, int]:
        """The first confirmed violation with the index of its run, else the first decided finding, else the first.

        None if the statement applies to none of the runs.
        """
        first, met = None, False
        for number, (tried, confirmed) in enumerate(self.runs):
            run = self.paper.run(dataset, tried)
            if not self._meets_assumptions(run):
                continue
            self.found.met += not met
            met = True
            finding = self.claim.judge(run)
            if finding.verdict is Verdict.NOT_APPLICABLE:
                continue
            if finding.verdict is Verdict.VIOLATED and confirmed != tried:
                finding = self.claim.judge(self.paper.run(dataset, confirmed))
            if finding.verdict is Verdict.VIOLATED:
                return finding, number
            if first is None or (first.verdict not in DECIDED and finding.verdict in DECIDED):
                first = finding
        return first, 0

    def _look_at_the_time(self) -> None:
        now = time.monotonic()
        self.progress(now - self.started)
        if now > self.deadline:
            raise TimeIsUp

    def _meets_assumptions(self, run: BaseRun[Any]) -> bool:
        if self.without is not None and self._holds(run, self.without):
            return False
        return all(self._holds(run, name) for name in self.required)

    def _holds(self, run: BaseRun[Any], name: str) -> bool:
        try:
            with redirect_stdout(sys.stderr):
                return self.claim.assumption(run, name).holds
        except Exception as error:
            if name not in self.claim.predicates:
                raise
            where = f"claim {self.claim.id}: assumption {name}"
            raise InputError(where, got=error_text(error), expected="a function that returns True or False") from None

    def smallest(self) -> None:
        """Try the enumerated small datasets, if the enumeration can meet the assumptions."""
        if not self.space.enumerated(self.required, self.without):
            return
        until = self.started + EXHAUSTIVE_SHARE * (self.deadline - self.started)
        for dataset in self.space.smallest():
            if time.monotonic() > until:
                return
            if self.violates(dataset):
                return
        self.found.exhausted = True

    def drawn(self, seed: int) -> None:
        """Draw random datasets until one violates the claim."""
        if self.found.dataset is None:
            self.draw(f"{seed}", self.violates)

    def draw(self, seed: str, condition: Callable[[Any], bool]) -> None:
        """Draw random datasets, in batches with new seeds, until one meets the condition."""
        strategy, batch = self._strategy(), 0
        while not some_drawn(strategy, condition, BATCH, Random(f"{seed} {batch}")):
            batch += 1

    def _strategy(self) -> "SearchStrategy[Any]":
        """Datasets without the dropped assumption; a share also violates assumptions that the claim does not make."""
        from hypothesis import strategies as st

        kept = self.space.drawn(self.broken, self.required)
        if not self.not_needed:
            return kept
        more = st.sets(st.sampled_from(self.not_needed), min_size=1)
        return kept | more.flatmap(lambda broken: self.space.drawn({*self.broken, *broken}, self.required))

    def shrunk(self) -> None:
        """Shrink the counterexample."""
        dataset = self.found.dataset
        while dataset is not None:
            dataset = next((other for other in self.space.reductions(dataset) if self.violates(other)), None)

    def smaller(self, seed: int) -> None:
        """Search for a smaller counterexample, for as long as the hunt has taken so far."""
        now = time.monotonic()
        self.deadline = min(self.deadline, now + (now - self.started))
        while self.found.dataset is not None:
            smallest = self.space.size(self.found.dataset)
            self.draw(f"{seed} below {smallest}", partial(self.violates_below, smallest))
            self.shrunk()

    def violates_below(self, most: tuple[int, ...], dataset: Any) -> bool:
        """Whether the dataset is a counterexample of a smaller size; larger ones are not judged."""
        self._look_at_the_time()
        return self.space.size(dataset) < most and self.violates(dataset)

    def result(self) -> Hunt:
        """The result, with the dataset named after the claim."""
        found = self.found
        found.seconds = time.monotonic() - self.started
        if found.dataset is not None:
            suffix = f"-without-{self.without}" if self.without else ""
            found.dataset = replace(found.dataset, name=f"{found.claim}{suffix}")
            if found.finding is not None:
                found.finding = self.space.confirmed(self.claim, found.dataset, found.finding)
        return found


def hunt_answer(found: Hunt, path: str | None) -> dict[str, Any]:
    """JSON document of a hunt."""
    return {
        "claim": found.claim,
        "without": found.without,
        "found": found.dataset is not None,
        "tried": found.tried,
        "dataset": path,
        "settings": found.settings,
        "verdicts": dict(found.verdicts),
        "largest_tried": found.largest,
        "looked_at": found.looked_at,
        "met_assumptions": found.met,
        "smallest_sizes_exhausted": found.exhausted,
        "seconds": round(found.seconds, 3),
        "evidence": None if found.finding is None else found.finding.evidence.value,
        "detail": None if found.finding is None else found.finding.detail,
    }
