"""Names and tokens from outside are text everywhere: in the page, the plots, the tables and the terminal."""

import csv
import io
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from marginaudit.orders import printable
from tests.command_line import Command, dataset_file, strict_json
from tests.reports.page.test_report_files import Page

HOSTILE = {
    "path": "../../etc/passwd",
    "dots": "..",
    "line breaks": "a\nb\r\nc\u2028d",
    "script": "</title></style></svg><script>alert(1)</script><img src=x onerror=alert(1)>",
    "attribute": '" onmouseover="alert(1)" x=\'',
    "comment": "--><script>alert(1)</script><!-- 雪",
    "cdata": "]]>&amp;&#60;script&#62;",
    "mathematics": r"$\frac{1}{0}$ $\input{x}$",
    "formula": "=cmd|' /C calc'!A0",
    "at": "@SUM(1)",
    "tab": "\t=1+1",
    "terminal": "\x1b[31mred\x1b]0;title\x07\x9b2J",
    "right to left": "\u202egnp.exe",
    "long": "n" * 3000,
    "unicode": "雪☃é😀",
    "template": "{{ 7*7 }}{% raw %}{# x #}",
    "markup": "[bold red]x[/] [link=http://x.example]y[/link]",
    "zero": "\x00",
    "space": "   ",
}
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e\ufeff]")


def document(word: str) -> dict[str, Any]:
    a, b, c = word, word + "2", word + "3"
    return {"name": word, "sentences": [[a, b, c], [b, a], [b, a, a], [c, a, b, a]]}


@pytest.mark.parametrize(
    "kind", ["line breaks", "terminal", "right to left", "markup", "template", "mathematics", "zero", "long"]
)
def test_the_terminal(command: Command, tmp_path: Path, kind: str) -> None:
    path = dataset_file(tmp_path, document(HOSTILE[kind]))
    for arguments in (["classify"], ["solve"], ["train", "--steps1", "2", "--steps2", "2"]):
        answer = command(*arguments, path)
        assert (answer.status, answer.err) == (0, "")
        assert not UNSAFE.search(answer.out)
        told = command(*arguments, path, "--json").out
        assert not UNSAFE.search(told)
        assert set(strict_json(told)) in ({"next_token", "queries", "assumptions"}, {"ov", "kq"}, {"stage1", "stage2"})
    assert command.json("classify", path)["next_token"][HOSTILE[kind]] == HOSTILE[kind] + "2"
    if kind in ("markup", "template", "mathematics"):
        assert command("classify", path).out.startswith(HOSTILE[kind])


def test_one_audit_of_them_all(command: Command, tmp_path: Path) -> None:
    drawn = ("comment", "mathematics")
    files = []
    for i, (kind, word) in enumerate(HOSTILE.items()):
        data = document(word)
        if kind not in drawn:  # n is no function, so that there is nothing to draw: drawing takes most of the time
            data["sentences"].append([word, word])
        files.append(dataset_file(tmp_path, data, f"{i}.json"))
    answer = command("audit", *files, "--steps1", "3", "--steps2", "3", "--out", "report")
    assert answer.status == 0
    assert not UNSAFE.search(answer.out + answer.err)
    assert [line for line in answer.err.splitlines() if not line.endswith(": audited")] == []
    report = tmp_path / "report"

    text = (report / "report.json").read_text(encoding="utf-8")
    assert not UNSAFE.search(text)
    found = strict_json(text)
    assert [data["name"] for data in found["datasets"]] == list(HOSTILE.values())

    for name in found["files"]:
        assert re.fullmatch(r"(figures/|proofs/|tables/|trajectories/)?[A-Za-z0-9][A-Za-z0-9._-]*", name)
        assert (report / name).resolve().is_relative_to(report)
        assert len(Path(name).name) < 110
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*(path.name for path in files), "report"])

    text = (report / "verdicts.csv").read_bytes().decode("utf-8")
    assert not UNSAFE.search(text.replace("\r\n", ""))
    assert "\n" not in text.replace("\r\n", "")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert len(rows) == 1 + len(found["verdicts"])
    for row, verdict in zip(rows[1:], found["verdicts"], strict=True):
        assert row[1] == printable(verdict["dataset"])
        assert len(row) == 23

    text = (report / "report.html").read_bytes().decode("utf-8")
    page = Page(text)
    assert page.open == []
    assert page.count["script"] == 1
    assert "img" not in page.count
    assert page.count["title"] == 1
    assert not {name for name in page.attributes if name.startswith("on")}
    assert "http://x.example" not in page.links
    assert not UNSAFE.search(text)
    assert not re.search("[\x0b\x0c\x1b\ud800-\udfff]", text)
    shown = "".join(page.text)
    for kind in ("path", "script", "attribute", "mathematics", "unicode", "template", "markup", "comment"):
        assert HOSTILE[kind] in shown
    assert r"\x1b[31mred" in shown
    assert r"\u202egnp.exe" in shown

    pictures = sorted((report / "figures").glob("*.svg"))
    assert len(pictures) == 6 * len(drawn)
    for picture in pictures:
        root = ElementTree.fromstring(picture.read_bytes())
        assert not list(root.iter("{http://www.w3.org/2000/svg}script"))
        assert not list(root.iter("{http://www.w3.org/2000/svg}image"))


HOSTILE_CLAIM = r"""
from marginaudit.claims import Claim, Finding, Verdict
from marginaudit.claims.judgements import Decided

CLAIMS = [
    Claim(
        id="mine",
        source="<b>here</b> \x1b[31m",
        statement="<script>alert(1)</script>\n and \x1b[31m",
        formula=r"\text{<b>if</b> a<b & c>d} \textcolor{\"><b>}{x}",
        instead=r"<u>not</u> $\mbox{<img src=x>}$",
        assumptions=(),
        judgement=Decided(lambda run: Finding(Verdict.VIOLATED, witness={"</pre>": "<b>"}), kind="<b>kind</b>"),
    )
]
"""


def test_what_a_claim_says_is_text_its_formulas_included(command: Command) -> None:
    Path("my claims.py").write_text(HOSTILE_CLAIM, encoding="utf-8")
    short = ("--steps1", "2", "--steps2", "2", "--out", "report")
    assert command("audit", "example-1", "--claims", "my claims.py", "--only-mine", *short).status == 0
    text = Path("report/report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.open == []
    assert page.count["script"] == 1
    assert not {"u", "img"} & set(page.count)
    assert not UNSAFE.search(text)
    shown = "".join(page.text)
    for word in ("<b>if</b>", "a<b", "<img", "<script>alert(1)</script> and \\x1b[31m", "<b>kind</b>", "</pre>"):
        assert word in shown.replace("\xa0", " ")
    assert "marginaudit claims mine --claims 'my claims.py'" in shown
    assert command("claims", "mine", "--claims", "my claims.py").status == 0


def test_a_name_in_links_to_plots(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marginaudit.reports.page.pictures.FEW_CLAIMS", 0)
    for share, file in ((0.7, "one.json"), (0.6, "two.json")):
        of = [{"a": share, f"d{i}": 1 - share} for i in range(2)]
        classes = [{"next": f"n{i}", "query": f"q{i}", "probabilities": shares} for i, shares in enumerate(of)]
        dataset_file(tmp_path, {"name": HOSTILE["terminal"], "classes": classes}, file)
    assert command("audit", "one.json", "two.json", "--claim", "snap.lemma11.any-delta", "--steps", "9").status == 0
    text = (tmp_path / "audit-report" / "report.html").read_text(encoding="utf-8")
    assert "Measured against bound" in text
    assert not UNSAFE.search(text)
