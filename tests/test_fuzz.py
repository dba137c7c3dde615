"""Damaged datasets, certificates, options, specs and reports to every command: exit statuses keep their contract.

`make test` draws a few fixed examples of each; `make fuzz` many, from a seed that it prints.
"""

import json
import os
from copy import deepcopy
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from marginaudit.orders.ntp.assumptions import ASSUMPTION_1
from tests.command_contract import kept, own_folder
from tests.command_line import SVOP
from tests.orders.snap.strategies import class_documents, damaged_class_documents
from tests.strategies import HOSTILE, damaged, damaged_documents, documents, json_values

SLOW = settings(max_examples=max(3, settings().max_examples // 10), suppress_health_check=list(HealthCheck))
FAST = settings(suppress_health_check=list(HealthCheck))

NUMBERS = [
    "0", "1", "3", "-1", "1.5", "1e0", "3e0", "1e19", "nan", "inf", "-inf", "", " ", "x", "0x1", "1_0", "１",
    "9" * 5000, "1e-100", "1e100", "1e-101", "1e101", "1e9999999999", "\x1b[31m", "\u2028",
]  # fmt: skip
WORDS = ["", "-", "--", "nope", "list", "all", "ntp", "snap", "kq", "exact", "cvxpy", "violated", "\udcff", *HOSTILE]
SHORT_STEPS = st.sampled_from(["0", "1", "2", "5"])
OPTIONS = {
    "classify": ["--json"],
    "realize": ["--json", "--unit", "--column", "--prose", "--max-vocabulary", "--max-length", "--majority", "--table"],
    "solve": ["--json", "--method", "--only", "--certificate"],
    "train": ["--json", "--lr1", "--lr2", "--at", "--optimizer"],
    "audit": [
        "--json",
        "--lr1",
        "--lr2",
        "--at",
        "--optimizer",
        "--certify",
        "--paper",
        "--fail-on",
    ],
}
GOOD = {
    "--unit": ["word", "char", "id"],
    "--column": ["text", "a"],
    "--max-vocabulary": ["2", "3", "1000"],
    "--max-length": ["1", "2", "32"],
    "--table": ["table.csv", "d.csv"],
    "--method": ["auto", "exact", "cvxpy"],
    "--only": ["ov", "kq"],
    "--certificate": ["proof.json", "d.json"],
    "--lr1": ["1e-100", "0.1", "7", "1e100"],
    "--lr2": ["1e-100", "0.1", "7", "1e100"],
    "--at": ["0", "0,1,2", "1"],
    "--optimizer": ["ngd", "gd"],
    "--certify": ["0", "1", "5"],
    "--paper": ["ntp", "all"],
    "--fail-on": ["violated"],
}
FLAGS = ("--json", "--prose", "--majority")


@st.composite
def options(draw: st.DrawFn, command: str, *, wild: bool) -> list[str]:
    """Options of a command, each once, with values that are good, or not where ``wild``."""
    arguments: list[str] = []
    for name in draw(st.lists(st.sampled_from(OPTIONS[command]), unique=True)):
        arguments.append(name)
        if name not in FLAGS:
            wrong = st.sampled_from(NUMBERS + [word for word in WORDS if "\0" not in word])
            arguments.append(draw(wrong if wild and draw(st.booleans()) else st.sampled_from(GOOD[name])))
    if command in ("train", "audit"):
        for name in ("--steps1", "--steps2"):
            arguments += [name, draw(SHORT_STEPS)]
    return arguments


@st.composite
def files(draw: st.DrawFn, document: st.SearchStrategy[Any]) -> tuple[str, bytes]:
    """The name of a dataset's file and its bytes, some of which may be damaged."""
    name = draw(st.sampled_from(["d.json", "a\x1b[31m\n.json", os.fsdecode(b"b\xff.json"), "d.txt"]))
    if name == "d.txt":
        text = draw(st.text("ab c#\n\r\x0c\x85\u2028\ufeff\t", max_size=30))
    else:
        text = json.dumps(draw(document), ensure_ascii=draw(st.booleans()))
    content = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        at = draw(st.integers(0, len(content)))
        content[at : at + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
    return name, bytes(content)


TINY = {
    "samples": [{"tokens": list("qqq"), "next": "P", "count": 2}, {"tokens": list("PqOOO"), "next": "P", "count": 3}],
    "next_token": {"q": "P", "P": "O", "O": "O"},
}
TINY_FILE = [("d.json", json.dumps(TINY).encode())]
ONE_STEP = ["--steps1", "1", "--steps2", "1", "--at", "1"]

ANY_FILE = files(st.one_of(documents(), damaged_documents(), json_values()))


@FAST
@given(ANY_FILE, st.sampled_from(["classify", "solve"]), st.data())
def test_any_file_to_classify_and_solve(file: tuple[str, bytes], name: str, data: st.DataObject) -> None:
    arguments = data.draw(options(name, wild=True))
    with own_folder() as folder:
        (folder / file[0]).write_bytes(file[1])
        answer = kept(name, file[0], *arguments)
        assert kept(name, file[0], *arguments) == answer
        assert (folder / file[0]).read_bytes() == file[1]


@FAST
@given(files(st.one_of(documents(), damaged_documents())), options("train", wild=True))
def test_any_file_to_train_on(file: tuple[str, bytes], arguments: list[str]) -> None:
    with own_folder() as folder:
        (folder / file[0]).write_bytes(file[1])
        answer = kept("train", file[0], *arguments)
        assert kept("train", file[0], *arguments) == answer


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, bytes]:
    """The name of a text's file and its bytes."""
    name = draw(st.sampled_from(["d.txt", "d.csv", "d.jsonl", "a\x1b[31m\n.txt", "d.json"]))
    lines = draw(st.lists(st.text('ab12 ,"#.\r\x85\u2028\ufeff\x00', max_size=8), max_size=6))
    if name == "d.csv":
        lines = ["text,a", *(f'{line},"{line}"' if draw(st.booleans()) else f"{line}," for line in lines)]
    if name == "d.jsonl":
        key = st.sampled_from(["text", "a"])
        lines = [json.dumps({draw(key): draw(st.sampled_from([line, list(line), 1]))}) for line in lines]
    content = "\n".join(lines).encode()
    return name, content + draw(st.sampled_from([b"", b"", b"\xff", b"\na b a\nb a b"]))


@FAST
@given(texts(), options("realize", wild=True))
def test_any_text_to_realize(file: tuple[str, bytes], arguments: list[str]) -> None:
    with own_folder() as folder:
        (folder / file[0]).write_bytes(file[1])
        answer = kept("realize", file[0], *arguments, "--out", "part.json")
        assert (folder / "part.json").exists() == (answer.status == 0)
        assert (folder / file[0]).read_bytes() == file[1]
        if answer.status == 0:
            assert kept("realize", file[0], *arguments, "--out", "part.json") == answer
            found = kept("classify", "part.json", "--json")
            assert all(json.loads(found.out)["assumptions"][name]["holds"] for name in ASSUMPTION_1)


@SLOW
@example(TINY_FILE, ["--optimizer", "gd", "--lr1", "0.1", "--lr2", "1e-100", *ONE_STEP])
@example(TINY_FILE, ["--optimizer", "gd", "--lr1", "1e-100", "--lr2", "1e-100", *ONE_STEP])
@example(TINY_FILE, ["--steps1", "0", "--steps2", "1", "--at", "0"])
@example(TINY_FILE, ["--steps1", "2", "--steps2", "2", "--certify", "1", "--at", "2"])
@given(
    st.lists(files(documents()), min_size=1, max_size=2, unique_by=lambda file: file[0]), options("audit", wild=False)
)
def test_any_dataset_to_audit(found: list[tuple[str, bytes]], arguments: list[str]) -> None:
    with own_folder() as folder:
        for name, content in found:
            (folder / name).write_bytes(content)
        answer = kept("audit", *(name for name, _ in found), *arguments, "--out", "report")
        assert (folder / "report").is_dir() == (answer.status < 2)
        assert {path.name for path in folder.iterdir()} <= {name for name, _ in found} | {"report"}


@FAST
@given(
    files(damaged_documents()), options("audit", wild=True), st.sampled_from(["report", "d.json", "d.json/x", ".", ""])
)
def test_what_an_audit_refuses(file: tuple[str, bytes], arguments: list[str], out: str) -> None:
    """The steps are too many for both stages, so that nothing is audited."""
    with own_folder() as folder:
        (folder / file[0]).write_bytes(file[1])
        assert kept("audit", file[0], *arguments, "--out", out, "--at", "7").status == 2
        assert [path.name for path in folder.iterdir()] == [file[0]]


@st.composite
def certificates(draw: st.DrawFn) -> tuple[Any, Any]:
    """A dataset, and a certificate with up to two places damaged."""
    from marginaudit.margins.ntp import certificate_document, solve_kq, solve_ov
    from marginaudit.orders.ntp import dataset_from_document

    document = draw(st.sampled_from([SVOP, {"sentences": [list("abba"), list("ba")]}]))
    data = dataset_from_document(document)
    certificate: Any = certificate_document(data, ov=solve_ov(data), kq=solve_kq(data))
    for _ in range(draw(st.integers(0, 2))):
        certificate = damaged(draw, certificate)
    return document, certificate


@FAST
@given(certificates(), ANY_FILE, st.sampled_from(["own", "any dataset", "any certificate"]), st.booleans())
def test_any_certificate(pair: tuple[Any, Any], other: tuple[str, bytes], which: str, as_json: bool) -> None:
    with own_folder() as folder:
        (folder / "data.json").write_text(json.dumps(pair[0]))
        (folder / "proof.json").write_text(json.dumps(pair[1]))
        (folder / other[0]).write_bytes(other[1])
        data = other[0] if which == "any dataset" else "data.json"
        proof = other[0] if which == "any certificate" else "proof.json"
        answer = kept("verify", data, proof, *["--json"] * as_json)
        assert kept("verify", data, proof, *["--json"] * as_json) == answer
        assert which == "own" or answer.status > 0 or (folder / other[0]).read_bytes()


@FAST
@given(
    st.sampled_from(
        [
            "classify",
            "solve",
            "train",
            "audit",
            "verify",
            "hunt",
            "figure",
            "claims",
            "table",
            "realize",
            "relax",
            "conform",
            "nope",
            "",
        ]
    ),
    st.lists(
        st.sampled_from([*WORDS, *NUMBERS, "--json", "--out", "--seed", "--seconds", "--without", "--claims"]),
        max_size=4,
    ),
)
def test_any_words(command: str, words: list[str]) -> None:
    """None of them is a dataset, a claim or a figure, so that nothing takes long."""
    words = [word for word in words if "\0" not in word]
    if command == "audit" and not any(word and not word.startswith("-") for word in words):
        words = ["nope", *words]
    with own_folder():
        answer = kept(command, *words)
        assert kept(command, *words) == answer


@SLOW
@given(st.integers(0, 99), st.sampled_from([[], ["--without", "injective"], ["--without", "orthonormal"]]))
def test_hunts(seed: int, arguments: list[str]) -> None:
    with own_folder() as folder:
        answer = kept("hunt", "ntp.prop2.closed-form", "--seconds", "0.05", "--seed", str(seed), *arguments, "--json")
        found = json.loads(answer.out)
        names = {path.name for path in folder.iterdir()}
        assert names == {Path(found[kind]).name for kind in ("dataset", "certificate") if found[kind]}


# Specs, reports, tables of sweeps and stores of constants

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
