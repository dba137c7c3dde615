"""Claims: statements of papers, the rules that judge them, and the runs that they are judged on.

Whoever writes a claim finds here what it is made of: `Claim`, the `Series` that it measures, and the judgements. What
is measured of a run is in the paper's room, such as `marginaudit.claims.ntp.quantities`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
