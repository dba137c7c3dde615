"""What the texts of a report hold, cell by cell, and how one file takes the place of another."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from marginaudit.orders.ntp import CASES
from marginaudit.reports.audit.auditing import distinct_names
from marginaudit.reports.audit.sources import Source
from marginaudit.reports.grid import brief
from marginaudit.reports.ntp.paper import PAPER
from marginaudit.reports.page.files import check_writable, csv_text, file_stem, json_text
from marginaudit.reports.page.html import _norm
from marginaudit.reports.page.write import _stems, _with_hash, files_of_report
from marginaudit.reports.plain import finite
from marginaudit.reports.plots.axes import between_powers, drawable, power_of_ten


def test_json_has_finite_numbers_only() -> None:
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="not JSON compliant"):
            json_text({"x": value})
    assert json_text({"é": [1, "\x7f"]}) == '{"é": [1, "\\u007f"]}\n'
    assert json_text({"a": 1}, indent=2) == '{\n  "a": 1\n}\n'
    found: Any = finite({"a": (np.inf, np.float64(2), np.array([np.nan, 1])), "b": True, "c": np.bool_(False)})
    assert found == {"a": [None, 2.0, [None, 1.0]], "b": True, "c": False}


def test_cells_that_a_spreadsheet_would_run() -> None:
    rows: list[list[Any]] = [["-1", -1, "a,b"], ["@x", None, 'say "no"'], ["x=1", True, "\x1b"]]
    assert csv_text(["=h"], rows).split("\r\n") == [
        "'=h",
        '\'-1,-1,"a,b"',
        '\'@x,,"say ""no"""',
        "x=1,True,\\x1b",
        "",
    ]


def test_file_stems() -> None:
    assert [file_stem(name) for name in ("a b", "..a..", "x" * 90, "x" * 79 + "-y", "é", "A_1.b-")] == [
        "a-b",
        "a",
        "x" * 80,
        "x" * 79,
        "dataset",
        "A_1.b",
    ]


def test_whether_a_file_can_be_written_is_tried_before(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    check_writable(tmp_path / "deep" / "er" / "x.txt")
    assert list((tmp_path / "deep" / "er").iterdir()) == []
    with pytest.raises(IsADirectoryError):
        check_writable(tmp_path / "deep")
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"ile exists|irectory"):
        check_writable(tmp_path / "file" / "x.txt")


def test_the_files_of_a_report_are_those_that_it_names(tmp_path: Path) -> None:
    assert files_of_report(tmp_path) is None
    report = tmp_path / "report.json"
    for text, expected in (
        ('{"marginaudit": "1", "files": ["a", "b/c"]}', frozenset({"a", "b/c"})),
        ('{"files": ["a"]}', None),
        ('{"marginaudit": "1"}', None),
        ("[1]", None),
        ("{", None),
        ("[" * 100_000, None),
    ):
        report.write_text(text)
        assert files_of_report(tmp_path) == expected


def test_a_file_of_a_report_that_was_changed_since_is_the_users(tmp_path: Path) -> None:
    """So is one that cannot be read; one whose hash the report does not have is the report's."""
    for name in ("same", "changed", "unknown"):
        (tmp_path / name).write_text("1")
    (tmp_path / "folder").mkdir()
    (tmp_path / "unreadable").symlink_to("unreadable")
    digest = "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"  # of the text 1
    hashes = dict.fromkeys(("same", "changed", "gone", "folder", "unreadable"), digest)
    document = {"marginaudit": "1", "files": [*hashes, "unknown", "report.json"], "sha256": hashes}
    (tmp_path / "report.json").write_text(json.dumps(document))
    (tmp_path / "changed").write_text("2")
    assert files_of_report(tmp_path) == frozenset({"same", "unknown", "report.json"})


def test_names_that_give_one_file_name_get_numbers() -> None:
    names = ("a b", "A-b", "a-b-2", "a/b", "c", "fig 1")
    audited = [SimpleNamespace(name=name) for name in names]
    audit: Any = SimpleNamespace(audited=audited, papers=[SimpleNamespace(illustrations={"fig-1": "claim"})])
    assert list(_stems(audit).values()) == ["a-b", "A-b-2", "a-b-2-2", "a-b-3", "c", "fig-1-2"]


def test_datasets_of_one_name_get_free_numbers() -> None:
    names = ["x", "x", "x-2", "x", "y"]
    told: list[str] = []
    found = distinct_names(
        [Source(replace(CASES["example-1"](), name=name), PAPER, f"file {i}") for i, name in enumerate(names)],
        told.append,
    )
    assert [source.dataset.name for source in found] == ["x", "x-3", "x-2", "x-4", "y"]
    assert [source.origin for source in found] == [f"file {i}" for i in range(5)]
    assert told == [
        f"file {i}: a dataset named x is there already; this one is reported as x-{new}" for i, new in ((1, 3), (3, 4))
    ]


def test_numbers_for_a_reader() -> None:
    assert [brief(x) for x in (None, 0, -3, 9_999_999, 10_000_000, -10_000_000, 2.0, 1 / 3)] == [
        "–",
        "0",
        "-3",
        "9999999",
        "1e+07",
        "-1e+07",
        "2",
        "0.3333",
    ]
    solution = {"status": "optimal", "norm_squared": 2.5, "norm_squared_exact": "5/2"}
    assert _norm(None) == "–"
    assert _norm(solution) == "5/2"
    assert _norm(solution | {"norm_squared_exact": None}) == "2.5"
    assert _norm(solution | {"status": "infeasible", "norm_squared": None}) == "infeasible"


def test_what_a_logarithmic_axis_shows() -> None:
    assert drawable([1e200, 1.1e200, -1e201, 1e-200, 0.9e-200, np.inf]).tolist()[:1] == [1e200]
    np.testing.assert_array_equal(
        drawable([1e200, 1.1e200, -1e201, 1e-200, 0.9e-200, np.inf]), [1e200, np.nan, np.nan, 1e-200, 0, np.nan]
    )
    assert [power_of_ten(x) for x in (1.0, 10.0, 0.1, 3.3e5)] == ["1", "10¹", "10⁻¹", "10⁶"]
    assert [between_powers(x, False) for x in (2.0, 5e7, 0.4)] == ["2", "5e+07", ""]
    assert between_powers(0.4, True) == "0.4"


def test_the_hash_of_a_report_json_is_the_last_of_its_kind_in_it() -> None:
    """Data may hold 64 zeros, as a whole number or under that name."""
    none = '"report.json": "' + "0" * 64 + '"'
    before = '{"whole": 1' + "0" * 64 + f', "next_token": {{{none}}}, "sha256": {{{none}}}}}'
    after = _with_hash(before.encode(), "0" * 64, "a" * 64)
    assert after.decode() == before.removesuffix(none + "}}") + '"report.json": "' + "a" * 64 + '"}}'
    assert _with_hash(after, "a" * 64, "0" * 64) == before.encode()
