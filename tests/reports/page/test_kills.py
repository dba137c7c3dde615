"""An audit that is killed at any moment leaves whole files, and the next one makes a report of them."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command_contract import report_agrees
from tests.command_line import NO_FUNCTION, SVOP, Command, dataset_file

MINE = "figures/mine.svg"

Audit = Callable[[int], int]


def arguments(steps: int) -> list[str]:
    return ["audit", "data.json", "--steps1", str(steps), "--steps2", "5", "--out", "report"]


def begun(steps: int) -> int:
    """An audit as a user begins it."""
    command = [sys.executable, "-m", "marginaudit.reports", *arguments(steps)]
    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    return os.posix_spawn(command[0], command, os.environ | {"OPENBLAS_NUM_THREADS": "1"}, file_actions=silent)


def ended(process: int) -> int:
    """The exit status, or minus the signal."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def kill_at_random(audit: Audit, kills: int) -> None:
    start = time.monotonic()
    assert ended(audit(3)) == 0
    duration = time.monotonic() - start
    (Path("report") / "figures").mkdir(exist_ok=True)
    Path("report", MINE).write_text("<svg>mine</svg>")
    new, draw = 4, random.Random(kills)
    for _ in range(kills):
        number = draw.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        running = audit(new)
        time.sleep(draw.uniform(0, 1.1 * duration))
        os.kill(running, number)
        assert ended(running) in (0, -number, 130)
        new += 1
        if draw.random() < 0.5:
            assert ended(audit(new)) == 0
            assert report_agrees(Path("report")) == new
        assert Path("report", MINE).read_text() == "<svg>mine</svg>"
    assert ended(audit(2)) == 0
    assert report_agrees(Path("report")) == 2
    assert sorted(os.listdir()) == ["data.json", "report"]  # noqa: PTH208  (hidden names too)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("document", [NO_FUNCTION, SVOP])
def test_a_command_killed_at_random_moments(own_folder: Path, document: object) -> None:
    dataset_file(own_folder, document)
    kill_at_random(begun, 30)


@pytest.mark.slow
def test_a_full_disk_leaves_the_old_report(command: Command, own_folder: Path) -> None:
    disk = own_folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if os.geteuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("no file system to fill up can be mounted here")
    try:
        data = dataset_file(own_folder, NO_FUNCTION)
        report, filler = disk / "report", disk / "filler"
        assert command("audit", data, "--steps1", "3", "--out", report).status == 0
        assert subprocess.run(["dd", "if=/dev/zero", f"of={filler}"], check=False, capture_output=True).returncode
        line = command.refused("audit", data, "--steps1", "4", "--out", report)
        assert line.startswith(f"{report}: got No space left on device, expected a folder to write the report to")
        assert report_agrees(report) == 3
        assert sorted(os.listdir(disk)) == ["filler", "report"]  # noqa: PTH208
        for arguments in (["solve", "example-1", "--certificate"], ["hunt", "ntp.theorem2.floor", "--out"]):
            line = command.refused(*arguments, disk / "a.json")
            assert line.endswith("a.json: got No space left on device, expected a file to write")
        assert sorted(os.listdir(disk)) == ["filler", "report"]  # noqa: PTH208
    finally:
        subprocess.run(["umount", disk], check=True)
