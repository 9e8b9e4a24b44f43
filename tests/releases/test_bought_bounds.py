"""Bounds that are bought: right for columns of any place and shape, paid for in full, and read off releases alone."""

import io
import json
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpviz.core.check import RequestError
from dpviz.core.noise import StudyNoise
from dpviz.releases import described_table
from dpviz.releases.bought_bounds import BoughtBounds, _find_held_bins, _find_range, buy_bounds
from dpviz.releases.missing_shares import buy_missing_shares
from dpviz.releases.tallies import COVERED
from dpviz.tables.arrow_intake import ParquetTable
from dpviz.tables.codings import Stretched
from dpviz.tables.csv_intake import CsvFile, CsvOnDisk
from dpviz.tables.declarations import ColumnBounds, Declaration, apply_declaration
from dpviz.tables.loaded_table import IntakeError, LoadedTable, make_numeric_table
from tests.cases import about
from tests.contract.sessions import RecordedLoss, Recording, open_as

EPSILON = 0.05
ROUNDING = 1 + 1e-8


def noise(seed: int = 0) -> StudyNoise:
    return StudyNoise(np.random.default_rng(seed))


def left_open(names: tuple[str, ...], **said: Any) -> Declaration:
    return Declaration(columns=names, lower=(None,) * len(names), upper=(None,) * len(names), **said)


def bought_of(values: np.ndarray, *, epsilon: float = EPSILON, seed: int = 0, **said: Any) -> tuple[float, float, bool]:
    table = make_numeric_table(values[:, None], ["x"])
    (column,) = buy_bounds(table, left_open(("x",), **said), epsilon=epsilon, noise=noise(seed)).columns
    return column.lower, column.upper, column.sure


RNG = np.random.default_rng(5)
SHAPES = {
    "ages": (np.clip(RNG.normal(40, 12, 30_000), 17, 90), (0, 100)),
    "years": (RNG.normal(2005, 6, 30_000).round(), (1800, 2300)),
    "per cent, often all": (RNG.integers(0, 101, 30_000).astype(float), (0, 100)),
    "mostly 0, rarely 99,999": (np.where(RNG.random(30_000) < 0.03, 99_999, 0.0), (0, 100_000)),
    "both signs": (RNG.normal(0, 10, 30_000), (-50, 50)),
    "below 0": (-RNG.lognormal(3, 1, 30_000), (-1000, 0)),
    "tiny": (RNG.uniform(0.001, 0.004, 30_000), (0.0, 0.005)),
    "one number": (np.full(30_000, 37.0), (20, 50)),
    "noughts": (np.zeros(30_000), (0, 1e-6)),
}


def test_nearly_all_rows_lie_within_and_little_else():
    """Within what a person would declare; at least 99 % of the rows in, nine times in ten."""
    for shape, (values, (least, most)) in SHAPES.items():
        good = 0
        for seed in range(10):
            lower, upper, sure = bought_of(values, seed=seed)
            inside = np.mean((values >= lower) & (values <= upper))
            good += bool(sure and lower >= least and upper <= most and inside >= 0.99)
        with about(shape):
            assert good >= 9


AMOUNTS = np.where(RNG.random(30_000) < 0.1, 0.0, RNG.lognormal(8, 1.2, 30_000))


def bought_on_log(lower: float | None = None, upper: float | None = None, **said: Any) -> BoughtBounds:
    more = {"codings": {"pay": Stretched("log")}, "bounds_origin": "law"}
    declared, table = Declaration(("pay",), (lower,), (upper,), **more), make_numeric_table(AMOUNTS[:, None], ["pay"])
    return buy_bounds(table, declared, **{"epsilon": 0.1, "noise": noise(), **said})


def test_bounds_of_a_log_scale_are_above_nought_whatever_the_noise():
    """Noughts and negative amounts are moved to the lower bound; they do not draw it down."""
    positive = AMOUNTS[AMOUNTS > 0]
    for seed in range(10):
        (column,) = bought_on_log(noise=noise(seed)).columns
        inside = np.mean((positive >= column.lower) & (positive <= column.upper))
        with about(seed):
            assert column.sure and inside > 0.985 and column.lower >= 10 and column.upper <= 500_000
    for seed, ends in product(range(20), ((None, None), (5e9, None), (None, 1e-3), (20.0, None))):
        bought = bought_on_log(*ends, epsilon=1e-4, noise=noise(seed))
        (column,) = bought.columns
        assert 0 < column.lower < column.upper and bought.declaration.validate().bounds["pay"].lower == column.lower
        assert ends[0] in (None, column.lower) and ends[1] in (None, column.upper)


