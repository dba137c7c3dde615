"""The audit from Python: plain arguments, and a result with its tables and files."""

import importlib.metadata
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pyarrow
import pytest
from pandas import DataFrame, read_csv
from pandas.testing import assert_frame_equal

import marginaudit
from marginaudit import claims, reports
from marginaudit.claims import Finding, Series, Verdict
from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.ntp.quantities import attention
from marginaudit.claims.row import names
from marginaudit.claims.snap import ClassConfig, ClassRun
from marginaudit.claims.verdict import Output
from marginaudit.orders import InputError
from marginaudit.orders.ntp import CASES, Dataset, dataset_from_document, dataset_to_document
from marginaudit.orders.snap import CASES as CLASS_CASES
from marginaudit.orders.snap import classes_to_document
from marginaudit.reports import LEDGER
from marginaudit.reports.python import Report, audit
from tests.command_line import SHORT, SVOP, Command, dataset_file, files_of
from tests.reports.plots.layout import crowded

ROOT = Path(__file__).parents[2]
QUICK = {"steps1": 30, "steps2": 30}


@pytest.fixture(scope="module")
def report() -> Report:
    return audit(["example-1", "section-7"], claims=["ntp.prop1.*", "ntp.theorem2.floor"], config=QUICK)


def less_made(document: dict[str, Any]) -> dict[str, Any]:
    """A report without what says how it was asked for."""
    return {name: part for name, part in document.items() if name != "made"}


def test_it_says_what_the_command_says(command: Command, report: Report, tmp_path: Path) -> None:
    arguments = ["--claim", "ntp.prop1.*", "--claim", "ntp.theorem2.floor", *SHORT]
    told = command.json("audit", "example-1", "section-7", *arguments, "--out", tmp_path / "report")
    assert less_made(report.as_document()) == less_made(told)
    page = report.save(tmp_path / "saved")
    assert page == tmp_path / "saved" / "report.html"
    written, saved = files_of(tmp_path / "report"), files_of(tmp_path / "saved")
    assert written.keys() == saved.keys()
    assert {name for name in saved if written[name] != saved[name]} <= {"report.html", "report.json"}


def test_the_default_is_the_commands() -> None:
    claim = "ntp.prop2.closed-form"
    both, claims = ["example-1", "snap-single"], [claim, "snap.lemma1"]
    farthest = ClassConfig(steps=10**18)
    assert list(audit("example-1", claims=claim).configs.values()) == [Config(steps2=None)]
    own = audit(both, claims=claims, config=Config(steps2=7))
    assert own.configs == {"ntp": Config(steps2=7), "snap": farthest}
    named = audit(both, claims=claims, config={"steps2": 7, "lr_y": 2.0})
    assert named.configs == {"ntp": Config(steps2=7), "snap": replace(farthest, lr_y=2.0)}
    assert [vars(run)["config"] for run in named.runs] == list(named.configs.values())


def test_a_path_and_no_data_at_all(tmp_path: Path) -> None:
    path = dataset_file(tmp_path, SVOP)
    for given in (path, str(path), [path]):
        [source] = audit(given, claims="ntp.prop2.closed-form", config=QUICK).sources
        assert (source.dataset.name, source.origin) == ("svop", str(path))
    assert [one.name for one in audit(claims="ntp.prop2.closed-form", config=QUICK).audited] == list(CASES)


def test_a_dataset_made_in_python_is_told_from_the_case_of_its_name(tmp_path: Path) -> None:
    """It has a hash of its own, and no command of the report takes the case for it."""
    claim, settings = "ntp.prop2.closed-form", {"steps2": 10}
    made, other = CASES["example-1"](), Dataset.from_sentences("example-1", ["SVOP", "VOP"])
    report = audit([made, other], claims=claim, config=settings)
    assert [source.origin for source in report.sources] == ["made in Python"] * 2
    hashes = [source.sha256 for source in report.sources]
    assert hashes[0] != hashes[1]
    assert hashes == [source.sha256 for source in audit([made, other], claims=claim, config=settings).sources]
    page = report.save(tmp_path / "saved").read_text(encoding="utf-8")
    assert f"made in Python (SHA-256 <code>{hashes[0]}</code>)" in page
    assert "marginaudit solve DATASET.json " in page
    assert not re.search("marginaudit (audit|solve|verify) example-1", page)


