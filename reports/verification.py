"""The stand-alone certificate checker, put to a dataset by path or by a built-in case's name."""

import json
import tempfile
from pathlib import Path

from marginaudit.margins.verify import verify
from marginaudit.orders import CASES, InputError, dataset_to_document, printable
from marginaudit.reports.options import load


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
    where = printable(str(certificate))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(dataset)
        if dataset in CASES:
            path = Path(folder) / "case.json"
            path.write_text(json.dumps(dataset_to_document(CASES[dataset]())), encoding="utf-8")
        try:
            return verify(path, certificate)
        except OSError as error:
            raise InputError(where, got=error.strerror or "no readable file", expected="a certificate") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            got = f"no certificate ({type(error).__name__}: {printable(str(error))})"
            raise InputError(where, got=got, expected="what `solve --certificate` writes") from None
