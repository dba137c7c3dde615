"""Claims: statements of papers, the rules that judge them, and the runs that they are judged on.

Authors of claims import `Claim`, `Series` and the judgements from here. The measured quantities of a run are in the
paper's sub-package, such as `marginaudit.claims.ntp.quantities`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
