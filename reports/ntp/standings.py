"""What is known of each statement of arXiv 2409.17335, and of the sharper ones, for every dataset."""

from collections.abc import Mapping

from marginaudit.reports.standing import Severity, Standing, proved, refuted

PAGE = "docs/proofs.md#"

UNEVEN = (
    "V = 4, samples [a, b] -> n(a) of frequency 1 - eps and [c, d] -> n(c) of frequency eps, eps small enough: about "
    "exp(-{least}) at the default step size"
)
"""Frequencies that no float64 holds."""

NO_REFUGE = "none: it is false on every dataset of which it speaks"
EVEN = "log(2 L_max^3/pi_min) <= {factor} N L_max^4 ({corollary} of docs/proofs.md)"
ORDER_ONE = "eta <= ||W*_kq||/e"
ENOUGH_BEATEN = "|N(S)| k >= |S| m for every set S of the optimal tokens under every query (sharp.prop2)"
SHORT_STEPS = "eta <= 1/(4 ||W*_kq||) ({source})"
LONG_STEPS: Mapping[str, float] = {"lr1": 1800.0, "lr2": 2e5, "steps1": 2, "steps2": 2, "certify": 2}
"""With these, three samples of the frequencies 10^14, 10^7 and 1 refute Theorems 1 and 2 for every eta."""

LONG_STEPS_PROOF = PAGE + "167-theorems-1-and-2-are-false-for-long-steps"

