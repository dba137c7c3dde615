"""`marginaudit verify`."""

from pathlib import Path

import click

from marginaudit.claims.paper import Paper
from marginaudit.margins import CertificateError
from marginaudit.margins.worst_case.documents import confirmed, is_certificate
from marginaudit.orders import file_content
from marginaudit.reports.command.arguments import DATASET, JSON, ONE_PAPER
from marginaudit.reports.command.console import print_line
from marginaudit.reports.command.options import FilePath
from marginaudit.reports.command.output import notify, print_json
from marginaudit.reports.command.solve import with_problems


@click.command()
@DATASET
@click.argument("certificate", metavar="CERTIFICATE", type=FilePath())
@ONE_PAPER
@JSON
def verify(dataset: str, certificate: Path, known: tuple[Paper, ...], as_json: bool) -> int:
    """Check a CERTIFICATE written by `solve --certificate`.

    A certificate of a worst case is checked for the problem in the file DATASET. The exit status is 0 if it is
    confirmed, 1 if refused.
    """
    of_worst_case = is_certificate(file_content(certificate, "a certificate, as `solve --certificate` writes it"))
    source = None if of_worst_case else with_problems(dataset, known)
    try:
        if source is None:
            lines = confirmed(Path(dataset), certificate)
        else:
            lines = source.paper.verify(source.dataset, source.place, certificate)
    except CertificateError as reason:
        if as_json:
            print_json({"confirmed": False, "reason": str(reason), "statements": []})
        notify(f"refused: {reason}")
        return 1
    if as_json:
        print_json({"confirmed": True, "reason": None, "statements": lines})
    else:
        for line in lines:
            print_line(f"confirmed: {line}")
    return 0
