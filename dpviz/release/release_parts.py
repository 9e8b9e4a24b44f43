"""The parts of a release, each with a ledger and noise of its own: drawn on rows, or played again without any.

Whoever releases and whoever verifies run the same code: what differs is the table and what answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpviz.algorithms.steps import CentersStep
from dpviz.arrays import Array
from dpviz.privacy.accounting import Accounting
from dpviz.privacy.exact_noise import ExactSource
from dpviz.privacy.ledger import Entry
from dpviz.privacy.queries import Relation
from dpviz.privacy.room import PrivateTable
from dpviz.release.card_facts import Part
from dpviz.release.described_table import DescribedTable, description_of
from dpviz.release.order import ALGORITHM, OF_SEGMENTS, Order
from dpviz.release.rounding import Rounded, rounded
from dpviz.release.segments import segments
from dpviz.release.segments_report import SegmentsReport
from dpviz.runs.open_table import domain_of
from dpviz.runs.run import Run, RunSoFar, steps_of
from dpviz.table.declaration import Declaration
from dpviz.table.domain import Domain

Watch = Callable[[RunSoFar], None]


@dataclass(frozen=True, eq=False)
class Clustered:
    """The algorithm's part: its run, and the centres as they are published."""

    run: Run
    published: Rounded

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Its ledger."""
        return self.run.entries

    @property
    def unit_centers(self) -> Array:
        """The published centres, unit coordinates: segments are those of what everybody has."""
        return self.run.domain.to_unit(self.published.centers)

    @property
    def center_noise_sd(self) -> Array | None:
        """What the last step says of the noise on a coordinate of each centre, shape (k,)."""
        step = self.run.frames[-1].step
        said = step.center_noise_sd if isinstance(step, CentersStep) else None
        return None if said is None or not np.isfinite(said).all() else said


class Told(NamedTuple):
    """The part of segments: what is said of them, and its ledger."""

    report: SegmentsReport
    entries: Sequence[Entry]


def clustered(
    order: Order, share: Part, table: PrivateTable, source: ExactSource, *, watch: Watch | None = None
) -> Clustered:
    """The centres of a release.

    **Guarantee.** ``share``.
    """
    finished = None
    for step in steps_of(order.of_share(share), table, noise=source):
        finished = step
        if watch is not None:
            watch(step)
    assert isinstance(finished, Run)
    return Clustered(finished, rounded(finished))


def told(found: Clustered, described: DescribedTable, share: Part, source: ExactSource) -> Told:
    """What is said of the segments of published centres.

    **Guarantee.** ``share``, ε-DP: whichever centres were released before.
    """
    room = described.private.open(
        epsilon=share.epsilon, delta=0.0, accounting=Accounting.PURE, noise=source, needs_n=False
    )
    report = segments(room, found.unit_centers, described.description, center_noise_sd=found.center_noise_sd)
    return Told(report, tuple(room.ledger.entries))


def tables_without_rows(declaration: Declaration, n_public: int | None) -> tuple[PrivateTable, DescribedTable]:
    """The tables of a declaration, of no rows: for playing a transcript, which looks at none."""
    domain = domain_of(declaration)
    description = description_of(declaration, domain)
    wide = _of_nobody(declaration, description.wide, n_public)
    return _of_nobody(declaration, domain, n_public), DescribedTable(wide, description)


def _of_nobody(declaration: Declaration, domain: Domain, n_public: int | None) -> PrivateTable:
    table = PrivateTable(
        np.zeros((0, domain.dim)),
        domain,
        relation=declaration.relation,
        n_public=n_public,
        persons=None if declaration.id_column is None else np.zeros(0, dtype=np.int64),
        rows_per_person=declaration.rows_per_person,
    )
    if table.relation is Relation.REPLACE:
        table.n_public = n_public
    return table


def entries_by_part(found: Clustered, said: Told | None) -> Mapping[str, Sequence[Entry]]:
    """The ledgers, in the order of spending."""
    return {ALGORITHM: found.entries} | ({} if said is None else {OF_SEGMENTS: said.entries})
