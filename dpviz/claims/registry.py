"""All claims, in the order of the papers' years, and the one door through which their rows are computed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dpviz.check import RequestError, shown
from dpviz.claims import (
    balcan_clusters,
    balcan_epsilon,
    balcan_small,
    cohen_dimensions,
    cohen_naive,
    cohen_separation,
    google_coreset,
    su_blocks,
    su_epsilon,
    su_genetic,
    su_hybrid,
    su_scaling,
)
from dpviz.claims.catalogue import CATALOGUE
from dpviz.claims.claim import Claim, Row
from dpviz.claims.material import Shelf

_MODULES = (
    *(su_epsilon, su_scaling, su_blocks, su_genetic, su_hybrid),
    *(balcan_small, balcan_clusters, balcan_epsilon),
    *(google_coreset,),
    *(cohen_separation, cohen_dimensions, cohen_naive),
)

CLAIMS: dict[str, Claim] = {module.CLAIM.id: module.CLAIM for module in _MODULES}


def claim_of(claim_id: str) -> Claim:
    """The claim with that id.

    Raises
    ------
    RequestError
        If there is none.
    """
    if claim_id not in CLAIMS:
        raise RequestError(f"There is no claim {shown(claim_id)}: choose among {', '.join(CLAIMS)}.")
    return CLAIMS[claim_id]


def shelf(folder: Path | None) -> Shelf:
    """All tables of the papers; ``folder`` may hold published files."""
    return Shelf(folder, CATALOGUE)


def claim_rows(claim_id: str, *, quick: bool, folder: Path | None) -> Iterator[Row]:
    """The rows of a claim as they are found; a module-level generator, so that a worker process can run it."""
    claim = claim_of(claim_id)
    yield from claim.rows(shelf(folder), claim.settings(quick=quick))
