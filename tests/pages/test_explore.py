"""The bench with a table: every algorithm runs, steps, shows and hides truth; nothing runs twice or leaves revealed."""

import dataclasses
import json

import pytest
from scipy.sparse import csr_array

from dpviz.algorithms import CARDS, list_private_cards
from dpviz.app.ui import runner
from dpviz.core import PrivateTable
from dpviz.runs import OpenTable
from dpviz.tables import FileKind
from tests.cases import for_each
from tests.contract.tables import make_blobs
from tests.example_packages import Entry, bringing, example
from tests.pages import tables
from tests.pages.site import open_ledger
from tests.pages.tables import LOSS, app_on, ask, numbers, open_blobs, read_animation, run_again, sound, text_of

IDS = [card.id for card in list_private_cards()]


def explored(algorithm: str, table: OpenTable | None = None, *, k: int = 3):
    """Explore after one run: by itself on a public table, by a press on a private one."""
    app = app_on("home.py", table or open_blobs(), algorithm=algorithm, k=str(k))
    return app if result(app).table_key == app.session_state["visit:table"].key else run_again(app)


def stopped(app) -> bool:
    """Whether neither button that runs can be pressed."""
    return all(button.disabled for button in app.button if button.key in ("bench:run", "bench:again"))


def result(app) -> runner.Result:
    return app.session_state["run:result"]


def with_word(app, word: str):
    """The page with the form of a word open."""
    app.session_state["bench:word"] = word
    return sound(app.run())


def booked(app) -> list[float]:
    return [entry.record.epsilon for entry in app.session_state["visit:books"]]


_ONE_OF_EACH_KIND = {"dplloyd", "lsh-local", "k-averages"}


@pytest.mark.parametrize(
    "algorithm",
    [
        *("auto", *sorted(_ONE_OF_EACH_KIND), "kmeans++"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in IDS if name not in {"auto", *_ONE_OF_EACH_KIND}),
    ],
)
def test_every_algorithm_is_played_step_by_step_hides_truth_and_is_not_run_again(algorithm: str) -> None:
    app = explored(algorithm)
    first, animation = result(app), read_animation(app)
    run, spent = first.run, sum(step["cost"] for step in animation["steps"])
    assert [step["told"] for step in animation["steps"]] == [frame.step.title for frame in run.frames]
    assert spent == pytest.approx(run.spent_epsilon if run.private else 0, abs=1e-4)
    for step in animation["steps"]:
        for shot in (step, *step["sides"]):
            assert shot["data"] and shot["title"] and shot["alt"]
    assert animation["rows"] and numbers(app)[LOSS].endswith("×")
    hidden = read_animation(sound(tables.truth_switch(app).set_value(False).run()))
    assert LOSS not in numbers(app) and not hidden["rows"]
    assert algorithm == "kmeans++" or "revealed" not in json.dumps(hidden["steps"])
    assert result(app) is first and len(booked(app)) == 1, "a rerun runs nothing again"


def test_a_private_table_waits_for_run_and_says_what_it_spends() -> None:
    app = app_on("home.py", open_blobs(FileKind.PRIVATE), algorithm="dplloyd", k="3", epsilon="1")
    table = app.session_state["visit:table"]
    assert result(app).table_key != table.key and "nothing leaves." in text_of(app), "made-up rows until then"
    assert result(run_again(app)).table_key == table.key
    ask(app, epsilon=2.0)
    assert "this visit 0.8 so far" in text_of(app)
    assert result(app).run.epsilon == 0.8 and "press Run to apply" in read_animation(app)["said"]
    assert result(run_again(app)).run.epsilon == 1.6 and read_animation(app)["said"] == ""
    own = [entry for entry in app.session_state["visit:books"] if entry.source_key == table.source_key]
    assert len(own) == 2


def test_another_draw_has_other_noise_is_booked_and_leaves_the_last_five_as_ghosts() -> None:
    app = explored("dplloyd")
    drawn = [result(app).run.unit_centers]
    for number in range(2, 8):
        drawn.append(result(run_again(app)).run.unit_centers)
        assert len(booked(app)) == number
    earlier = result(app).earlier
    assert len(earlier) == 5 and all((kept == old).all() for kept, old in zip(earlier, drawn[-2:-7:-1], strict=True))
    assert len({centers.tobytes() for centers in drawn}) == len(drawn)
    ask(app, epsilon=2.0)
    assert result(app).run.epsilon == booked(app)[-1] == 2.0 and read_animation(app)["said"] == ""
    assert result(sound(app.run())).earlier == ()


