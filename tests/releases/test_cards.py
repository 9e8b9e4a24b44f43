"""The pages of a card: what it says, that nothing on it can act or ask, and that names from outside stay names."""

from __future__ import annotations

import doctest
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from dpviz.algorithms.size_estimates import Sizes
from dpviz.api.cli import release_command
from dpviz.releases import playing, promise, release_texts, segments_report
from dpviz.releases.missing_shares import MissingShare, MissingShares
from dpviz.releases.playing import Played
from dpviz.releases.promise import AccessCounts, format_paper
from dpviz.releases.release_texts import (
    RegistryField,
    Who,
    draw_centers,
    draw_sizes,
    format_card,
    group_charges,
    list_card_errors,
    make_card_page,
    make_card_table,
    make_dossier,
    make_dossier_page,
    make_registry_card,
    read_schema,
)
from dpviz.releases.tallies import Interval
from dpviz.runs.profiles import ProfileColumn
from dpviz.tables.declarations import NOT_STATED, OWNER_QUESTIONS, Declaration, Described
from tests.cases import about
from tests.command_line import call
from tests.releases.made_played import numbers, people, played, press, reported, segment, shares
from tests.releases.people import account_in, unrehearsed, write_people
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
    missing = MissingShares((MissingShare(name, 0.1, 0.0, 0.2),), ())
    changed = replace(made, parts=replace(made.parts, missing=missing))
    vars(changed.parts)["profile"] = made.profile
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


# What a card's page is made of: tables and pictures.


@pytest.mark.parametrize("module", [segments_report, playing, promise, release_texts])
def test_doctests(module) -> None:
    assert doctest.testmod(module).failed == 0


def _centred(columns: tuple[ProfileColumn, ...], centers: np.ndarray) -> Played:
    """A release of these centres, and of nothing else about them."""
    bare = {"center_sd": np.full(centers.shape, np.nan), "scale": np.ones(len(columns)), "sizes": None}
    return played(profile={"columns": columns, "centers": centers, **bare})


def test_every_charge_is_in_one_line_of_the_ledger_and_those_that_are_alike_stand_together() -> None:
    made = people()
    lines, charges = list(group_charges(made)), sum(map(len, made.parts.entries.values()))
    assert sum(len(line.notes) for line in lines) == charges > 3 * len(lines)
    (sums,) = (line for line in lines if line.query == "ResidualSum")
    low, high = (float(word) for word in sums.noise.split(" to "))
    assert low == pytest.approx(min(sums.scales), rel=0.01) and high == pytest.approx(max(sums.scales), rel=0.01)
    rows = [list(map(str, row["cells"])) for row in make_card_table(made, "ledger")["rows"]]
    assert rows[-1] == ["the release", "", f"{charges}", "", "2", "10⁻⁶"]
    parts = [row for row in rows[:-1] if row[4]]
    assert [(row[0], row[4]) for row in parts] == [("algorithm (80 % of ε)", "1.6"), ("segments (20 % of ε)", "0.4")]
    assert sum(int(row[2]) for row in rows[:-1] if not row[4]) == charges


def _dots(markup: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r'class="dot" cx="([\d.]+)" cy="([\d.]+)"', markup)]