def test_a_bound_of_a_log_scale_that_is_no_amount_is_refused_before_anything_is_bought():
    for ends in ((0.0, None), (None, -1.0)):
        with pytest.raises(IntakeError, match="a logarithmic scale has no 0"):
            bought_on_log(*ends)


def test_bins_beside_certain_ones_are_held_on_both_sides():
    noisy = np.zeros(90)
    noisy[[40, 41]], noisy[[34, 37, 44, 46, 50]] = 100.0, 8.0
    assert _find_held_bins(noisy, 1.0) == (34, 46, True), "three bins apart at most, again and again"
    for scale in (1.0, 100.0):
        found = _find_range(SimpleNamespace(noisy_counts=noisy, scale=scale), ColumnBounds())
        assert found.sure == (found.inner != found.outer) == (scale == 1.0), "what is unsure holds no end back"


def test_noise_alone_opens_no_range():
    """No row at all: the largest noisy bin is all there is, and it is said to be unsure."""
    assert sum(sure for _, _, sure in [bought_of(np.zeros(0), seed=seed) for seed in range(40)]) <= 1
    table = make_numeric_table(np.zeros((0, 1)), ["x"])
    words = buy_bounds(table, left_open(("x",)), epsilon=EPSILON, noise=noise()).words
    assert 'Of "x" noise hides the range: give more ε' in words


def test_what_is_declared_is_kept_and_not_paid_for():
    table = make_numeric_table(np.column_stack([SHAPES["ages"][0], SHAPES["years"][0]]), ["age", "year"])
    bounds = {"lower": (18.0, None), "upper": (100.0, 2030.0), "origins": ("law or physics", "")}
    bought = buy_bounds(table, Declaration(columns=("age", "year"), **bounds), epsilon=EPSILON, noise=noise())
    assert bought.declaration.bounds["age"] == ColumnBounds(18.0, 100.0, "law or physics")
    lower, upper, origin = bought.declaration.bounds["year"]
    assert upper == 2030.0 and lower is not None and 1900 <= lower <= 1990 and origin == "bought, ε = 0.05"
    assert bought.epsilon == pytest.approx(EPSILON)
    assert [entry.note for entry in bought.entries] == ["magnitudes of year", "where year lies in its range"]
    nothing = buy_bounds(table, bought.declaration, epsilon=EPSILON, noise=noise())
    assert nothing.epsilon == 0 and nothing.declaration == bought.declaration and "none was bought" in nothing.words


def test_one_pair_for_every_column_may_be_open_too():
    bought = buy_bounds(make_numeric_table(np.ones((50, 2)), ["x", "y"]), Declaration(), epsilon=1.0, noise=noise())
    assert bought.declaration.columns == ("x", "y") and not bought.declaration.open_columns


