"""A part's file: its name says all that decides it, it is written whole, and what is done stays as it is."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from marginaudit.orders import InputError
from marginaudit.reports.identity import difference, identity
from marginaudit.reports.sweep.part import Outcome, Part, parts_of, path_of, read_part, write_part
from tests.reports.sweep.specs import ODD, odd_spec

KEY = "k" * 64


def done(end: float) -> Outcome:
    return {"status": "done", "message": "", "results": {"end": end}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "parts").mkdir()
    return tmp_path / "parts"


FAILED: Outcome = {"status": "failed", "message": "ValueError: odd", "results": {}}


def test_parts_cover_the_grid_each_run_once_in_its_order() -> None:
    spec = odd_spec()
    parts = list(parts_of(spec, "code"))
    assert len({part.key for part in parts}) == len(parts) == 2 * 3 * 2
    runs = [run for part in parts for run in part.runs]
    assert len(runs) == len(set(runs)) == spec.runs
    for part in parts:
        assert len(part.runs) == len(part.work["settings"]) <= 2
        for (i, j, k), settings in zip(part.runs, part.work["settings"], strict=True):
            assert part.work["columns"] == spec.data[i].columns
            assert settings == spec.settings(spec.configs[j])
            assert part.work["seed"] == spec.seeds[k]


def test_a_key_depends_on_all_that_decides_the_results() -> None:
    def key(text: str = ODD, code: str = "code") -> str:
        return next(parts_of(odd_spec(text), code)).key

    others = [
        key(code="other"),
        key(ODD.replace("seeds = 3", "seeds = [5]")),
        key(ODD.replace("seeds = 3", "keep = ['end']")),
        key(ODD.replace("[1, 4]", "[2, 4]")),
        key(ODD.replace("0.5", "0.25")),
        key(ODD + "what = 'slow'"),
        key(ODD.replace('generator = "counting"\nN = [1, 4]', "files = ['three-numbers']")),
    ]
    assert len({key(), *others}) == 1 + len(others)
    assert key() == key(ODD.replace("seeds = 3", "seeds = [0, 9]")) == key(ODD.replace("[1, 4]", "[1]"))


def test_documents_decide_the_key() -> None:
    keys = []
    for number in (1, 2):
        Path("own.json").write_text(json.dumps({"numbers": [number]}))
        spec = odd_spec('paper = "odd"\n[data]\nfiles = ["own.json"]\n')
        keys.append(next(parts_of(spec, "code")).key)
    assert keys[0] != keys[1]


def test_writing_and_reading(folder: Path) -> None:
    assert read_part(folder, KEY, 2) is None
    path = write_part(folder, KEY, [done(0.1), FAILED])
    assert path == path_of(folder, KEY)
    assert read_part(folder, KEY, 2) == [done(0.1), FAILED]
    assert [found.name for found in folder.iterdir()] == [path.name]


def test_the_same_again_is_harmless_and_another_result_is_an_error(folder: Path) -> None:
    path = write_part(folder, KEY, [done(0.1), FAILED])
    before = path.read_bytes(), path.stat().st_ino
    write_part(folder, KEY, [done(0.1), FAILED])
    assert (path.read_bytes(), path.stat().st_ino) == before
    with pytest.raises(InputError) as refused:
        write_part(folder, KEY, [done(0.2), FAILED])
    assert str(refused.value) == (
        f"{path}: got another end: 0.1, now 0.2, expected the same from the same settings, seed, versions and code"
    )
    assert path.read_bytes() == before[0]


def test_what_failed_is_replaced_and_what_is_done_is_not(folder: Path) -> None:
    write_part(folder, KEY, [done(0.1), FAILED])
    write_part(folder, KEY, [FAILED, done(0.2)])
    assert read_part(folder, KEY, 2) == [done(0.1), done(0.2)]


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-20],
        lambda text: "",
        lambda text: "null",
        lambda text: text.replace("0.1", "0.2"),
        lambda text: text.replace("kkk", "kkj"),
        lambda text: "[" * 100_000,
    ],
)
def test_a_damaged_part_is_refused(folder: Path, damage: Callable[[str], str]) -> None:
    path = write_part(folder, KEY, [done(0.1)])
    path.write_text(damage(path.read_text()))
    with pytest.raises(InputError, match="got a damaged part, expected one that a worker wrote; remove it"):
        read_part(folder, KEY, 1)


def test_a_part_of_other_runs_is_refused(folder: Path) -> None:
    write_part(folder, KEY, [done(0.1)])
    with pytest.raises(InputError, match="a damaged part"):
        read_part(folder, KEY, 2)


def test_the_code_and_the_versions_of_all_that_computes_are_known() -> None:
    found = identity("tests.reports.sweep.odd_paper")
    assert {"marginaudit", "python", "numpy", "scipy", "numba"} <= set(found["versions"])
    for place in ("orders/text.py", "training/snap/sgd/kernel.py", "margins/ntp/verify.py", "sweep/odd_paper.py"):
        assert len(found["code"][place]) == 64
    changed = {
        "versions": found["versions"] | {"numpy": "1"},
        "code": found["code"] | {"orders/text.py": "0", "new.py": ""},
    }
    assert difference(found, found) == ""
    told = difference(changed, found)
    assert told == f"numpy 1, now {found['versions']['numpy']}; other code in new.py, orders/text.py"
    many = dict.fromkeys(sorted(found["code"])[:7], "")
    assert difference(found, found | {"code": found["code"] | many}).endswith("and 4 more")


def test_parts_are_plain_data() -> None:
    part: Part = next(parts_of(odd_spec(), "code"))
    assert json.loads(json.dumps(part.work)) == part.work
