"""Parts whose workers die, by a pool that does what a test says: how often, with whom, and what is told of it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from marginaudit.reports.sweep import local


class Pools:
    """Stands for the pools: each part's worker dies so often, and a pool is of no use after a death.

    Attributes
    ----------
    sizes : list of int
        Of the pools that were begun.
    tried : Counter
        How often each part was.
    """

    def __init__(self, deaths: Mapping[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
        self.deaths, self.tried, self.open = deaths, Counter[str](), 0
        self.sizes: list[int] = []
        monkeypatch.setattr(local, "workers", self._workers)
        monkeypatch.setattr(local, "_submitted", self._submitted)

    @contextmanager
    def _workers(self, jobs: int) -> Iterator[dict[str, bool]]:
        self.sizes.append(jobs)
        self.open += 1
        yield {"broken": False}
        self.open -= 1

    def _submitted(self, pool: dict[str, bool], part: str, folder: Path) -> "Future[str]":
        assert folder == Path("parts")
        self.tried[part] += 1
        pool["broken"] |= self.tried[part] <= self.deaths.get(part, 0)
        future: Future[str] = Future()
        if pool["broken"]:
            future.set_exception(BrokenProcessPool())
        else:
            future.set_result(part)
        return future


def ended(parts: str, jobs: int) -> dict[Any, bool]:
    found: Any = list(local.on_this_machine(list(parts), Path("parts"), jobs))  # type: ignore[arg-type]
    assert len(found) == len(parts)
    return dict(found)


@pytest.mark.parametrize(("deaths", "written", "tried"), [(0, True, 1), (1, True, 2), (3, True, 4), (4, False, 4)])
def test_a_part_may_lose_three_workers(deaths: int, written: bool, tried: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pools = Pools({"b": deaths}, monkeypatch)
    assert ended("abc", 1) == {"a": True, "b": written, "c": True}
    assert pools.tried == {"a": 1, "b": tried, "c": 1}
    assert pools.open == 0


def test_what_was_under_way_with_it_is_taken_up_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    pools = Pools({"b": 9}, monkeypatch)
    assert ended("abcde", 3) == {"a": True, "b": False, "c": True, "d": True, "e": True}
    assert pools.tried["b"] == 4
    assert max(pools.tried[part] for part in "acde") == 2
    assert pools.sizes[:2] == [3, 2]
    assert set(pools.sizes[2:]) == {1}


def test_workers_that_die_again_and_again_at_no_fault_of_a_part_cost_no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the system ends several at once, and soon after those that take their place."""
    pools = Pools({}, monkeypatch)
    submitted, deaths = pools._submitted, iter([True] * 4)

    def under_fire(pool: dict[str, bool], part: str, folder: Path) -> "Future[str]":
        pool["broken"] |= next(deaths, False)
        return submitted(pool, part, folder)

    monkeypatch.setattr(local, "_submitted", under_fire)
    assert set(ended("abcdefgh", 2).values()) == {True}
    assert max(pools.tried.values()) == 2


def test_no_more_workers_than_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    pools = Pools({}, monkeypatch)
    assert ended("ab", 8) == {"a": True, "b": True}
    assert pools.sizes == [2]
    assert ended("", 8) == {}
    assert pools.sizes == [2]


def test_an_error_of_a_part_ends_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> "Future[str]":
        future: Future[str] = Future()
        future.set_exception(OSError("no room"))
        return future

    Pools({}, monkeypatch)
    monkeypatch.setattr(local, "_submitted", failing)
    with pytest.raises(OSError, match="no room"):
        ended("ab", 1)
