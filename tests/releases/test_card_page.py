"""The page of a card: what it says, that nothing on it can act or ask, and that names from outside stay names."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from dpviz.releases.card_facts import AccountFacts, CardColumn, CardFacts, CardPicture, CostPart
from dpviz.releases.card_page import make_card_page
from tests.releases.made_facts import facts, people_facts, words

_HOSTILE = """</style></title><script>alert(1)</script><img src=x onerror="a()" '> & ${name} $name"""


class _Read(HTMLParser):
    """The tags of a page with the names of their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.said: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))

    def handle_data(self, data: str) -> None:
        self.said.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.said).split())


def _everywhere(name: str) -> CardFacts:
    """The same card, with ``name`` wherever something comes from outside."""
    said = dict.fromkeys(
        ("name", "description", "intended_use", "region", "justification", "chosen_after_looking"), name
    )
    columns = (
        CardColumn(name, 18, 100, name, name),
        CardColumn(name + "2", 0, 1, name, name + "2"),
        CardColumn(name + "3", None, None, "", name, (name, name)),
    )
    about_column = {"name": name, "unit": name, "median": [30, 29, 31], "quartiles": [20, 40], "tells_apart": True}
    shares = {"name": name + "3", "shares": {name: [0.5, 0.4, 0.6]}}
    entry = {**facts().entries[0], "note": name, "query": name, "mechanism": name, "part": name}
    return facts(
        words=words(**said, curators=(name,), authors=(name,), publication_date=name),
        table=name,
        columns=columns,
        algorithm=name,
        paper=name,
        unit=name,
        looks={name: 2},
        accounting=name,
        parts=(CostPart(name, 0.8, 1e-6), CostPart(name + "2", 0.2, 0.0)),
        entries=(entry, {**entry, "part": "none of them"}),
        noise=name,
        dpviz=name,
        account=AccountFacts(name, 2.0, 1e-5, 0.0, 0.0, 1.0, 1e-6),
        segments={"segments": [{"name": name, "size": 10, "low": 9, "high": 11, "columns": [about_column, shares]}]},
        quality_report={"words": name, "loss": 0.5, "unit": name},
        expected_loss=name,
        missing=(name,),
        pictures=(CardPicture(name, name, "<svg></svg>"),),
    )


def test_names_from_outside_stay_names() -> None:
    plain, hostile = _Read(make_card_page(_everywhere("a"))), _Read(make_card_page(_everywhere(_HOSTILE)))
    assert hostile.tags == plain.tags
    assert "script" not in {tag for tag, _ in hostile.tags}
    assert not any(name.startswith("on") for _, names in hostile.tags for name in names)
    assert hostile.text.count("<script>alert(1)</script>") > 30


def test_nothing_on_it_can_act_or_ask() -> None:
    page = make_card_page(people_facts())
    tags = {tag for tag, _ in _Read(page).tags}
    assert not tags & {"script", "link", "img", "iframe", "object", "form", "a", "base"}
    assert not re.search(r"https?:|url\(|@import|\ssrc=|\shref=", page)
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in page
    assert "$" not in page.replace("($)", "").replace("000 $", ""), "a place in the template was not filled"


def test_what_was_chosen_is_printed_verbatim() -> None:
    said = "first\n  second  <b>third</b> & $name"
    page = make_card_page(facts(words=words(chosen_after_looking=said)))
    assert "<blockquote>first\n  second  &lt;b&gt;third&lt;/b&gt; &amp; $name</blockquote>" in page
    nothing = make_card_page(facts(words=words(chosen_after_looking=" ")))
    assert "blockquote>" not in nothing.split("</style>")[1]
    assert "Whether something or nothing was chosen after looking at the rows, the owner has not said." in nothing


@pytest.mark.parametrize(
    "made",
    [
        facts(sizes=None, size_sd=None, center_sd=None, center_step=None, account=None, looks={}, studies=0, n=None),
        facts(delta=0.0, parts=(CostPart("all", 1.0, 0.0),), relation="replace", has_id=True, rows_per_person=5),
        facts(segments={"segments": []}, quality_report={}),
        facts(segments={"segments": [{"size": None, "columns": {"age": {"median": 3}}}, {}]}),
        facts(epsilon=30.0, parts=(CostPart("all", 30.0, 1e-6),)),
    ],
    ids=["bare", "pure", "no segments", "half said", "large"],
)
def test_what_is_not_there_is_left_out(made: CardFacts) -> None:
    text = _Read(make_card_page(made)).text
    assert "None" not in text.replace("None that the releasing process counted", "") and "nan" not in text
    assert ("How many they are" in text) == (made.sizes is not None)
    assert ("Who is in them" in text) == bool(made.segments and made.segments["segments"])
    assert ("How good the segments are" in text) == bool(made.quality_report or made.expected_loss)


def test_a_large_release_is_cut_and_says_so() -> None:
    k, dim = 40, 35
    columns = tuple(CardColumn(f"column {place}", -1e12, 1e12) for place in range(dim))
    made = facts(
        k=k,
        columns=columns,
        centers=np.zeros((k, dim)),
        center_step=None,
        center_sd=None,
        sizes=np.ones(k),
        size_sd=None,
    )
    text = _Read(make_card_page(made)).text
    assert "16 centres and 25 columns more: see centers.csv." in text
    assert "five columns more: see declaration.json." in text
    assert "Where the segments lie, 25 columns left out" in text
    assert "How many they are, 16 segments left out" in text


def test_a_picture_of_the_owner_stands_beside_ours_with_its_words() -> None:
    made = replace(facts(), pictures=(CardPicture("The map", "two centres", '<svg id="mine"></svg>'),))
    assert '<div role="img" aria-label="two centres"><svg id="mine"></svg></div>' in make_card_page(made)


def test_missing_cells_are_told_where_they_were_bought() -> None:
    said = "3 % of age is missing (2 % to 4 %)"
    assert f"Missing values, with noise: {said}." in _Read(make_card_page(facts(missing=(said,)))).text
    assert "Missing values" not in _Read(make_card_page(facts())).text
    many = _Read(make_card_page(facts(missing=tuple(f"{said} {j}" for j in range(60))))).text
    assert "more: see segments.csv" in many and f"{said} 59" not in many
