"""What pages say of a run against distances, sizes and losses computed here from the rows."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances, pairwise_distances_argmin
from streamlit.testing.v1 import AppTest

from dpviz.runs import OpenTable, declare
from dpviz.tables import Declaration, FileKind, make_numeric_table
from tests.contract.tables import make_blobs
from tests.pages import tables
from tests.pages.site import sample_table
from tests.pages.tables import app_on, open_below, run_again, sound, text_of, truth_switch

_WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def seeded_run(table: OpenTable, algorithm: str, *, k: int, epsilon: float) -> AppTest:
    """The bench after one run on a table that is publicly known to hold k clusters: else no title counts them."""
    app = app_on("home.py", table, algorithm=algorithm, k=str(k), epsilon=str(epsilon))
    app.session_state["visit:settings"] |= {"bench:seed": 1, "clusters:known": (table.source_key, k)}
    sound(app.run())
    return app if table.kind.may_be_shown else sound(run_again(app).run())


def unit_rows(table: OpenTable) -> np.ndarray:
    """Rows inside the bounds, unit coordinates of equal bounds."""
    return np.clip(table.private.reveal(note="test").points, -table.domain.region.half, table.domain.region.half)


def found_by_hand(rows: np.ndarray, centers: np.ndarray, middles: np.ndarray) -> int:
    """A centre inside the cloud of a cluster, at most half-way to the next, sharing at least half of their rows."""
    own, theirs = pairwise_distances_argmin(rows, centers), pairwise_distances_argmin(rows, middles)
    gaps = pairwise_distances(middles)
    np.fill_diagonal(gaps, np.inf)
    count = 0
    for j, gap in enumerate(gaps.min(axis=1)):
        mine = theirs == j
        best = np.bincount(own[mine], minlength=len(centers)).argmax()
        away = np.sort(np.linalg.norm(rows[mine] - middles[j], axis=1))
        reach = min(max(away[int(np.ceil(0.99 * len(away))) - 1], 0.01 * gap), 0.5 * gap)
        both, either = (mine & (own == best)).sum(), (mine | (own == best)).sum()
        count += bool(np.linalg.norm(centers[best] - middles[j]) <= reach and 2 * both >= either)
    return count


def main_figure(app: AppTest) -> dict[str, Any]:
    """The last step of the animation."""
    return tables.read_animation(app)["steps"][-1]


def found_in_title(title: str) -> tuple[int, int]:
    """How many of how many clusters a title says are found."""
    said = re.search(r"all (?P<all>\S+) clusters are found|(\S+) of (\S+) clusters (?:is|are) found", title)
    words = [said["all"]] * 2 if said["all"] else said.groups()[1:]
    some, every = (_WORDS.index(word) if word in _WORDS else int(word) for word in words)
    return some, every


@pytest.mark.some(1)
@pytest.mark.parametrize(("sample", "k", "epsilon"), [("outlier", 3, 1.0), ("fifteen", 15, 0.1)])
def test_the_title_agrees_with_distances_and_sizes(sample: str, k: int, epsilon: float) -> None:
    table = sample_table(sample)
    app = seeded_run(table, "eugkm", k=k, epsilon=epsilon)
    rows, centers = unit_rows(table), app.session_state["run:result"].run.unit_centers
    middles = KMeans(k, n_init=10, random_state=0).fit(rows).cluster_centers_
    figure, said = main_figure(app), text_of(open_below(app, "What was found"))
    assert "that of k-means++ (" in said and "The bounds alone move" not in said, "no row is clipped"
    assert found_in_title(figure["title"]) == (found_by_hand(rows, centers, middles), k)
    assert "found: a centre in a k-means++ cluster’s cloud, at least half of their rows shared" in figure["note"]
    if sample == "outlier":
        # k-means++ sits on the rich person, from whom every private centre stays away: a long arrow, and it is told.
        person = rows[rows.sum(axis=1).argmax()]
        assert np.linalg.norm(middles - person, axis=1).min() < 1e-9
        assert np.linalg.norm(centers - person, axis=1).min() > 0.1
        assert found_in_title(figure["title"])[0] < k


def heavy_table(kind: FileKind = FileKind.PUBLIC, n: int = 600) -> OpenTable:
    """Three clusters inside the bounds, and one row in twenty far outside them."""
    values, bounds = make_blobs(n, 2), {"lower": (-1.0, -1.0), "upper": (1.0, 1.0)}
    values[: n // 20] = 1 + np.random.default_rng(0).pareto(1.0, (n // 20, 2)) * 4
    declared = Declaration(columns=("x", "y"), **bounds, n_public=n, kind=kind, title="tail")
    return declare(make_numeric_table(values, ["x", "y"], name="tail"), declared)


def preview_of(kind: FileKind, tab: str) -> AppTest:
    """The bench with truth shown and one tab of its preview open."""
    app = app_on("home.py", heavy_table(kind))
    if not kind.may_be_shown:
        run_again(app)
    truth_switch(app).set_value(True)
    sound(app.run())
    app.session_state["bench:table"], app.session_state["preview"] = True, tab
    return sound(app.run())


def test_what_the_bounds_cut_off_a_private_file_is_not_shown_and_the_tab_says_why_and_where_to_look() -> None:
    app = preview_of(FileKind.PRIVATE, "Bounds")
    (said,) = (info for info in app.info if "they cut off" in info.value)
    assert "public data" in said.value and "synthetic table" in said.value
    everything = text_of(app) + text_of(preview_of(FileKind.PRIVATE, "Dots"))
    assert "The bounds move" not in everything and "lie outside this picture" not in everything
    assert not [table for table in app.dataframe if "above" in table.value.columns]
    assert app.session_state["visit:table"].private.accesses.count("rows and dots under the picture") <= 1
    run = seeded_run(heavy_table(FileKind.PRIVATE), "auto", k=3, epsilon=5.0)
    truth_switch(run).set_value(True)
    said_of_run = text_of(open_below(run, "What was found"))
    assert "that of k-means++ (" in said_of_run and "bounds alone move" not in said_of_run
