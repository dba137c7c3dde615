"""`marginaudit compare`: what changed between two audits or sweeps, and documents that are none."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import Command

ROWS: list[dict[str, Any]] = [
    {
        "claim": "a.upper", "dataset": "one", "verdict": "holds", "evidence": "float64", "measured": 2.0, "bound": 8.0,
        "slack": 4.0, "side": "upper", "constant": 3.0, "repeats_within": 1e-6, "informative_from": 10,
    },
    {
        "claim": "a.lower", "dataset": "one", "verdict": "holds", "evidence": "float64", "measured": 2.0, "bound": 1.0,
        "slack": 0.5, "side": "lower", "constant": None, "repeats_within": 1e-3, "informative_from": None,
    },
    {
        "claim": "a.upper", "dataset": "two", "verdict": "violated", "evidence": "exact", "measured": 2.0, "bound": 1.0,
        "slack": 0.5, "side": None, "constant": None, "repeats_within": None, "informative_from": None,
    },
]  # fmt: skip
DOCUMENT: dict[str, Any] = {
    "marginaudit": "0.1.0",
    "environment": {"numpy": "2.0"},
    "config": {"ntp": {"steps1": 5, "at": None}},
    "datasets": [{"name": "one", "sha256": "ab"}, {"name": "two", "sha256": None}],
    "verdicts": ROWS,
    "files": [],
}


def written(folder: Path, name: str, document: Any) -> Path:
    path = folder / name / "report.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def changed(row: int, **fields: Any) -> dict[str, Any]:
    return DOCUMENT | {"verdicts": [found | fields if i == row else found for i, found in enumerate(ROWS)]}


@pytest.fixture
def answer(command: Command, tmp_path: Path) -> Any:
    """The answer to a comparison of the document above with another."""
    old = written(tmp_path, "old", DOCUMENT)
    return lambda document: command.json("compare", old.parent, written(tmp_path, "new", document))


def test_a_change_says_what_was_and_what_is(answer: Any) -> None:
    found = answer(changed(0, slack=3.0))
    assert found["settings"] == []
    assert found["changes"] == [
        {
            "dataset": "one", "claim": "a.upper", "what": "slack", "old": 4.0, "new": 3.0, "direction": "worse",
            "text": "slack: 4 -> 3 (tolerance 1e-06)",
        }
    ]  # fmt: skip
    assert found["counts"] == {"worse": 1, "better": 0, "added": 0, "gone": 0, "same": 2}


def test_rows_that_only_one_of_them_has(answer: Any) -> None:
    more = ROWS[0] | {"claim": "a.new"}
    found = answer(DOCUMENT | {"verdicts": [more, ROWS[1] | {"verdict": "inconclusive"}, ROWS[2]]})
    said = [(c["direction"], c["dataset"], c["claim"], c["what"], c["old"], c["new"]) for c in found["changes"]]
    assert said == [
        ("worse", "one", "a.lower", "verdict", "holds", "inconclusive"),
        ("gone", "one", "a.upper", "row", "holds", None),
        ("added", "one", "a.new", "row", None, "holds"),
    ]
    assert found["counts"] == {"worse": 1, "better": 0, "added": 1, "gone": 1, "same": 1}


def test_what_the_audits_were_made_with(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a table no hash is broken over lines; a setting that has no value is no setting that is not there."""
    monkeypatch.setenv("COLUMNS", "80")
    digests = "0123456789abcdef" * 4, "fedcba9876543210" * 4
    old = DOCUMENT | {"config": {"ntp": {"lr1": None}}, "datasets": [{"name": "one", "sha256": digests[0]}]}
    new = DOCUMENT | {
        "marginaudit": "0.2.0",
        "environment": {"numpy": "2.0", "scipy": "1.9"},
        "config": {"ntp": {"lr1": 0.5}, "snap": {"steps": 7}},
        "datasets": [{"name": "one", "sha256": digests[1]}],
    }
    sides = written(tmp_path, "old", old), written(tmp_path, "new", new)
    assert [(s["name"], s["old"], s["new"]) for s in command.json("compare", *sides)["settings"]] == [
        ("marginaudit", "0.1.0", "0.2.0"),
        ("ntp: lr1", None, 0.5),
        ("sha256 of one", *digests),
        ("scipy", None, "1.9"),
        ("snap: steps", None, 7),
    ]
    out = tmp_path / "page.html"
    assert [line.split() for line in command("compare", *sides, "--out", out).out.splitlines()[3:7]] == [
        ["ntp:", "lr1", "default", "0.5"],
        ["sha256", "of", "one", "0123456789ab", "fedcba987654"],
        ["scipy", "–", "1.9"],
        ["snap:", "steps", "–", "7"],
    ]
    assert 'data-label="old">0123456789ab</td><td data-label="new">fedcba987654</td>' in out.read_text(encoding="utf-8")


