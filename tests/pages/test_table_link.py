"""The link names the open table: a reload opens samples and synthetic tables again, forgets files, and says so."""

import numpy as np
from streamlit.testing.v1 import AppTest

from tests import waiting
from tests.cases import about, for_each
from tests.pages import site
from tests.pages.site import ROUTER, everything_shown, fine, of_kind, open_form, press, upload, visit

PEOPLE = b"age,income\n31,1000\n44,774193.25\n"
BOUNDS = '{"bounds": {"age": [0, 120], "income": [0, 1000000]}, "n_public": 2}'


def follow(link: dict[str, str], page: str = "home.py") -> AppTest:
    """A new visit by a link."""
    at = AppTest.from_file(str(ROUTER), default_timeout=waiting.SECONDS)
    if page != "home.py":
        at.switch_page(page)
    at.query_params.update(link)
    return fine(at.run())


def reloaded(at: AppTest, page: str = "home.py") -> AppTest:
    """A new visit by the link of another one, as the browser's reload begins it."""
    return follow({name: at.query_params[name] for name in at.query_params}, page)


def opened(at: AppTest):
    return at.session_state["visit:table"]


def declared(kind: str | None = None) -> AppTest:
    """A visit that has said everything of its file."""
    at = upload(visit("data.py"), PEOPLE)
    return fine(site.paste_bounds(of_kind(at, kind) if kind else at, BOUNDS).run())


def test_a_stand_in_is_made_again_of_the_same_numbers() -> None:
    at = open_form(visit(), "table")
    for label, value in {"lower bound": -5.5, "upper bound": 70.0, "n, rows": 321, "clusters put in": 3}.items():
        next(box for box in at.number_input if box.label == label).set_value(value)
    before = opened(press(at, "Simulate and open"))
    assert at.query_params["table"] == "stand-in,-5.5,70,321,2,3,0.05"
    again = opened(reloaded(at))
    assert again.key == before.key and again.n_public == 321
    np.testing.assert_array_equal(again.loaded.frame, before.loaded.frame)


@for_each("whole", [True, False])
def test_a_private_file_is_forgotten_and_both_pages_say_so(whole: bool) -> None:
    at = declared() if whole else fine(upload(visit("data.py"), PEOPLE).run())
    assert "reload of the page forgets this file" in everything_shown(at) and at.query_params["table"] == "file"
    again = reloaded(at)
    (said,) = again.info
    assert said.value == "The table of this link is not open, because a reload forgets files: open it again."
    assert opened(again).title == "Fifteen clusters"
    assert not any(cell in everything_shown(again) for cell in ("774193", "774,193"))


def test_a_public_file_is_found_again_until_it_is_said_to_be_private() -> None:
    at = declared("public")
    assert "forgets this file" not in everything_shown(at)
    before, link = opened(at), at.query_params["table"]
    assert link.startswith("file.") and "774193" not in link
    assert opened(reloaded(at)).key == before.key
    of_kind(fine(site.turn_to(at, "data.py").run()), "private")
    assert fine(at.run()).query_params["table"] == "file"
    again = follow({"table": link})
    assert opened(again).key != before.key and "open it again" in again.info[0].value


def test_a_link_that_names_no_table_says_what_to_do_and_opens_nothing() -> None:
    ranges = ("nan,1,5,2,2,0.05", "0,1,5,2,2", "0,1,5000000,1000,2,0.05", "-1e308,1e308,50,2,2,0.05")
    for named in (
        "../../etc/passwd",
        "![i](http://x.invalid/y.png)",
        "x" * 5000,
        *(f"stand-in,{numbers}" for numbers in ranges),
    ):
        with about(named[:99]):
            at = follow({"table": named})
            assert "open it again" in at.info[0].value and "x.invalid" not in everything_shown(at)
            assert at.session_state["bench:hand"].title == "Fifteen clusters"


DEAR = ("stand-in,0,1,1000000,25,1000,0.1", "stand-in,0,1,5,2,1000,0.1", "thermometers", "mixture64", "words")


@for_each("page", ["home.py", "compare.py"])
def test_a_link_that_costs_much_computes_nothing_until_somebody_presses(page: str, monkeypatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a table was made at a GET")

    for made in ("simulate", "make_thermometers", "make_gaussian_mixture", "make_bag_of_words"):
        monkeypatch.setattr(f"dpviz.tables.made_tables.{made}", refuse)
        monkeypatch.setattr(f"dpviz.tables.named.{made}", refuse, raising=False)
    for link in DEAR:
        with about(link):
            at = follow({"table": link}, page)
            assert "visit:table" not in at.session_state and at.button(key="open_linked").label == "Open it"
            assert not any("open it again" in said.value for said in at.info)


def test_what_a_link_asks_for_is_made_by_a_job_once_somebody_presses() -> None:
    at = press(follow({"table": "stand-in,0,1,800000,2,3,0.1"}), "Open it")
    job = at.session_state["ways_in:making"].job
    assert "visit:table" not in at.session_state and not [one for one in at.button if one.key == "open_linked"]
    assert job.wait(waiting.SECONDS)
    table = opened(fine(at.run()))
    assert "ways_in:making" not in at.session_state
    assert table.n_public == 800_000 and at.session_state["k"] == 3
