"""The findings page: the verdict on each statement, to cite, made from the ledger.

Usage: python docs/findings.py

Writes docs/findings.md.
"""

import re
from pathlib import Path

from marginaudit.reports import Claim
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.counterexample import smallest_counterexample
from marginaudit.reports.page.files import write_whole
from marginaudit.reports.paper import Paper
from marginaudit.reports.standing import Status

HERE = Path(__file__).parent

HEADER = """# Findings

How each printed statement stands for every dataset that meets its assumptions: proved, refuted, or open. A refuted one
is shown with the smallest counterexample found, the weakest added assumption known under which it is true, and what
is true in its place. `marginaudit claims ID` tells all that is known of a statement, `marginaudit audit FILE` shows
that a counterexample violates it, and [Trust](trust.md) says what each kind of evidence rests on.

To cite a finding, give its id and the version, as in "marginaudit {version}, finding ntp.theorem2.floor". Ids are part
of the interface: they stay. `marginaudit audit --export latex` writes a `references.bib` with the papers' entries and
this program's.

`python docs/findings.py` makes this page.
"""

OF_OPTIMIZERS = """
## Other optimizers than NTP's

Measured on one dataset, section 7's, by six optimizers of stage 2; nothing of it is proved.

* Which direction attention takes depends on the optimizer: normalised and plain descent and momentum turn to NTP's
  W*\\_kq, Adam and sign descent to the solution with the smallest largest entry, W\\_K and W\\_Q apart to the one with
  the smallest nuclear norm.
* NTP's bounds on the norm (`ntp.theorem1.norm`, `ntp.lemma6`) hold for its own optimizer alone.
* **Shown by**: [Does the theorem survive my optimizer?](tutorials/your-own-training.md).
"""


def page() -> str:
    """Refuted statements one by one, then what is open, then what is proved, for each paper, then what was measured."""
    from importlib.metadata import version

    header = HEADER.replace("{version}", version("marginaudit"))
    return header + "".join(f"\n## {paper.source}\n\n{_of(paper)}" for paper in PAPERS) + OF_OPTIMIZERS


def _of(paper: Paper) -> str:
    by_status = {status: [claim for claim in paper.claims if claim.standing.status is status] for status in (*Status,)}
    counts = ", ".join(f"{len(claims)} {status}" for status, claims in by_status.items())
    parts = [f"{len(paper.claims)} statements: {counts}.\n"]
    parts += [_refuted(paper, claim) for claim in by_status[Status.REFUTED]]
    parts += [f"### Open ({paper.name})\n", *(_open(claim) for claim in by_status[Status.OPEN]), ""]
    parts += [f"### Proved ({paper.name})\n", *(_proved(claim) for claim in by_status[Status.PROVED]), ""]
    return "\n".join(parts)


def _refuted(paper: Paper, claim: Claim) -> str:
    words, known = claim.source_words, claim.standing
    lines = [f"### `{claim.id}` is false\n"]
    if words.quotation:
        lines.append(f"> “{_plain(words.quotation)}”\n>\n> {_plain(words.place)}\n")
    lines.append(f"```math\n{claim.formula}\n```\n\n{_plain(claim.statement)}\n")
    if words.corrects:
        lines.append(f"* **Beside** `{words.corrects}`: {_plain(words.reading)}")
    elif words.reading:
        lines.append(f"* **Read as**: {_plain(words.reading)}")
    if words.reconstructed:
        lines.append(f"* **Reconstructed**, not legible in the text that was read: {_plain(words.reconstructed)}.")
    lines.append(f"* **False** {known.severity}: {_plain(known.wrong)}")
    lines.append(f"* **Counterexample**: {_counterexample(paper, claim)}")
    lines.append(f"* **True with**: {_plain(known.weakest)}.")
    others = [
        f"`{other.id}` ({other.standing.status})"
        for other in paper.claims
        if other.source_words.corrects == claim.id and other.standing.status is not Status.REFUTED
    ]
    if others:
        lines.append(f"* **In its place**: {', '.join(others)}.")
    if known.proof:
        lines.append(f"* **Why**: {_link(known.proof)}.")
    return "\n".join(lines) + "\n"


def _counterexample(paper: Paper, claim: Claim) -> str:
    data = smallest_counterexample(paper, claim)
    if data is None:
        return f"{_plain(claim.standing.formula)}; no float64 dataset shows it."
    settings = "".join(f", {name} {value:g}" for name, value in claim.standing.settings)
    file = f"../reports/{paper.name}/counterexamples/{claim.id}.json"
    return f"[{_plain(paper.kind.in_words(data))}]({file}){settings}."


def _open(claim: Claim) -> str:
    known = claim.standing
    return f"* `{claim.id}`: open is {_plain(known.settles)}. {known.hunted} datasets hunted, no counterexample."


def _proved(claim: Claim) -> str:
    return f"* `{claim.id}`: {_plain(claim.statement)} {_link(claim.standing.proof or '')}."


def _link(proof: str) -> str:
    target = proof.removeprefix("docs/")
    return f"[proof]({target})"


def _plain(text: str) -> str:
    """Text that Markdown leaves as it is."""
    return re.sub(r"([\\`*_{}\[\]<>|$~])", r"\\\1", text)


def main() -> None:
    """Write the page."""
    write_whole(HERE / "findings.md", page())


if __name__ == "__main__":
    main()
