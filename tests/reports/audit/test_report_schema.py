"""report.json: complete, by its schema, the same for readers of the ledger, and without a clock if asked."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pyarrow import parquet

from marginaudit.claims.verdict import SHORT as LONGEST
from marginaudit.claims.verdict import Curve
from marginaudit.reports.audit.claim_code import code_of
from marginaudit.reports.audit.ledger import LEDGER
from marginaudit.reports.audit.schema import FILE, schema
from tests.command_line import SHORT, Command

ROOT = Path(__file__).parents[3]

CLAIMS = ("--claim", "ntp.prop*", "--claim", "ntp.theorem1.direction*", "--claim", "ntp.lemma6")

SAMPLED = """
from marginaudit.claims import Claim, instance
from marginaudit.claims.judgements import InExpectation

@instance
def coin():
    return dict(p=0.5)

CLAIMS = (
    Claim(
        id="mine.mean",
        source="arXiv 2301.00001v2, Theorem 3",
        statement="E X <= 0.6",
        judgement=InExpectation(
            sample=lambda x, rng, n: (rng.random(n) < x.p).astype(float),
            upper=lambda x, _: 0.6,
            within=lambda x: (0.0, 1.0),
            n=4000,
        ),
        scale="reduced",
    ),
)
"""


@pytest.fixture
def written(command: Command) -> dict[str, Any]:
    assert command("audit", "example-1", *SHORT, *CLAIMS, "--out", "out").status == 0
    found: dict[str, Any] = json.loads(Path("out/report.json").read_text(encoding="utf-8"))
    return found


def refusals(document: Any) -> list[str]:
    found = jsonschema.Draft202012Validator(schema()).iter_errors(document)
    return [f"{'/'.join(map(str, one.path))}: {one.message}" for one in found]


def test_the_schema_of_the_package_is_that_of_the_classes() -> None:
    """`python docs/make.py` writes it; a removed or changed field raises `SCHEMA`."""
    stored = json.loads((ROOT / "reports/audit" / FILE).read_text(encoding="utf-8"))
    assert stored == schema()
    jsonschema.Draft202012Validator.check_schema(stored)


def test_a_report_has_the_fields_of_its_schema(written: dict[str, Any]) -> None:
    assert refusals(written) == []
    assert refusals(written | {"schema": 0})
    assert refusals(written | {"more": 1})
    first, *others = written["verdicts"]
    assert refusals(written | {"verdicts": [first | {"verdict": "true"}, *others]})
    claim, *rest = written["claims"]
    assert refusals(written | {"claims": [claim | {"code": claim["code"] | {"more": 1}}, *rest]})


def test_a_claim_of_the_report_is_that_of_the_ledger(written: dict[str, Any], command: Command) -> None:
    listed = {one["id"]: one for one in command.json("claims", "ntp.*")}
    for claim in written["claims"]:
        code, counterexample, _ = (claim.pop(name) for name in ("code", "counterexample", "without"))
        other = listed[claim["id"]]
        file = other.pop("counterexample")
        assert claim == other
        assert "Claim" in code["text"]
        assert code["file"].startswith("marginaudit.claims.ntp")
        assert (file is None) == (counterexample is None)
        if isinstance(counterexample, dict):
            assert counterexample == json.loads(Path(file).read_text(encoding="utf-8"))


def test_the_dataset_is_in_the_report(written: dict[str, Any], command: Command) -> None:
    [data] = written["datasets"]
    Path("again.json").write_text(json.dumps(data["data"]), encoding="utf-8")
    assert command.json("audit", "again.json", *SHORT, *CLAIMS, "--out", "other")["verdicts"] == written["verdicts"]


def test_exact_numbers_and_curves_with_error_bars(written: dict[str, Any]) -> None:
    rows = {row["claim"]: row for row in written["verdicts"]}
    assert rows["ntp.prop2.closed-form"]["measured_exact"] == rows["ntp.prop2.closed-form"]["bound_exact"] != ""
    curve = rows["ntp.theorem1.direction"]["curve"]
    assert len(curve["step"]) == len(curve["upper_bar"]) == len(curve["measured_bar"]) == curve["entries"]
    table = parquet.read_table("out/tables/curves.parquet").to_pandas()
    of_rows = {row["claim"]: row["curve"]["entries"] for row in written["verdicts"] if row["curve"]}
    assert table.groupby("claim").size().to_dict() == of_rows
    long = Curve(list(range(1, 1001)), [1.0] * 1000).as_document(77, None)
    assert long["entries"] == 1000
    assert len(long["step"]) <= LONGEST + 1
    assert {1, 77, 1000} <= set(long["step"])
    kept = table[(table.claim == "ntp.theorem1.direction") & table.step.isin(curve["step"])]
    assert kept.measured.tolist() == curve["measured"]
    assert kept.upper_bar.tolist() == curve["upper_bar"]


def test_durations_unless_the_report_is_to_be_reproducible(
    written: dict[str, Any], command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {row["seconds"] for row in written["verdicts"]} == {None}
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    again = command.json("audit", "example-1", *SHORT, *CLAIMS, "--out", "out")
    assert all(row["seconds"] > 0 for row in again["verdicts"])
    assert refusals(again) == []


def test_a_sampled_claim_of_ones_own(command: Command) -> None:
    Path("mine.py").write_text(SAMPLED, encoding="utf-8")
    found = command.json("audit", "--claims", "mine.py", "--out", "out")
    assert refusals(found) == []
    [row], [claim] = found["verdicts"], found["claims"]
    assert (row["evidence"], row["samples"], row["seed"]) == ("sampled", 4000, 0)
    assert row["confidence"] > 0.9
    assert (claim["version"], claim["scale"], claim["code"]["file"]) == ("v2", "reduced", "mine.py")
    assert "InExpectation(" in claim["code"]["text"]
    assert "def coin" not in claim["code"]["text"]


def test_code_of_every_built_in_claim() -> None:
    found = {name: code_of(claim) for name, claim in LEDGER.items()}
    assert all(code is not None and 100 < len(code.text) < 15_000 for code in found.values())
    named = [name for name, code in found.items() if code is not None and f'"{name}"' in code.text]
    assert len(named) > len(found) / 2


HELPED = """
from flint import arb, ctx

from marginaudit import Bounded, Claim

INSTANCES = {"x": {"size": 1}}

def size(x):
    return arb(x.size)

def claim(name, judgement):
    return Claim(id=f"mine.{name}", source="", statement="", judgement=judgement)

FIRST = claim("first", Bounded(ctx.workprec(99)(size), upper=lambda *_: 2))
SECOND = claim("second", Bounded(size, upper=lambda *_: 3))
CLAIMS = [FIRST, SECOND]
"""


def test_code_of_a_claim_that_a_function_makes(command: Command) -> None:
    Path("mine.py").write_text(HELPED, encoding="utf-8")
    first, second = command.json("audit", "--claims", "mine.py", "--out", "out")["claims"]
    for claim, other in (first, "SECOND"), (second, "FIRST"):
        assert all(part in claim["code"]["text"] for part in ("def claim", "def size", "from flint"))
        assert other not in claim["code"]["text"]
