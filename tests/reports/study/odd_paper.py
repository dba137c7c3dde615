"""A paper whose runs do what runs of sweeps may do: end well, fail, kill their worker, take time."""

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from marginaudit.claims.answers.sweeps import Generator, Result, Sweeps
from marginaudit.claims.paper import Paper
from marginaudit.claims.settings import COUNT, STEP_SIZE, check, one_of, setting
from marginaudit.reports.starts.paper import NUMBERS, MeanConfig, MeanRun, Numbers

FOLDER = "ODD_FOLDER"
"""The environment's name of a folder in which runs leave a file the first time."""


PART_OF_THE_MEAN = 3
"""Tests change it where another machine is to have other results."""


@dataclass(frozen=True)
class OddConfig:
    rate: float = setting(0.5, STEP_SIZE, "A factor.")
    what: str = setting(
        "well", one_of("well", "fail", "fail-once", "die", "die-once", "slow", "infinite", "print"), "What it does."
    )

    def __post_init__(self) -> None:
        check(self)


def first_time(name: str) -> bool:
    path = Path(os.environ[FOLDER], name)
    try:
        path.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def notice(configs: Sequence[OddConfig]) -> None:
    """What tests put in place of this is told what is computed."""


def rows(data: Numbers, configs: Sequence[OddConfig], seed: int, keep: Sequence[str]) -> list[dict[str, Result]]:
    notice(configs)
    for config in configs:
        once = f"{data.N}-{seed}-{config.rate}"
        if config.what == "fail" or (config.what == "fail-once" and first_time(once)):
            raise ValueError(f"rate {config.rate} is odd")
        if config.what == "die" or (config.what == "die-once" and first_time(once)):
            os.kill(os.getpid(), signal.SIGKILL)
        if config.what == "slow":
            time.sleep(0.3)
        if config.what == "print":
            print("a run prints")
    return [
        {
            "end": float("inf") if config.what == "infinite" else config.rate * data.mean / PART_OF_THE_MEAN,
            "word": f"n{data.N % 2}",
        }
        for config in configs
    ]


class OddPaper(Paper):
    name = "odd"
    source = "a page of this test suite"
    kind = NUMBERS
    config = MeanConfig
    run = MeanRun
    claims = ()
    sweeps = Sweeps(
        config=OddConfig(),
        generators={
            "counting": Generator({"N": COUNT}, lambda N, seed: Numbers("c", tuple(map(float, range(seed, seed + N)))))
        },
        results={"end": float, "word": str},
        rows=rows,
        together=2,
    )


PAPER = OddPaper()
