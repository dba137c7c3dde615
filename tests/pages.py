"""Headings of the pages in docs/, by the anchors that GitHub gives them, and the scripts that make pages."""

import importlib.util
import os
import re
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

ROOT = Path(__file__).parents[1]


def anchors(page: str) -> list[str]:
    """The anchors of a page, given by its path from the project's root."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [anchor(heading) for heading in re.findall(r"^#{1,6} (.*)$", text, re.M)]


def anchor(heading: str) -> str:
    """Lower case, without punctuation, hyphens for spaces."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def script(name: str, folder: str = "docs") -> ModuleType:
    """The module of a script in a folder of the project; what it sets in the environment is undone."""
    specification = importlib.util.spec_from_file_location(name, ROOT / folder / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    with patch.dict(os.environ):
        specification.loader.exec_module(module)
    return module
