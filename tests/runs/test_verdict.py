"""Verdicts of runs: each rule on steps made for it, and titles that once were false."""

import numpy as np
import pytest

from dpviz.algorithms.card import LossDiagnostic
from dpviz.algorithms.size_estimates import Sizes
from dpviz.algorithms.steps import CentersStep
from dpviz.core.domain import Domain
from dpviz.runs.one_run import run
from dpviz.runs.open_table import declare
from dpviz.runs.verdict import reach_verdict
from dpviz.tables.named import sample

REGION = Domain.of(["x", "y"], -1, 1).region
CORNERS = np.array([[-0.5, -0.5], [0.5, -0.5], [-0.5, 0.5], [0.5, 0.5]])


def ended(centers: np.ndarray = CORNERS, *, size: float = 100.0, sd: float = 1.0, noise: float = 0.01) -> CentersStep:
    k = len(centers)
    return CentersStep(
        title="the last round",
        centers=centers,
        noisy_counts=np.full(k, size),
        count_noise_sd=sd,
        center_noise_sd=np.full(k, noise),
        previous=centers,
    )


def kind(step: CentersStep, **said: object) -> str | None:
    verdict = reach_verdict((step,), REGION, **said)  # type: ignore[arg-type]
    return None if verdict is None else verdict.kind


def test_each_rule_has_its_run_and_the_worst_is_told_first() -> None:
    edged = CORNERS.copy()
    edged[:2, 0] = 1.0
    at_the_edge = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [0.0, 0.0]])
    doubt = LossDiagnostic(0.1, 0.05, 0.2, ("A group could hide.",))
    assert kind(ended()) == "fine" and kind(ended(), n_declared=500) == "fine"
    assert kind(ended(), n_declared=5_000) == "dropped" and kind(ended(size=2.0)) == "failed"
    for lost in (0.8, float("nan"), float("inf")):
        assert kind(ended(noise=lost)) == "failed"
    assert kind(ended(size=2.0), loss_diagnostic=doubt) == "sizes"
    assert kind(ended(edged, size=2.0), loss_diagnostic=doubt) == "failed"
    assert kind(ended(at_the_edge)) == "edge" and kind(ended(noise=0.4)) == "noise"
    like_one = LossDiagnostic(0.95, 0.5, 1.5, ())
    assert [kind(ended(CORNERS[:k]), loss_diagnostic=like_one) for k in (4, 1)] == ["one", "fine"]
    assert kind(ended(), loss_diagnostic=doubt) == "doubted"
    assert kind(CentersStep(title="packed", centers=CORNERS)) is None


def test_a_small_size_is_told_by_its_own_noise_not_by_that_of_another() -> None:
    """Beside one of 900 ± 33 one of 14 ± 8.2 is small; one of 40 ± 8.2 is not, though below 3 sd of the other."""
    sizes = Sizes(np.array([14.0, 900.0, 40.0, 900.0]), np.array([4.68, 18.6, 4.68, 18.6]))
    verdict = reach_verdict((ended(),), REGION, sizes=sizes)
    assert verdict is not None and verdict.reason.startswith("1 of 4 sizes is below 3 sd of the noise (14 rows).")


def test_the_number_in_a_title_is_the_whole_error_not_that_of_the_last_round() -> None:
    moved = CentersStep(
        title="a round",
        centers=CORNERS,
        noisy_counts=np.full(4, 100.0),
        count_noise_sd=20.0,
        center_noise_sd=np.full(4, 0.01),
        previous=CORNERS + np.array([0.03, 0.04]),
    )
    verdict = reach_verdict((moved,), REGION)
    # Two coordinates, over 40 rows rather than 100, with the last move of 0.05.
    assert verdict is not None and verdict.fine
    assert verdict.error == pytest.approx(np.hypot(0.01 * np.sqrt(2) * 2.5, 0.05))


def test_a_refused_test_says_so() -> None:
    table = declare(*sample("fifteen").load())
    for algorithm, title in (("k-averages", "nothing was released"), ("stable-kmeans", "the private test refused")):
        verdict = run(algorithm, table.private, k=5, epsilon=0.5, delta=1e-6, seed=0).verdict
        assert verdict is not None and verdict.kind == "refused" and title in verdict.title
