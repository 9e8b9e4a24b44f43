"""Eighteen methods, a file for each or for variants of one, with the steps beside it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
