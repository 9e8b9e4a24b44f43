"""What a card's page is made of: tables, pictures, and what is read from plain values about segments."""

from __future__ import annotations

import doctest
import re

import numpy as np
import pytest

from dpviz.releases import card_facts, card_pictures, card_tables, segment_words
from dpviz.releases.card_facts import CardColumn, CostPart
from dpviz.releases.card_pictures import draw_centers, draw_sizes
from dpviz.releases.card_tables import (
    Row,
    Table,
    make_account_table,
    make_bounds_table,
    make_centers_table,
    make_ledger_table,
    make_segments_table,
)
from dpviz.releases.segment_words import WrittenInterval, describe_quality, describe_segments, make_interval
from dpviz.words.templates.rendering import render
from tests.releases.made_facts import facts, people_facts


@pytest.mark.parametrize("module", [segment_words, card_facts, card_tables, card_pictures])
def test_doctests(module) -> None:
    assert doctest.testmod(module).failed == 0


_BARE = {"center_step": None, "center_sd": None, "sizes": None, "size_sd": None}


def _html(table: Table) -> str:
    return render("table.html.j2", table=table)


def _cells(html: str) -> list[list[str]]:
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", html, flags=re.DOTALL)
    return [[re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]


def test_a_table_has_a_name_heads_and_numbers_to_the_right() -> None:
    made = _html(Table("T & U", ["a", "<b>"], [Row(["x", "1"], kind="part")], numbers=[1]))
    assert 'aria-label="T &amp; U"' in made
    assert '<th scope="col" class=number>&lt;b&gt;</th>' in made
    assert '<tr class=part><th scope="row">x</th><td class=number>1</td></tr>' in made


def test_numbers_stand_to_the_right_under_their_heads() -> None:
    account = make_account_table(facts())
    assert account is not None
    for table, first in ((make_centers_table(facts()), 1), (make_ledger_table(people_facts()), 2), (account, 1)):
        for row in re.findall(r"<tr[^>]*>(.*?)</tr>", _html(table)):
            right = ["class=number" in cell for cell in re.findall(r"<t[hd][^>]*>", row)]
            assert right == [place >= first for place in range(len(right))], row


def test_centres_stand_with_as_many_digits_as_they_were_rounded_to() -> None:
    made = facts(centers=np.array([[30.5, 40_000.0], [60.0, 90_500.0]]))
    assert _cells(_html(make_centers_table(made))) == [
        ["segment", "age (years)", "income (k$)", "size"],
        ["1", "30.5 ±\xa00.9", "40,000 ±\xa0900", "7,012 ±\xa014"],
        ["2", "60.0 ±\xa01.1", "90,500 ±\xa01,100", "4,990 ±\xa014"],
        ["rounded to", "0.5", "500", ""],
    ]
    bare = facts(sizes=None, center_step=None, center_sd=None, centers=np.array([[1 / 3, -1.0], [2, 3]]))
    assert _cells(_html(make_centers_table(bare)))[1] == ["1", "0.333", "−1"]


def test_bounds_stand_with_who_says_so() -> None:
    columns = (
        CardColumn("a", 0, 1, "m", "law"),
        CardColumn("b", -5, 5, "", "law"),
        CardColumn("c", 0, 9, "", "these rows (leaks!)"),
    )
    made = _html(make_bounds_table(facts(columns=columns)))
    assert _cells(made)[1:] == [["a", "0 to 1 m", "law"], ["b", "−5 to 5"], ["c *", "0 to 9", "these rows (leaks!)"]]
    assert 'rowspan="2">law' in made
    assert "<tr class=warn>" in made and "* described in segments" in made
    assert "*" not in _html(make_bounds_table(facts()))


def test_every_charge_is_in_the_ledger_once() -> None:
    made = people_facts()
    rows = _cells(_html(make_ledger_table(made)))[1:]
    assert rows[-1] == ["the release", "", f"{len(made.entries)}", "", "1", "10⁻⁶"]
    parts = [row for row in rows[:-1] if row[4]]
    assert [(row[0], row[4]) for row in parts] == [("clustering (80 % of ε)", "0.8"), ("segments (20 % of ε)", "0.2")]
    assert sum(int(row[2]) for row in rows[:-1] if not row[4]) == len(made.entries)
    stray = facts(parts=(CostPart("all", 1.0, 1e-6),))
    assert len(_cells(_html(make_ledger_table(stray)))) == 5, "charges of no part are shown, too"


def test_the_account() -> None:
    made = make_account_table(facts())
    assert made is not None and "ε = 0.5 of it is left" in made.notes[0]
    assert make_account_table(facts(account=None)) is None


def test_a_line_a_segment_with_what_is_known_of_it() -> None:
    segments = {
        "segments": [
            {
                "name": "young",
                **{"size": 100, "low": 90, "high": 110},
                "columns": [
                    {"name": "age", "unit": "years", "median": [30, 28, 32], "quartiles": {"lower": 20, "upper": 40}},
                    {"name": "region", "shares": {"South": 0.2, "North": {"value": 0.8, "low": 0.7, "high": 0.9}}},
                ],
            },
            {"number": 7, "size": {"value": 5}, "columns": {"age": {"median": 60, "tells_apart": True}}},
        ]
    }
    made = render("segments.html.j2", segments=make_segments_table(facts(segments=segments)))
    assert _cells(made) == [
        ["segment", "size", "age (years)", "region"],
        ["1 young", "100 (90–110)", "30 (28–32)from 20to 40", "North 80 % (70–90)South 20 %"],
        ["7", "5 ", "60 ", ""],
    ]
    assert '<td class=apart data-head="age (years)">' in made
    assert make_segments_table(facts()) is None is make_segments_table(facts(segments={"segments": []}))


def test_days_are_written_as_dates() -> None:
    about = {
        "name": "joined",
        "unit": "days from 2020-01-01",
        "median": [31, 0, 59],
        "quartiles": [[0, 0, 1], [60, 59, 61]],
    }
    segments = {"segments": [{"size": 100, "columns": [{**about, "first_day": "2020-01-01"}]}]}
    heads, (_, _, told) = _cells(render("segments.html.j2", segments=make_segments_table(facts(segments=segments))))
    assert heads[2] == "joined" and "2020-02-01 (2020-01-01 to 2020-02-29)" in told
    assert "to 2020-03-01 (2020-02-29 to 2020-03-02)" in told and "days" not in told


def test_plain_values_about_segments_are_read_in_any_form() -> None:
    assert describe_segments(None) == ()
    (one,) = describe_segments(
        {"segments": [{"size": [5, 4, 6], "columns": [{"name": "a", "median": 1, "low": 0, "high": 2}]}]}
    )
    assert (one.number, one.size) == (1, WrittenInterval(5.0, 4.0, 6.0))
    assert one.columns[0].median == WrittenInterval(1.0, 0.0, 2.0)
    assert make_interval({"median": 2, "low": 1}) == WrittenInterval(2.0)
    for nothing in (None, "3", True, {}, [], [None, 1, 2]):
        assert make_interval(nothing) is None


def test_a_certificate_in_words() -> None:
    assert describe_quality(None) == () == describe_quality({})
    assert describe_quality({"words": "good"}) == ("good",)
    assert describe_quality({"words": ["good", "so"]}) == ("good", "so")
    said = " ".join(describe_quality({"loss": [0.3, 0.2, 0.4], "one_center": 1.2, "data_independent": 0.9}))
    assert "0.3 (0.2–0.4), with noise" in said and "account for 75 % of it" in said and "hardly" not in said
    said = " ".join(describe_quality({"loss": 0.85, "one_center": 1.0, "data_independent": 0.9, "unit": "km²"}))
    assert "is 0.85 km², with noise" in said and "these segments say little" in said
    for nothing in (0, -0.5):
        (said,) = describe_quality({"loss": 0.1, "one_center": nothing, "data_independent": nothing})
        assert "with noise" in said
    assert "account for 0 %" in " ".join(describe_quality({"loss": 2, "one_center": 1}))


def _dots(markup: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r'class="dot" cx="([\d.]+)" cy="([\d.]+)"', markup)]


