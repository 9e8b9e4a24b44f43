"""Grids: as link and file they read back to the same, and nothing else is taken for one."""

import datetime
import itertools
import json
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dpviz.core.check import RequestError
from dpviz.runs.request import Contender
from dpviz.runs.study.grid import USUAL, StudyGrid
from tests.cases import for_each
from tests.runs.asked import grids

WHO = (Contender("auto"), Contender("eugkm", {"preset": "su"}))
GRID = StudyGrid(WHO, (5,), StudyGrid.list_epsilons(0.1, 10.0), (1e-6,), repeats=7)
FIRST_VERSION = {
    **{"dpviz": "trade-off study", "version": 1, "epsilon_from": 0.1, "epsilon_to": 10.0},
    **{"k": 5, "delta": 1e-6, "repeats": 7},
    "algorithms": [{"algorithm": "auto", "params": {}}, {"algorithm": "eugkm", "params": {"preset": "su"}}],
}


def back(grid: StudyGrid) -> tuple[StudyGrid, StudyGrid]:
    """The grid out of its link and out of its file."""
    query = dict(parse_qsl(grid.to_query(), keep_blank_values=True))
    return StudyGrid.from_query(query), StudyGrid.from_yaml(grid.to_yaml())


def test_a_link_is_short_and_nobody_has_to_decode_it() -> None:
    grid = StudyGrid(WHO, (5,), (0.1, 0.3, 1.0), (1e-6,), repeats=5)
    assert grid.to_query() == "algorithms=auto,eugkm:preset=su&epsilons=0.1,0.3,1&ks=5&deltas=1e-06&repeats=5"
    said = {"algorithms": "auto,eugkm:preset=su", "epsilons": "0.1,0.3,1", "view": "Frontier"}
    assert StudyGrid.from_query(said) == grid
    assert StudyGrid.from_query({"algorithms": "auto,auto", "ks": "5,5"}) == USUAL, "named twice counts once"
    assert StudyGrid.from_query({}) == USUAL == replace(grid, contenders=(Contender("auto"),), epsilons=USUAL.epsilons)
    assert StudyGrid.from_query({"ks": "2,3"}, usual=grid) == replace(grid, ks=(2, 3))
    assert back(replace(grid, contenders=())) == (replace(grid, contenders=()),) * 2


@pytest.mark.slow
@given(grids())
def test_link_and_file_read_back_to_the_same(grid: StudyGrid) -> None:
    assert back(grid) == (grid, grid)
    assert [trial.key for trial in back(grid)[0].list_trials()] == [trial.key for trial in grid.list_trials()]


def test_what_the_first_version_wrote_is_read() -> None:
    assert StudyGrid.from_yaml(yaml.safe_dump(FIRST_VERSION)) == StudyGrid.from_yaml(json.dumps(FIRST_VERSION)) == GRID


@for_each(
    ("change", "words"),
    [
        ({"dpviz": "something else"}, "not the settings"),
        ({"rows": [[1.0, 2.0]]}, 'settings: it has unknown keys "rows"'),
        ({"algorithms": "auto"}, "'auto', not a list of algorithms"),
        ({"algorithms": [{"algorithm": "eugkm", "params": 3}]}, "3, not a mapping of names"),
        ({"algorithms": [{"algorithm": "dplloyd", "params": {"rounds": [1]}}]}, "a list of 1, not a number or a word"),
        ({"algorithms": [{"algorithm": "dplloyd", "params": {"rounds": 10**400}}]}, "rounds is a number of 401 digits"),
        ({"algorithms": [{"algorithm": "eugkm"} for _ in range(101)]}, "more than 100"),
        ({"epsilon_to": float("nan")}, "epsilon_to"),
        ({"k": 10**400}, "k is a number of 401 digits"),
        ({"delta": datetime.date(2020, 1, 1)}, "delta: it is something else, such as a date, not a number"),
    ],
)
def test_what_is_wrong_is_said(change: dict[object, object], words: str) -> None:
    text = yaml.safe_dump(FIRST_VERSION | change)
    with pytest.raises(RequestError, match=words) as said:
        StudyGrid.from_yaml(text)
    assert len(str(said.value)) < 600


BILLION = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in itertools.pairwise("abcdefghi")
)


_NO_SETTINGS = [
    *(BILLION, "a: &a [*a]", "k: &k 5\nrepeats: *k", "<<: &a {k: 5}", "? [1]\n: 2", "k: 2020-13-45", "\x00"),
    *("{" * 3000, "- " * 5000, "a: " * 3000, "k: !!float x", "k: !!timestamp x", "9" * 6000, "k: " + "9" * 6000),
]
_NO_YAML = ["", "[1]", "[" * 5000, "k: [", "a" * 200_000, "k: !!python/object:os.system x", "k: !!binary x"]


@pytest.mark.slow
@for_each(("text", "words"), [*((text, ".") for text in _NO_SETTINGS), *((text, "no YAML") for text in _NO_YAML)])
def test_no_text_takes_long_or_falls_over(text: str, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        StudyGrid.from_yaml(text)


@for_each(
    ("query", "words"),
    [
        ({"algorithms": "eugkm:preset"}, "no name or no value"),
        ({"algorithms": "eugkm:preset=su:preset=su"}, "twice"),
        ({"algorithms": "x" * 30_000}, "longer than"),
        ({"epsilons": "1,,x"}, "epsilon is not a number"),
        ({"ks": "1," * 101}, "more than 100"),
        ({"seed": "0.5"}, "without a point"),
    ],
)
def test_a_link_that_cannot_be_used_says_why(query: dict[str, str], words: str) -> None:
    with pytest.raises(RequestError, match=words) as said:
        StudyGrid.from_query(query)
    assert len(str(said.value)) < 600


@given(st.dictionaries(st.sampled_from(["algorithms", "epsilons", "ks", "deltas", "ns", "repeats", "seed"]), st.text()))
def test_any_link_is_a_grid_or_a_sentence(query: dict[str, str]) -> None:
    try:
        grid = StudyGrid.from_query(query)
    except RequestError:
        return
    assert back(grid) == (grid, grid)
