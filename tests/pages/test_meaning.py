"""What ε means: five parts, on rows that anybody may look at, with whatever table is open."""

from __future__ import annotations

import pytest

from dpviz.app.ui.meaning import PARTS
from dpviz.tables import FileKind
from tests.pages.site import sample_table
from tests.pages.tables import app_on, open_blobs, sound, text_of


def opened(part: str, table=None, **link: str):
    return app_on("meaning.py", table, part=part, **link)


def titles(app) -> list[str]:
    return [title.value for title in app.title]


def test_the_odds_are_exact_to_three_digits():
    app = opened("odds", epsilon="1")
    assert titles(app) == ["At ε = 1, a belief of 50 % becomes at most 73.1 %"]
    assert "2.72" in text_of(app)
    app.slider(key="meaning:prior").set_value(10)
    assert titles(sound(app.run())) == ["At ε = 1, a belief of 10 % becomes at most 23.2 %"]


def test_all_parts_are_offered_and_a_link_chooses_one():
    app = opened("others", epsilon="2")
    assert "larger ε than 2" in titles(app)[0]
    assert list(app.segmented_control(key="part").options) == [part.label for part in PARTS.values()]
    assert app.query_params["part"] == "others"


def test_a_link_to_no_part_opens_the_first():
    assert "belief" in titles(opened("nonsense"))[0]


def begun(part: str):
    """A part whose runs on both tables have begun by themselves."""
    app = opened(part, epsilon="1")
    assert len(titles(app)) == 1
    assert "nothing is spent" in text_of(app)
    assert app.button(key="meaning:more")
    return app


@pytest.mark.slow
def test_asking_again_begins_by_itself(quick_attacks: None):
    begun("again")


@pytest.mark.slow
def test_the_second_world_appears_after_a_guess(quick_attacks: None):
    app = begun("worlds")
    assert titles(app) == ["The same table, with one person and without"]
    app.pills(key="meaning:guess").set_value("much farther")
    sound(app.run())
    assert "You said: much farther" in text_of(app)
    assert titles(app)[0].startswith("At ε = 1, one person moves the nearest centre by")


@pytest.mark.slow
@pytest.mark.parametrize("kind", [FileKind.PUBLIC, FileKind.PRIVATE])
def test_a_private_table_is_never_attacked(kind: FileKind, quick_attacks: None):
    app = opened("attack", open_blobs(kind))
    offered = app.selectbox(key="meaning:table").options
    assert offered[0] == "One rich person"
    assert len(offered) == (2 if kind is FileKind.PUBLIC else 1)


@pytest.mark.slow
def test_more_runs_add_to_the_first_and_the_person_can_be_chosen(quick_attacks: None):
    app = begun("attack")
    app.button(key="meaning:more").click()
    assert "16 runs with the person and 16 without" in text_of(sound(app.run()))
    row = app.number_input(key=f"meaning:row:{sample_table('outlier').source_key}")
    assert row.value == 46
    row.set_value(3)
    sound(app.run())
    assert len(titles(app)) == 1


@pytest.fixture
def quick_attacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few runs tell as much of the page as many."""
    monkeypatch.setattr("dpviz.runs.meaning.membership.PAIRS", 8)
    monkeypatch.setattr("dpviz.app.ui.meaning._LEAST", 4)
