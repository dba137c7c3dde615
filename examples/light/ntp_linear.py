"""Next-token prediction with a linear decoder: Thrampoulidis, Implicit Optimization Bias (arXiv 2402.18551v2, NeurIPS).

Read in two conversions of its PDF: main text, appendix C, proof of Theorem 2. Data: three tokens and two contexts,
token 1 or 2 after the first, 2 or 3 after the second, with embeddings (s, 0) and (0, t), for which W* and W^mm are
closed forms; for appendix C sentences.
Left out: Lemma 1, linear algebra; Theorems 1 and 2, limits along a path and along descent; eq. 23, whose exponent
4 |W*| lacks the factor M of the lines above it, and which Lemma 5 needs for no particular constant.

Usage: marginaudit audit --claims examples/light/ntp_linear.py
       marginaudit hunt ntp-linear.eq9.control --claims examples/light/ntp_linear.py
"""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import arb, fmpq

from marginaudit import Bounded, Claim, Equal, Severity, Weight, floats, quoted, rederived, refuted, varied

V, SUPPORTS = 3, ((0, 1), (1, 2))
"""Size of the vocabulary, and the in-support tokens of both contexts."""

KEYS = ("a", "b", "pi", "s", "t", "R", "alpha", "k")
"""Probabilities (a, 1 - a, 0), (0, b, 1 - b); frequencies pi, 1 - pi; embeddings; R = R'; alpha; W_F = k W*."""


def values(numbers: str) -> dict[str, Any]:
    """Rationals by the names of `KEYS`."""
    return dict(zip(KEYS, map(Fraction, numbers.split()), strict=True))


INSTANCES: dict[str, dict[str, Any]] = {
    "even": values("1/2 1/2 1/2 1 2 0 1/2 1"),
    "skewed": values("99/100 1/2 1/5 1 2 5 1/10 2"),
    "far": values("9/10 1/3 1/2 1/3 1 40 1/2 1/2"),
    "abc-adc": {"sentences": ("abc", "adc")},
    "abc-abd": {"sentences": ("abc", "abd")},
    "cycle": {"sentences": ("aab", "aba", "baa")},
}


def ball(x: Any) -> Any:
    """A rational as a ball."""
    return arb(fmpq(x.numerator, x.denominator)) if isinstance(x, Fraction | int) else x


def total(terms: Any) -> Any:
    """Sum of balls."""
    return sum(terms, arb(0))


def contexts(p: Any) -> list[tuple[Any, ...]]:
    """Frequency, support, probabilities, and the logits of W* and of W^mm of each context."""
    found = []
    for of, share, row in zip(SUPPORTS, (p.pi, 1 - p.pi), ((p.a, 1 - p.a, 0), (0, p.b, 1 - p.b)), strict=True):
        q = list(map(ball, row))
        mean = total(q[z].log() for z in of) / 2
        finite = [q[v].log() - mean if v in of else arb(0) for v in range(V)]
        found.append((ball(share), of, q, finite, [arb(v in of) for v in range(V)]))
    return found


def expected_log(p: Any, inside: Any) -> Any:
    """Sum over contexts j of pi_j sum over z in S_j of p_jz log inside(S_j, v -> e_v - e_z of both logits)."""
    return total(
        share * q[z] * inside(of, lambda v, f=f, m=m, z=z: (f[v] - f[z], m[v] - m[z])).log()
        for share, of, q, f, m in contexts(p)
        for z in of
    )


def loss(p: Any, k: Any, R: Any) -> Any:
    """CE(k W* + R W^mm), eq. 2."""
    k, R = ball(k), ball(R)
    return expected_log(p, lambda _, off: total((off(v)[0] * k + off(v)[1] * R).exp() for v in range(V)))


def excess(p: Any) -> Any:
    """CE(W* + R W^mm) - H."""
    return loss(p, 1, p.R) + total(share * q[z] * q[z].log() for share, of, q, *_ in contexts(p) for z in of)


def decay(p: Any, rate: int = 1) -> Any:
    """C e^{-rate R}, C = V e^{|W*| M}, M = sqrt 2 max |h_j|."""
    logs = ((ball(q / (1 - q)).log(), ball(size)) for q, size in ((p.a, p.s), (p.b, p.t)))
    norm = total(log**2 / (2 * size**2) for log, size in logs).sqrt()
    return V * (norm * arb(2).sqrt() * ball(max(p.s, p.t)) - rate * ball(p.R)).exp()


def inside15(p: Any, mended: bool = False) -> Any:
    """The right-hand side of eq. 15, as printed or with the exponents added outside the support."""
    k, R = ball(p.k), ball((1 + p.alpha) * p.R)
    return expected_log(
        p,
        lambda of, off: (
            total((off(v)[0] * k).exp() for v in (of if mended else range(V)))
            + total((mended * off(v)[0] * k + off(v)[1] * R).exp() for v in range(V) if v not in of)
        ),
    )


def sizes(p: Any) -> list[int]:
    """m_t - m_{t+1}, m_t the number of distinct contexts of size t = 1, .., T - 1."""
    m = [len({one[:t] for one in p.sentences}) for t in range(1, len(p.sentences[0]))]
    return [one - other for one, other in pairwise(m)]


def drops(p: Any) -> list[Any]:
    """H_t - H_{t+1}, H_t the entropy of the token after the first t = 1, .., T - 1."""
    H = []
    for t in range(1, len(p.sentences[0])):
        pairs, heads = Counter(s[: t + 1] for s in p.sentences), Counter(s[:t] for s in p.sentences)
        H.append(-total(n * (ball(Fraction(n, heads[s[:t]]))).log() / len(p.sentences) for s, n in pairs.items()))
    return [one - other for one, other in pairwise(H)]


