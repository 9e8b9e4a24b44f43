"""The bench: a sample from the start, a dropped file through its sentence, private rows only on a press."""

import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app.ui.bench.hand import Hand
from dpviz.core import ACCESS_LOG, AccessKind
from dpviz.runs import Contender
from dpviz.tables import GIVEN, FileKind, propose
from tests import waiting
from tests.app.ui.bench.test_hand import CUSTOMERS
from tests.command_line import write_points
from tests.pages.site import ROUTER, everything_shown, fine, open_form, paste_bounds, press, upload, visit
from tests.pages.tables import players


def in_hand(at: AppTest) -> Hand:
    return at.session_state["bench:hand"]


def say(at: AppTest, **typed: str) -> AppTest:
    """Type into words of the sentence; ``low_age`` is the lower bound of age."""
    hand = in_hand(at)
    for word, text in typed.items():
        hand = hand.type_in(word.replace("_", ":", 1), text)
    hand = replace(hand, request=replace(hand.request, epsilon=at.session_state["epsilon"]))
    at.session_state["bench:hand"] = hand
    for name in ("k", "delta", "epsilon", "algorithm"):
        at.session_state[name] = getattr(hand.request, name)
    return fine(at.run())


def move(at: AppTest, epsilon: float) -> AppTest:
    """Let the handle of the axis go at an ε."""
    at.session_state["epsilon"] = epsilon
    at.session_state["visit:settings"]["bench:said"] = in_hand(at).number
    return fine(at.run())


def dropped(raw: bytes = CUSTOMERS, name: str = "customers.csv") -> AppTest:
    return upload(visit(), raw, name)


def declared() -> AppTest:
    """A visit that has said everything about its file but where bounds are from."""
    at = open_form(say(dropped(), rows="5,000"), "person")
    press(at, "So it is")
    return say(at, low_age="0", high_age="100", low_spend="0", high_spend="900", low_visits="0", high_visits="10")


def test_a_sample_is_in_it_from_the_start_and_epsilon_of_the_axis_is_run_at_once_and_stays_in_the_link():
    at = visit()
    assert in_hand(at).title == "Fifteen clusters" and not in_hand(at).gaps
    assert players(at) and at.title[0].value.startswith("At ε = 1")
    assert "bench:run" not in {button.key for button in at.button}, "nobody is in it: it runs by itself"
    press(at, "Release at ε = 1")
    assert "made-up" not in everything_shown(at), "the headline says what draws on these very rows keep"
    move(press(at, "Back to the picture"), 0.3)
    assert at.session_state["run:result"].request.epsilon == 0.3 and at.title[0].value.startswith("At ε = 0.3")
    assert at.query_params["epsilon"] == "0.3" and at.query_params["k"] == "15"
    for page in ("read.py", "home.py"):
        at.switch_page(page)
        fine(at.run())
    assert (in_hand(at).request.k, at.session_state["epsilon"]) == (15, 0.3)
    assert at.session_state["run:result"].request.epsilon == 0.3


def test_a_link_says_table_epsilon_k_delta_and_parameters():
    at = AppTest.from_file(str(ROUTER), default_timeout=waiting.SECONDS)
    asked = {"table": "outlier", "epsilon": "0.7", "k": "4", "delta": "1e-07", "algorithm": "eugkm", "eugkm.theta": "3"}
    at.query_params.update(asked)
    request = fine(at.run()).session_state["run:result"].request
    assert (request.epsilon, request.k, request.contender) == (0.7, 4, Contender("eugkm", {"theta": 3.0}))
    assert {name: at.query_params[name] for name in asked} == asked


def test_a_dropped_file_waits_for_what_is_missing_and_the_look_at_its_first_rows_is_counted():
    at = dropped()
    assert in_hand(at).title == "customers" and in_hand(at).declaration.kind is FileKind.PRIVATE
    assert at.title[0].value == "Say what is missing" and not players(at)
    assert ACCESS_LOG.count(in_hand(at).content.fingerprint).looks == {AccessKind.PROPOSAL: 1}
    assert in_hand(at).request.k == 5, "k of the last table says nothing of this one"
    assert propose(in_hand(at).content).list_kind("id") == ["customer_id"]


def test_a_complete_sentence_shows_made_up_rows_and_no_row_of_the_file_until_run_is_pressed():
    at = declared()
    table, window = at.session_state["visit:table"], in_hand(at).find_window()
    assert table.title == "customers" and table.n_public == 5_000
    assert at.session_state["run:result"].table_key != table.key and "made-up rows" in everything_shown(at)
    looks = ACCESS_LOG.count(table.source_key)
    assert looks.looks == {AccessKind.PROPOSAL: 1} and not looks.runs
    epsilon = at.session_state["epsilon"]
    assert window.least <= epsilon <= window.most or window.least > window.most, "the handle begins inside it"
    press(at, f"Run at ε = {0.8 * epsilon:g}")
    result = at.session_state["run:result"]
    assert result.table_key == table.key and result.request.epsilon == pytest.approx(0.8 * epsilon)
    assert not any("Run at" in button.label for button in at.button)
    press(at, f"Release at ε = {epsilon:g}")
    assert f"at ε = {epsilon:g}" in at.subheader[0].value, "in the place of the picture"
    assert press(at, "Back to the picture").title[0].value.startswith("At ε")
    assert say(move(at, 0.5), loss="20").session_state["epsilon"] == 0.5, "the handle stays where it is put"


def test_of_a_file_that_cannot_be_read_it_is_said_why_and_how_to_declare_it():
    at = dropped(b"\x00\x01\x02")
    assert at.error[0].proto.title == "This table cannot be opened" and not in_hand(at).declaration.columns
    assert any(button.label.startswith("How the file is read") for button in at.button)


def test_json_is_taken_into_the_sentence_and_what_it_leaves_open_is_a_gap():
    at = press(dropped(), "How the file is read, or its declaration as JSON")
    paste_bounds(at, '{"bounds": {"age": [18, null], "spend": [0, 900]}, "bounds_origin": "law"}')
    assert at.title[0].value == "Say what is missing" and in_hand(at).gaps == ["high:age"], "a gap of the sentence"
    told = [json.loads(part.proto.json) for part in at.get("bidi_component") if "pieces" in part.proto.json]
    said = {piece["id"]: piece["text"] for one in told for piece in one["pieces"] if isinstance(piece, dict)}
    assert (said["low:age"], said["high:age"], said["high:spend"]) == ("18", "", "900")
    at = say(at, high_age="90")
    assert in_hand(at).declaration.bounds["age"][:2] == (18.0, 90.0) and at.title[0].value.startswith("At ε")


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch):
    """A visit that begins where ``dpviz open DATA`` named this."""

    def begin(data: object, page: str = "home.py") -> AppTest:
        monkeypatch.setenv(GIVEN, str(data))
        return visit(page)

    return begin


def test_what_the_command_line_names_is_open_when_a_visit_begins_and_a_link_to_another_page_stays_there(
    given, tmp_path
) -> None:
    bounds = {"bounds": {"x": [-1, 1], "y": [-1, 1]}, "bounds_origin": "known beforehand"}
    points = write_points(tmp_path / "points.csv", declaration_file=bounds)
    for data, title, k in (("fifteen", "Fifteen clusters", 15), (points, "points", 5)):
        at = given(data)
        assert in_hand(at).title == title == at.session_state["visit:table"].title
        assert at.session_state["k"] == k
    assert given("fifteen", "learn.py").title[0].value == "Predict, then see"
