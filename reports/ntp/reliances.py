"""What arXiv 2409.17335 derives from statements that are refuted, and what remains of it."""

from typing import Any

from marginaudit.reports.reliance import Reliance

_ALL = (
    Reliance(
        "ntp.corollary1.upper",
        ("ntp.lemma4", "ntp.theorem2.loss", "ntp.theorem2.floor"),
        "The source takes one A for all margins, as both halves put them near A. They are one, T eta0/||W*_ov|| "
        "(sharp.stage1): Lemma 4 and all that rests on it stay, and Theorem 2's loss, whose C0 T is only less. What "
        "takes A for the margin itself, the floor of the footnote, falls.",
    ),
    Reliance(
        "ntp.lemma7",
        ("ntp.theorem1.direction",),
        "sharp.lemma7 telescopes to sharp.theorem1; the printed bound follows where frequencies are not extremely "
        "uneven.",
    ),
    Reliance(
        "ntp.theorem1.direction",
        ("ntp.theorem2.weight", "ntp.theorem2.loss", "ntp.theorem3.order"),
        "From sharp.theorem1 Theorem 2's bound on attention follows from its threshold on where frequencies are not "
        "extremely uneven (docs/proofs.md, section 10), and Theorem 3's order under Assumption 3. For all frequencies "
        "Theorem 2's loss is true (section 16.6), and without Assumption 3 the order late in the run (section 15.6).",
    ),
    Reliance(
        "ntp.theorem3.order",
        ("ntp.theorem3.prediction",),
        "Under Assumption 3 the order is true, and with it the prediction for sentences up to a length that grows "
        "with t.",
    ),
)

RELIANCES: dict[str, Any] = {one.refuted: {"relied_on_by": one.relied, "remains": one.remains} for one in _ALL}