def test_centres_lie_on_their_lines_and_cover_nothing() -> None:
    rng = np.random.default_rng(1)
    columns = tuple(ProfileColumn(f"c{place}", -1.0, 1.0, "m") for place in range(4))
    centers = np.column_stack([rng.uniform(-1, 1, 8), np.full(8, 0.2), np.full(8, 1.0), np.linspace(-1, 1, 8)])
    made = draw_centers(_centred(columns, centers))
    dots = np.array(_dots(made.markup))
    assert len(dots) == 32
    assert (dots >= 0).all() and (dots[:, 0] <= 420).all()
    height = float(re.findall(r'viewBox="0 0 420 (\d+)"', made.markup)[0])
    assert (dots[:, 1] < height).all()
    apart = np.sqrt(((dots[:, None] - dots) ** 2).sum(axis=2)) + 100 * np.eye(32)
    assert apart.min() >= 14.9
    spread = dots[-8:, 0]  # drawn from left to right, on the line itself
    assert np.allclose(np.diff(spread), np.diff(spread)[0], atol=0.2)
    assert {*re.findall(r">(\d+)</text>", made.markup)} == {str(number) for number in range(1, 9)}
    ends = re.findall(r'class="end" x="[\d.]+" y="([\d.]+)"', made.markup)
    assert ends[::2] == ends[1::2], "both ends of a line are named beside each other"
    assert made.alt.startswith("Eight released centres on a line for each of four columns: c0 from")


def test_a_size_below_nought_has_a_bar_and_no_noise_where_none_is_known() -> None:
    made = draw_sizes(played(profile={"sizes": Sizes.publish(np.array([-3.0, 5.0]), np.full(2, np.nan))}))
    assert made is not None and 'width="0.5"' in made.markup and "±" not in made.markup
    assert draw_sizes(played(profile={"sizes": None})) is None


def test_a_size_that_may_be_nobodys_is_told_by_its_ends() -> None:
    made = played(profile={"sizes": Sizes.publish(np.array([60.0, 700.0]), np.full(2, 63.0))})
    assert made.profile.sizes.words == ["60 (0 to 170)", "700 ± 110"]
    assert "60 (0 to 170)" in make_card_page(made) and "60 ± 110" not in make_card_page(made)
    said = segment(1)
    assert replace(said, size=Interval(60.0, 0.0, 170.3)).size_words == "60 (0 to 170)"


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


@pytest.mark.parametrize("make", [played, people, lambda: played(said=_ANSWERED)], ids=["small", "whole", "said"])
def test_the_page_holds_every_answer_and_draws_no_legal_conclusion(make) -> None:
    made = make()
    page = make_dossier_page(made)
    text = re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", page.split("</style>")[1]))
    assert "<b>." not in page and "<script" not in page
    answers = make_dossier(made)
    assert f"{len(answers)} questions" in text and f"{sum(one.who is Who.NOBODY for one in answers)} of them" in text
    assert "anonym" not in text.lower() and "nan" not in text and "None " not in text.replace("None in this", "")
    assert len({one.question for one in answers}) == len(answers) == page.count("<dt>")


# The promise in words: how large it is, what it does not cover, and who pays for the noise.


def test_an_algorithm_of_ours_has_no_paper_that_is_called_none() -> None:
    said = format_paper("None: its parts are from Su et al. 2016")
    assert said == "it has no paper of its own; its parts are from Su et al. 2016"
    assert format_paper("Su et al. 2016") == "Su et al. 2016"


def test_looks_are_told_in_one_order_however_they_were_counted() -> None:
    looks = {"rows": 2, "loss": 1, "a look of another version": 1}
    one, other = AccessCounts(looks), AccessCounts(dict(reversed(looks.items())))
    assert one.words == other.words and [*one.looks] == [*other.looks] == [*looks]


# The card tells what its process saw: looks, studies, runs on the rows, a k that was read; and whose word that is.


NOTHING_SEEN = "it showed no row, no true count and no loss"


def test_nothing_is_said_to_be_unseen_that_was_seen() -> None:
    for seen in (
        AccessCounts({"rows": 1}),
        AccessCounts(studies=1),
        AccessCounts(runs=50, runs_epsilon=50.0),
        AccessCounts(grids_read=1),
    ):
        assert NOTHING_SEEN not in seen.words
    assert NOTHING_SEEN in AccessCounts().words and NOTHING_SEEN in AccessCounts({"rows": 0}).words


