"""Without the exponential tail the limit is another one."""

from marginaudit import Limit
from marginaudit.reports.standing import Severity, refuted, unsettled
from separable.claims.words import SEPARABLE, printed, rederived
from separable.quantities import polynomial_cosine
from separable.run import polynomial_limit

CONTROL = printed(
    "polynomial",
    "Theorem 3 without the exponential tail: a control/the section on other losses",
    "With the loss 1/(1+u) for u >= 0, too, w(t)/|w(t)| -> w^/|w^|, judged as the cosine.",
    r"\ell(u)=\frac1{1+u}:\quad\frac{w(t)}{\lVert w(t)\rVert}\to\frac{\hat w}{\lVert\hat w\rVert}",
    Limit(lambda run: polynomial_cosine(run, run.what / run.norm), predicted=lambda _: 1.0, regime=lambda _: 20.0),
    "What fails without the condition on the tail.",
    assumptions=SEPARABLE,
    instead=r"It tends to the direction of $v=\arg\min\sum_n\frac1{x_n^\top v}+\frac{\lVert v\rVert^2}6$.",
    standing=refuted(
        None,
        severity=Severity.ORDINARY,
        wrong="With a loss whose tail is a power, descent turns to another direction.",
        weakest="v is parallel to w^, as on symmetric data",
    ),
)

ELSEWHERE = rederived(
    "polynomial",
    "polynomial",
    "",
    "With that loss w(t)/|w(t)| -> v/|v|, v = argmin sum_n 1/(x_n.v) + |v|^2/6, judged as the cosine.",
    r"\frac{w(t)}{\lVert w(t)\rVert}\to\frac v{\lVert v\rVert},\quad "
    r"v=\arg\min\sum_n\frac1{x_n^\top v}+\frac{\lVert v\rVert^2}6",
    Limit(lambda run: polynomial_cosine(run, polynomial_limit(run)), predicted=lambda _: 1.0, regime=lambda _: 20.0),
    mended="with the limit mended",
    assumptions=SEPARABLE,
    standing=unsettled("a proof that w/t^(1/3) converges"),
)

CLAIMS = (CONTROL, ELSEWHERE)
