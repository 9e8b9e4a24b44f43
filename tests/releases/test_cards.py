"""The pages of a card: what it says, that nothing on it can act or ask, and that names from outside stay names."""

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from scipy.spatial.distance import pdist

from dpviz.algorithms.size_estimates import Sizes
from dpviz.releases.missing_shares import MissingShare, MissingShares
from dpviz.releases.playing import Played
from dpviz.releases.promise import AccessCounts
from dpviz.releases.release_texts import (
    RegistryField,
    Who,
    draw_centers,
    format_card,
    list_card_errors,
    make_card_page,
    make_dossier,
    make_dossier_page,
    make_registry_card,
    read_schema,
)
from dpviz.releases.tallies import Interval
from dpviz.runs.profiles import ProfileColumn
from dpviz.tables.declarations import OWNER_QUESTIONS, Described
from tests.cases import about
from tests.releases.made_played import numbers, people, played, reported, segment, shares
from tests.releases.test_card_words import CASES

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
    missing = MissingShares((MissingShare(name, 0.1, 0.0, 0.2),), ())
    changed = replace(made, parts=replace(made.parts, missing=missing))
    vars(changed.parts)["profile"] = made.profile
    return changed


def test_names_from_outside_stay_names() -> None:
    plain, hostile = _Read(make_card_page(_everywhere("a"))), _Read(make_card_page(_everywhere(_HOSTILE)))
    assert hostile.tags == plain.tags and "script" not in {tag for tag, _ in hostile.tags}
    assert not any(name.startswith("on") for _, names in hostile.tags for name in names)
    assert " ".join(" ".join(hostile.said).split()).count("<script>alert(1)</script>") > 30


def test_nothing_on_it_can_act_or_ask() -> None:
    page = make_card_page(people())
    tags = {tag for tag, _ in _Read(page).tags}
    assert not tags & {"script", "link", "img", "iframe", "object", "form", "a", "base"}
    assert not re.search(r"https?:|url\(|@import|\ssrc=|\shref=", page)
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in page
    assert "$" not in page.replace("($)", "").replace("000 $", ""), "a place in the template was not filled"


def test_a_size_that_may_be_nobodys_is_told_by_its_ends() -> None:
    made = played(profile={"sizes": Sizes.publish(np.array([60.0, 700.0]), np.full(2, 63.0))})
    assert made.profile.sizes.words == ["60 (0 to 170)", "700 ± 110"]
    assert "60 (0 to 170)" in make_card_page(made) and "60 ± 110" not in make_card_page(made)
    assert replace(segment(1), size=Interval(60.0, 0.0, 170.3)).size_words == "60 (0 to 170)"


def test_centres_lie_on_their_lines_and_cover_nothing() -> None:
    columns = tuple(ProfileColumn(name, -1.0, 1.0) for name in "abcd")
    centers = np.column_stack([np.linspace(-1, 0, 8) ** 2, np.full((8, 2), [0.2, 1.0]), np.linspace(-1, 1, 8)])
    bare = {"center_sd": np.full((8, 4), np.nan), "scale": np.ones(4), "sizes": None}
    made = draw_centers(played(profile={"columns": columns, "centers": centers, **bare}))
    dots = np.array(re.findall(r'class="dot" cx="([\d.]+)" cy="([\d.]+)"', made.markup), dtype=float)
    assert len(dots) == 32 and (dots < [420, made.height]).all() and pdist(dots).min() >= 14.9
    np.testing.assert_allclose(np.diff(dots[-8:, 0]), np.ptp(dots[-8:, 0]) / 7, atol=0.2)
    assert {*re.findall(r">(\d+)</text>", made.markup)} == {*"12345678"}


# The dossier: every question has an answer or is named as open, and no answer says more than was released.


_ANSWERED = dict.fromkeys(OWNER_QUESTIONS, "So says the owner <b>.")
# Questions that no release answers.
_OPEN = (
    *("How much does clipping distort?", "Is timing covered?", "Was the program tested and audited?", "Inference"),
    *("Would a motivated intruder succeed?", "What remains for the controller?"),
)


def _answers(made: Played):
    return {one.question: one for one in make_dossier(made)}


