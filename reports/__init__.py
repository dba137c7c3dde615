"""Reports: audits of claims on datasets, and what is made of them: pages, tables, figures, comparisons, hunts."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
