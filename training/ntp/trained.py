"""A finished training: the records of both stages, and the trained weights."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from marginaudit.orders.ntp import Token
from marginaudit.training.ntp.far.law import AsymptoticLaw
from marginaudit.training.ntp.model.classes import SampleClasses
from marginaudit.training.ntp.model.edges import MergedEdges
from marginaudit.training.ntp.model.reference import ExactReference
from marginaudit.training.ntp.records import Floats, Stage1, Stage2

if TYPE_CHECKING:
    from marginaudit.training.ntp.certified.enclosure import Enclosure


@dataclass(frozen=True, eq=False)
class Reduced:
    """The reduced model of stage 2: merged edges, and the exact W*_kq on them."""

    merged: MergedEdges
    exact: ExactReference


@dataclass(frozen=True)
class Asymptotics:
    """Asymptotic convergence of stage 2, decided exactly from W*_kq.

    Attributes
    ----------
    degenerate : bool
        Whether a tight constraint has multiplier 0 in every dual solution.
    without_multiplier : tuple of (query, winner, loser)
        The constraints with multiplier 0.
    law : AsymptoticLaw or None
        The asymptotic law; None if the run did not reach a state that determines it.
    """

    degenerate: bool
    without_multiplier: tuple[tuple[Token, Token, Token], ...]
    law: AsymptoticLaw | None


@dataclass(frozen=True)
class Training:
    """Both stages of Algorithm 1 and their final weights.

    Attributes
    ----------
    B : (labels, tokens) array
        W_ov E^T after stage 1: B[v, x] is the logit of label v where all attention is on x.
    S : (keys, queries) array
        E W_kq E^T after stage 2, for orthonormal embeddings on the pairs of ``classes`` and 0 elsewhere.
    W_ov, W_kq : (V, d) and (d, d) arrays
        The same weights in embedding space.
    margin : float
        A, the mean of all margins (e_{n(x)} - e_v)^T W_ov x after stage 1; 0 for one token.
    margin_spread : float
        max |margin - A|.
    margin_error : float
        Bound on the rounding error of A.
    common_margin : bool
        Whether stage 2 took all margins as A: margin_spread <= 1e-12 A.
    classes : SampleClasses
        The samples of stage 2, merged by (query, bag, next token).
    optimizer : str
        "ngd" or "gd".
    form : str
        Form of the steps of stage 2: "compiled", "token space" or "embedding space".
    form_reason : str
        Reason why it is not compiled; "" if it is.
    stopped : str
        Reason why stage 2 ends before the requested last step; "" if it does not.
    reduced : Reduced or None
        None without a reduced model or an exact W*_kq.
    asymptotics : Asymptotics or None
        None without an exact W*_kq or a reduced model, and for plain descent.
    enclosed : Enclosure or None
        First recorded steps of stage 2 in ball arithmetic, if float64 lost them; their records are its centres.
    lost : bool
        Whether rounding made S and W_kq meaningless.
    """

    stage1: Stage1
    stage2: Stage2
    B: Floats
    S: Floats
    W_ov: Floats
    W_kq: Floats
    margin: float
    margin_spread: float
    margin_error: float
    common_margin: bool
    classes: SampleClasses
    optimizer: str
    form: str
    form_reason: str
    stopped: str
    reduced: Reduced | None
    asymptotics: Asymptotics | None
    enclosed: "Enclosure | None"
    lost: bool
