"""What ε means: odds, the bound on every attack, attacks that are run, releases that are repeated, others' ε.

Nothing here reads a private table: attacks know the rows, so they are for public and simulated tables only.
"""

import lazy_loader  # type: ignore[import-untyped]

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, ["membership", "windows"])
