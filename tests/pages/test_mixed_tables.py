"""A table of all declared kinds on every page: nothing raises; clusters are told in the words of the declaration."""

import json
from dataclasses import replace

import pytest

from dpviz.runs import OpenTable
from dpviz.runs.synthetic_tables import synthesise_declared
from dpviz.tables.declarations import FileKind, apply_declaration
from tests.cases import for_each
from tests.pages.tables import app_on, open_below, text_of

SAID = {
    "age": [17, 90],
    "income": {"bounds": [1, 1e6], "scale": "log"},
    "region": {"categories": ["N", "S"]},
    "sex": {"categories": ["F", "M"], "closed": True},
    "stage": {"order": ["I", "II", "III"]},
    "joined": {"dates": ["2015-01-01", "2024-12-31"]},
    "left": {"dates": ["2015-01-01", "2024-12-31"], "written": "dmy"},
    "hour": {"cycle": 24},
}


@pytest.fixture(scope="module")
def mixed() -> OpenTable:
    declared = apply_declaration(json.dumps({"bounds": SAID, "title": "Visits"})).validate()
    opened = synthesise_declared(declared, n=600, k=3)
    return replace(opened, declaration=replace(opened.declaration, kind=FileKind.PUBLIC))


def test_explore_tells_clusters_by_shares_and_draws_them(mixed):
    app = app_on("home.py", mixed, algorithm="auto", k="3", epsilon="5")
    open_below(app, "What was found")
    (found,) = [frame.value for frame in app.dataframe if "cluster" in frame.value.columns]
    assert list(found.columns)[-len(SAID) :] == [*SAID]
    assert found["region"].str.contains("%").all() and found["income"].str.contains(" to ").all()
    assert "Clusters differ most in" in text_of(app)


@for_each("page", ["data.py", "compare.py", "meaning.py", "release.py", "home.py", "learn.py"])
def test_no_other_page_raises(mixed, page):
    app_on(page, mixed, k="3")
