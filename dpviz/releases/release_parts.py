"""The parts of a release, each with a ledger and noise of its own: drawn on rows, or played again without any.

Whoever releases and whoever verifies run the same code: what differs is the table and what answers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from dpviz.algorithms import PolishStep
from dpviz.core import Accounting, Array, Domain, Entry, ExactSource, PrivateTable, Relation
from dpviz.releases.bought_bounds import BoughtBounds, buy_bounds
from dpviz.releases.continuing import CountedAgain, EarlierSegments, count_again
from dpviz.releases.described_table import DescribedTable, make_description
from dpviz.releases.missing_shares import MissingShares, buy_missing_shares
from dpviz.releases.release_request import ALGORITHM, OF_BOUNDS, OF_EARLIER, OF_MISSING, OF_SEGMENTS, ReleaseRequest
from dpviz.releases.segments import ask_segments
from dpviz.releases.segments_report import SegmentsReport, choose_shares, format_segments, repeat_shares
from dpviz.releases.tallies import NOISE_TELLS_ALL, Means, Rounded, SegmentTallies, estimate_means, measure_polish_error
from dpviz.runs import Run, RunSoFar, profiles, run_steps
from dpviz.tables import Content, Declaration, LoadedTable

Watch = Callable[[RunSoFar], None]


@dataclass(frozen=True, eq=False)
class Clustered:
    """The algorithm's part: its run, and the centres as they are published."""

    run: Run
    rounded: Rounded

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Its ledger."""
        return self.run.entries

    @property
    def unit_centers(self) -> Array:
        """The published centres, unit coordinates: segments are those of what everybody has."""
        return self.run.domain.to_unit_coordinates(self.rounded.centers)

    @property
    def center_noise_sd(self) -> Array | None:
        """What the last step says of the noise on a coordinate of each centre, shape (k,)."""
        said = self.run.center_noise_sd
        return None if said is None or not np.isfinite(said).all() else said


class SegmentsPart(NamedTuple):
    """The part of segments: what is said of them, and its ledger."""

    report: SegmentsReport
    entries: Sequence[Entry]


class Tables(NamedTuple):
    """What the algorithm is asked of, and, if anybody asks, what segments are."""

    private: PrivateTable
    described: Callable[[], DescribedTable]


def make_empty_content(declaration: Declaration) -> LoadedTable:
    """A table as declared, of no rows: for playing a transcript, which looks at none."""
    words = (*declaration.textual, *filter(None, [declaration.id_column]))
    numbers = {name: np.zeros(0) for name in declaration.columns if name not in words}
    text = {name: np.zeros(0, dtype=str) for name in words}
    return LoadedTable(declaration.title, pd.DataFrame({**numbers, **text}), fingerprint="")


def make_empty_tables(declaration: Declaration, n_public: int | None) -> Tables:
    """The tables of a declaration, of no rows: for playing a transcript, which looks at none."""
    domain = declaration.make_domain()
    description = make_description(declaration, domain)
    wide = _make_empty_table(declaration, description.wide, n_public)
    return Tables(_make_empty_table(declaration, domain, n_public), lambda: DescribedTable(wide, description))


def _make_empty_table(declaration: Declaration, domain: Domain, n_public: int | None) -> PrivateTable:
    persons = None if declaration.id_column is None else np.zeros(0, dtype=np.int64)
    table = replace(declaration, n_public=n_public).make_private_table(np.zeros((0, domain.width)), domain, persons)
    if table.relation is Relation.REPLACE:
        table.n_public = n_public
    return table


@dataclass(frozen=True, eq=False)
class Parts:
    """What all parts of a release have come to; ``declaration`` has the bounds that were bought."""

    declaration: Declaration
    clustered: Clustered
    bounds: BoughtBounds | None = None
    missing: MissingShares | None = None
    told: SegmentsPart | None = None
    again: CountedAgain | None = None

    @property
    def entries(self) -> Mapping[str, Sequence[Entry]]:
        """The ledgers, in the order of spending."""
        parts = {
            OF_BOUNDS: self.bounds,
            OF_MISSING: self.missing,
            ALGORITHM: self.clustered,
            OF_SEGMENTS: self.told,
            OF_EARLIER: self.again,
        }
        return {name: part.entries for name, part in parts.items() if part is not None}

    @property
    def charges(self) -> Sequence[Entry]:
        """Of all ledgers together."""
        return [entry for entries in self.entries.values() for entry in entries]

    @cached_property
    def profile(self) -> profiles.Profile:
        """What is said of each segment: its centre as published, its size, and how far off both are.

        The size is that of the segments' part, counted in the cells of the published centres. The algorithm's own
        counts are of cells before its last step: they stand in where nothing was asked about segments.
        """
        made, means = self._noise, self.means
        told = self.clustered.run.algorithm in NOISE_TELLS_ALL  # else how far off a centre is nobody can tell
        off = means.error if means is not None else made.center_sd if told else np.full(made.center_sd.shape, np.nan)
        made = replace(made, center_sd=off if means is None else made.spread_noise(off), drawn_sd=made.center_sd)
        return made if self.told is None else choose_shares(made, self.told.report)

    @cached_property
    def report(self) -> SegmentsReport | None:
        """What is said of the segments; a share of a clustered column is the one that the profile has."""
        return None if self.told is None else repeat_shares(self.told.report, self.profile)

    @cached_property
    def means(self) -> Means | None:
        """What is told of the mean of the rows of each segment; None where nothing was asked about them."""
        if self.tallies is None:
            return None
        run, said = self.clustered.run, self.clustered.center_noise_sd
        if isinstance(step := run.steps[-1], PolishStep):
            said = measure_polish_error(self.tallies, step)
        return estimate_means(self.tallies, self._noise, run.algorithm, said)

    @cached_property
    def _noise(self) -> profiles.Profile:
        """The profile with the noise that the algorithm tells of, and nothing else that its centres are off by."""
        rounded, sizes = self.clustered.rounded, None if self.tallies is None else self.tallies.published
        made = profiles.make_profile(self.clustered.run, centers=rounded.centers, sizes=sizes)
        return replace(made, step=rounded.step)

    @property
    def tallies(self) -> SegmentTallies | None:
        """What was counted of the segments; None where nothing was asked about them."""
        return self.told.report.tallies if self.told is not None and self.told.report.tallies.every else None

    def publish_segments(self, sha256: str) -> EarlierSegments | None:
        """The segments as a release that continues this one has them, whose transcript has that hash; None where
        nothing was asked about them."""
        if (tallies := self.tallies) is None:
            return None
        centers = tuple(map(tuple, self.clustered.rounded.centers.tolist()))
        return EarlierSegments(sha256, centers, tuple(tallies.released.sizes.tolist()), tuple(tallies.size_sd.tolist()))

    @property
    def missing_told(self) -> tuple[str, ...]:
        """The released shares of missing cells in words; none where they were not bought."""
        return () if self.missing is None else tuple(one.words for one in self.missing.shares)

    @property
    def segments_csv(self) -> str:
        """What ``segments.csv`` says; "" where neither segments nor missing cells were asked about."""
        missing = () if self.missing is None else self.missing.shares
        if self.told is None and not missing:
            return ""
        return format_segments(self.report, missing)


def make_parts_of_nobody(
    release_request: ReleaseRequest, declaration: Declaration, sources: Mapping[str, ExactSource], n_public: int | None
) -> Parts:
    """Every part of a release over tables of no rows: for a rehearsal, or for playing a transcript."""
    tables = partial(make_empty_tables, n_public=n_public)
    return make_all_parts(release_request, declaration, sources, make_empty_content(declaration), tables)


def make_all_parts(
    release_request: ReleaseRequest,
    declaration: Declaration,
    sources: Mapping[str, ExactSource],
    content: Content,
    tables: Callable[[Declaration], Tables],
    *,
    watch: Watch | None = None,
) -> Parts:
    """Every part of a release, in the order of spending; ``tables`` opens what is declared once its bounds are known.

    **Guarantee.** The shares of ``release_request``, added up: each part is pure ε-DP for its own, whatever the parts
    before it have released, but for that of the algorithm, which may be (ε, δ)-DP.
    """
    shares = release_request.shares(declaration)
    bounds = missing = said = again = None
    if share := shares.get(OF_BOUNDS):
        each = share.epsilon / len(declaration.open_columns)
        bounds = buy_bounds(content, declaration, epsilon=each, noise=sources[OF_BOUNDS])
    complete = declaration if bounds is None else bounds.declaration
    if share := shares.get(OF_MISSING):
        each = share.epsilon / len(complete.columns)
        missing = buy_missing_shares(content, complete, epsilon=each, noise=sources[OF_MISSING])
    opened, finished = tables(complete), None
    request = release_request.make_request(shares[ALGORITHM])
    for finished in run_steps(request, opened.private, noise=sources[ALGORITHM]):
        if watch is not None:
            watch(finished)
    assert isinstance(finished, Run)
    found = Clustered(finished, Rounded.of(finished))
    if share := shares.get(OF_SEGMENTS):
        described, source = opened.described(), sources[OF_SEGMENTS]
        session = described.private.open(
            epsilon=share.epsilon, delta=0.0, accounting=Accounting.PURE, noise=source, needs_n=False
        )
        report = ask_segments(session, found.unit_centers, described.description, center_noise_sd=found.center_noise_sd)
        said = SegmentsPart(report, tuple(session.ledger.entries))
        if release_request.continues is not None:
            cost = shares[OF_EARLIER].epsilon
            again = count_again(release_request.continues, described, epsilon=cost, noise=sources[OF_EARLIER])
    return Parts(complete, found, bounds, missing, said, again)
