"""Shared settings: ε box and slider in step, links that may carry settings, δ from n, forms from cards."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from dpviz.algorithms import CARDS


def _controls() -> None:
    import streamlit as st

    from dpviz.app.ui.controls import draw_delta_control, draw_epsilon_control, draw_k_control, read_request

    draw_epsilon_control(beside=True)  # this app has one page
    draw_delta_control()
    draw_k_control()
    asked = read_request()
    st.code(f"{asked.epsilon:g} {asked.delta:g} {asked.k}")


def _form(card_id: str) -> None:
    import streamlit as st

    from dpviz.algorithms.registry import CARDS
    from dpviz.app.ui.bench.catalogue import draw_params_form
    from dpviz.app.ui.controls import read_request

    draw_params_form(CARDS[card_id])
    st.json(dict(read_request(card_id).params))


def _app(**link: str) -> AppTest:
    at = AppTest.from_function(_controls)
    for name, value in link.items():
        at.query_params[name] = value
    return at.run()


def test_slider_moves_the_box_and_the_box_the_slider():
    at = _app()
    at.select_slider[0].set_value(3.0).run()
    assert at.number_input(key="epsilon").value == 3.0
    at.number_input(key="epsilon").set_value(2.2).run()
    assert at.select_slider[0].value == 2.2
    assert at.code[0].value.startswith("2.2 ") and not at.exception


def test_a_link_sets_what_is_allowed():
    assert _app().code[0].value == "1 1e-06 5"
    assert _app(epsilon="0.3", k="7").code[0].value == "0.3 1e-06 7"


def test_a_link_with_nonsense_changes_nothing():
    for epsilon in ("-1", "99", "nan", "inf", "x", ""):
        at = _app(epsilon=epsilon, k="0", delta="2")
        assert not at.exception, epsilon
        assert at.code[0].value == "1 1e-06 5", epsilon


def _moved_elsewhere() -> None:
    import streamlit as st

    from dpviz.app.ui.controls import _follow_slider

    st.session_state["epsilon"] = 2.0
    _follow_slider()
    st.code(st.session_state["epsilon"])


def test_a_move_of_a_slider_that_is_gone_changes_nothing():
    at = AppTest.from_function(_moved_elsewhere).run()
    assert not at.exception
    assert at.code[0].value == "2.0"


def test_every_card_gives_a_form_whose_defaults_ask_for_nothing():
    for card_id, card in CARDS.items():
        at = AppTest.from_function(_form, args=(card_id,)).run()
        assert not at.exception, card_id
        assert at.json[0].value == "{}", card_id
        asked = len(at.number_input) + len(at.toggle) + len(at.selectbox) + len(at.get("button_group"))
        assert asked == len(card.params.param_fields()), card_id


def test_a_changed_parameter_is_asked_for():
    at = AppTest.from_function(_form, args=("dplloyd",)).run()
    at.number_input(key="dplloyd.rounds").set_value(3).run()
    assert at.json[0].value == '{"rounds": 3}'
