"""Explore: every algorithm runs, steps, shows and hides truth; nothing is run twice; nothing revealed leaves."""

from __future__ import annotations

import dataclasses
import json

import pytest
from scipy.sparse import csr_array

from dpviz.algorithms.registry import CARDS, private_cards
from dpviz.privacy.room import PrivateTable
from dpviz.runs.open_table import OpenTable
from dpviz.table.declaration import FileKind
from dpviz.ui import runner, step_player
from tests.contract.tables import blobs
from tests.pages.tables import app_on, open_blobs, open_pairs, sound, text_of

IDS = [card.id for card in private_cards()]


def choose(app, algorithm: str):
    """Pick the family, then the algorithm."""
    app.pills(key="family").set_value(CARDS[algorithm].family)
    sound(app.run())
    app.radio(key="algorithm").set_value(algorithm)
    return sound(app.run())


def run(app):
    app.button(key="run").click()
    return sound(app.run())


def explored(algorithm: str, table: OpenTable | None = None, *, k: int = 3):
    return run(app_on("explore.py", table or open_blobs(), algorithm=algorithm, k=str(k)))


def result(app) -> runner.Result:
    return app.session_state["run:result"]


def pictures(app) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def step_slider(app):
    return next(slider for slider in app.slider if slider.label == "Step of the algorithm")


def tile(app, label: str) -> str:
    return next(metric.value for metric in app.metric if metric.label == label)


_ONE_OF_EACH_KIND = {"dplloyd", "lsh-local", "k-averages"}


