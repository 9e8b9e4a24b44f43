"""What the first page needs, loaded in one go: while the server starts, or by a visitor who comes before that."""

import gc
from importlib import import_module

# Whoever imports this waits until it is there: two threads that load at once take longer than one after the other.
gc.disable()
for name in ("sklearn.cluster", "dpviz.app.ui.bench.bench_page"):
    import_module(name)
gc.enable()
gc.freeze()  # what stays for good is not gone through again after each run of a page