def test_a_run_that_breaks_off_leaves_the_last_picture_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> None:
        raise ZeroDivisionError("a value of the rows: 4711")

    app = explored("dplloyd")
    kept = result(app)
    with monkeypatch.context() as patched:
        patched.setattr(runner, "run_request", breaks)
        ask(app, epsilon=2.0)
    assert result(app) is kept
    assert "broke off (ZeroDivisionError)" in read_animation(app)["said"] and "4711" not in text_of(app)
    assert result(sound(app.run())) is kept
    assert result(run_again(app)).run.epsilon == 2.0


def test_what_cannot_run_says_why_before_it_is_run_and_keeps_the_page() -> None:
    app = explored("dplloyd")
    kept = result(app)
    ask(app, k=900)
    assert stopped(app) and "k is 900" in text_of(app) and result(app) is kept
    private = open_blobs(FileKind.PRIVATE)
    assert stopped(app_on("home.py", private, algorithm="kmeans++")), "no reference behind its owner's back"
    sparse = PrivateTable(csr_array(make_blobs(400)), private.domain, n_public=private.n_public)
    for algorithm, refused in {"balcan": True, "balcan-sparse": False}.items():
        app = app_on("home.py", dataclasses.replace(private, private=sparse), algorithm=algorithm)
        assert stopped(app) == refused == (f"{CARDS[algorithm].title} would write out" in text_of(app))
    assert not sparse.accesses


def test_the_word_of_the_algorithm_opens_all_of_them_with_what_each_shows_and_one_is_chosen_there() -> None:
    app = with_word(ask(app_on("home.py", open_blobs()), delta=0.0), "algorithm")
    said = text_of(app)
    for card in CARDS.values():
        entry = app.button(key=f"catalogue:{card.id}")
        assert entry.label.startswith(card.title) and card.when in entry.help
        assert f"![A step of {card.title}: " in said
    assert "hash tree · coreset · starts · centres" in said
    assert "too few records" in said and "k-averages needs delta > 0" in said
    app.button(key="catalogue:lsh-local").click()
    assert sound(app.run()).session_state["algorithm"] == "lsh-local"


def test_what_a_package_brings_has_a_badge_and_what_is_broken_of_it_a_sentence() -> None:
    with bringing(example("honest").CARD, Entry("broken", lambda: 7)):
        app = app_on("home.py", open_blobs(), algorithm="random-lloyd")
        assert app.session_state["algorithm"] == "random-lloyd"
        said = text_of(with_word(app, "algorithm"))
    assert said.count(":red-badge[not ours]") == 2, "in the list and above its story"
    assert "The algorithm 'broken' of some-package 1.2 is left out" in said


def test_a_long_run_is_in_the_books_though_another_page_is_open_and_can_be_cancelled(monkeypatch) -> None:
    monkeypatch.setattr(runner, "_SECONDS_INLINE", -1.0)
    app = open_ledger(app_on("home.py", open_blobs()))
    assert [entry.record.algorithm for entry in app.session_state["visit:books"]] == ["auto"]
    app = app_on("home.py", open_blobs(), registry=tables.UnderWayRegistry())
    app.button(key="run:cancel").click()
    assert "run:result" not in sound(app.run()).session_state
    assert "cancelled" in " ".join(info.proto.title for info in app.info)


@for_each(("algorithm", "dim"), [("dplloyd", 3), ("dplloyd", 2), ("k-averages", 3)])
def test_centres_of_three_columns_are_profiles_and_a_refusal_is_written_across_them(algorithm: str, dim: int) -> None:
    figures = explored(algorithm, open_blobs(dim=dim)).get("plotly_chart")
    profiles = [figure.proto for figure in figures if "on a lane" in figure.proto.alt]
    assert len(profiles) == (dim > 2)
    for profile in profiles:
        notes = json.loads(profile.spec)["layout"].get("annotations", [{"text": ""}])
        assert ("refused (⊥)" in notes[-1]["text"]) == (algorithm == "k-averages")
        assert algorithm != "dplloyd" or profile.alt.startswith("Three segments on a lane for each of three columns")
