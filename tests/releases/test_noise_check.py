"""Genuine answers are as noisy as is claimed, those of another ε are not, and what cannot be told is not told."""

from math import exp, log
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad

from dpviz.releases import noise_check
from dpviz.releases.account import Taken
from dpviz.releases.noise_check import Law, NoiseEvidence, NoiseVerdict, TallyGroup, collect_tallies
from dpviz.releases.playing import play
from dpviz.releases.releasing import draw, make_transcript, preflight
from dpviz.tables.named import open_file
from tests.cases import about
from tests.releases.people import account_in, declare_people, order_for

LAWS = [Law(2.0, draws, gaussian) for draws in (1, 2, 5, 15, 16, 17, 300) for gaussian in (False, True)]


@pytest.mark.parametrize("law", LAWS)
def test_a_law_is_that_of_a_sum_of_draws(law: Law) -> None:
    def density(value: float) -> float:
        return exp(float(law.log_density(np.array(value))))

    ends = (-40 * law.sd, 40 * law.sd)
    for power, due in ((0, 1.0), (2, law.sd**2)):
        found, _ = quad(lambda x, power=power: x**power * density(x), *ends, points=[0.0], limit=400)
        assert found == pytest.approx(due, rel=1e-4)
    if not law.gaussian:  # the fourth moment, in which tails count
        found, _ = quad(lambda x: x**4 * density(x), *ends, points=[0.0], limit=400)
        assert found == pytest.approx((3 + 3 / law.draws) * law.sd**4, rel=1e-3)


def draw_law(law: Law, rng: np.random.Generator) -> float:
    drawn = rng.normal(0, law.scale, law.draws) if law.gaussian else rng.laplace(0, law.scale, law.draws)
    return float(drawn.sum())


def drawn_tallies(laws: tuple[Law, ...], numbers: int, seed: int, *, known: bool = False) -> NoiseEvidence:
    """NoiseEvidence of so many numbers, none of which is known."""
    rng = np.random.default_rng(seed)
    groups = []
    for _ in range(numbers):
        truth = 0.0 if known else rng.integers(10**6)
        groups.append(TallyGroup("algorithm", np.array([truth + draw_law(law, rng) for law in laws]), laws, known))
    return NoiseEvidence(tuple(groups))


SETS = {
    "one draw each": ((Law(1.0, 1, False),) * 4, 6),
    "unlike ones": ((Law(1.0, 3, False), Law(0.2, 48, False), Law(5.0, 1, False), Law(2.0, 30, True)), 3),
    "Gaussian": ((Law(1.0, 3, True),) * 5, 3),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("known", [False, True])
def test_chances_are_at_least_what_they_are(name: str, known: bool) -> None:
    # What is bounded as p comes about once in 1/p draws, at most: at a level that some draws can show.
    laws, numbers = SETS[name]
    found = [list(drawn_tallies(laws, numbers, seed, known=known).list_chances()) for seed in range(150)]
    for place in range(len(found[0])):
        assert sum(one[place][2] < log(0.05) for one in found) <= 18, place


@pytest.mark.parametrize("name", SETS)
def test_ten_times_more_or_less_noise_is_told(name: str) -> None:
    laws, numbers = SETS[name]
    for seed in range(8):
        tallies = drawn_tallies(laws, numbers, seed)
        with about(seed):
            assert tallies.judge() == NoiseVerdict(told=True)
            assert "differ less" in " ".join(tallies.times(10.0).judge().found)
            assert "differ more" in " ".join(tallies.times(0.1).judge().found)


def test_all_tests_of_a_genuine_release_together_err_but_once_in_so_many() -> None:
    chances = [("", True, log(noise_check._FALSE_ALARMS) - 0.1)] * 2
    assert noise_check._find_unlikely(chances) == [] and len(noise_check._find_unlikely(chances[:1])) == 1


def test_of_few_answers_nothing_is_told() -> None:
    tallies = drawn_tallies((Law(1.0, 3, False),) * 2, 1, 0)
    assert tallies.judge().words == "as noisy as claimed: cannot be told"
    assert NoiseEvidence(()).judge() == NoiseVerdict()


@pytest.mark.parametrize("gaussian", [False, True])
def test_a_histogram_alone_tells_by_its_empty_cells(gaussian: bool) -> None:
    rng = np.random.default_rng(0)
    law = Law(2.0, 1, gaussian)
    counts = np.concatenate([np.zeros(150), rng.integers(0, 200, 150)])
    noise = rng.normal(0, 2.0, 300) if gaussian else rng.laplace(0, 2.0, 300)
    tallies = NoiseEvidence((), (("algorithm", counts + noise, law),))
    assert tallies.judge() == NoiseVerdict(told=True)
    assert "differ less" in tallies.times(10.0).judge().found[0]
    assert "differ more" in tallies.times(0.1).judge().found[0]
    full = NoiseEvidence((), (("algorithm", counts + noise + 1_000, law),))  # where no cell is empty nothing is known
    assert full.judge() == full.times(10.0).judge() == full.times(0.1).judge() == NoiseVerdict()


def test_an_answer_that_is_no_number_is_found() -> None:
    laws = (Law(1.0, 1, False),) * 3
    assert NoiseEvidence((TallyGroup("algorithm", np.array([1.0, np.nan, 2.0]), laws),)).judge().found


# Of each algorithm: whether ten times as much ε would be found without segments, which always tell.
ALGORITHMS = ("auto", "dplloyd", "dplloyd:preset=gaussian", "eugkm", "hybrid", "lsh-coreset", "balcan", "sulq")


def drawn_release(folder: Path, algorithm: str, segments: float, epsilon: float) -> NoiseEvidence:
    """The tallies of a release of 900 persons, without its files."""
    folder.mkdir()
    data, said = declare_people(folder)
    request = order_for(said, algorithm=algorithm, segments=segments, epsilon=epsilon)
    prepared = preflight(request, open_file(data), said, account_in(folder, cap_epsilon=10.0))
    taken = Taken.rehearse(prepared.before, prepared.charge)
    return collect_tallies(play(make_transcript(prepared, taken, draw(prepared))).given)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_genuine_releases_are_as_noisy_as_claimed_and_another_epsilon_is_named(tmp_path: Path, algorithm: str) -> None:
    tallies = drawn_release(tmp_path / "one", algorithm, 0.2, 1.0)
    assert tallies.judge() == NoiseVerdict(told=True)
    for times, found in ((10.0, "differ less"), (100.0, "differ less"), (0.1, "differ more")):
        assert any(found in words for words in tallies.times(times).judge().found), times


def test_a_hundred_genuine_releases_are_none_called_forged_and_another_epsilon_is_named(tmp_path: Path) -> None:
    told = 0
    for at in range(100):
        algorithm, segments = ALGORITHMS[at % len(ALGORITHMS)], 0.2 if at % 3 else 0.0
        tallies = drawn_release(tmp_path / str(at), algorithm, segments, (0.5, 1.0, 4.0, 8.0)[at % 4])
        verdict = tallies.judge()
        told += verdict.told
        with about(at, algorithm, segments):
            assert not verdict.found and (verdict.told or not segments)
            # Ten times too little was looked for already: that is what "told" says.
            chances = (tallies.times(times).list_chances() for times in (0.1, 100.0))
            assert not segments or all(map(noise_check._find_unlikely, chances))
    assert told >= 75
