"""What arXiv 2409.17335 says word for word, where, and how it was read.

The text that was read is a scan without page numbers, which does not say its version. Many of its formulas are
illegible; they are written as the proofs have them, and a constant that was not legible is `reconstructed`.
"""

from collections.abc import Mapping

from marginaudit.reports.source_words import SourceWords, corrected, quoted

LEAST_T = "the power of ||W*_ov|| in the least T, which looks like 5"

COROLLARY_1 = quoted(
    "appendix C.1, Corollary 1",
    "let T >= 384||W*_ov||^5 log(2|V|) log T/eta_0 .. (e_In(x) - e_i)^T W_ov^(T) x in (A, 3A), for all i != In(x)",
    "(A, 3A) is open at both ends, and every token x and every other label i is meant.",
    reconstructed=LEAST_T,
)

ANY_STEP = "Of steps of any size; in print eta <= O(1)."

ORDER_ONE = "eta <= O(1) is read as eta <= ||W*_kq||/e, as Theorem 1's proof uses it; longer steps are audited beside."

THRESHOLDS = f"{ORDER_ONE} The absolute constant c_0 is what the proof (appendix C.6) prints: 384 for T and 1696 for t."

MENDED_THRESHOLDS = "What the algebra gives for c_0 and the power: 384 ||W*_ov||^7 for T, 864 for t."

EXPONENT = "with the exponent mended"

MENDED_POWER = "The power of ||W*_ov|| in the least T is 7, as the algebra gives."

PREDICTION = (
    "High probability is at least 1 - eps, as in the proof. No length is printed: sentences of any length, with one "
    "constant in O(.) for all of them and for all eps."
)

