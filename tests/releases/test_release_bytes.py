"""What leaves was drawn or declared: the same draws over any other rows give the same bytes of every file.

A press over other rows plays the answers of the first one. Whatever differs then was read from the rows past the
noise: wherever it was read, and into whichever file it got.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import yaml

from dpviz.core.exact_noise import ExactNoise
from dpviz.core.ledger import compute_total_epsilon
from dpviz.releases import account as accounts
from dpviz.releases import releasing
from dpviz.releases.account import Account
from dpviz.releases.package import CARD, DECLARATION, PAGE
from dpviz.releases.promise import AccessCounts
from dpviz.releases.release_request import ReleaseRequest
from dpviz.releases.releasing import Release, preflight, publish
from dpviz.releases.transcript import AnswerRecording, Playback
from dpviz.releases.verifying import verify
from dpviz.runs.one_run import run_request
from dpviz.runs.open_table import declare
from dpviz.runs.record import ReleaseRecord
from dpviz.runs.request import Contender, Division, Request
from dpviz.tables.declarations import apply_declaration, apply_declaration_file, find_words, is_bought, to_json
from dpviz.tables.named import open_file
from tests.releases.forging import findings
from tests.releases.people import unrehearsed

RELEASABLE = (
    *("auto", "dplloyd", "dplloyd:preset=gaussian", "eugkm", "hybrid", "lsh-coreset", "balcan", "balcan-kmedian"),
    "sulq",
)
PLAIN: dict[str, Any] = {
    "title": "Visitors",
    "bounds": {"age": [0, 100], "income": [0, 90000]},
    "origins": {"age": "law or physics", "income": "documentation"},
}
OPEN = {**PLAIN, "bounds": {"age": [None, 120], "income": [None, None]}, "origins": {}, "bounds_origin": "law"}
MIXED = {
    "bounds": {
        "age": [None, 120],
        "income": {"bounds": [None, None], "scale": "log"},
        "town": {"categories": ["North", "South"]},
        "visits": {"cycle": 7},
    },
    "bounds_origin": "law",
    "weights": {"town": 2.0},
}
DESCRIBED = {"town": {"categories": ["North", "South"]}, "visits": {"bounds": [0, 50]}}
# Of each algorithm, something else of what a release can hold.
KINDS: Mapping[str, tuple[dict[str, Any], dict[str, float]]] = {
    "plain": ({**PLAIN, "n_public": 900}, {"segments": 0.0}),
    "segments": (PLAIN, {"segments": 0.3}),
    "bought bounds": (OPEN, {"segments": 0.2, "bounds": 0.1}),
    "all parts": (OPEN, {"segments": 0.2, "bounds": 0.1, "missing": 0.1}),
    "persons": ({**PLAIN, "id_column": "who", "rows_per_person": 3}, {"segments": 0.2}),
    "described": ({**PLAIN, "describe": DESCRIBED}, {"segments": 0.3, "missing": 0.05}),
    "every kind": (MIXED, {"segments": 0.2, "bounds": 0.05, "missing": 0.05}),
    "replace": ({**PLAIN, "relation": "replace"}, {"segments": 0.2}),
}


# In the order of a visit, which no file has.
SEEN = AccessCounts({"rows": 2, "proposal": 1, "loss": 1}, 1, 3, 2.5, 1)


def write_rows(folder: Path, name: str, seed: int, rows: int) -> Path:
    """A table of persons that has nothing in common with one of another ``seed`` but its columns."""
    rng = np.random.default_rng(seed)
    age, income = rng.uniform(0, 100, rows), rng.lognormal(9.0 + seed % 3, 1.0, rows)
    lines = [
        f"{'' if rng.random() < 0.1 else f'{a:.1f}'},{'' if rng.random() < 0.05 else f'{i:.0f}'},p{rng.integers(rows)},"
        f"{rng.choice(['North', 'South', 'West', ''])},{rng.integers(60)}"
        for a, i in zip(age, income, strict=True)
    ]
    path = folder / f"{name}.csv"
    path.write_text("\n".join(["age,income,who,town,visits", *lines]) + "\n")
    return path


def pressed(folder: Path, data: Path, declared: dict[str, Any], algorithm: str, shares: dict[str, float]) -> Release:
    """A release of ``data``, charged to a new account."""
    folder.mkdir()
    (folder / "people.json").write_text(json.dumps(declared))
    said = apply_declaration_file(folder / "people.json").validate()
    request = Request(Contender.from_text(algorithm), 3, 4.0, 1e-6)
    words = find_words(said, today="2026-11-24", chosen_after_looking="k = 3")
    release_request = ReleaseRequest(request, words, Division(**shares), who="somebody", seen=SEEN)
    with patch.object(accounts, "_read_time", lambda: "2026-11-24T00:00:00+00:00"):  # which the card prints
        account = Account.new(folder / "people.sqlite", name="people", cap_epsilon=9.0, cap_delta=1e-5)
        return publish(preflight(release_request, open_file(data), said, account))


class Recorded(Playback):
    """A tape that also keeps what it gave, as noise does."""

    def __init__(self, recording: AnswerRecording) -> None:
        super().__init__(recording)
        self.released = recording.answers


def played_over(first: Release, *given: Any) -> Release:
    """A press in which every source of noise gives the answers of ``first``."""
    recordings = first.played.transcript.recordings

    def replay(parts: Iterable[str]) -> Mapping[str, Recorded]:
        return {part: Recorded(recordings[part]) for part in parts}

    with unrehearsed(), patch.object(releasing, "make_fresh_noise", replay):
        return pressed(*given)


# Of one algorithm every kind; of each other one, another.
OTHERS = ("bought bounds", "replace", "segments", "all parts", "described", "persons", "every kind", "plain")
CASES = [*(("auto", kind) for kind in KINDS), *zip(RELEASABLE[1:], OTHERS, strict=True)]


# Run where the package, and no library, is compiled anew without assertions, and with another number of threads.
VERIFIES = """
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
kept = SourceFileLoader.get_code
def get_code(self, name):
    if name.partition(".")[0] != "dpviz":
        return kept(self, name)
    return compile(self.get_data(self.path), self.path, "exec", dont_inherit=True, optimize=1)
