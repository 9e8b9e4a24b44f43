"""The contract of the local model: every message is private on its own, and nothing but messages leaves."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

from dpviz.algorithms.hashes import lsh_local
from dpviz.algorithms.hashes.lsh_coreset import CoresetStep
from dpviz.algorithms.registry import CARDS
from dpviz.core import local_model
from dpviz.core.accounting import Accounting, Budget
from dpviz.core.check import RequestError
from dpviz.core.mechanisms import Gaussian, Laplace
from dpviz.core.noise import StudyNoise
from dpviz.core.partitions import HashCodes
from dpviz.core.queries import Count, Relation, Sensitivity
from dpviz.runs.audits.contract import check_booked, check_centers, check_replayed, record_run
from dpviz.runs.one_run import run
from tests.cases import about
from tests.contract.laws import check_frequencies, check_scale
from tests.contract.sessions import open_seeded
from tests.contract.tables import BOUGHT, PUBLIC, REPLACE, NeighborSetting, make_blobs, make_small_table

CARD = CARDS["lsh-local"]
REQUEST = {"k": 3, "delta": 0.0, "params": {"starts": 3}}
HASHES = HashCodes(np.random.default_rng(0).normal(size=(3, 2)), np.zeros(3))
PERSONS = NeighborSetting("persons", rows_per_person=3)
MIDDLE = int(HASHES.assign(np.zeros((1, 2)))[0])


def calibrated(epsilon: float, n: int, messages: float = 1.0) -> local_model.LocalReports:
    """Messages of n users in three groups, of whom a person has some."""
    options = {"bits": (2, 3, 3), "depth": 3, "groups": np.arange(n) % 3, "middle": MIDDLE}
    budget, moved = Budget(Accounting.PURE, epsilon), Sensitivity(messages, messages, 2.0 * messages)
    return local_model.LocalReports.calibrated(budget, moved, **options)


def answers(n: int, seed: int = 0) -> local_model.UserAnswers:
    rows = np.random.default_rng(seed).uniform(-0.7, 0.7, (n, 2))
    return local_model.UserAnswers(HASHES.assign(rows), rows)


@pytest.mark.parametrize(("epsilon", "messages"), [(0.1, 1), (8.0, 1), (3.0, 3)])
def test_a_message_tells_its_senders_row_from_another_by_at_most_epsilon(epsilon, messages):
    """In any group, and some nearly by that much; of a person's messages each has its part of ε."""
    mechanism, most = calibrated(epsilon, 3, messages), 0.0
    for seed in range(60):
        one = answers(3, seed)
        rows = one.vectors / np.linalg.norm(one.vectors, axis=1, keepdims=True)
        one, other = (local_model.UserAnswers(HASHES.assign(side), side) for side in (rows, -rows))
        released = mechanism.messages(one, StudyNoise(np.random.default_rng(seed)))
        for seat in range(3):
            mixed = local_model.UserAnswers(one.codes.copy(), one.vectors.copy())
            mixed.codes[seat], mixed.vectors[seat] = other.codes[seat], other.vectors[seat]
            ratio = abs(mechanism.log_density(released, one) - mechanism.log_density(released, mixed))
            assert ratio <= epsilon / messages * (1 + 1e-9)
            most = max(most, ratio)
    assert most >= 0.9 * epsilon / messages
    assert mechanism.cost(Accounting.PURE) == pytest.approx(epsilon) and mechanism.diameter == pytest.approx(2.0)


def test_the_chances_of_all_messages_add_up_to_one():
    mechanism, said = calibrated(1.0, 4), answers(4)
    vectors = said.vectors[mechanism.with_vector]  # as dense everywhere
    sent = np.stack(np.meshgrid(*(np.arange(1 << bits) for bits in (2, 3, 3, 2))), axis=-1).reshape(-1, 4)
    dense = [mechanism.log_density(local_model.Reports(codes, vectors), said) for codes in sent]
    assert np.exp(dense).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("bits", [1, 3])
