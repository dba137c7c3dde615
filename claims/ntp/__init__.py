"""Claims of arXiv 2409.17335: its theorems, the audited runs, and measured quantities."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
