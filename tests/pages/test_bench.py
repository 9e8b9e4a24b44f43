"""The bench: a sample from the start, a dropped file through its sentence, private rows only on a press."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app.ui.bench.hand import Hand
from dpviz.core.private_session import ACCESS_LOG, AccessKind
from dpviz.runs.request import Contender
from dpviz.tables.declarations import FileKind
from dpviz.tables.proposal import propose
from tests import waiting
from tests.app.ui.bench.test_hand import CUSTOMERS
from tests.pages.site import ROUTER, everything_shown, fine, paste_bounds, press, sample_table, upload, visit
from tests.pages.tables import players


def in_hand(at: AppTest) -> Hand:
    return at.session_state["bench:hand"]


def hold(at: AppTest, hand: Hand) -> AppTest:
    """Put another hand where the sentence would."""
    at.session_state["bench:hand"] = hand
    for name in ("k", "delta", "epsilon", "algorithm"):
        at.session_state[name] = getattr(hand.request, name)
    return fine(at.run())


def say(at: AppTest, **typed: str) -> AppTest:
    """Type into words of the sentence; ``low_age`` is the lower bound of age."""
    hand = in_hand(at)
    for word, text in typed.items():
        hand = hand.type_in(word.replace("_", ":", 1), text)
    return hold(at, replace(hand, request=replace(hand.request, epsilon=at.session_state["epsilon"])))


def move(at: AppTest, epsilon: float) -> AppTest:
    """Let the handle of the axis go at an ε."""
    at.session_state["epsilon"] = epsilon
    at.session_state["visit:settings"]["bench:said"] = in_hand(at).number
    return fine(at.run())


def opens(at: AppTest, word: str) -> AppTest:
    """Open the form of a word."""
    at.session_state["bench:word"] = word
    return fine(at.run())


def dropped(raw: bytes = CUSTOMERS, name: str = "customers.csv") -> AppTest:
    return upload(visit(), raw, name)


def declared() -> AppTest:
    """A visit that has said everything about its file but where bounds are from."""
    at = opens(say(dropped(), rows="5,000"), "person")
    press(at, "So it is")
    return say(at, low_age="0", high_age="100", low_spend="0", high_spend="900", low_visits="0", high_visits="10")


def test_a_sample_is_in_it_from_the_start_with_its_picture_and_the_menu_says_bench():
    at = visit()
    assert in_hand(at).title == "Fifteen clusters" and not in_hand(at).gaps
    assert players(at) and at.title[0].value.startswith("At ε = 1")
    assert "bench:run" not in {button.key for button in at.button}, "nobody is in it: it runs by itself"


def test_epsilon_of_the_axis_is_run_at_once_and_stays_in_the_link_whatever_page_is_opened_meanwhile():
    at = move(visit(), 0.3)
    assert at.session_state["run:result"].request.epsilon == 0.3 and at.title[0].value.startswith("At ε = 0.3")
    assert at.query_params["epsilon"] == "0.3" and at.query_params["k"] == "15"
    at.switch_page("read.py")
    fine(at.run())
    at.switch_page("home.py")
    fine(at.run())
    assert (in_hand(at).request.k, at.session_state["epsilon"]) == (15, 0.3)
    assert at.session_state["run:result"].request.epsilon == 0.3


def test_a_link_says_table_epsilon_k_delta_and_parameters():
    at = AppTest.from_file(str(ROUTER), default_timeout=waiting.SECONDS)
    asked = {"table": "outlier", "epsilon": "0.7", "k": "4", "delta": "1e-07", "algorithm": "eugkm", "eugkm.theta": "3"}
    for name, value in asked.items():
        at.query_params[name] = value
    fine(at.run())
    request = at.session_state["run:result"].request
    assert (request.epsilon, request.k, request.contender) == (0.7, 4, Contender("eugkm", {"theta": 3.0}))
    assert {name: at.query_params[name] for name in asked} == asked


def test_a_link_to_a_table_that_is_gone_says_so_and_shows_a_sample():
    at = AppTest.from_file(str(ROUTER), default_timeout=waiting.SECONDS)
    at.query_params["table"] = "file"
    fine(at.run())
    assert "a reload forgets files" in at.info[0].value and players(at)


def test_a_dropped_file_waits_for_what_is_missing_and_the_look_at_its_first_rows_is_counted():
    at = dropped()
    assert in_hand(at).title == "customers" and in_hand(at).declaration.kind is FileKind.PRIVATE
    assert at.title[0].value == "Say what is missing" and not players(at)
    assert ACCESS_LOG.count(in_hand(at).content.fingerprint).looks == {AccessKind.PROPOSAL: 1}
    assert in_hand(at).request.k == 5, "k of the last table says nothing of this one"


def test_a_complete_sentence_shows_made_up_rows_and_no_row_of_the_file_until_run_is_pressed():
    at = declared()
    table = at.session_state["visit:table"]
    assert table.title == "customers" and table.n_public == 5_000
    assert at.session_state["run:result"].table_key != table.key and "made-up rows" in everything_shown(at)
    looks = ACCESS_LOG.count(table.source_key)
    assert looks.looks == {AccessKind.PROPOSAL: 1} and not looks.runs
    epsilon = at.session_state["epsilon"]
    press(at, f"Run at ε = {0.8 * epsilon:g}")
    result = at.session_state["run:result"]
    assert result.table_key == table.key and result.request.epsilon == pytest.approx(0.8 * epsilon)
    assert not any("Run at" in button.label for button in at.button)
    assert any(button.label == f"Release at ε = {epsilon:g}" for button in at.button)


def test_the_handle_of_a_private_table_begins_inside_its_window_and_stays_where_it_is_put():
    at = declared()
    window = in_hand(at).find_window()
    assert window.least <= at.session_state["epsilon"] <= window.most or window.least > window.most
    at = say(move(at, 0.5), loss="20")
    assert at.session_state["epsilon"] == 0.5


def test_what_is_typed_wrong_stands_in_its_word_and_the_last_picture_is_not_of_it():
    at = say(declared(), high_age="-1")
    assert "not below" in in_hand(at).refused["high:age"] and at.title[0].value == "Say what is missing"
    assert players(say(at, high_age="99")) is not None and at.session_state["visit:table"].domain.upper[0] == 99


def test_a_run_that_fails_is_the_headline(monkeypatch: pytest.MonkeyPatch):
    at = visit()

    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("dpviz.app.ui.runner.run_request", fail)
    at = move(at, 0.2)
    assert at.title[0].value == "The run broke off (MemoryError)"


def test_of_a_file_that_cannot_be_read_it_is_said_why_and_how_to_declare_it():
    at = dropped(b"\x00\x01\x02")
    assert at.error[0].proto.title == "This table cannot be opened" and not in_hand(at).declaration.columns
    assert any(button.label.startswith("How the file is read") for button in at.button)


def test_public_rows_are_counted_and_the_curve_is_of_the_very_table():
    at = opens(dropped(), "kind")
    fine(at.radio(key=f"bench:{in_hand(at).number}:kind").set_value(FileKind.PUBLIC).run())
    assert in_hand(at).rows.low == 80 and in_hand(at).declaration.n_public == 80


def test_json_is_taken_into_the_sentence_and_what_it_leaves_open_is_a_gap():
    at = press(dropped(), "How the file is read, or its declaration as JSON")
    paste_bounds(at, '{"bounds": {"age": [18, null], "spend": [0, 900]}, "bounds_origin": "law"}')
    assert at.title[0].value == "Say what is missing" and in_hand(at).gaps == ["high:age"], "a gap of the sentence"
    told = [json.loads(part.proto.json) for part in at.get("bidi_component") if "pieces" in part.proto.json]
    said = {piece["id"]: piece["text"] for one in told for piece in one["pieces"] if isinstance(piece, dict)}
    assert (said["low:age"], said["high:age"], said["high:spend"]) == ("18", "", "900")
    at = say(at, high_age="90")
    assert in_hand(at).declaration.bounds["age"][:2] == (18.0, 90.0) and at.title[0].value.startswith("At ε")


def test_the_release_stands_in_the_place_of_the_picture_at_the_same_epsilon():
    at = declared()
    epsilon = at.session_state["epsilon"]
    press(at, f"Release at ε = {epsilon:g}")
    assert f"at ε = {epsilon:g}" in at.subheader[0].value
    press(at, "Back to the picture")
    assert at.title[0].value.startswith("At ε")


def test_an_open_table_is_taken_up_with_what_was_declared_of_it():
    at = visit(table=sample_table("outlier", FileKind.PRIVATE))
    assert in_hand(at).declaration.kind is FileKind.PRIVATE and not in_hand(at).gaps
    assert propose(in_hand(dropped()).content).list_kind("id") == ["customer_id"]
