"""The share of missing cells of each column: bought, with an interval, or not shown at all."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from dpviz.core import AnySource, Codes, Entry, check
from dpviz.releases.described_table import NoisyBins, count_histograms, spell_out_columns
from dpviz.releases.tallies import COVERED
from dpviz.tables import Content, Declaration, codings
from dpviz.words import format_between


@dataclass(frozen=True)
class ThereOrNot:
    """A bin for any number, whatever the bounds are, and one for what is none, or the number of an ``empty`` cell."""

    empty: float | None = None
    number: ClassVar[int] = 2

    def codes(self, column: npt.ArrayLike) -> Codes:
        """The bin of each number of shape (n,)."""
        values = np.asarray(column, dtype=np.float64)
        missing: Codes = (~np.isfinite(values) | (values == self.empty)).astype(np.int64)
        return missing


@dataclass(frozen=True)
class MissingShare:
    """The noisy share of missing cells of a column; ``low`` to ``high`` holds the true one in nine of ten releases."""

    column: str
    share: float
    low: float
    high: float

    @property
    def words(self) -> str:
        """In per cent."""
        return format_between(100 * self.low, 100 * self.high, 100 * self.share, unit=f"% of {self.column} is missing")


class MissingShares(NamedTuple):
    """The share of each column, and what was paid: ``entries`` of pure ε."""

    shares: tuple[MissingShare, ...]
    entries: tuple[Entry, ...]


def buy_missing_shares(
    source: Content, declaration: Declaration, *, epsilon: float, noise: AnySource, columns: Sequence[str] = ()
) -> MissingShares:
    """The share of missing cells of ``columns`` (else of all that are clustered), bought with ``epsilon`` each.

    **Guarantee.** Pure ε: ``epsilon`` times the number of columns, for the declared relation and unit of privacy.
    """
    check.positive(epsilon=epsilon)
    declared = spell_out_columns(source, declaration)
    # Of categories an empty cell is a place of its own, the last one; of all else it is no number.
    coded = ((name, declared.codings.get(name)) for name in columns or declared.columns)
    rules = {name: ThereOrNot(one.ends[1] if isinstance(one, codings.Nominal) else None) for name, one in coded}
    found, entries = count_histograms(source, declared, rules, epsilon=epsilon, noise=noise, note="missing cells of {}")
    return MissingShares(tuple(map(_compute_share, found)), entries)


def _compute_share(bins: NoisyBins) -> MissingShare:
    """The noisy count of missing cells over both, and its ends: each count may be wrong in one release of twenty."""
    there, missing = bins.noisy_counts.tolist()
    reach = bins.scale * log(2 / (1 - COVERED))
    return MissingShare(bins.column, *(_compute_part(missing + off, there - off) for off in (0.0, -reach, reach)))


def _compute_part(missing: float, there: float) -> float:
    """The share of ``missing``, neither count below 0; all may be missing where nothing is known to be there."""
    missing, there = max(missing, 0.0), max(there, 0.0)
    return missing / (missing + there) if missing + there > 0 else 0.0
