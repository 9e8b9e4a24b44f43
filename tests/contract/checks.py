"""The contract's checks are the product's (``dpviz audit`` runs them); planted mistakes must fail them."""

from __future__ import annotations

from dpviz.audit.contract import (
    arrays_in,
    check_booked,
    check_centers,
    check_ledger,
    check_loss,
    check_replay,
    check_replayed,
    check_total,
    frames_of,
    run_of,
    taped,
)

__all__ = [
    "arrays_in",
    "check_booked",
    "check_centers",
    "check_ledger",
    "check_loss",
    "check_replay",
    "check_replayed",
    "check_total",
    "frames_of",
    "run_of",
    "taped",
]
