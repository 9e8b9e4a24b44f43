"""The bench of draws: it reads ``draws.csv`` as anybody does, and counts what holds."""

import numpy as np

from benchmarks import draws
from dpviz.releases.package import DRAWS_FILE
from dpviz.releases.tallies import DRAWS
from tests.releases.forging import released


def test_ten_questions_are_answered_from_the_file_alone() -> None:
    told = draws.DrawsFile(released()[DRAWS_FILE].decode())
    assert told.k == 3 and told.of["rows"].shape == (DRAWS, 3) and told.means == ["mean of age", "mean of income"]
    # Three segments of 300 rows each, whose ages differ: no size is beyond another one's noise.
    middles = np.median(told.of["mean of age"], axis=0)
    truth = draws.Truth(np.repeat(np.arange(3), 300), np.full(3, 300))
    outcomes = draws.answer_ten(told, truth, {"age": np.repeat(middles, 300)})
    assert len(outcomes) == 10 and set(outcomes) <= {draws.RIGHT, draws.WRONG, draws.NONE}
    assert outcomes[0] == draws.NONE and outcomes[3] == outcomes[8] == outcomes[9] == draws.RIGHT
    assert draws.answer_ten(told, truth, {"age": np.repeat(middles[::-1] + 500, 300)})[8] == draws.WRONG


def test_every_kind_of_number_is_counted_in_a_release_of_a_sample() -> None:
    held, outcomes = draws.measure(draws.open_table("people"), "eugkm", 3.0, 1)
    assert set(held) == set(draws.KINDS_OF_NUMBERS) and len(outcomes) == 10
    assert np.mean(held["size"] + held["share"] + held["difference"]) > 0.7


def test_centres_of_auto_are_off_by_less_than_its_noise_over_the_least_size_that_is_plausible() -> None:
    parts = draws.release(draws.open_table("fifteen"), "auto", 3.0, 0)
    assert parts.means is not None and np.median(parts.means.centers_sd / parts.profile.noise_sd) < 0.87
