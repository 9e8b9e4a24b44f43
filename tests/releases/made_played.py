"""Releases that were played, for whatever reads them: drawn over small tables, and changed where a test wants more."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from dpviz.releases import segments_report as reports
from dpviz.releases.account import Account, Taken
from dpviz.releases.playing import Played, play
from dpviz.releases.promise import AccessCounts
from dpviz.releases.release_parts import SegmentsPart
from dpviz.releases.release_request import ReleaseRequest
from dpviz.releases.releasing import draw, make_transcript, preflight
from dpviz.releases.segments_report import CategoriesSaid, NumbersSaid, ReleasedHistogram, Segment, SegmentsReport
from dpviz.releases.tallies import Interval, Rounded
from dpviz.runs.request import Contender, Division, Request
from dpviz.tables.declarations import ColumnBounds, Declaration, OwnerWords
from dpviz.tables.loaded_table import LoadedTable
from dpviz.tables.named import sample
from tests.releases.pinned_noise import noise_of_its_truth

_UNITS = {"age": "years", "income": "$", "hours": "h", "commute_km": "km", "savings": "$"}
SMALL = Declaration(
    columns=("age", "income"),
    lower=(18.0, 0.0),
    upper=(100.0, 200_000.0),
    origins=("documentation", "law or physics"),
    units={"age": "years", "income": "k$"},
    n_public=900,
    title="People of a town",
)


def words(**changes: Any) -> OwnerWords:
    """What an owner says."""
    said = OwnerWords(
        name="Six walks of life, 2026",
        description="Typical people of a town: centres and sizes of six segments of its adults, from a survey.",
        intended_use="Planning of bus lines and opening hours by the town's council.",
        curators=("Office of Statistics of the Town",),
        region="The town and its suburbs",
        publication_date="2026-07-20",
        sector="Government",
        justification="Bounds are those of the questionnaire. ε was chosen on made tables, and fixed before the press.",
        authors=("A. Owner",),
        chosen_after_looking="Six clusters: five and seven were seen in a study on last year's survey.",
    )
    return replace(said, **changes)


def press(
    rows: pd.DataFrame,
    declared: Declaration,
    *,
    k: int,
    epsilon: float = 1.0,
    segments: float = 0.0,
    algorithm: str = "auto",
) -> Played:
    """A release of ``rows``, drawn and played again."""
    request = Request(Contender(algorithm), k, epsilon, 1e-6)
    seen = AccessCounts({"rows": 1, "loss": 2}, studies=1)
    asked = ReleaseRequest(request, words(), Division(segments), who="somebody", seen=seen)
    with TemporaryDirectory() as folder, noise_of_its_truth():
        account = Account.new(Path(folder) / "people.sqlite", name="people", cap_epsilon=20.0, cap_delta=1e-5)
        prepared = preflight(asked, LoadedTable("people", rows, fingerprint=""), declared, account)
        return play(make_transcript(prepared, Taken.rehearse(prepared.before, prepared.charge), draw(prepared)))


@cache
def _pressed_small(segments: float) -> Played:
    rng = np.random.default_rng(3)
    middle = np.array([[30, 40_000], [60, 90_000]])[np.arange(900) % 2]
    rows = pd.DataFrame(np.round(middle + rng.normal(0, [3, 3_000], (900, 2))), columns=[*SMALL.columns])
    return press(rows, SMALL, k=2, segments=segments)


@cache
def people(k: int = 6, extra: int = 0) -> Played:
    """A release of *People* with everything; ``extra`` more columns make it as large as a card may get."""
    loaded = sample("people").load()
    rows, declared = loaded.table.frame, loaded.declaration
    names = [f"score_{place}" for place in range(extra)]
    more = np.round(np.random.default_rng(1).uniform(0, 100, (len(rows), extra)))
    rows = rows.assign(**dict(zip(names, more.T, strict=True)))
    declared = declared.with_bounds(
        (*declared.columns, *names), [*declared.bounds.values(), *[ColumnBounds(0.0, 100.0)] * extra]
    )
    origin = "Documentation: the questionnaire does not take anything beyond."
    return press(rows, replace(declared, units=_UNITS, bounds_origin=origin), k=k, epsilon=2.0, segments=0.2)


def played(
    base: Played | None = None,
    *,
    said: Mapping[str, Any] | None = None,
    declared: Mapping[str, Any] | None = None,
    request: Mapping[str, Any] | None = None,
    asked: Mapping[str, Any] | None = None,
    account: Mapping[str, Any] | None = None,
    run: Mapping[str, Any] | None = None,
    profile: Mapping[str, Any] | None = None,
    report: SegmentsReport | None = None,
    segments: float = 0.0,
    seen: AccessCounts | None = None,
) -> Played:
    """A small release of two columns and two centres, or ``base``, with other words and values in its parts."""
    whole = base or _pressed_small(segments)
    order = whole.request
    order = replace(order, words=replace(order.words, **(said or {})), seen=seen or order.seen)
    order = replace(order, request=replace(order.request, **(request or {})))
    parts = whole.parts
    made = replace(parts.profile, **(profile or {}))
    ran = replace(parts.clustered.run, **(run or {}))
    rounded = parts.clustered.rounded
    if made.centers.shape != rounded.centers.shape or profile:
        rounded = Rounded(np.tile(np.array([1, -2])[np.arange(made.dim) % 2], (made.k, 1)), made.centers)
    told = parts.told if report is None else SegmentsPart(report, () if parts.told is None else parts.told.entries)
    declaration = replace(parts.declaration, **(declared or {}))
    changed = replace(
        parts, declaration=declaration, clustered=replace(parts.clustered, run=ran, rounded=rounded), told=told
    )
    vars(changed)["profile"] = replace(made, step=rounded.step)
    now = replace(whole.asked, release_request=order, declared=declaration, **(asked or {}))
    now = replace(now, account=now.account._replace(**(account or {})))
    return replace(whole, asked=now, parts=changed)


def numbers(column: str, *quartiles: float, unit: str = "", wide: bool = False, **more: Any) -> NumbersSaid:
    """What is said of a column of numbers: its three quartiles, each within 2 on both sides, or nothing."""
    told = [Interval(value, value - 2, value + 2, wide) for value in quartiles] or [None] * 3
    return NumbersSaid(column, unit, told[0], told[1], told[2], None, ReleasedHistogram((), 1.0), **more)


def shares(column: str, **of: float) -> CategoriesSaid:
    """What is said of a column of categories."""
    told = tuple(reports.CategoryShare(name, Interval(one, one - 0.1, one + 0.1)) for name, one in of.items())
    return CategoriesSaid(column, "", told, ReleasedHistogram((), 1.0))


def segment(number: int, *columns: NumbersSaid | CategoriesSaid, name: str = "", telling: Any = ()) -> Segment:
    """A segment of a hundred rows times its number."""
    return Segment(
        number, (), Interval(100.0 * number, 100.0 * number - 10, 100.0 * number + 10), 5.0, name, columns, telling
    )


def reported(
    *told: Segment, says: tuple[str, ...] = ("No distance that was released speaks against these centres.",)
) -> Any:
    one = Interval(0.3, 0.2, 0.4)
    quality = reports.QualityReport(
        one, one, one, (1.0, 1.0, 1.0), one, one, (one, one), reports.QualityVerdict.GOOD, says
    )
    return SegmentsReport(told, quality, 0.2)
