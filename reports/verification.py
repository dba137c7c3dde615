"""The stand-alone certificate checker, put to a dataset by path or by a built-in case's name."""

import json
import tempfile
from pathlib import Path

from marginaudit.margins.verify import verify
from marginaudit.orders import CASES, InputError, dataset_to_document, file_content, printable, shortened, shown_path
from marginaudit.reports.options import load

LONGEST_ERROR = 200


def confirmed(dataset: str, certificate: Path) -> list[str]:
    """What the certificate proves about the dataset, a line a problem.

    Raises
    ------
    Refused
        It does not prove what it states.
    InputError
        The dataset or the certificate cannot be read, or is none.
    """
    load(dataset)
    where, expected = shown_path(certificate), "a certificate, as `solve --certificate` writes it"
    file_content(certificate, expected)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(dataset)
        if dataset in CASES:
            path = Path(folder) / "case.json"
            path.write_text(json.dumps(dataset_to_document(CASES[dataset]())), encoding="utf-8")
        try:
            return verify(path, certificate)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            words = shortened(printable(f"{type(error).__name__}: {error}"), LONGEST_ERROR)
            raise InputError(where, got=f"no certificate ({words})", expected=expected) from None