SourceFileLoader.get_code = get_code
from dpviz.releases.verifying import verify
for path in map(Path, sys.argv[1:]):
    print(path.stem, verify(path.read_bytes()).holds)
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a release of each algorithm but auto is kept as a zip."""
    return tmp_path_factory.mktemp("zips")


@pytest.fixture(scope="module")
def whole_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("whole")


@pytest.fixture(scope="module")
def whole(whole_folder: Path) -> Release:
    """A release of all parts whose owner says what there is to say."""
    words = {"intended_use": "Planning", "authors": ["A", "B"], "sector": "Government", "justification": "Because."}
    declared, shares = KINDS["all parts"]
    with unrehearsed():
        data = write_rows(whole_folder, "rows", 0, 900)
        return pressed(whole_folder / "one", data, {**declared, "release": words}, "auto", shares)


@pytest.mark.some(9)
@pytest.mark.parametrize(("algorithm", "kind"), CASES)
def test_the_same_draws_over_any_other_rows_give_the_same_bytes(
    tmp_path: Path, kept: Path, algorithm: str, kind: str
) -> None:
    declared, shares = {**KINDS[kind][0], "title": "Visitors"}, KINDS[kind][1]
    # Under replace the number of rows is public, and the same for all neighbours.
    numbers = (900, 900) if kind == "replace" else (900, 421, 0) if algorithm == "auto" else (900, 421)
    tables = [write_rows(tmp_path, f"rows{seed}", seed, rows) for seed, rows in enumerate(numbers)]
    first = pressed(tmp_path / "first", tables[0], declared, algorithm, shares)
    assert verify(first.data).holds
    if algorithm != "auto":
        (kept / f"{algorithm.replace(':', ' ')} {kind}.zip").write_bytes(first.data)
    for place, other in enumerate(tables[1:]):
        again = played_over(first, tmp_path / f"again{place}", other, declared, algorithm, shares)
        assert list(again.files) == list(first.files)
        assert not [name for name, data in first.files.items() if again.files[name] != data], other.name


def test_they_hold_in_another_process_with_more_threads_than_this_one(kept: Path, whole: Release) -> None:
    # From the tests before, which they hold in, of every second algorithm; and one of all parts.
    (kept / "one more.zip").write_bytes(whole.data)
    zips = sorted(kept.glob("*.zip"))[::2]
    numbers = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    env = {**os.environ, **dict.fromkeys(numbers, "3")}
    command = [sys.executable, "-c", VERIFIES, *map(str, zips)]
    done = subprocess.run(command, env=env, cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{path.stem} True" for path in zips]


def test_every_part_spends_its_share_and_all_together_what_is_charged(whole: Release, whole_folder: Path) -> None:
    shares, asked = whole.played.shares, whole.played.asked.release_request
    parts = whole.played.parts.entries
    assert (*parts,) == ("bounds", "missing cells", "algorithm", "segments") and {*shares} == {*parts}
    for part, own in parts.items():
        spent = compute_total_epsilon(own[0].accounting, own, delta=shares[part].delta)
        assert shares[part].epsilon * 0.999 < spent <= shares[part].epsilon * (1 + 1e-9), part
    assert sum(share.epsilon for share in shares.values()) == pytest.approx(asked.request.epsilon, rel=1e-12)
    (charge,) = Account.open(whole_folder / "one" / "people.sqlite").standing().charges
    assert (charge.epsilon, charge.delta) == (asked.request.epsilon, asked.delta) == (4.0, 1e-6)


def test_nothing_of_the_owners_words_is_lost_on_the_way(whole: Release) -> None:
    asked, files = whole.played.asked, whole.files
    words = find_words(asked.declared, today="2026-11-24")
    assert asked.release_request.words == replace(words, chosen_after_looking="k = 3")
    assert asked.release_request.words.authors == ("A", "B") and asked.release_request.seen == SEEN
    tuning = yaml.safe_load(files[CARD])["deployment"]["implementation"]["preprocessing_and_hyperparameter_tuning"]
    for told, times in ((tuning, 1), (files[PAGE].decode(), 2)):
        assert told.count(asked.release_request.seen.words) == times and "k = 3" in told
    assert "<dt>data</dt><dd>Visitors</dd>" in files[PAGE].decode()


def test_bounds_that_were_bought_are_those_of_every_file_and_no_others_pass(whole: Release) -> None:
    declared = apply_declaration(whole.files[DECLARATION].decode()).validate()
    assert all(is_bought(bounds.origin) and None not in bounds for bounds in declared.bounds.values())
    for end, bounds in (("lower", declared.lower), ("upper", declared.upper)):
        wider = replace(declared, **{end: tuple(10.0 * bound + 1.0 for bound in bounds)})
        assert DECLARATION in findings({**whole.files, DECLARATION: to_json(wider).encode()}), end


@pytest.mark.parametrize("algorithm", ["auto", "eugkm"])
def test_a_run_says_the_same_of_any_other_rows(tmp_path: Path, algorithm: str) -> None:
    towns = {"bounds": PLAIN["bounds"] | {"town": {"categories": ["North", "South"]}}}
    (tmp_path / "people.json").write_text(json.dumps(PLAIN | towns | {"origins": {}, "bounds_origin": "law"}))
    said = replace(apply_declaration_file(tmp_path / "people.json").validate(), n_public=900)
    one, other = (
        declare(open_file(write_rows(tmp_path, "rows", seed, rows)), said) for seed, rows in ((0, 900), (1, 37))
    )
    noise, request = ExactNoise(), Request(Contender(algorithm), 3, 0.2, 1e-6)
    first = ReleaseRecord.of(run_request(request, one.private, noise=noise), one)
    again = ReleaseRecord.of(
        run_request(request, other.private, noise=Playback(AnswerRecording(noise.coins, tuple(noise.released)))), other
    )
    assert first.warnings == again.warnings and first.to_dict() == again.to_dict()
    assert first.warnings, "a request of which nothing is to be warned shows no warning that leaks"
