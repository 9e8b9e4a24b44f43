"""How values are written: numbers, names, tables of text, templates, the glossary, documents as models."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
