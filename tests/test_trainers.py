"""`Recorder(map=..)` in a trainer: the code of docs/trainers.md on small models made at random."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginaudit
from marginaudit.orders import InputError
from marginaudit.orders.ntp import CASES
from marginaudit.record import Recorder
from marginaudit.training.weight_files.run_file import RunFile, Target, read_weights
from tests.command_line import Command
from tests.pages import ROOT
from tests.training.ntp.recorded.program import run

DATA = CASES["example-1"]()
V, N = DATA.V, DATA.N
TARGETS = {"W_ov": Target("step1", ((V, V),)), "W_kq": Target("step2", ((V, V),))}
RULE = "W_kq = k.weight.T @ q.weight / sqrt(2) + q.bias[:, None]"
RNG = np.random.default_rng(0)


def of_page(heading: str) -> dict[str, Any]:
    """What the code below a heading of the page defines."""
    page = (ROOT / "docs" / "trainers.md").read_text(encoding="utf-8")
    _, _, section = page.partition(f"\n## {heading}\n")
    code = re.search(r"^```python\n(.*?)^```$", section, re.S | re.M)
    assert code is not None
    names: dict[str, Any] = {}
    exec(code[1], names)
    return names


def test_the_tensors_of_a_map_are_kept_with_their_rule(tmp_path: Path) -> None:
    """Vectors and constant tensors too, nested or with a prefix; and the step size and minibatches beside them."""
    rule, recorder = RULE.replace("q.bias", "q.b"), Recorder(lr2=0.25, map=RULE.replace("q.bias", "q.b"))
    k, q, b = (RNG.normal(size=(4, *shape)) for shape in ((2, V), (2, V), (V,)))
    for t in range(4):
        recorder.tensors(t, {"net": {"k": {"weight": k[0]}, "q": {"weight": q[t], "b": b[t]}}, "other": None})
    recorder.batch(1, [0, 2])
    recorder.save(tmp_path / "run.npz")
    assert (tmp_path / "run.npz.map").read_text(encoding="utf-8") == f"{rule}\n"
    found = read_weights(RunFile(tmp_path / "run.npz"), TARGETS, ("lr1", "lr2"), ("batch",))
    record = found.records["W_kq"]
    assert record.step.tolist() == [0, 1, 2, 3]
    for t, W in enumerate(record.weights):
        np.testing.assert_allclose(W, k[0].T @ q[t] / 2**0.5 + b[t][:, None], rtol=1e-14)
    assert found.scalars == {"lr1": None, "lr2": 0.25}
    assert found.others["batch"].tolist() == [[0, 2]]


def test_tensors_that_do_not_fit_are_refused_when_they_are_recorded() -> None:
    recorder = Recorder(map="W_kq = k.T @ q")
    k = np.ones((2, V))
    for tensors, said in (
        ({"k": k}, "map:1: got no tensor 'q', expected one of k"),
        ({"k": k, "q": np.ones((3, V))}, "map:1: got a product of 4x2 and 3x4"),
        (
            {"k": k, "q": np.ones((2, V), int)},
            "q: got int64 of shape .*, expected a float32 or float64 array of one to",
        ),
    ):
        with pytest.raises(InputError, match=said):
            recorder.tensors(0, tensors)
    recorder.tensors(0, {"k": k, "q": k})
    with pytest.raises(InputError, match="q at step 1: got float64 of shape"):
        recorder.tensors(1, {"k": k, "q": np.ones((2, 3))})
    with pytest.raises(InputError, match="step_of_all: got step 0 after step 0, expected steps that increase"):
        recorder.tensors(0, {"k": k, "q": k})
    with pytest.raises(InputError, match=r"step2 at step 1: got a recorder with a map, expected Recorder.tensors"):
        recorder.stage2(1, np.eye(V))
    with pytest.raises(InputError, match=r"Recorder.tensors: got no map"):
        Recorder().tensors(0, {})
    with pytest.raises(InputError, match="map:1: got 'W', expected a rule"):
        Recorder(map=["W = k"])


def gpt2() -> Any:
    """A random GPT-2 of one layer and two heads, and the samples as its training data."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    config = transformers.GPT2Config(vocab_size=V, n_positions=8, n_embd=64, n_layer=1, n_head=2)
    longest = max(len(sample.tokens) for sample in DATA.samples) + 1
    rows = []
    for sample in DATA.samples:
        ids = [DATA.index[token] for token in (*sample.tokens, sample.next)]
        blank = [0] * (longest - len(ids))
        labels = [*blank, *[-100] * (len(ids) - 1), ids[-1]]
        rows.append({"input_ids": blank + ids, "labels": labels, "attention_mask": [*blank, *[1] * len(ids)]})
    return transformers.GPT2LMHeadModel(config), rows


