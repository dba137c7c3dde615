"""What arXiv 2305.16380 says word for word, where, and how it was read.

The text that was read has no page numbers and does not say its version. Formulas are in plain symbols.
"""

from collections.abc import Mapping

from marginaudit.reports.source_words import SourceWords, corrected, quoted

MUCH = "Much greater is ten times or more"

RANGE_R = f"{MUCH}: M >= 1000 and 10 M^-0.99 <= eta_Y < 1"

ONE_CONSTANT = "O(.) is one constant for every M, eta_Y and t that are spoken of"

TWO_STAGES = f"{RANGE_R} (Remark 3). h is the continuous one, at t/K. {ONE_CONSTANT}."

SENTENCE = (
    'The sentence after Remark 2, "we just assume eta_Y < 1 and replace h* with h in the latter parts", and Remark 3 '
    "restrict it"
)

FLOW = (
    "For t > 0: at t = 0 gamma is 0. Assumption 2 is asked for at Z = 0 alone, and theta and sigma of Theorem 1 are 0."
)

AT_THE_TIME = (
    "From t = 1 on: at t = 0 gamma is 0. Assumption 2 is asked for at the t of which it is spoken, and theta and "
    "sigma of Theorem 1 are 0."
)

AT_THE_START = "Assumption 2 at Z = 0 alone, and then for all t to the last that is recorded."

LOWER_LIMIT = "ln((C0 + 4 Gamma)/C0) in place of ln(C0 + 4 Gamma), the integral of eq. 124 from 0 on."

SHARE = "h = (1+o(1)) .. is taken as all that it can be at that t."

