"""Sweeps of the sampled training of section 8: entropy and loss by step sizes and recipe."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

from marginaudit.claims.answers.sweeps import Design, Generator, Result, Sweeps
from marginaudit.claims.settings import COUNT, STEP_SIZE, check, one_of, real, setting
from marginaudit.orders.snap import (
    SequenceClasses,
    single_common_dataset,
    syn_medium,
    syn_small,
    weakly_correlated_dataset,
)
from marginaudit.training.snap.sgd import Recipe, entropy_of_distinct, train_sampled

SHARE = real(0, math.nextafter(1, 0), "share", "a number of at least 0 and below 1")


@dataclass(frozen=True)
class SampledConfig:
    """Settings of training both layers on sampled sequences; see `Recipe`."""

    lr_z: float = setting(1.0, STEP_SIZE, "Step size of Z (eta_Z).")
    ratio: float = setting(1.0, STEP_SIZE, "Step size of Y over that of Z.")
    updates: int = setting(Recipe.updates, COUNT, "Number of updates.")
    batch: int = setting(Recipe.batch, COUNT, "Samples per update.")
    length: int = setting(Recipe.length, COUNT, "Contextual tokens per sample.")
    optimizer: str = setting(Recipe.optimizer, one_of("momentum", "adam"), "Update rule.")
    momentum: float = setting(Recipe.momentum, SHARE, "Momentum of that optimizer.")
    start: str = setting(Recipe.start, one_of("uniform", "zero"), "Initial Y and Z.")

    def __post_init__(self) -> None:
        check(self)

    @property
    def recipe(self) -> Recipe:
        """Settings other than the step sizes."""
        return Recipe(**{field.name: getattr(self, field.name) for field in fields(Recipe)})

    @property
    def rates(self) -> tuple[float, float]:
        """(eta_Y, eta_Z)."""
        return self.ratio * self.lr_z, self.lr_z


def rows(
    data: SequenceClasses, configs: Sequence[SampledConfig], seed: int, keep: Sequence[str]
) -> list[dict[str, Result]]:
    """Results of each config: the entropy at the last Z, and the loss of the last batch before its update."""
    found: dict[SampledConfig, dict[str, Result]] = {}
    for recipe in dict.fromkeys(config.recipe for config in configs):
        alike = [config for config in configs if config.recipe == recipe]
        trained = train_sampled(data, recipe, [config.rates for config in alike], seed)
        for i, config in enumerate(alike):
            found[config] = {"loss": float(trained.loss[i, -1])}
            if "entropy" in keep:
                found[config]["entropy"] = float(entropy_of_distinct(data, trained.Z[i, -1]))
    return [found[config] for config in configs]


SIZES = {"K": COUNT, "M": COUNT}
"""Number of classes, size of the vocabulary."""

STEP_SIZES = {"lr_y": (0.5, 0.25, 0.9), "lr_z": (0.05, 0.025, 0.01)}

SWEEPS = Sweeps(
    config=SampledConfig(),
    generators={
        "syn-medium": Generator({"num_last": COUNT}, lambda num_last, seed: syn_medium(num_last)),
        "syn-small": Generator({}, lambda seed: syn_small()),
        "single-common": Generator(SIZES, lambda K, M, seed: single_common_dataset(K=K, M=M, seed=seed)),
        "weakly-correlated": Generator(SIZES, lambda K, M, seed: weakly_correlated_dataset(K=K, M=M, seed=seed)),
    },
    results={"entropy": float, "loss": float},
    rows=rows,
    together=16,
    specs=("snap-6",),
    designs=(
        Design("single-common", {"K": (2, 3, 4), "M": (20_000, 6_000, 80_000, 320_000)} | STEP_SIZES),
        Design("weakly-correlated", {"K": (4, 2, 6, 8), "M": (20_000, 6_000, 80_000, 320_000)}),
    ),
    factors={
        "K": lambda run: run.K,
        "M": lambda run: run.M,
        "eta_Y": lambda run: run.eta_Y,
        "eta_Z": lambda run: run.eta_Z,
        "|lambda_1|": lambda run: run.dataset.overlap.largest,
    },
)
