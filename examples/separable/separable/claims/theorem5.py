"""Theorem 5: the rates of the direction, the angle, the margin and the loss."""

from functools import partial
from typing import Any

import numpy as np

from marginaudit import Claim
from marginaudit.claims.standing import proved, unsettled
from separable.claims.words import BY_BOUNDED, GENERIC, GENERIC_WORDS, PAGE, T, order, printed
from separable.quantities import angle, direction, loss_times_t, margin_gap

RATES: dict[str, tuple[Any, Any]] = {
    "direction": (direction, lambda run, s: 1 / s),
    "angle": (angle, lambda run, s: 1 / s**2),
    "margin": (margin_gap, lambda run, s: 1 / s),
    "loss": (loss_times_t, lambda run, s: np.zeros_like(s)),
}

MISSING = unsettled("a proof for data with a support vector of dual 0, of which theorem3.residual would be enough")

generic = partial(printed, assumptions=GENERIC, standing=proved(f"{PAGE}7-rates", "separable.theorem3.bounded"))
for_all = partial(printed, standing=MISSING, implications=(BY_BOUNDED,))

DIRECTION = r"\Bigl\lVert\frac{w(t)}{\lVert w(t)\rVert}-\frac{\hat w}{\lVert\hat w\rVert}\Bigr\rVert"
ANGLE = r"1-\frac{w(t)^\top\hat w}{\lVert w(t)\rVert\lVert\hat w\rVert}"

CLAIMS: tuple[Claim, ...] = (
    generic(
        "theorem5.direction",
        "Theorem 5/section 1 (its eq. 3.1)",
        "|w/|w| - w^/|w^|| = O(1/log t), for generic data.",
        DIRECTION + r"=O\Bigl(\frac1{\log t}\Bigr)",
        order(*RATES["direction"]),
        T,
        GENERIC_WORDS,
        quote="the distance to the max-margin predictor decreasing only as O(1/log(t))",
    ),
    for_all(
        "theorem5.direction.all",
        "Theorem 5",
        "|w/|w| - w^/|w^|| = O(log log t/log t).",
        DIRECTION + r"=O\Bigl(\frac{\log\log t}{\log t}\Bigr)",
        order(direction, lambda run, s: np.log(s) / s),
        T,
    ),
    generic(
        "theorem5.angle",
        "Theorem 5/section 3, eq. 3.2",
        "1 - cos(w, w^) = O(1/log^2 t), for generic data.",
        ANGLE + r"=O\Bigl(\frac1{\log^2t}\Bigr)",
        order(*RATES["angle"]),
        T,
        GENERIC_WORDS,
        quote="The normalized weight vector converges to normalized max margin vector .. in angle",
    ),
    for_all(
        "theorem5.angle.all",
        "Theorem 5",
        "1 - cos(w, w^) = O((log log t/log t)^2).",
        ANGLE + r"=O\Bigl(\Bigl(\frac{\log\log t}{\log t}\Bigr)^2\Bigr)",
        order(angle, lambda run, s: (np.log(s) / s) ** 2),
        T,
    ),
    printed(
        "theorem5.margin",
        "Theorem 5/section 3, eq. 3.3",
        "1/|w^| - min_n x_n.w/|w| = O(1/log t).",
        r"\frac1{\lVert\hat w\rVert}-\frac{\min_nx_n^\top w(t)}{\lVert w(t)\rVert}=O\Bigl(\frac1{\log t}\Bigr)",
        order(*RATES["margin"]),
        T,
        quote="and the margin converges as",
        standing=proved(f"{PAGE}3-separabletheorem3direction", "separable.theorem5.loss"),
    ),
    printed(
        "theorem5.loss",
        "Theorem 5/figure 1",
        "L(w(t)) = O(1/t).",
        r"\mathcal{L}(w(t))=O\Bigl(\frac1t\Bigr)",
        order(*RATES["loss"]),
        T,
        quote="the training loss. As expected, it decreases as t^-1 (eq. 3.4)",
        standing=proved(f"{PAGE}2-separabletheorem5loss"),
    ),
)
