"""What tests ask of a run besides the product's own checks of the contract (``dpviz audit`` runs those)."""

from typing import Any

import numpy as np

from dpviz.algorithms.card import Card
from dpviz.core.private_session import PrivateTable
from dpviz.runs.audits.contract import list_values, run_card


def collect_frames(card: Card, table: PrivateTable, **request: Any) -> list[Any]:
    """The frames of a run, perhaps in another kind of session."""
    return list(run_card(card, table, **request).frames)


def list_arrays(thing: object) -> list[Any]:
    """Every array in a step."""
    return [value for value in list_values(thing) if isinstance(value, np.ndarray)]
