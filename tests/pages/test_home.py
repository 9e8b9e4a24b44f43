"""Home: the picture that answers to ε, and three ways in."""

from __future__ import annotations

import math
import re
import subprocess
import sys

import numpy as np
import pytest

from benchmarks.home_picture import CLUSTERS, EPSILONS, MOST_DOTS
from dpviz.app.charts.home_pictures import count_right_guesses
from dpviz.app.ui.home import describe_privacy, read_stored, read_trial
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.open_table import declare
from dpviz.tables.named import SAMPLES, sample
from tests.pages.site import everything_shown, fine, press, visit
from tests.pages.tables import players
from tests.pages.test_titles import best_of_kmeans, found_by_hand


def test_the_slider_shows_draws_that_were_made_beforehand(monkeypatch: pytest.MonkeyPatch):
    at = visit()
    monkeypatch.setattr("dpviz.runs.one_run.run_steps", lambda *_, **__: pytest.fail("something ran"))
    found, seen = [], set()
    for epsilon in EPSILONS:
        fine(at.select_slider(key="home:epsilon").set_value(epsilon).run())
        (said,) = (words.value for words in at.subheader if words.value.startswith("At ε"))
        (shown,) = (one for image in at.get("image") for one in image.proto.imgs if one.alt.startswith(said))
        assert said.startswith(f"At ε = {epsilon:g}, ")
        found.append(15 if "all 15 groups" in said else int(said.split(", ")[1].split(" of 15")[0]))
        seen.add(shown.url)
        right = int(re.search(r"at most (\d+) now", everything_shown(at)).group(1))
        assert right == count_right_guesses(math.exp(epsilon) / (1 + math.exp(epsilon)))
    assert found == sorted(found) and found[0] < 5 and found[-1] == 15
    assert len(seen) == len(EPSILONS), "every ε has a picture of its own"
    assert not at.get("plotly_chart"), "the drawing library is most of what a cold start would wait for"


def test_what_is_found_is_counted_from_the_rows():
    table = declare(*sample("fifteen").load())
    rows = np.asarray(clip_rows(table.private.reveal(note="test"), table.domain.region).points)
    assert len(read_trial().points) >= MOST_DOTS / 2 and set(read_stored()["samples"]) == {one.id for one in SAMPLES}
    for draw in read_trial().draws.values():
        by_hand = found_by_hand(rows, draw.centers, best_of_kmeans(rows, CLUSTERS).cluster_centers_)
        words = "all 15" if by_hand == 15 else f"{by_hand} of 15"
        assert draw.finding.startswith(f"At ε = {draw.epsilon:g}, {words} groups ")


def test_the_picture_opens_in_explore_at_its_epsilon():
    at = visit()
    fine(at.select_slider(key="home:epsilon").set_value(0.1).run())
    fine(at.button(key="home:open").click().run())
    assert at.session_state["epsilon"] == 0.1 and at.session_state["k"] == CLUSTERS


def test_three_doors_lead_to_their_pages_and_none_to_a_page_that_is_not_there():
    at = visit()
    doors = {button.label: button for button in at.button if (button.key or "").startswith("door:")}
    assert list(doors) == ["Bring my file", "Lessons", "Explore an algorithm"]
    fine(at)
    assert press(at, "Bring my file").title[0].value == "Data"


def test_what_epsilon_promises_is_its_factor_on_the_odds():
    for epsilon in EPSILONS:
        said = float(describe_privacy(epsilon).split("more than ")[1].split(" %")[0])
        assert 1 + said / 100 == pytest.approx(math.exp(epsilon), rel=0.005)


def test_every_sample_has_a_tile_and_bring_a_file_leads_to_data():
    at = visit()
    tiles = {button.key for button in at.button if (button.key or "").startswith("open:")}
    assert tiles == {f"open:{sample.id}" for sample in SAMPLES}
    assert press(at, "Bring a file").title[0].value == "Data"


@pytest.mark.parametrize(("sample", "k"), [("outlier", 3), pytest.param("words", None, marks=pytest.mark.slow)])
def test_one_click_opens_a_sample_with_its_k_and_goes_to_explore(sample, k):
    at = visit()
    fine(at.button(key=f"open:{sample}").click().run())
    assert k is None or at.session_state["k"] == k
    table = at.session_state["visit:table"]
    if "run:result" in at.session_state:
        assert at.session_state["run:result"].table_key == table.key
    else:  # a long one goes to a worker
        assert at.session_state["run:pending"].table is table
    assert table.kind.value == "public" and table.n_public == table.loaded.n_rows


def test_a_stand_in_is_simulated_opened_and_explored_and_refused_with_bounds_upside_down():
    at = visit()
    next(box for box in at.number_input if box.label == "lower bound").set_value(100.0)
    press(at, "Simulate and open")
    assert at.error[0].value.startswith("The bounds are not finite with lower")
    assert "visit:table" not in at.session_state and "Traceback" not in everything_shown(at)
    for label, value in {"n, rows": 300, "d, columns": 3, "lower bound": -5.0, "upper bound": 5.0}.items():
        next(box for box in at.number_input if box.label == label).set_value(value)
    press(at, "Simulate and open")
    table = at.session_state["visit:table"]
    assert (table.kind.value, table.n_public, table.domain.dim) == ("simulated", 300, 3)
    assert (table.domain.lower == -5).all() and (table.domain.upper == 5).all()
    assert players(at)


@pytest.mark.slow
def test_the_first_visitor_of_home_does_not_wait_for_what_makes_releases():
    heavy = ("dp_accounting", "opendp", "sklearn", "scipy.stats", "dpviz.releases.releasing")
    home = ", ".join(f"dpviz.app.ui.{n}" for n in ("home", "rail", "runner"))
    ask = f"import sys, {home}\nprint([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
