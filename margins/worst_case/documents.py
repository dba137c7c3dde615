"""Certificates of worst cases as files."""

import json
from pathlib import Path

from marginaudit.margins.errors import CertificateError
from marginaudit.margins.worst_case.verify import FORMAT, Refused, Unreadable, verify
from marginaudit.orders import InputError, printable


def is_certificate(content: bytes) -> bool:
    """Whether the content of a file is a certificate of a worst case."""
    try:
        document = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("format") == FORMAT


def confirmed(problem: Path, certificate: Path) -> list[str]:
    """Statements confirmed by the stand-alone checker, for the problem of a file.

    Raises
    ------
    CertificateError
        It refuses the certificate.
    InputError
        A file is no problem or certificate.
    """
    try:
        return verify(certificate, problem)
    except Refused as reason:
        raise CertificateError(str(reason)) from None
    except Unreadable as error:
        raise InputError(printable(error.where), got=printable(error.got), expected=error.expected) from None
