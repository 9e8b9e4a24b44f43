"""What the first page needs, loaded in one go: while the server starts, or by a visitor who comes before that."""

import gc
from functools import cache
from importlib import import_module
from threading import Thread

# Whoever imports this waits until it is there: two threads that load at once take longer than one after the other.
gc.disable()
for name in ("dp_accounting.pld.accountant", "dpviz.app.ui.bench.bench_page"):
    import_module(name)
gc.enable()
gc.freeze()  # what stays for good is not gone through again after each run of a page


@cache
def load_clustering() -> None:
    """Begin, once a server, to load what k-means++ on other rows than a sample's as it comes needs."""
    Thread(target=import_module, args=("sklearn.cluster",), daemon=True).start()
