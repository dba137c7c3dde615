"""What is known of each statement of arXiv 2305.16380, and of its corrections, for all sequence classes."""

from collections.abc import Mapping

from marginaudit.reports.standing import Standing, proved, refuted, unsettled

PAGE = "docs/proofs-snap.md#"

NO_REFUGE = "none: it is false on every dataset of which it speaks"
H_STAR = "none: with h* for h it is true ({source})"
ONE_CONSTANT = "C0 = 1, which makes ln(C0)/4 vanish"
SIGN_OF_XI = (
    "whether xi_n > 0 for all t where some E'_nk is below 0 off the diagonal; for two classes, and symmetric ones, it "
    "is proved"
)

STANDINGS: Mapping[str, Standing] = {
    "snap.lemma1": proved(PAGE + "51-snaplemma1", hunted=146),
    "snap.lemma3": proved(PAGE + "52-snaplemma3", hunted=377),
    "snap.lemma2": proved(PAGE + "53-snaplemma2-and-snaplemma18", "snap.lemma18", hunted=26),
    "snap.lemma18": proved(PAGE + "53-snaplemma2-and-snaplemma18", hunted=79),
    "snap.lemma5": proved(PAGE + "54-snaplemma5", "snap.lemma3", hunted=63),
    "snap.remark1": refuted(
        PAGE + "21-snapremark1rederived",
        "snap.remark1.rederived",
        hunted=2,
        weakest="rho = 0 and classes drawn in turn (Lemma 5)",
    ),
    "snap.remark1.rederived": proved(PAGE + "21-snapremark1rederived", hunted=231),
    "snap.lemma6": proved(PAGE + "55-snaplemma6", hunted=82),
    "snap.lemma7.gap": proved(PAGE + "56-snaplemma7gap", "snap.remark2.rederived", hunted=27),
    "snap.lemma7.limit": proved(
        PAGE + "57-snaplemma7limit", "snap.lemma6", "snap.lemma7.gap", "snap.remark2.rederived", hunted=57
    ),
    "snap.remark2": refuted(
        PAGE + "11-snapremark2rederived",
        "snap.remark2.rederived",
        hunted=1,
        weakest="s <= ln M/eta_Y, where c = 1 serves (snap.lemma7.gap)",
    ),
    "snap.remark2.rederived": proved(PAGE + "11-snapremark2rederived", "snap.lemma6", hunted=16),
    "snap.lemma8": refuted(
        PAGE + "12-snaplemma8rederived", "snap.lemma8.rederived", hunted=1, weakest="M >= 4 (snap.lemma8.rederived)"
    ),
    "snap.lemma8.rederived": proved(PAGE + "58-snaplemma8-for-m-at-least-4", hunted=210),
    "snap.lemma9.scan": refuted(
        PAGE + "13-snaplemma9scanrederived",
        "snap.lemma9.scan.rederived",
        hunted=1,
        weakest="t >= K (2 (M-1) x_0 - 1)/(M eta_Y), x_0 the smaller zero of Lemma 8 (snap.lemma9.scan.rederived)",
    ),
    "snap.lemma9.scan.rederived": proved(
        PAGE + "13-snaplemma9scanrederived", "snap.lemma6", "snap.lemma8.rederived", hunted=418
    ),
    "snap.lemma9.snap": proved(PAGE + "14-snaptheorem1brederived", "snap.theorem1.b.rederived", hunted=118),
    "snap.theorem1.b": refuted(
        PAGE + "14-snaptheorem1brederived",
        "snap.lemma6",
        hunted=1,
        weakest="one M, or ln(M eta_Y t/K) for ln(eta_Y t/K) (snap.theorem1.b.rederived)",
    ),
    "snap.theorem1.b.rederived": proved(
        PAGE + "14-snaptheorem1brederived", "snap.lemma6", "snap.lemma8.rederived", hunted=311
    ),
    "snap.lemma10": refuted(
        PAGE + "22-snaplemma10rederived",
        "snap.lemma10.rederived",
        hunted=1,
        weakest="N ln(2/delta) >= 2 (sqrt(2)+1)^2 (snap.lemma10.rederived)",
    ),
    "snap.lemma10.rederived": proved(PAGE + "22-snaplemma10rederived", hunted=336),
    "snap.lemma11": unsettled(
        "constants for delta near 1; docs/proofs-snap.md, section 2.3, has eq. 61 and the first part of eq. 62 for "
        "delta <= 1/2",
        hunted=20,
    ),
    "snap.lemma12": refuted(
        PAGE + "24-snaplemma12rederived",
        "snap.lemma5",
        hunted=2,
        weakest=H_STAR.format(source="snap.lemma12.rederived"),
    ),
    "snap.lemma12.rederived": proved(
        PAGE + "24-snaplemma12rederived", "snap.lemma5", "snap.lemma6", "snap.lemma10.rederived", hunted=44
    ),
    "snap.theorem5": refuted(
        PAGE + "25-snaptheorem5rederived",
        "snap.theorem5.rederived",
        hunted=10,
        settings={"lr_y": 100.0},
        weakest="eta_Y <= 1 and K >= 2, with the constant 6 (docs/proofs-snap.md, section 5.9)",
    ),
    "snap.theorem5.rederived": proved(
        PAGE + "25-snaptheorem5rederived", "snap.lemma5", "snap.lemma10.rederived", hunted=38
    ),
    "snap.corollary1": unsettled("constants for every delta, and for eq. 71's steps to epsilon at every M", hunted=5),
    "snap.lemma13": proved(PAGE + "61-snaplemma13-snaplemma14-snaplemma15", hunted=1393),
    "snap.lemma14": proved(PAGE + "61-snaplemma13-snaplemma14-snaplemma15", hunted=778),
    "snap.lemma15": proved(PAGE + "61-snaplemma13-snaplemma14-snaplemma15", "snap.lemma14", hunted=806),
    "snap.lemma16": proved(PAGE + "62-snaplemma16", hunted=705),
    "snap.lemma17": refuted(
        PAGE + "31-snaplemma17rederived", hunted=19, weakest="|lambda_1| < 1 (snap.lemma17.rederived)"
    ),
    "snap.lemma17.rederived": proved(PAGE + "31-snaplemma17rederived", "snap.lemma14", hunted=1127),
    "snap.theorem1.form": refuted(
        PAGE + "32-snaptheorem1formrederived", "snap.theorem1.form.rederived", hunted=1, weakest=NO_REFUGE
    ),
    "snap.theorem1.form.rederived": proved(
        PAGE + "32-snaptheorem1formrederived", "snap.lemma3", "snap.lemma5", "snap.lemma14", hunted=47
    ),
    "snap.theorem1.a": unsettled(
        "a bound on the chance that xi_n <= 0 after t >> K^2 steps, where some E'_nk is below 0 off the diagonal",
        hunted=8,
    ),
    "snap.theorem1.a.any-t": refuted(
        PAGE + "33-snaptheorem1aany-t",
        "snap.theorem1.form.rederived",
        hunted=273,
        weakest="no E'_nk below 0 off the diagonal, as for K = 2 or equal overlaps",
    ),
    "snap.lemma4": refuted(
        PAGE + "41-snaplemma4rederived",
        "snap.lemma4.rederived",
        hunted=1,
        weakest="none for K >= 2: with eta_Z/K it is true (snap.lemma4.rederived)",
    ),
    "snap.lemma4.rederived": proved(
        PAGE + "41-snaplemma4rederived", "snap.lemma1", "snap.lemma2", "snap.theorem1.form.rederived", hunted=11
    ),
    "snap.theorem2.distinct": unsettled(SIGN_OF_XI, hunted=5),
    "snap.theorem2.common": unsettled(SIGN_OF_XI, hunted=5),
    "snap.corollary2": proved(PAGE + "73-snapcorollary2", "snap.theorem1.form.rederived", hunted=5),
    "snap.corollary2.any-classes": refuted(
        PAGE + "42-snapcorollary2any-classes",
        hunted=414,
        weakest="conditions (1) to (3) of Corollary 2 (snap.corollary2)",
    ),
    "snap.theorem3.gain": proved(PAGE + "74-snaptheorem3gain", hunted=11),
    "snap.theorem3.gain.sgd": refuted(None, hunted=1, weakest="the flow of eq. 10 for SGD (snap.theorem3.gain)"),
    "snap.theorem3.growth": unsettled(SIGN_OF_XI, hunted=5),
    "snap.eq13": refuted(
        PAGE + "43-snapeq13rederived",
        "snap.eq13.rederived",
        hunted=1,
        weakest="none: K - 1 is not K (snap.eq13.rederived)",
    ),
    "snap.eq13.rederived": proved(PAGE + "43-snapeq13rederived", "snap.theorem1.form.rederived", hunted=4),
    "snap.theorem4.closed-form": refuted(
        PAGE + "44-snaptheorem4closed-formrederived",
        "snap.theorem4.closed-form.rederived",
        hunted=10,
        weakest=ONE_CONSTANT,
    ),
    "snap.theorem4.closed-form.rederived": proved(PAGE + "44-snaptheorem4closed-formrederived", hunted=7),
    **{
        f"snap.theorem4.{part}": refuted(
            PAGE + "45-snaptheorem4scanrederived-snaptheorem4snaprederived",
            f"snap.theorem4.{part}.rederived",
            hunted=10,
            weakest=ONE_CONSTANT,
        )
        for part in ("scan", "snap")
    },
    **{
        f"snap.theorem4.{part}.rederived": proved(
            PAGE + "45-snaptheorem4scanrederived-snaptheorem4snaprederived",
            "snap.theorem4.closed-form.rederived",
            lemma,
            hunted=8,
        )
        for part, lemma in (("scan", "snap.lemma9.scan.rederived"), ("snap", "snap.theorem1.b.rederived"))
    },
    "snap.theorem4.rates": refuted(
        PAGE + "76-snaptheorem4rates-for-m-at-least-6-and-not-for-5",
        "snap.theorem4.closed-form.rederived",
        hunted=7,
        weakest="M >= 6",
    ),
    "snap.fig6.direction": unsettled(
        "the mean of SGD's entropy after 100 updates; it is read off an experiment", hunted=0
    ),
}
"""By id; a claim that is not here is open."""
