"""The command line, for the tests of the reports."""

import pytest

from tests.command_line import Command


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Call the command line in this process."""
    return Command(capsys)