def orthogonal(p: Any) -> bool:
    """Two contexts with orthogonal embeddings."""
    return "R" in p


def sentences(p: Any) -> bool:
    """Sentences of equal length."""
    return "sentences" in p


def stationary(p: Any) -> bool:
    """The sentences without their first tokens are those without their last ones."""
    return Counter(s[1:] for s in p.sentences) == Counter(s[:-1] for s in p.sentences)


def claim(name: str, statement: str, judgement: Any, assumptions: Any, **more: Any) -> Claim:
    """A statement of the paper."""
    id, source = f"ntp-linear.{name}", "arXiv 2402.18551v2"
    return Claim(id=id, source=source, statement=statement, judgement=judgement, assumptions=assumptions, **more)


def changed(of: Claim, name: str, statement: str, judgement: Any, **more: Any) -> Claim:
    """Another form of a statement."""
    return replace(of, id=f"{of.id}.{name}", statement=statement, formula="", judgement=judgement, **more)


def slip(weight: Weight, wrong: str) -> Any:
    """Standing of a refuted step or aside; what rests on it stands."""
    return refuted(None, severity=Severity.SLIP, weight=weight, wrong=wrong, weakest="none")


def outside15(p: Any) -> Any:
    """CE(W_F + (1 + alpha) R' W^mm)."""
    return loss(p, p.k, (1 + p.alpha) * p.R)


BOX = {name: floats(Fraction(1, 100), Fraction(99, 100)) for name in ("a", "b", "pi")}
BOX |= {"s": floats(Fraction(1, 10), 10), "t": floats(Fraction(1, 10), 10), "R": floats(0, 20)}

EQ9 = claim(
    "eq9",
    "CE(W* + R W^mm) <= H + C e^{-R}, C = V e^{|W*| M}, M = sqrt 2 max |h_j|.",
    Bounded(excess, upper=lambda p, _: decay(p)),
    (orthogonal,),
    theorem="eq. 9",
    formula=r"\mathrm{CE}(W^\star+RW^{\mathrm{mm}})\le\mathcal{H}+Ve^{\lVert W^\star\rVert M}e^{-R}",
    box=BOX,
    source_words=quoted("Section 4, eq. 9", "defining C := V e^{|W*| M} for M := sqrt 2 max_j |h_j|"),
)
FASTER = Bounded(excess, upper=lambda p, _: decay(p, rate=2))
EQ15 = claim(
    "eq15",
    "CE(W_F + (1 + alpha) R' W^mm) is the mean over j, z in S_j of the logarithm of the sum over all v of "
    "e^{-(e_z - e_v)^T W_F h_j} plus the sum over v outside S_j of e^{-(1 + alpha) R' (e_z - e_v)^T W^mm h_j}.",
    Equal(outside15, inside15),
    (orthogonal,),
    theorem="eq. 15",
    standing=slip(Weight.STEP, "Outside the support the two exponents are to be added; eq. 15 and 16 print two sums."),
    defence="A slip: with the exponents added both cases of Lemma 5 go through, with other constants.",
    source_words=quoted("Appendix E.1.2, eq. 15", "Substituting in CE expression (2)"),
)
MENDED15 = Equal(outside15, lambda p: inside15(p, mended=True))
SIZES = claim(
    "contexts",
    "m_1 >= m_2 >= .. >= m_{T-1}, m_t the number of distinct contexts of size t in sequences of equal length T.",
    Bounded(sizes, lower=lambda p, _: 0),
    (sentences,),
    theorem="Appendix C",
    standing=slip(Weight.ASIDE, "Each context of size t begins one of size t + 1, so that m_t grows with t."),
    defence="An aside: no result uses the order of the m_t.",
    source_words=quoted(
        "Appendix C", "the number of distinct contexts of size t. Note that m_1 >= m_2 >= .. >= m_{T-1}"
    ),
)
ENTROPY = claim(
    "entropy",
    "H_t >= H_{t+1}, H_t the entropy of the token after the first t, for stationary sequences.",
    Bounded(drops, lower=lambda p, _: 0),
    (sentences, stationary),
    theorem="Remark 2",
    source_words=quoted(
        "Appendix C, Remark 2",
        "This dynamic is captured by Shannon's inequality, H_t >= H_{t+1}",
        "Shannon's inequality is about stationary sources; the remark's formula is for any training set.",
    ),
)
ANY = varied("ntp-linear.entropy", "without stationarity")
HEDGED = "The remark says that supports generally become sparser, and names Shannon's inequality."
CLAIMS = (
    EQ9,
    changed(EQ9, "control", "The same with e^{-2R}, which is false.", FASTER, control_of=EQ9.id),
    EQ15,
    changed(EQ15, "rederived", "The same with the exponents added.", MENDED15, source_words=rederived(EQ15.id)),
    SIZES,
    changed(
        SIZES, "rederived", "m_1 <= .. <= m_{T-1}.", Bounded(sizes, lambda p, _: 0), source_words=rederived(SIZES.id)
    ),
    ENTROPY,
    changed(
        ENTROPY,
        "any-data",
        "H_t >= H_{t+1}.",
        ENTROPY.judgement,
        assumptions=(sentences,),
        defence=HEDGED,
        source_words=ANY,
    ),
)
