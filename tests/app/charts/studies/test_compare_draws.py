"""Repeated draws: a cloud with every centre of every draw, and how far they lie from k-means++."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.studies.compare import CenterDraws
from dpviz.app.charts.view import make_view
from dpviz.runs.evaluation import ClusterRecovery
from dpviz.words.theme import choose_palette
from tests.app.charts.gallery import Exhibit, exhibit

LIGHT = choose_palette("light")


def drawn(shown: Exhibit, number: int = 12) -> CenterDraws:
    """Draws in which the order of centres is shuffled, and the first one lies farthest off."""
    rng = np.random.default_rng(0)
    centers = shown.reference.centers
    spread = np.where(np.arange(len(centers))[:, None] == 0, 0.02, 0.001)
    moved = centers + spread * rng.normal(size=(number, *centers.shape))
    shuffled = np.stack([each[rng.permutation(len(centers))] for each in moved])
    context = RenderContext(
        make_view(shown.table.domain), LIGHT, shown.reveal, shown.reference, found=lambda _: ClusterRecovery(4, 5)
    )
    return CenterDraws(shuffled, rng.uniform(1, 2, number), context)


def test_centres_are_matched_before_they_are_measured() -> None:
    shown = exhibit(2, 5, n=400)
    draws = drawn(shown)
    away = draws.distances
    assert away[:, 1:].max() < 0.01 < np.median(away[:, 0])
    table = draws.table()
    assert table["typical distance"].argmax() == 0 and (table["farthest"] >= table["typical distance"]).all()
    assert "Centre 1 strays most from k-means++" in draws.words()
    assert (
        replace(draws, context=RenderContext(draws.context.view, LIGHT)).words().startswith("Centres of twelve draws")
    )


def test_draws_are_played_one_after_the_other_beside_one_cloud() -> None:
    draws = drawn(exhibit(2, 5, n=400))
    animation = replace(draws, context=replace(draws.context, epsilon=0.5)).animate()
    made = animation.to_data()
    assert [step["name"] for step in made["steps"]] == ["draw"] * 12
    assert {step["cost"] for step in made["steps"]} == {0.5}
    assert {step["spent"] for step in made["steps"]} == {"ε 0.5 for each draw"}
    sides = [side for step in made["steps"] for side in step["sides"]]
    assert {side["title"] for side in sides} == {draws.finding} and len(sides) == 12
    assert len(animation.drawn) == 1, "the cloud is drawn once"
    for step, loss in zip(made["steps"], draws.losses, strict=True):
        assert f"{loss:.2f}× the loss" in step["told"]
        assert step["title"] == "At ε = 0.5, four of five clusters are found"
