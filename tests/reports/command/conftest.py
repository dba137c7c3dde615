"""A dataset's file for the tests of the commands."""

from pathlib import Path

import pytest

from tests.command_line import SVOP, dataset_file


@pytest.fixture
def svop(own_folder: Path) -> Path:
    return dataset_file(own_folder, SVOP, "svop.json")
