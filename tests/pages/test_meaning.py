"""What ε means: five parts, on rows that anybody may look at, with whatever table is open; and the glossary's words."""

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.tables import FileKind
from dpviz.words.glossary import read_glossary
from tests.cases import for_each
from tests.pages.site import fine
from tests.pages.tables import app_on, open_blobs, sound, text_of


def opened(part: str, table=None, **link: str) -> AppTest:
    return app_on("meaning.py", table, part=part, **link)


def titles(app) -> list[str]:
    return [title.value for title in app.title]


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch):
    """A part whose runs on both tables have begun by themselves: a few tell as much of the page as many."""
    monkeypatch.setattr("dpviz.runs.meaning.membership.PAIRS", 8)
    monkeypatch.setattr("dpviz.app.ui.meaning._LEAST", 8)

    def begin(part: str) -> AppTest:
        app = opened(part, epsilon="1")
        assert len(titles(app)) == 1 and "nothing is spent" in text_of(app) and app.button(key="meaning:more")
        return app

    return begin


def test_asking_again_begins_by_itself_and_the_second_world_appears_after_a_guess(begun):
    begun("again")
    app = begun("worlds")
    assert titles(app) == ["The same table, with one person and without"]
    app.pills(key="meaning:guess").set_value("much farther")
    assert "You said: much farther" in text_of(sound(app.run()))
    assert titles(app)[0].startswith("At ε = 1, one person moves the") and "times the noise" not in text_of(app)


@pytest.mark.slow
@for_each("kind", [FileKind.PUBLIC, FileKind.PRIVATE])
def test_a_private_table_is_never_attacked(kind: FileKind, begun):
    offered = opened("attack", open_blobs(kind)).selectbox(key="meaning:table").options
    assert offered[0] == "One rich person" and len(offered) == (2 if kind is FileKind.PUBLIC else 1)


@for_each(("algorithm", "slack"), [("auto", True), ("dplloyd", False)])
def test_slack_is_told_of_an_algorithm_that_has_some_and_of_no_other(algorithm: str, slack: bool):
    assert ("is slack" in text_of(opened("odds", algorithm=algorithm))) is slack


TERMS = read_glossary()


def glossary(**link: str) -> AppTest:
    """The page Learn with its glossary unfolded."""
    return app_on("learn.py", None, drawer="glossary", **link)


def listed(app: AppTest) -> list[str]:
    """The ids of the words on the page, in its order."""
    ids = {term.says: term.id for term in TERMS.values()}
    return [ids[part.value] for part in app.main.markdown if part.value in ids]


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
