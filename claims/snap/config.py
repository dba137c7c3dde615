"""Settings of a run on sequence classes."""

from dataclasses import dataclass

from marginaudit.claims.settings import COUNT, SEED, STEP_LIST, STEP_SIZE, STEPS, check, one_of, real, setting, whole
from marginaudit.orders import InputError

FARTHEST = 10**18
"""Last batch-1 step of the closed forms."""

SHOWN_STEPS = 10**6
"""Batch-1 steps of `marginaudit train`."""


ETA_Y, ETA_Z = 0.5, 0.05
"""Default step sizes."""

AUDITED = ("audit", "table")
"""Commands that take recorded runs."""

LENGTH = whole(1, 10**5, "tokens")

MOMENTUM = real(0, 0.9999, "fraction")

UPDATE = one_of("sgd", "adam")


@dataclass(frozen=True)
class RecordedClassConfig:
    """Settings of a recorded run on sequence classes."""

    lr_y: float | None = setting(None, STEP_SIZE, "Step size of Y (eta_Y).", none=f"{ETA_Y}")
    lr_z: float | None = setting(None, STEP_SIZE, "Step size of Z (eta_Z).", none=f"{ETA_Z}")

    def __post_init__(self) -> None:
        check(self)

    @property
    def eta_Y(self) -> float:
        """Step size of Y, or its default."""
        return ETA_Y if self.lr_y is None else self.lr_y

    @property
    def eta_Z(self) -> float:
        """Step size of Z, or its default."""
        return ETA_Z if self.lr_z is None else self.lr_z


@dataclass(frozen=True)
class ClassConfig(RecordedClassConfig):
    """Settings for training the decoder Y on sequence classes."""

    steps: int = setting(FARTHEST, STEPS, "Number of batch-1 steps.")
    at: tuple[int, ...] | None = setting(
        None, STEP_LIST, "Record these steps, such as 1,10,900.", none="about 20 a decade"
    )
    seeds: int = setting(2000, COUNT, "Sampled SGD runs, for probabilistic statements.")
    seed: int = setting(0, SEED, "Random seed of the sampled runs.")
    batch: int | None = setting(
        None, COUNT, "Sequences per step of a recorded run, for error bars of their draw.", only=AUDITED, none="unknown"
    )
    length: int | None = setting(
        None, LENGTH, "Tokens before the query of each of these sequences.", only=AUDITED, none="unknown"
    )
    momentum: float = setting(0.0, MOMENTUM, "Momentum of a recorded run, without dampening.", only=AUDITED)
    update: str = setting("sgd", UPDATE, "Update rule of a recorded run.", only=AUDITED)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.batch is None) != (self.length is None):
            given, missing = ("batch", "length") if self.length is None else ("length", "batch")
            raise InputError(f"ClassConfig.{given}", got=f"it without {missing}", expected="both or neither")
        for name in ("momentum", "update"):
            if self.batch is None and getattr(self, name) != getattr(type(self), name):
                raise InputError(f"ClassConfig.{name}", got="it without batch and length", expected="all three")
        if self.momentum and self.update == "adam":
            raise InputError("ClassConfig.momentum", got="it beside Adam", expected="that of SGD")
        for step in self.at or ():
            if step > self.steps:
                raise InputError(
                    f"ClassConfig.at {step}", got="a step beyond the last", expected=f"at most {self.steps}"
                )
