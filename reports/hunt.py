"""The hunt for a dataset that violates a claim: the smallest exhaustively, then hypothesis's, then shrinking."""

import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from tempfile import TemporaryDirectory
from threading import current_thread, main_thread
from types import FrameType
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.errors import NoSuchExample

from marginaudit.claims.claim import Claim
from marginaudit.claims.paper import Paper, Space
from marginaudit.claims.run import BaseRun
from marginaudit.claims.settings import differences
from marginaudit.claims.verdict import Evidence, Finding, Verdict
from marginaudit.orders import InputError, shown

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

EXHAUSTIVE_SHARE = 0.25
"""Largest share of the time for the exhaustive enumeration."""

GRACE = 60.0
"""Seconds after the time limit before a running evaluation is interrupted."""

SOON, AGAIN = 1e-3, 1.0
"""Seconds to an alarm that is overdue, and to its repetition."""

DECIDED = (Verdict.HOLDS, Verdict.VACUOUS, Verdict.VIOLATED)

BATCH = 2_000
"""Datasets that hypothesis draws before it starts over with another seed."""


class TimeIsUp(KeyboardInterrupt):
    """The time limit; passes `Claim.judge` and hypothesis, which take other exceptions for the claim's."""


@dataclass
class Hunt:
    """Result of a hunt: the counterexample, or the space that was covered.

    Attributes
    ----------
    dataset : a dataset or None
        The smallest dataset found that violates the claim.
    finding : Finding or None
        The claim's verdict on it, in the paper's own run.
    settings : dict
        In what that run differs from the one that is tried first.
    verdicts : Counter
        Of the datasets that met the assumptions; `broken` where the claim could not be evaluated.
    largest : dict
        The largest of each of the space's measures among them.
    looked_at : int
        Datasets that were made, whether they met the assumptions or not.
    met : int
        Those that broke what had to be broken and met the other assumptions, in one of the runs at least.
    exhausted : bool
        Whether every small dataset of the space's enumeration was looked at.
    """

    claim: str
    without: str | None
    paper: Paper
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
        """Datasets that met the assumptions and were evaluated: without one of them a claim may have no meaning."""
        return self.verdicts.total() - self.verdicts[Verdict.BROKEN]

    @property
    def decided(self) -> int:
        """Number of them on which the claim was decided."""
        return sum(self.verdicts[verdict] for verdict in DECIDED)

    def certificate(self) -> dict[str, Any] | None:
        """Certificate of the dataset that was found, for `marginaudit verify`; None unless the violation is exact."""
        if self.dataset is None or self.finding is None or self.finding.evidence is not Evidence.EXACT:
            return None
        proof = _space(self.paper).proof(self.dataset)
        return None if proof is None else dict(proof)