def test_a_verdict_by_name(report: Report) -> None:
    found = report.verdict("ntp.theorem2.floor", "section-7")
    assert found.verdict is Verdict.VIOLATED
    assert found == report.audited[1].findings["ntp.theorem2.floor"]
    with pytest.raises(KeyError, match="got no dataset, expected one of example-1, section-7"):
        report.verdict("ntp.theorem2.floor")
    with pytest.raises(KeyError, match="'section': expected one of example-1, section-7"):
        report.verdict("ntp.theorem2.floor", "section")
    with pytest.raises(KeyError, match=r"such as ntp\.prop1\.norm"):
        report.verdict("ntp.prop1.norms", "section-7")


def test_a_plot_of_a_dataset_with_a_long_name_keeps_within_its_figure() -> None:
    data = replace(CASES["example-1"](), name="W" * 60)
    figure = audit(data, "ntp.theorem1.direction", QUICK).plot("ntp.theorem1.direction")
    assert crowded(figure) == []


def test_a_table_of_all(report: Report) -> None:
    frame = report.to_dataframe()
    assert tuple(frame.columns) == names(Output.FRAME)
    assert len(frame) == len(report.rows) == 8
    for record, row in zip(frame.to_dict("records"), report.rows, strict=True):
        assert (record["claim"], record["dataset"]) == (row.claim.id, row.dataset)
        assert record["verdict"] == row.finding.verdict.value
        expected = row.finding.slack
        assert record["slack"] == expected or (np.isnan(record["slack"]) and expected is None)


CLASSES_OF_ROWS = DataFrame(
    {"token": ["a", "b", "b"], "probability": [0.5, 0.5, 1], "next": ["n", "n", "m"], "query": ["q", "q", "r"]}
)


@pytest.mark.parametrize(
    ("data", "document"),
    [
        ({"name": "mine", "samples": [{"tokens": ["a"], "next": "b"}]}, {"samples": [{"tokens": ["a"], "next": "b"}]}),
        (["a b", ["b", "a"], ("a", "b")], {"sentences": [["a", "b"], ["b", "a"], ["a", "b"]]}),
        (DataFrame({"sentence": ["a b", ["b", "a"]]}), {"sentences": [["a", "b"], ["b", "a"]]}),
        (
            DataFrame({"next": ["b", "a"], "count": [2, 1], "tokens": ["a", np.array(["a", "b"])]}),
            {"samples": [{"tokens": ["a"], "next": "b", "count": 2}, {"tokens": ["a", "b"], "next": "a"}]},
        ),
        (DataFrame({"tokens": ["a"], "next": ["b"]}), {"samples": [{"tokens": ["a"], "next": "b"}]}),
        (
            DataFrame({"tokens": ["a", "b"], "next": ["b", "a"], "count": [2.0, None]}),
            {"samples": [{"tokens": ["a"], "next": "b", "count": 2}, {"tokens": ["b"], "next": "a"}]},
        ),
        (
            {"samples": [{"tokens": np.array(["a"]), "next": "b", "count": np.int64(2)}], "embedding": np.eye(2)},
            {"samples": [{"tokens": ["a"], "next": "b", "count": 2}], "embedding": [[1.0, 0.0], [0.0, 1.0]]},
        ),
        (iter(["a b", "b a"]), {"sentences": [["a", "b"], ["b", "a"]]}),
    ],
    ids=[
        "document",
        "sentences",
        "a column of sentences",
        "samples with counts",
        "samples",
        "samples with counts of floats",
        "a document of arrays",
        "an iterator of sentences",
    ],
)
def test_a_dataset_of_what_python_has(data: Any, document: dict[str, Any]) -> None:
    found, expected = marginaudit.dataset(data, "mine"), dataset_from_document(document | {"name": "mine"})
    assert dataset_to_document(found) == dataset_to_document(expected)