STANDINGS: Mapping[str, Standing] = {
    "ntp.gradient.ov": proved(PAGE + "121-ntpgradientov", hunted=1138),
    "ntp.gradient.kq": proved(PAGE + "122-ntpgradientkq", hunted=1312),
    "ntp.prop1.norm": proved(PAGE + "131-ntpprop1norm", "sharp.stage1", hunted=178),
    "ntp.prop1.direction": proved(PAGE + "132-ntpprop1direction", "sharp.stage1", hunted=140),
    "ntp.prop1.loss": proved(PAGE + "133-ntpprop1loss", "sharp.stage1", hunted=165),
    "ntp.lemma2": proved(PAGE + "134-ntplemma2", "sharp.stage1", hunted=2),
    "ntp.lemma3": proved(PAGE + "135-ntplemma3", "sharp.stage1", hunted=4),
    "ntp.corollary1.lower": proved(PAGE + "136-ntpcorollary1lower", "sharp.stage1", hunted=7),
    "ntp.corollary1.upper": refuted(
        PAGE + "137-ntpcorollary1upper-is-false",
        "sharp.stage1",
        severity=Severity.EVERYWHERE,
        hunted=2,
        weakest=NO_REFUGE,
    ),
    "ntp.corollary1.lower.rederived": proved(PAGE + "136-ntpcorollary1lower", "sharp.stage1", hunted=7),
    "ntp.corollary1.upper.rederived": refuted(
        PAGE + "137-ntpcorollary1upper-is-false",
        "sharp.stage1",
        severity=Severity.EVERYWHERE,
        hunted=2,
        weakest=NO_REFUGE,
    ),
    "ntp.lemma4": proved(PAGE + "123-ntplemma4", "ntp.gradient.kq", hunted=37),
    "ntp.lemma5": proved(PAGE + "141-ntplemma5", "ntp.lemma4", "sharp.stage1", hunted=9),
    "ntp.lemma6": proved(PAGE + "142-ntplemma6-and-ntptheorem1norm", "sharp.lemma6", hunted=5),
    "ntp.lemma7": refuted(
        PAGE + "145-ntplemma7-is-false-for-extremely-uneven-frequencies",
        "sharp.lemma6",
        severity=Severity.EXTREME,
        hunted=9,
        formula=UNEVEN.format(least="2000"),
        weakest=(
            "log(2 L_max^3/pi_min) <= 4 N L_max^2 ||W*_kq|| (1 + log(2 L_max r)) at r = 4 sqrt(2) L_max ||W*_kq||, the "
            "least norm beyond the threshold (docs/proofs.md, section 14.4)"
        ),
    ),
    "ntp.lemma7.rederived": proved(PAGE + "143-ntplemma7rederived", "sharp.lemma6", "sharp.lemma7", hunted=4),
    "ntp.theorem1.norm": proved(PAGE + "142-ntplemma6-and-ntptheorem1norm", "sharp.lemma6", hunted=146),
    "ntp.theorem1.direction": refuted(
        PAGE + "10-what-follows-for-theorems-1-and-2-of-the-paper",
        severity=Severity.EXTREME,
        hunted=135,
        formula=UNEVEN.format(least="4000000"),
        weakest=EVEN.format(factor=5, corollary="corollary 10.3"),
    ),
    "ntp.theorem1.direction.any-step": refuted(
        LONG_STEPS_PROOF,
        severity=Severity.EXTREME,
        hunted=136,
        settings=LONG_STEPS,
        weakest=f"{ORDER_ONE} and {EVEN.format(factor=5, corollary='corollary 10.3')}",
    ),
    **{
        f"ntp.theorem2.weight{suffix}": refuted(
            PAGE + "165-ntptheorem2weight-is-false-for-extremely-uneven-frequencies",
            severity=Severity.EXTREME,
            hunted=hunted,
            formula=UNEVEN.format(least="30000000"),
            weakest=EVEN.format(factor=230, corollary="corollary 10.2"),
        )
        for suffix, hunted in (("", 4), (".rederived", 3))
    },
    **{
        f"ntp.theorem2.weight{suffix}.any-step": refuted(
            LONG_STEPS_PROOF,
            severity=Severity.EXTREME,
            hunted=hunted,
            settings=LONG_STEPS,
            weakest=f"{ORDER_ONE} and {EVEN.format(factor=230, corollary='corollary 10.2')}",
        )
        for suffix, hunted in (("", 5), (".rederived", 4))
    },
    **{
        f"ntp.theorem2.loss{suffix}": proved(
            PAGE + "166-ntptheorem2loss-for-every-frequency", "ntp.lemma5", "sharp.stage1", "sharp.lemma6", hunted=5
        )
        for suffix in ("", ".rederived")
    },
    **{
        f"ntp.theorem2.loss{suffix}.any-step": refuted(
            LONG_STEPS_PROOF,
            severity=Severity.EXTREME,
            hunted=6,
            settings=LONG_STEPS,
            weakest=(
                f"{ORDER_ONE} (ntp.theorem2.loss), or a threshold for t beyond "
                "4 (4 log L_max + 3.1) ||W*_kq||^3/eta + 2 ||W*_kq||^2 (docs/proofs.md, section 16.6)"
            ),
        )
        for suffix in ("", ".rederived")
    },
    "ntp.theorem2.floor": refuted(
        PAGE + "162-ntptheorem2floor-is-false",
        "sharp.floor",
        "sharp.stage1",
        severity=Severity.EVERYWHERE,
        hunted=1,
        weakest=NO_REFUGE,
    ),
    "ntp.theorem2.rate": proved(PAGE + "161-ntptheorem2rate", "sharp.lemma6", "sharp.theorem1", hunted=1),
    "ntp.prop2.closed-form": refuted(
        PAGE + "2-sharpprop2",
        "sharp.prop2",
        severity=Severity.ORDINARY,
        hunted=1689,
        weakest=f"{ENOUGH_BEATEN}, which is also needed",
    ),
    "ntp.prop2.corollary": refuted(
        PAGE + "2-sharpprop2",
        "sharp.prop2",
        severity=Severity.ORDINARY,
        hunted=564,
        weakest=f"{ENOUGH_BEATEN} is enough; less may be",
    ),
    "ntp.prop2.prefix-closed": proved(
        PAGE + "3-sharpsingle-optimum", "sharp.single-optimum", "sharp.prop2", hunted=887
    ),
    **{
        f"ntp.theorem3.order{suffix}": refuted(
            PAGE + "152-ntptheorem3order-is-false-without-assumption-3",
            "ntp.lemma4",
            severity=Severity.ORDINARY,
            hunted=144,
            weakest="Assumption 3, optimal_majority (docs/proofs.md, section 15.1)",
        )
        for suffix in ("", ".any-step")
    },
    "ntp.theorem3.order.rederived": proved(
        PAGE + "156-ntptheorem3orderrederived-without-assumption-3", "ntp.lemma4", "sharp.stage1", hunted=15
    ),
    **{
        f"ntp.theorem3.prediction{suffix}": refuted(
            PAGE + "153-ntptheorem3prediction-is-false-wherever-it-speaks",
            "sharp.stage1",
            severity=Severity.EVERYWHERE,
            hunted=1,
            weakest="a limit to the length: fewer than exp(s_0 - s_x) copies of each other token at that t",
        )
        for suffix in ("", ".rederived")
    },
    "ntp.example1": proved(PAGE + "154-ntpexample1", hunted=0),
    "ntp.example2": proved(PAGE + "155-ntpexample2", hunted=0),
    "sharp.stage1": proved(PAGE + "1-sharpstage1", "ntp.gradient.ov", hunted=104),
    "sharp.prop2": proved(PAGE + "2-sharpprop2", hunted=1799),
    "sharp.single-optimum": proved(PAGE + "3-sharpsingle-optimum", hunted=1246),
    "sharp.lemma6": proved(PAGE + "5-sharplemma6", "ntp.lemma5", hunted=4),
    "sharp.lemma7": proved(PAGE + "6-sharplemma7", "ntp.lemma5", hunted=10),
    "sharp.theorem1": proved(PAGE + "7-sharptheorem1", "sharp.lemma6", "sharp.lemma7", hunted=6),
    "sharp.floor": proved(PAGE + "8-sharpfloor", "sharp.stage1", "sharp.lemma6", "sharp.theorem1", hunted=23),
    "sharp.floor.any-step": refuted(
        PAGE + "97-a-cycle-of-two-steps",
        severity=Severity.ORDINARY,
        hunted=29,
        settings={"lr2": 5.0},
        weakest=SHORT_STEPS.format(source="sharp.floor"),
    ),
    "sharp.rate": proved(PAGE + "9-sharprate", "sharp.lemma6", "sharp.theorem1", hunted=16),
    "sharp.rate.any-step": refuted(
        PAGE + "97-a-cycle-of-two-steps",
        severity=Severity.ORDINARY,
        hunted=21,
        settings={"lr2": 5.0},
        weakest=SHORT_STEPS.format(source="sharp.rate"),
    ),
    "sharp.theorem1.squared": proved(PAGE + "11-sharptheorem1squared", "sharp.lemma6", "sharp.theorem1", hunted=830),
}
"""By id; a claim that is not here is open."""
