"""Claims about named instances: a file of 25 lines, judged, shown, compared and kept as any."""

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import numpy as np
import pytest

from marginaudit import Bounded, Claim, Series, audit, by_formula, instance
from marginaudit.claims.instances.instance import KIND, Instance, named
from marginaudit.claims.instances.paper import INSTANCES
from marginaudit.claims.verdict import Verdict
from marginaudit.orders import InputError
from marginaudit.reports.bound_constants.measure import measured
from marginaudit.reports.page.theorems import statement_name
from tests.command_line import Command

WARMUP = '''\
"""Consequences of the condition of arXiv 2510.03164, f'' <= H0 + H1 (f - min f), for f(x) = x^2/2 + a x^4."""
from fractions import Fraction as F
from marginaudit import Bounded, Claim, instance

@instance
def quartic():
    return dict(a=F(1), H0=F(2), H1=F(13), x=F(1, 2))
INSTANCES = {"steep": dict(a=F(3), H0=F(2), H1=F(24), x=F(2)), "flat": dict(a=F(0), H0=F(1), H1=F(0), x=F(5))}
f = lambda p, x: x**2 / 2 + p.a * x**4
slope = lambda p, x: x + 4 * p.a * x**3
curvature = lambda p, x: 1 + 12 * p.a * x**2
allowed = lambda p: p.H0 + p.H1 * f(p, p.x)
moved = lambda p, share: p.x - share * slope(p, p.x) / allowed(p)
def condition(p):
    """f'' <= H0 + H1 (f - min f) at x"""
    return curvature(p, p.x) <= allowed(p)

about = dict(source="arXiv 2510.03164, its condition for this f", scale="reduced")
CLAIMS = [
    Claim(id="warmup.condition", **about, statement="f'' <= H0 + H1 f", formula=r"f''\\le H_0+H_1f",
          judgement=Bounded(lambda p: curvature(p, p.x), upper=lambda p, _: allowed(p))),
    Claim(id="warmup.step", **about, statement="A step 1/(H0 + H1 f) decreases f.", formula=r"f(x^+)\\le f(x)",
          assumptions=(condition,), judgement=Bounded(lambda p: f(p, moved(p, 1)), upper=lambda p, _: f(p, p.x))),
    Claim(id="warmup.long", **about, control_of="warmup.step", statement="So does a step of 9 times its length.",
          formula=r"f(x^{++})\\le f(x)", judgement=Bounded(lambda p: f(p, moved(p, 9)), upper=lambda p, _: f(p, p.x)))]
'''

ABOUT: dict[str, Any] = {"source": "a test", "statement": "K <= 1", "formula": "K"}


def below(limit: Any) -> Bounded:
    return Bounded(measure=lambda x: x["K"], upper=lambda x, _: limit)


BELOW = Claim(id="mine.below", **ABOUT, judgement=below(1))