def test_classes_of_a_dataframe_and_of_a_document() -> None:
    document = classes_to_document(marginaudit.dataset(CLASSES_OF_ROWS, "mine"))
    assert [(one["next"], one["query"], one["probabilities"]) for one in document["classes"]] == [
        ("n", "q", {"a": 0.5, "b": 0.5}),
        ("m", "r", {"b": 1.0}),
    ]
    assert classes_to_document(marginaudit.dataset(document)) == document


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (DataFrame({"text": ["a b"]}), "data: columns: got (text), expected (sentence) or (tokens, next) or "),
        (DataFrame({"sentence": ["a b", None]}), "data: row 1, column sentence: got "),
        (DataFrame({"tokens": ["a"], "next": [1]}), "data: row 0, column next: got 1, expected a text"),
        (CLASSES_OF_ROWS.assign(next=1), "data: row 0, column next: got 1, expected a text"),
        (CLASSES_OF_ROWS.assign(probability=0.5), "data: /classes/1/probabilities: got probabilities that sum to 0.5"),
        (DataFrame(columns=["sentence"]), "data: got no sentences and no samples, expected at least one"),
        (
            DataFrame({"tokens": ["a"], "next": ["b"], "count": [1.5]}),
            "data: /samples/0/count: got 1.5, expected a whole",
        ),
        ({"samples": [], ("b",): "b"}, "data: /('b',): got ('b',), expected a key that is a string"),
        (np.array("a b"), "'a b': got no file of that name, expected "),
    ],
    ids=["columns", "sentence", "next", "text", "probabilities", "empty", "count", "key", "no array"],
)
def test_a_bad_dataset_is_one_line(data: Any, line: str) -> None:
    with pytest.raises(InputError, match=rf"^{re.escape(line)}[^\n]*$"):
        marginaudit.dataset(data)


@pytest.mark.parametrize("name", ["", None, "\ud800"])
def test_a_bad_name_is_one_line(name: Any) -> None:
    with pytest.raises(InputError, match=r"^name: got .*, expected a string[^\n]*$"):
        marginaudit.dataset(["a b"], name)


def test_an_audit_of_what_python_has() -> None:
    """A list of lists of tokens, or a Series, is one dataset; a list of anything else is several."""
    frame = DataFrame({"sentence": ["S V", "V S"]})
    document = {"name": "mine", "sentences": [["S", "V"], ["V", "S"]]}
    for data, known in (
        ([["S", "V"], ["V", "S"]], ["dataset"]),
        ((("S", "V"), ("V", "S")), ["dataset"]),
        ([(("S", "V"), ("V", "S")), (("V", "S"), ("S", "V"))], ["dataset", "dataset-2"]),
        ([frame["sentence"], np.array(["S V", "V S"])], ["dataset", "dataset-2"]),
        (frame, ["dataset"]),
        (frame["sentence"], ["dataset"]),
        (map(str.split, frame["sentence"]), ["dataset"]),
        (document, ["mine"]),
        ([document, "example-1", [["S", "V"]]], ["mine", "example-1", "dataset"]),
    ):
        found = audit(data, claims="ntp.prop2.closed-form", config=QUICK)
        assert [one.name for one in found.audited] == known


def test_tables_of_polars_and_arrow_are_those_of_pandas() -> None:
    for columns in (
        {"sentence": ["S V O", "V O"]},
        {"sentence": [["S", "V", "O"], ["V", "O"]]},
        {"tokens": ["a q", "b"], "next": ["b", "a"], "count": [2, None]},
        {"next": ["m", "n"], "query": ["q", "q"], "token": ["a", "b"], "probability": [1.0, 1.0]},
    ):
        frame = DataFrame(columns)
        for other in (polars.DataFrame(columns), pyarrow.table(columns)):
            assert repr(marginaudit.dataset(other)) == repr(marginaudit.dataset(frame))
    for series in (polars.Series(["S V", "V O"]), polars.Series([["S", "V"], ["V", "O"]])):
        found = audit(series, claims="ntp.prop2.closed-form", config=QUICK)
        assert [one.name for one in found.audited] == ["dataset"]
        assert repr(found.sources[0].dataset) == repr(marginaudit.dataset(["S V", "V O"]))


