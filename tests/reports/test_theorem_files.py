"""The lists of the papers' claims."""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

import pytest

from marginaudit.reports import LEDGER, Claim
from marginaudit.reports.ntp import claims as ntp
from marginaudit.reports.snap import claims as snap


@pytest.mark.parametrize("folder", [ntp, snap], ids=lambda folder: folder.__name__)
def test_every_file_of_a_folder_is_in_its_papers_list(folder: ModuleType) -> None:
    modules = [import_module(f"{folder.__name__}.{found.name}") for found in iter_modules(folder.__path__)]
    listed = [claim.id for module in modules for claim in getattr(module, "CLAIMS", ())]
    made = {one.id for module in modules for one in vars(module).values() if isinstance(one, Claim)}
    assert made
    assert made <= set(listed) <= set(LEDGER)
    assert len(set(listed)) == len(listed)
