"""Clustering without trust: every user sends one randomised message about a hash of the own row."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, log2, sqrt
from typing import Any

import numpy as np

from dpviz.algorithms.card import PURE, Card, Params, param_field, read_card
from dpviz.algorithms.hashes.lsh_coreset import CoresetStep
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.algorithms.tools.solvers import SignedPoints, StartsStep, choose_starts, find_best_of_starts, sum_mass_near
from dpviz.core import (
    Array,
    Codes,
    Flags,
    LocalReports,
    PrivateSession,
    Region,
    Reports,
    StudyNoise,
    UserAnswers,
    UserQuestion,
    mechanisms,
    partitions,
)

# Constants chosen by hand: the paper leaves them open.

_VECTOR_PART = 0.5  # part of the users who send a vector as well; the others share out the lengths of prefixes
_THRESHOLD_SDS = 3.0  # a node is kept from so many standard deviations of its count on
_MOST_BITS = 8  # of a code
_PREFIX_GROUPS = 5  # groups of users without a vector, one for each length that is asked for
_FEWEST_USERS = 1e5  # for each centre, column and 1/ε², below which the centres are noise: a rough guess


# A public or noisy n may be far larger than the table: 4 million messages are made in seconds.
_MOST_MESSAGES = 2**22


@dataclass(frozen=True, eq=False, kw_only=True)
class MessageStep(Step):
    """What a made-up user would send in each group; everything here is drawn from public coins, no row is involved.

    * ``bits`` (g,): length of the prefix that each group sends.
    * ``truths``, ``sent`` (g,): the made-up user's own prefix, and the one that is sent.
    * ``honest`` (g,): the chance that the own prefix is sent.
    * ``point``, ``noisy_point`` (d,): the made-up row, and what a user of the last group sends with the prefix; unit
      coordinates.
    * ``users`` (g,): how many users are in each group.
    """

    bits: Codes
    truths: Codes
    sent: Codes
    honest: Array
    point: Array
    noisy_point: Array
    users: Codes
    epsilon: float


@dataclass(frozen=True, eq=False, kw_only=True)
class ServerTreeStep(Step):
    """Counts of prefixes that the server estimates from all messages; unbiased, so many are negative.

    ``nodes`` (m,) are heap numbers in order, ``noisy_counts`` (m,) users, ``count_sd`` (m,) their standard deviations;
    nodes under ``threshold`` standard deviations are not ``kept`` (m,).
    """

    nodes: Codes
    noisy_counts: Array
    count_sd: Array
    kept: Flags
    threshold: float
    n: int


@dataclass(frozen=True)
class LshLocalParams(Params):
    """Parameters of clustering in the local model."""

    bits: int | None = param_field(None, low=1, high=_MOST_BITS)
    starts: int = param_field(10, low=1, high=300)


def lsh_local(session: PrivateSession, k: int, params: LshLocalParams, rng: np.random.Generator) -> Iterator[Step]:
    """One message from each user, a tree of debiased counts at the server, k-means on its leaves. O(n d B), B planes.

    **Guarantee.** Add/remove or replace; every message is ε-DP on its own, whoever holds the server. Bounds are public;
    n is public or bought and is the number of messages, up to 2^22: of more users, as many are asked. Planes and groups
    come from public coins.
    """
    depth = params.bits or int(np.clip(ceil(log2(4 * k)), 2, _MOST_BITS))
    planes = rng.normal(size=(depth, session.dim))
    away = 0.3 * session.region.radius / sqrt(session.dim + 2)
    hashes = partitions.HashCodes(planes, away * rng.normal(size=depth) * sqrt(session.dim))
    bits = list_prefix_lengths(depth)
    # Group of each user by public coins: half of all in the last one, the rest shared out equally.
    users, number = min(session.n, _MOST_MESSAGES), len(bits)
    place = rng.permutation(users)
    groups = np.where(place < int((1 - _VECTOR_PART) * users), place % (number - 1), number - 1)
    question = UserQuestion(hashes)
    middle = int(hashes.assign(np.zeros((1, session.dim)))[0])
    options: dict[str, Any] = {"bits": bits, "depth": depth, "groups": groups, "middle": middle}
    mechanism = session.mechanism(question, LocalReports, session.budget, **options)
    yield make_up_message(mechanism, hashes, session.region, rng)
    reports = session.ask(question, LocalReports, session.budget, note="one message from each user", **options).value
    server = grow_server_tree(mechanism, reports)
    yield server
    leaves = list_leaves(mechanism, reports, server, session.region)
    yield leaves
    data = SignedPoints.of(leaves.points, leaves.weights)
    starts = choose_starts(leaves.points, leaves.weights, k, params.starts, session.region, rng)
    best = find_best_of_starts(data, starts, session.region)
    yield StartsStep.of(best, len(data), "point of a leaf", "points of leaves")
    yield CentersStep(
        title=f"Start {best.chosen + 1} has the least loss on the leaves and is released",
        centers=best.solution.centers,
        noisy_counts=sum_mass_near(data, best.solution.centers),
        previous=best.start,
        center_noise_sd=_compute_center_noise(leaves, best.solution.centers, session.region),
    )


def _compute_center_noise(leaves: CoresetStep, centers: Array, region: Region) -> Array:
    """Standard deviation of a coordinate of each centre: of the weighted mean of its leaves, shape (k,).

    A centre without any knows no row: it may as well be anywhere else in the region.
    """
    nearest = ((leaves.points[:, None] - centers[None]) ** 2).sum(axis=2).argmin(axis=1)
    spread = np.bincount(nearest, (leaves.weights * leaves.point_noise_sd) ** 2, len(centers))
    mass = np.bincount(nearest, leaves.weights, len(centers))
    return np.where(mass > 0, np.sqrt(spread) / np.maximum(mass, 1.0), region.diameter)


def list_prefix_lengths(depth: int) -> tuple[int, ...]:
    """Length of the prefix of each group: from 2 (1 if there is one plane) to ``depth``, and ``depth`` for the last."""
    lengths = np.unique(np.round(np.linspace(min(2, depth), depth, _PREFIX_GROUPS)).astype(int))
    return (*lengths.tolist(), depth)


def make_up_message(
    mechanism: LocalReports, hashes: partitions.HashCodes, region: Region, rng: np.random.Generator
) -> MessageStep:
    """What a user with a made-up row would send in each group: the same mechanism with public coins."""
    direction = rng.normal(size=region.dim)
    point = region.clip(0.5 * region.radius * direction / np.linalg.norm(direction))
    number = len(mechanism.bits)
    code = hashes.assign(point[None])
    own = UserAnswers(np.repeat(code, number), np.repeat(point[None], number, axis=0))
    made = replace(mechanism, groups=np.arange(number)).messages(own, StudyNoise(rng))
    bits = np.array(mechanism.bits, dtype=np.int64)
    return MessageStep(
        title="What one user sends: a made-up row, no row of the table has been read",
        bits=bits,
        truths=code >> (mechanism.depth - bits),
        sent=made.codes.copy(),
        honest=np.array([mechanism.response(group).honest for group in range(number)]),
        point=point,
        noisy_point=made.vectors[0].copy(),
        users=np.bincount(mechanism.groups, minlength=number),
        epsilon=1 / mechanism.scale,
    )


def grow_server_tree(mechanism: LocalReports, reports: Reports) -> ServerTreeStep:
    """Debiased counts of prefixes, top down: children of kept nodes, kept again from three standard deviations on."""
    n = len(mechanism.groups)
    above = np.array([1], dtype=np.int64)
    levels = []
    for group, bits in enumerate(mechanism.bits[:-1]):
        response, users = mechanism.response(group), max(1, int((mechanism.groups == group).sum()))
        nodes = above
        while len(nodes) and int(partitions.find_level(nodes[:1])[0]) < bits:
            nodes = mechanisms.list_children(nodes)
        sent = np.bincount(reports.codes[mechanism.groups == group], minlength=1 << bits)
        estimate = n / users * (sent[nodes - (1 << bits)] - users * response.other) / response.gap
        sd = n / users * sqrt(users * response.other * (1 - response.other)) / response.gap
        heavy = estimate >= _THRESHOLD_SDS * sd
        levels.append((nodes, estimate, np.full(len(nodes), sd), heavy))
        above = nodes[heavy]
    every, counts, sds, kept = (np.concatenate(column) for column in zip(*levels, strict=True))
    return ServerTreeStep(
        title=f"The server counts {len(every):,} prefixes and keeps {int(kept.sum()):,}",
        nodes=every,
        noisy_counts=counts,
        count_sd=sds,
        kept=kept,
        threshold=_THRESHOLD_SDS,
        n=n,
    )


def list_leaves(mechanism: LocalReports, reports: Reports, server: ServerTreeStep, region: Region) -> CoresetStep:
    """Kept nodes (m, d) without kept descendants (the root if there is none), with debiased sums of the vectors.

    A vector counts for a leaf by whether the code sent with it lies below the leaf, corrected for the chance that it
    does so by lying: unbiased, whatever the others sent.
    """
    kept = server.nodes[server.kept]
    inner = {int(node) >> up for node in kept for up in range(1, mechanism.depth + 1)}
    leaves = np.array([node for node in kept.tolist() if node not in inner] or [1], dtype=np.int64)
    last = len(mechanism.bits) - 1
    codes, response = reports.codes[mechanism.groups == last], mechanism.response(last)
    first, end = partitions.find_code_range(leaves, mechanism.depth)
    inside = (codes[:, None] >= first) & (codes[:, None] < end)
    weights = (inside - (end - first) * response.other) / response.gap
    scale = len(mechanism.groups) / max(1, len(codes))
    by_node = dict(zip(server.nodes.tolist(), server.noisy_counts.tolist(), strict=True))
    counts = np.array([max(1.0, by_node.get(int(node), float(server.n))) for node in leaves])
    sd = scale * mechanism.vector_noise.compute_sd(region.dim) * np.sqrt((weights**2).sum(axis=0)) / counts
    return CoresetStep(
        title=f"{len(leaves):,} leaves, each the debiased sum of the vectors that were sent",
        points=region.clip((scale * weights.T @ reports.vectors) / counts[:, None]),
        weights=counts,
        point_noise_sd=sd,
    )


CARD = Card(
    **read_card("lsh-local"),
    params=LshLocalParams,
    plan=lsh_local,
    accounting=PURE,
    smallest_n=lambda setting, params: _FEWEST_USERS * setting.k * setting.dim / setting.epsilon**2,
    operations=lambda setting, params: 40.0 * setting.rows * setting.dim,
)