def test_a_table_is_that_of_the_file(report: Report, tmp_path: Path) -> None:
    report.save(tmp_path)
    for name in ("direction", "proposition2"):
        kept = read_csv(tmp_path / f"tables/{name}.csv", keep_default_na=False, na_values=[""])
        assert list(kept.columns) == list(report.table(name).columns)
        numbers = kept.select_dtypes("number").columns.difference(["predicted_optimal", "predicted_non_optimal"])
        assert set(kept["dataset"]) == set(report.table(name)["dataset"])
        assert_frame_equal(report.table(name)[numbers], kept[numbers], check_dtype=False, rtol=1e-15)
    with pytest.raises(KeyError, match="table 'nope': expected one of direction, proposition2"):
        report.table("nope")


def test_names_that_pandas_takes_for_missing_come_back_as_the_tutorials_read_them(tmp_path: Path) -> None:
    sentences = [["NaN", "null", "O", "P"], ["null", "O", "P"], ["O", "P", "P"], ["P", "NaN", "null"]]
    found = audit({"name": "NA", "sentences": sentences}, claims="ntp.prop*", config=QUICK)
    found.save(tmp_path)
    call = re.search(r"read_csv\(.*verdicts.csv\", (.*)\)", (ROOT / "docs/tutorials/start.md").read_text("utf-8"))
    assert call is not None
    how = eval(f"dict({call[1]})")
    kept = read_csv(tmp_path / "verdicts.csv", **how)
    assert set(kept["dataset"]) == {"NA"}
    assert kept["measured"].isna().tolist() == found.to_dataframe()["measured"].isna().tolist()
    table = read_csv(tmp_path / "tables/proposition2.csv", **how)
    assert set(table["dataset"]) == {"NA"}
    assert set(table["query"]) == set(found.table("proposition2")["query"]) > {"null"}


