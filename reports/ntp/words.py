"""What arXiv 2409.17335 says word for word, where, and how it was read.

The text that was read is a scan without page numbers, which does not say its version. Many of its formulas are
illegible: words are quoted, and where a constant was not legible the reading says so.
"""

from collections.abc import Mapping

from marginaudit.reports.source_words import SourceWords, corrected, quoted

COROLLARY_1 = quoted(
    "appendix C.1, Corollary 1",
    "Under the settings in Proposition .. let",
    "The power of ||W*_ov|| in the least T is 5 as far as it is legible. (A, 3A) is open at both ends, and every "
    "token x "
    "and every other label i is meant.",
)

THRESHOLDS = (
    "The absolute constant c_0 is what the proof (appendix C.6) prints: 384 for T and 1696 for t; the power of "
    "||W*_ov|| is 5 as far as it is legible."
)

MENDED_THRESHOLDS = "What the algebra gives for c_0 and the power: 384 ||W*_ov||^7 for T, 864 for t."

MENDED_POWER = "The power of ||W*_ov|| in the least T is 7, as the algebra gives."

PREDICTION = (
    "High probability is at least 1 - eps, as in the proof. No length is printed: sentences of any length, with one "
    "constant in O(.) for all of them and for all eps."
)

WORDS: Mapping[str, SourceWords] = {
    "ntp.gradient.ov": quoted(
        "appendix A, eq. 5",
        "We first provide the general formula for the gradients of both layers.",
        "At any W_ov, whatever the embedding.",
    ),
    "ntp.gradient.kq": quoted(
        "appendix A, eq. 6",
        "We first provide the general formula for the gradients of both layers.",
        "At any W_ov and W_kq, on any data.",
    ),
    "ntp.prop1.norm": quoted(
        "section 5.1, after Proposition 1; appendix B, Proposition 3",
        "In addition, since the norm of .. increases linearly",
        "From t = 2 on: the sign before 2 is not legible, and the proof sums from 2.",
    ),
    "ntp.prop1.direction": quoted(
        "section 5.1, after Proposition 1; appendix B, Proposition 3",
        "converges in direction to .. at a rate of O(log t/t), which classifies the next token from all other tokens",
        "O(log t/t) has the constant of the last line of the proof, 12 ||W*_ov||^3 log(2V)/eta0, from t = 2 on.",
    ),
    "ntp.prop1.loss": quoted(
        "section 5.1, Proposition 1, and after it",
        "the loss .. converges linearly to zero",
        "O(.) is one constant for all t, which the data may set. The power of ||W*_ov|| in the exponent is not "
        "legible, "
        "1 or 2: 2 is taken.",
    ),
    "ntp.lemma2": quoted(
        "appendix B, Lemma 2",
        "At each iteration t, the following inequality holds.",
        "At each t from 1 on: at 0 the norm under a_t is 0.",
    ),
    "ntp.lemma3": quoted(
        "appendix C.1, Lemma 3",
        "With zero initialization, under the updating rule .. for any iteration t",
    ),
    "ntp.corollary1.lower": COROLLARY_1,
    "ntp.corollary1.upper": COROLLARY_1,
    "ntp.corollary1.lower.rederived": corrected("ntp.corollary1.lower", MENDED_POWER),
    "ntp.corollary1.upper.rederived": corrected("ntp.corollary1.upper", MENDED_POWER),
    "ntp.lemma4": quoted(
        "appendix C.1, before Lemma 4",
        "we provide the general form of the projection of the gradient of Key-Query matrix",
        "Optimal positions are those whose token's next token is the sample's own, here as in eq. 3.",
    ),
    "ntp.lemma5": quoted(
        "appendix C.2, Lemma 5",
        "Under the zero initialization and updating rule .. for any iteration .. and any sample .. the following "
        "inequality holds.",
        "The inequality is that of the summed weight. That each optimal weight never falls and is at least the others' "
        "is the induction hypothesis of the proof, and is audited with it.",
    ),
    "ntp.lemma6": quoted(
        "appendix C.3, before Lemma 6",
        "The following lemma shows that the norm of the Key-Query Matrix increases linearly with the number of "
        "iterations.",
        "From a zero start, for every t from 1 on.",
    ),
    "ntp.lemma7": quoted(
        "appendix C.4, before Lemma 7",
        "We next show that the gradient .. is close to the optimal direction",
        "The least t and a_t are not legible throughout; they are reconstructed from the proof.",
    ),
    "ntp.lemma7.rederived": corrected(
        "ntp.lemma7",
        "1/pi_min in place of N: the proof weighs a frequent sample against a rare one as if they were even.",
    ),
    "ntp.theorem1.norm": quoted(
        "section 5.2, after Theorem 1",
        "We further show that the norm of .. also grows linearly",
        "Lemma 6 again, from t = 2 on.",
    ),
    "ntp.theorem1.direction": quoted(
        "section 5.2, after Theorem 1",
        "the key-query matrix .. converges in direction to .. at a convergence rate of",
        "eta <= O(1) forbids no step size: it is audited at every one. Whether eta <= ||W*_kq||/e, which the proof "
        "uses, "
        "is reported beside.",
    ),
    "ntp.theorem2.weight": quoted(
        "section 5.2, Theorem 2",
        "there is an absolute constant .. such that when .. the optimal token weight satisfies",
        THRESHOLDS,
    ),
    "ntp.theorem2.weight.rederived": corrected("ntp.theorem2.weight", MENDED_THRESHOLDS),
    "ntp.theorem2.loss": quoted(
        "section 5.2, Theorem 2, eq. 4",
        "the loss function .. converges .. to its minimal value",
        THRESHOLDS,
    ),
    "ntp.theorem2.loss.rederived": corrected("ntp.theorem2.loss", MENDED_THRESHOLDS),
    "ntp.theorem2.floor": quoted(
        "section 5.2, footnote 3 to Theorem 2",
        "For fixed .. the minimum loss value .. for sufficiently large .. which further implies the linear "
        "convergence in",
        "The minimum is over W_kq, W_ov^(T) being what stage 1 made it.",
    ),
    "ntp.theorem2.rate": quoted(
        "section 5.2, after Theorem 2",
        "the training loss converges to its minimum value at a linear convergence rate",
        "Linear is geometric in t: the log of the excess over the infimum, whatever that is, falls by a constant a "
        "step.",
    ),
    "ntp.prop2.closed-form": quoted(
        "section 6, Proposition 2; appendix D.1, Proposition 4",
        "for any optimal token .. non-optimal token .. and non-comparable token",
        "Under what it names, Assumptions 1 and 2, whether or not prefixes are samples.",
    ),
    "ntp.prop2.corollary": quoted(
        "appendix D.1, Proposition 4",
        "A direct result is that",
        "Of any two positions of one sample that are not optimal.",
    ),
    "ntp.prop2.prefix-closed": quoted(
        "section 3, on Proposition 2's data",
        "is also a training sample, since it follows",
        "Section 3 has every prefix of a sample among the samples; here that is an assumption by name.",
    ),
    "ntp.theorem3.order": quoted(
        "section 6, after Theorem 3",
        "it inserts the non-comparable tokens between the optimal and non-optimal tokens",
        "T = Omega(log(1/eps)) is a least T, and t = O(log(1/eps)) a greatest t, as printed; eps may be as small "
        "as one "
        "likes, so every t from 1 on is meant, with one C > 0 for all of them.",
    ),
    "ntp.theorem3.order.rederived": corrected(
        "ntp.theorem3.order", "t = Omega(log(1/eps)), as in the proof: from some t on, with one C > 0 from there."
    ),
    "ntp.theorem3.prediction": quoted(
        "section 6, Theorem 3",
        "consists of a non-comparable token .. and non-optimal tokens, then the prediction made by .. with high "
        "probability",
        PREDICTION,
    ),
    "ntp.theorem3.prediction.rederived": corrected(
        "ntp.theorem3.prediction", "t = Omega(log(1/eps)), as in the proof: from some t on."
    ),
    "ntp.example1": quoted(
        "section 4.1, Example 1",
        "Let the training dataset be {SVOP, VOP, OPP, PSV}.",
        "Each sentence stands for all its prefixes as samples; the relations named are all there are.",
    ),
    "ntp.example2": quoted(
        "section 6, Example 2",
        "the next predicted token is .. The trained transformer will consistently predict",
        "The predicted token is the most probable one, at the last step of the run: V after SP, P after OSP. The "
        "trained transformer is that of Theorem 3, so Assumption 2 holds.",
    ),
    "sharp.stage1": corrected(
        "ntp.prop1.direction", "Stage 1 does not approach the direction of W*_ov: it is on it from the first step on."
    ),
    "sharp.prop2": corrected("ntp.prop2.closed-form", "When exactly the closed form holds."),
    "sharp.single-optimum": corrected(
        "ntp.prop2.prefix-closed", "Why the closed form holds where prefixes are samples."
    ),
    "sharp.lemma6": corrected("ntp.lemma6", "sqrt 2 in place of 2 L_max."),
    "sharp.lemma7": corrected(
        "ntp.lemma7", "From the first step on, with log(2 L_max^3/pi_min) in place of N L_max^2."
    ),
    "sharp.theorem1": corrected("ntp.theorem1.direction", "A bound of the order of log t/t, for steps of any size."),
    "sharp.floor": corrected("ntp.theorem2.floor", "The infimum as it is, for steps of at most 1/(4 ||W*_kq||)."),
    "sharp.floor.any-step": corrected("ntp.theorem2.floor", "As sharp.floor, without a limit to the step size."),
    "sharp.rate": corrected("ntp.theorem1.direction", "The rate as it is, for steps of at most 1/(4 ||W*_kq||)."),
    "sharp.rate.any-step": corrected("ntp.theorem1.direction", "As sharp.rate, without a limit to the step size."),
    "sharp.theorem1.squared": corrected(
        "ntp.theorem1.direction", "The order of sharp.rate with a constant that is known, for steps of any size."
    ),
}
"""By id."""
