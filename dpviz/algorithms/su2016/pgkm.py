"""PGkM: a genetic search for centres whose parents are chosen privately (Su et al. 2016, §4.1.3; PrivGene)."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from dpviz.algorithms.card import PURE_OR_ZCDP, Card, Params, Setting, param_field, read_card
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.algorithms.tools.solvers import draw_random_points
from dpviz.core import Array, Codes, PrivateSession, Region, losses, mechanisms

POOL = 200


# Constants of the search: ``_PER_RECORD`` and ``_PARENTS`` are those of Su et al. 2016, the others chosen by hand.

_PER_RECORD = 1.25e-3  # selections that each record and unit of ε pays for
# Of a round; rounds at least, and those that are patience enough.
_PARENTS = 10
_LEAST_ROUNDS = 8
_MOST_ROUNDS = 1000
# The same for the practical preset, whose rounds select one parent.
_PRACTICAL_PER_RECORD = 5e-4
_PRACTICAL_MOST_ROUNDS = 24
# Largest mutation in half-widths: where it starts, by what it shrinks each round, and where it ends.
_FIRST_STEP = 0.5
_SHRINK = 0.85
_LAST_STEP = 0.05
_TOLERABLE_NOISE = 0.2  # a selection whose noise is this part of all that there is to lose says nothing


@dataclass(frozen=True, eq=False, kw_only=True)
class PoolStep(Step):
    """A pool of candidate sets of centres ``sets`` (m, k, d), of which those numbered ``chosen`` were selected.

    The first of ``chosen`` (J,) was selected first. ``spread`` is the farthest that centre j of one set lies from
    centre j of another.
    """

    sets: Array
    chosen: Codes
    spread: float


@dataclass(frozen=True)
class PGkMParams(Params):
    """Parameters of PGkM."""

    preset: str = param_field("practical", choices=("paper", "practical"))
    rounds: int | None = param_field(None, low=1, high=200)
    parents: int | None = param_field(None, low=1, high=50)


class Search(NamedTuple):
    """What a preset decides, from public quantities only."""

    rounds: int
    parents: int

    @property
    def selections(self) -> int:
        """In all: the last round selects one candidate."""
        return (self.rounds - 1) * self.parents + 1


def pgkm(session: PrivateSession, k: int, params: PGkMParams, rng: np.random.Generator) -> Iterator[Step]:
    """Select parents from a pool of 200 sets of centres, breed the next pool, and again. O(T · 200 n k d).

    **Guarantee.** Add/remove or replace; ε-DP at δ = 0, else zCDP for (ε, δ). Bounds are public; n is public or bought,
    and sets the number of rounds. Scores are sums of squared distances: divided by a private n they would have no
    bounded sensitivity.

    References
    ----------
    Su et al. 2016, §4.1.3. Zhang, Xiao, Yang, Zhang & Winslett 2013 (PrivGene).
    """
    practical = params.preset == "practical"
    search = plan_search(session.n, session.ledger.epsilon / session.rows_per_person, params)
    pool = draw_first_pool(k, session.region, rng)
    shares = session.budget.rounds(search.rounds, [float(search.parents)] * (search.rounds - 1) + [1.0])
    for t, share in enumerate(shares, start=1):
        draws = search.parents if t < search.rounds else 1
        # Both questions have the same answer; the second knows a smaller range.
        question = losses.PoolLoss(pool) if practical else losses.Loss(pool)
        note = f"round {t}: {draws} of {len(pool)}"
        chosen = session.ask(question, mechanisms.Peeling, share, note=note, draws=draws).value
        what = "one candidate is" if draws == 1 else f"{draws} candidates are"
        title = f"Round {t} of {search.rounds}: {what} selected from the pool"
        yield PoolStep(title=title, sets=pool, chosen=chosen, spread=losses.PoolLoss(pool).spread)
        parents = pool[chosen]
        if t < search.rounds:
            shrink = (_LAST_STEP / _FIRST_STEP) ** (1 / search.rounds) if practical else _SHRINK
            step = max(_LAST_STEP, _FIRST_STEP * shrink**t)
            breed = move_centers if practical else cross_and_mutate
            pool = breed(match_sets(parents, parents[0]), step, session.region, rng)
    yield CentersStep(title="The candidate selected last is released", centers=parents[0], released=True)


def plan_search(n: int, epsilon: float, params: PGkMParams) -> Search:
    """Rounds and parents, from public (or paid) quantities only."""
    if params.preset == "practical":
        parents, by_rule, most = params.parents or 1, _PRACTICAL_PER_RECORD * n * epsilon, _PRACTICAL_MOST_ROUNDS
    else:
        parents, most = params.parents or _PARENTS, _MOST_ROUNDS
        by_rule = _PER_RECORD * n * epsilon / parents
    return Search(params.rounds or int(np.clip(by_rule, _LEAST_ROUNDS, most)), parents)


def draw_first_pool(k: int, region: Region, rng: np.random.Generator) -> Array:
    """Candidates that know nothing of the data, matched to the first one; shape (200, k, d), unit coordinates."""
    sets = draw_random_points(POOL * k, region, rng).reshape(POOL, k, region.dim)
    return match_sets(sets, sets[0])


def match_sets(sets: Array, first: Array) -> Array:
    """The ``sets`` (m, k, d), each one's centres in the order in which they lie closest to those of ``first`` (k, d).

    Without an order, crossing two parents would mix centres of unlike places, and centre j of one candidate would be
    far from centre j of another for no reason.
    """
    if first.shape[0] == 1:
        return sets
    ordered = np.empty_like(sets)
    for i, centers in enumerate(sets):
        squared = ((first[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
        ordered[i] = centers[linear_sum_assignment(squared)[1]]
    return ordered


def cross_and_mutate(parents: Array, step: float, region: Region, rng: np.random.Generator) -> Array:
    """Children (200, k, d) of random pairs of ``parents`` (m, k, d): cut at one place, one coordinate of each moved.

    It moves by up to ``step`` half-widths, and back into the region: outside, the range of a selection would not hold.
    """
    m, k, dim = parents.shape
    mother, father = rng.integers(0, m, (2, POOL))
    cut, place = rng.integers(0, k * dim + 1, POOL), rng.integers(0, k * dim, POOL)
    flat = parents.reshape(m, k * dim)
    children = np.where(np.arange(k * dim) < cut[:, None], flat[mother], flat[father])
    children[np.arange(POOL), place] += rng.uniform(-step, step, POOL) * region.half[place % dim]
    return region.clip(children.reshape(POOL, k, dim))


def move_centers(parents: Array, step: float, region: Region, rng: np.random.Generator) -> Array:
    """Copies of ``parents`` (m, k, d), each with one centre moved by up to ``step`` half-widths along every axis.

    The parents are kept; their children are so like them that the next selection has a small range.
    """
    m, k, dim = parents.shape
    children = parents[np.arange(POOL) % m].copy()
    move = rng.uniform(-step, step, (POOL, dim)) * region.half
    move[:m] = 0.0
    children[np.arange(POOL), rng.integers(0, k, POOL)] += move
    return region.clip(children)


def _compute_smallest_n(setting: Setting, params: PGkMParams) -> float:
    """Records at which a selection's noise is a fifth of the squared distances of all rows to k centres spread evenly.

    In a box with half-widths 1 these are about n d k^(-2/d), and a selection of the whole range 4 d loses
    4 d ln(200) / ε of it.
    """
    search = plan_search(setting.n or 10_000, setting.epsilon / setting.rows_per_person, params)
    budget = setting.budget(PURE_OR_ZCDP(params, setting.delta))
    anywhere, share = losses.Loss(np.zeros((1, 1, setting.dim))), budget.fraction(1 / search.selections)
    once = setting.calibrate(anywhere, mechanisms.Exponential, share)
    return float(once.scale * log(POOL) / _TOLERABLE_NOISE * setting.k ** (2 / setting.dim))


def _count_operations(setting: Setting, params: PGkMParams) -> float:
    n = setting.rows
    return plan_search(int(n), setting.epsilon, params).rounds * n * POOL * setting.k * (setting.dim + 3) / 10


CARD = Card(
    **read_card("pgkm"),
    params=PGkMParams,
    plan=pgkm,
    accounting=PURE_OR_ZCDP,
    smallest_n=_compute_smallest_n,
    operations=_count_operations,
)