def test_what_changed_from_another_report(report: Report, tmp_path: Path) -> None:
    report.save(tmp_path)
    assert report.compare(tmp_path).empty
    other = audit("example-1", claims=["ntp.prop1.*", "ntp.lemma2"], config=QUICK | {"steps1": 3})
    changes = other.compare(report)
    assert set(changes["direction"]) >= {"gone", "added"}
    [added] = changes[changes["direction"] == "added"].itertuples()
    assert (added.dataset, added.claim, added.new) == ("example-1", "ntp.lemma2", "holds")
    back = report.compare(other)
    assert "ntp.lemma2" in set(back[back["direction"] == "gone"]["claim"])
    assert other.compare(tmp_path / "report.json").equals(changes)
    apart = audit("section-7", claims="ntp.lemma2", config=QUICK)
    with pytest.raises(InputError, match="this report: got no claim on a dataset that other has too, expected two"):
        apart.compare(report)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"data": "nowhere"}, "'nowhere': got no file of that name, expected "),
        ({"data": 3}, "data: got 3 of type int, expected a dict, sentences, a DataFrame, a path, "),
        ({"data": []}, "data: got no dataset, expected one or more"),
        ({"data": {"sentences": [["a", 3]]}}, "data: /sentences/0/1: got 3, expected a string"),
        ({"data": [["a"]]}, "data: /sentences/0: got an array of 1 entry, expected at least 2"),
        ({"data": b"example-1"}, "data: got b'example-1' of type bytes, expected a dict, "),
        (
            {"data": {"sentence": [["a", "b"]]}},
            "data: got a document of no kind, expected sentences (/sentence: got an unknown key, expected one of name, "
            "vocabulary, sentences, samples, next_token, embedding) or sequence classes (/sentence: got an unknown "
            "key, expected one of name, M, classes)",
        ),
        ({"claims": []}, "claims: got none, expected one or more"),
        ({"claims": 3}, "claims: got 3, expected ids, patterns or Claims"),
        ({"claims": ["ntp.lemma2", 3]}, "claims: got 3, expected ids, patterns or Claims"),
        ({"claims": "ntp.prop1.norms"}, "expected an id that `marginaudit claims` lists, such as ntp.prop1.norm"),
        (
            {"claims": replace(LEDGER["ntp.lemma3"], id="ntp.lemma2")},
            "claim ntp.lemma2: got an id that another claim has",
        ),
        (
            {"claims": [replace(LEDGER["ntp.lemma3"], id="mine"), replace(LEDGER["ntp.lemma2"], id="mine")]},
            "claim mine: got two claims of that id, expected an id of its own for each",
        ),
        (
            {"claims": [LEDGER["ntp.lemma2"], replace(LEDGER["ntp.lemma3"], id="mine", assumptions=("collocaton",))]},
            "claim mine: got the assumption 'collocaton', expected one of ",
        ),
        (
            {"claims": replace(LEDGER["ntp.lemma3"], id="mine", formula=r"\frac{")},
            r"claim mine: got the formula '\\frac{' (NoAvailableTokensError), expected LaTeX",
        ),
        ({"claims": "snap.lemma4"}, "claims: got claims about other data alone, expected one about sentences, as exa"),
        ({"jobs": 1025}, "jobs: got 1025, expected a whole number from 1 to 1024"),
        ({"claim_timeout": 0}, "claim_timeout: got 0, expected a positive number of seconds"),
        ({"config": {"step2": 3}}, "config 'step2': got no setting of that name, expected steps1, steps2, "),
        ({"config": {"steps2": -3}}, "Config.steps2: got -3, expected "),
        ({"config": ClassConfig()}, "config: got ClassConfig("),
    ],
    ids=lambda value: str(value)[:20] if isinstance(value, Mapping) else "",
)
def test_bad_arguments_are_one_line(arguments: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError, match=re.escape(line)):
        audit(**{"data": "example-1", **arguments})


NASTY = dataset_from_document({"name": "<b>&", "sentences": [["<i>", "x"], ["x", "<i>"]]})


@pytest.mark.parametrize(
    ("shown", "texts"),
    [
        (NASTY, ["&lt;b&gt;&amp;: 2 tokens, 2 samples", "<td>&lt;i&gt;</td><td>x</td><td>1</td>"]),
        (CLASS_CASES["snap-single"](), ["snap-single: 2 classes, 5000 tokens"]),
        (Finding(Verdict.HOLDS, measured=0.123456, detail="<x"), ["<td>verdict</td><td>holds</td>", "0.1235", "&lt;x"]),
        (
            Finding(Verdict.VIOLATED, detail="a word " * 99 + "end", witness={"T": ("é", 0.5)}),
            ["a word " * 99 + "end", "<td>{&quot;T&quot;: [&quot;é&quot;, 0.5]}</td></tr></table>"],
        ),
        (LEDGER, [f"{len(LEDGER)} claims", "<td>ntp.lemma7</td><td>refuted</td>", f"and {len(LEDGER) - 60} more"]),
        (
            Run(NASTY, Config(steps2=5)),
            [
                "Run of &lt;b&gt;",
                "<td>steps2</td><td>5</td>",
                "<td>lr1</td><td>default</td>",
                "<td>assumption prefix_closed</td><td>holds</td><td></td>",
            ],
        ),
        (
            ClassRun(CLASS_CASES["snap-medium"](), ClassConfig()),
            ["<td>assumption single_common</td><td>fails</td><td>{&quot;common&quot;: 10, "],
        ),
    ],
    ids=["Dataset", "SequenceClasses", "Finding", "Witness", "Ledger", "Run", "ClassRun"],
)
def test_what_a_notebook_shows(shown: Any, texts: list[str]) -> None:
    html = shown._repr_html_()
    for text in texts:
        assert text in html
    assert set(re.findall("</?(.*?)>", html)) <= {"table", "caption", "tr", "th", "td"}


