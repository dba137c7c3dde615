"""Statements with one constant over all instances of a file: a row above theirs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marginaudit import AllInstances, Bounded, Claim, Series, audit, instance
from marginaudit.orders import InputError
from tests.command_line import Command

FILE = '''\
import numpy as np
from marginaudit import AllInstances, Bounded, Claim, NotChecked, Series, WithProbability
INSTANCES = {f"d{2**k}": dict(d=2**k, odd=k % 2) for k in range(1, 10)}

def even(of):
    """k is even"""
    return of.odd == 0

about = dict(source="Theorem 2", formula="x", statement="..")
CLAIMS = [
    Claim(id="mine.each", **about, judgement=Bounded(lambda of: of.d, upper=lambda of, _: 2**16)),
    Claim(id="mine.one-constant", **about, judgement=AllInstances(
        lambda of: Series(np.array([3.0 * of.d]), 0.0), shape=lambda of: of.d, size=lambda of: of.d)),
    Claim(id="mine.of-even", **about, assumptions=(even,), judgement=AllInstances(
        lambda of: Series(np.array([of.d ** (1.0 + of.odd)]), 0.0), shape=lambda of: of.d, size=lambda of: of.d)),
    Claim(id="mine.often", **about, judgement=WithProbability(
        lambda of, rng, n: rng.random(n), lambda _: 0.5, upper=lambda of, t: 0.8, n=500)),
    Claim(id="mine.minimax", **about, judgement=NotChecked("it is about all algorithms")),
]
'''


def test_the_row_of_all_instances_is_the_first(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(FILE, encoding="utf-8")
    report = command.json("audit", "--claims", path, "--out", tmp_path / "report")
    assert [data["name"] for data in report["datasets"]] == ["all-instances", *(f"d{2**k}" for k in range(1, 10))]
    first = [(row["claim"], row["verdict"]) for row in report["verdicts"] if row["dataset"] == "all-instances"]
    assert first == [("mine.one-constant", "holds"), ("mine.of-even", "holds")]
    assert {row["quantifier"] for row in report["verdicts"][:2]} == {"all instances"}
    assert report["verdicts"][1]["detail"].startswith("4 instances of 4 sizes.")
    assert len(report["verdicts"]) == 2 + 3 * 9
    sampled = {row["evidence"] for row in report["verdicts"] if row["claim"] == "mine.often"}
    assert sampled == {"sampled"}
    told = command("audit", "--claims", path, "--out", tmp_path / "report").out
    assert "29 verdicts: 9 not-checked, 20 holds." in told
    page = (tmp_path / "report/report.html").read_text(encoding="utf-8")
    assert "9 are not checked" not in page  # a statement counts once
    assert "1 is not checked" in page
    assert "99 %, n = 500, seed 0" in page
    alone = ("audit", "all-instances", "--claims", path, "--claim", "mine.one-constant", "--out", tmp_path / "report")
    assert [row["dataset"] for row in command.json(*alone)["verdicts"]] == ["all-instances"]


def of_sizes(count: int, power: float) -> Any:
    linear = AllInstances(
        lambda x: Series(np.array([float(x.d) ** power]), 0.0), shape=lambda x: x.d, size=lambda x: x.d
    )
    claim = Claim(id="mine.all", source="", statement="", formula="x", judgement=linear)
    data = [instance(f"d{k}", d=2**k) for k in range(count)]
    return audit(data, claims=claim).verdict("mine.all", "all-instances" if count > 0 else None)


@pytest.mark.parametrize(
    ("count", "power", "verdict"), [(20, 1.0, "holds"), (20, 1.5, "violated"), (3, 1.0, "inconclusive")]
)
def test_from_python_instances_are_judged_together(count: int, power: float, verdict: str) -> None:
    assert of_sizes(count, power).verdict == verdict


def test_an_assumption_that_no_instance_meets_is_named() -> None:
    def never(_: Any) -> bool:
        return False

    judgement = AllInstances(lambda x: 1, shape=lambda x: 1, size=lambda x: 1)
    claim = Claim(id="mine.all", source="", statement="", formula="x", assumptions=(never,), judgement=judgement)
    row = audit([instance("a", d=1), instance("b", d=2)], claims=claim).verdict("mine.all", "all-instances")
    assert (row.verdict, row.failed_assumption) == ("not-applicable", "never")
    each = replace(claim, id="mine.each", judgement=Bounded(lambda x: 1, upper=lambda x, _: 1), assumptions=())
    assert audit(instance("a", d=1), claims=each).audited[0].name == "a"
    with pytest.raises(InputError, match="claims about other data alone"):
        audit("example-1", claims=claim)