WORDS: Mapping[str, SourceWords] = {
    "ntp.gradient.ov": quoted(
        "appendix A, eq. 5",
        "grad_{W_ov} L_0(W_ov) = sum (T_0(x) - e_In(x)) x^T",
        "At any W_ov, whatever the embedding.",
    ),
    "ntp.gradient.kq": quoted(
        "appendix A, eq. 6",
        "grad_{W_kq} L(theta) = sum pi^(n) X^(n) (diag(phi(X^(n))) - phi(X^(n)) phi(X^(n))^T) (X^(n))^T W_ov^T "
        "(T(X^(n)) - p^(n)) (X_{-1}^(n))^T",
        "At any W_ov and W_kq, on any data.",
    ),
    "ntp.prop1.norm": quoted(
        "section 5.1, Proposition 1; appendix B, Proposition 3",
        "for any t >= 2, we have t eta_0/(2||W*_ov||) <= ||W_ov^(t)|| <= t eta_0",
        "From t = 2 on: the sign before 2 is not legible, and the proof sums from 2.",
    ),
    "ntp.prop1.direction": quoted(
        "section 5.1, Proposition 1; appendix B, Proposition 3",
        "the following bound holds: <W_ov^(t)/||W_ov^(t)||, W*_ov/||W*_ov||> >= 1 - 12||W*_ov||^3 log(2|V|) log "
        "t/(t eta_0)",
        "O(log t/t) has the constant of the last line of the proof, 12 ||W*_ov||^3 log(2V)/eta0, from t = 2 on.",
    ),
    "ntp.prop1.loss": quoted(
        "section 5.1, Proposition 1",
        "the loss function L_0 satisfies that L_0(W_ov^(t)) <= O(exp(-eta_0 t/(4||W*_ov||^2)))",
        "O(.) hides one constant for every t, which is the data's own: what is proved is C = V (V-1), and no constant "
        "serves every vocabulary.",
        reconstructed="the power of ||W*_ov|| in the exponent, 1 or 2: 2 is taken",
    ),
    "ntp.lemma2": quoted(
        "appendix B, Lemma 2",
        "At each iteration t, .. <W_ov^(t), grad L_0(W_ov^(t))> >= (1 + 2||W*_ov||/||W_ov^(t)|| log(2|V|)) "
        "||W_ov^(t)||/||W*_ov|| <W*_ov, grad L_0(W_ov^(t))>",
        "At each t from 1 on: at 0 the norm under a_t is 0.",
    ),
    "ntp.lemma3": quoted(
        "appendix C.1, Lemma 3",
        "With zero initialization .. for any iteration t, W_ov^(t) satisfies that (e_i - e_i')^T W_ov^(t) x = 0, "
        "for all i, i' != In(x)",
    ),
    "ntp.corollary1.lower": COROLLARY_1,
    "ntp.corollary1.upper": COROLLARY_1,
    "ntp.corollary1.lower.rederived": corrected("ntp.corollary1.lower", MENDED_POWER, mended=EXPONENT),
    "ntp.corollary1.upper.rederived": corrected("ntp.corollary1.upper", MENDED_POWER, mended=EXPONENT),
    "ntp.lemma4": quoted(
        "appendix C.1, Lemma 4",
        "<grad L(theta), W'_kq> = sum pi^(n) A sum_{l in l(n)} ([T_theta]_In(X^(n)) - 1) phi_l (x_l - sum_l' "
        "phi_l' x_l')^T W'_kq X_{-1} + ..",
        "Optimal positions are those whose token's next token is the sample's own, here as in eq. 3.",
    ),
    "ntp.lemma5": quoted(
        "appendix C.2, Lemma 5",
        "for any iteration t, and any sample X^(n) .. the following inequality holds. .. >= 1/L_max, for all l in l(n)",
        "The inequality is that of the summed weight. That each optimal weight never falls and is at least the others' "
        "is the induction hypothesis of the proof, and is audited with it.",
    ),
    "ntp.lemma6": quoted(
        "appendix C.3, Lemma 6",
        "for each iteration t .. t eta/(2L_max||W*_kq||) - ||W_kq^(0)|| <= ||W_kq^(t)|| <= t eta + ||W_kq^(0)||",
        "From a zero start, for every t from 1 on.",
    ),
    "ntp.lemma7": quoted(
        "appendix C.4, Lemma 7",
        "for any t >= t_0, we have <grad L(theta^(t)), W_kq^(t)> >= (1 + alpha_t) ||W_kq^(t)||/||W*_kq|| <grad "
        "L(theta^(t)), W*_kq>",
        reconstructed="the least t and a_t, which are taken from the proof",
    ),
    "ntp.lemma7.rederived": corrected(
        "ntp.lemma7",
        "1/pi_min in place of N: the proof weighs a frequent sample against a rare one as if they were even.",
    ),
    "ntp.theorem1.norm": quoted(
        "section 5.2, Theorem 1",
        "for any t >= 2, we have that t eta/(2L_max||W*_kq||) <= ||W_kq^(t)|| <= t eta",
        "Lemma 6 again, from t = 2 on.",
        reconstructed="the factor L_max in the lower bound, which is that of Lemma 6",
    ),
    "ntp.theorem1.direction": quoted(
        "section 5.2, Theorem 1",
        "the following inequality holds. <W_kq^(t)/||W_kq^(t)||, W*_kq/||W*_kq||> >= 1 - 54 N L_max^4 "
        "||W*_kq||^4 log^2 t/(t eta)",
        ORDER_ONE,
    ),
    "ntp.theorem1.direction.any-step": corrected("ntp.theorem1.direction", ANY_STEP),
    "ntp.theorem2.weight": quoted(
        "section 5.2, Theorem 2",
        "there is an absolute constant c_0 such that .. the optimal token weight satisfies min_n sum_{l* in "
        "l(n)} phi_l*^(n,t) >= (1 + L_max exp(-t C_1))^{-1}",
        THRESHOLDS,
        reconstructed=LEAST_T,
    ),
    "ntp.theorem2.weight.rederived": corrected(
        "ntp.theorem2.weight", MENDED_THRESHOLDS, mended="with both thresholds mended"
    ),
    "ntp.theorem2.weight.any-step": corrected("ntp.theorem2.weight", ANY_STEP),
    "ntp.theorem2.weight.rederived.any-step": corrected("ntp.theorem2.weight", f"{MENDED_THRESHOLDS} {ANY_STEP}"),
    "ntp.theorem2.loss": quoted(
        "section 5.2, Theorem 2, eq. 4",
        "the loss function L converges linearly to its minimal value: L(theta^(t)) <= |V| exp(-C_0 T(1 - "
        "2L_max/(L_max + exp(C_1 t))))",
        THRESHOLDS,
        reconstructed=LEAST_T,
    ),
    "ntp.theorem2.loss.rederived": corrected(
        "ntp.theorem2.loss", MENDED_THRESHOLDS, mended="with both thresholds mended"
    ),
    "ntp.theorem2.loss.any-step": corrected("ntp.theorem2.loss", ANY_STEP),
    "ntp.theorem2.loss.rederived.any-step": corrected("ntp.theorem2.loss", f"{MENDED_THRESHOLDS} {ANY_STEP}"),
    "ntp.theorem2.floor": quoted(
        "section 5.2, footnote 3 to Theorem 2",
        "For fixed W_ov^(T), the minimum loss value L* = |V| exp(-TC_0). .. L(theta^(t)) - L* <= L* TC_0 "
        "O(e^{-C_1 t}) for sufficiently large t",
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
        "x_0^T W*_kq x^q = 0 .. x_*^T W*_kq x^q = |N|/(|O| + |N|), x^T W*_kq x^q = -|O|/(|O| + |N|)",
        "Under what it names, Assumptions 1 and 2, whether or not prefixes are samples.",
    ),
    "ntp.prop2.corollary": quoted(
        "appendix D.1, Proposition 4",
        "A direct result is that (x_l - x_l')^T W*_kq X_{-1} = 0, for all l, l' not in l(n)",
        "Of any two positions of one sample that are not optimal.",
    ),
    "ntp.prop2.prefix-closed": quoted(
        "section 3, on Proposition 2's data",
        "if X = [x_1, .., x_L] in D_0, then for any l < L, ([x_1, .., x_l], x_{l+1}) is also a training sample",
        "Section 3 has every prefix of a sample among the samples; here that is an assumption by name.",
    ),
    "ntp.theorem3.order": quoted(
        "section 6, Theorem 3",
        "there exists a constant C_0 such that (x_* - x_0)^T W_kq^(t) x^q >= C_0 t, (x_0 - x)^T W_kq^(t) x^q >= C_0 t",
        "T = Omega(log(1/eps)) is a least T, and t = O(log(1/eps)) a greatest t, as printed; eps may be as small "
        "as one "
        "likes, so every t from 1 on is meant, with one C > 0 for all of them. The proof rests on Theorem 1, and "
        "so on its eta.",
    ),
    "ntp.theorem3.order.any-step": corrected("ntp.theorem3.order", ANY_STEP),
    "ntp.theorem3.order.rederived": corrected(
        "ntp.theorem3.order",
        "t = Omega(log(1/eps)), as in the proof: from some t on, with one C > 0 from there, for steps of any size.",
    ),
    "ntp.theorem3.prediction": quoted(
        "section 6, Theorem 3",
        "consists of a non-comparable token x_0 and non-optimal tokens, then the prediction made by T_theta(X) "
        "is n(x_0) with high probability",
        PREDICTION,
    ),
    "ntp.theorem3.prediction.rederived": corrected(
        "ntp.theorem3.prediction",
        "t = Omega(log(1/eps)), as in the proof: from some t on.",
        mended="with Omega(.) in place of O(.) for t",
    ),
    "ntp.example1": quoted(
        "section 4.1, Example 1",
        "Let the training dataset be {SVOP, VOP, OPP, PSV}. .. S >_S P. V >_V S. O >_O S, O >_O V. O >_P P.",
        "Each sentence stands for all its prefixes as samples; the relations named are all there are.",
    ),
    "ntp.example2": quoted(
        "section 6, Example 2",
        "new (unseen) input sentence SP .. the next predicted token is n(S) = V .. (unseen) input OSP .. will "
        "consistently predict P",
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
