"""A document set by the system's TeX engines, and what they complain of."""

import re
import shutil
import subprocess
from pathlib import Path

ENGINES = ("pdflatex", "lualatex", "xelatex")

FAULTS = re.compile(
    r"^! .*|^Overfull.*|^Missing character.*"
    r"|.*(?:too large for page|multiply.defined|undefined on input|undefined references).*",
    re.MULTILINE,
)
"""Lines of a log: errors, what is wider than a line or higher than a page, characters that are not shown, no target."""


def missing(program: str) -> str:
    """What a document cannot be set without; "" where nothing is missing."""
    return "" if shutil.which(program) else f"no {program} (docs/maintaining.md says what to install)"


def faults(folder: Path, source: str, engine: str, bibliography: str = "") -> list[str]:
    """What an engine complains of in a document, after as many passes as its references need."""
    (folder / "paper.tex").write_text(source, encoding="utf-8")
    found: list[str] = []
    for program in [engine, bibliography, engine, engine] if bibliography else [engine, engine]:
        if program == bibliography:
            said = _run(folder, program, "paper")
            found = re.findall(r"(?im)^.*(?:warn|error).*$", said.replace("There were 0 error messages", ""))
        else:
            _run(folder, program, "-interaction=nonstopmode", "paper")
    log = (folder / "paper.log").read_text(encoding="utf-8", errors="replace")
    assert "Output written on paper.pdf" in log
    return found + FAULTS.findall(log)


def _run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
    return (done.stdout + done.stderr).decode("utf-8", "replace")
