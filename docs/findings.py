"""The findings page: each cause of a failure with the statements that share it, to cite, made from the ledger.

Usage: python docs/findings.py

Writes docs/findings.md.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from marginaudit.claims import Claim
from marginaudit.claims.paper import Paper
from marginaudit.claims.quotation import Form
from marginaudit.claims.standing import Status
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.counterexample import smallest_counterexample
from marginaudit.reports.page.files import write_whole
from marginaudit.reports.page.headline import columns
from marginaudit.reports.page.typeset import FORMULA, typeset
from marginaudit.reports.tally import counts, in_words, others_in_words

HERE = Path(__file__).parent

HEADER = """# Findings

Standing of each printed statement over every dataset in its paper's setting: false, proved, or open. The setting
includes footnotes, notation and the proof's "for large t"; a statement beyond it is a variant, and counted apart.
Statements that share a fault are one finding. A finding gives the error, a fair author's answer, the smallest
counterexample found, and the true statement in its place; those on which most results rest come first.
`marginaudit claims ID` prints everything known about a statement, `marginaudit audit FILE` confirms that a
counterexample violates it, and [Trust](trust.md) describes each kind of evidence.

To cite a finding, give its id and the version, as in "marginaudit {version}, finding ntp.theorem1.direction". Ids are
part of the interface: they stay. `marginaudit audit --export latex` writes a `references.bib` with the papers' entries
and this program's.

`python docs/findings.py` makes this page.
"""

OF_OPTIMIZERS = """
## Other optimizers than NTP's

Measured after 2,000 steps of stage 2, without proofs. Cosines are medians over thirty random datasets, with the range.

* Which direction attention takes depends on the optimizer. To NTP's W*\\_kq: normalised descent (0.996 [0.988, 1.000]),
  less closely plain descent and SAM (0.955 [0.894, 0.995] each) and momentum (0.919 [0.766, 0.973]).
* To the nearest solution with the smallest largest entry: sign descent (1.000 [1.000, 1.000]), Adam (0.974 [0.938,
  0.994]), AdamW, Adagrad and RMSprop (0.973 to 0.980). All but sign descent have about half of its margin.
* To the nearest one with the smallest spectral norm: Muon (0.990 [0.921, 1.000]). W\\_K and W\\_Q apart take the
  smallest nuclear norm: 0.955 [0.916, 0.997] of its margin.
* NTP's bounds on the norm (`ntp.theorem1.norm`, `ntp.lemma6`) hold for its own optimizer alone, on section 7's data.
* **Shown by**: [Which direction did it take?](tutorials/which-direction.md),
  [Does the theorem survive my optimizer?](tutorials/your-own-training.md).

### Figure 4 of Scan and Snap is of another optimizer than Lemma 1's

Figure 4, and the command in its authors' README, train on batches of 128 sequences with momentum .9, at M = 34 and
(eta\\_Y, eta\\_Z) = (1, 1) or (10, 1). Lemma 1, and the theorems on it, are about SGD on one sequence a step.

* **Setting**: not Lemma 1's SGD. Assumption 1 (c), eta\\_Y >> eta\\_Z, is not met at (1, 1), and Assumption 2 would
  need M > 36 K^2 = 144. Of the printed statements on attention eq. 11 alone speaks of such a run, at (10, 1).
* **A fair answer**: section 8 states batches and momentum. The figure illustrates the theorems, none of which rests
  on it; in expectation a batch's step is that of a sequence, and momentum m is a step size 1/(1-m) times as large.
* **Measured** on the mean steps of a run of 200 steps at either pair, with confidence 0.99: z and f of each class's
  most probable distinct token grow (`snap.theorem3.growth.sgd` holds); whether the rarest distinct tokens gain and
  every common token loses is hidden by the draw (`snap.theorem2.distinct.sgd`, `snap.theorem2.common.sgd`), as is any
  departure from eq. 11 at (10, 1).
