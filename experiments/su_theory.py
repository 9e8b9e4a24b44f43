"""Su et al. 2016, §6: the errors that Eqs. 7 to 13 predict beside the errors of runs, over ε and n."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd

from dpviz.algorithms.card import Setting
from dpviz.algorithms.prediction import Prediction, predict
from dpviz.algorithms.steps import CentersStep
from dpviz.app.charts.studies.stored_verdicts import ClaimFinding, ClaimVerdict, PaperFigure
from dpviz.runs.evaluation import assign, nicv
from dpviz.runs.one_run import Run, run
from dpviz.runs.request import Contender
from dpviz.words.wording import round_percent
from experiments.catalogue import make_separated
from experiments.claim import Claim, Row
from experiments.evidence import add_reason, compare_most, compare_places, compute_medians, conclude
from experiments.factors import FACTORS
from experiments.material import Material
from experiments.su_epsilon import GRID, HYBRID, LLOYD
from experiments.trials import Line, Series

ROUND = "one round of DPLloyd"
LINES = (ROUND, LLOYD, GRID, HYBRID)
_ALGORITHMS = {LLOYD: "dplloyd", GRID: "eugkm", HYBRID: "hybrid"}
_PRESET = {"preset": "su"}
_SHOWN = tuple(Line(line, _ALGORITHMS.get(line, "dplloyd"), _PRESET) for line in LINES)
PLACES = ("d", "k", "n", "epsilon")


@dataclass(frozen=True)
class Settings:
    """How much is run: every ε at the middle n, every n at ε = 1."""

    ds: tuple[int, ...]
    k: int
    epsilons: tuple[float, ...]
    sizes: tuple[int, ...]
    repeats: int

    @property
    def middle(self) -> int:
        """The n at which ε varies."""
        return self.sizes[len(self.sizes) // 2]

    @property
    def places(self) -> list[tuple[int, int, float]]:
        """(d, n, ε), each once."""
        over = [(self.middle, epsilon) for epsilon in self.epsilons] + [(n, 1.0) for n in self.sizes]
        return [(d, n, epsilon) for d, (n, epsilon) in product(self.ds, dict.fromkeys(over))]


def list_blocks(settings: Settings) -> Iterator[Series]:
    """The three algorithms at each place, and the rounds of the first."""
    for d, n, epsilon in settings.places:
        facts = {**_make_table(n, d, settings.k).facts, "k": settings.k, "epsilon": epsilon, "delta": 0.0}
        measure = partial(_measure_errors, n, d, settings.k, epsilon)
        yield Series(facts=facts, lines=LINES, repeats=settings.repeats, run=measure, shown=_SHOWN)


@lru_cache(maxsize=2)
def _make_table(n: int, d: int, k: int) -> Material:
    """Places follow each other table by table: two are kept."""
    return make_separated(n, d, k)


def _measure_errors(n: int, d: int, k: int, epsilon: float, repeat: int) -> Iterator[Row]:
    """Losses above k-means++ a row, and the squared errors of DPLloyd's rounds; unit coordinates squared."""
    table = _make_table(n, d, k)
    points, least = table.judged.rows.points, table.yardstick(k).reference.nicv
    for line, algorithm in _ALGORITHMS.items():
        contender, setting = Contender(algorithm, _PRESET), Setting(d, k, epsilon, 0.0, n=n)
        expected = predict(contender.card, contender.settings, setting, table.private.domain.region)
        assert expected is not None
        made = run(algorithm, table.private, k=k, epsilon=epsilon, params=_PRESET, seed=repeat)
        if line == LLOYD:
            yield _make_row(ROUND, _measure_rounds(points, made), expected)
        yield _make_row(line, nicv(points, made.unit_centers) - least, expected)


def _make_row(line: str, error: float, expected: Prediction) -> Row:
    by_theory = {"predicted": expected.excess, "noise": expected.noise, "apart": expected.holds}
    return {"line": line, "error": error, **by_theory}


def _measure_rounds(points: np.ndarray, made: Run) -> float:
    """Mean squared distance between a round's centres and the true means of its cells; each row weighs the same."""
    errors = []
    steps = [frame.step for frame in made.frames]
    for before, after in pairwise(steps):
        assert isinstance(before, CentersStep) and isinstance(after, CentersStep)
        cells, k = assign(points, before.centers), len(before.centers)
        counts = np.bincount(cells, minlength=k)
        sums = np.stack([np.bincount(cells, column, minlength=k) for column in points.T], axis=1)
        off = after.centers - sums / np.maximum(counts, 1)[:, None]
        errors.append(float(counts @ (off**2).sum(axis=1)) / len(points))
    return float(np.mean(errors))


def judge(table: pd.DataFrame) -> ClaimVerdict:
    """How far runs are from the formulas: within a factor, or on the side of a bound."""
    stepped = table[(table["line"] != HYBRID) | (table["predicted"] == table["noise"])]
    return conclude(
        table,
        add_reason(_judge_factor(table, ROUND, "Eq. 7 gives the error of one round of DPLloyd"), _AT_RANDOM),
        add_reason(
            _judge_factor(table, LLOYD, "Eq. 7 gives the error of DPLloyd"),
            "the start, which Eq. 7 leaves out: five rounds do not leave one that lies badly",
            _judge_factor(table, ROUND, ""),
        ),
        add_reason(
            _judge_bound(table, GRID, "Eqs. 9 and 10 together bound the error of EUGkM", above="predicted"), _AT_RANDOM
        ),
        add_reason(
            _judge_bound(table, GRID, "Eq. 9, the noise alone, is less than the error of EUGkM", below="noise"),
            "clusters narrower than 1/k of the space, which have fewer noisy cells than Eq. 9 takes them to have",
        ),
        add_reason(
            _judge_factor(stepped, HYBRID, "Eq. 13 gives the error of Hybrid where it takes a step of Lloyd"),
            "the start: where the grid is coarse, one step of Lloyd does not leave it",
        ),
        add_reason(
            _judge_power(table, ROUND, lambda d: 2.0, "the error of DPLloyd's rounds falls with the square of n ε"),
            _AT_RANDOM,
        ),
        add_reason(
            _judge_power(table, GRID, lambda d: 4 / (2 + d), "the error of EUGkM falls with the power 4/(2+d) of n ε"),
            "the bias: rows lie evenly about the middles of their cells, where Eq. 10 takes all of them to lie on one "
            "side",
        ),
    )


