"""`marginaudit compare`: what changed between two audits, and documents that are none."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import SHORT, Command, strict_json

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

    def of(document: Any) -> Any:
        found = command("compare", str(old.parent), str(written(tmp_path, "new", document)), "--json")
        assert (found.status, found.err) == (0, "")
        return strict_json(found.out)

    return of


def test_an_audit_and_itself(answer: Any) -> None:
    found = answer(DOCUMENT)
    assert (found["changes"], found["settings"]) == ([], [])
    assert found["counts"] == {"worse": 0, "better": 0, "added": 0, "gone": 0, "same": 3}


@pytest.mark.parametrize(
    ("row", "fields", "expected"),
    [
        (0, {"slack": 4.0 / (1 + 9e-7)}, []),
        (0, {"slack": 4.0 * (1 + 9e-7)}, []),
        (0, {"slack": 3.99}, [("slack", 4.0, 3.99, "worse")]),
        (0, {"slack": 4.01}, [("slack", 4.0, 4.01, "better")]),
        (0, {"constant": 3.01}, [("constant", 3.0, 3.01, "worse")]),
        (0, {"constant": 2.99}, [("constant", 3.0, 2.99, "better")]),
        (0, {"informative_from": 11}, [("informative_step", 10, 11, "worse")]),
        (0, {"informative_from": None}, [("informative_step", 10, None, "worse")]),
        (1, {"slack": 0.5004}, []),
        (1, {"slack": 0.51}, [("slack", 0.5, 0.51, "worse")]),
        (1, {"slack": 0.49}, [("slack", 0.5, 0.49, "better")]),
        (1, {"evidence": "certified"}, [("evidence", "float64", "certified", "better")]),
        (1, {"verdict": "violated"}, [("verdict", "holds", "violated", "worse")]),
        (1, {"verdict": "violated", "evidence": "exact"}, [("verdict", "holds", "violated", "worse")]),
        (2, {"verdict": "holds"}, [("verdict", "violated", "holds", "better")]),
        (2, {"evidence": "float64"}, [("evidence", "exact", "float64", "worse")]),
        (2, {"slack": 0.7}, []),
    ],
)
def test_what_changed_and_which_way(answer: Any, row: int, fields: dict[str, Any], expected: list[Any]) -> None:
    """Slack of an upper bound gets worse downwards, of a lower one upwards; a statement without a side has no room."""
    found = answer(changed(row, **fields))
    assert [(c["what"], c["old"], c["new"], c["direction"]) for c in found["changes"]] == expected
    assert all((c["dataset"], c["claim"]) == (ROWS[row]["dataset"], ROWS[row]["claim"]) for c in found["changes"])
    assert found["counts"]["same"] == 3 - bool(expected)


def test_slack_within_error_bars_that_reach_0_is_the_same(command: Command, tmp_path: Path) -> None:
    """JSON has no infinite number: null in its place; a report that never had the key has the default."""
    old, new = (changed(0, repeats_within=None, slack=slack, constant=None) for slack in (4.0, 1.0))
    sides = [written(tmp_path, name, document) for name, document in (("old", old), ("new", new))]
    assert command.json("compare", *map(str, sides))["changes"] == []
    for document in (old, new):
        del document["verdicts"][0]["repeats_within"]
    sides = [written(tmp_path, name, document) for name, document in (("old", old), ("new", new))]
    assert [change["what"] for change in command.json("compare", *map(str, sides))["changes"]] == ["slack"]


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


def test_what_the_audits_were_made_with(answer: Any) -> None:
    other = {
        "marginaudit": "0.2.0",
        "environment": {"numpy": "2.0", "scipy": "1.9"},
        "config": {"ntp": {"steps1": 6, "at": None}},
        "datasets": [{"name": "one", "sha256": "cd"}, {"name": "two", "sha256": None}],
    }
    found = answer(DOCUMENT | other)
    assert [(s["name"], s["old"], s["new"]) for s in found["settings"]] == [
        ("marginaudit", "0.1.0", "0.2.0"),
        ("ntp: steps1", 5, 6),
        ("sha256 of one", "ab", "cd"),
        ("scipy", None, "1.9"),
    ]


def test_what_they_were_made_with_fits_a_terminal(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No hash is broken over lines; a setting of which nothing was said is no setting that is not there."""
    monkeypatch.setenv("COLUMNS", "80")
    digests = {side: "0123456789abcdef" * 4 if side == "old" else "fedcba9876543210" * 4 for side in ("old", "new")}
    config: dict[str, Any] = {"old": {"ntp": {"lr1": None}}, "new": {"ntp": {"lr1": 0.5}, "snap": {"steps": 7}}}
    folders = [
        str(written(tmp_path, side, DOCUMENT | {
            "config": config[side], "datasets": [{"name": "one", "sha256": digests[side]}],
        }).parent)
        for side in ("old", "new")
    ]  # fmt: skip
    found = command("compare", *folders, "--out", str(tmp_path / "page.html")).out
    assert [line.split() for line in found.splitlines()[2:6]] == [
        ["ntp:", "lr1", "default", "0.5"],
        ["sha256", "of", "one", "0123456789ab", "fedcba987654"],
        ["snap:", "steps", "–", "7"],
        [],
    ]
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert '<td data-label="old">0123456789ab</td><td data-label="new">fedcba987654</td>' in page