@pytest.mark.parametrize(
    ("algorithm", "at_every_step"),
    [
        *((name, False) for name in ("auto", *sorted(_ONE_OF_EACH_KIND), "kmeans++")),
        *(pytest.param(name, True, marks=pytest.mark.slow) for name in (*IDS, "kmeans++")),
    ],
)
def test_every_algorithm_runs_steps_and_hides_truth(algorithm: str, at_every_step: bool) -> None:
    """In the slow run, every algorithm with all that stands beside each step; in the fast one, one of each kind."""
    app = explored(algorithm)
    steps = len(result(app).run.frames)
    assert pictures(app)
    seen: set[str] = set()
    for step in sorted({1, (steps + 1) // 2 if at_every_step else 1, steps}, reverse=True) if steps > 1 else ():
        if step != app.session_state["frames:1:at"]:
            step_slider(app).set_value(step)
            sound(app.run())
        assert app.session_state["frames:1:at"] == step
        for companion in app.segmented_control:
            if companion.key and ":beside:" in companion.key:
                for option in companion.options:
                    if at_every_step or option not in {*seen, companion.value}:
                        companion.set_value(option)
                        sound(app.run())
                seen |= {*companion.options}
    app.sidebar.toggle[0].set_value(False)
    sound(app.run())
    assert tile(app, "Loss ratio") == "hidden"
    assert "revealed" not in json.dumps(pictures(app)) or algorithm == "kmeans++"


@pytest.mark.parametrize(
    "algorithm", [name if name in _ONE_OF_EACH_KIND else pytest.param(name, marks=pytest.mark.slow) for name in IDS]
)
def test_a_rerun_runs_nothing_again(algorithm: str) -> None:
    app = explored(algorithm)
    first = result(app)
    sound(app.run())
    app.pills(key="family").set_value("Reference")
    sound(app.run())
    assert result(app) is first
    assert len(app.session_state["visit:books"]) == 1


def test_a_changed_setting_marks_the_result_as_older_until_the_next_run() -> None:
    app = explored("dplloyd")
    assert "matches the settings" in text_of(app)
    app.number_input(key="epsilon").set_value(2.0)
    sound(app.run())
    assert "older settings" in text_of(app) and "matches the settings" not in text_of(app)
    run(app)
    assert "matches the settings" in text_of(app)
    assert result(app).run.epsilon == 2.0 and result(app).number == 2


def test_two_runs_draw_different_noise_and_a_seed_repeats_it() -> None:
    app = explored("dplloyd")
    first = result(app).run.centers
    assert (first != result(run(app)).run.centers).any()
    app.toggle(key="study_noise").set_value(True)
    sound(app.run())
    assert any("simulation" in warning.value for warning in app.warning)
    once = result(run(app)).run.centers
    assert (once == result(run(app)).run.centers).all()
    assert "simulation, seed 0" in text_of(app)


def test_play_walks_from_the_first_step_to_the_last_and_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_player, "_SECONDS_A_STEP", 1e-9)
    app = explored("dplloyd")
    steps = len(result(app).run.frames)
    app.button(key="frames:1:play").click()
    seen = []
    for _ in range(steps + 1):
        sound(app.run())
        seen.append(app.session_state["frames:1:at"])
    assert seen == [*range(2, steps + 1), steps, steps]
    assert app.button(key="frames:1:play").label == "Play"


def test_back_and_next_move_by_one_step_and_stop_at_the_ends() -> None:
    app = explored("dplloyd")
    steps = len(result(app).run.frames)
    assert app.button(key="frames:1:Next").disabled
    app.button(key="frames:1:Back").click()
    assert step_slider(sound(app.run())).value == steps - 1
    step_slider(app).set_value(1)
    assert sound(app.run()).button(key="frames:1:Back").disabled
    app.button(key="frames:1:Next").click()
    assert step_slider(sound(app.run())).value == 2


def test_dragging_the_slider_ends_the_play(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_player, "_SECONDS_A_STEP", 1e6)  # it must not move on by itself
    app = explored("dplloyd")
    app.button(key="frames:1:play").click()
    sound(app.run())
    assert app.session_state["frames:1:playing"]
    step_slider(app).set_value(2)
    sound(app.run())
    assert (app.session_state["frames:1:at"], app.session_state["frames:1:playing"]) == (2, False)


def test_a_private_file_shows_no_truth_until_its_owner_asks_and_then_it_counts() -> None:
    app = explored("dplloyd", open_blobs(FileKind.PRIVATE))
    assert tile(app, "Loss ratio") == "hidden"
    assert "revealed" not in json.dumps(pictures(app))
    assert not app.session_state["visit:table"].private.looks
    app.sidebar.toggle[0].set_value(True)
    sound(app.run())
    assert tile(app, "Loss ratio").endswith("×")
    assert app.session_state["visit:table"].private.looks


def test_the_reference_cannot_run_on_a_private_file_behind_its_owners_back() -> None:
    app = choose(app_on("explore.py", open_blobs(FileKind.PRIVATE)), "kmeans++")
    assert app.button(key="run").disabled


def test_label_accuracy_is_shown_where_labels_are_known() -> None:
    app = explored("dplloyd", open_blobs(labelled=True))
    assert tile(app, "Label accuracy").endswith("%")


@pytest.mark.parametrize("dim", [1, 6, 30])
def test_the_plane_can_be_chosen_in_many_dimensions(dim: int) -> None:
    app = explored("dplloyd", open_blobs(dim=dim))
    planes = [box for box in app.selectbox if box.label == "Plane"]
    assert bool(planes) == (dim > 2)
    if planes:
        planes[0].set_value(next(plane for plane in planes[0].options if "random" in plane))
        assert "random direction" in json.dumps(pictures(sound(app.run())))


def test_a_request_that_cannot_be_served_says_why_before_it_is_run_and_keeps_the_page() -> None:
    app = explored("dplloyd")
    kept = result(app)
    app.number_input(key="k").set_value(900)
    sound(app.run())
    assert app.button(key="run").disabled
    assert "cannot run" in text_of(app) and "k is 900" in text_of(app)
    assert result(app) is kept


@pytest.mark.parametrize("algorithm", ["balcan", "balcan-sparse"])
def test_who_cannot_serve_a_sparse_table_says_so_before_a_run(algorithm: str) -> None:
    table = open_blobs()
    sparse = PrivateTable(csr_array(blobs(400)), table.domain, n_public=table.n_public)
    app = app_on("explore.py", dataclasses.replace(table, private=sparse), algorithm=algorithm)
    refused = not CARDS[algorithm].sparse
    assert app.button(key="run").disabled == refused
    assert (f"{CARDS[algorithm].title} would write out" in text_of(app)) == refused
    assert all(("would write out" in caption) for caption in app.radio(key="algorithm").proto.captions[2:])
    assert not sparse.looks


def test_the_other_algorithms_of_a_family_say_so_too() -> None:
    app = choose(app_on("explore.py", open_blobs()), "dplloyd")
    app.number_input(key="delta").set_value(0.0)
    choose(sound(app.run()), "k-averages")
    others = dict(zip(app.radio(key="algorithm").options, app.radio(key="algorithm").proto.captions, strict=True))
    assert all(("delta > 0" in caption) == (title != "k-averages") for title, caption in others.items())
    assert "k-averages needs delta > 0" in text_of(app) and app.button(key="run").disabled
    app.number_input(key="delta").set_value(1e-6)
    sound(app.run())
    assert not app.button(key="run").disabled and "too few records" in text_of(app)
    assert "Too few records" in app.radio(key="algorithm").proto.captions[0]


def test_all_algorithms_stand_on_one_sheet_and_one_of_them_is_chosen_there() -> None:
    app = app_on("explore.py", open_blobs())
    app.session_state["catalogue"] = True
    said = text_of(sound(app.run()))
    for card in CARDS.values():
        assert f"**{card.title}**" in said and card.when in said
    assert "too few records" in said and "cannot run" not in said
    app.button(key="catalogue:lsh-local").click()
    sound(app.run())
    assert app.radio(key="algorithm").value == "lsh-local"


def test_a_link_carries_settings_and_a_wrong_one_does_no_harm() -> None:
    app = app_on("explore.py", open_blobs(), algorithm=IDS[-1], epsilon="3.5", k="4")
    assert app.radio(key="algorithm").value == IDS[-1]
    assert app.number_input(key="epsilon").value == 3.5
    assert app.number_input(key="k").value == 4
    wrong = app_on("explore.py", open_blobs(), algorithm="nonsense", epsilon="-1", k="many")
    assert wrong.radio(key="algorithm").value in CARDS


def test_a_long_run_goes_to_a_worker_and_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_SECONDS_INLINE", -1.0)
    app = app_on("explore.py", open_blobs(), workers=True)
    app.button(key="run").click()
    sound(app.run())
    pending = app.session_state["run:pending"]
    job = pending.job
    assert job.wait(60)
    sound(app.run())
    assert result(app).run.algorithm == "auto"
    assert "run:pending" not in app.session_state
    assert len(app.session_state["visit:books"]) == 1


def test_a_run_that_ends_while_another_page_is_open_is_in_the_books(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_SECONDS_INLINE", -1.0)
    app = app_on("explore.py", open_blobs())
    app.button(key="run").click()
    sound(app.run())
    sound(app.switch_page("ledger.py").run())
    assert [booked.record.algorithm for booked in app.session_state["visit:books"]] == ["auto"]


def test_a_run_can_be_cancelled_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_SECONDS_INLINE", -1.0)
    app = app_on("explore.py", open_blobs(n=200_000), workers=True)
    app.button(key="run").click()
    sound(app.run())
    app.button(key="run:cancel").click()
    sound(app.run())
    assert "run:result" not in app.session_state
    assert "cancelled" in " ".join(info.proto.title for info in app.info)


def test_without_a_table_the_page_says_what_to_do() -> None:
    app = app_on("explore.py", None)
    assert app.button(key="open_a_table")
    assert not app.get("plotly_chart")


@pytest.mark.some(1)
@pytest.mark.parametrize("number", [1700, 60])
def test_a_table_of_tuples_is_shown_point_by_point(number: int) -> None:
    app = app_on("explore.py", open_pairs(number), **{"k-noisy-centers.rows": "tuples"}, algorithm="k-noisy-centers")
    app.number_input(key="k").set_value(2)
    done = result(run(sound(app.run()))).run
    assert done.points_per_row == 2 and done.domain.columns == ("x", "y")
    assert float(tile(app, "Loss ratio").rstrip("×").replace(",", "")) >= 1
    assert "a point against" in text_of(app)
    step_slider(app).set_value(2)
    sound(app.run())
    (companion,) = [control for control in app.segmented_control if control.key and ":beside:" in control.key]
    assert companion.options == ["Balls", *(["Votes"] if number > 1600 else []), "What is asked", "Table"]
    for option in companion.options:
        companion.set_value(option)
        sound(app.run())
    assert "revealed" in json.dumps(pictures(app))


def test_what_no_tuple_algorithm_can_serve_is_said_before_the_run() -> None:
    link = {"k-averages.rows": "tuples", "algorithm": "k-averages", "k": "2"}
    assert "declare the relation replace" in text_of(app_on("explore.py", open_blobs(), **link))
    app = app_on("explore.py", open_pairs(60), **link)
    app.number_input(key="k").set_value(3)
    assert "does not hold 3 points" in text_of(sound(app.run()))
