"""`marginaudit verify`: the stand-alone certificate checker, put to a dataset by path or by a built-in case's name."""

import json
import tempfile
from pathlib import Path

import click

from marginaudit.margins.ntp.verify import Refused, Unreadable
from marginaudit.margins.ntp.verify import verify as checked
from marginaudit.orders import InputError, file_content, printable
from marginaudit.orders.ntp import CASES, dataset_to_document
from marginaudit.reports.command.arguments import DATASET, JSON
from marginaudit.reports.command.console import print_line
from marginaudit.reports.command.options import FilePath
from marginaudit.reports.command.output import print_json
from marginaudit.reports.command.streams import tell
from marginaudit.reports.ntp.commands.datasets import load_sentences


def confirmed(dataset: str, certificate: Path) -> list[str]:
    """What the certificate proves about the dataset, a line a problem.

    Raises
    ------
    Refused
        It does not prove what it states.
    InputError
        The dataset or the certificate cannot be read, or is none.
    """
    load_sentences(dataset)
    file_content(certificate, "a certificate, as `solve --certificate` writes it")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(dataset)
        if dataset in CASES:
            path = Path(folder) / "case.json"
            path.write_text(json.dumps(dataset_to_document(CASES[dataset]())), encoding="utf-8")
        try:
            return checked(path, certificate)
        except Unreadable as error:
            raise InputError(printable(error.where), got=printable(error.got), expected=error.expected) from None


@click.command()
@DATASET
@click.argument("certificate", metavar="CERTIFICATE", type=FilePath())
@JSON
def verify(dataset: str, certificate: Path, as_json: bool) -> int:
    """Check a CERTIFICATE that `solve --certificate` wrote.

    Exit status 0: confirmed; 1: refused.
    """
    try:
        lines = confirmed(dataset, certificate)
    except Refused as reason:
        if as_json:
            print_json({"confirmed": False, "reason": str(reason), "statements": []})
        tell(f"refused: {reason}")
        return 1
    if as_json:
        print_json({"confirmed": True, "reason": None, "statements": lines})
    else:
        for line in lines:
            print_line(f"confirmed: {line}")
    return 0