def test_what_a_notebook_shows_of_a_report(report: Report) -> None:
    html = report._repr_html_()
    assert "<caption>8 verdicts: 2 violated, 6 holds</caption>" in html
    assert "<td>ntp.theorem2.floor</td><td>section-7</td><td>violated</td>" in html
    assert html.count("<tr>") == 3  # the header and what fails
    assert "<td>ntp.prop1.norm</td><td>holds</td>" in audit("example-1", claims="ntp.prop1.norm")._repr_html_()


def test_a_row_of_a_dataset_made_in_python_is_given_again_in_python(tmp_path: Path) -> None:
    data = dataset_from_document({"name": "made here", "sentences": [list("SVOP"), list("VOP"), list("OPP")]})
    made = audit(data, claims=["ntp.prop1.norm", "ntp.lemma6"], config={"steps1": 5, "steps2": 20, "at": [1, 20]})
    page = made.save(tmp_path).read_text(encoding="utf-8")
    commands = {unescape(found) for found in re.findall(r">(audit\(data.*?)<", page)}
    assert len(commands) == 2
    for again in commands:
        [row] = eval(again, {"audit": audit, "data": data}).rows
        assert row.as_document() == next(one for one in made.rows if one.claim is row.claim).as_document()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (([1.0, 2.0], [0.1]), "error bars of shape (1,), expected (2,): one for each value"),
        (([1.0, 2.0], 0.1, [1, 2, 3]), "steps of shape (3,), expected (2,): one for each value"),
        (([1.0, 2.0], 0.1, None, ("a",)), "labels of shape (1,), expected (2,): one for each value"),
        (([[1.0, 2.0]], 0.1), "values of shape (1, 2), expected a row of them"),
    ],
)
def test_a_series_has_one_of_each_for_each_value(given: Any, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"got {said}")):
        Series(*given)


def test_a_series_takes_lists() -> None:
    untyped: Any = Series
    made = untyped([1.0, 2.0], [0.25, 0.5], [3, 4])
    assert (made.upper.tolist(), made.at(1)) == ([1.25, 2.5], 4)
    assert len(untyped(1.0, 0.0)) == 1


