"""Claims of arXiv 2305.16380 (Scan and Snap): its theorems, judged on runs on sequence classes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
