"""A link's settings survive until the first table is open: without one, no page has a use for them yet."""

from __future__ import annotations

import pytest

from tests.pages.tables import app_on, sound


@pytest.mark.parametrize(("asked", "found"), [({"epsilon": "3.5", "k": "4"}, (3.5, 4)), ({"epsilon": "99"}, (1.0, 15))])
def test_a_link_is_kept_while_no_table_is_open(asked: dict[str, str], found: tuple[float, int]) -> None:
    app = app_on("learn.py", None, **asked)
    app.query_params.clear()
    sound(app.switch_page("home.py").run())
    assert (app.session_state["epsilon"], app.session_state["k"]) == found


def test_bench_and_compare_without_a_table_open_a_sample_with_what_the_link_asks_for() -> None:
    for page in ("home.py", "compare.py"):
        app = app_on(page, None, epsilon="3.5", k="4")
        assert (app.session_state["epsilon"], app.session_state["k"]) == (3.5, 4), page


def test_an_epsilon_is_told_with_all_its_digits_and_has_no_more_than_are_told() -> None:
    app = app_on("home.py", None, epsilon="1.09861228", k="4")
    told = app.session_state["run:result"].request.epsilon
    assert told == 1.09861
    assert app.title[0].value.startswith(f"At ε = {told}") and f"Release at ε = {told}" in [b.label for b in app.button]
