"""The command line, for the tests of the reports."""

import signal
from collections.abc import Iterator

import pytest

from tests.command_line import Command


@pytest.fixture(autouse=True, scope="session")
def interrupts() -> Iterator[None]:
    """Let an interrupt reach the processes that tests start, also where a shell in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Call the command line in this process."""
    return Command(capsys)