WORDS: Mapping[str, SourceWords] = {
    "snap.lemma1": quoted(
        "section 3.1, Lemma 1, eq. 3; appendix C",
        "The gradient dynamics of Eqn. 2 with batchsize 1 is: Y-dot = eta_Y LN(X^T b_T)(x_{T+1} - alpha)^T, Z-dot = ..",
        "The derivatives of the log-likelihood of one sequence. That rows sum to zero is said after the lemma.",
    ),
    "snap.lemma3": quoted(
        "section 4, Lemma 3, eq. 8; appendix D.2, eq. 26",
        "Given x_{T+1} = n, the dynamics of W is .. w-dot_j = eta_Y I(j=n)(e_n - alpha_n)",
        "E' is that of Lemma 14, I - E' = (I+E)^{-1}; the list of notation in appendix D.1 has the other sign.",
    ),
    "snap.lemma2": quoted(
        "section 3.3, Lemma 2, eq. 6; appendix C",
        "when T -> +infty, we have X^T b_T -> c_{m,n}, X^T diag(b_T) X -> diag(c_{m,n})",
        "In probability, as Lemma 18 has it.",
    ),
    "snap.lemma18": quoted(
        "appendix H, Lemma 18, eqs. 134 to 136",
        "with probability at least 1 - delta we have max(0, P(l|m,n) - sqrt(ln(2/delta)/(2(T-1)))) <= q_{l|m,n} "
        "<= P(l|m,n) + sqrt(ln(2/delta)/(2(T-1)))",
        "For each token by itself, not for all of them together.",
    ),
    "snap.lemma5": quoted(
        "appendix D.2, Lemma 5, eqs. 31 to 33",
        "if event x_{T+1} = n always holds at s step (s >= 1) we have w_n(s) = (M-1)h*(s)zeta_n",
    ),
    "snap.remark1": quoted(
        "appendix D.2, Remark 1, eq. 43",
        "w_n(N) = (M-1)h*(N/K)[zeta_n + rho sum_{n' != n} zeta_n'] = (1-rho)(M-1)h*(N/K)zeta_n",
        "Eq. 43 as it is printed, its last equality included.",
    ),
    "snap.remark1.rederived": corrected(
        "snap.remark1", "The flow of eq. 7 in closed form; the zeta_n do not add up to 0."
    ),
    "snap.lemma6": quoted(
        "appendix D.3, Lemma 6, eqs. 44 and 45",
        "assume h(0) = 0, then we have exp(Mh(t)) + (M-1)Mh(t) = M eta_Y t + 1",
    ),
    "snap.lemma7.gap": quoted(
        "appendix D.3, Lemma 7 (a)",
        "0 <= h*(s) - h(s) <= 2 eta_Y/M .. c = Theta(1) such that for any s <= ln(M)/eta_Y, h(s+c) >= h*(s) >= h(s)",
        "A constant is one c for every s, M and eta_Y that are spoken of.",
    ),
    "snap.lemma7.limit": quoted("appendix D.3, Lemma 7 (b)", "h*(s) - h(s) -> 0 when s -> +infty"),
    "snap.remark2": quoted(
        "appendix D.3, Remark 2",
        "if eta_Y = O(1), then there exists some constant c = O(ln M) such that h(s) <= h*(s) <= h(s+c) for all "
        "s > s_1",
        "One c serves every s > s_1; it may grow with M like ln M.",
    ),
    "snap.remark2.rederived": corrected("snap.remark2", "The lag as it is, between two bounds that grow with s."),
    "snap.lemma8": quoted(
        "appendix D.3, Lemma 8",
        "for h in J_1 := [1/M^{2-omega_0}, (1+omega_1)ln(M)/M], we have exp(Mh(t)) <= (M-1)Mh(t). And for h not "
        "in J_1, .. exp(Mh(t)) > (M-1)Mh(t)",
        "The indices 2 and 3 are those of omega_0 and omega_1. That both are much smaller than 1 is read as M >> 100, "
        "which the lemma asks for its bound on omega_0, and Remark 3 for the rest: M >= 1000.",
    ),
    "snap.lemma8.any-M": corrected("snap.lemma8", "For every M."),
    "snap.lemma8.rederived": corrected("snap.lemma8", "M >= 4; below there are no two zeros."),
    "snap.remark3": quoted(
        "appendix D.3, Remark 3",
        "function .. has only one zero point .. in [1, infinity)",
        f"{RANGE_R}. What is much smaller than 0.01 is at most 0.001; the order of h(1) is one constant for every M.",
    ),
    "snap.remark3.rederived": corrected("snap.remark3", "M^-(1-omega_0) < M^-0.99, and 0.99 as the constant of h(1)."),
    "snap.eq64": quoted(
        "appendix D.4, Lemma 11's proof, eq. 64",
        "dg/ds = .. the last equality holds only when h(s) = ln(M-1)/M",
        f"{RANGE_R} (Remark 3). g is about the continuous h, which alone has a derivative.",
    ),
    "snap.eq64.rederived": corrected("snap.eq64", "A minus sign: g falls."),
    "snap.lemma9.scan": quoted(
        "appendix D.3, Lemma 9",
        "When t <= K ln(M)/eta_Y, we have exp(Mh(t/K)) <= min(M-1, (M-1)Mh(t/K)), h = O(eta_Y t/(MK)) and "
        "gamma(t) = O(eta_Y t/K)",
        f"{TWO_STAGES} t/K >= 1: Remark 3 looks at h on [1, infinity).",
    ),
    "snap.lemma9.scan.any-t": corrected("snap.lemma9.scan", "From t = 0 on."),
    "snap.lemma9.scan.rederived": corrected("snap.lemma9.scan", "exp(Mh) <= (M-1) M h from a time on that is named."),
    "snap.lemma9.snap": quoted(
        "appendix D.3, Lemma 9",
        "When t >= 2(1+omega_1)K ln(M)/eta_Y .. exp(Mh(t/K)) >= max(M-1, (M-1)Mh(t/K)), h = O((1/M)ln(M eta_Y "
        "t/K)) and gamma(t) = O(K ln(M eta_Y t/K)/(eta_Y t))",
        TWO_STAGES,
    ),
    "snap.theorem1.b": quoted(
        "section 4, Theorem 1 (b); appendix D.5",
        "gamma(t) = O(eta_Y t/K) when t <= ln(M)K/eta_Y and gamma(t) = O(K ln(eta_Y t/K)/(eta_Y t)) when t >= "
        "2(1+delta')ln(M)K/eta_Y",
        f"{RANGE_R}. delta' is omega_1 of Lemma 8. {ONE_CONSTANT}.",
    ),
    "snap.theorem1.b.rederived": corrected(
        "snap.theorem1.b", "ln(M eta_Y t/K) in place of ln(eta_Y t/K), with the constants 1 and 2."
    ),
    "snap.lemma10": quoted(
        "appendix D.4, Lemma 10, eq. 58",
        "with probability at least 1 - delta we have |N_n - ceil(NP(n))| <= sqrt((N/2)ln(2/delta)) + 1 < sqrt(N "
        "ln(2/delta))",
        "For each class by itself, and for every N and delta.",
    ),
    "snap.lemma10.rederived": corrected("snap.lemma10", "The second bound where N ln(2/delta) is large enough for it."),
    "snap.remark4": quoted(
        "appendix D.4, Remark 4, eq. 60",
        "So N_n are all concentrated around N P(n)",
        f"{MUCH}: N >= 10 K^2. For each class by itself. Much smaller is in the limit of many steps, at each delta: at "
        'no N is Delta below N-bar for every delta. "Less than about" is with the constant 2, for all of them.',
    ),
    "snap.lemma11": quoted(
        "appendix D.4, Lemma 11, eqs. 61 and 62",
        "|h(N_n) - h(N-bar)| <~ h(N-bar) Delta/N-bar .. sigma' > 0 is some constant such that sigma' <= eta_Y "
        "Delta/3 << ln(M)",
        f"{MUCH}: N >= 10 K^2, N-bar >= 10 Delta (eq. 60), uniform classes (Remark 4), and ln M >= 10 eta_Y Delta/3 "
        'for the first bound on sigma\'. "Less than about" is one unknown constant for every N.',
    ),
    "snap.lemma11.any-delta": corrected(
        "snap.lemma11", "Without Delta << N-bar and eta_Y Delta/3 << ln M, at every delta in (0, 1)."
    ),
    "snap.lemma12": quoted(
        "appendix D.4, Lemma 12, eqs. 66 to 69",
        "we have Y = (F')^{-T}(I + Theta')W'(N) .. with probability at least 1 - delta we have |theta_i| <= "
        "(K/sqrt(N)) sqrt(ln(K/delta))",
        f"{SENTENCE}: {RANGE_R}, and h is h*. Epochs are steps; N >= 10 K^2. The bound on theta has the constant 1 "
        "that it is printed with, and is for all classes together.",
    ),
    "snap.lemma12.any-step": corrected("snap.lemma12", "At any step size, and with the continuous h."),
    "snap.lemma12.rederived": corrected(
        "snap.lemma12", "h* for the rows, the continuous h for their mean, and a bound that has the lag."
    ),
    "snap.lemma12.Y": quoted(
        "appendix D.4, Lemma 12; D.2, eqs. 24 and 25",
        "if the total number of epochs N satisfies N >> K^2, we have",
        f"Epochs are steps. {RANGE_R} (Remark 3); N >= 10 K^2. W'(N) in the formula is W-bar'(N), as in the proof. "
        "Steps are on W', as in eq. 24; theta is what the rows of SGD make it.",
    ),
    "snap.lemma12.Y.eq26": corrected(
        "snap.lemma12.Y", "Steps of eq. 26 on Y in place of steps on W', at any step size."
    ),
    "snap.theorem5": quoted(
        "appendix D.4, Theorem 5, eq. 70",
        "Y = .. F(I - E')(I + Theta)W-bar(N) .. with probability at least 1 - delta we have |theta_i| <~ "
        "(K/sqrt(N)) sqrt(ln(K/delta))",
        f'{SENTENCE}: {RANGE_R}, and h is h*. Epochs are steps; N >= 10 K^2. "Less than about" is an unknown constant.',
    ),
    "snap.theorem5.any-step": corrected("snap.theorem5", "At any step size, and with the continuous h."),
    "snap.theorem5.rederived": corrected("snap.theorem5", "At any step size, with h* for h and every constant known."),
    "snap.corollary1": quoted(
        "appendix D.4, Corollary 1, eq. 71",
        "to let ||x_{T+1} - alpha_n||_2 <= eps .. we need the total number of training epochs to be at most "
        "O((K/(eps eta_Y)) log(M/eps))",
        f'Epochs are steps. {RANGE_R}. "Less than about" and O(.) are unknown constants, the same for every delta.',
    ),
    "snap.corollary1.rederived": corrected(
        "snap.corollary1", "The number of steps, which has no delta in it, and explicit constants."
    ),
    "snap.eq71": quoted(
        "appendix D.4, Corollary 1, eq. 71, its first line",
        "Then for all n in [K], we have",
        f"Epochs are steps. {RANGE_R}. h stands for h*, as the source has it from Remark 2 on; e_n - alpha_n is that "
        "after N steps.",
    ),
    "snap.eq71.continuous": corrected("snap.eq71", "The continuous h of Lemma 6 in place of h*."),
    "snap.lemma13": quoted(
        "appendix D.5, Lemma 13",
        "max_{i,j in [K]}(|E_ij|) <= |lambda_1|",
    ),
    "snap.lemma14": quoted(
        "appendix D.5, Lemma 14",
        "If .. |lambda_1| <= lambda < 1, then (I + E) is invertible and (I + E)^{-1} = I - E' .. lambda'_i = "
        "lambda_i/(1+lambda_i)",
    ),
    "snap.lemma15": quoted(
        "appendix D.5, Lemma 15",
        "If |lambda_1| <= lambda < 1, then max_{i in [K]} |lambda_i(E')| <= |lambda_1|/(1-lambda) <= lambda/(1-lambda)",
        "For every lambda from |lambda_1| to below 1.",
    ),
    "snap.lemma16": quoted(
        "appendix D.5, Lemma 16",
        "the diagonal elements of E' are nonpositive .. if there exist any k != i .. such that E_ki > 0, then "
        "E'_ii < 0",
    ),
    "snap.lemma17": quoted(
        "appendix D.5, Lemma 17",
        "If lambda_1 < 1, then |E'_nn' - E_nn'| <= |lambda_1|^2 (1 - |lambda_1|)^{-1}",
        "lambda_1 is largest in absolute value, and the condition is on it with its sign, as printed.",
    ),
    "snap.lemma17.rederived": corrected("snap.lemma17", "|lambda_1| < 1."),
    "snap.theorem1.form": quoted(
        "section 4, Theorem 1, eq. 9; appendix D.5, eqs. 85, 86 and 88",
        "after t >> K^2 steps of batch size 1 update .. the backpropagated gradient .. g[i] = gamma(iota_n f_n - "
        "sum_{n' != n} beta_nn' f_n')",
        f"{RANGE_R}; t >= 10 K^2. gamma has h at t/K rounded up, as eq. 85 has; sigma is each class's own.",
    ),
    "snap.theorem1.form.rederived": corrected("snap.theorem1.form", "- q_0 (1+theta_n') in eq. 88, in place of +."),
    "snap.eq87": quoted(
        "appendix D.5, Theorem 1's proof, eq. 87 and below eq. 89",
        "|delta_2|, |delta_3| <= M/(M-1)^2 x 2 (1+3|delta_1|) < 3/M",
        f"{RANGE_R}; t >= 10 K^2. delta_1 = q_1 (1+theta_n) - 1; in the bounds it is that of the class where it is "
        "largest, and at most 0.1 where it is much smaller than 1, as the text before has it.",
    ),
    "snap.eq89": quoted(
        "appendix D.5, Theorem 1's proof, eq. 89 and below",
        "|delta_2|, |delta_3| <= M/(M-1)^2 x 2 (1+3|delta_1|) < 3/M",
        "As in snap.eq87. beta is what the gradient has; eq. 88's sign does not change the bound.",
    ),
    "snap.eq90": quoted(
        "appendix D.5, Theorem 1's proof, eq. 90",
        "the fact from Lemma 15",
    ),
    "snap.theorem1.a": quoted(
        "section 4, Theorem 1 (a); appendix D.5",
        "xi_n(t) := gamma(t) sum_{n != n'} beta_nn'(t) f_n^T(t) f_n'(t) > 0 for any n in [K] and any t",
        '"Any t" is any of which the theorem speaks, after t >> K^2 steps, but for the chance of draws that the source '
        f"leaves out; it is to vanish exponentially in t/K. {RANGE_R}; t >= 10 K^2.",
    ),
    "snap.theorem1.a.any-t": quoted(
        "section 4, Theorem 1 (a); appendix D.5",
        "xi_n(t) := gamma(t) sum_{n != n'} beta_nn'(t) f_n^T(t) f_n'(t) > 0 for any n in [K] and any t",
        '"Any t" word for word: after every number of steps from 1 on, whichever classes they drew.',
    ),
    "snap.lemma4": quoted(
        "section 5, Lemma 4, eq. 10; appendix E",
        "With Assumption 1(b) .. Eqn. 4 becomes: z-dot_m = eta_Z gamma sum_{n in psi^{-1}(m)} diag(f_n) sum_{n' "
        "!= n} beta_nn'(f_n f_n^T - I)f_n'",
        "In the mean over the classes that a batch-1 step draws: a step moves by one class, and eq. 10 adds up a "
        "query's.",
    ),
    "snap.lemma4.rederived": corrected("snap.lemma4", "1/K, the probability of a class, before the sum."),
    "snap.theorem2.distinct": quoted(
        "section 5, Theorem 2 (a); appendix E, eq. 98",
        "if Assumption 2 holds, under the self-attention dynamics (Eqn. 10), we have: (a) for any distinct token "
        "l .. z-dot_ml > 0",
        AT_THE_TIME,
    ),
    "snap.theorem2.distinct.from-zero": corrected("snap.theorem2.distinct", AT_THE_START),
    "snap.theorem2.common": quoted(
        "section 5, Theorem 2 (b); appendix E, eq. 100",
        "if |G_CT| = 1 and at least one next token .. has at least one distinct token, then .. z-dot_ml < 0",
        f"The condition is asked under each query under which the common token occurs. {AT_THE_TIME}",
    ),
    "snap.theorem2.common.from-zero": corrected(
        "snap.theorem2.common", "Assumption 2 at Z = 0 alone, and then for ever."
    ),
    "snap.corollary2": quoted(
        "appendix E, Corollary 2",
        "Single query token .. Symmetry .. Global common tokens with shared conditional probability .. Then for "
        "any common token l in G_CT, z-dot_{m_0,l} < 0",
        FLOW,
    ),
    "snap.corollary2.any-classes": corrected("snap.corollary2", "Without its conditions (1) to (3)."),
    "snap.theorem3.gain": quoted(
        "section 5, Theorem 3, eq. 11; appendix E",
        "the dynamics of the relative gain .. has the following analytic form .. r_{l/l'|n}(t) = "
        "r_{l/l'|n}(0)e^{2(z_ml(t) - z_ml(0))} =: r_{l/l'|n}(0)chi_l(t)",
        "Under eq. 10, as the proof has it.",
    ),
    "snap.theorem3.gain.sgd": corrected("snap.theorem3.gain", "Under the training of section 8 in place of eq. 10."),
    "snap.theorem3.growth": quoted(
        "section 5, Theorem 3, eq. 12; appendix E",
        "both z_{ml_0}(t) and f_{nl_0}(t) are monotonously increasing over t, and e^{2f_{nl_0}^2(0)B_n(t)} <= "
        "chi_{l_0}(t) <= e^{2B_n(t)}",
        "For as long as every common token of the class loses, class by class, and Assumption 2 keeps holding. At "
        "Z = 0 the dominant token is the one with the largest P(l|n).",
    ),
    "snap.theorem3.growth.from-zero": corrected("snap.theorem3.growth", AT_THE_START),
    "snap.eq112": quoted(
        "appendix E, Theorem 3's proof, eq. 112",
        "for any token l' != l_0 that is distinct to n, we have",
        f"Under eq. 10. {FLOW}",
    ),
    "snap.eq112.rederived": corrected("snap.eq112", "Twice that; it is positive where xi_n is."),
    "snap.eq13": quoted(
        "section 6, eq. 13",
        "Under these approximations, its dynamics (Eqn. 10) can be written as .. ~= -C_0^{-1} eta_Z gamma "
        "e^{4z_ml}, xi_n(t) ~= C_0^{-1} gamma e^{4z_ml}",
        "Approximately is in the limit of weak overlaps, at Z = 0; rho_0^-4 is the mean of (f_n^T f_n')^2.",
    ),
    "snap.eq13.rederived": corrected("snap.eq13", "K (K-1) for z and K-1 for xi, in place of K for both."),
    "snap.theorem4.closed-form": quoted(
        "appendix F, eq. 129",
        "regardless of the specific form of h(t): B_n(t) = (1/4)ln(C_0 + 2(eta_Z/eta_Y)K(M-1)^2 h^2(t/K))",
        f"C0 is rho_0^4/K with the rho_0 that snap.eq13 has. {RANGE_R} (Remark 3).",
    ),
    "snap.theorem4.closed-form.rederived": corrected("snap.theorem4.closed-form", LOWER_LIMIT),
    "snap.theorem4.scan": quoted(
        "section 6, Theorem 4, eq. 14; appendix F, eq. 130",
        "B_n(t) = (1/4)ln(C_0 + (2(M-1)^2/(KM^2))eta_Y eta_Z t^2) .. t < t'_0 := K ln(M)/eta_Y .. = O(ln t)",
        f"{SHARE} {RANGE_R}, and t/K >= 1 (Remark 3).",
    ),
    "snap.theorem4.scan.rederived": corrected("snap.theorem4.scan", LOWER_LIMIT),
    "snap.theorem4.snap": quoted(
        "section 6, Theorem 4, eq. 14; appendix F, eq. 131",
        "B_n(t) = (1/4)ln(C_0 + (2K(M-1)^2/M^2)(eta_Z/eta_Y)ln^2(M eta_Y t/K)) .. t >= t_0 .. B_n(t) = O(ln ln "
        "t) .. chi_{l_0}(t) = O(ln t)",
        f"delta' is omega_1 of Lemma 8. {SHARE} {RANGE_R} (Remark 3).",
    ),
    "snap.theorem4.snap.rederived": corrected("snap.theorem4.snap", LOWER_LIMIT),
    "snap.theorem4.growth": quoted(
        "section 6, Theorem 4, attention scanning",
        "This means that the growth factor for dominant token l_0 is (sub-)linear",
        f"B is that of eq. 13's ODE. l_0 is the distinct token with the largest f_n(0). {SHARE} "
        f"{RANGE_R}, and t/K >= 1 (Remark 3).",
    ),
    "snap.theorem4.growth.rederived": corrected("snap.theorem4.growth", LOWER_LIMIT),
    "snap.theorem4.ends": quoted(
        "appendix F, below eqs. 130 and 131",
        "From this we know B_n(t_0) = .. just depends on K, M and nu",
        f"nu is eta_Y/eta_Z. {SHARE} {RANGE_R} (Remark 3).",
    ),
    "snap.theorem4.ends.rederived": corrected("snap.theorem4.ends", LOWER_LIMIT),
    "snap.eq132": quoted(
        "appendix F, (3), eq. 132",
        "Finally, we estimate B_n(t) when t is large. When nu is fixed",
        f"{RANGE_R} (Remark 3). In the limit of t, all else fixed. "
        "The t from where it is said to speak, (M eta_Y)^-1 exp(1/sqrt(2 nu)), is "
        "not judged: by eq. 131 it would have nu for 1/nu, and K.",
    ),
    "snap.eq133": quoted(
        "appendix F, (3), eq. 133",
        "Finally, we estimate B_n(t) when t is large. When nu is fixed",
        f"{RANGE_R} (Remark 3). In the limit of t, all else fixed, so that the constants of Theta are about t alone.",
    ),
    "snap.theorem4.rates": quoted(
        "section 6, after Theorem 4; appendix F",
        "larger learning rate eta_Y .. shorter phase transition time .. scaling up both .. larger B_n(t) .. "
        "small learning rate eta_Y leads to larger B_n(t)",
        "Earlier is where gamma is largest. What is said of large t is judged beyond the t_0 of both step sizes. nu is "
        f"eta_Y/eta_Z; the caption of figure 9 has it inverted. {RANGE_R} (Remark 3).",
    ),
    "snap.theorem4.rates.any-M": corrected("snap.theorem4.rates", "For every M and eta_Y."),
    "snap.fig6.direction": quoted(
        "section 8, Syn-Medium, figure 6",
        "the entropy goes down .. with larger eta_Z, and goes up .. by fixing eta_Z and increasing eta_Y passing "
        "the threshold eta_Y/eta_Z ~= 2",
        "Falls and rises are of the median over seeds between neighbouring step sizes; the threshold, about 2, is 2.",
    ),
}
"""By id."""
