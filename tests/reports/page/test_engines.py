r"""Exports set by TeX: no error, nothing wider or higher than a page, no character that is dropped."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from pandas import DataFrame

from marginaudit.claims.table import Captioned
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.command.cli import main
from marginaudit.reports.page.exports import references
from marginaudit.reports.page.latex import latex
from tests.command_line import dataset_file

ROOT = Path(__file__).parents[3]

ENGINES = ("pdflatex", "lualatex", "xelatex")

FAULTS = re.compile(
    r"^! .*|^Overfull.*|^Missing character.*"
    r"|.*(?:too large for page|multiply.defined|undefined on input|undefined references).*",
    re.MULTILINE,
)
"""Lines of a log: errors, what is wider than a line or higher than a page, characters that are not shown, no target."""

PAGE_WIDTH = 597
"""Of A4, in points; a table may be wider than a line."""


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
    tables = re.findall(r"\\gdef \\LT@\w+ (.*?pt\}\})", (folder / "paper.aux").read_text(encoding="utf-8"), re.DOTALL)
    widths = [sum(map(float, re.findall(r"\{([\d.]+)pt\}", columns))) for columns in tables]
    return found + FAULTS.findall(log) + [f"{width} points" for width in widths if width > PAGE_WIDTH]


def _run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
    return (done.stdout + done.stderr).decode("utf-8", "replace")


EACH_ENGINE = pytest.mark.parametrize(
    "engine",
    [pytest.param(name, marks=pytest.mark.skipif(bool(missing(name)), reason=missing(name))) for name in ENGINES],
)

PAPER = r"""\documentclass%s{article}
\usepackage{iftex}
\ifpdftex\usepackage[T1]{fontenc}\fi
\usepackage{booktabs}
\usepackage{longtable}
\begin{document}
%s
\end{document}
"""

ODD = ["é", "ą", "a_b", "100%", "\\x", '"q"', "~^", "''--``", "#&$", "[x]", "*", "{}<>|", "½²“”€"]
"""Tokens of all kinds."""

WIDE = Captioned(
    DataFrame(
        [(token, " ".join(ODD) + " W" * 200, "≤ -1.234e-107", "0.1 to 1/3") for token in ODD]
        + [(f"row{number}", "a", "1", "–") for number in range(130)],
        columns=["query", "many tokens in one cell", "a number", "another number"],
    ),
    "A title of é",
    ("A note with é.",),
    numbers=["a number", "another number"],
)

BIBLATEX = r"\usepackage{biblatex}\addbibresource{references.bib}\begin{document}"

NARROW = Captioned(DataFrame([("c", 1)] * 46, columns=["a", "b"]), "narrow", ("A note of many words. " * 8,))

REFERENCES = r"""\cite{huang2024nonasymptotic,marginaudit}
\input{tables/verdicts}\input{tables/direction}\input{tables/proposition2}
\bibliographystyle{plain}\bibliography{tables/references}"""


@EACH_ENGINE
@pytest.mark.slow
@pytest.mark.parametrize("options", ["", "[12pt,a4paper]"])
def test_tables_of_any_width_and_length_are_set(tmp_path: Path, engine: str, options: str) -> None:
    assert faults(tmp_path, PAPER % (options, latex([WIDE, NARROW])), engine) == []


@EACH_ENGINE
def test_many_tables_are_set(tmp_path: Path, engine: str) -> None:
    frame = DataFrame([("ą", 1e-5)] * 30, columns=["é", "b"])
    tables = [Captioned(frame, f"t_{number % 7}") for number in range(60)]
    assert faults(tmp_path, PAPER % ("", r"\listoftables" + latex(tables)), engine) == []


@EACH_ENGINE
@pytest.mark.slow
@pytest.mark.parametrize("data", ["built in", "odd"])
def test_what_an_audit_exports_is_set(tmp_path: Path, engine: str, data: str) -> None:
    sentences = [ODD, ODD[3:], ["a_b", "a_b"]]
    odd = {"name": " ".join(ODD), "sentences": sentences}
    given = [] if data == "built in" else [str(dataset_file(tmp_path, odd, "é_&.json"))]
    with pytest.raises(SystemExit) as ended:
        main(["audit", *given, "--export", "latex", "--out", str(tmp_path / "out")])
    assert ended.value.code == 0
    shutil.copytree(tmp_path / "out" / "tables", tmp_path / "tables")
    assert faults(tmp_path, PAPER % ("", REFERENCES), engine, "bibtex") == []


@pytest.mark.slow
@pytest.mark.skipif(bool(missing("pdflatex")), reason=missing("pdflatex"))
def test_the_paper_of_the_tutorial_is_set(tmp_path: Path) -> None:
    """As `docs/tutorials/start.md` has it, data, command and paper."""
    text = (ROOT / "docs" / "tutorials" / "start.md").read_text(encoding="utf-8")
    [data] = re.findall(r"cat > svop.txt <<'END'\n(.*?)END\n", text, re.DOTALL)
    [command] = re.findall(r"```bash\nmarginaudit (audit svop.txt .*?)```", text, re.DOTALL)
    [paper] = re.findall(r"```latex\n(.*?)```", text, re.DOTALL)
    Path("svop.txt").write_text(data, encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(command.replace("\\\n", "")))
    assert ended.value.code == 0
    shutil.copytree(Path("svop-report") / "tables", "tables")
    assert faults(tmp_path, paper, "pdflatex", "bibtex") == []


@pytest.mark.slow
@pytest.mark.skipif(bool(missing("biber")), reason=missing("biber"))
@EACH_ENGINE
def test_biber_reads_the_references(tmp_path: Path, engine: str) -> None:
    (tmp_path / "references.bib").write_text(references(PAPERS), encoding="utf-8")
    body = r"\emergencystretch=3em\cite{huang2024nonasymptotic,tian2023scan,marginaudit}\printbibliography"
    source = (PAPER % ("", body)).replace(r"\begin{document}", BIBLATEX)
    assert faults(tmp_path, source, engine, "biber") == []