def released(capsys, desk: Path, *more: object) -> tuple[str, str]:
    """What the command said on stderr, and the card's words about what was seen and chosen."""
    out = desk / f"release{len(list(desk.glob('*.zip')))}.zip"
    asked = ("--k", 3, "--epsilon", 0.5, "--delta", 1e-6, "--segments", 0, "--account", desk / "people.sqlite")
    with unrehearsed():
        said = call(capsys, "release", desk / "people.json", desk / "people.csv", *asked, "--out", out, *more)
    assert said.code == 0, said.err
    with zipfile.ZipFile(out) as archive:
        card = yaml.safe_load(archive.read("card.yaml"))
    return said.err, card["deployment"]["implementation"]["preprocessing_and_hyperparameter_tuning"]


def test_a_command_says_what_it_knows_and_asks_whoever_is_there(capsys, tmp_path, monkeypatch) -> None:
    write_people(tmp_path, proposed=True)
    account_in(tmp_path)
    _, card = released(capsys, tmp_path, "--yes")
    assert "counted one look that proposed how to read the file" in card
    declared = json.loads((tmp_path / "people.json").read_text())
    del declared["proposed"]  # which hides that look from whoever reads the declaration alone
    (tmp_path / "people.json").write_text(json.dumps(declared))
    said, card = released(capsys, tmp_path, "--yes")
    assert NOTHING_SEEN in card and "only their owner can say" in card and "the owner has not said" in card
    assert "What was seen of these rows before" not in said
    answers = iter(["A proposal of the format.\n", "0.5\n"])
    monkeypatch.setattr(release_command.sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(release_command.sys.stdin, "readline", lambda: next(answers), raising=False)
    said, card = released(capsys, tmp_path)
    assert "What was seen of these rows before" in said
    assert "The owner, asked what was chosen after looking: A proposal of the format." in card


# The registry's entry: valid by its schema where that lies beside the checkout, and by our own check without it.


_SCHEMA = Path(__file__).resolve().parents[2].parent / "shared" / "registry" / "deployments-schema.yaml"
_MARKED = "<b>`x`</b> $y$ _z_ [a](http://b.invalid)\nnew: line"


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """The registry's own schema."""
    if not _SCHEMA.exists():
        pytest.skip(f"the registry's schema is not at {_SCHEMA}")
    read: dict[str, Any] = yaml.safe_load(_SCHEMA.read_text("utf-8"))
    return read


def _is_valid(schema: dict[str, Any], card: Any) -> bool:
    return Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER).is_valid(card)


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


def list_unfilled(card: Mapping[str, Any], *, tier: int = 3) -> tuple[str, ...]:
    """The fields up to ``tier`` that a valid card leaves out or blank, by their paths; the registry only asks for
    them."""
    return tuple(_list_unfilled(read_schema(), card, "", tier))


def _list_unfilled(group: RegistryField, value: Mapping[str, Any], path: str, tier: int) -> Iterator[str]:
    for name, known in group.fields.items():
        place, inner = f"{path}.{name}".lstrip("."), value.get(name)
        if 1 <= known.tier <= tier and not (inner.strip() if isinstance(inner, str) else inner):
            yield place
        elif known.kind == "group":
            yield from _list_unfilled(known, inner or {}, place, tier)


@pytest.mark.parametrize("kind", _KINDS)
def test_a_card_is_valid_and_every_field_of_its_tier_is_filled(kind: str) -> None:
    card = make_registry_card(_KINDS[kind]())
    assert list_card_errors(card) == ()
    assert list_unfilled(card) == ()
    assert (card["tier"], card["status"]) == (3, "Draft")
    for place, text in _texts(card["deployment"]):
        with about(place, text):
            assert text == text.strip() and "  " not in text and ".." not in text and " ." not in text


@pytest.mark.parametrize("kind", _KINDS)
def test_the_registrys_schema_takes_it_and_so_does_its_file(schema: dict[str, Any], kind: str) -> None:
    made = _KINDS[kind]()
    card = make_registry_card(made)
    Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(card)
    read = yaml.safe_load(format_card(made))
    assert read == card and [*_texts(read)] == [*_texts(card)], "in the registry's order"


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


