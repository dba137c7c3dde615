"""Settings of a run on sequence classes."""

from dataclasses import dataclass

from marginaudit.claims.settings import COUNT, SEED, STEP_LIST, STEP_SIZE, STEPS, check, setting
from marginaudit.orders import InputError

FARTHEST = 10**18
"""Batch-1 steps up to which the closed forms are followed."""

SHOWN_STEPS = 10**6
"""Batch-1 steps of `marginaudit train`."""


ETA_Y, ETA_Z = 0.5, 0.05
"""Default step sizes."""


@dataclass(frozen=True)
class RecordedClassConfig:
    """Settings of a recorded run on sequence classes."""

    lr_y: float | None = setting(None, STEP_SIZE, "Step size of Y (eta_Y).", none=f"{ETA_Y}")
    lr_z: float | None = setting(None, STEP_SIZE, "Step size of Z (eta_Z).", none=f"{ETA_Z}")

    def __post_init__(self) -> None:
        check(self)

    @property
    def eta_Y(self) -> float:
        """The step size of Y, the default one where none is given."""
        return ETA_Y if self.lr_y is None else self.lr_y

    @property
    def eta_Z(self) -> float:
        """The step size of Z, the default one where none is given."""
        return ETA_Z if self.lr_z is None else self.lr_z


@dataclass(frozen=True)
class ClassConfig(RecordedClassConfig):
    """Settings of training the decoder Y on sequence classes."""

    steps: int = setting(FARTHEST, STEPS, "Batch-1 steps.")
    at: tuple[int, ...] | None = setting(
        None, STEP_LIST, "Record these steps, such as 1,10,900.", none="about 20 a decade"
    )
    seeds: int = setting(2000, COUNT, "Runs of SGD for statements about chance.")
    seed: int = setting(0, SEED, "What those runs are derived from.")

    def __post_init__(self) -> None:
        super().__post_init__()
        for step in self.at or ():
            if step > self.steps:
                raise InputError(
                    f"ClassConfig.at {step}", got="a step beyond the last", expected=f"at most {self.steps}"
                )
