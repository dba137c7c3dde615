"""What the page says of statements and rows: theorems, forms, counts, room, banners, and the commands of rows."""

import ast
import math
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from marginaudit.claims.row import ReportRow
from marginaudit.claims.standing import Standing, Status
from marginaudit.claims.values.numbers import powers
from marginaudit.claims.verdict import Curve, Finding, Verdict, headroom, not_applicable, outside_to_detail
from marginaudit.reports.audit.auditing import Row
from marginaudit.reports.audit.ledger import LEDGER, PAPERS
from marginaudit.reports.audit.provenance import provenance
from marginaudit.reports.audit.sources import IN_PYTHON, Source
from marginaudit.reports.page.headline import banners, columns, headline, standings
from marginaudit.reports.page.reproduce import command
from marginaudit.reports.page.theorems import (
    PRINTED,
    RECONSTRUCTED,
    REDERIVED,
    SHARPER,
    VARIANT,
    failing,
    form,
    statement_name,
    statement_names,
    theorem,
)
from marginaudit.training.weight_files.run_file import RunFile

NTP, SNAP = PAPERS


@pytest.mark.parametrize(
    ("claim", "name", "how"),
    [
        ("ntp.theorem2.floor", "Theorem 2", PRINTED),
        ("ntp.theorem2.loss.rederived", "Theorem 2", REDERIVED),
        ("sharp.theorem1", "Theorem 1", SHARPER),
        ("ntp.theorem1.direction", "Theorem 1", PRINTED),
        ("ntp.corollary1.upper", "Corollary 1", RECONSTRUCTED),
        ("ntp.lemma7", "Lemma 7", RECONSTRUCTED),
        ("ntp.gradient.ov", "Equation 5", PRINTED),
        ("ntp.prop2.corollary", "Proposition 4", PRINTED),
        ("snap.theorem4.closed-form.rederived", "Theorem 4", REDERIVED),  # its source names an equation alone
        ("snap.eq13.rederived", "Equation 13", REDERIVED),
        ("snap.theorem3.gain.sgd", "Theorem 3", VARIANT),
        ("sharp.single-optimum", "Proposition 2", SHARPER),  # its source names no theorem
        ("snap.fig6.direction", "Figure 6", PRINTED),
    ],
)
def test_a_statement_belongs_to_a_theorem_in_some_form(claim: str, name: str, how: str) -> None:
    paper = SNAP if claim.startswith("snap.") else NTP
    assert (theorem(LEDGER[claim], LEDGER), form(LEDGER[claim], paper)) == (name, how)


@pytest.mark.parametrize(
    ("claim", "heading"),
    [
        ("ntp.theorem2.floor", "as printed"),
        ("ntp.corollary1.upper", "reconstructed"),
        ("snap.theorem4.closed-form.rederived", "also false as mended"),
    ],
)
def test_a_violated_statement_is_headed_by_its_form(claim: str, heading: str) -> None:
    paper = SNAP if claim.startswith("snap.") else NTP
    assert failing(LEDGER[claim], paper) == heading


def test_where_the_source_names_no_theorem_it_stands_for_it() -> None:
    claim = replace(LEDGER["ntp.lemma4"], id="mine")
    assert [theorem(replace(claim, source=source), {}) for source in (" a talk ", " ")] == ["a talk", "mine"]


def entry(name: str, *verdicts: Verdict, **standing: Any) -> dict[str, Any]:
    claim = LEDGER[name]
    rows = [{"verdict": verdict} for verdict in verdicts]
    violated = [row for row in rows if row["verdict"] == Verdict.VIOLATED]
    return {"claim": claim, "standing": replace(claim.standing, **standing), "rows": rows, "violated": violated}


