"""What forks the workers of the server of Spark: it has loaded what they need, and holds it apart from what they throw
away, which each looks for after every task."""

import gc

from pyspark import daemon

import dpviz.algorithms.registry  # noqa: F401 (so that it is loaded once)

if __name__ == "__main__":
    gc.freeze()
    daemon.manager()