VERDICTS = ("violated", "broken", "inconclusive", "vacuous", "not-applicable", "holds")
EVIDENCE = ("float64", "certified", "exact", "proved by its author", "proved")
WORSE, BETTER, ADDED, GONE, SAME = "worse", "better", "added", "gone", None


@pytest.mark.parametrize(
    ("fields", "others", "there", "back"),
    [
        *(({"verdict": b}, {"verdict": a}, WORSE, BETTER) for i, a in enumerate(VERDICTS) for b in VERDICTS[i + 1 :]),
        *(({"evidence": b}, {"evidence": a}, WORSE, BETTER) for i, a in enumerate(EVIDENCE) for b in EVIDENCE[i + 1 :]),
        ({"premise": "met"}, {"premise": "carried over"}, WORSE, BETTER),
        ({"slack": 4.0}, {"slack": 0.04}, WORSE, BETTER),
        ({"slack": 4.0}, {"slack": None}, WORSE, BETTER),
        ({"slack": 4.0}, {"slack": 0.04, "repeats_within": None}, WORSE, SAME),
        ({"slack": 4.0}, {"slack": 0.04, "repeats_within": 1e3}, WORSE, SAME),
        ({"slack": 0.04}, {"slack": 4.0, "repeats_within": None}, BETTER, SAME),
        ({"slack": 4.0, "measured": 2.0}, {"slack": None, "measured": 0.0}, SAME, SAME),
        ({"slack": 4.0, "measured": 2.0}, {"slack": None, "measured": -2.0}, SAME, SAME),
        ({"constant": 3.0}, {"constant": 300.0}, WORSE, BETTER),
        ({"constant": 3.0}, {"constant": None}, WORSE, BETTER),
        ({"constant": 3.0}, {"constant": 300.0, "repeats_within": None}, WORSE, SAME),
        ({"informative_from": 10}, {"informative_from": 1000}, WORSE, BETTER),
        ({"informative_from": 10}, {"informative_from": None}, WORSE, BETTER),
        ({"side": "upper"}, {"side": None}, WORSE, BETTER),
        ({"repeats_within": 1e-6}, {"repeats_within": None}, SAME, SAME),
        ({"repeats_within": 1e-6}, {"repeats_within": 1e3}, SAME, SAME),
        ({"measured": 2.0}, {"measured": 200.0}, SAME, SAME),
        ({"bound": 8.0}, {"bound": 0.08}, SAME, SAME),
        ({"beyond_the_run": False}, {"beyond_the_run": True}, SAME, SAME),
        ({"dataset": "one"}, {"dataset": "none", "verdict": "violated"}, WORSE, ADDED),
        ({"dataset": "one"}, {"dataset": "none", "verdict": "broken"}, WORSE, ADDED),
        ({"dataset": "one"}, {"dataset": "none", "verdict": "violated", "premise": "carried over"}, ADDED, ADDED),
        *(({"claim": "a.upper"}, {"claim": "a.new", "verdict": verdict}, ADDED, ADDED) for verdict in VERDICTS[2:]),
    ],
)
def test_a_change_of_any_column_is_named_and_judged(
    command: Command, tmp_path: Path, fields: Any, others: Any, there: str | None, back: str | None
) -> None:
    """In both directions; a row that is elsewhere now is gone, too. The gates fail on what is so named, and no more."""
    sides = [
        written(tmp_path, name, changed(0, **({"premise": "met", "beyond_the_run": False} | given)))
        for name, given in (("old", fields), ("new", fields | others))
    ]
    for expected, arguments in ((there, sides), (back, sides[::-1])):
        found = command.json("compare", *arguments)
        moved = others.keys() & {"dataset", "claim"}
        names = {name for name in (expected, GONE if moved else None) if name}
        assert {change["direction"] for change in found["changes"]} == names
        assert found["counts"]["same"] == 2 + (not names)
        for gate in (WORSE, GONE):
            assert command("compare", *arguments, "--fail-on", gate).status == (gate in names)
        assert command("compare", *arguments, "--fail-on", WORSE, "--fail-on", GONE, "--json").status == (
            WORSE in names or GONE in names
        )


