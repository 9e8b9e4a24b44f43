"""The page of a card: what it says, that nothing on it can act or ask, and that names from outside stay names."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd

from dpviz.releases.missing_shares import MissingShare, MissingShares
from dpviz.releases.playing import Played
from dpviz.releases.promise import AccessCounts
from dpviz.releases.release_texts import make_card_page
from dpviz.tables.declarations import Declaration, Described
from tests.releases.made_played import numbers, people, played, press, reported, segment, shares

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


def _everywhere(name: str) -> Played:
    """The same release, with ``name`` wherever something comes from outside."""
    said = dict.fromkeys(
        ("name", "description", "intended_use", "region", "justification", "chosen_after_looking"), name
    )
    town = replace(shares(name), shares=shares("", N=0.5).shares)
    town = replace(town, shares=(replace(town.shares[0], label=name),))
    made = played(
        said={**said, "curators": (name,), "authors": (name,), "publication_date": name},
        declared={
            "title": name,
            "units": {"age": name, name: name},
            "origins": (name, name + "2"),
            "describe": {name: Described(categories=(name, name))},
        },
        run={"unit": name},
        seen=AccessCounts({name: 2}),
        asked={"noise": name, "version": name, "platform": name},
        account={"name": name},
        report=reported(segment(1, numbers(name, 20, 30, 40, unit=name), town), says=(name,)),
    )
    missing = MissingShares((MissingShare(name, 0.1, 0.0, 0.2),), (), 0.1)
    changed = replace(made, parts=replace(made.parts, missing=missing))
    vars(changed.parts)["profile"] = made.profile
    vars(changed)["expected_loss"] = name
    return changed


def test_names_from_outside_stay_names() -> None:
    plain, hostile = _Read(make_card_page(_everywhere("a"))), _Read(make_card_page(_everywhere(_HOSTILE)))
    assert hostile.tags == plain.tags
    assert "script" not in {tag for tag, _ in hostile.tags}
    assert not any(name.startswith("on") for _, names in hostile.tags for name in names)
    assert hostile.text.count("<script>alert(1)</script>") > 30


def test_nothing_on_it_can_act_or_ask() -> None:
    page = make_card_page(people())
    tags = {tag for tag, _ in _Read(page).tags}
    assert not tags & {"script", "link", "img", "iframe", "object", "form", "a", "base"}
    assert not re.search(r"https?:|url\(|@import|\ssrc=|\shref=", page)
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in page
    assert "$" not in page.replace("($)", "").replace("000 $", ""), "a place in the template was not filled"


def test_what_was_chosen_is_printed_verbatim() -> None:
    said = "first\n  second  <b>third</b> & $name"
    page = make_card_page(played(said={"chosen_after_looking": said}))
    assert "<blockquote>first\n  second  &lt;b&gt;third&lt;/b&gt; &amp; $name</blockquote>" in page
    nothing = make_card_page(played(said={"chosen_after_looking": " "}))
    assert "blockquote>" not in nothing.split("</style>")[1]
    assert "Whether something or nothing was chosen after looking at the rows, the owner has not said." in nothing


def test_a_large_release_is_cut_and_says_so() -> None:
    k, dim = 30, 35
    names = tuple(f"column {place}" for place in range(dim))
    rows = pd.DataFrame(np.random.default_rng(1).uniform(0, 1, (400, dim)), columns=[*names])
    declared = Declaration(names, (-1e12,) * dim, (1e12,) * dim, bounds_origin="documentation", n_public=400)
    text = _Read(make_card_page(press(rows, declared, k=k, epsilon=10.0, algorithm="dplloyd"))).text
    assert "six centres and 25 columns more: see centers.csv." in text
    assert "five columns more: see declaration.json." in text
    assert "Where the segments lie, 25 columns left out" in text
    assert "How many they are, six segments left out" in text
