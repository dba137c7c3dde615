"""The list of the claims."""

from importlib import import_module
from pkgutil import iter_modules

import pytest

from marginaudit.reports.ntp import claims, sharper


@pytest.mark.parametrize("folder", [claims, sharper], ids=lambda folder: folder.__name__)
def test_every_file_of_the_folder_is_in_the_list(folder: object) -> None:
    modules = [import_module(f"{folder.__name__}.{found.name}") for found in iter_modules(folder.__path__)]  # type: ignore[attr-defined]
    assert modules
    for module in modules:
        assert all(claims.CLAIMS[claim.id] is claim for claim in module.CLAIMS)
