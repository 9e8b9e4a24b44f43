"""Tables of runs that nobody ran: for every claim one that bears it out, one that does in part, one that does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any

import pandas as pd

from dpviz.app.charts.studies.stored_verdicts import Outcome
from experiments import balcan_figure2 as bl
from experiments import balcan_small as small
from experiments import balcan_theory as captures
from experiments import cohen_naive as naive
from experiments import cohen_sizes as cohen
from experiments import google_coreset as google
from experiments import su_blocks as blocks
from experiments import su_epsilon as su
from experiments import su_genetic as genetic
from experiments import su_theory as theory
from experiments.material import RECIPE
from experiments.su_hybrid import SYNTHETIC

Losses = Mapping[str, float]
_BASE = {"data": "made up", "origin": RECIPE, "n": 1000, "d": 2, "k": 3, "epsilon": 1.0, "delta": 0.0, "kmeans": 1.0}


def lines(losses: Losses, measure: str = "nicv", **where: Any) -> list[dict[str, Any]]:
    """Three runs of each line around its loss, the median of which is the loss."""
    return [
        {**_BASE, **where, "line": line, "repeat": repeat, measure: loss * wiggle, "seconds": loss}
        for line, loss in losses.items()
        for repeat, wiggle in enumerate((0.9, 1.0, 1.2))
    ]


def table(parts: Iterable[list[dict[str, Any]]]) -> pd.DataFrame:
    return pd.DataFrame([row for part in parts for row in part])


def _balcan_small(outcome: Outcome) -> pd.DataFrame:
    good = {small.GRID: 1.0, small.BALCAN: 1.3, small.SULQ: 1.4, small.SAMPLES: 1.5, small.KVARIATES: 20.0}
    good |= {small.SAMPLES_PRACTICAL: 1.4, small.KVARIATES_CAPPED: 15.0}
    worse = {Outcome.HOLDS: {}, Outcome.IN_PART: {small.SAMPLES: 9.0}}
    bad = {small.GRID: 50.0, small.BALCAN: 9.0, small.SAMPLES: 90.0}
    return table([lines(good | worse.get(outcome, bad))])


def _balcan_clusters(outcome: Outcome) -> pd.DataFrame:
    parts = []
    for data, d in (("64 Gaussians", 100), ("CIFAR-10 features", 160), ("MNIST", 784)):
        for k in (2, 8):
            losses = {bl.BALCAN: 1.2, bl.PRACTICAL: 1.1, bl.SULQ: 1.2, bl.SULQ_BASIC: 1.2 + d / 100, bl.SAMPLES: 500.0}
            if outcome is not Outcome.HOLDS:
                losses[bl.SAMPLES] = 8.0
            if outcome is Outcome.FAILS:
                losses |= {bl.BALCAN: 4.0 + d / 100, bl.SULQ_BASIC: 1.1}
            parts.append(lines(losses, data=data, d=d, k=k))
    return table(parts)


def _balcan_epsilon(outcome: Outcome) -> pd.DataFrame:
    growth = {Outcome.HOLDS: (1.2, 5.0), Outcome.IN_PART: (2.0, 5.0), Outcome.FAILS: (5.0, 1.1)}[outcome]
    return table(
        lines(
            {
                bl.BALCAN: 1 + (growth[0] - 1) * far,
                bl.PRACTICAL: 1 + (growth[0] - 1) * far,
                bl.SULQ: 2.0,
                bl.SULQ_BASIC: 1.1 + (growth[1] - 1) * far,
            },
            epsilon=epsilon,
        )
        for epsilon, far in ((0.1, 1.0), (1.0, 0.0))
    )


def _google(outcome: Outcome) -> pd.DataFrame:
    parts = []
    led = {Outcome.HOLDS: 3, Outcome.IN_PART: 4, Outcome.FAILS: 1}[outcome]
    for place, data in enumerate(("64 Gaussians", "MNIST embedding", "Letter", "Gas turbine")):
        for k in (2, 8, 32):
            loss = 1.0 if place < led else 3.0
            others = {google.DIFFPRIVLIB: 2.0, google.LLOYD: 0.9, google.BALCAN: 2.5}
            found = lines({google.CORESET: loss, google.PRACTICAL: loss / 2, **others}, data=data, k=k)
            accurate = outcome is Outcome.HOLDS
            for row in found:
                best = (row["line"] == google.CORESET) == accurate
                row["label_accuracy"] = float("nan") if data == "Gas turbine" else 0.9 if best else 0.5
            parts.append(found)
    return table(parts)


def _cohen_separation(outcome: Outcome) -> pd.DataFrame:
    parts = []
    for reach in (32.0, 512.0):
        far = reach / 32
        averages = 1e7 if outcome is not Outcome.FAILS else 1e7 / far
        noisy = 1e8 / far**2 if outcome is not Outcome.FAILS else 1e8
        needed = {cohen.AVERAGES: averages, cohen.ACCURATE: 1e7, cohen.NOISY: noisy}
        parts.append(lines(needed, "samples", reach=reach))
    found = table(parts)
    found["by_theory"] = found["samples"] * (50.0 if outcome is Outcome.FAILS else 5.0)
    return found.assign(tuples=3781 if outcome is Outcome.HOLDS else 4296)


def _cohen_dimensions(outcome: Outcome) -> pd.DataFrame:
    parts = []
    by_clusters = [(data, k, 4) for data in (cohen.BY_CLUSTERS, cohen.ONE_DISTANCE) for k in (2, 8)]
    for data, k, d in (*by_clusters, (cohen.BY_COLUMNS, 2, 16)):
        noisy = {Outcome.HOLDS: 1e5 * k**3, Outcome.IN_PART: 1e5, Outcome.FAILS: 1e12 / k**3}[outcome]
        per_unit, times = (5e4, 50.0) if outcome is Outcome.FAILS else (5e5, 5.0)
        averages = per_unit * k * d
        needed = {cohen.AVERAGES: averages * 15 * k, cohen.NOISY: noisy}
        found = lines(needed | {cohen.ACCURATE: averages * 15 * k}, "samples", data=data, k=k, d=d, reach=512.0)
        sizes = {"tuples": averages, "samples_per_tuple": 15 * k, "how": "searched"}
        parts.append(
            [{**row, **sizes, "by_constants": row["samples"], "by_theory": times * row["samples"]} for row in found]
        )
    return table(parts)


def _cohen_naive(outcome: Outcome) -> pd.DataFrame:
    error, noisy = (12.0, 0.5) if outcome is not Outcome.FAILS else (0.1, 0.5)
    found = table([lines({naive.FITTED: error, naive.PACKAGE: 3.0, naive.NOISY: noisy}, "error", n=1_000_000)])
    return found.assign(separated=0.7 if outcome is Outcome.HOLDS else 1.0)


def _su_epsilon(outcome: Outcome) -> pd.DataFrame:
    parts = []
    for (data, k), epsilon in product(su.CLUSTERS.items(), (0.1, 1.0)):
        losses = {su.GRID: 1.0, su.LLOYD: 2.0, su.GKM_3K: 3.0, su.PGKM: 3.5, su.GKM: 9.0}
        if data in su.WIDE and outcome is Outcome.HOLDS:
            losses[su.GRID] = 2.5
        if data == "S1" and epsilon == 0.1 and outcome is not Outcome.FAILS:
            losses[su.PGKM] = 1.5
        if outcome is Outcome.FAILS:
            losses |= {su.LLOYD: 20.0, su.GRID: 30.0 if data in su.PLANE else 3.0, su.PGKM: 25.0}
        parts.append(lines(losses, data=data, k=k, epsilon=epsilon))
    return table(parts)


def _su_scaling(outcome: Outcome) -> pd.DataFrame:
    parts = []
    for d, k in product((2, 6, 10), (2, 4, 10)):
        grid, lloyd = 0.01 * d, 0.015 * k
        if outcome is Outcome.IN_PART:
            lloyd = 0.02 * d
        if outcome is Outcome.FAILS:
            grid, lloyd = (0.9 + 0.05 * k - 0.05 * d, 0.1 + 0.01 * d if d < 8 else 2.0)
        theta = 1.0 if outcome is Outcome.FAILS else 3.0
        losses = {su.GRID: 1 + grid, su.LLOYD: 1 + lloyd, f"{su.GRID}, θ = 40": theta}
        parts.append([{**row, "excess": row["nicv"] - 1} for row in lines(losses, d=d, k=k)])
    return table(parts)


def _su_blocks(outcome: Outcome) -> pd.DataFrame:
    parts = []
    for data, k in (("TIGER", 2), ("Lifesci", 3)):
        for power, rows in ((0.1, 3), (0.4, 50), (0.6, 400), (1.0, 20_000)):
            falls = rows if outcome is not Outcome.FAILS else 1 / rows
            quiet = 1.0 if outcome is Outcome.HOLDS else 1e9
            losses = {su.GKM: 2.0 + falls, blocks.QUIET: quiet}
            parts.append(lines(losses, data=data, k=k, power=power, rows_per_block=rows))
        fails = outcome is Outcome.FAILS
        others = {su.LLOYD: 9.0 if fails else 1.1, su.GKM_3K: 3.0, su.PGKM: 0.5 if fails else 4.0}
        parts.append(lines(others, data=data, k=k, power=float("nan"), rows_per_block=float("nan")))
    return table(parts)


def _su_genetic(outcome: Outcome) -> pd.DataFrame:
    parts = []
    for data, iteration in product(("Image", "S1"), range(31)):
        if outcome is Outcome.FAILS:
            losses = {genetic.LLOYD: 3.0, genetic.GENE: 1.0 if iteration < 20 else 9.0}
        else:
            slow = 12 if outcome is Outcome.HOLDS else 5
            losses = {genetic.LLOYD: 1.01 if iteration >= 3 else 3.0, genetic.GENE: 1.0 if iteration >= slow else 4.0}
        losses[genetic.SMALL] = losses[genetic.GENE]
        parts.append(lines(losses, data=data, iteration=iteration))
    return table(parts)


def _su_hybrid(outcome: Outcome) -> pd.DataFrame:
    parts = []
    fails = outcome is Outcome.FAILS
    for (data, k), epsilon in product(su.CLUSTERS.items(), (0.05, 0.1, 0.7)):
        losses = {su.HYBRID: 9.0 if fails else 1.0, su.GRID: 1.01, su.LLOYD: 1.2}
        if data == "Adult-num" and epsilon == 0.05:
            losses[su.LLOYD] = 0.5 if outcome is Outcome.HOLDS else 10.0
        found = lines(losses, data=data, k=k, epsilon=epsilon)
        for row in found:
            row["seconds"] = 1.0 if fails or row["line"] == su.GRID else 0.01
        parts.append(found)
    for d, k in product((2, 10), (2, 10)):
        parts.append(lines({su.HYBRID: 9.0 if fails else 1.0, su.GRID: 1.5}, data=SYNTHETIC, d=d, k=k))
    return table(parts)


def _su_theory(outcome: Outcome) -> pd.DataFrame:
    parts = []
    for d, (n, epsilon) in product((2, 6), ((20_000, 0.1), (20_000, 1.0), (80_000, 1.0))):
        size = n * epsilon / 2000
        lloyd, grid, noise = size**-2.0, size ** (-4 / (2 + d)), 0.5 * size ** (-4 / (2 + d))
        errors = {theory.ROUND: lloyd, theory.LLOYD: lloyd, theory.GRID: grid, theory.HYBRID: lloyd}
        if outcome is Outcome.IN_PART:
            errors[theory.LLOYD] = 100.0
        if outcome is Outcome.FAILS:
            errors = {line: 9.0 * error / size**3 for line, error in errors.items()}
            noise *= 20.0
        found = lines(errors, "error", d=d, k=4, n=n, epsilon=epsilon)
        for row in found:
            of_grid = row["line"] == theory.GRID
            row |= {"predicted": 1.3 * grid if of_grid else lloyd, "noise": noise if of_grid else lloyd}
            if of_grid and outcome is Outcome.FAILS:
                row["predicted"] = row["error"] / 2
        parts.append(found)
    return table(parts)


def _balcan_theory(outcome: Outcome) -> pd.DataFrame:
    near = 1e9 if outcome is not Outcome.HOLDS else 2.0
    alone, loss = (1e9, 1e9) if outcome is Outcome.FAILS else (1.5, 2.0)
    found = table(lines({captures.PRINTED: loss, captures.PRACTICAL: loss}, epsilon=epsilon) for epsilon in (0.1, 1.0))
    return found.assign(captured=1.0, farthest=near, alone=alone, bound=1e3, one_center=5.0, allowed=18.0)


PLANTED: dict[str, Callable[[Outcome], pd.DataFrame]] = {
    "su-epsilon": _su_epsilon,
    "su-scaling": _su_scaling,
    "su-blocks": _su_blocks,
    "su-genetic": _su_genetic,
    "su-hybrid": _su_hybrid,
    "su-theory": _su_theory,
    "balcan-small": _balcan_small,
    "balcan-clusters": _balcan_clusters,
    "balcan-epsilon": _balcan_epsilon,
    "balcan-theory": _balcan_theory,
    "google-coreset": _google,
    "cohen-separation": _cohen_separation,
    "cohen-dimensions": _cohen_dimensions,
    "cohen-naive": _cohen_naive,
}