def test_the_first_sentence_counts_printed_statements_with_their_causes_and_others_apart() -> None:
    failing = [
        entry("ntp.theorem1.direction", Verdict.VIOLATED, Verdict.VIOLATED),
        entry("ntp.theorem2.weight", Verdict.HOLDS, Verdict.VIOLATED),
        entry("ntp.theorem2.floor", Verdict.VIOLATED),
        entry("ntp.theorem1.direction.any-step", Verdict.VIOLATED),
        entry("ntp.corollary1.upper.rederived", Verdict.VIOLATED),
    ]
    others = [entry("ntp.lemma6", Verdict.HOLDS), entry("ntp.lemma5", Verdict.HOLDS, Verdict.BROKEN)]
    said = headline(failing + others)
    assert re.findall(r"\d+ (?:of|causes|[a-z-]+tion|variant|is broken)", said) == [
        *("3 of", "2 causes", "1 re-derivation", "1 variant", "1 is broken")
    ]
    assert headline(others[:1]).startswith("0 of 1 ")
    assert re.findall(r"\d+ \w+", headline(failing[3:4])) == ["1 variant"]
    assert headline([entry("sharp.lemma6", Verdict.HOLDS)]).startswith("None of 1 ")


def test_printed_statements_are_counted_by_how_they_stand_for_every_dataset() -> None:
    names = ("ntp.theorem1.direction", "ntp.theorem2.floor", "ntp.corollary1.upper", "snap.eq64", "ntp.lemma6")
    claims = [entry(name) for name in (*names, "snap.fig6.direction", "sharp.lemma6")]
    expected = {
        "printed": 6,
        "false under every reading": 2,
        "false as printed, the constant alone": 1,
        "a slip": 1,
        "proved": 1,
        "open": 1,
    }
    assert standings(claims) == expected | {"false, severity not stated": 0}
    assert columns([standings(claims), None]) == list(expected)
    assert standings(claims[-1:]) is None


def test_a_statement_that_an_audit_refutes_is_counted_without_a_severity() -> None:
    found = standings([entry("ntp.lemma6") | {"standing": Standing(status=Status.REFUTED, dataset="example-1")}])
    assert found is not None
    assert {name: count for name, count in found.items() if count} == {"printed": 1, "false, severity not stated": 1}


def bounded(**change: Any) -> Finding:
    curve = Curve([1, 10, 100, 1000], [1e-1, 1e-2, 1e-3, 1e-4], [50.0, 5.0, 1.0, 1.0], vacuous_above=2.0)
    given: dict[str, Any] = {
        "side": "upper",
        "worst_step": 100,
        "informative_from": 60,
        "slack": 1e3,
        "curve": curve,
    } | change
    return Finding(Verdict.HOLDS, **given)


def test_room_is_where_the_bound_first_says_something_and_at_the_end() -> None:
    assert headroom(bounded()) == pytest.approx((3, 4), rel=1e-12, abs=0)
    assert headroom(bounded(informative_from=None)) == pytest.approx((3, 4), rel=1e-12, abs=0)  # 50 and 5 are vacuous
    assert headroom(bounded(informative_from=200, worst_step=1000)) == pytest.approx((4, 4), rel=1e-12, abs=0)
    lower = Curve([1, 2], [1.0, 1.0], None, [0.1, 10.0])
    assert headroom(bounded(side="lower", informative_from=None, curve=lower)) == pytest.approx(
        (1, -1), rel=1e-12, abs=0
    )
    both = Curve([1, 2], [1.0, 1.0], [100.0, 10.0], [0.1, 1e-9])
    assert headroom(bounded(informative_from=None, curve=both)) == pytest.approx((1, 1), rel=1e-12, abs=0)


def test_no_room_is_said_of_what_is_no_bound_or_not_reached() -> None:
    by_token = Curve([10, 100, 1, 10], [1e-2, 1e-4, 1e-1, 1e-3], upper=[1.0] * 4)
    assert headroom(bounded(informative_from=None, curve=by_token)) == pytest.approx((1, 4), rel=1e-12, abs=0)
    twice = Curve([1, 1, 10, 10], [1e-2, 1e-1, 1e-3, 1e-4], upper=[1.0] * 4)
    assert headroom(bounded(informative_from=None, curve=twice)) == pytest.approx((1, 3), rel=1e-12, abs=0)
    assert headroom(bounded(side=None)) == ()
    assert outside_to_detail(bounded(worst_step=59), "")["slack"] is None
    for there in ({"worst_step": 60}, {"worst_step": None}, {"informative_from": None}):
        assert outside_to_detail(bounded(**there), "") == {}
    assert headroom(bounded(curve=None, measured=2.0, bound=2e3)) == pytest.approx((3,), rel=1e-12, abs=0)
    assert headroom(bounded(curve=None, measured=-2.0, bound=-2e-3)) == ()
    assert headroom(bounded(curve=None, measured=2.0, bound=-2e-3)) == ()
    for values in ([0.0] * 4, [5e-324] * 4, [math.inf] * 4, [math.nan] * 4):
        assert headroom(bounded(curve=Curve([70, 80, 90, 99], values, [1.0] * 4))) == ()


