"""Compiled functions and what is kept of them on disk."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

SOURCE = "from marginaudit.orders.jit import compiled\n\n@compiled\ndef twice(x):\n    return 2 * x\n"


def loaded(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("kept", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.twice


@pytest.mark.parametrize(("suffix", "kept"), [("nbi", 0), ("nbc", 40)])
def test_a_truncated_file_of_the_cache_is_discarded(
    suffix: str, kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "kept.py"
    path.write_text(SOURCE)
    assert loaded(path)(3) == 6
    [file] = (tmp_path / "cache").rglob(f"*.{suffix}")
    whole = file.read_bytes()
    file.write_bytes(whole[:kept])
    again = loaded(path)
    assert again(3) == 6
    assert not again.stats.cache_hits
    assert file.stat().st_size > kept
    third = loaded(path)
    assert third(3) == 6
    assert sum(third.stats.cache_hits.values()) == 1


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.save", full)
    path = tmp_path / "kept.py"
    path.write_text(SOURCE)
    assert loaded(path)(3) == 6
