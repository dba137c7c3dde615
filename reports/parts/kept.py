"""Parts that are kept between audits: a file each, named after everything that its content depends on."""

import base64
import hashlib
import json
import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

from marginaudit.reports.audit.auditing import Drawn, Shown, config_document
from marginaudit.reports.identity import digest, identity
from marginaudit.reports.page.files import write_whole
from marginaudit.reports.parts.part import Found, Part, has_own_claims, judged_by
from marginaudit.reports.plain import finite
from marginaudit.reports.verdict import Evidence, Finding, Verdict

MOST_KEPT = 200
"""Parts that are kept; of more the oldest go."""

NUMBERS = tuple(field.name for field in fields(Finding) if field.name not in ("verdict", "evidence", "curve"))


def default_folder() -> Path:
    """Where parts are kept: ``marginaudit/parts`` in the user's folder for caches, as the XDG has it."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path("~/.cache").expanduser()) / "marginaudit" / "parts"


def key_of(part: Part) -> str | None:
    """A hash of dataset, settings, claims, versions and code; None for a part that is not kept.

    Not kept is what claims from outside have judged: nobody knows all that their code depends on.
    """
    if has_own_claims(part):
        return None
    source, paper = part.source, part.source.paper
    return digest(
        {
            "dataset": [source.dataset.name, source.origin, source.sha256, paper.kind.to_document(source.dataset)],
            "paper": paper.name,
            "claims": [claim.id for claim in judged_by(part)],
            "config": config_document(paper, part.config),
            "pdf": "pdf" in part.exports,
            "matplotlib": version("matplotlib"),
            "computed by": identity(paper.run.__module__),
        }
    )


def read(folder: Path, key: str, part: Part) -> Found | None:
    """A part that was kept; None where there is none, or none that is whole and about the part's claims."""
    try:
        checksum, _, content = _path(folder, key).read_bytes().partition(b"\n")
    except OSError:
        return None
    if checksum != _checksum(key, content):
        return None
    with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError, zlib.error):
        document = json.loads(zlib.decompress(content))
        if list(document["findings"]) == [claim.id for claim in judged_by(part)]:
            return _from_document(document)
    return None


def write(folder: Path, key: str, found: Found) -> None:
    """Keep a part, where there is room for it."""
    content = zlib.compress(json.dumps(_to_document(found), allow_nan=False).encode())
    with suppress(OSError):
        write_whole(_path(folder, key), _checksum(key, content) + b"\n" + content)
        kept = sorted(folder.glob("*.part-of-audit"), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in kept[MOST_KEPT:]:
            old.unlink(missing_ok=True)


def _path(folder: Path, key: str) -> Path:
    return folder / f"{key}.part-of-audit"


def _checksum(key: str, content: bytes) -> bytes:
    return hashlib.sha256(key.encode() + content).hexdigest().encode()


def _to_document(found: Found) -> dict[str, Any]:
    return {
        "findings": {
            claim: {
                "verdict": finding.verdict.value,
                "evidence": finding.evidence.value,
                **{name: finite(getattr(finding, name)) for name in NUMBERS},
            }
            for claim, finding in found.findings.items()
        },
        "document": finite(found.document),
        "pictures": [
            {
                "suffix": picture.suffix,
                "caption": picture.caption,
                "claim": picture.claim,
                "files": {ending: base64.b64encode(data).decode() for ending, data in picture.files.items()},
            }
            for picture in found.shown.pictures
        ],
        "records": dict(found.shown.records),
    }


def _from_document(document: Mapping[str, Any]) -> Found:
    findings = {
        claim: Finding(
            Verdict(found["verdict"]),
            Evidence(found["evidence"]),
            **{name: found[name] for name in NUMBERS} | {"room": tuple(found["room"])},
        )
        for claim, found in document["findings"].items()
    }
    pictures = tuple(
        Drawn(
            one["suffix"],
            one["caption"],
            one["claim"],
            {ending: base64.b64decode(data) for ending, data in one["files"].items()},
        )
        for one in document["pictures"]
    )
    return Found(findings, document["document"], Shown(pictures, document["records"]))