def _space(paper: Paper) -> Space:
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
    """Look for a dataset that meets the claim's assumptions and violates it, and shrink it.

    With ``without``, the dataset breaks that assumption (and what it implies) and meets the others. An assumption on
    settings is met or broken by the runs of the paper's space. What the claim does not assume is broken, too, in a
    share of the datasets. ``progress`` takes the seconds gone.

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
    with suppress(TimeIsUp), _no_folder_left(), ended_after(seconds + GRACE):
        search.smallest()
        search.drawn(seed)
        search.shrunk()
        search.smaller(seed)
    return search.result()


@contextmanager
def _no_folder_left() -> Iterator[None]:
    """Context: hypothesis writes to a temporary folder, not to the working directory."""
    with TemporaryDirectory() as folder:
        set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            set_hypothesis_home_dir(None)


@contextmanager
def ended_after(seconds: float) -> Iterator[None]:
    """Context that raises TimeIsUp at a time, by SIGALRM, which only the main thread can have.

    Within another one it ends with that one at the latest. Python drops what is raised in a destructor: the alarm is
    repeated until it ends.
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
    """One hunt under way."""

    def __init__(
        self, claim: Claim, paper: Paper, without: str | None, seconds: float, progress: Callable[[float], None]
    ) -> None:
        self.paper, self.space = paper, _space(paper)
        dropped = {without, *self.space.implies.get(without, ())} if without is not None else set()
        self.required = tuple(name for name in claim.asked if name not in dropped)
        # without an assumption it is another statement, of which nothing is proved
        self.claim = replace(claim, assumptions=self.required, setting=()) if dropped else claim
        fail_with = {name: {name, *self.space.implies.get(name, ())} for name in paper.kind.assumptions}
        self.not_needed = tuple(name for name, failing in fail_with.items() if failing.isdisjoint(self.required))
        self.runs = self.space.runs[bool(getattr(claim.judgement, "late", False))]
        self.without = without
        self.broken = dropped
        self.progress = progress
        self.started = time.monotonic()
        self.deadline = self.started + seconds
        self.found = Hunt(claim.id, without, paper, largest=dict.fromkeys(self.space.measures, 0))

    def violates(self, dataset: Any) -> bool:
        """Whether the dataset is a counterexample; keeps the smallest one.

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
        """The first confirmed violation and the number of its run, else the first finding that decides, or the first.

        None where the statement speaks in none of the runs.
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
        if self.without is not None and run.assumption(self.without).holds:
            return False
        return all(run.assumption(name).holds for name in self.required)

    def smallest(self) -> None:
        """The enumerated small datasets, unless none of them is of the kind that is looked for."""
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
        """Hypothesis draws datasets until one violates."""
        if self.found.dataset is None:
            self.draw(f"{seed}", self.violates)

    def draw(self, seed: str, condition: Callable[[Any], bool]) -> None:
        """Draw in batches of new seeds until a dataset meets the condition."""
        strategy = self._strategy()
        profile = settings(
            max_examples=BATCH,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        batch = 0
        while True:
            try:
                find(strategy, condition, settings=profile, random=Random(f"{seed} {batch}"))
                return
            except NoSuchExample:
                batch += 1

    def _strategy(self) -> "SearchStrategy[Any]":
        """Datasets that break what they have to, and in a share of the draws what the claim does not assume."""
        from hypothesis import strategies as st

        kept = self.space.drawn(self.broken, self.required)
        if not self.not_needed:
            return kept
        more = st.sets(st.sampled_from(self.not_needed), min_size=1)
        return kept | more.flatmap(lambda broken: self.space.drawn({*self.broken, *broken}, self.required))

    def shrunk(self) -> None:
        """Shrink a counterexample."""
        dataset = self.found.dataset
        while dataset is not None:
            dataset = next((other for other in self.space.reductions(dataset) if self.violates(other)), None)

    def smaller(self, seed: int) -> None:
        """Look on for a smaller one, for as long again as it took so far."""
        now = time.monotonic()
        self.deadline = min(self.deadline, now + (now - self.started))
        while self.found.dataset is not None:
            smallest = self.space.size(self.found.dataset)
            self.draw(f"{seed} below {smallest}", partial(self.violates_below, smallest))
            self.shrunk()

    def violates_below(self, most: tuple[int, ...], dataset: Any) -> bool:
        """Whether a smaller dataset violates; others are not judged."""
        self._look_at_the_time()
        return self.space.size(dataset) < most and self.violates(dataset)

    def result(self) -> Hunt:
        """The hunt's result, the dataset named after the claim."""
        found = self.found
        found.seconds = time.monotonic() - self.started
        if found.dataset is not None:
            suffix = f"-without-{self.without}" if self.without else ""
            found.dataset = replace(found.dataset, name=f"{found.claim}{suffix}")
        return found


def hunt_answer(found: Hunt, path: str | None) -> dict[str, Any]:
    """The JSON answer of a hunt."""
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
        "detail": None if found.finding is None else found.finding.detail,
    }
