"""What is known of each statement of arXiv 2305.16380, and of its corrections, for all sequence classes."""

from collections.abc import Mapping

from marginaudit.reports.standing import Severity, Standing, proved, refuted, unsettled

PAGE = "docs/proofs-snap.md#"

NO_REFUGE = "none: it is false on every dataset of which it speaks"
H_STAR = "none: with h* for h it is true ({source})"
ONE_CONSTANT = "C0 = 1, which makes ln(C0)/4 vanish"
FOR_EVER = (
    "whether xi_n > 0 beyond the t to which section 7.9 of docs/proofs-snap.md proves it; for two classes, symmetric "
    "ones and one common token it is proved at every t. That -ln det(I+E) never rises, which would settle it, is "
    "false: near its stationary points it does"
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
        severity=Severity.ORDINARY,
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
        severity=Severity.EVERYWHERE,
        hunted=1,
        weakest="s <= ln M/eta_Y, where c = 1 serves (snap.lemma7.gap)",
    ),
    "snap.remark2.rederived": proved(PAGE + "11-snapremark2rederived", "snap.lemma6", hunted=16),
    "snap.lemma8": proved(PAGE + "58-snaplemma8-for-m-at-least-4", "snap.lemma8.rederived", hunted=34),
    "snap.lemma8.any-M": refuted(
        PAGE + "12-snaplemma8rederived",
        "snap.lemma8.rederived",
        severity=Severity.ORDINARY,
        hunted=1,
        weakest="M >= 4 (snap.lemma8.rederived)",
    ),
    "snap.lemma8.rederived": proved(PAGE + "58-snaplemma8-for-m-at-least-4", hunted=210),
    "snap.remark3": refuted(
        PAGE + "81-snapremark3rederived",
        "snap.remark3.rederived",
        severity=Severity.EVERYWHERE,
        hunted=1,
        weakest=NO_REFUGE,
    ),
    "snap.remark3.rederived": proved(
        PAGE + "81-snapremark3rederived", "snap.lemma6", "snap.lemma8.rederived", hunted=71
    ),
    "snap.eq64": refuted(
        PAGE + "82-snapeq64rederived", "snap.eq64.rederived", severity=Severity.EVERYWHERE, hunted=1, weakest=NO_REFUGE
    ),
    "snap.eq64.rederived": proved(PAGE + "82-snapeq64rederived", hunted=98),
    "snap.lemma9.scan": proved(PAGE + "13-snaplemma9scanrederived", "snap.lemma9.scan.rederived", hunted=102),
    "snap.lemma9.scan.any-t": refuted(
        PAGE + "13-snaplemma9scanrederived",
        "snap.lemma9.scan.rederived",
        severity=Severity.EVERYWHERE,
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
        severity=Severity.CONSTANT,
        hunted=1,
        weakest="one M, or ln(M eta_Y t/K) for ln(eta_Y t/K) (snap.theorem1.b.rederived)",
    ),
    "snap.theorem1.b.rederived": proved(
        PAGE + "14-snaptheorem1brederived", "snap.lemma6", "snap.lemma8.rederived", hunted=311
    ),
    "snap.lemma10": refuted(
        PAGE + "22-snaplemma10rederived",
        "snap.lemma10.rederived",
        severity=Severity.CONSTANT,
        hunted=1,
        weakest="N ln(2/delta) >= 2 (sqrt(2)+1)^2 (snap.lemma10.rederived)",
    ),
    "snap.lemma10.rederived": proved(PAGE + "22-snaplemma10rederived", hunted=336),
    "snap.remark4": proved(PAGE + "83-snapremark4", "snap.lemma10.rederived", hunted=127),
    "snap.lemma11": proved(PAGE + "23-snaplemma11-and-snaplemma11any-delta", "snap.lemma6", hunted=15),
    "snap.lemma11.any-delta": refuted(
        PAGE + "23-snaplemma11-and-snaplemma11any-delta",
        "snap.lemma6",
        severity=Severity.ORDINARY,
        hunted=1,
        weakest="N-bar >= 10 Delta (snap.lemma11)",
    ),
    "snap.lemma12": proved(PAGE + "27-snaplemma12-and-snaptheorem5", "snap.lemma5", hunted=24),
    "snap.lemma12.any-step": refuted(
        PAGE + "24-snaplemma12rederived",
        "snap.lemma5",
        severity=Severity.EVERYWHERE,
        hunted=2,
        weakest=H_STAR.format(source="snap.lemma12"),
    ),
    "snap.lemma12.rederived": proved(
        PAGE + "24-snaplemma12rederived", "snap.lemma5", "snap.lemma6", "snap.lemma10.rederived", hunted=44
    ),
    "snap.lemma12.Y": proved(PAGE + "84-snaplemma12y-and-eq-26", "snap.lemma5", hunted=636),
    "snap.lemma12.Y.eq26": refuted(
        PAGE + "84-snaplemma12y-and-eq-26",
        "snap.lemma3",
        "snap.lemma5",
        severity=Severity.ORDINARY,
        hunted=1,
        weakest="F° orthogonal to F, as Theorem 5's proof asks, or K = M",
    ),
    "snap.theorem5": proved(
        PAGE + "27-snaplemma12-and-snaptheorem5", "snap.lemma12", "snap.theorem5.rederived", hunted=7
    ),
    "snap.theorem5.any-step": refuted(
        PAGE + "25-snaptheorem5rederived",
        "snap.theorem5.rederived",
        severity=Severity.ORDINARY,
        hunted=10,
        settings={"lr_y": 100.0},
        weakest="eta_Y <= 1 and K >= 2, with the constant 6 (docs/proofs-snap.md, section 5.9)",
    ),
    "snap.theorem5.rederived": proved(
        PAGE + "25-snaptheorem5rederived", "snap.lemma5", "snap.lemma10.rederived", hunted=38
    ),
    "snap.corollary1": refuted(
        PAGE + "26-snapcorollary1rederived",
        "snap.corollary1.rederived",
        severity=Severity.EVERYWHERE,
        hunted=1,
        weakest="8 K ln(K/delta) steps at least, and the bounds on sigma of snap.corollary1.rederived",
    ),
    "snap.corollary1.rederived": proved(
        PAGE + "26-snapcorollary1rederived", "snap.lemma5", "snap.lemma6", "snap.lemma12.rederived", hunted=4
    ),
    "snap.eq71": proved(PAGE + "85-snapeq71", "snap.lemma5", hunted=89),
    "snap.eq71.continuous": refuted(
        PAGE + "85-snapeq71",
        "snap.eq71",
        severity=Severity.EVERYWHERE,
        hunted=1,
        weakest=H_STAR.format(source="snap.eq71"),
    ),
    "snap.lemma13": proved(PAGE + "61-snaplemma13-snaplemma14-snaplemma15", hunted=1393),
    "snap.lemma14": proved(PAGE + "61-snaplemma13-snaplemma14-snaplemma15", hunted=778),
    "snap.lemma15": proved(PAGE + "61-snaplemma13-snaplemma14-snaplemma15", "snap.lemma14", hunted=806),
    "snap.lemma16": proved(PAGE + "62-snaplemma16", hunted=705),
    "snap.lemma17": refuted(
        PAGE + "31-snaplemma17rederived",
        severity=Severity.ORDINARY,
        hunted=19,
        weakest="|lambda_1| < 1 (snap.lemma17.rederived)",
    ),
    "snap.lemma17.rederived": proved(PAGE + "31-snaplemma17rederived", "snap.lemma14", hunted=1127),
    "snap.theorem1.form": refuted(
        PAGE + "32-snaptheorem1formrederived",
        "snap.theorem1.form.rederived",
        severity=Severity.EVERYWHERE,
        hunted=1,
        weakest=NO_REFUGE,
    ),
    "snap.theorem1.form.rederived": proved(
        PAGE + "32-snaptheorem1formrederived", "snap.lemma3", "snap.lemma5", "snap.lemma14", hunted=47
    ),
    **{
        f"snap.eq{equation}": proved(
            PAGE + "86-snapeq87-snapeq89-snapeq90", "snap.theorem1.form.rederived", "snap.lemma15", hunted=7
        )
        for equation in (87, 89)
    },
    "snap.eq90": proved(PAGE + "86-snapeq87-snapeq89-snapeq90", "snap.lemma15", hunted=142),
    "snap.theorem1.a": proved(
        PAGE + "34-snaptheorem1a", "snap.theorem1.form.rederived", "snap.theorem5.rederived", hunted=8
    ),
    "snap.theorem1.a.any-t": refuted(
        PAGE + "33-snaptheorem1aany-t",
        "snap.theorem1.form.rederived",
        severity=Severity.ORDINARY,
        hunted=273,
        weakest="E'_nk > 0 for every pair n != k, as for K = 2 or equal overlaps",
    ),
    "snap.lemma4": refuted(
        PAGE + "41-snaplemma4rederived",
        "snap.lemma4.rederived",
        severity=Severity.CONSTANT,
        hunted=1,
        weakest="none for K >= 2: with eta_Z/K it is true (snap.lemma4.rederived)",
    ),
    "snap.lemma4.rederived": proved(
        PAGE + "41-snaplemma4rederived", "snap.lemma1", "snap.lemma2", "snap.theorem1.form.rederived", hunted=11
    ),
    "snap.theorem2.distinct": proved(
        PAGE + "77-snaptheorem2distinct-snaptheorem2common-and-snaptheorem3growth",
        "snap.theorem1.form.rederived",
        "snap.lemma16",
        hunted=7,
    ),
    "snap.theorem2.distinct.from-zero": unsettled(FOR_EVER, hunted=11),
    "snap.theorem2.common": proved(
        PAGE + "77-snaptheorem2distinct-snaptheorem2common-and-snaptheorem3growth",
        "snap.theorem2.distinct",
        hunted=25,
    ),
    "snap.theorem2.common.from-zero": proved(
        PAGE + "78-snaptheorem2commonfrom-zero", "snap.theorem1.form.rederived", "snap.lemma16", hunted=18
    ),
    "snap.corollary2": proved(PAGE + "73-snapcorollary2", "snap.theorem1.form.rederived", hunted=5),
    "snap.corollary2.any-classes": refuted(
        PAGE + "42-snapcorollary2any-classes",
        severity=Severity.ORDINARY,
        hunted=414,
        weakest="conditions (1) to (3) of Corollary 2 (snap.corollary2)",
    ),
    "snap.theorem3.gain": proved(PAGE + "74-snaptheorem3gain", hunted=11),
    "snap.theorem3.gain.sgd": refuted(
        None, severity=Severity.ORDINARY, hunted=1, weakest="the flow of eq. 10 for SGD (snap.theorem3.gain)"
    ),
    "snap.theorem3.growth": proved(
        PAGE + "77-snaptheorem2distinct-snaptheorem2common-and-snaptheorem3growth",
        "snap.theorem2.distinct",
        "snap.theorem3.gain",
        hunted=18,
    ),
    "snap.theorem3.growth.from-zero": unsettled(FOR_EVER, hunted=22),
    "snap.eq112": refuted(
        PAGE + "87-snapeq112rederived",
        "snap.eq112.rederived",
        severity=Severity.CONSTANT,
        hunted=25,
        weakest="none: 1 is not 2 (snap.eq112.rederived)",
    ),
    "snap.eq112.rederived": proved(PAGE + "87-snapeq112rederived", "snap.theorem3.gain", hunted=5),
    "snap.eq13": refuted(
        PAGE + "43-snapeq13rederived",
        "snap.eq13.rederived",
        severity=Severity.CONSTANT,
        hunted=1,
        weakest="none: K - 1 is not K (snap.eq13.rederived)",
    ),
    "snap.eq13.rederived": proved(PAGE + "43-snapeq13rederived", "snap.theorem1.form.rederived", hunted=4),
    "snap.theorem4.closed-form": refuted(
        PAGE + "44-snaptheorem4closed-formrederived",
        "snap.theorem4.closed-form.rederived",
        severity=Severity.CONSTANT,
        hunted=1,
        weakest=ONE_CONSTANT,
    ),
    "snap.theorem4.closed-form.rederived": proved(PAGE + "44-snaptheorem4closed-formrederived", hunted=7),
    **{
        f"snap.theorem4.{part}": refuted(
            PAGE + "45-snaptheorem4scanrederived-snaptheorem4snaprederived",
            f"snap.theorem4.{part}.rederived",
            severity=Severity.CONSTANT,
            hunted=1,
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
    **{
        f"snap.theorem4.{part}": refuted(
            PAGE + "88-snaptheorem4growthrederived-snaptheorem4endsrederived",
            f"snap.theorem4.{part}.rederived",
            severity=Severity.CONSTANT,
            hunted=1,
            weakest=ONE_CONSTANT,
        )
        for part in ("growth", "ends")
    },
    **{
        f"snap.theorem4.{part}.rederived": proved(
            PAGE + "88-snaptheorem4growthrederived-snaptheorem4endsrederived",
            "snap.theorem4.scan.rederived",
            *uses,
            hunted=hunted,
        )
        for part, hunted, *uses in (("growth", 8), ("ends", 7, "snap.theorem4.snap.rederived"))
    },
    **{
        f"snap.eq{equation}": proved(
            PAGE + "89-snapeq132-and-snapeq133", "snap.theorem4.closed-form.rederived", "snap.lemma6", hunted=hunted
        )
        for equation, hunted in ((132, 265), (133, 220))
    },
    "snap.theorem4.rates": proved(
        PAGE + "76-snaptheorem4rates-for-m-at-least-6-and-not-for-5",
        "snap.theorem4.closed-form.rederived",
        "snap.theorem1.b.rederived",
        hunted=2,
    ),
    "snap.theorem4.rates.any-M": refuted(
        PAGE + "76-snaptheorem4rates-for-m-at-least-6-and-not-for-5",
        "snap.theorem4.closed-form.rederived",
        severity=Severity.ORDINARY,
        hunted=7,
        weakest="M >= 6",
    ),
    "snap.fig6.direction": unsettled(
        "the mean of SGD's entropy after 100 updates; it is read off an experiment", hunted=0
    ),
}
"""By id; a claim that is not here is open."""
