"""From a registry to a file of claims, an audit and its pages, and back to the texts."""

import json
from pathlib import Path
from typing import Any

import pytest

from marginaudit.reports.logbook.registry import Registry, answering, theorem_in, theorems_in
from marginaudit.reports.logbook.start import claims_file
from tests.command_line import Command
from tests.reports.logbook.test_logbook import texts, texts_in_order

LONG = " ".join(f"word{n}" for n in range(40))

TEXTS = [
    'With eta <= 1/L, f "decreases" at each step: it\'s true by Theorem 4.3.',
    f"{LONG} (Lemma A.2)",
    "Back \\ slash and \u0394, no theorem",
]

REGISTRY = {"Ab-1_c": [{"text": text, "status": "unverified"} for text in TEXTS], "other": [{"text": "x"}]}


def test_round_trip(command: Command) -> None:
    Path("registry.json").write_text(json.dumps(REGISTRY), encoding="utf-8")
    made = command("claims", "--from", "registry.json", "Ab-1_c")
    assert (made.status, made.out) == (0, "3 claims to fill in: ab-1-c.py\n")
    logbook = ("--export", "logbook", "--registry", "registry.json", "--paper-id", "Ab-1_c", "--out", "out")
    assert command("audit", "--claims", "ab-1-c.py", *logbook).status == 0
    document = json.loads(Path("out/report.json").read_text(encoding="utf-8"))
    claims = document["claims"]
    assert [claim["statement"] for claim in claims] == TEXTS
    assert [claim["theorem"] for claim in claims] == ["Theorem 4.3", "Lemma A.2", None]
    assert [claim["form"] for claim in claims] == ["printed"] * 3
    assert [row["verdict"] for row in document["verdicts"]] == ["not-checked"] * 3
    pages = [texts(Path("out/logbook"))[name] for name in texts_in_order(Path("out/logbook"))[1:-1]]
    for text, page in zip(TEXTS, pages, strict=True):
        assert f"> {text}" in page
        assert "Not checked, because its judgement is not filled in." in page
    filled = (
        Path("ab-1-c.py")
        .read_text(encoding="utf-8")
        .replace("UNFILLED,", "Bounded(lambda x: x.n, upper=lambda x, _: 2),")
    )
    Path("filled.py").write_text(f"from marginaudit import Bounded\n{filled}", encoding="utf-8")
    assert command("audit", "--claims", "filled.py", *logbook).status == 0
    pages = [texts(Path("out/logbook"))[name] for name in texts_in_order(Path("out/logbook"))[1:-1]]
    for text, page in zip(TEXTS, pages, strict=True):
        assert f"> {text}" in page
        assert "**Outcome: toy.**" in page


def claim(**more: Any) -> dict[str, Any]:
    return {"id": "a", "quotation": None, "statement": "", "theorem": None, "place": None, "source": "", **more}


def test_which_statements_answer_a_text() -> None:
    words, other = claim(quotation="x is at most 1 (Theorem 4)"), claim(source="arXiv 1, Theorem 4")
    assert answering("x is at most 1 (Theorem 4)", [words, other]) == [words]
    assert answering("x is large by Thm 1 and Theorem 4", [words, other]) == [other]
    assert answering("by Theorem 4.1", [other, claim(source="Theorem 41")]) == []
    assert answering("by eq. (12)", [claim(place="appendix A, eq. 12")]) != []
    assert answering("by nothing", [other]) == []


def test_names_of_theorems() -> None:
    assert theorem_in("as in the proof of lemma A.2 and Theorem 1") == "Lemma A.2"
    assert theorems_in("Theorems 4.1 (b) and eq. (7); Proposition 2.") == (
        "theorem 4.1(b)",
        "equation 7",
        "proposition 2",
    )


def test_a_hostile_id_stays_in_its_docstring() -> None:
    text = claims_file(Registry('a"""\nimport os', ("x",)))
    compile(text, "claims.py", "exec")
    assert "\nimport os" not in text


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--from", "registry.json"), "got 2 papers"),
        (("--from", "registry.json", "third"), "no paper 'third'"),
        (("--from", "missing.json", "other"), "missing.json"),
        (("--from", "registry.json", "other", "--out", "there.py"), "there.py: got a path that exists"),
        (("--from", "registry.json", "other", "--out", "claims.txt"), "the ending '.txt', expected .py"),
        (("--out", "new.py"), "--out: got no file to write"),
    ],
)
def test_bad_input(command: Command, arguments: tuple[str, ...], told: str) -> None:
    Path("registry.json").write_text(json.dumps(REGISTRY), encoding="utf-8")
    Path("there.py").touch()
    answer = command("claims", *arguments)
    assert answer.status == 2
    assert told in answer.err
