"""Trainings as their authors write them, on a dataset's tokens in its order."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Sample: TypeAlias = tuple[list[int], int, float]
"""Tokens, the next one, and the share of the sample."""


def gpt2(folder: Path, V: int, samples: Sequence[Sample], *, seed: int = 0, steps: int = 200, every: int = 20) -> None:
    """A random GPT-2 of one layer and two heads, by transformers' Trainer and its defaults (AdamW, linear decay)."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    torch.manual_seed(seed)
    config = transformers.GPT2Config(vocab_size=V, n_positions=8, n_embd=64, n_layer=1, n_head=2)
    longest = max(len(tokens) for tokens, _, _ in samples) + 1
    rows = []
    for tokens, following, _ in samples:
        blank = [0] * (longest - len(tokens) - 1)
        rows.append(
            {
                "input_ids": [*blank, *tokens, following],
                "labels": [*blank, *[-100] * len(tokens), following],
                "attention_mask": [*blank, *[1] * (len(tokens) + 1)],
            }
        )
    arguments = transformers.TrainingArguments(
        output_dir=str(folder),
        max_steps=steps,
        per_device_train_batch_size=len(rows),
        save_steps=every,
        use_cpu=True,
        report_to="none",
        disable_tqdm=True,
        logging_strategy="no",
        seed=seed,
    )
    transformers.Trainer(transformers.GPT2LMHeadModel(config), arguments, train_dataset=rows).train()


def makemore(
    folder: Path, V: int, samples: Sequence[Sample], *, seed: int = 0, steps: int = 60, every: int = 1
) -> None:
    """One layer of attention between an embedding and a head, by AdamW on random minibatches, as in makemore."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(seed)
    d = 16

    class Model(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.wte = torch.nn.Embedding(V, d)
            self.key, self.query, self.value = (torch.nn.Linear(d, d, bias=False) for _ in range(3))
            self.lm_head = torch.nn.Linear(d, V, bias=False)

        def forward(self, tokens: Any) -> Any:
            x = self.wte(tokens)
            scores = self.key(x) @ self.query(x[-1]) / d**0.5
            return self.lm_head(torch.softmax(scores, 0) @ self.value(x))

    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=0.01)
    folder.mkdir()
    shares = torch.tensor([share for _, _, share in samples])
    for i in range(steps + 1):
        if i % every == 0:
            torch.save(model.state_dict(), folder / f"iter-{i}.pth")
        drawn = torch.multinomial(shares, 8, replacement=True).tolist()
        logits = torch.stack([model(torch.tensor(samples[k][0])) for k in drawn])
        loss = torch.nn.functional.cross_entropy(logits, torch.tensor([samples[k][1] for k in drawn]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def paper_model(
    folder: Path,
    V: int,
    samples: Sequence[Sample],
    optimizer_of: Any,
    *,
    seed: int = 0,
    steps: int = 40,
    every: int = 1,
) -> None:
    """The first paper's model with a given W_ov: W_kq from zero, by any optimizer of PyTorch on the whole loss."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(seed)
    W_ov = torch.randn(V, V)
    W_kq = torch.nn.Parameter(torch.zeros(V, V))
    optimizer = optimizer_of(torch, [W_kq])
    folder.mkdir()
    for i in range(steps + 1):
        if i % every == 0:
            torch.save({"W_kq": W_kq.detach(), "W_ov": W_ov}, folder / f"iter-{i}.pth")
        loss = torch.zeros(())
        for tokens, following, share in samples:
            X = torch.eye(V)[tokens]
            logits = W_ov @ X.T @ torch.softmax(X @ W_kq @ X[-1], 0)
            loss = loss - share * torch.log_softmax(logits, 0)[following]
        optimizer.zero_grad()
        loss.backward()
        if optimizer_of is normalised:
            W_kq.grad /= W_kq.grad.norm()
        optimizer.step()


def scan_and_snap(
    folder: Path,
    classes: Sequence[tuple[int, int, Sequence[tuple[int, float]]]],
    *,
    batch: int,
    momentum: float,
    every: int,
    lr_y: float = 1.0,
    seed: int = 0,
    steps: int = 100,
    length: int = 128,
) -> None:
    """Syn-Small as the second paper's authors train it: K1 [next, token], K2 [query, token], saved before each step.

    A class is its next token, its query, and its contextual tokens with their probabilities.
    """
    torch = pytest.importorskip("torch")
    torch.manual_seed(seed)
    M = 1 + max(following for following, _, _ in classes)

    class Model(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.K1, self.K2 = (torch.nn.Linear(M, M, bias=False) for _ in range(2))
            for layer in (self.K1, self.K2):
                torch.nn.init.zeros_(layer.weight)

        def forward(self, tokens: Any) -> Any:
            X = torch.nn.functional.one_hot(tokens, M).float()
            scores = torch.bmm(self.K2(X[:, :-1]), X[:, -1].unsqueeze(2)).squeeze(2)
            combined = torch.bmm(torch.softmax(scores, 1).unsqueeze(1), X[:, :-1]).squeeze(1)
            return self.K1(combined / combined.norm(dim=1, keepdim=True))

    model = Model()
    optimizer = torch.optim.SGD(
        [{"params": model.K1.parameters(), "lr": lr_y}, {"params": model.K2.parameters()}], lr=1.0, momentum=momentum
    )
    tokens = [torch.tensor([token for token, _ in own]) for _, _, own in classes]
    shares = [torch.tensor([share for _, share in own]) for _, _, own in classes]
    folder.mkdir()
    torch.save({"facts": shares}, folder / "facts.pth")
    for i in range(steps):
        if i % every == 0:
            torch.save({"model": model.state_dict()}, folder / f"iter-{i}.pth")
        drawn = torch.randint(len(classes), (batch,)).tolist()
        rows = [tokens[n][torch.multinomial(shares[n], length - 1, replacement=True)] for n in drawn]
        x = torch.stack([torch.cat([row, torch.tensor([classes[n][1]])]) for n, row in zip(drawn, rows, strict=True)])
        loss = torch.nn.functional.cross_entropy(model(x), torch.tensor([classes[n][0] for n in drawn]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.save({"model": model.state_dict()}, folder / "final.pth")


def muon(torch: Any, weights: Any) -> Any:
    """PyTorch's own, with its default momentum and weight decay."""
    return torch.optim.Muon(weights, lr=0.02)


def normalised(torch: Any, weights: Any) -> Any:
    """Algorithm 1's second stage: gradients are divided by their norm before each step."""
    return torch.optim.SGD(weights, lr=0.05)