def test_without_steps_the_slack_says_the_room() -> None:
    alone: dict[str, Any] = {"curve": None, "informative_from": None, "worst_step": None}
    assert headroom(bounded(**alone)) == pytest.approx((3,), rel=1e-12, abs=0)
    assert headroom(bounded(**alone, side="lower", slack=100.0)) == pytest.approx((2,), rel=1e-12, abs=0)
    for slack in (None, 0.0, -1.0):
        assert headroom(bounded(**alone | {"slack": slack})) == ()


def test_room_has_two_digits_and_no_negative_zero() -> None:
    assert powers((-0.01, 9.94, 9.96)) == "0.0 → 9.9 → 10"
    assert powers((-12.3,)) == "−12"


def audited(failing: list[str], assumed: list[tuple[str, ...]], silent: int) -> Any:
    """An audit of one dataset; the first statements are not applicable."""
    judged = {name: {"holds": name not in failing, "witness": {"least": 3}} for name in SNAP.kind.assumptions}
    claims = [replace(LEDGER["snap.lemma1"], id=f"{i}", assumptions=names) for i, names in enumerate(assumed)]
    findings = {c.id: not_applicable("") if int(c.id) < silent else Finding(Verdict.HOLDS) for c in claims}
    source = SimpleNamespace(paper=SNAP)
    one = SimpleNamespace(name="d", source=source, document={"assumptions": judged}, findings=findings)
    return SimpleNamespace(claims=claims, audited=[one])


def test_a_banner_names_the_assumption_that_most_statements_lack() -> None:
    wide, common = "wide_vocabulary", "single_common"
    [banner] = banners(audited([wide, common], [(wide, common), (wide,), (common, wide), (), (wide,)], silent=3))
    asks = "M >> K^2, read as M >= 10 K^2 for K classes"
    told = {"dataset": "d", "assumption": wide, "asks": asks, "witness": {"least": 3}}
    assert banner == told | {"kept": 3, "statements": 5}
    [half] = banners(audited([wide], [(wide,), (), ()], silent=2))
    assert half == told | {"kept": 1, "statements": 3}


@pytest.mark.parametrize(
    ("assumed", "silent"),
    [
        ([("wide_vocabulary",), (), (), ()], 1),  # one of four
        ([("wide_vocabulary",), (), (), ()], 3),  # the other two for reasons of their own
    ],
)
def test_no_banner_is_about_a_few_statements(assumed: list[tuple[str, ...]], silent: int) -> None:
    assert banners(audited(["wide_vocabulary"], assumed, silent)) == []


def row(claim: str) -> Row:
    return Row(
        LEDGER[claim],
        NTP if claim.startswith("ntp.") else SNAP,
        ReportRow(claim=claim, dataset="d", verdict=Verdict.HOLDS),
    )


def file(origin: str) -> Source:
    return Source(None, NTP, origin, sha256="ab")


def test_a_rows_command_has_the_settings_that_are_not_the_usual() -> None:
    usual = NTP.config()
    assert (
        command(row("ntp.lemma4"), file("section-7"), usual, None) == "marginaudit audit section-7 --claim ntp.lemma4"
    )
    other = replace(usual, steps1=30, at=(1, 10), lr2=0.5, optimizer="gd")
    assert command(row("ntp.lemma4"), file("my data.json"), other, "mine.py") == (
        "marginaudit audit 'my data.json' --claim ntp.lemma4 --steps1 30 --lr2 0.5 --at 1,10 --optimizer gd"
    )
    mine = replace(row("ntp.lemma4"), claim=replace(LEDGER["ntp.lemma4"], id="mine.first"))
    assert command(mine, file("d.json"), usual, "mine.py").endswith("--claim mine.first --claims mine.py")
    assert command(row("ntp.lemma4"), file("-d.txt"), usual, None) == "marginaudit audit ./-d.txt --claim ntp.lemma4"
    recorded = replace(file("d.json"), trajectory=RunFile(Path("run.npz")))
    assert command(row("ntp.lemma4"), recorded, usual, None) == (
        "marginaudit audit d.json --claim ntp.lemma4 --trajectory d=run.npz"
    )
    recorded = replace(file("d.json"), trajectory=RunFile(Path("ckpts"), ("W_kq = k.T @ q",)))
    assert command(row("ntp.lemma4"), recorded, usual, None).endswith("--trajectory d=ckpts --map 'W_kq = k.T @ q'")


