"""The folder, the dataset's file and the interrupts of the tests of the reports."""

from tests.reports.conftest import interrupts, own_folder, svop

__all__ = ["interrupts", "own_folder", "svop"]
