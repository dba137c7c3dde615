"""What arXiv 2305.16380 says word for word, where, and how it was read.

The text that was read has no page numbers and does not say its version. Formulas are in plain symbols.
"""

from collections.abc import Mapping

from marginaudit.reports.source_words import SourceWords, corrected, quoted

MUCH = "Much greater is ten times or more"

RANGE_R = f"{MUCH}: M >= 1000 and 10 M^-0.99 <= eta_Y < 1"

ONE_CONSTANT = "O(.) is one constant for every M, eta_Y and t that are spoken of"

TWO_STAGES = f"{RANGE_R} (Remark 3). h is the continuous one, at t/K. {ONE_CONSTANT}."

FLOW = (
    "From t = 1 on: at t = 0 gamma is 0. Assumption 2 is asked for at Z = 0 alone, and theta and sigma "
    "of Theorem 1 are 0."
)

LOWER_LIMIT = "ln((C0 + 4 Gamma)/C0) in place of ln(C0 + 4 Gamma), the integral of eq. 124 from 0 on."

SHARE = "h = (1+o(1)) .. is taken as all that it can be at that t."

WORDS: Mapping[str, SourceWords] = {
    "snap.lemma1": quoted(
        "section 3.1, Lemma 1, eq. 3; appendix C",
        "The gradient dynamics of Eqn. 2 with batchsize 1 is",
        "The derivatives of the log-likelihood of one sequence. That rows sum to zero is said after the lemma.",
    ),
    "snap.lemma3": quoted(
        "section 4, Lemma 3, eq. 8; appendix D.2, eq. 26",
        "While we cannot run gradient update on W directly, it can be achieved by modifying the gradient of Y",
        "E' is that of Lemma 14, I - E' = (I+E)^{-1}; the list of notation in appendix D.1 has the other sign.",
    ),
    "snap.lemma2": quoted(
        "section 3.3, Lemma 2, eq. 6; appendix C",
        "Given the event .. when T -> +infty, we have",
        "In probability, as Lemma 18 has it.",
    ),
    "snap.lemma18": quoted(
        "appendix H, Lemma 18, eqs. 134 to 136",
        "there exists some .. And with probability at least 1 - delta we have",
        "For each token by itself, not for all of them together.",
    ),
    "snap.lemma5": quoted(
        "appendix D.2, Lemma 5, eqs. 31 to 33",
        "Assume Y is initialized to be a zero matrix, Z is fixed, and the learning rate of Y is eta_Y",
    ),
    "snap.remark1": quoted(
        "appendix D.2, Remark 1, eq. 43",
        "if different sequence classes are sampled uniformly, then by similar induction argument, we will have",
        "Eq. 43 as it is printed, its last equality included.",
    ),
    "snap.remark1.rederived": corrected(
        "snap.remark1", "The flow of eq. 7 in closed form; the zeta_n do not add up to 0."
    ),
    "snap.lemma6": quoted(
        "appendix D.3, Lemma 6, eqs. 44 and 45",
        "If we consider the continuous version of h*(s), namely h, as the following ODE",
    ),
    "snap.lemma7.gap": quoted(
        "appendix D.3, Lemma 7 (a)",
        "Then there exists some constant c = Theta(1) such that for any s <= ln(M)/eta_Y",
        "A constant is one c for every s, M and eta_Y that are spoken of.",
    ),
    "snap.lemma7.limit": quoted("appendix D.3, Lemma 7 (b)", ".. -> 0 when s -> +infty"),
    "snap.remark2": quoted(
        "appendix D.3, Remark 2",
        "By some qualitative estimation, we claim that if eta_Y = O(1), then there exists some constant c = O(ln M)",
        "One c serves every s > s_1; it may grow with M like ln M.",
    ),
    "snap.remark2.rederived": corrected("snap.remark2", "The lag as it is, between two bounds that grow with s."),
    "snap.lemma8": quoted(
        "appendix D.3, Lemma 8",
        "There exists .. such that for .. we have .. And for .. we have",
        "The indices 2 and 3 are those of omega_0 and omega_1. Every M is meant: M >> 100 is asked for the bound on "
        "omega_0 alone.",
    ),
    "snap.lemma8.rederived": corrected("snap.lemma8", "M >= 4; below there are no two zeros."),
    "snap.lemma9.scan": quoted("appendix D.3, Lemma 9", "We have two stage for h and gamma", TWO_STAGES),
    "snap.lemma9.scan.rederived": corrected("snap.lemma9.scan", "exp(Mh) <= (M-1) M h from a time on that is named."),
    "snap.lemma9.snap": quoted("appendix D.3, Lemma 9", "We have two stage for h and gamma", TWO_STAGES),
    "snap.theorem1.b": quoted(
        "section 4, Theorem 1 (b); appendix D.5",
        "The speed control coefficient gamma(t) > 0 satisfies",
        f"{RANGE_R}. delta' is omega_1 of Lemma 8. {ONE_CONSTANT}.",
    ),
    "snap.theorem1.b.rederived": corrected(
        "snap.theorem1.b", "ln(M eta_Y t/K) in place of ln(eta_Y t/K), with the constants 1 and 2."
    ),
    "snap.lemma10": quoted(
        "appendix D.4, Lemma 10, eq. 58",
        "For delta in (0, 1), with probability at least 1 - delta we have",
        "For each class by itself, and for every N and delta.",
    ),
    "snap.lemma10.rederived": corrected("snap.lemma10", "The second bound where N ln(2/delta) is large enough for it."),
    "snap.lemma11": quoted(
        "appendix D.4, Lemma 11, eqs. 61 and 62",
        "where sigma' > 0 is some constant such that",
        f'{MUCH}: N >= 10 K^2, uniform classes (Remark 4). "Less than about" is one unknown constant for every N.',
    ),
    "snap.lemma12": quoted(
        "appendix D.4, Lemma 12, eqs. 66 to 69",
        "Assume the assumptions in Lemma 5 hold but we uniformly sample the training data.",
        f"Epochs are steps. {MUCH}: N >= 10 K^2. The bound on theta is taken with the constant 1 that it is "
        "printed with; "
        "it is for all classes together.",
    ),
    "snap.lemma12.rederived": corrected("snap.lemma12", "h* in place of h for the rows, and a bound that has its lag."),
    "snap.theorem5": quoted(
        "appendix D.4, Theorem 5, eq. 70",
        "the training data is uniformly sampled and the total number of epochs N satisfies N >> K^2",
        f'Epochs are steps. {MUCH}: N >= 10 K^2. "Less than about" is an unknown constant.',
    ),
    "snap.theorem5.rederived": corrected("snap.theorem5", "h* in place of h, with every constant known."),
    "snap.corollary1": quoted(
        "appendix D.4, Corollary 1, eq. 71",
        "we need the total number of training epochs to be at most",
        f'Epochs are steps. {RANGE_R}. "Less than about" and O(.) are unknown constants.',
    ),
    "snap.lemma13": quoted(
        "appendix D.5, Lemma 13, and before it",
        "Then we can get the following properties of E and E'",
    ),
    "snap.lemma14": quoted(
        "appendix D.5, Lemma 14",
        "then (I + E) is invertible",
    ),
    "snap.lemma15": quoted(
        "appendix D.5, Lemma 15",
        "If |lambda_1| <= lambda < 1, then",
        "For every lambda from |lambda_1| to below 1.",
    ),
    "snap.lemma16": quoted(
        "appendix D.5, Lemma 16",
        "all the diagonal elements of E' are nonpositive",
    ),
    "snap.lemma17": quoted(
        "appendix D.5, Lemma 17",
        "If lambda_1 < 1, then",
        "lambda_1 is largest in absolute value, and the condition is on it with its sign, as printed.",
    ),
    "snap.lemma17.rederived": corrected("snap.lemma17", "|lambda_1| < 1."),
    "snap.theorem1.form": quoted(
        "section 4, Theorem 1, eq. 9; appendix D.5, eqs. 85, 86 and 88",
        "steps of batch size 1 update .. the backpropagated gradient .. takes the following form",
        f"{RANGE_R}; t >= 10 K^2. gamma has h at t/K rounded up, as eq. 85 has; sigma is each class's own.",
    ),
    "snap.theorem1.form.rederived": corrected("snap.theorem1.form", "- q_0 (1+theta_n') in eq. 88, in place of +."),
    "snap.theorem1.a": quoted(
        "section 4, Theorem 1 (a); appendix D.5",
        "for any n in [K] and any t",
        f'"Any t" is any of which the theorem speaks, after t >> K^2 steps. {RANGE_R}; t >= 10 K^2.',
    ),
    "snap.theorem1.a.any-t": quoted(
        "section 4, Theorem 1 (a); appendix D.5",
        "for any n in [K] and any t",
        '"Any t" word for word: after every number of steps from 1 on, whichever classes they drew.',
    ),
    "snap.lemma4": quoted(
        "section 5, Lemma 4, eq. 10; appendix E",
        "With Assumption 1(b) .. Eqn. 4 becomes",
        "In the mean over the classes that a batch-1 step draws: a step moves by one class, and eq. 10 adds up a "
        "query's.",
    ),
    "snap.lemma4.rederived": corrected("snap.lemma4", "1/K, the probability of a class, before the sum."),
    "snap.theorem2.distinct": quoted(
        "section 5, Theorem 2 (a); appendix E, eq. 98",
        "if Assumption 2 holds, under the self-attention dynamics (Eqn. 10), we have .. for any distinct token",
        FLOW,
    ),
    "snap.theorem2.common": quoted(
        "section 5, Theorem 2 (b); appendix E, eq. 100",
        "at least one next token .. has at least one distinct token, then for the single common token",
        f"The condition is asked under each query under which the common token occurs. {FLOW}",
    ),
    "snap.corollary2": quoted(
        "appendix E, Corollary 2",
        "Global common tokens with shared conditional probability .. Then for any common token",
        FLOW,
    ),
    "snap.corollary2.any-classes": corrected("snap.corollary2", "Without its conditions (1) to (3)."),
    "snap.theorem3.gain": quoted(
        "section 5, Theorem 3, eq. 11; appendix E",
        "the dynamics of the relative gain .. has the following analytic form",
        "Under eq. 10, as the proof has it.",
    ),
    "snap.theorem3.gain.sgd": corrected("snap.theorem3.gain", "Under the training of section 8 in place of eq. 10."),
    "snap.theorem3.growth": quoted(
        "section 5, Theorem 3, eq. 12; appendix E",
        "Then both .. are monotonously increasing over",
        "For as long as every common token of the class loses, class by class. At Z = 0 the dominant token is the "
        "one with "
        "the largest P(l|n).",
    ),
    "snap.eq13": quoted(
        "section 6, eq. 13",
        "Under these approximations, its dynamics (Eqn. 10) can be written as follows",
        "Approximately is in the limit of weak overlaps, at Z = 0; rho_0^-4 is the mean of (f_n^T f_n')^2.",
    ),
    "snap.eq13.rederived": corrected("snap.eq13", "K (K-1) for z and K-1 for xi, in place of K for both."),
    "snap.theorem4.closed-form": quoted(
        "appendix F, eq. 129",
        "B_n(t) has a close form with respect to h, regardless of the specific form of h(t)",
        "C0 is rho_0^4/K with the rho_0 that snap.eq13 has.",
    ),
    "snap.theorem4.closed-form.rederived": corrected("snap.theorem4.closed-form", LOWER_LIMIT),
    "snap.theorem4.scan": quoted(
        "section 6, Theorem 4, eq. 14; appendix F, eq. 130",
        "Attention scanning. At the beginning of the training .. the growth factor for dominant token .. is "
        "(sub-)linear",
        SHARE,
    ),
    "snap.theorem4.scan.rederived": corrected("snap.theorem4.scan", LOWER_LIMIT),
    "snap.theorem4.snap": quoted(
        "section 6, Theorem 4, eq. 14; appendix F, eq. 131",
        "still grows to infinite, the growth factor .. grows at a much slower logarithmic rate",
        f"delta' is omega_1 of Lemma 8. {SHARE}",
    ),
    "snap.theorem4.snap.rederived": corrected("snap.theorem4.snap", LOWER_LIMIT),
    "snap.theorem4.rates": quoted(
        "section 6, after Theorem 4; appendix F",
        "This gives a few insights about the training process: (a) larger learning rate eta_Y of the decoder Y "
        "leads to "
        "shorter phase transition time",
        "Earlier is where gamma is largest. What is said of large t is judged beyond the t_0 of both step sizes. nu is "
        "eta_Y/eta_Z; the caption of figure 9 has it inverted.",
    ),
    "snap.fig6.direction": quoted(
        "section 8, Syn-Medium, figure 6",
        "the entropy goes down (i.e., attention becomes sparser) with larger eta_Z .. and goes up .. by fixing eta_Z",
        "Falls and rises are of the median over seeds between neighbouring step sizes; the threshold, about 2, is 2.",
    ),
}
"""By id."""