_PLACES = list(_paths(read_schema()))
_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 4),
    st.floats(allow_nan=False),
    st.sampled_from([1.0, 2.5, 3.0, "Draft", "Central", "Dataset", "Pure DP", "Static", "2026-02-30", "20260201", ""]),
    st.text(max_size=5),
    st.lists(st.one_of(st.text(max_size=3), st.integers()), max_size=2),
    st.dictionaries(st.sampled_from(["epsilon", "name", "x"]), st.integers(), max_size=2),
)


@given(place=st.sampled_from(_PLACES), value=_VALUES)
def test_our_check_agrees_with_the_schema_on_any_other_value(
    schema: dict[str, Any], place: tuple[str, ...], value: Any
) -> None:
    card = _with(place, value)
    assert (list_card_errors(card) == ()) == _is_valid(schema, card), list_card_errors(card)


def test_our_check_agrees_with_the_schema_on_what_is_left_out_or_unknown(schema: dict[str, Any]) -> None:
    for place in _PLACES:
        for card in (_without(place), _with((*place[:-1], f"{place[-1]}_"), "a")):
            with about(*place):
                assert (list_card_errors(card) == ()) == _is_valid(schema, card), list_card_errors(card)
    for card in (None, [], "text", 3, {}):
        with about(card):
            assert list_card_errors(card) and not _is_valid(schema, card)


def _good() -> dict[str, Any]:
    return deepcopy(make_registry_card(played()))


def _inside(card: Any, place: tuple[str, ...]) -> dict[str, Any]:
    for name in place[:-1]:
        card = card.setdefault(name, {})
    return card


def _with(place: tuple[str, ...], value: Any) -> dict[str, Any]:
    card = _good()
    _inside(card, place)[place[-1]] = value
    return card


def _without(place: tuple[str, ...]) -> dict[str, Any]:
    card = _good()
    _inside(card, place).pop(place[-1], None)
    return card


def test_an_error_names_the_field_and_says_what_to_do() -> None:
    basic = ("deployment", "basic")
    for card, told in (
        (_without((*basic, "name")), "deployment.basic.name is missing: the registry requires it."),
        (_with(("status",), "done"), "status is 'done': choose one of Converted, Draft, "),
        (_with(("tier",), True), "tier is True: write a number."),
        (_with((*basic, "data_curators"), []), "deployment.basic.data_curators is []: list at least one text."),
        (_with((*basic, "publication_date"), "July"), "deployment.basic.publication_date is no day: write it as YYYY-"),
        (_with(("extra",), 1), "extra is no field of the registry: take it out."),
    ):
        (error,) = list_card_errors(card)
        assert error.startswith(told)


def test_the_tiers_and_choices_are_those_of_the_schema(schema: dict[str, Any]) -> None:
    def compare(ours: RegistryField, theirs: dict[str, Any], place: str) -> None:
        assert set(ours.fields) == set(theirs["properties"]), place
        assert set(ours.required) == set(theirs.get("required", ())), place
        for name, kind in ours.fields.items():
            one = theirs["properties"][name]
            with about(place, name):
                assert kind.tier == one.get("tier", 0)
                assert list(kind.allowed) == one.get("enum", [])
            if kind.kind == "group":
                compare(kind, one, f"{place}.{name}")

    # The registry's own tier is a field of an entry, and no tier of that field.
    compare(read_schema(), schema, "")


def test_a_card_whose_owner_left_something_unsaid_is_of_a_lower_tier() -> None:
    assert make_registry_card(played())["tier"] == 3
    for unsaid in ({"intended_use": NOT_STATED}, {"curators": (NOT_STATED,)}, {"justification": NOT_STATED}):
        assert make_registry_card(played(said=unsaid))["tier"] == 2
