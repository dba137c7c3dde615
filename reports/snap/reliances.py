"""What arXiv 2305.16380 derives from statements that are refuted, and what remains of it."""

from marginaudit.reports.reliance import Reliance

RELIANCES = (
    Reliance(
        "snap.remark2", ("snap.lemma12",), "The rows are those of h*, which lags without end: snap.lemma12.rederived."
    ),
    Reliance(
        "snap.lemma10",
        ("snap.lemma11", "snap.lemma12"),
        "Its first bound is true; with it come explicit constants (snap.lemma10.rederived, snap.lemma12.rederived).",
    ),
    Reliance(
        "snap.lemma12",
        ("snap.theorem5",),
        "With h* for h it stays at every step size (snap.theorem5.rederived); as printed for eta_Y <= 1.",
    ),
    Reliance(
        "snap.theorem5",
        ("snap.corollary1", "snap.theorem1.form"),
        "Theta and sigma are defined by the rows, so the form of the gradient stays; their sizes need eta_Y <= 1.",
    ),
    Reliance(
        "snap.theorem1.form",
        ("snap.theorem1.a", "snap.lemma4"),
        "With eq. 88's sign mended both go through (snap.theorem1.form.rederived); the term is of the order of 1/M.",
    ),
    Reliance(
        "snap.lemma9.scan",
        ("snap.theorem1.b", "snap.theorem4.scan"),
        "Only exp(Mh) <= (M-1) M h begins late, about t = K/(M eta_Y); the bounds on h and gamma stay "
        "(snap.lemma9.scan.rederived).",
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
        ("snap.theorem4.scan", "snap.theorem4.snap"),
        "All is ln(C0)/4 less: snap.theorem4.scan.rederived, snap.theorem4.snap.rederived.",
    ),
)
