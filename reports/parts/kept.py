"""Parts that are kept between audits: a file each, named after everything that its content depends on."""

import base64
import hashlib
import json
import os
import zlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

from marginaudit.reports.audit.auditing import Drawn, Shown, config_document
from marginaudit.reports.identity import digest, identity
from marginaudit.reports.page.files import write_whole
from marginaudit.reports.page.proofs import proof_sources
from marginaudit.reports.paper import Paper
from marginaudit.reports.parts.part import Found, Part, has_own_claims, judged_by
from marginaudit.reports.plain import finite
from marginaudit.reports.verdict import Evidence, Finding, Verdict

DAMAGED = (ValueError, KeyError, TypeError, AttributeError, RecursionError, zlib.error)
"""What reading a damaged document raises."""

MOST_KEPT = 200
"""Parts that are kept; of more the oldest go."""

PAGE_MAKERS = ("jinja2", "latex2mathml", "markdown-it-py", "mdit-py-plugins")
"""What pages of proofs are made with."""

NUMBERS = tuple(field.name for field in fields(Finding) if field.name not in ("verdict", "evidence", "curve"))


def default_folder() -> Path | None:
    """Where parts are kept: ``marginaudit/parts`` in the user's folder for caches, as the XDG has it.

    None for a user without a home, as in some containers: nothing is kept then.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():
        try:
            base = Path("~/.cache").expanduser()
        except RuntimeError:
            return None
    return base / "marginaudit" / "parts"


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


def key_of_figure(paper: Paper, name: str, exports: Collection[str]) -> str:
    """A hash of a paper's own figure, versions and code."""
    return digest(
        {
            "figure": name,
            "paper": paper.name,
            "pdf": "pdf" in exports,
            "matplotlib": version("matplotlib"),
            "computed by": identity(paper.run.__module__),
        }
    )


def key_of_proofs(papers: Sequence[Paper]) -> str:
    """A hash of what the papers' pages of proofs are made of."""
    return digest(
        {
            "proofs": proof_sources(papers),
            "made by": {name: version(name) for name in PAGE_MAKERS},
            "computed by": identity(__name__),
        }
    )


def read(folder: Path, key: str, part: Part) -> Found | None:
    """A part that was kept; None where there is none, or none that is whole and about the part's claims."""
    with suppress(*DAMAGED):
        document = _read(folder, key)
        if document and list(document["findings"]) == [claim.id for claim in judged_by(part)]:
            return _from_document(document)
    return None


def write(folder: Path, key: str, found: Found) -> None:
    """Keep a part, where there is room for it; none with a broken finding, which a want of memory may have made."""
    if all(finding.verdict is not Verdict.BROKEN for finding in found.findings.values()):
        _write(folder, key, _to_document(found))


def read_files(folder: Path, key: str) -> dict[str, bytes] | None:
    """Files that were kept, by name; None where there are none, or not all are whole."""
    with suppress(*DAMAGED):
        document = _read(folder, key)
        return None if document is None else _bytes(document)
    return None


def write_files(folder: Path, key: str, files: Mapping[str, bytes]) -> None:
    """Keep files, where there is room for them."""
    _write(folder, key, _texts(files))


def _read(folder: Path, key: str) -> Any:
    try:
        checksum, _, content = _path(folder, key).read_bytes().partition(b"\n")
    except OSError:
        return None
    return json.loads(zlib.decompress(content)) if checksum == _checksum(key, content) else None


def _write(folder: Path, key: str, document: Mapping[str, Any]) -> None:
    content = zlib.compress(json.dumps(document, allow_nan=False).encode())
    with suppress(OSError):
        write_whole(_path(folder, key), _checksum(key, content) + b"\n" + content)
        kept = sorted(folder.glob("*.part-of-audit"), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in kept[MOST_KEPT:]:
            old.unlink(missing_ok=True)


def _path(folder: Path, key: str) -> Path:
    return folder / f"{key}.part-of-audit"


def _checksum(key: str, content: bytes) -> bytes:
    return hashlib.sha256(key.encode() + content).hexdigest().encode()


def _texts(files: Mapping[str, bytes]) -> dict[str, str]:
    return {ending: base64.b64encode(data).decode() for ending, data in files.items()}


def _bytes(texts: Mapping[str, str]) -> dict[str, bytes]:
    return {ending: base64.b64decode(data) for ending, data in texts.items()}


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
                "files": _texts(picture.files),
                "inline": picture.inline,
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
        Drawn(one["suffix"], one["caption"], one["claim"], _bytes(one["files"]), one["inline"])
        for one in document["pictures"]
    )
    return Found(findings, document["document"], Shown(pictures, document["records"]))
