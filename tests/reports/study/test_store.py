"""The store: a result comes back as it was, or not at all; its key depends on the code and the versions."""

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marginaudit.claims.row import ReportRow
from marginaudit.claims.verdict import Curve, Verdict
from marginaudit.reports.study import store
from marginaudit.reports.study.store import Store, difference, identity, user_cache

VALUE = {"a": [0.1, float("inf"), 2**60], "b": {"é": None}, "c": "\x00\xff"}


def test_writing_and_reading(tmp_path: Path) -> None:
    results = Store(tmp_path / "new")
    assert results.read("k") is None
    results.write("k", VALUE)
    assert results.read("k") == VALUE
    first = results.path("k").read_bytes()
    results.write("k", VALUE)
    assert results.path("k").read_bytes() == first
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["k.pickle"]
    assert Store(tmp_path / "new", fresh=True).read("k") is results.read("other") is results.read(None) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: data[32:],
        lambda data: data.replace(b"\xc3\xa9", b"\xc3\xa8"),
        lambda data: data + b" ",
    ],
)
def test_what_is_damaged_or_edited_is_none_and_named(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    told: list[str] = []
    results = Store(tmp_path, notice=told.append)
    results.write("k", VALUE)
    results.path("k").write_bytes(damage(results.path("k").read_bytes()))
    assert results.read("k") is None
    assert told == [f"{tmp_path / 'k.pickle'}: damaged, edited or copied since it was written, so to be computed anew"]


def test_no_flipped_bit_and_no_copy_of_another_key_is_believed(tmp_path: Path) -> None:
    told: list[str] = []
    results = Store(tmp_path, notice=told.append)
    results.write("k", VALUE)
    whole = results.path("k").read_bytes()
    for bit in range(8 * len(whole)):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        results.path("k").write_bytes(flipped)
        assert results.read("k") is None, bit
    results.path("other").write_bytes(whole)
    assert results.read("other") is None
    assert len(told) == 8 * len(whole) + 1
    results.path("k").write_bytes(whole)
    assert results.read("k") == VALUE


def test_equal_results_have_the_same_bytes(tmp_path: Path) -> None:
    results, word = Store(tmp_path), "".join(["do", "ne"])
    results.write("k", [word, word])
    first = results.path("k").read_bytes()
    results.write("k", ["".join(["do", "ne"]), word])
    assert results.path("k").read_bytes() == first


def test_objects_are_those_of_results(tmp_path: Path) -> None:
    """An array and a row come back; what would call a function does not, even where its checksum matches."""
    told: list[str] = []
    results = Store(tmp_path, notice=told.append)
    row = ReportRow(claim="c", dataset="d", verdict=Verdict.HOLDS, curve=Curve([1, 10**30], [0.1, 0.2], [0.3, 0.4]))
    results.write("k", {"row": row, "array": np.arange(3.0), "says": np.array([True])})
    back = results.read("k")
    assert back["row"] == row
    assert back["row"].curve == row.curve
    np.testing.assert_equal((back["array"], back["says"]), (np.arange(3.0), np.array([True])))
    planted: Any
    for planted in (Path("x"), Counter(), os.system):
        results.write("k", planted)
        assert results.read("k") is None
    assert len(told) == 3


def test_members_of_enumerations_come_back_in_every_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in Python 3.11.2, where a member reduces to a call of `getattr`."""
    monkeypatch.setattr(Verdict, "__reduce_ex__", lambda self, _: (getattr, (type(self), self.name)))
    results = Store(tmp_path)
    results.write("k", Verdict.HOLDS)
    assert results.read("k") is Verdict.HOLDS


def test_a_result_is_there_until_the_next_one_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(tmp_path).write("k", 1)

    def killed(self: Path, target: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        Store(tmp_path, cache=True).write("k", 2)
    assert Store(tmp_path).read("k") == 1


def test_a_cache_drops_its_oldest_and_what_it_cannot_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST_KEPT", 2)
    folder = tmp_path / "cache"
    for name in "0123":
        Store(folder).write(name, VALUE)
    (folder / "mine.txt").write_text("kept")
    Store(folder, cache=True).write("4", VALUE)
    assert len(list(folder.glob("*.pickle"))) == 2
    assert Store(folder).read("4") == VALUE
    assert (folder / "mine.txt").exists()
    Store(folder / "mine.txt", cache=True).write("k", VALUE)
    with pytest.raises(OSError, match=r"mine\.txt"):
        Store(folder / "mine.txt").write("k", VALUE)


def test_where_audits_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for given in ("", "relative"):  # as the XDG has it, such a path is ignored
        monkeypatch.setenv("XDG_CACHE_HOME", given)
        assert user_cache(fresh=False, notice=print) == Store(tmp_path / ".cache/marginaudit/audits", cache=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert user_cache(fresh=True, notice=print) == Store(
        tmp_path / "elsewhere/marginaudit/audits", cache=True, fresh=True
    )

    def homeless(path: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "expanduser", homeless)
    assert user_cache(fresh=False, notice=print) == Store(None)


def test_the_code_and_the_versions_of_all_that_computes_are_known() -> None:
    found = identity("tests.reports.study.odd_paper")
    assert {"marginaudit", "python", "numpy", "scipy", "numba"} <= set(found["versions"])
    for place in (
        "orders/text.py",
        "claims/judgements/bounded.py",
        "training/snap/sgd/kernel.py",
        "margins/ntp/verify.py",
        "study/odd_paper.py",
        "reports/ntp/counterexamples/ntp.theorem2.floor.json",
    ):
        assert len(found["code"][place]) == 64
    changed: dict[str, Any] = {
        "versions": found["versions"] | {"numpy": "1"},
        "code": found["code"] | {"margins/exact.py": "1", "orders/text.py": "0", "new.py": ""},
    }
    assert difference(json.loads(json.dumps(found)), found) == ""
    told = difference(changed, found)
    assert told == f"numpy 1, now {found['versions']['numpy']}; other code in margins/exact.py, new.py, orders/text.py"
    many = dict.fromkeys(sorted(found["code"])[:7], "")
    assert difference(found, found | {"code": found["code"] | many}).endswith("and 4 more")
