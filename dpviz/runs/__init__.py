"""One run, many runs, advice before a run, what ε means, and the audit."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
