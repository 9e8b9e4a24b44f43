"""How programs and shells reach all of it: the estimator, the commands as functions, the command line."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