def test_attention_is_a_softmax_over_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Place by place, the scores read off the matrix, not token by token."""
    data = Dataset.from_sentences("x", [list("SVOP"), list("PPSVP"), list("VOP"), list("OPP")])
    run = Run(data, Config(steps1=30, steps2=30))
    for number, sample in enumerate(data.samples):
        for record in (0, 7, 30):
            matrix = run.training.stage2.score_matrix(record, data.V)
            weights = np.exp([matrix[data.index[x], data.index[sample.query]] for x in sample.tokens])
            for token in data.vocabulary:
                found = attention(run, number, token)
                expected = sum(w for w, x in zip(weights, sample.tokens, strict=True) if x == token) / sum(weights)
                assert abs(found.value[record] - expected) <= found.radius[record] + 1e-15
                assert found.radius[record] < 1e-9
    lost = np.full(31, np.inf)
    monkeypatch.setattr("marginaudit.claims.ntp.quantities.score_error", lambda _: lost)
    assert (attention(run, 2, "S").radius >= 1).all()
    monkeypatch.setattr("marginaudit.claims.ntp.quantities.score_error", lambda _: np.full(31, 1e-3))
    assert attention(run, 2, "S").radius == pytest.approx(np.full(31, 2.5e-4), rel=1e-9, abs=0)


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = import_module("nbformat")
    client = import_module("nbclient").NotebookClient

    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells)
    client(notebook, timeout=600, kernel_name="python3").execute(cwd=str(tmp_path))
    shown = [
        out for cell in notebook.cells for out in cell.get("outputs", ()) if out["output_type"] == "execute_result"
    ]
    assert len(shown) >= 6
    assert sum("text/html" in out["data"] for out in shown) >= 5
    assert any("image/png" in out["data"] for out in shown)


def test_a_page_of_one_claim_speaks_of_it_alone(tmp_path: Path) -> None:
    """Those from which it is proved are named, without links to where they would be."""
    report = audit("example-1", claims="ntp.theorem1.norm", config={"steps1": 2, "steps2": 2})
    page = report.save(tmp_path / "one").read_text(encoding="utf-8")
    places = set(re.findall(r'\bid="([^"]+)"', page))
    assert set(re.findall(r'<a [^>]*href="#([^"]+)"', page)) <= places
    assert "sharp.<wbr>lemma6" in page
    assert 'class="remains"' not in page


def test_a_report_is_saved_with_known_exports(report: Report, tmp_path: Path) -> None:
    for exports in (["latexx"], ["latex", "xml"]):
        with pytest.raises(InputError, match=r"exports: got '.*', expected of latex, markdown, parquet, pdf"):
            report.save(tmp_path / "new", exports)
    assert not (tmp_path / "new").exists()
    report.save(tmp_path / "new", "latex")
    assert (tmp_path / "new/tables/verdicts.tex").is_file()


def test_a_report_is_a_table_on_a_prompt(report: Report) -> None:
    lines = repr(report).splitlines()
    assert lines[0] == "8 verdicts: 2 violated, 6 holds"
    assert lines[1].split() == ["claim", "example-1", "section-7"]
    assert lines[2].split() == ["ntp.theorem2.floor", "violated", "violated"]
    assert len(lines) == 6
    several = audit(["example-1", "snap-single"], ["ntp.lemma2", "snap.lemma2"], {**QUICK, "steps": 10})
    assert [line.split() for line in repr(several).splitlines()[2:]] == [
        ["ntp.lemma2", "holds", "–"],
        ["snap.lemma2", "–", "holds"],
    ]


def test_the_version_and_the_module() -> None:
    assert dir(marginaudit) == sorted(marginaudit.__all__)
    assert all(getattr(marginaudit, name) is getattr(claims, name) for name in ("Claim", "Limit", "Series"))
    assert marginaudit.Report is reports.Report
    assert all(hasattr(marginaudit, name) for name in marginaudit.__all__)
    assert set(reports.__all__) <= set(dir(reports))
    assert marginaudit.__version__ == importlib.metadata.version("marginaudit")
    done = subprocess.run([sys.executable, "-m", "marginaudit", "--version"], capture_output=True, text=True)
    assert done.stdout == f"marginaudit {marginaudit.__version__}\n"
    assert marginaudit.audit is audit
    with pytest.raises(AttributeError, match="No marginaudit attribute audits"):
        marginaudit.audits  # type: ignore[attr-defined]  # noqa: B018


def test_an_optional_number_may_be_true_or_false() -> None:
    for given, certify in ((True, 900), (False, 0), (7, 7)):
        report = audit("example-1", claims="ntp.lemma2", config={"steps1": 5, "steps2": 2, "certify": given})
        assert report.configs["ntp"].certify == certify
    with pytest.raises(InputError, match="steps1"):
        audit("example-1", claims="ntp.lemma2", config={"steps1": True})


@pytest.mark.parametrize(
    ("data", "wanted", "other"),
    [("example-1", None, "snap"), ("example-1", ["ntp.prop1.*"], "snap"), ("snap-single", "snap.lemma1", "ntp")],
)
def test_the_claims_of_the_other_paper_are_not_imported(data: str, wanted: list[str] | str | None, other: str) -> None:
    program = f"""
import sys, marginaudit
marginaudit.audit({data!r}, {wanted!r}, {{"steps": 5}} if {other!r} == "ntp" else {{"steps1": 5, "steps2": 5}})
print(*(name for name in sys.modules if "claims.{other}.appendix" in name))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
