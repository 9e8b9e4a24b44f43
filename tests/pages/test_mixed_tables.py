"""A table of all declared kinds on every page: nothing raises; clusters are told in the words of the declaration."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from dpviz.runs.open_table import OpenTable
from dpviz.runs.stand_ins import stand_in_of
from dpviz.table.declaration import FileKind
from dpviz.table.sidecar import declaration_in
from tests.cases import for_each
from tests.pages.tables import app_on, text_of
from tests.runs.test_profiles import SAID


@pytest.fixture(scope="module")
def mixed() -> OpenTable:
    declared = declaration_in(json.dumps({"bounds": SAID, "title": "Visits"})).checked()
    opened = stand_in_of(declared, n=600, k=3)
    return replace(opened, declaration=replace(opened.declaration, kind=FileKind.PUBLIC))


def test_explore_tells_clusters_by_shares_and_draws_them(mixed):
    app = app_on("explore.py", mixed, algorithm="auto", k="3", epsilon="5")
    (found,) = [frame.value for frame in app.dataframe if "cluster" in frame.value.columns]
    assert list(found.columns)[-len(SAID) :] == [*SAID]
    assert found["region"].str.contains("%").all() and found["income"].str.contains(" to ").all()
    assert "Clusters differ most in" in text_of(app)


def test_an_algorithm_that_cannot_serve_it_says_what_to_choose(mixed):
    app = app_on("explore.py", mixed, algorithm="eugkm", k="3", epsilon="5")
    assert "a grid over them says nothing" in text_of(app) and "choose auto" in text_of(app)


@for_each("page", ["data.py", "compare.py", "tradeoff.py", "ledger.py", "meaning.py", "release.py", "home.py"])
def test_no_other_page_raises(mixed, page):
    app_on(page, mixed, k="3")
