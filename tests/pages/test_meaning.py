"""What ε means: five parts, on rows that anybody may look at, with whatever table is open; and the glossary's words."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app.ui.meaning import PARTS
from dpviz.tables import FileKind
from dpviz.words.glossary import read_glossary
from tests.cases import for_each
from tests.pages.site import fine, sample_table
from tests.pages.tables import app_on, open_blobs, sound, text_of


def opened(part: str, table=None, **link: str) -> AppTest:
    return app_on("meaning.py", table, part=part, **link)


def titles(app) -> list[str]:
    return [title.value for title in app.title]


def test_the_odds_are_exact_to_three_digits():
    app = opened("odds", epsilon="1")
    assert titles(app) == ["At ε = 1, a belief of 50 % becomes at most 73.1 %"] and "2.72" in text_of(app)
    app.slider(key="meaning:prior").set_value(10)
    assert titles(sound(app.run())) == ["At ε = 1, a belief of 10 % becomes at most 23.2 %"]


def test_all_parts_are_offered_and_a_link_chooses_one_or_else_the_first():
    app = opened("others", epsilon="2")
    assert "larger ε than 2" in titles(app)[0] and app.query_params["part"] == "others"
    assert list(app.segmented_control(key="part").options) == [part.label for part in PARTS.values()]
    assert "belief" in titles(opened("nonsense"))[0]


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch):
    """A part whose runs on both tables have begun by themselves: a few tell as much of the page as many."""
    monkeypatch.setattr("dpviz.runs.meaning.membership.PAIRS", 8)
    monkeypatch.setattr("dpviz.app.ui.meaning._LEAST", 4)

    def begin(part: str) -> AppTest:
        app = opened(part, epsilon="1")
        assert len(titles(app)) == 1 and "nothing is spent" in text_of(app) and app.button(key="meaning:more")
        return app

    return begin


@pytest.mark.slow
def test_asking_again_begins_by_itself_and_the_second_world_appears_after_a_guess(begun):
    begun("again")
    app = begun("worlds")
    assert titles(app) == ["The same table, with one person and without"]
    app.pills(key="meaning:guess").set_value("much farther")
    assert "You said: much farther" in text_of(sound(app.run()))
    assert titles(app)[0].startswith("At ε = 1, one person moves the nearest centre by")


@pytest.mark.slow
@for_each("kind", [FileKind.PUBLIC, FileKind.PRIVATE])
def test_a_private_table_is_never_attacked(kind: FileKind, begun):
    offered = opened("attack", open_blobs(kind)).selectbox(key="meaning:table").options
    assert offered[0] == "One rich person" and len(offered) == (2 if kind is FileKind.PUBLIC else 1)


@pytest.mark.slow
def test_more_runs_add_to_the_first_and_the_person_can_be_chosen(begun):
    app = begun("attack")
    app.button(key="meaning:more").click()
    assert "16 runs with the person and 16 without" in text_of(sound(app.run()))
    row = app.number_input(key=f"meaning:row:{sample_table('outlier').source_key}")
    assert row.value == 46
    row.set_value(3)
    assert len(titles(sound(app.run()))) == 1


TERMS = read_glossary()


def glossary(**link: str) -> AppTest:
    """The page Learn with its glossary unfolded."""
    return app_on("learn.py", None, drawer="glossary", **link)


def listed(app: AppTest) -> list[str]:
    """The ids of the words on the page, in its order."""
    ids = {term.says: term.id for term in TERMS.values()}
    return [ids[part.value] for part in app.main.markdown if part.value in ids]


def typed(app: AppTest, words: str) -> list[str]:
    app.text_input(key="glossary:typed").set_value(words)
    return listed(fine(app.run()))


def test_every_word_stands_there_once_with_its_number_its_picture_and_a_link_to_itself():
    app = glossary()
    shown, groups = "\n".join(part.value for part in app.markdown), {term.group: None for term in TERMS.values()}
    assert listed(app) == list(TERMS) and all(term.number in shown for term in TERMS.values())
    assert len(app.get("plotly_chart")) == sum(bool(term.picture) for term in TERMS.values())
    assert [header.value for header in app.subheader if header.value in groups] == list(groups)
    links = {link.proto.label: link.proto.query_string for link in app.main.get("page_link")}
    words = {f"**{term.name}**": f"term={term.id}" for term in TERMS.values()}
    assert {label: query for label, query in links.items() if query} == words
    app.session_state["glossary"] = False
    assert "drawer" in app.query_params and "drawer" not in fine(app.run()).query_params, "closed"


def test_a_link_brings_its_word_to_the_top_and_typing_goes_before_it_by_name_and_else_by_what_is_said():
    app = glossary(term="delta")
    assert listed(app)[0] == "delta" and sorted(listed(app)) == sorted(TERMS)
    assert listed(glossary(term="<b>nonsense")) == list(TERMS)
    assert typed(app, "coreset") == ["coreset"] and typed(app, "  NOISE ") == ["noise", "laplace", "gaussian"]
    assert typed(app, "dice") == [] and app.info[0].value.startswith("No word here")
    assert typed(app, "yardstick") == [term.id for term in TERMS.values() if "yardstick" in term.says] == ["kmeans"]
    assert sorted(typed(app, "")) == sorted(TERMS)
