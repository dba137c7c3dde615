from .box import floats as floats
from .box import integers as integers
from .box import vectors as vectors
from .claim import (
    Claim as Claim,
)
from .claim import (
    Ledger as Ledger,
)
from .claim import (
    NotFollowed as NotFollowed,
)
from .claim import (
    ProofCondition as ProofCondition,
)
from .instances.instance import (
    Instance as Instance,
)
from .instances.instance import (
    Parameters as Parameters,
)
from .instances.instance import (
    instance as instance,
)
from .judgements import (
    AllInstances as AllInstances,
)
from .judgements import (
    Bounded as Bounded,
)
from .judgements import (
    Decided as Decided,
)
from .judgements import (
    Equal as Equal,
)
from .judgements import (
    Exists as Exists,
)
from .judgements import (
    HiddenConstant as HiddenConstant,
)
from .judgements import (
    InExpectation as InExpectation,
)
from .judgements import (
    Limit as Limit,
)
from .judgements import (
    NotChecked as NotChecked,
)
from .judgements import (
    OverClass as OverClass,
)
from .judgements import (
    Parts as Parts,
)
from .judgements import (
    Rate as Rate,
)
from .judgements import (
    Threshold as Threshold,
)
from .judgements import (
    TwoConstants as TwoConstants,
)
from .judgements import (
    WithProbability as WithProbability,
)
from .judgements import (
    WorstCase as WorstCase,
)
from .run import once_a_run as once_a_run
from .series import (
    Series as Series,
)
from .series import (
    exact_series as exact_series,
)
from .verdict import (
    Evidence as Evidence,
)
from .verdict import (
    Finding as Finding,
)
from .verdict import (
    Verdict as Verdict,
)

__all__: list[str]
