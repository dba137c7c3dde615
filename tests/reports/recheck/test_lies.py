"""Lies planted in reports: each is found, and none in the report as it was made."""

import copy
import json
import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from marginaudit.claims.claim import Ledger
from marginaudit.reports.audit.check_bars import with_checked_bars
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.audit.user_claims import all_claims, claims_of_file
from marginaudit.reports.page.files import json_text
from marginaudit.reports.python import audit
from marginaudit.reports.recheck import recheck, ways
from marginaudit.reports.recheck.recheck import Recheck
from marginaudit.reports.recheck.recheck import recheck as recheck_report
from marginaudit.reports.recheck.restored import restored
from marginaudit.reports.study import audit as study
from marginaudit.reports.study.executor import Executor
from tests.reports.recheck.lies import LIES, Document

ROOT = Path(__file__).parents[3]
FILES = {
    "papers": None,
    "heavy ball": ROOT / "examples" / "light" / "heavy_ball.py",
    "worst cases": ROOT / "examples" / "first_order" / "claims.py",
}
WITHIN_BARS = ("bars", "relative bar", "position")
"""Lies that another processor's rounding could tell as well."""

SMALL = {"steps1": 30, "steps2": 30, "steps": 1000, "seeds": 20}


@pytest.fixture(autouse=True)
def each_audit_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Audit equal data under equal settings once: most lies leave them as they are."""

    def kept(sources: Any, claims: Any, configs: Any, executor: Any, **more: Any) -> Any:
        data = [(one.paper.name, one.place, one.sha256, one.paper.kind.to_document(one.dataset)) for one in sources]
        key = json_text([data, [claim.id for claim in claims], repr(configs)])
        if key not in AUDITS:
            AUDITS[key] = study.audit_datasets(sources, claims, configs, executor, **more)
        return AUDITS[key]

    def checked(audit: Any, seconds: float, file: Path | None) -> Any:
        if id(audit) not in CHECKED:
            CHECKED[id(audit)] = with_checked_bars(audit, seconds, file)
        return CHECKED[id(audit)]

    for module in (recheck, ways):
        monkeypatch.setattr(module, "audit_datasets", kept)
    monkeypatch.setattr(recheck, "with_checked_bars", checked)


AUDITS: dict[str, Any] = {}
CHECKED: dict[int, Any] = {}


@cache
def known(name: str) -> Ledger:
    return all_claims(PAPERS, FILES[name], lambda _: None)


@cache
def report(name: str) -> str:
    """A report of both papers at few steps, or of a file's instances."""
    file = FILES[name]
    if file is None:
        return json_text(audit(["example-1", "snap-single"], config=SMALL).as_document())
    own = claims_of_file(file, PAPERS)
    chosen = [claim for claim in own.values() if name != "worst cases" or "halpern" in claim.id]
    instances = [one for one in own.instances.values() if name != "worst cases" or "halpern" in one.name]
    return json_text(audit(instances, claims=chosen).as_document())


def rechecked(name: str, document: Mapping[str, Any], folder: Path) -> Recheck:
    path = folder / "report.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return recheck_report(restored(path, PAPERS, known(name), FILES[name]), Executor(), {})


Change = Callable[[Document], None]


def as_it_is(document: Document) -> None:
    """Leave a report as it is."""


def elsewhere(document: Document) -> None:
    """The report of another processor, of which not every digit is compared."""
    document["made"]["cpu"] = "another"


@pytest.mark.parametrize("change", [as_it_is, elsewhere], ids=["here", "elsewhere"])
@pytest.mark.parametrize("name", FILES)
def test_a_report_as_it_was_made_has_no_difference(name: str, change: Change, tmp_path: Path) -> None:
    document = json.loads(report(name))
    change(document)
    found = rechecked(name, document, tmp_path)
    assert not found.differences
    assert found.exactly is (change is not elsewhere)
    assert sum(found.counts.values()) == len(document["verdicts"])
    assert "not recomputed" not in found.counts


def lied(name: str, kind: str, seed: int) -> tuple[Document, str] | None:
    document, rng = copy.deepcopy(json.loads(report(name))), random.Random(seed)
    place = LIES[kind](document, rng)
    return None if place is None else (document, place)


def missed_lies(
    count: int, seed: int, folder: Path, kinds: Sequence[str] = tuple(LIES), change: Change = as_it_is
) -> list[tuple[str, str, int]]:
    """Lies that were not found at their place, of ``count`` drawn ones."""
    rng, missed, drawn = random.Random(seed), [], 0
    while drawn < count:
        name, kind, own = rng.choice(list(FILES)), kinds[drawn % len(kinds)], rng.randrange(10**6)
        lie = lied(name, kind, own)
        if lie is None:
            continue
        drawn += 1
        document, place = lie
        change(document)
        if all(one.place != place for one in rechecked(name, document, folder).differences):
            missed.append((name, kind, own))
    return missed


def test_a_lie_of_each_kind_is_found(tmp_path: Path) -> None:
    assert missed_lies(len(LIES), 0, tmp_path) == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_hundred_lies_are_found(tmp_path: Path) -> None:
    assert missed_lies(200, 1, tmp_path) == []


def test_lies_beyond_the_error_bars_are_found_on_another_processor(tmp_path: Path) -> None:
    beyond = [kind for kind in LIES if kind not in WITHIN_BARS]
    assert missed_lies(2 * len(beyond), 2, tmp_path, beyond, elsewhere) == []
