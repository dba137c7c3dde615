"""Damaged specs, reports, tables of sweeps and stores of constants: the contract of exit statuses is kept.

`make fuzz` draws many, as those of `test_fuzz`.
"""

import json
from copy import deepcopy
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.command_contract import kept, own_folder
from tests.orders.snap.strategies import class_documents, damaged_class_documents
from tests.strategies import damaged

SLOW = settings(max_examples=max(3, settings().max_examples // 10), suppress_health_check=list(HealthCheck))
FAST = settings(suppress_health_check=list(HealthCheck))

SWEEP: dict[str, Any] = {
    "paper": "ntp",
    "seeds": 2,
    "keep": ["ntp.theorem1.direction:*", "ntp.prop1.loss:constant"],
    "data": {"generator": "free", "V": [5, 6], "N": 3, "L": {"from": 2, "to": 4, "step": 1}},
    "settings": {"steps1": 2, "steps2": [1, 2], "lr2": {"from": 0.01, "to": 0.16, "factor": 4}},
    "figure": {"title": "a", "x": "lr2", "y": "ntp.theorem1.direction:slack", "line": "V"},
}
SNAP: dict[str, Any] = {
    "paper": "snap",
    "seeds": [0, 3],
    "keep": ["snap.lemma1:verdict"],
    "data": {"files": ["snap-single", "c.json"]},
    "settings": {"eta_y": [0.5, 1.0]},
}
AUDIT: dict[str, Any] = {
    "datasets": ["d.json"],
    "paper": "ntp",
    "claims": ["ntp.lemma*", "ntp.prop1.loss"],
    "exports": ["markdown"],
    "settings": {"steps1": 2, "steps2": 2, "at": [1, 2], "lr1": 0.1},
}
TINY = {
    "samples": [{"tokens": list("qqq"), "next": "P", "count": 2}, {"tokens": list("PqOOO"), "next": "P", "count": 3}],
    "next_token": {"q": "P", "P": "O", "O": "O"},
}
ODD = [
    "inf",
    "-inf",
    "nan",
    "1979-05-27",
    "07:32:00",
    "-1",
    "0",
    "1e300",
    "9" * 30,
    "0x10",
    '""',
    '"x\\u001b[31m"',
    "{}",
    "[]",
]


def toml(value: Any) -> str:
    """A document in TOML, tables in one line each; what TOML has no word for becomes an odd one."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {toml(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(toml(entry) for entry in value) + "]"
    return "nan" if value is None else json.dumps(value) if not isinstance(value, Raw) else value.text


class Raw:
    """Words of TOML."""

    def __init__(self, text: str) -> None:
        self.text = text


@st.composite
def specs(draw: st.DrawFn, good: dict[str, Any]) -> str:
    """A spec of which up to two places are damaged, or hold an odd word, and into whose text an odd byte may fall."""
    document: Any = deepcopy(good)
    for _ in range(draw(st.integers(0, 2))):
        document = damaged(draw, document)
    if isinstance(document, dict) and draw(st.booleans()):
        table = document
        while isinstance(inner := table.get(draw(st.sampled_from([*table, "new"]))), dict):
            table = inner
        table[draw(st.sampled_from([*table, "new"]))] = Raw(draw(st.sampled_from(ODD)))
    lines = (
        [f"{json.dumps(str(key))} = {toml(entry)}" for key, entry in document.items()]
        if isinstance(document, dict)
        else [toml(document)]
    )
    text = "\n".join(lines)
    at = draw(st.integers(0, len(text)))
    return text[:at] + draw(st.sampled_from(["", "", "", "", "\x00", "=", "\ufeff", '"'])) + text[at:]


@FAST
@example('seeds = 1e300\ndata = {files = ["snap-single"]}\npaper = "snap"', "--plan", False)
@given(st.sampled_from([SWEEP, SNAP]).flatmap(specs), st.sampled_from(["--plan", "--status"]), st.booleans())
def test_any_spec_to_sweep(spec: str, what: str, as_json: bool) -> None:
    with own_folder() as folder:
        (folder / "s.toml").write_bytes(spec.encode("utf-8", "surrogatepass"))
        kept("sweep", "s.toml", what, *["--json"] * as_json)
        assert [path.name for path in folder.iterdir()] == ["s.toml"]


@SLOW
@given(specs(AUDIT))
def test_any_spec_to_audit(spec: str) -> None:
    with own_folder() as folder:
        (folder / "d.json").write_text(json.dumps(TINY))
        (folder / "s.toml").write_bytes(spec.encode("utf-8", "surrogatepass"))
        answer = kept(
            "audit",
            "s.toml",
            "--out",
            "report",
            "--claim",
            "ntp.prop1.loss",
            "--jobs",
            "1",
            "--steps1",
            "2",
            "--steps2",
            "2",
            "--at",
            "1",
        )
        assert (folder / "report").is_dir() == (answer.status < 2)


REPORT: Any = {
    "marginaudit": "0.1.0",
    "environment": {"numpy": "2.0"},
    "config": {"ntp": {"steps1": 5, "at": None}},
    "datasets": [{"name": "d", "sha256": "ab"}],
    "verdicts": [
        {
            "claim": claim, "dataset": "d", "verdict": "holds", "evidence": "float64", "measured": 2.0, "bound": 8.0,
            "slack": 4.0, "side": "upper", "constant": 3.0, "repeats_within": 1e-6, "informative_from": 10,
        }
        for claim in ("a", "b")
    ],
    "files": [],
}  # fmt: skip
BOUNDS = {"verdicts": [row | {"settings": {"steps1": 2}} for row in REPORT["verdicts"]]}
RUNS = "V,L,steps1,seed,a:verdict,a:side,a:slack,a:repeats_within,status,message,versions,code\n" + "\n".join(
    f'{V},3,900,{seed},holds,upper,4.0,1e-06,done,,"marginaudit 1.0, numpy 2.0",c0de' for V in (4, 5) for seed in (0, 1)
)


@st.composite
def sides(draw: st.DrawFn) -> tuple[str, bytes, bytes]:
    """A name, and what stands under it: whole, and damaged."""
    name = draw(st.sampled_from(["report.json", "runs.csv", "t.bounds.json"]))
    if name == "runs.csv":
        whole = RUNS.encode()
        content = bytearray(whole)
        for _ in range(draw(st.integers(0, 2))):
            at = draw(st.integers(0, len(content)))
            odd = st.sampled_from([b"", b",", b"\n", b'"', b"nan", b"\xff", b"\x00", b"1e999", b"-", b"9" * 30])
            content[at : at + draw(st.integers(0, 8))] = draw(odd)
        return name, whole, bytes(content)
    good = {"report.json": REPORT, "t.bounds.json": BOUNDS}[name]
    document: Any = deepcopy(good)
    for _ in range(draw(st.integers(0, 2))):
        document = damaged(draw, document)
    text = json.dumps(document).encode("utf-8", "surrogatepass")
    at = draw(st.integers(0, len(text)))
    inserted = draw(st.sampled_from([b"", b"", b"", b"\xff", b"NaN", b"[" * 3000, b"9" * 4400, b"1e400"]))
    return name, json.dumps(good).encode(), text[:at] + inserted + text[at:]


def stored(**odd: Any) -> tuple[str, bytes, bytes]:
    """A file of one row, and the same with something odd in it."""
    row = BOUNDS["verdicts"][0]
    good, bad = ({"verdicts": [found]} for found in (row, row | odd))
    return "t.bounds.json", json.dumps(good).encode(), json.dumps(bad).encode()


@FAST
@example((*stored()[:2], b"9" * 4400), False, False)
@example((*stored()[:2], b"[" * 3000), False, False)
@example((*stored()[:2], b'{"verdicts": []}'), False, False)
@example(stored(evidence="b" * 1000), False, False)
@example(stored(settings={"a" * 1000: 10**400}), False, False)
@example(stored(settings={"steps1": [float("inf")]}), False, True)
@example(stored(slack=1e308, constant=5e-324, measured=-1e308), False, True)
@given(sides(), st.booleans(), st.booleans())
def test_any_sides_to_compare(side: tuple[str, bytes, bytes], turned: bool, as_json: bool) -> None:
    name, whole, content = side
    with own_folder() as folder:
        for place, written in (("old", whole), ("new", content)):
            (folder / place).mkdir()
            (folder / place / name).write_bytes(written)
        assert kept("compare", f"old/{name}", f"old/{name}").status == 0
        places = [f"old/{name}", f"new/{name}"]
        arguments = [*(places[::-1] if turned else places), *["--json"] * as_json]
        answer = kept("compare", *arguments, "--out", "changes.html")
        assert (folder / "changes.html").exists() == (answer.status == 0)


@FAST
@given(st.one_of(class_documents(), damaged_class_documents()), st.booleans())
def test_any_classes_to_classify(document: Any, as_json: bool) -> None:
    with own_folder() as folder:
        (folder / "c.json").write_text(json.dumps(document))
        kept("classify", "c.json", *["--json"] * as_json)
