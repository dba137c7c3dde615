"""A dataset and its certificate with one place changed, for the stand-alone checker."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import marginaudit.margins.ntp.verify as checker
from marginaudit.margins.ntp import certificate_document, solve_kq, solve_ov
from marginaudit.orders.ntp import (
    dataset_from_document,
)

DATA: dict[str, Any] = {
    "name": "tiny",
    "vocabulary": ["a", "b", "q/~"],
    "sentences": [["a", "b"], ["b", "q/~"]],
    "samples": [{"tokens": ["a", "q/~"], "next": "b", "count": 2}],
    "next_token": {"q/~": "a"},
    "embedding": [[1, 0, 0], [0, 1.0, 0], [0, 0, 1]],
}


TINY = dataset_from_document(DATA)


TRUE = certificate_document(TINY, ov=solve_ov(TINY), kq=solve_kq(TINY))


def with_change(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The document with a value at the place, or without it where the value is `...`."""
    *parents, last = path.split(".")
    copied = copy.deepcopy(document)
    place: Any = copied
    for key in parents:
        place = place[int(key) if isinstance(place, list) else key]
    if value is ...:
        del place[last]
    else:
        place[int(last) if isinstance(place, list) else last] = value
    return copied


def written(folder: Path, data: Any, certificate: Any) -> tuple[Path, Path]:
    paths = folder / "data.json", folder / "certificate.json"
    for path, document in zip(paths, (data, certificate), strict=True):
        path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return paths


def unreadable(paths: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> str:
    """The line that is printed with exit status 2, without the file's name."""
    capsys.readouterr()
    assert checker.main([str(path) for path in paths]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.strip("\n").isprintable()
    return err.strip("\n").split(".json: ", 1)[1]


A_STRING = "expected a string that UTF-8 can encode"
