"""The benchmarks of training and of audits run, compare like with like, and the PyTorch form is Algorithm 1."""

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from marginaudit.orders.ntp import free_dataset
from marginaudit.orders.snap import syn_medium
from marginaudit.reports.ntp.paper import PAPER as NTP
from marginaudit.training.ntp import train
from marginaudit.training.snap.sgd import Recipe
from tests.pages import ROOT, script

V, N = 6, 20


def load(name: str) -> ModuleType:
    return script(name, "benchmarks")


def row_printed(name: str, size: str) -> tuple[dict[str, str], str]:
    """The one row of the table that a benchmark prints for a size, by title, and all that it prints."""
    command = [sys.executable, str(ROOT / "benchmarks" / f"{name}.py"), size]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    titles, _, cells = (
        [cell.strip() for cell in line.strip("|").split("|")] for line in printed.splitlines() if line.startswith("|")
    )
    return dict(zip(titles, cells, strict=True)), printed


@pytest.mark.slow
def test_it_prints_a_table_of_what_is_installed() -> None:
    has_torch = load("training").HAS_TORCH
    row, printed = row_printed("training", f"{V},{N}")
    samples = free_dataset(V=V, N=N, L=8, seed=V).samples
    classes = {(s.query, frozenset(s.bag.items()), s.next) for s in samples}
    assert int(row["edges"]) == sum(len(bag) - 1 for _, bag, _ in classes)
    assert all(float(row[title].split()[0]) > 0 for title in ("compiled", "plain loops", "late", "NumPy"))
    assert all((row[title] != "–") == has_torch for title in row if "PyTorch" in title)
    assert f"V = {V}, N = {N}: one pass over what the formulas name of edges and classes" in printed
    assert ("pip install" in printed) != has_torch


@pytest.mark.parametrize("embedded", [True, False])
def test_the_pytorch_form_is_stage_2(embedded: bool) -> None:
    torch = pytest.importorskip("torch")
    pytorch = load("pytorch_algorithm1")
    dataset, steps, lr = free_dataset(V=V, N=N, L=8, seed=V, max_count=3), 60, 0.03
    trained = train(dataset, steps1=900, steps2=steps, lr2=lr)
    samples = pytorch.batch(dataset)
    E, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(V, V))) if embedded else (np.eye(V), None)
    if embedded:
        loss = pytorch.embedded_loss(samples, torch.from_numpy(E), torch.from_numpy(trained.B @ E))
    else:
        loss = pytorch.looked_up_loss(samples, torch.from_numpy(trained.B))
    W_kq = pytorch.stage2(loss, V, lr, steps).numpy()
    np.testing.assert_allclose(E @ W_kq @ E.T, trained.S, atol=1e-12)
    rounding = 1e-15  # of the difference of logits of about 12 that PyTorch takes
    assert float(loss(torch.from_numpy(W_kq))) == pytest.approx(trained.stage2.loss[-1], rel=1e-12, abs=rounding)


@pytest.mark.slow
def test_an_audit_is_compared_with_the_training_of_the_same_dataset() -> None:
    row, _ = row_printed("audit", "8")
    data = free_dataset(V=8, N=160, L=32, seed=8, optimal=(1, 2), non_optimal=(2, 4))
    assert (int(row["V"]), int(row["N"]), int(row["relations"])) == (data.V, data.N, len(data.relations))
    assert float(row["audit, s"]) > float(row["train, s"]) > 0
    assert float(row["audit, MB"]) > 0
    ratio = float(row["audit, s"]) / float(row["train, s"])
    assert float(row["audit / train"]) == pytest.approx(ratio, rel=0.3, abs=0)


def test_syn_medium_in_pytorch_finds_what_the_kernel_does() -> None:
    pytest.importorskip("torch")
    scan_snap, data, recipe = load("scan_snap"), syn_medium(2), Recipe(updates=6, batch=16)
    scan_snap.require_agreement(data, recipe, (4.0, 2.0))
    with pytest.raises(SystemExit, match=r"syn-medium-2, by_autograd: losses differ by .* relative, attention by "):
        scan_snap.require_agreement(data, recipe, (4.0, 2.0), shifted=0.01)
    cells = dict(zip(scan_snap.TITLES, scan_snap.compare(1, Recipe(updates=2, batch=4)), strict=True))
    assert (cells["num_last"], cells["M"]) == ("1", "33")
    for way in ("published", "lean"):
        ratio = float(cells[f"{way}, s"]) / float(cells["alone, s"])
        assert float(cells[f"{way} / alone"]) == pytest.approx(ratio, rel=0.02, abs=0.6)  # of rounded numbers


@pytest.mark.slow
def test_texts_are_realized_at_the_asked_for_size(tmp_path: Path) -> None:
    realize = load("realize")
    realize.write_text(tmp_path / "text.txt", 0.002)
    assert 2000 <= (tmp_path / "text.txt").stat().st_size < 3000
    row = {title: float(cell) for title, cell in row_printed("realize", "0.002")[0].items()}
    lines = (tmp_path / "text.txt").read_text().splitlines()
    assert row["samples"] == sum(min(len(line.split()) - 1, 32) for line in lines)
    assert 0 < row["part"] <= row["at most"] <= row["collocation"] <= 1
    assert row["seconds"] > 0
    assert row["peak, MB"] > 50


def test_what_the_shares_are_of_exists() -> None:
    names = [name for functions in load("audit").PARTS.values() for name in functions]
    assert all(
        callable(getattr(importlib.import_module(module), name)) for module, name in (n.split(":") for n in names)
    )


def test_a_benchmark_of_hunts_judges_the_same_datasets_each_time() -> None:
    (claim,) = (claim for claim in NTP.claims if claim.id == "ntp.lemma2")
    found = [load("hunt").measured(claim, NTP, 3) for _ in range(2)]
    assert [looked_at for looked_at, _, _ in found] == [6, 6]
    assert found[0][2].verdicts == found[1][2].verdicts
    assert 0 < found[0][2].verdicts.total() <= 6
