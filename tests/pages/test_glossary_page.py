"""Glossary: all words, the one that a link names first, and those that are looked for."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from dpviz.words.glossary import Term, read_glossary
from tests.pages.site import fine
from tests.pages.tables import app_on


def _listed(app: AppTest) -> list[str]:
    """The ids of the words on the page, in its order."""
    ids: dict[str, str] = {term.says: term.id for term in read_glossary().values()}
    return [ids[part.value] for part in app.main.markdown if part.value in ids]


def _opened(**link: str) -> AppTest:
    """The page Learn with its glossary unfolded."""
    return app_on("learn.py", None, drawer="glossary", **link)


def _typed(app: AppTest, words: str) -> list[str]:
    app.text_input(key="glossary:typed").set_value(words)
    return _listed(fine(app.run()))


def test_every_word_stands_there_once_with_its_number_and_its_picture():
    app = _opened()
    assert _listed(app) == list(read_glossary())
    shown = "\n".join(part.value for part in app.markdown)
    assert all(term.number in shown for term in read_glossary().values())
    assert len(app.get("plotly_chart")) == sum(bool(term.picture) for term in read_glossary().values())
    groups = dict.fromkeys(term.group for term in read_glossary().values())
    assert [header.value for header in app.subheader if header.value in groups] == list(groups)


def test_a_link_brings_its_word_to_the_top():
    app = _opened(term="delta")
    assert _listed(app)[0] == "delta" and sorted(_listed(app)) == sorted(read_glossary())
    assert _listed(_opened(term="<b>nonsense")) == list(read_glossary())


def test_each_word_is_a_link_to_itself():
    links = {link.proto.label: link.proto.query_string for link in _opened().main.get("page_link")}
    words = {f"**{term.name}**": f"term={term.id}" for term in read_glossary().values()}
    assert {label: query for label, query in links.items() if query} == words


def test_typing_narrows_the_list_by_name_and_else_by_what_is_said():
    app = _opened()
    assert _typed(app, "  NOISE ") == ["noise", "laplace", "gaussian"]
    assert _typed(app, "dice") == []
    assert app.info[0].value.startswith("No word here")
    by_sentence: list[Term] = [term for term in read_glossary().values() if "yardstick" in term.says]
    assert _typed(app, "yardstick") == [term.id for term in by_sentence] == ["kmeans"]
    assert _typed(app, "") == list(read_glossary())


def test_what_is_typed_goes_before_what_the_link_names():
    app = _opened(term="delta")
    assert _typed(app, "coreset") == ["coreset"]


def test_a_glossary_that_is_closed_is_asked_for_no_more():
    app = _opened()
    assert "drawer" in app.query_params
    app.session_state["glossary"] = False
    assert "drawer" not in fine(app.run()).query_params
