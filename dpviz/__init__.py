"""dpviz: differentially private clustering that shows what privacy costs."""

from dpviz.algorithms.registry import CARDS
from dpviz.runs.run import Run, run
from dpviz.table.domain import Domain

__version__ = "0.1.0"
__all__ = ["CARDS", "Domain", "Run", "run"]