def test_with_no_row_in_common_nothing_is_compared(command: Command, tmp_path: Path) -> None:
    """An error, and no file, unless it is asked for."""
    old = written(tmp_path, "old", DOCUMENT)
    new = written(tmp_path, "new", DOCUMENT | {"verdicts": [row | {"claim": f"b{row['claim']}"} for row in ROWS[:2]]})
    line = f"{new}: got no claim on a dataset that {old} has too, expected two audits of something in common"
    out = tmp_path / "page.html"
    for gate in ((), ("--fail-on", "worse"), ("--fail-on", "gone")):
        assert command.refused("compare", old, new, *gate, "--out", out) == line
    assert not out.exists()
    found = command.json("compare", old, new, "--fail-on", "nothing-compared", status=1)
    assert found["counts"] == {"worse": 0, "better": 0, "added": 2, "gone": 3, "same": 0}
    assert command("compare", old, old, "--fail-on", "nothing-compared").status == 0


def swept(folder: Path, table: str) -> Path:
    """A folder as a sweep leaves it."""
    folder.mkdir(exist_ok=True)
    (folder / "runs.csv").write_text(table, encoding="utf-8")
    return folder


RUNS = """V,L,steps1,seed,a:verdict,a:side,a:slack,a:repeats_within,b:verdict,b:slack,b:side,c:slack,status,versions
4,3,900,0,holds,upper,4.0,1e-06,violated,2.0,lower,1,done,numpy 2
5,3,900,1,holds,upper,4.0,,holds,2.0,lower,1,done,numpy 2
5,3,900,2,,,,,,,,,failed,numpy 2
"""


def test_two_sweeps(command: Command, tmp_path: Path) -> None:
    """A dataset is named by what varies and its seed; without a kept error bar a number repeats to rounding."""
    old = swept(tmp_path / "old", RUNS)
    new = RUNS.replace("4.0,1e-06", "2.0,1e-06").replace("4.0,,", "3.0,,").replace("900", "50")
    assert command.json("compare", old, old)["counts"]["same"] == 4
    found = command.json("compare", old / "runs.csv", swept(tmp_path / "new", new))
    assert [(c["direction"], c["dataset"], c["claim"], c["what"]) for c in found["changes"]] == [
        ("worse", "V = 4, seed = 0", "a", "slack")
    ]
    assert found["settings"] == [{"name": "steps1", "old": "900", "new": "50"}]
    nearer = swept(tmp_path / "new", RUNS.replace("violated,2.0", "violated,1.99999999"))
    assert command("compare", old, nearer, "--fail-on", "worse").status == 1
    gone = swept(tmp_path / "new", RUNS.replace("done", "failed", 1))
    assert command.json("compare", old, gone)["counts"]["gone"] == 2
    one = "".join(RUNS.splitlines(keepends=True)[:2])
    tables = [swept(tmp_path / "one", one), swept(tmp_path / "less", one.replace("4.0", "1.0"))]
    assert command.json("compare", *tables)["changes"][0]["dataset"] == "seed = 0"
    counts = command.json("compare", tables[0], old)["counts"]
    assert counts == {"worse": 0, "better": 0, "added": 2, "gone": 0, "same": 2}
    assert command.json("compare", old, tables[1])["counts"]["worse"] == 1
    (better,) = (one for one in command.json("compare", tables[1], old)["changes"] if one["direction"] == "better")
    assert better["dataset"] == "V = 4, seed = 0"


