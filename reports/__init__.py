"""Reports: audits of claims on datasets, their pages, tables and figures, comparisons and hunts."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