def test_failing_on_what_is_worse(command: Command, tmp_path: Path) -> None:
    old = str(written(tmp_path, "old", DOCUMENT))
    for document, status in (
        (changed(0, slack=3.0), 1),
        (changed(0, slack=5.0), 0),
        (DOCUMENT, 0),
        (DOCUMENT | {"verdicts": ROWS[1:]}, 0),
    ):
        new = str(written(tmp_path, "new", document))
        assert command("compare", old, new, "--fail-on", "worse").status == status
        assert command("compare", old, new, "--fail-on", "worse", "--json").status == status
        assert command("compare", old, new).status == 0


def test_two_audits_of_one_dataset(command: Command, tmp_path: Path) -> None:
    """What this program writes is what it reads; other steps are named, and change numbers."""
    folders = [str(tmp_path / name) for name in ("first", "again", "longer")]
    for folder, more in zip(folders, ([], [], ["--steps2", "60"]), strict=True):
        assert command("audit", "example-1", *SHORT, *more, "--out", folder).status == 0
    same = strict_json(command("compare", folders[0], folders[1], "--json").out)
    assert (same["changes"], same["settings"]) == ([], [])
    assert same["counts"]["same"] > 30
    longer = strict_json(command("compare", folders[0], folders[2], "--json").out)
    assert [s["name"] for s in longer["settings"]] == ["ntp: steps2"]
    assert longer["changes"]
    assert all(change["dataset"] == "example-1" for change in longer["changes"])


def test_two_files_of_bound_constants(command: Command, tmp_path: Path) -> None:
    def store(name: str, value: float, tolerance: float = 0.01) -> str:
        constant = {"value": value, "better": "larger", "tolerance": tolerance}
        entry: dict[str, Any] = {
            "verdict": "holds", "evidence": "float64", "constants": {"slack": constant}, "config": {"steps1": 3},
            "seed": None, "versions": {"numpy": "2"}, "history": [],
        }  # fmt: skip
        path = tmp_path / f"{name}.bounds.json"
        path.write_text(json.dumps({"test_it": {"a.claim": {"data": entry}}}), encoding="utf-8")
        return str(path)

    old = store("old", 4.0)
    assert strict_json(command("compare", old, store("near", 3.97), "--json").out)["changes"] == []
    [change] = strict_json(command("compare", old, store("less", 3.9), "--json").out)["changes"]
    assert (change["dataset"], change["claim"]) == ("test_it: data", "a.claim")
    assert (change["what"], change["old"], change["new"], change["direction"]) == ("slack", 4.0, 3.9, "worse")
    damaged = tmp_path / "damaged.bounds.json"
    damaged.write_text("[]", encoding="utf-8")
    answer = command("compare", old, str(damaged))
    assert answer.status == 2
    assert answer.err.count("\n") == 1
    assert "damaged.bounds.json" in answer.err