def test_what_the_owner_does_not_say_is_named_and_what_the_owner_says_is_verbatim() -> None:
    silent, spoken = _answers(played()), _answers(played(said=_ANSWERED))
    for question in OWNER_QUESTIONS.values():
        with about(question):
            assert (silent[question].who, silent[question].said) == (Who.NOBODY, "The owner has not said.")
            assert (spoken[question].who, spoken[question].said) == (Who.OWNER, "So says the owner <b>.")
    left = {name for name, one in spoken.items() if one.who is Who.NOBODY}
    assert left == set(_OPEN)
    assert {name for name, one in silent.items() if one.who is Who.NOBODY} == {*_OPEN, *OWNER_QUESTIONS.values()}


@pytest.mark.parametrize("make", [people, lambda: played(said=_ANSWERED)], ids=["whole", "said"])
def test_the_page_holds_every_answer_and_draws_no_legal_conclusion(make) -> None:
    page, answers = make_dossier_page(make()), make_dossier(make())
    text = re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", page.split("</style>")[1]))
    assert "<b>." not in page and "<script" not in page
    assert f"{len(answers)} questions" in text and f"{sum(one.who is Who.NOBODY for one in answers)} of them" in text
    assert "anonym" not in text.lower()
    assert len({one.question for one in answers}) == len(answers) == page.count("<dt>")


# The promise in words: how large it is, what it does not cover, and who pays for the noise.


def test_looks_are_told_in_one_order_however_they_were_counted() -> None:
    looks = {"rows": 2, "loss": 1, "a look of another version": 1}
    one, other = AccessCounts(looks), AccessCounts(dict(reversed(looks.items())))
    assert one.words == other.words and [*one.looks] == [*other.looks] == [*looks]


# The card tells what its process saw: looks, studies, runs on the rows, a k that was read; and whose word that is.


# The registry's entry: valid by its schema where that lies beside the checkout, and by our own check without it.


_SCHEMA = Path(__file__).resolve().parents[2].parent / "shared" / "registry" / "deployments-schema.yaml"
_MARKED = "<b>`x`</b> $y$ _z_ [a](http://b.invalid)\nnew: line"


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    """The registry's own schema."""
    if not _SCHEMA.exists():
        pytest.skip(f"the registry's schema is not at {_SCHEMA}")
    read = yaml.safe_load(_SCHEMA.read_text("utf-8"))
    return Draft202012Validator(read, format_checker=Draft202012Validator.FORMAT_CHECKER)


_NAMES = ("small", "pure", "persons, one exchanged", "nothing seen", "segments", "noise that cannot be told")
_KINDS = {
    **{
        name: CASES[name]
        for name in (*_NAMES, "a number of rows that was bought", "a number of rows that nobody knows")
    },
    "people": people,
    "hostile": lambda: played(
        declared={"title": _MARKED, "units": {"age": "k$"}, "describe": {_MARKED: Described(categories=(_MARKED,))}}
    ),
}


