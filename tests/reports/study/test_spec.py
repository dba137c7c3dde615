"""A spec is read whole, and refused in one line before anything runs."""

import json
from pathlib import Path

import pytest

from marginaudit.orders import InputError
from marginaudit.reports.command.arguments import papers
from marginaudit.reports.study.spec import MOST_RUNS, built_in, find_spec
from tests.command_line import Command
from tests.reports.study.specs import FIGURE, ODD, odd_spec, written

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_a_spec() -> None:
    spec = odd_spec()
    assert [made.columns for made in spec.data] == [{"N": 1}, {"N": 4}]
    assert [spec.settings(config) for config in spec.configs] == [{"rate": r, "what": "well"} for r in (0.5, 1.0, 2.0)]
    assert (spec.seeds, spec.keep, spec.cell, spec.runs, spec.layout) == (
        (0, 1, 2),
        ("end", "word"),
        ("N", "rate"),
        18,
        None,
    )
    other = ODD.replace("seeds = 3", "seeds = [7, 2]\nkeep = ['e*']").replace("[1, 4]", "4")
    spec = odd_spec(other + "what = ['well', 'slow']\n")
    assert (spec.seeds, spec.keep, spec.cell) == ((7, 2), ("end",), ("rate", "what"))
    assert [(config.rate, config.what) for config in spec.configs][:3] == [(0.5, "well"), (0.5, "slow"), (1.0, "well")]
    assert odd_spec(ODD.replace("seeds = 3", "")).seeds == (0,)


def test_files_and_cases_are_data() -> None:
    Path("sub").mkdir()
    Path("sub/own.json").write_text(json.dumps({"numbers": [1, 5]}))
    text = 'paper = "odd"\n[data]\nfiles = ["three-numbers", "own.json"]\n'
    spec = find_spec(str(written(text, "sub/files.toml")), papers())
    assert [made.columns for made in spec.data] == [{"dataset": "three-numbers"}, {"dataset": "own"}]
    assert [made.document for made in spec.data] == [
        {"name": "three-numbers", "numbers": [1.0, 2.0, 6.0]},
        {"name": "own", "numbers": [1.0, 5.0]},
    ]
    assert (spec.name, spec.cell) == ("files", ("dataset",))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (("paper", "papers"), "/papers: got an unknown key, expected one of paper, data, settings, seeds"),
        (('"odd"', '"nope"'), "/paper: got 'nope', expected one of ntp, snap, odd"),
        (('"odd"', "3"), "/paper: got 3, expected a string"),
        (("seeds = 3", "seeds = 0"), "/seeds: got 0, expected a whole number from 1"),
        (("seeds = 3", "seeds = [1, -1]"), "/seeds: got -1, expected a whole number from 0"),
        (("seeds = 3", "keep = 'end'"), "/keep: got 'end', expected an array"),
        (("seeds = 3", "keep = []"), "/keep: got an array of 0 entries, expected at least 1"),
        (("seeds = 3", "keep = ['no*']"), "/keep: got 'no*', which is no result, expected one of end, word"),
        (('generator = "counting"', ""), "/data/generator: got None, expected files, or one of counting"),
        (("counting", "nope"), "/data/generator: got 'nope', expected files, or one of counting"),
        (("N = [1, 4]", ""), "/data/N: got nothing, expected a whole number from 1 to 1e6"),
        (("N = [1, 4]", "N = 0"), "/data/N: got 0, expected a whole number from 1 to 1e6"),
        (("N = [1, 4]", "N = 1\nM = 2"), "/data: got 'M', expected one of N"),
        (("N = [1, 4]", "N = 1\nfiles = []"), "/data/generator: got an unknown key, expected one of files"),
        (('generator = "counting"\nN = [1, 4]', "files = ['x', 1]"), "/data/files/1: got 1, expected a string"),
        (
            ('generator = "counting"\nN = [1, 4]', "files = ['three-numbers', 'three-numbers']"),
            "/data/files: got two datasets named 'three-numbers', expected distinct names",
        ),
        (("rate =", "rat ="), "/settings: got 'rat', expected one of rate, what"),
        (("[0.5, 1, 2]", "0.5\nwhat = 'no'"), "/settings/what: got 'no', expected one of well"),
        (("[settings]", "settings = 3\n[figure]"), ""),
    ],
)  # fmt: skip
def test_refusals(change: tuple[str, str], error: str) -> None:
    assert change[0] in ODD
    with pytest.raises(InputError) as refused:
        odd_spec(ODD.replace(*change))
    assert str(refused.value).startswith(f"odd.toml: {error}")
    assert "\n" not in str(refused.value)


