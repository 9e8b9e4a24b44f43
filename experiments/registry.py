"""All claims, in the order of the papers' years, and the tables that they need."""

from __future__ import annotations

from pathlib import Path

from dpviz.core.check import RequestError, format_value
from experiments import (
    balcan_figure2,
    balcan_small,
    balcan_theory,
    cohen_naive,
    cohen_sizes,
    google_coreset,
    su_blocks,
    su_epsilon,
    su_genetic,
    su_hybrid,
    su_scaling,
    su_theory,
)
from experiments.catalogue import CATALOGUE
from experiments.claim import Claim
from experiments.material import DatasetCache

_CLAIMS = (
    *(su_epsilon.CLAIM, su_scaling.CLAIM, su_blocks.CLAIM, su_genetic.CLAIM, su_hybrid.CLAIM, su_theory.CLAIM),
    *(balcan_small.CLAIM, balcan_figure2.CLUSTERS, balcan_figure2.EPSILON, balcan_theory.CLAIM),
    *(google_coreset.CLAIM,),
    *(cohen_sizes.SEPARATION, cohen_sizes.DIMENSIONS, cohen_naive.CLAIM),
)

CLAIMS: dict[str, Claim] = {claim.id: claim for claim in _CLAIMS}


def find_claim(claim_id: str) -> Claim:
    """The claim with that id.

    Raises
    ------
    RequestError
        If there is none.
    """
    if claim_id not in CLAIMS:
        raise RequestError(f"There is no claim {format_value(claim_id)}: choose among {', '.join(CLAIMS)}.")
    return CLAIMS[claim_id]


def open_datasets(folder: Path | None) -> DatasetCache:
    """All tables of the papers; ``folder`` may hold published files."""
    return DatasetCache(folder, CATALOGUE)
