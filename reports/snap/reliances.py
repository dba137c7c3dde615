"""What arXiv 2305.16380 derives from statements that are refuted, and what remains of it."""

from typing import Any

from marginaudit.reports.reliance import Reliance

_ALL = (
    Reliance(
        "snap.remark2",
        ("snap.lemma12", "snap.theorem5"),
        "They write h for h* because of it; read as h* they are true at every step size (snap.theorem5.rederived).",
    ),
    Reliance("snap.remark3", ("snap.lemma9.scan",), "Range R is stated with M^-0.99, the larger of the two: it stays."),
    Reliance("snap.eq64", ("snap.lemma11",), "Eq. 65 uses the size of dg/ds alone (snap.eq64.rederived)."),
    Reliance(
        "snap.lemma12.Y.eq26", ("snap.theorem5",), "Its proof asks for F° orthogonal to F, where the formula is true."
    ),
    Reliance("snap.eq112", ("snap.theorem3.growth",), "It uses the sign of the rate alone (snap.eq112.rederived)."),
    Reliance(
        "snap.lemma10",
        ("snap.lemma11", "snap.lemma12"),
        "Its first bound is true; with it come explicit constants (snap.lemma10.rederived, snap.lemma12.rederived).",
    ),
    Reliance(
        "snap.theorem1.form",
        ("snap.theorem1.a", "snap.lemma4"),
        "With eq. 88's sign mended both go through (snap.theorem1.form.rederived); the term is of the order of 1/M.",
    ),
    Reliance(
        "snap.lemma4",
        (
            "snap.theorem2.distinct",
            "snap.theorem2.common",
            "snap.corollary2",
            "snap.theorem3.gain",
            "snap.theorem3.growth",
            "snap.eq13",
        ),
        "They are about eq. 10 itself, along which they stay; of SGD they speak with eta_Z/K for eta_Z "
        "(snap.lemma4.rederived).",
    ),
    Reliance(
        "snap.eq13",
        ("snap.theorem4.closed-form",),
        "Theorem 4 assumes the equation with a constant C0: it stays a statement on that equation, and C0 is another.",
    ),
    Reliance(
        "snap.theorem4.closed-form",
        (
            "snap.theorem4.scan",
            "snap.theorem4.snap",
            "snap.theorem4.growth",
            "snap.theorem4.ends",
            "snap.eq132",
            "snap.eq133",
        ),
        "All is ln(C0)/4 less: snap.theorem4.scan.rederived, snap.theorem4.snap.rederived; late B has room for that.",
    ),
)

RELIANCES: dict[str, Any] = {one.refuted: {"relied_on_by": one.relied, "remains": one.remains} for one in _ALL}