def test_a_file_of_25_lines_is_judged(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "warmup.py"
    path.write_text(WARMUP, encoding="utf-8")
    assert len(WARMUP.splitlines()) == 25
    rows = command.json("audit", "--claims", path, "--out", tmp_path / "report")["verdicts"]
    found = {(row["claim"].removeprefix("warmup."), row["dataset"]): row for row in rows}
    verdicts = {key: (row["verdict"], row["evidence"]) for key, row in found.items()}
    assert verdicts == {
        ("condition", "quartic"): ("holds", "exact"),
        ("condition", "steep"): ("holds", "exact"),
        ("condition", "flat"): ("holds", "exact"),
        ("step", "quartic"): ("holds", "exact"),
        ("step", "steep"): ("holds", "exact"),
        ("step", "flat"): ("holds", "exact"),
        ("long", "quartic"): ("violated", "exact"),
        ("long", "steep"): ("holds", "exact"),  # there the step is short, as H1 f is large
        ("long", "flat"): ("violated", "exact"),
    }
    assert {row["scale"] for row in rows} == {"reduced"}
    assert {row["form"] for key, row in found.items() if key[0] == "long"} == {"control"}


def test_one_instance_is_named_as_a_dataset_and_again_by_the_command_of_the_page(
    command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "warmup.py"
    path.write_text(WARMUP, encoding="utf-8")
    only = ("audit", "steep", "--claim", "warmup.step", "--claims", path, "--out", tmp_path / "report")
    assert [row["dataset"] for row in command.json(*only)["verdicts"]] == ["steep"]
    page = (tmp_path / "report/report.html").read_text(encoding="utf-8")
    assert f"marginaudit audit steep --claim warmup.step --claims {path}" in page
    assert "condition (f&#39;&#39; &lt;= H0 + H1 (f - min f) at x)" in page
    assert ">our " not in page
    assert "Assumptions that fail" not in page
    assert "<dt>Settings</dt>" not in page


NOWHERE = """\
from dataclasses import replace
from marginaudit import Bounded, Claim
INSTANCES = {"two": {"n": 2}}
def odd(of):
    return of.n % 2 == 1
TRUE = Claim(id="a.true", source="s", theorem="Markov", statement="n <= 2", assumptions=(),
             judgement=Bounded(lambda of: of.n, upper=lambda of, _: 2))
CLAIMS = [TRUE, replace(TRUE, id="a.false", control_of="a.true", statement="n <= 1", assumptions=(odd,),
                        judgement=Bounded(lambda of: of.n, upper=lambda of, _: 1))]
"""


def test_a_theorem_without_a_number_is_named_as_the_claim_says() -> None:
    claim = Claim(
        id="a.mine", source="s, Lemma 2", theorem="Markov", statement="", judgement=Bounded(len, upper=lambda *_: 2)
    )
    assert statement_name(claim, INSTANCES, {}) == "Markov"
    assert statement_name(replace(claim, theorem=""), INSTANCES, {}) == "Lemma 2, mine"


def test_a_control_is_counted_apart(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "warmup.py"
    path.write_text(WARMUP, encoding="utf-8")
    answer = command("audit", "--claims", path, "--out", tmp_path / "report", "--fail-on", "violated")
    assert answer.status == 0
    assert "6 verdicts: 6 holds.\n1 of 1 control notices the mistake." in answer.out
    page = (tmp_path / "report/report.html").read_text(encoding="utf-8")
    assert "None of 2 statements fails here; 1 of 1 control notices the mistake." in page
    assert page.count('holds">control: notices the mistake</span>') == 2
    assert page.count('holds">control: noticed on quartic, flat; true on steep</span>') == 1
    assert "not noticed" not in page
    assert 'id="findings"' not in page
    path.write_text(WARMUP.replace("moved(p, 9)", "moved(p, 1)"), encoding="utf-8")
    answer = command("audit", "--claims", path, "--out", tmp_path / "report")
    assert "0 of 1 control notices the mistake; not warmup.long." in answer.out
    page = (tmp_path / "report/report.html").read_text(encoding="utf-8")
    assert page.count('violated loud">control: not noticed</span>') == 3


def test_a_step_left_out_is_to_be_recorded(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "halves.py"
    path.write_text(
        NOWHERE.replace("lambda of: of.n, upper=lambda of, _: 2", "halves, upper=lambda of, _: 2")
        .replace("TRUE =", "def halves(of):\n    return iterate(lambda x: x / 2, Fraction(1), of.n and LAST)\nTRUE =")
        .replace("import replace", "import replace\nfrom fractions import Fraction\nfrom marginaudit import iterate"),
        encoding="utf-8",
    )
    whole, kept = path.read_text(encoding="utf-8"), {}
    assert "upper=lambda of, _: 2)" in whole
    for last, bound in (("200", "2.0"), ("[1, 50]", "2.0")):
        path.write_text(whole.replace("LAST", last).replace(": 2)", f": {bound})", 1), encoding="utf-8")
        (kept[last],) = command.json("audit", "--claims", path, "--claim", "a.true", "--out", tmp_path / "r")[
            "verdicts"
        ]
    assert [row["verdict"] for row in kept.values()] == ["holds", "inconclusive"]
    assert "was recorded; record 20 steps a decade. At" in kept.pop("[1, 50]")["detail"]
    kept.clear()
    for last in ("range(1, 51)", "50"):
        path.write_text(whole.replace("LAST", last), encoding="utf-8")
        (kept[last],) = command.json("audit", "--claims", path, "--claim", "a.true", "--out", tmp_path / "r")[
            "verdicts"
        ]
    assert [row["verdict"] for row in kept.values()] == ["holds", "inconclusive"]
    assert "was recorded; record every step, such as at=range(1, T + 1). At" in kept["50"]["detail"]


def test_a_control_that_applies_nowhere_is_not_counted_as_missed(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "warmup.py"
    path.write_text(NOWHERE, encoding="utf-8")
    answer = command("audit", "--claims", path, "--out", tmp_path / "report")
    assert "1 verdict: 1 holds.\n1 control not applicable." in answer.out
    only = command("audit", "--claims", path, "--claim", "a.false", "--out", tmp_path / "alone")
    assert "1 control not applicable." in only.out
    assert "0 verdicts" not in only.out
    assert ">1 control not applicable." in (tmp_path / "alone/report.html").read_text(encoding="utf-8")


def test_a_control_noticed_on_many_instances_names_three(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "warmup.py"
    more = ", ".join(f'"flat-{n}": dict(a=F(0), H0=F(1), H1=F(0), x=F({n}))' for n in (1, 2, 3))
    path.write_text(WARMUP.replace("INSTANCES = {", "INSTANCES = {" + more + ", "), encoding="utf-8")
    assert command("audit", "--claims", path, "--out", tmp_path / "report").status == 0
    page = (tmp_path / "report/report.html").read_text(encoding="utf-8")
    assert "control: noticed on quartic, flat-1, flat-2 and 2 more; true on steep" in page


def test_a_control_that_is_no_longer_violated_is_worse(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "warmup.py"
    for name, step in (("old", "moved(p, 9)"), ("new", "moved(p, 1)")):
        path.write_text(WARMUP.replace("moved(p, 9)", step), encoding="utf-8")
        assert command("audit", "--claims", path, "--out", tmp_path / name).status == 0
    for names, status in ((("old", "new"), 1), (("new", "old"), 0)):
        sides = [tmp_path / name for name in names]
        assert command("compare", *sides, "--fail-on", "worse").status == status


@pytest.mark.parametrize(
    ("K", "verdict", "evidence"),
    [
        (Fraction(1), "holds", "exact"),
        (Fraction(1) + Fraction(1, 10**40), "violated", "exact"),
        (flint.arb(1) / 3, "holds", "certified"),
        (flint.arb(1, 1e-3), "inconclusive", "certified"),
        (by_formula(1.5), "violated", "float64"),
    ],
)
def test_a_judgement_alone_decides(K: Any, verdict: str, evidence: str) -> None:
    found = below(1).judge({"K": K})
    assert (found.verdict, found.evidence) == (verdict, evidence)
    row = audit(instance("one", K=K), claims=BELOW).verdict("mine.below")
    assert (row.verdict, row.evidence) == (verdict, evidence)


def test_a_float_needs_an_error_bar() -> None:
    detail = audit(instance("one", K=0.5), claims=BELOW).verdict("mine.below").detail
    assert detail == (
        "Its code returned a value of type float as measure, expected a Series, or Fractions, integers or balls; "
        "floats need error bars."
    )


def test_instances_are_dicts_or_dataclasses() -> None:
    @dataclass
    class Step:
        K: int

    @instance
    def steep() -> Step:
        return Step(3)

    claim = replace(BELOW, id="mine.step", judgement=Bounded(lambda x: x.K, upper=lambda x, _: 1))
    report = audit([steep, instance("flat", K=1)], claims=claim)
    assert [report.verdict("mine.step", name).verdict for name in ("steep", "flat")] == ["violated", "holds"]
    for value in ({}, {1: 2}, 3, Step):
        with pytest.raises(InputError, match="expected a dict of values by name, or a dataclass"):
            named("bad", value)
    with pytest.raises(AttributeError, match="got no value L, expected one of K"):
        instance("flat", K=1).value.L  # noqa: B018


def test_a_failing_assumption_of_ones_own_is_named_with_the_values() -> None:
    def small(x: Any) -> bool:
        return bool(x.K < 1)

    claim = replace(BELOW, id="mine.small", assumptions=(small,))
    row = audit(instance("one", K=Fraction(3, 2)), claims=claim).verdict("mine.small")
    assert (row.verdict, row.failed_assumption, row.witness) == ("not-applicable", "small", {"K": "3/2"})


def test_an_assumption_returns_true_or_false_and_has_a_name() -> None:
    def forgetful(x: Any) -> Any:
        return None

    claim = replace(BELOW, id="mine.forgetful", assumptions=(forgetful,))
    row = audit(instance("one", K=1), claims=claim).verdict("mine.forgetful")
    assert (row.verdict, row.detail) == (
        "broken",
        "Its code returned None as assumption forgetful, expected True or False.",
    )
    with pytest.raises(ValueError, match="expected a name or a function with one"):
        replace(BELOW, id="mine.nameless", assumptions=(lambda x: True,))


def test_documents_keep_fractions() -> None:
    data = instance("edge", K=Fraction(7, 2), n=3, x=(Fraction(1, 3), 0.5), mode="wide")
    document = KIND.to_document(data)
    assert json.loads(json.dumps(document)) == document
    assert document["instance"] == {"K": "7/2", "n": 3, "x": ["1/3", 0.5], "mode": "wide"}
    again = KIND.from_document(document, "here", "other")
    assert isinstance(again, Instance)
    assert again.values == data.values | {"x": [Fraction(1, 3), 0.5]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("INSTANCES = 3\nCLAIMS = ()", "got 3 as INSTANCES, expected a dict of instances by name"),
        ("INSTANCES = {'a': 3}\nCLAIMS = ()", "instance a: got 3, expected a dict of values by name, or a dataclass"),
        (
            "a = instance('a', K=1)\nINSTANCES = {'a': dict(K=2)}",
            "instance a: got a name that another has, expected one of its own",
        ),
        (
            "CLAIMS = [Claim(id='a', source='', statement='', formula='x', judgement=Bounded(max, max),"
            "paper='instances')]",
            "claim a: got no instance to judge it on, expected INSTANCES, or a function marked @instance, in its file",
        ),
        (
            "a = instance('a', K=1)\n"
            "CLAIMS = [Claim(id='b', source='', statement='', formula='x', judgement=Bounded(max, max),"
            "control_of='c')]",
            "claim b: got a control of 'c', expected the id of another claim",
        ),
    ],
)
def test_mistakes_of_a_file_are_named(command: Command, tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(f"from marginaudit import Bounded, Claim, instance\n{text}\n", encoding="utf-8")
    assert command.refused("audit", "--claims", path).endswith(said)


def test_claims_about_instances_and_about_runs_stand_in_one_file(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "both.py"
    path.write_text(
        WARMUP + "CLAIMS.append(Claim(id='warmup.run', source='', statement='', formula='x',"
        "assumptions=('collocation',), judgement=Bounded(lambda run: run.dataset.V, lower=lambda run, _: 1)))\n",
        encoding="utf-8",
    )
    options = ("--only-mine", "--claims", path, "--steps1", "9", "--steps2", "9", "--out", tmp_path / "report")
    rows = command.json("audit", *options)["verdicts"]
    assert {row["dataset"] for row in rows if row["claim"] == "warmup.run"} == {"example-1", "section-7", "free-20"}
    assert {row["dataset"] for row in rows if row["claim"] == "warmup.step"} == {"quartic", "steep", "flat"}
    assert len(rows) == 9 + 3


def test_a_claim_about_instances_is_judged_on_no_other_data() -> None:
    assert INSTANCES.judges(BELOW)
    assert not INSTANCES.judges(replace(BELOW, paper="ntp"))
    assert not INSTANCES.judges(replace(BELOW, assumptions=("collocation",)))
    with pytest.raises(InputError, match="claims about other data alone"):
        audit(instance("one", K=1), claims="ntp.lemma6")


def test_a_series_of_an_instance_is_plotted_and_the_fixture_keeps_its_row() -> None:
    halved = Bounded(
        lambda x: Series(np.array([x.K / 2**t for t in range(1, 9)]), 1e-15, np.arange(1, 9)),
        upper=lambda x, t: x.K / t,
    )
    claim = replace(BELOW, id="mine.halved", judgement=halved)
    one = instance("one", K=1.0)
    report = audit(one, claims=claim)
    assert report.verdict("mine.halved").verdict == "holds"
    assert report.plot("mine.halved").axes
    finding, row = measured(claim, one, None, None)
    assert finding.verdict == "holds"
    assert (row.dataset, row.slack) == ("one", 2.0)


def test_outside_its_setting_a_claim_is_not_applicable() -> None:
    def small(x: Any) -> bool:
        return bool(x.K < 1)

    inside = replace(BELOW, setting=("small",), predicates={"small": small})
    assert audit(instance("half", K=Fraction(1, 2)), claims=inside).verdict("mine.below").verdict == "holds"
    row = audit(instance("one", K=Fraction(1)), claims=inside).verdict("mine.below")
    assert (row.verdict, row.failed_assumption) == ("not-applicable", "small")


def test_an_instance_without_the_subject_has_no_row_and_an_error_of_absent_is_reported() -> None:
    def failing(of: Any) -> str | None:
        raise KeyError(of.shape)

    wide = Claim(
        id="mine.wide",
        source="Lemma 1",
        statement="K >= 0.",
        assumptions=(),
        judgement=Bounded(lambda of: of.K, lower=lambda *_: 0),
        absent=lambda of: None if of.shape == "wide" else "another shape",
    )
    claims = [wide, replace(wide, id="mine.broken", absent=failing)]
    found = audit([instance("a", K=1, shape="wide"), instance("b", K=1, shape="long")], claims=claims)
    rows = [(row.finding.claim, row.finding.dataset, row.finding.verdict) for row in found.rows]
    assert sorted(rows) == [
        ("mine.broken", "a", Verdict.BROKEN),
        ("mine.broken", "b", Verdict.BROKEN),
        ("mine.wide", "a", Verdict.HOLDS),
    ]


def precisions(judged: Any) -> Any:
    """Finding on an instance, and the bits in which the measure was called."""
    bits: list[int] = []

    def measure(x: Any) -> Any:
        bits.append(flint.ctx.prec)
        return judged(x)

    claim = Claim(id="mine", **ABOUT, assumptions=(), judgement=Bounded(measure, upper=lambda x, _: 1))
    return claim.judge(INSTANCES.run(instance("edge", n=100))), bits


def test_balls_get_more_bits_until_a_claim_is_decided() -> None:
    """Of 2^60 e - 2^60 e, 53 bits leave more than 1, and 106 bits less."""

    def near(sign: int) -> Any:
        return lambda _: 2**60 * flint.arb(1).exp() - 2**60 * flint.arb(1).exp() + 1 + flint.arb(sign) / 2

    for sign, verdict in ((1, Verdict.VIOLATED), (-1, Verdict.HOLDS)):
        found, bits = precisions(near(sign))
        assert (found.verdict, found.evidence.value, bits) == (verdict, "certified", [53, 106])
        assert found.detail.endswith("Balls of 106 bits decide it.")


def test_more_bits_end_at_a_cap_or_where_they_change_nothing() -> None:
    found, bits = precisions(lambda x: flint.arb(2).sqrt() ** 2 / 2)
    assert found.verdict is Verdict.HOLDS  # as narrow as an equality may be
    found, bits = precisions(lambda x: flint.arb(1, 0.5))
    assert (found.verdict, bits) == (Verdict.INCONCLUSIVE, [53, 106])
    found, bits = precisions(lambda x: 1 + flint.arb(0, 1) / flint.ctx.prec)
    assert (found.verdict, bits[-1] // 2 < 4096 <= bits[-1]) == (Verdict.INCONCLUSIVE, True)
    found, bits = precisions(lambda x: Series(np.array([1.0]), 0.5))
    assert (found.verdict, bits) == (Verdict.INCONCLUSIVE, [53])