def test_rows_that_memory_does_not_hold_are_refused_before_anything_is_charged(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x\n1\n2\n")
    with pytest.raises(RequestError, match="fits into memory only: declare it"):
        buy_bounds(CsvOnDisk(path), left_open(("x",)), epsilon=1.0, noise=noise())
    with pytest.raises(RequestError, match="epsilon"):
        buy_bounds(make_numeric_table([[1.0]], ["x"]), left_open(("x",)), epsilon=0.0, noise=noise())


# The whole purchase against neighbouring tables.

ROWS = np.column_stack([RNG.normal(40, 15, 300), RNG.normal(-3000, 200, 300)])
STRANGERS = [[1e9, 1e9], [0.0, 0.0], [np.nan, np.inf], [40.0, -3000.0], [-1e-9, 700.0]]


def table_of(rows: np.ndarray, people: list[int]) -> LoadedTable:
    return make_numeric_table(pd.DataFrame(rows, columns=["x", "y"]).assign(who=people))


def pairs() -> list[tuple[str, LoadedTable, LoadedTable, Declaration]]:
    """Neighbouring tables: somebody comes, is exchanged, or comes with three rows."""
    people = list(range(300))
    declared = left_open(("x", "y"), label_column="who")
    found = []
    for place, row in enumerate(STRANGERS):
        more, other = np.r_[ROWS, [row]], np.r_[ROWS[:-1], [row]]
        three = table_of(np.r_[ROWS, [row] * 4], [*people, *[300] * 4])
        base = table_of(ROWS, people)
        of_persons = left_open(("x", "y"), id_column="who", rows_per_person=3)
        found.append((f"add {place}", base, table_of(more, [*people, 300]), declared))
        if place % 2 == 0:  # far beyond everybody, without numbers, and just below nought
            found += [
                (f"replace {place}", base, table_of(other, people), replace(declared, relation="replace")),
                (f"persons {place}", base, three, of_persons),
            ]
    return found


def losses_of(monkeypatch: pytest.MonkeyPatch, one: LoadedTable, other: LoadedTable, declared: Declaration, seed: int):
    """What was bought on ``one``, and the loss of its releases beside ``other``."""
    recording, loss, usual = Recording(), RecordedLoss(), described_table.make_coded_table
    bought = []
    for table, session in ((one, recording.make_recording_session()), (other, recording.make_loss_session(loss))):
        with monkeypatch.context() as patch:
            patch.setattr(
                described_table, "make_coded_table", lambda *asked, kind=session: open_as(usual(*asked), kind)
            )
            bought.append(buy_bounds(table, declared, epsilon=0.5, noise=noise(seed)))
    assert bought[0].declaration == bought[1].declaration, "bounds follow from something else than releases"
    assert len(loss.fractions_of_bound) == len(recording.released)
    return bought[0], loss


@pytest.mark.parametrize("pair", pairs(), ids=lambda pair: pair[0])
def test_no_neighbour_gains_more_than_was_charged(monkeypatch, pair):
    _, one, other, declared = pair
    for seed, pair in product(range(2), ((one, other), (other, one))):
        bought, loss = losses_of(monkeypatch, *pair, declared, seed)
        assert loss.shift_squared == 0 and max(loss.fractions_of_bound) <= ROUNDING
        assert loss.log_ratio <= sum(entry.epsilon for entry in bought.entries) * ROUNDING


def test_some_pair_reaches_what_was_charged(monkeypatch):
    pair = pairs()[0][1:]
    found = (losses_of(monkeypatch, *pair, seed) for seed in range(40))
    assert any(loss.log_ratio >= 0.95 * bought.epsilon for bought, loss in found)


# Shares of missing cells: near the truth, with intervals that hold it, and every column paid for.


DRAW = np.random.default_rng(0)
ROWS_OF_MISSING = 4000
MISSING = (0.0, 0.02, 0.4, 1.0)


MISSING_AT = np.arange(ROWS_OF_MISSING)[:, None] < np.array(MISSING) * ROWS_OF_MISSING
TABLE_OF_MISSING = make_numeric_table(np.where(MISSING_AT, np.nan, DRAW.normal(size=MISSING_AT.shape)), [*"abcd"])


def bought(seed: int, *, epsilon: float = 0.05, columns: tuple[str, ...] = ()):
    return buy_missing_shares(TABLE_OF_MISSING, Declaration(), epsilon=epsilon, noise=noise(seed), columns=columns)


@pytest.mark.slow
def test_intervals_hold_the_truth_in_nine_of_ten():
    held = np.zeros(len(MISSING))
    for seed in range(100):
        shares = bought(seed).shares
        held += [one.low <= part <= one.high for one, part in zip(shares, MISSING, strict=True)]
    assert (held / 100 >= COVERED).all(), held


def test_intervals_are_no_wider_than_they_have_to_be():
    """Of two per cent of 4,000 rows at ε = 1: to a fifth of a per cent."""
    share = bought(0, epsilon=1.0, columns=("b",)).shares[0]
    assert abs(share.share - 0.02) < 0.002 and share.high - share.low < 0.004
    assert "of b is missing (" in share.words and "2." in share.words


@pytest.mark.parametrize("of_persons", [{}, {"id_column": "who", "rows_per_person": 1}])
def test_an_empty_category_is_missing_and_any_other_one_is_not_of_whomever_the_rows_are(tmp_path, of_persons):
    kinds = ["N,a,2020-01-01,5", ",b,nothing,", "E,c,2021-01-01,7", "E,c,2021-01-01,7"] * 4000
    lines = [f"{place // 4},{kind}" for place, kind in enumerate(kinds)]
    table = CsvFile("t", ("\n".join(["who,region,yes,on,pay", *lines]) + "\n").encode())
    pd.read_csv(io.BytesIO(table.raw)).to_parquet(tmp_path / "t.parquet")
    said = {
        "region": {"categories": ["N"]},
        "yes": {"categories": ["a", "b"], "closed": True},
        "on": {"dates": ["2019-01-01", "2022-01-01"]},
        "pay": {"bounds": [1, 10], "scale": "log"},
    }
    declared = apply_declaration(json.dumps({"bounds": said, **of_persons})).validate()
    found, of_parquet = (
        buy_missing_shares(source, declared, epsilon=5.0, noise=noise()).shares
        for source in (table, ParquetTable(tmp_path / "t.parquet"))
    )
    assert [one.share for one in found] == pytest.approx([0.25, 0.5, 0.25, 0.25], abs=0.02) and found == of_parquet
