"""Settings of Algorithm 1."""

from dataclasses import dataclass
from typing import Literal

from marginaudit.claims.settings import FROZEN_AT, STEP_LIST, STEP_SIZE, STEPS, check, one_of, optional, setting
from marginaudit.orders import InputError

PAPER_STEPS = 900
"""Steps of both stages in the experiments of arXiv 2409.17335."""

FARTHEST = 10**18
"""Last step of the fast-forward of stage 2."""


@dataclass(frozen=True)
class Config:
    """Settings of Algorithm 1; None selects the paper's choice.

    Attributes
    ----------
    steps1 : int
        T, the length of stage 1.
    steps2 : int or None
        Length of stage 2; None for `FARTHEST`, the reach of the fast-forward, or `PAPER_STEPS` without it.
    lr1, lr2 : float or None
        eta0 and eta; by default 0.2 / sqrt(V) and 0.05 / sqrt(V).
    at : tuple of int or None
        The recorded steps.
    optimizer : "ngd" or "gd"
        Normalised gradient descent, as in the statements, or plain gradient descent.
    certify : int
        Number of first steps of stage 2 to enclose rigorously; without ``steps2``, stage 2 ends there.
    """

    steps1: int = setting(PAPER_STEPS, STEPS, "Steps of stage 1 (W_ov).")
    steps2: int | None = setting(None, STEPS, "Steps of stage 2 (W_kq).", none="1e18, or 900 without fast-forward")
    lr1: float | None = setting(None, STEP_SIZE, "Step size of stage 1.", none="0.2/sqrt(V)")
    lr2: float | None = setting(None, STEP_SIZE, "Step size of stage 2.", none="0.05/sqrt(V)")
    at: tuple[int, ...] | None = setting(
        None, STEP_LIST, "Record these steps of both stages, such as 1,10,900.", none="every step, later log-spaced"
    )
    optimizer: Literal["ngd", "gd"] = setting(
        "ngd", one_of("ngd", "gd"), "Steps of length lr (ngd, as in the paper), or lr times the gradient (gd)."
    )
    certify: int = setting(
        0,
        optional(STEPS, PAPER_STEPS),
        f"Enclose the first steps of stage 2 rigorously, {PAPER_STEPS} without a number; the audit ends there unless "
        "--steps2 is given.",
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
    """Settings of a recorded run that its file lacks.

    Attributes
    ----------
    lr1, lr2 : float or None
        eta0 and eta.
    steps1 : int or None
        Step of stage 1 at which W_ov was frozen.
    """

    lr1: float | None = setting(None, STEP_SIZE, "Step size of stage 1.", none=OF_FILE)
    lr2: float | None = setting(None, STEP_SIZE, "Step size of stage 2.", none=OF_FILE)
    steps1: int | None = setting(
        None, FROZEN_AT, "Step of stage 1 at which W_ov was frozen.", none="the file's last, or 900"
    )

    def __post_init__(self) -> None:
        check(self)