@pytest.mark.parametrize(
    "name",
    [
        "Bildschirm\u202f10.json",
        "a\xa0b.json",
        "\t\n.json",
        "e\u202ecba.json",
        "\ue000'\\.json",
        "\udcff.json",
        "\U0001f468\u200d\U0001f33e.json",
    ],
)
def test_a_path_of_any_characters_is_given_again(name: str) -> None:
    """By bash, and by Python; in characters that can be seen."""
    source = file(name)
    given = command(row("ntp.lemma4"), source, NTP.config(), None)
    assert given.isprintable()
    words = given.removeprefix("marginaudit audit ").removesuffix(" --claim ntp.lemma4")
    echoed = subprocess.run(["bash", "-c", f"printf %s {words}"], capture_output=True, check=True).stdout
    assert os.fsdecode(echoed) == name
    mine = replace(row("ntp.lemma4"), claim=replace(LEDGER["ntp.lemma4"], id="mine.first"))
    in_python = command(mine, source, NTP.config(), None, in_python=True)
    assert ast.literal_eval(in_python.removeprefix("audit(").partition(", claims")[0]) == name


def test_what_is_in_python_alone_is_given_again_in_python() -> None:
    usual, case = NTP.config(), Source(None, NTP, "section-7")
    mine = replace(row("ntp.lemma4"), claim=replace(LEDGER["ntp.lemma4"], id="mine.first"))
    assert command(row("ntp.lemma4"), case, usual, None, in_python=True).startswith("marginaudit audit section-7 ")
    made_there = command(row("ntp.lemma4"), Source(None, NTP, IN_PYTHON), replace(usual, at=(1, 10)), None)
    assert made_there == "audit(data, claims='ntp.lemma4', config={'at': (1, 10)})  # data: d"
    assert command(mine, file("d.json"), usual, None, in_python=True) == (
        "audit('d.json', claims=claim)  # claim: mine.first"
    )
    assert command(mine, file("d.json"), usual, None) == "marginaudit audit d.json --claim mine.first"  # installed


def test_an_optional_number_of_a_rows_command() -> None:
    for certify, options in ((900, "--certify"), (901, "--certify 901")):
        given = command(row("ntp.lemma4"), file("d"), replace(NTP.config(), certify=certify), None)
        assert given == f"marginaudit audit d --claim ntp.lemma4 {options}"


def test_how_a_report_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    claims = tmp_path / "mine.py"
    claims.write_bytes(b"abc")
    found = provenance("marginaudit audit \x1b[31m", [claims])
    assert found["date"] == "2023-11-14T22:13:20Z"
    assert found["command"] == r"marginaudit audit \x1b[31m"
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2, appendix B.1
    assert found["files"] == {str(claims): digest}
    assert found["cpu"]
    assert found["commit"] is None or len(found["commit"]) >= 7
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "")
    assert provenance()["date"] > "2026"
    assert provenance()["command"] is None


def test_a_corrected_statement_is_named_where_what_it_corrects_was_not_audited() -> None:
    claim = LEDGER["snap.theorem4.closed-form.rederived"]
    audit: Any = SimpleNamespace(papers=[SNAP], rows=[SimpleNamespace(claim=claim, paper=SNAP)])
    assert statement_names(audit) == {claim.id: "Theorem 4, closed form, re-derived"}


def test_a_claim_of_ones_own_without_a_dot_has_its_id_for_a_name() -> None:
    own = replace(LEDGER["ntp.theorem1.direction"], id="my-bound", source="somebody, Theorem 4")
    assert statement_name(own, PAPERS[0], LEDGER) == "Theorem 4, my bound"
