from ._version import __version__ as __version__
from .claims.box import floats as floats
from .claims.box import integers as integers
from .claims.box import vectors as vectors
from .claims.claim import Claim as Claim
from .claims.dynamics import iterate as iterate
from .claims.dynamics import slow_flow as slow_flow
from .claims.instances.instance import instance as instance
from .claims.judgements import (
    AllInstances as AllInstances,
)
from .claims.judgements import (
    Bounded as Bounded,
)
from .claims.judgements import (
    Decided as Decided,
)
from .claims.judgements import (
    Equal as Equal,
)
from .claims.judgements import (
    Exists as Exists,
)
from .claims.judgements import (
    HiddenConstant as HiddenConstant,
)
from .claims.judgements import (
    InExpectation as InExpectation,
)
from .claims.judgements import (
    Limit as Limit,
)
from .claims.judgements import (
    NotChecked as NotChecked,
)
from .claims.judgements import (
    OverClass as OverClass,
)
from .claims.judgements import (
    Rate as Rate,
)
from .claims.judgements import (
    TwoConstants as TwoConstants,
)
from .claims.judgements import (
    WithProbability as WithProbability,
)
from .claims.judgements import (
    WorstCase as WorstCase,
)
from .claims.paper import Paper as Paper
from .claims.quotation import (
    quoted as quoted,
)
from .claims.quotation import (
    rederived as rederived,
)
from .claims.quotation import (
    varied as varied,
)
from .claims.series import (
    Series as Series,
)
from .claims.series import (
    by_formula as by_formula,
)
from .claims.standing import (
    Severity as Severity,
)
from .claims.standing import (
    Weight as Weight,
)
from .claims.standing import (
    refuted as refuted,
)
from .claims.verdict import (
    Evidence as Evidence,
)
from .claims.verdict import (
    Finding as Finding,
)
from .claims.verdict import (
    Verdict as Verdict,
)
from .reports.audit.sources import dataset as dataset
from .reports.page.latex import to_latex as to_latex
from .reports.python import (
    Report as Report,
)
from .reports.python import (
    audit as audit,
)
from .reports.python import (
    conform as conform,
)

__all__: list[str]
