"""Theorem 5: the rates of the direction, the angle, the margin and the loss."""

from collections.abc import Callable
from typing import Any

import numpy as np

from marginaudit import Claim, HiddenConstant
from marginaudit.reports.standing import Standing, proved
from separable.claims.words import ALL, GENERIC, GENERIC_WORDS, PAGE, SOURCE, T, cited, not_settled
from separable.quantities import angle, direction, loss_times_t, margin_gap

LEFT = "a proof for data with a support vector of dual 0, of which theorem3.residual would be enough"

FROM_BOUNDED = proved(f"{PAGE}7-rates", "separable.theorem3.bounded", hunted=0)


def rate(name: str, statement: str, formula: str, measure: Any, shape: Callable[[Any, Any], Any], **more: Any) -> Claim:
    """One of the theorem's rates."""
    standing: Standing = more.pop("standing", FROM_BOUNDED)
    return Claim(
        id=f"separable.theorem5.{name}",
        source=f"{SOURCE}, Theorem 5",
        statement=statement,
        formula=formula,
        assumptions=more.pop("assumptions", GENERIC),
        judgement=HiddenConstant(measure, shape, regime=lambda run: run.regime),
        standing=standing,
        source_words=cited("Theorem 5", T, *([GENERIC_WORDS] if standing is FROM_BOUNDED else [])),
    )


DIRECTION = r"\Bigl\lVert\frac{w(t)}{\lVert w(t)\rVert}-\frac{\hat w}{\lVert\hat w\rVert}\Bigr\rVert"
ANGLE = r"1-\frac{w(t)^\top\hat w}{\lVert w(t)\rVert\lVert\hat w\rVert}"

CLAIMS = (
    rate(
        "direction",
        "|w/|w| - w^/|w^|| = O(1/log t), for generic data.",
        DIRECTION + r"=O\Bigl(\frac1{\log t}\Bigr)",
        direction,
        lambda run, s: 1 / s,
    ),
    rate(
        "direction.all",
        "|w/|w| - w^/|w^|| = O(log log t/log t).",
        DIRECTION + r"=O\Bigl(\frac{\log\log t}{\log t}\Bigr)",
        direction,
        lambda run, s: np.log(s) / s,
        assumptions=ALL,
        standing=not_settled(LEFT),
    ),
    rate(
        "angle",
        "1 - cos(w, w^) = O(1/log^2 t), for generic data.",
        ANGLE + r"=O\Bigl(\frac1{\log^2t}\Bigr)",
        angle,
        lambda run, s: 1 / s**2,
    ),
    rate(
        "angle.all",
        "1 - cos(w, w^) = O((log log t/log t)^2).",
        ANGLE + r"=O\Bigl(\Bigl(\frac{\log\log t}{\log t}\Bigr)^2\Bigr)",
        angle,
        lambda run, s: (np.log(s) / s) ** 2,
        assumptions=ALL,
        standing=not_settled(LEFT),
    ),
    rate(
        "margin",
        "1/|w^| - min_n x_n.w/|w| = O(1/log t).",
        r"\frac1{\lVert\hat w\rVert}-\frac{\min_nx_n^\top w(t)}{\lVert w(t)\rVert}=O\Bigl(\frac1{\log t}\Bigr)",
        margin_gap,
        lambda run, s: 1 / s,
        assumptions=ALL,
        standing=proved(f"{PAGE}3-separabletheorem3direction", "separable.theorem5.loss", hunted=0),
    ),
    rate(
        "loss",
        "L(w(t)) = O(1/t).",
        r"\mathcal{L}(w(t))=O\Bigl(\frac1t\Bigr)",
        loss_times_t,
        lambda run, s: np.ones_like(s),
        assumptions=ALL,
        standing=proved(f"{PAGE}2-separabletheorem5loss", hunted=0),
    ),
)