def test_in_words(command: Command, tmp_path: Path) -> None:
    old, new = written(tmp_path, "old", DOCUMENT), written(tmp_path, "new", changed(0, slack=2.0))
    text = command("compare", str(old), str(new)).out
    assert "slack: 4 -> 2, worse by a factor of 2 (tolerance 1e-06)" in " ".join(text.split())
    assert text.endswith("1 worse, 0 better, 0 added, 0 gone, 2 same\n")


def test_the_page(command: Command, tmp_path: Path) -> None:
    """Texts of a report are shown as they are, never as markup."""
    name = '<b>"&\x1b[0m'
    document = DOCUMENT | {"verdicts": [row | {"dataset": name} for row in ROWS[:2]]}
    worse = DOCUMENT | {
        "marginaudit": "<i>",
        "verdicts": [row | {"dataset": name, "verdict": "broken"} for row in ROWS[:1]],
    }
    old, new, out = written(tmp_path, "old", document), written(tmp_path, "new", worse), tmp_path / "page.html"
    assert command("compare", str(old), str(new), "--out", str(out)).status == 0
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
    assert "Nothing of what both audits say has changed." in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ("{", "line 1 column 2: got invalid JSON"),
        ("[]", "got no list of verdicts, expected a report.json of `marginaudit audit`"),
        ({"verdicts": 3}, "got no list of verdicts"),
        ({"verdicts": [3]}, "/verdicts/0: got 3, expected a verdict"),
        ({"verdicts": [ROWS[0], ROWS[0]]}, "/verdicts/1: got 'a.upper' on 'one' again, expected it once"),
        (changed(1, verdict="true"), "/verdicts/1/verdict: got 'true', expected violated, broken"),
        (changed(1, evidence=None), "/verdicts/1/evidence: got None, expected proved, exact, certified, float64"),
        (changed(1, claim=4), "/verdicts/1/claim: got 4, expected a text"),
        (changed(2, dataset=None), "/verdicts/2/dataset: got None, expected a text"),
        (changed(0, slack="4"), "/verdicts/0/slack: got '4', expected a number or null"),
        (changed(0, measured=True), "/verdicts/0/measured: got True, expected a number or null"),
        (changed(0, constant=float("inf")), "/verdicts/0/constant: got inf, expected a number or null"),
        (changed(0, slack=10**400), "/verdicts/0/slack: got 1000000"),
        (changed(0, side="left"), "/verdicts/0/side: got 'left', expected upper, lower or null"),
        (changed(0, informative_from=-1), "/verdicts/0: got -1 as value, expected"),
        (DOCUMENT | {"environment": []}, "/environment: got []"),
        (DOCUMENT | {"config": {"ntp": 3}}, "/config/ntp: got 3"),
        (DOCUMENT | {"datasets": [{}]}, "/datasets: got [{}]"),
    ],
)
def test_what_is_no_report(command: Command, tmp_path: Path, document: Any, error: str) -> None:
    good, bad = written(tmp_path, "good", DOCUMENT), written(tmp_path, "bad", document)
    for sides in ((good, bad), (bad, good)):
        answer = command("compare", *map(str, sides), "--json")
        assert (answer.status, answer.out) == (2, "")
        assert answer.err.count("\n") == 1
        assert answer.err.startswith(f"marginaudit: {bad}")
        assert error in answer.err


def test_files_that_are_not_there_or_not_to_be_written(command: Command, tmp_path: Path) -> None:
    old = written(tmp_path, "old", DOCUMENT)
    answer = command("compare", str(old), str(tmp_path / "nothing"))
    assert answer.status == 2
    assert "nothing: got No such file or directory, expected a report.json" in answer.err
    answer = command("compare", str(old), str(old), "--out", str(tmp_path / "page.txt"))
    assert answer.status == 2
    assert "page.txt: got the ending '.txt', expected .html" in answer.err
    answer = command("compare", str(old), str(old), "--out", str(tmp_path / "old" / "report.json" / "page.html"))
    assert answer.status == 2
    assert answer.err.count("\n") == 1