* **Shown by**: [Mean steps](your-own-run.md#mean-steps), and [its checkpoints](your-own-run.md#sequence-classes).
"""


def page() -> str:
    """Counts and findings of each paper, what is false beyond the print, what is open and proved, what was measured."""
    from importlib.metadata import version

    header = HEADER.replace("{version}", version("marginaudit"))
    return header + _counts() + "".join(f"\n## {paper.source}\n\n{_of(paper)}" for paper in PAPERS) + OF_OPTIMIZERS


def _counts() -> str:
    """A table: the printed statements of each paper, and how many others there are."""
    of_papers = [(paper, counts((claim, claim.standing) for claim in paper.claims)) for paper in PAPERS]
    names = [*columns(found for _, found in of_papers), "causes"]
    lines = ["", f"| paper | {' | '.join(names)} | beside them |", f"| {' | '.join(['---'] * (len(names) + 2))} |"]
    for paper, found in of_papers:
        cells = [paper.source, *(str(found[name]) for name in names), others_in_words(found)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _of(paper: Paper) -> str:
    refuted = sorted(
        (claim for claim in paper.claims if claim.standing.status is Status.REFUTED), key=lambda c: c.standing.gravity
    )
    sharing = {claim.id: [other for other in refuted if other.standing.cause == claim.id] for claim in refuted}
    leads = [claim for claim in refuted if not claim.standing.cause]
    parts = [f"{in_words(counts((claim, claim.standing) for claim in paper.claims))}.\n"]
    parts += [_finding(paper, claim, sharing[claim.id]) for claim in leads if _is_printed(claim)]
    beyond = [_beyond(paper, claim, sharing[claim.id]) for claim in leads if not _is_printed(claim)]
    parts += [f"### Beyond the print ({paper.name})\n", *beyond, ""]
    for status, line in ((Status.OPEN, _open), (Status.PROVED, _proved)):
        listed = [line(claim) for claim in paper.claims if claim.standing.status is status]
        parts += [f"### {status.value.capitalize()} ({paper.name})\n", *(listed or ["None."]), ""]
    return "\n".join(parts)


def _is_printed(claim: Claim) -> bool:
    return claim.source_words.form is Form.PRINTED


def _finding(paper: Paper, claim: Claim, others: Sequence[Claim]) -> str:
    """One cause: the statement named with it, and the others that share it."""
    words, known = claim.source_words, claim.standing
    lines = [f"### {_typeset(known.wrong)}\n", f"`{claim.id}`, {known.severity}, {known.weight}.\n"]
    stated = f"```math\n{claim.formula}\n```\n" if claim.formula else f"{_typeset(claim.statement)}\n"
    lines += [f"> “{_typeset(words.quotation)}”\n>\n> {_typeset(words.place)}\n", stated]
    if words.reading:
        lines.append(f"* **Read as**: {_typeset(words.reading)}")
    if words.reconstructed:
        lines.append(f"* **Reconstructed**, not legible in the text that was read: {_typeset(words.reconstructed)}.")
    lines.append(f"* **A fair answer**: {_typeset(known.defence)}")
    lines.append(f"* **Counterexample**: {_counterexample(paper, claim)}")
    lines.append(f"* **True with**: {_typeset(known.weakest)}.")
    mended = [
        f"`{other.id}` ({other.standing.status})"
        for other in paper.claims
        if other.source_words.corrects == claim.id and other.standing.status is Status.PROVED
    ]
    if mended:
        lines.append(f"* **In its place**: {', '.join(mended)}.")
    if known.proof:
        lines.append(f"* **Why**: {_link(known.proof)}.")
    for other in others:
        form = "" if _is_printed(other) else f" ({other.source_words.form})"
        lines.append(
            f"* **Also** `{other.id}`{form}: {_typeset(other.standing.wrong)} {_link(other.standing.proof or '')}."
        )
    return "\n".join(lines) + "\n"


def _beyond(paper: Paper, claim: Claim, others: Sequence[Claim]) -> str:
    """A line on a refuted statement that is not in print, with those that share its fault."""
    known = claim.standing
    why = f" {_link(known.proof)}." if known.proof else ""
    so = f" So: {', '.join(f'`{other.id}`' for other in others)}." if others else ""
    form = claim.source_words.form
    return (
        f"* `{claim.id}` ({form}, {known.severity}): {_typeset(known.wrong)} {_counterexample(paper, claim)}{why}{so}"
    )


def _counterexample(paper: Paper, claim: Claim) -> str:
    data = smallest_counterexample(paper, claim)
    if data is None:
        return f"{_typeset(claim.standing.formula)}; no float64 dataset shows it."
    settings = "".join(f", {name} {value:g}" for name, value in claim.standing.settings)
    file = f"../reports/{paper.name}/counterexamples/{claim.id}.json"
    return f"[{_plain(paper.kind.in_words(data))}]({file}){settings}."


def _open(claim: Claim) -> str:
    known = claim.standing
    return f"* `{claim.id}`: open is {_typeset(known.settles)}. {known.hunted} datasets hunted, no counterexample."


def _proved(claim: Claim) -> str:
    return f"* `{claim.id}`: {_typeset(claim.statement)} {_link(claim.standing.proof or '')}."


def _link(proof: str) -> str:
    target = proof.removeprefix("docs/")
    return f"[proof]({target})"


def _typeset(text: str) -> str:
    """Text for Markdown, its formulas as mathematics."""
    return "".join(
        f"${part.strip('$ ')}$".replace(r"\|", r"\Vert ") if i % 2 else _plain(part)
        for i, part in enumerate(FORMULA.split(typeset(text)))
    )


def _plain(text: str) -> str:
    """Text that Markdown leaves as it is."""
    return re.sub(r"([\\`*_{}\[\]<>|$~])", r"\\\1", text)


def main() -> None:
    """Write the page."""
    write_whole(HERE / "findings.md", page())


if __name__ == "__main__":
    main()
