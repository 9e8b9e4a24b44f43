"""Stacked shares: what the title claims follows from the numbers, noise included, and a figure holds what it says."""

from __future__ import annotations

import numpy as np

from dpviz.app.charts.result_charts import draw_shares
from dpviz.words.theme import choose_palette
from tests.app.charts.gallery import subtitle_of

REGION = {"N": np.array([0.8, 0.1]), "S": np.array([0.2, 0.9])}
SEX = {"F": np.array([0.5, 0.45]), "M": np.array([0.5, 0.55])}
MANY = {f"zip {i}": np.full(2, 0.05) for i in range(20)}


def noise(sd: float) -> dict[str, np.ndarray]:
    return {"region": np.full(2, sd), "sex": np.full(2, sd)}


def test_the_title_says_what_tells_clusters_apart_and_that_nothing_does():
    both = {"sex": SEX, "region": REGION}
    assert draw_shares(both, {}).finding == "Clusters differ most in region"
    assert draw_shares({"sex": SEX}, noise(0.001)).finding == "Clusters differ most in sex"
    assert draw_shares({"sex": SEX}, noise(0.02)).finding == "Noise hides every difference in shares"
    alone = {"sex": {value: share[:1] for value, share in SEX.items()}}
    assert draw_shares(alone, {}).finding == "One cluster: its shares are those of all rows"


def test_stacks_fill_their_bars_and_rare_values_are_lumped():
    bars = draw_shares({"region": REGION, "zip": MANY}, noise(0.01))
    figure = bars.draw(choose_palette("light")).headed(choose_palette("light"))
    for axis in ("x", "x2"):
        stack = [np.asarray(trace.x) for trace in figure.data if trace.xaxis == axis]
        np.testing.assert_allclose(np.sum(stack, axis=0), 1)
    assert len([trace for trace in figure.data if trace.xaxis == "x2"]) == 6
    assert "all others 75 %" in figure.data[-1].customdata[0]
    assert all(trace.meta == "released" for trace in figure.data)


def test_words_and_table_hold_every_share():
    bars = draw_shares({"region": REGION, "sex": SEX}, noise(0.01))
    assert "region, largest share by cluster: 1 N 80 %, 2 S 90 %" in bars.words
    table = bars.table()
    assert len(table) == 8 and table.groupby(["column", "cluster"])["share"].sum().eq(1).all()
    assert (table["noise sd"] == 0.01).all() and draw_shares({"sex": SEX}, {}).table()["noise sd"].isna().all()


def test_many_columns_name_how_many_are_not_drawn():
    many = {f"question {j}": REGION for j in range(9)}
    figure = draw_shares(many, {}).draw(choose_palette("dark")).headed(choose_palette("dark"))
    assert "3 more columns in the table" in subtitle_of(figure)
    assert len({trace.xaxis for trace in figure.data}) == 6
