"""The stand-alone certificate checker, put to a dataset by path or by a built-in case's name."""

import json
import tempfile
from pathlib import Path

from marginaudit.margins.ntp.verify import Unreadable, verify
from marginaudit.orders import InputError, file_content, printable
from marginaudit.orders.ntp import CASES, dataset_to_document
from marginaudit.reports.command.options import load


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
    file_content(certificate, "a certificate, as `solve --certificate` writes it")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(dataset)
        if dataset in CASES:
            path = Path(folder) / "case.json"
            path.write_text(json.dumps(dataset_to_document(CASES[dataset]())), encoding="utf-8")
        try:
            return verify(path, certificate)
        except Unreadable as error:
            raise InputError(printable(error.where), got=printable(error.got), expected=error.expected) from None