def trained_gpt2(folder: Path, callbacks: Any = (), **options: Any) -> None:
    """200 steps by transformers' Trainer, with its checkpoints in a folder."""
    transformers, (model, rows) = pytest.importorskip("transformers"), gpt2()
    arguments = transformers.TrainingArguments(
        output_dir=str(folder),
        max_steps=200,
        per_device_train_batch_size=N,
        save_steps=20,
        use_cpu=True,
        report_to="none",
        disable_tqdm=True,
        logging_strategy="no",
        **options,
    )
    transformers.Trainer(model, arguments, train_dataset=rows, callbacks=list(callbacks)).train()


GPT2_RULE = "W_kq = wte.weight @ c_attn.weight[:, 96:128] @ c_attn.weight[:, 32:64].T @ wte.weight.T / sqrt(32)"


@pytest.mark.timeout(600)
def test_a_trainer_of_transformers(own_folder: Path, command: Command) -> None:
    """The recorded run and the checkpoints have the same weights, and both are audited, with no edit of the code."""
    pytest.importorskip("transformers")
    record = of_page("Transformers")["Record"]
    trained_gpt2(own_folder / "gpt2", [record(Recorder(map=GPT2_RULE))])
    runs = [
        read_weights(RunFile(path, rules), TARGETS).records["W_kq"]
        for path, rules in ((own_folder / "gpt2", (GPT2_RULE,)), (own_folder / "run.npz", ()))
    ]
    assert runs[0].step.tolist() == list(range(20, 201, 20))
    assert runs[1].step.tolist() == list(range(201))
    for t, W in zip(runs[0].step, runs[0].weights, strict=True):
        np.testing.assert_array_equal(W, runs[1].weights[t])
    page = (ROOT / "docs" / "trainers.md").read_text(encoding="utf-8")
    assert GPT2_RULE in page
    found = command.json("conform", "example-1", "run.npz")
    assert (found["conforms"], found["start"], found["stages"][0]["records"]) == (False, "given", 201)
    asked = ("audit", "example-1", "--trajectory", "gpt2=gpt2", "--map", GPT2_RULE, "--steps1", "30", "--steps2", "30")
    said = command(*asked, "--claim", "ntp.theorem1*")
    assert said.status == 0, said.err
    assert "carried over" in said.out


@pytest.mark.timeout(600)
def test_accumulated_gradients_are_one_step(own_folder: Path) -> None:
    pytest.importorskip("transformers")
    record = of_page("Transformers")["Record"]
    trained_gpt2(own_folder / "gpt2", [record(Recorder(map=GPT2_RULE))], gradient_accumulation_steps=3, max_grad_norm=0)
    found = read_weights(RunFile(own_folder / "run.npz"), TARGETS).records["W_kq"]
    assert found.step.tolist() == list(range(201))


