"""Shares of missing cells: near the truth, with intervals that hold it, and every column paid for."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

from dpviz.core.check import RequestError
from dpviz.core.noise import StudyNoise
from dpviz.releases.missing_shares import _compute_part, buy_missing_shares
from dpviz.releases.tallies import COVERED
from dpviz.tables.arrow_intake import ParquetTable
from dpviz.tables.csv_intake import CsvFile
from dpviz.tables.declarations import Declaration, apply_declaration
from dpviz.tables.loaded_table import make_numeric_table

RNG = np.random.default_rng(0)
N = 4000
PARTS = (0.0, 0.02, 0.4, 1.0)


def table():
    values = RNG.normal(size=(N, len(PARTS)))
    for column, part in enumerate(PARTS):
        values[: round(part * N), column] = np.nan
    return make_numeric_table(values, ["a", "b", "c", "d"])


TABLE = table()


def bought(seed: int, *, epsilon: float = 0.05, columns: tuple[str, ...] = ()):
    noise = StudyNoise(np.random.default_rng(seed))
    return buy_missing_shares(TABLE, Declaration(), epsilon=epsilon, noise=noise, columns=columns)


@pytest.mark.slow
def test_intervals_hold_the_truth_in_nine_of_ten():
    held = np.zeros(len(PARTS))
    for seed in range(100):
        shares = bought(seed).shares
        held += [one.low <= part <= one.high for one, part in zip(shares, PARTS, strict=True)]
    assert (held / 100 >= COVERED).all(), held


def test_intervals_are_no_wider_than_they_have_to_be():
    """Of two per cent of 4,000 rows at ε = 1: to a fifth of a per cent."""
    share = bought(0, epsilon=1.0, columns=("b",)).shares[0]
    assert abs(share.share - 0.02) < 0.002 and share.high - share.low < 0.004
    assert "of b is missing (" in share.words and "2." in share.words


def test_what_may_be_missing_beyond_the_noisy_count_may_not_be_there():
    """The noise may have moved both counts, one up and the other down: the interval has the share in its middle."""
    (share,) = bought(0, columns=("c",)).shares
    assert share.high - share.share == pytest.approx(share.share - share.low) and share.high > share.share


def test_an_empty_category_is_missing_and_any_other_one_is_not(tmp_path):
    lines = [f"{'N,a,2020-01-01,5' if i % 2 else ',b,nothing,'}" for i in range(2000)] + ["E,c,2021-01-01,7"] * 2000
    table = CsvFile("t", ("\n".join(["region,yes,on,pay", *lines]) + "\n").encode())
    pd.read_csv(io.BytesIO(table.raw)).to_parquet(tmp_path / "t.parquet")
    said = {
        "region": {"categories": ["N"]},
        "yes": {"categories": ["a", "b"], "closed": True},
        "on": {"dates": ["2019-01-01", "2022-01-01"]},
        "pay": {"bounds": [1, 10], "scale": "log"},
    }
    declared = apply_declaration(json.dumps({"bounds": said})).validate()
    found, of_parquet = (
        buy_missing_shares(source, declared, epsilon=5.0, noise=StudyNoise(np.random.default_rng(0))).shares
        for source in (table, ParquetTable(tmp_path / "t.parquet"))
    )
    assert [one.share for one in found] == pytest.approx([0.25, 0.5, 0.25, 0.25], abs=0.01) and found == of_parquet


def test_a_share_is_between_nothing_and_all_whatever_the_noise():
    for missing, there, share in ((0.3, 0.2, 0.6), (-5.0, 10.0, 0.0), (10.0, -5.0, 1.0), (-1.0, -1.0, 0.0)):
        assert _compute_part(missing, there) == pytest.approx(share)


def test_every_column_is_paid_for():
    four = bought(0)
    assert [entry.note for entry in four.entries] == [f"missing cells of {name}" for name in "abcd"]
    assert four.epsilon == pytest.approx(0.2) and all(entry.scale == pytest.approx(20) for entry in four.entries)
    two = bought(0, columns=("a", "c"))
    assert two.epsilon == pytest.approx(0.1) and [share.column for share in two.shares] == ["a", "c"]


def test_of_no_rows_shares_are_still_shares():
    noise = StudyNoise(np.random.default_rng(1))
    shares = buy_missing_shares(make_numeric_table(np.zeros((0, 3))), Declaration(), epsilon=0.1, noise=noise).shares
    for one in shares:
        assert 0 <= one.low <= one.share <= one.high <= 1


def test_cells_are_missing_as_the_declaration_reads_them():
    source = CsvFile("t", b"x,y\n" + b"1,\n" * 900 + b"2,what\n" * 100)
    noise = StudyNoise(np.random.default_rng(0))
    declared = Declaration(numbers=("x", "y"))
    x, y = buy_missing_shares(source, declared, epsilon=5.0, noise=noise).shares
    assert x.share < 0.01 and y.share > 0.99


def test_epsilon_out_of_range_is_refused():
    with pytest.raises(RequestError, match="epsilon"):
        bought(0, epsilon=-1.0)
