"""Without the exponential tail the limit is another one."""

from marginaudit import Claim, Limit
from marginaudit.reports.source_words import corrected
from marginaudit.reports.standing import Severity, refuted
from separable.claims.words import SOURCE, cited, not_settled
from separable.quantities import polynomial_cosine, polynomial_target

CONTROL = Claim(
    id="separable.polynomial",
    source=f"{SOURCE}, Theorem 3 without the exponential tail: a control",
    statement="With the loss 1/(1+u) for u >= 0, too, w(t)/|w(t)| -> w^/|w^|, judged as the cosine.",
    formula=r"\ell(u)=\frac1{1+u}:\quad\frac{w(t)}{\lVert w(t)\rVert}\to\frac{\hat w}{\lVert\hat w\rVert}",
    assumptions=("separable",),
    judgement=Limit(
        lambda run: polynomial_cosine(run, run.what / run.norm), predicted=lambda run: 1.0, regime=lambda run: 20.0
    ),
    instead=r"It tends to the direction of $v=\arg\min\sum_n\frac1{x_n^\top v}+\frac{\lVert v\rVert^2}6$.",
    standing=refuted(None, severity=Severity.ORDINARY, hunted=0, weakest="v is parallel to w^, as on symmetric data"),
    source_words=cited("the section on other losses", "What fails without the condition on the tail."),
)

ELSEWHERE = Claim(
    id="separable.polynomial.rederived",
    source="this project, on arXiv 1710.10345",
    statement="With that loss w(t)/|w(t)| -> v/|v|, v = argmin sum_n 1/(x_n.v) + |v|^2/6, judged as the cosine.",
    formula=r"\frac{w(t)}{\lVert w(t)\rVert}\to\frac v{\lVert v\rVert},\quad "
    r"v=\arg\min\sum_n\frac1{x_n^\top v}+\frac{\lVert v\rVert^2}6",
    assumptions=("separable",),
    judgement=Limit(
        lambda run: polynomial_cosine(run, polynomial_target(run)), predicted=lambda run: 1.0, regime=lambda run: 20.0
    ),
    standing=not_settled("a proof that w/t^(1/3) converges"),
    source_words=corrected("separable.polynomial", mended="with the limit mended"),
)

CLAIMS = (CONTROL, ELSEWHERE)