def two_layers() -> Any:
    """W_K and W_Q as modules of PyTorch, trained on a loss with a known gradient."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    return torch.nn.ModuleDict({"k": torch.nn.Linear(V, 2, bias=False), "q": torch.nn.Linear(V, 2, bias=False)})


def loss_of(model: Any) -> Any:
    torch = pytest.importorskip("torch")
    return ((model["k"].weight.T @ model["q"].weight - torch.eye(V)) ** 2).sum()


FACTORS = "W_kq = k.weight.T @ q.weight"


def descended(steps: int) -> list[Any]:
    """The products after steps of SGD."""
    torch, model = pytest.importorskip("torch"), two_layers()
    optimizer, found = torch.optim.SGD(model.parameters(), lr=0.1), []
    for _ in range(steps + 1):
        found.append((model["k"].weight.T @ model["q"].weight).detach().numpy())
        optimizer.zero_grad()
        loss_of(model).backward()
        optimizer.step()
    return found


def test_a_hook_of_pytorch(tmp_path: Path) -> None:
    torch, model, recorder = pytest.importorskip("torch"), two_layers(), Recorder(map=FACTORS)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    of_page("A hook of PyTorch")["record"](recorder, model, optimizer)
    for _ in range(5):
        optimizer.zero_grad()
        loss_of(model).backward()
        optimizer.step()
    recorder.save(tmp_path / "run.npz")
    found = read_weights(RunFile(tmp_path / "run.npz"), TARGETS).records["W_kq"]
    assert found.step.tolist() == list(range(6))
    np.testing.assert_allclose([*found.weights], descended(5), rtol=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("accumulated", [1, 2])
def test_a_trainer_of_lightning(accumulated: int, own_folder: Path) -> None:
    """Each step is recorded once, with the weights after it."""
    torch, lightning = pytest.importorskip("torch"), pytest.importorskip("lightning")
    recorder = Recorder(map=FACTORS)

    class Module(lightning.LightningModule):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.model = two_layers()

        def training_step(self, batch: Any, i: int) -> Any:
            return loss_of(self.model)

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    trainer = lightning.Trainer(
        max_steps=5,
        accelerator="cpu",
        callbacks=[of_page("Lightning")["Record"](recorder)],
        accumulate_grad_batches=accumulated,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Module(), torch.utils.data.DataLoader(torch.zeros(20, 1)))
    found = read_weights(RunFile(own_folder / "run.npz"), TARGETS).records["W_kq"]
    assert found.step.tolist() == list(range(6))
    np.testing.assert_allclose([*found.weights], descended(5), rtol=1e-5)


def test_arrays_of_jax(tmp_path: Path) -> None:
    """Nested parameters, and bfloat16, which is kept as float32 and recognised."""
    numpy = pytest.importorskip("jax.numpy")
    step_and_record, recorder = of_page("JAX")["step_and_record"], Recorder(map="W_kq = key.kernel @ query.kernel.T")
    parameters = {"attention": {name: {"kernel": numpy.asarray(RNG.normal(size=(V, 2)))} for name in ("key", "query")}}

    def step(given: Any) -> Any:
        return {"attention": {name: {"kernel": one["kernel"] / 2} for name, one in given["attention"].items()}}

    recorder.tensors(0, parameters)
    for t in (1, 2):
        parameters = step_and_record(recorder, t, step, parameters)
    recorder.save(tmp_path / "run.npz")
    found = read_weights(RunFile(tmp_path / "run.npz"), TARGETS).records["W_kq"]
    np.testing.assert_allclose(found.weights[2], found.weights[0] / 16, rtol=1e-6)
    half = Recorder()
    half.stage2(0, numpy.asarray(RNG.normal(size=(V, V)), dtype=numpy.bfloat16))
    half.save(tmp_path / "half.npz")
    assert read_weights(RunFile(tmp_path / "half.npz"), TARGETS).records["W_kq"].precision == "bfloat16"


def test_python_reads_the_saved_map(own_folder: Path) -> None:
    """A textbook run of Algorithm 1 on k with q = 1 conforms."""
    run(DATA).save("good.npz")
    recorder = Recorder(lr2=0.05, map="W_kq = k.T @ q")
    with np.load("good.npz") as arrays:
        for t, W in zip(arrays["step2"], arrays["W_kq"], strict=True):
            recorder.tensors(t, {"k": np.eye(V), "q": W})
    recorder.save("mapped.npz")
    found = marginaudit.conform("example-1", "mapped.npz", steps1=30, lr1=0.1)
    assert found.conforms
    assert found.decided == 21


def test_checkpoints_of_adamw_on_separate_keys_and_queries(own_folder: Path, command: Command) -> None:
    """The rule of the tensors is named: trained on the loss of eq. 1 at a given W_ov, from a random start."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    W_ov = torch.tensor(RNG.normal(size=(V, V)))
    model = torch.nn.ModuleDict({name: torch.nn.Linear(V, V, bias=False).double() for name in "kq"})
    optimizer = torch.optim.AdamW(model.parameters(), 0.02)
    Path("run").mkdir()
    for t in range(21):
        torch.save({"model": {**model.state_dict(), "head": W_ov}}, f"run/iter-{t}.pth")
        W, loss = model["k"].weight.T @ model["q"].weight, torch.zeros(())
        for sample, weight in zip(DATA.samples, DATA.frequencies, strict=True):
            X = torch.eye(V).double()[[DATA.index[x] for x in sample.tokens]]
            logits = W_ov @ X.T @ torch.softmax(X @ W @ X[-1], 0)
            loss = loss - weight * torch.log_softmax(logits, 0)[DATA.index[sample.next]]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    found = command.json("conform", "example-1", "run", "--map", "W_kq = k.weight.T @ q.weight; W_ov = head")
    assert found["rule"].startswith("AdamW (step size 0.02, weight decay 0.01)")