def _list_unfilled(group: RegistryField, value: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """The fields that a valid card leaves out or blank, by their paths; the registry only asks for them."""
    for name, known in group.fields.items():
        place, inner = f"{path}.{name}".lstrip("."), value.get(name)
        if 1 <= known.tier <= 3 and not (inner.strip() if isinstance(inner, str) else inner):
            yield place
        elif known.kind == "group":
            yield from _list_unfilled(known, inner or {}, place)


@pytest.mark.parametrize("kind", _KINDS)
def test_a_card_is_valid_and_every_field_of_its_tier_is_filled(kind: str) -> None:
    card = make_registry_card(_KINDS[kind]())
    assert list_card_errors(card) == () and not [*_list_unfilled(read_schema(), card)]
    assert (card["tier"], card["status"]) == (3, "Draft")
    for place, text in _texts(card["deployment"]):
        with about(place, text):
            assert text == text.strip() and "  " not in text and ".." not in text and " ." not in text


@pytest.mark.parametrize("kind", _KINDS)
def test_the_registrys_schema_takes_it_and_so_does_its_file(schema: Draft202012Validator, kind: str) -> None:
    made = _KINDS[kind]()
    card = make_registry_card(made)
    schema.validate(card)
    read = yaml.safe_load(format_card(made))
    assert read == card and [*_texts(read)] == [*_texts(card)], "in the registry's order"


def test_our_check_agrees_with_the_schema_on_what_is_wrong_left_out_or_unknown(schema: Draft202012Validator) -> None:
    wrong = (None, True, 4, 1.0, "Draft", "Pure DP", "2026-02-30", "", [], ["a", 1], {"x": 1})
    cards = [_changed(place, value) for place in _PLACES for value in wrong]
    cards += [_changed((*place[:-1], f"{place[-1]}_"), "a") for place in _PLACES] + [None, [], "text", 3, {}]
    for card in (*cards, *map(_changed, _PLACES)):
        with about(card):
            assert (list_card_errors(card) == ()) == schema.is_valid(card), list_card_errors(card)


def _changed(place: tuple[str, ...], *value: Any) -> dict[str, Any]:
    """A good card with this value in a place, or without any."""
    inside = card = deepcopy(_GOOD)
    for name in place[:-1]:
        inside = inside.setdefault(name, {})
    inside.pop(place[-1], None)
    if value:
        inside[place[-1]] = value[0]
    return card


def _texts(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, f"{place}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, place)
    elif isinstance(value, str):
        yield place, value


def test_names_from_outside_stay_text_and_what_the_owner_says_is_verbatim() -> None:
    verbatim = "We saw *five* groups; <k> = 5, $1"
    deployed = make_registry_card(played(_KINDS["hostile"](), said={"chosen_after_looking": verbatim}))["deployment"]
    assert verbatim in deployed["implementation"]["preprocessing_and_hyperparameter_tuning"]
    escaped = r"\<b\>\`x\`\</b\> \$y\$ \_z\_ \[a\](http://b.invalid) new: line"
    variant = deployed["dp_variant"]
    assert f"those of “{escaped}”" in variant["data_domain"]
    assert f"{escaped}: {escaped} (declared)" in variant["data_domain"]
    assert r"k\$" in variant["data_domain"] and " $" not in variant["data_domain"]
    assert f"age, income, {escaped}: names and bounds" in variant["unprotected_quantities"]


@given(st.text())
@example("\u2028\u0085\ufeff\x7f\x9f\uffff\U0001f600 {{ p }} {% if %}")
@example("- a: [b]\n'c' \"d\" \\N #")
def test_whatever_the_owner_says_comes_through(said: str) -> None:
    made = played(said={"description": said, "authors": (said, "A"), "justification": said})
    deployed = make_registry_card(made)["deployment"]
    assert (deployed["basic"]["description"], deployed["implementation"]["justification"]) == (said, said)
    assert deployed["administrative"]["registry_authors"] == [said, "A"]


def _paths(group: RegistryField, at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, kind in group.fields.items():
        yield (*at, name)
        if kind.kind == "group":
            yield from _paths(kind, (*at, name))


_PLACES, _GOOD = list(_paths(read_schema())), make_registry_card(played())


def test_an_error_names_the_field_and_says_what_to_do() -> None:
    basic = ("deployment", "basic")
    for card, told in (
        (_changed((*basic, "name")), "deployment.basic.name is missing: the registry requires it."),
        (_changed(("status",), "done"), "status is 'done': choose one of Converted, Draft, "),
        (_changed(("tier",), True), "tier is True: write a number."),
        (_changed((*basic, "data_curators"), []), "deployment.basic.data_curators is []: list at least one text."),
        (_changed((*basic, "publication_date"), "July"), "deployment.basic.publication_date is no day: write it as "),
        (_changed(("extra",), 1), "extra is no field of the registry: take it out."),
    ):
        (error,) = list_card_errors(card)
        assert error.startswith(told)


def test_the_tiers_and_choices_are_those_of_the_schema(schema: Draft202012Validator) -> None:
    def compare(ours: RegistryField, theirs: dict[str, Any], place: str) -> None:
        assert set(ours.fields) == set(theirs["properties"]), place
        assert set(ours.required) == set(theirs.get("required", ())), place
        for name, kind in ours.fields.items():
            one = theirs["properties"][name]
            assert (kind.tier, list(kind.allowed)) == (one.get("tier", 0), one.get("enum", [])), (place, name)
            if kind.kind == "group":
                compare(kind, one, f"{place}.{name}")

    # The registry's own tier is a field of an entry, and no tier of that field.
    compare(read_schema(), schema.schema, "")