@pytest.mark.parametrize(
    ("was", "now", "expected"),
    [
        (RUNS, "", "no column seed"),
        ("seed", '"seed', "no CSV"),
        ("seed", "grain", "no column seed"),
        ("status", "end", "no column status"),
        ("verdict", "word", "no verdicts"),
        ("violated", "fine", "line 2: b/verdict: got 'fine'"),
        ("holds,upper", "holds,above", "line 2: a/side: got 'above'"),
        ("4.0", "nan", "line 2: a/slack: got nan"),
        ("4.0", "four", "line 2: a/slack: got 'four'"),
        ("failed,", "failed,,", "line 4: got 15 columns, expected 14"),
        ("failed,numpy 2", "failed", "line 4: got 13 columns, expected 14"),
        ("5,3,900,1", "4,3,900,0", "line 3: a: got 'a' on 'V = 4, seed = 0' again"),
    ],
)
def test_what_is_no_table_of_a_sweep(command: Command, tmp_path: Path, was: str, now: str, expected: str) -> None:
    good, bad = swept(tmp_path / "good", RUNS), swept(tmp_path / "bad", RUNS.replace(was, now))
    assert expected in command.refused("compare", good, bad)


def test_the_page(command: Command, tmp_path: Path) -> None:
    """Texts of a report are shown as they are, never as markup."""
    name = '<b>"&\x1b[0m'
    document = DOCUMENT | {"verdicts": [row | {"dataset": name} for row in ROWS[:2]]}
    worse = DOCUMENT | {
        "marginaudit": "<i>",
        "verdicts": [row | {"dataset": name, "verdict": "broken"} for row in ROWS[:1]],
    }
    old, new, out = written(tmp_path, "old", document), written(tmp_path, "new", worse), tmp_path / "page.html"
    text = command("compare", str(old), str(new), "--out", str(out)).out
    assert "verdict: holds -> broken" in " ".join(text.split())
    assert text.endswith("1 worse, 0 better, 0 added, 1 gone, 0 same\n")
    page = out.read_text(encoding="utf-8")
    assert "&lt;b&gt;&#34;&amp;\\x1b[0m" in page
    assert "&lt;i&gt;" in page
    assert "<b>" not in page
    assert "verdict: holds → broken" in page
    assert page.count("<tr>") == 2 + 1 + 2
    for word in ("worse", "gone"):
        assert f'<td class="{word}" data-label="change">{word}</td>' in page
    assert page.count("<thead>") == 2
    assert command("compare", str(old), str(old), "--out", str(out)).status == 0
    assert "No changes in the common rows." in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ("{", "line 1 column 2: got invalid JSON"),
        ("[]", "got an array of 0 entries, expected an object"),
        ({"verdicts": 3}, "/verdicts: got 3, expected an array"),
        ({}, "got no key 'verdicts', expected one"),
        ({"verdicts": [3]}, "/verdicts/0: got 3, expected an object"),
        ({"verdicts": [ROWS[0], ROWS[0]]}, "/verdicts/1: got 'a.upper' on 'one' again, expected it once"),
        (changed(1, verdict="true"), "/verdicts/1/verdict: got 'true', expected 'violated', 'broken'"),
        (
            changed(1, evidence=None),
            "/verdicts/1/evidence: got null, expected 'proved', 'proved by its author', 'exact'",
        ),
        (changed(1, claim=4), "/verdicts/1/claim: got 4, expected a string"),
        (changed(2, dataset=None), "/verdicts/2/dataset: got null, expected a string"),
        (changed(0, slack="4"), "/verdicts/0/slack: got '4', expected a number that float64 holds"),
        (changed(0, measured=True), "/verdicts/0/measured: got True, expected a number that float64 holds"),
        (changed(0, constant=float("inf")), "/verdicts/0/constant: got inf, expected a finite number"),
        (changed(0, slack=10**400), "/verdicts/0/slack: got 1000000"),
        (changed(0, side="left"), "/verdicts/0/side: got 'left', expected 'upper' or 'lower'"),
        (changed(0, settings=3), "/verdicts/0/settings: got 3, expected an object"),
        (DOCUMENT | {"verdicts": []}, "/verdicts: got an array of 0 entries, expected at least 1"),
        (DOCUMENT | {"environment": []}, "/environment: got an array of 0 entries"),
        (DOCUMENT | {"config": {"ntp": 3}}, "/config/ntp: got 3"),
        (DOCUMENT | {"datasets": [{}]}, "/datasets/0: got no key 'name'"),
    ],
)
def test_what_is_no_report(command: Command, tmp_path: Path, document: Any, error: str) -> None:
    good, bad = written(tmp_path, "good", DOCUMENT), written(tmp_path, "bad", document)
    for sides in ((good, bad), (bad, good)):
        line = command.refused("compare", *sides, "--json")
        assert line.startswith(str(bad))
        assert error in line
