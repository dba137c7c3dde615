"""Settings of Algorithm 1."""

from dataclasses import dataclass
from typing import Literal

from marginaudit.claims.settings import FROZEN_AT, STEP_LIST, STEP_SIZE, STEPS, check, one_of, optional, setting
from marginaudit.orders import InputError

PAPER_STEPS = 900
"""Steps of both stages in the experiments of arXiv 2409.17335."""

FARTHEST = 10**18
"""Last step to which stage 2 is followed."""


@dataclass(frozen=True)
class Config:
    """Settings of Algorithm 1; None stands for the paper's own choice.

    Attributes
    ----------
    steps1 : int
        T, the length of stage 1.
    steps2 : int or None
        The length of stage 2; None for as far as the fast-forward reaches, `FARTHEST`, or for the paper's
        own length `PAPER_STEPS` where there is none.
    lr1, lr2 : float or None
        eta0 and eta; by default 0.2 / sqrt(V) and 0.05 / sqrt(V).
    at : tuple of int or None
        The recorded steps.
    optimizer : "ngd" or "gd"
        Normalised gradient descent, of which the statements speak, or plain gradient descent.
    certify : int
        First steps of stage 2 that are enclosed rigorously; without ``steps2``, stage 2 ends with them.
    """

    steps1: int = setting(PAPER_STEPS, STEPS, "Steps of stage 1 (W_ov).")
    steps2: int | None = setting(None, STEPS, "Steps of stage 2 (W_kq).", none="1e18, or 900 without fast-forward")
    lr1: float | None = setting(None, STEP_SIZE, "Step size of stage 1.", none="0.2/sqrt(V)")
    lr2: float | None = setting(None, STEP_SIZE, "Step size of stage 2.", none="0.05/sqrt(V)")
    at: tuple[int, ...] | None = setting(
        None, STEP_LIST, "Record these steps of both stages, such as 1,10,900.", none="every step, later log-spaced"
    )
    optimizer: Literal["ngd", "gd"] = setting(
        "ngd", one_of("ngd", "gd"), "ngd: steps of length lr, as in the paper; gd: lr times the gradient."
    )
    certify: int = setting(
        0,
        optional(STEPS, PAPER_STEPS),
        f"Enclose the first steps of stage 2 rigorously, {PAPER_STEPS} without a number; without --steps2 the audit "
        "ends with them.",
        only=("audit",),
    )

    def __post_init__(self) -> None:
        check(self)
        longest = max(self.steps1, FARTHEST if self.steps2 is None else self.steps2)
        for step in self.at or ():
            if step > longest:
                steps2 = FARTHEST if self.steps2 is None else self.steps2
                got = f"a step beyond both stages of {self.steps1} and {steps2} steps"
                raise InputError(f"Config.at {step}", got=got, expected=f"at most {longest}")


OF_FILE = "the file's, or the paper's"


@dataclass(frozen=True)
class RecordedConfig:
    """Settings of a recorded run that its file does not hold.

    Attributes
    ----------
    lr1, lr2 : float or None
        eta0 and eta.
    steps1 : int or None
        The step of stage 1 from which W_ov was frozen.
    """

    lr1: float | None = setting(None, STEP_SIZE, "Step size of stage 1.", none=OF_FILE)
    lr2: float | None = setting(None, STEP_SIZE, "Step size of stage 2.", none=OF_FILE)
    steps1: int | None = setting(
        None, FROZEN_AT, "The step of stage 1 from which W_ov was frozen.", none="the file's last, or 900"
    )

    def __post_init__(self) -> None:
        check(self)