_AT_RANDOM = "clusters of these tables are round and of one size, but the typical place of a centre is not ρ = .225"


def _compare(table: pd.DataFrame, line: str, column: str) -> pd.Series:
    """The error of the median run over what a formula says, by place."""
    of = table[table["line"] == line]
    error = compute_medians(of, PLACES, "error")[line].clip(lower=1e-12)
    return error / compute_medians(of, PLACES, column)[line]


def _judge_factor(table: pd.DataFrame, line: str, says: str) -> ClaimFinding:
    """Within a factor of two on either side in most places."""
    ratio = _compare(table, line, "predicted")
    off = pd.Series(np.maximum(ratio, 1 / ratio), index=ratio.index)
    finding = compare_places(
        FACTORS.comparable / off, says=f"{says}, within {FACTORS.comparable:g}×", share=FACTORS.most
    )
    middle, most, worst = np.quantile(off, [0.5, FACTORS.most, 1.0])
    places = round_percent(FACTORS.most)
    found = f"off by {middle:.3g}× in the middle place, {most:.3g}× in {places} of them, {worst:.3g}× at worst"
    return _name_line(finding, line, found, f"within {most:.3g}×")


def _judge_bound(table: pd.DataFrame, line: str, says: str, *, above: str = "", below: str = "") -> ClaimFinding:
    ratio = _compare(table, line, above or below)
    advantage = 1 / ratio if above else ratio
    finding = compare_places(advantage, says=says, share=FACTORS.most)
    low, middle, high = np.quantile(ratio, [0, 0.5, 1])
    found = f"errors are {middle:.3g} times the formula in the middle place, from {low:.3g} to {high:.3g} times"
    return _name_line(finding, line, found, f"{middle:.3g} times the formula")


def _name_line(finding: ClaimFinding, line: str, found: str, ours: str) -> ClaimFinding:
    return replace(finding, found=f"{finding.found}; {found}", ours=ours, place={**finding.place, "line": line})


def _judge_power(table: pd.DataFrame, line: str, expected: Callable[[int], float], says: str) -> ClaimFinding:
    """The slope of the error over n ε on logarithmic axes, for each number of columns."""
    error = compute_medians(table[table["line"] == line], PLACES, "error")[line].clip(lower=1e-12)
    off, told = 1.0, []
    for d, at in error.groupby("d"):
        size = np.log(at.index.get_level_values("n") * at.index.get_level_values("epsilon"))
        slope = max(-float(np.polyfit(size, np.log(at), 1)[0]), 1e-3)
        power = expected(int(str(d)))
        off = max(off, slope / power, power / slope)
        told.append(f"power {slope:.2g} with {d} columns, {power:.2g} expected")
    words = "; ".join(told)
    return compare_most(
        off,
        FACTORS.competitive,
        says=f"{says}, within {FACTORS.competitive:g}×",
        found=f"{words}: off by {off:.3g}×, {FACTORS.competitive:g}× allowed",
        ours=f"off by {off:.3g}×",
    )


_OF_THEORY: dict[str, Any] = {
    **{"y": "error", "y_title": "error, unit coordinates squared", "panel": "line", "log_x": True, "log_y": True},
    **{"baseline": "predicted", "baseline_title": "predicted"},
}
_MIDDLE, _WIDE = 20_000, 6

CLAIM = Claim(
    id="su-theory",
    paper="Su et al. 2016, §6",
    claim="On well-separated clusters of like size, formulas of n, k, d and ε alone give the squared errors of DPLloyd "
    "(Eq. 7), EUGkM (Eqs. 8-10) and Hybrid (Eq. 13).",
    data=(),
    quick=Settings(ds=(2, 6), k=4, epsilons=(0.1, 0.3, 1.0, 3.0), sizes=(5_000, 20_000, 80_000), repeats=5),
    full=Settings(
        ds=(2, 4, 6, 8), k=4, epsilons=(0.05, 0.1, 0.3, 1.0, 3.0), sizes=(5_000, 20_000, 80_000, 320_000), repeats=20
    ),
    blocks=list_blocks,
    judge=judge,
    figures=(
        *(
            PaperFigure(
                title=f"Errors with {d} columns and 20,000 rows against ε, dashed as predicted (Su et al. 2016, §6)",
                x="epsilon",
                x_title="ε",
                only={"n": (_MIDDLE,), "d": (d,)},
                **_OF_THEORY,
            )
            for d in (_WIDE, 2)
        ),
        PaperFigure(
            title=f"Errors with {_WIDE} columns at ε = 1 against n, dashed as predicted (Su et al. 2016, §6)",
            x="n",
            x_title="rows",
            only={"epsilon": (1.0,), "d": (_WIDE,)},
            **_OF_THEORY,
        ),
    ),
    notes=(
        "Errors of algorithms are losses above that of k-means++, those of rounds squared distances to the true means "
        "of their cells.",
        "ρ, the typical place of a centre, is .225, which the paper does not state.",
    ),
)
