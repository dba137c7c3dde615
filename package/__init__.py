"""Numerical audits of theorems on how transformers train.

`audit` judges datasets by the statements of papers, as the command ``marginaudit audit`` does.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
