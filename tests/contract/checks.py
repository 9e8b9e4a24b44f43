"""The contract's checks are the product's (``dpviz audit`` runs them); planted mistakes must fail them."""

from __future__ import annotations

from dpviz.runs.audits.contract import (
    check_booked,
    check_centers,
    check_ledger,
    check_loss,
    check_replay,
    check_replayed,
    check_total,
    collect_frames,
    list_arrays,
    record_run,
    run_card,
)

__all__ = [
    "check_booked",
    "check_centers",
    "check_ledger",
    "check_loss",
    "check_replay",
    "check_replayed",
    "check_total",
    "collect_frames",
    "list_arrays",
    "record_run",
    "run_card",
]
