"""Without the exponential tail the limit is another one."""

from marginaudit import Limit
from marginaudit.claims.standing import Severity, refuted
from separable.claims.words import SEPARABLE, printed
from separable.quantities import polynomial_cosine

CLAIMS = (
    printed(
        "polynomial",
        "Theorem 3 without the exponential tail: a control/the section on other losses",
        "With the loss 1/(1+u) for u >= 0, too, w(t)/|w(t)| -> w^/|w^|, judged as the cosine.",
        r"\ell(u)=\frac1{1+u}:\quad\frac{w(t)}{\lVert w(t)\rVert}\to\frac{\hat w}{\lVert\hat w\rVert}",
        Limit(polynomial_cosine, predicted=lambda _: 1.0, regime=lambda _: 20.0),
        "What fails without the condition on the tail.",
        assumptions=SEPARABLE,
        instead=r"It tends to the direction of $v=\arg\min\sum_n\frac1{x_n^\top v}+\frac{\lVert v\rVert^2}6$.",
        standing=refuted(
            None,
            severity=Severity.ORDINARY,
            wrong="With a loss whose tail is a power, descent turns to another direction.",
            weakest="v is parallel to w^, as on symmetric data",
        ),
    ),
)