def test_centres_lie_on_their_lines_and_cover_nothing() -> None:
    rng = np.random.default_rng(1)
    columns = tuple(CardColumn(f"c{place}", -1.0, 1.0, "m") for place in range(4))
    centers = np.column_stack([rng.uniform(-1, 1, 8), np.full(8, 0.2), np.full(8, 1.0), np.linspace(-1, 1, 8)])
    made = draw_centers(facts(k=8, columns=columns, centers=centers, **_BARE))
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


def test_sizes_are_bars_with_their_noise() -> None:
    made = draw_sizes(facts())
    assert made is not None and made.alt == "Released sizes: segment 1 about 7,012, segment 2 about 4,990"
    long, short = (float(width) for width in re.findall(r'class="bar".*?width="([\d.]+)"', made.markup))
    assert short / long == pytest.approx(4990 / 7012, rel=0.01)
    assert made.markup.count('class="noise"') == 2 and "7,012 ± 23" in made.markup
    negative = draw_sizes(facts(sizes=np.array([-3.0, 5.0]), size_sd=None))
    assert negative is not None and 'width="0.5"' in negative.markup and "±" not in negative.markup
    assert draw_sizes(facts(sizes=None)) is None


def test_centres_stand_along_their_column_between_its_bounds() -> None:
    columns = (CardColumn("age", 20, 120, "", "law"), CardColumn("income", 0, 10, "", "law"))
    centers = np.array([[20.0, 0.0], [70.0, 5.0], [120.0, 10.0]])
    drawn = draw_centers(facts(k=3, columns=columns, centers=centers, **_BARE))
    places = [float(x) for x in re.findall(r'<path class="stem" d="M([0-9.]+) ', drawn.markup)]
    assert len(places) == 6 and places[:3] == places[3:]
    assert places[0] < places[1] < places[2]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1], abs=0.2)