def test_what_is_no_toml_and_a_file_that_is_not_there() -> None:
    with pytest.raises(InputError, match=r"^odd.toml: got Invalid value \(at line 2, column 9\), expected TOML$"):
        odd_spec(ODD.replace("paper = ", "paper = = "))
    with pytest.raises(InputError, match=r"^x\.json: got No such file"):
        odd_spec(ODD.replace('generator = "counting"\nN = [1, 4]', "files = ['x.json']"))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (('y = "end"', 'y = "word"'), "/y: got 'word', expected a result that is a number and kept: one of end"),
        (('x = "rate"', ""), ": got no key 'x', expected one"),
        (('x = "rate"', 'x = "what"'), ": got x, panel, line for one of what, N, expected each list or range once"),
        (('line = "N"', ""), ": got x, panel, line for one of rate, expected each list or range once: one of N, rate"),
        (('line = "N"', 'line = "rate"'), ": got x, panel, line for one of rate, rate, expected"),
        (('line = "N"', 'panel = 3'), "/panel: got 3, expected a string"),
    ],
)  # fmt: skip
def test_refusals_of_figures(change: tuple[str, str], error: str) -> None:
    assert odd_spec(ODD + FIGURE).layout is not None
    with pytest.raises(InputError) as refused:
        odd_spec(ODD + FIGURE.replace(*change))
    assert str(refused.value).startswith(f"odd.toml: /figure{error}")


def test_too_many_runs() -> None:
    for text in (
        ODD.replace("seeds = 3", f"seeds = {MOST_RUNS}"),
        ODD.replace("[1, 4]", "{from = 1, to = 9999, step = 1}") + "what = ['well', 'slow']",
    ):
        spec = text if "seeds = 3" not in text else text.replace("[0.5, 1, 2]", "{from = 1, to = 500, step = 1}")
        with pytest.raises(InputError, match=f"odd.toml: got [0-9]* (runs|combinations), expected at most {MOST_RUNS}"):
            odd_spec(spec)


def test_what_is_no_spec_is_refused(command: Command) -> None:
    assert command.refused("sweep", "nope") == "'nope': got no built-in sweep, expected a .toml file, or one of snap-6"
    assert command.refused("sweep", "nope.toml").startswith("nope.toml: got No such file")
    Path("bad.toml").write_bytes(b"\xff")
    assert command.refused("sweep", "bad.toml").startswith("bad.toml: ")
    Path("deep.toml").write_text("a = " + "[" * 5000)
    assert command.refused("sweep", "deep.toml").startswith("deep.toml: ")
    assert sorted(path.name for path in Path().iterdir()) == ["bad.toml", "deep.toml"]


def test_figure_6_is_the_grid_of_the_paper() -> None:
    spec = find_spec("snap-6", papers())
    assert [made.columns["num_last"] for made in spec.data] == [1, 3, 5, 10]
    assert [config.rates for config in spec.configs] == [
        (ratio * lr_z, lr_z) for lr_z in (0.5, 1.0, 2.0, 3.0) for ratio in (1, 2, 5, 10)
    ]
    assert (spec.seeds, spec.keep, spec.cell) == (tuple(range(10)), ("entropy",), ("num_last", "lr_z", "ratio"))


def test_every_built_in_sweep_and_every_example_is_a_spec_with_a_figure() -> None:
    examples = [str(path) for path in EXAMPLES.glob("*.toml") if path.name != "audit.toml"]
    assert examples
    for name in (*built_in(papers()), *examples):
        assert find_spec(name, papers()).layout is not None