def test_the_law_of_a_randomised_response(bits):
    response = local_model.Response.over(1 << bits, 1.5)
    assert response.honest / response.other == pytest.approx(np.exp(1.5))
    assert response.honest + ((1 << bits) - 1) * response.other == pytest.approx(1.0)
    coins = local_model.toss_response(40_000, bits, response, StudyNoise(np.random.default_rng(1)))
    sent = np.bincount(local_model.choose_sent(np.full(40_000, 1), *coins), minlength=1 << bits)
    own, others = np.arange(1 << bits) == 1, (response, local_model.Response.over(1 << bits, 1.2))
    law, wrong = (np.where(own, one.honest, one.other) for one in others)
    check_frequencies(sent, law)
    with pytest.raises(AssertionError):
        check_frequencies(sent, wrong)


def test_the_law_of_a_vector():
    mechanism, users = calibrated(2.0, 30_000), answers(30_000)
    released = mechanism.messages(users, StudyNoise(np.random.default_rng(2)))
    noise = np.linalg.norm(released.vectors - users.vectors[mechanism.groups == 2], axis=1)
    # A diameter of 2 at half of ε: scale 2.
    check_scale(noise, stats.gamma, 2.0, 2)


def test_a_seat_without_a_user_answers_with_the_middle():
    seated = dataclasses.replace(calibrated(1.0, 9), middle=5).seat(answers(6), StudyNoise(np.random.default_rng(0)))
    away = (seated.vectors == 0).all(axis=1)
    assert away.sum() == 3 and (seated.codes[away] == 5).all()


def test_ledger_and_replay():
    for epsilon, case in zip((0.1, 5.0, 0.1, 5.0), (BOUGHT, PUBLIC, REPLACE, PERSONS), strict=True):
        with about(case, f"ε = {epsilon}"):
            first = record_run(CARD, case.table(), epsilon=epsilon, seed=1, **REQUEST)
            check_booked(first)
            check_replayed(CARD, case.table(), first, epsilon=epsilon, seed=1, **REQUEST)


@pytest.mark.parametrize("relation", Relation, ids=lambda r: r.value)
def test_k_finite_centres(relation):
    for n, dim, epsilon in ((0, 1, 1.0), (0, 3, 1e4), (1, 3, 1e-3), (1, 1, 1e4), (7, 1, 1e-3), (60, 3, 1e4)):
        table = make_small_table(make_blobs(n, dim), relation=relation)
        request = {**REQUEST, "k": 5, "epsilon": epsilon}
        with about(f"{n} rows, {dim} columns, ε = {epsilon}"):
            if relation is Relation.REPLACE and n < 5:
                with pytest.raises(RequestError, match="at most that many clusters"):
                    run(CARD, table, seed=0, **request)
            else:
                check_centers(run(CARD, table, seed=0, **request), 5)


def test_a_centre_has_the_noise_of_a_weighted_mean_of_its_leaves():
    *_, leaves, _, found = run(CARD, PUBLIC.table(make_blobs(3000)), epsilon=2.0, seed=0, **REQUEST).steps
    nearest = np.linalg.norm(leaves.points[:, None] - found.centers, axis=2).argmin(axis=1)
    variance = np.bincount(nearest, (leaves.weights * leaves.point_noise_sd) ** 2)
    np.testing.assert_allclose(found.center_noise_sd, np.sqrt(variance) / np.bincount(nearest, leaves.weights))


def test_a_centre_that_has_no_leaf_knows_no_row_and_may_be_anywhere():
    region, centers = make_small_table(make_blobs(9)).domain.region, np.array([[0.5, 0.5], [-0.5, 0.0]])
    leaves = CoresetStep(title="", points=centers[:1], weights=np.array([1.5]), point_noise_sd=np.array([0.1]))
    noise = lsh_local._compute_center_noise(leaves, centers, region)
    assert noise.tolist() == pytest.approx([0.1, region.diameter])


def test_only_messages_leave_the_session():
    session = open_seeded(make_small_table(make_blobs(60), relation=Relation.REPLACE))
    for kind in (Laplace, Gaussian):
        with pytest.raises(RequestError):
            session.ask(local_model.UserQuestion(HASHES), kind, session.budget, note="x")
    with pytest.raises((RequestError, TypeError)):
        session.ask(Count(HASHES), local_model.LocalReports, session.budget, note="x")
    assert session.ledger.entries == []
