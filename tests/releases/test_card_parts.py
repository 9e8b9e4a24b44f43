"""What a card's page is made of: tables and pictures."""

from __future__ import annotations

import doctest
import re

import numpy as np
import pytest

from dpviz.algorithms.size_estimates import Sizes
from dpviz.releases import card_columns, card_pictures, card_tables, segment_words
from dpviz.releases.card_pictures import draw_centers, draw_sizes
from dpviz.releases.card_tables import (
    Row,
    Table,
    group_charges,
    make_account_table,
    make_bounds_table,
    make_centers_table,
    make_ledger_table,
)
from dpviz.releases.playing import Played
from dpviz.releases.release_texts import fill
from dpviz.runs.profiles import ProfileColumn
from dpviz.tables.declarations import FROM_ROWS, Described
from dpviz.words import PLUS_MINUS
from dpviz.words.templates.rendering import render
from tests.releases.made_played import numbers, people, played, reported, segment, shares


@pytest.mark.parametrize("module", [segment_words, card_columns, card_tables, card_pictures])
def test_doctests(module) -> None:
    assert doctest.testmod(module).failed == 0


def _centred(columns: tuple[ProfileColumn, ...], centers: np.ndarray) -> Played:
    """A release of these centres, and of nothing else about them."""
    bare = {"center_sd": np.full(centers.shape, np.nan), "scale": np.ones(len(columns)), "sizes": None}
    return played(profile={"columns": columns, "centers": centers, **bare})


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
    tables = ((make_centers_table(played()), 1), (make_ledger_table(people()), 2), (make_account_table(played()), 1))
    for table, first in tables:
        for row in re.findall(r"<tr[^>]*>(.*?)</tr>", _html(table)):
            right = ["class=number" in cell for cell in re.findall(r"<t[hd][^>]*>", row)]
            assert right == [place >= first for place in range(len(right))], row


def test_centres_stand_to_the_digit_of_their_noise() -> None:
    centers, sd = np.array([[30.5, 40_000.0], [60.0, 90_500.0]]), np.array([[0.9, 900.0], [1.1, 1_100.0]])
    sizes = {"sizes": Sizes(np.array([7012.0, 4990.0]), np.full(2, 14.0))}
    assert _cells(_html(make_centers_table(played(profile={"centers": centers, "center_sd": sd, **sizes})))) == [
        ["segment", "age (years)", "income (k$)", "size"],
        ["1", "30.5 ± 1.6", "40,000 ± 1,600", "7,012 ± 25"],
        ["2", "60.0 ± 1.9", "90,500 ± 1,900", "4,990 ± 25"],
        ["rounded to", "0.1", "100", ""],
    ]
    unknown = {"centers": centers, "center_sd": np.full((2, 2), np.nan), "sizes": None}
    table = make_centers_table(played(profile=unknown))
    assert _cells(_html(table))[1] == ["1", "30.5", "40,000"]
    assert table.notes == (f"The algorithm cannot tell the noise on its centres. {PLUS_MINUS}",)


def test_bounds_stand_with_who_says_so() -> None:
    described = {"describe": {"c": Described(bounds=(0, 9))}, "origins": ("documentation", "documentation")}
    made = _html(make_bounds_table(played(declared=described)))
    assert _cells(made)[1:] == [
        ["age", "18 to 100 years", "documentation"],
        ["income", "0 to 200,000 k$"],
        ["c *", "0 to 9", "declared"],
    ]
    assert 'rowspan="2">documentation' in made and "* described in segments" in made
    assert "*" not in _html(make_bounds_table(played())) and "class=warn" not in made
    assert "<tr class=warn>" in _html(make_bounds_table(played(declared={"origins": (FROM_ROWS, "")})))


def test_charges_that_are_alike_stand_together() -> None:
    made = people()
    lines = list(group_charges(made))
    charges = sum(map(len, made.parts.entries.values()))
    assert sum(len(line.notes) for line in lines) == charges
    assert len(lines) < charges / 3
    (sums,) = (line for line in lines if line.query == "ResidualSum")
    assert (sums.part, sums.mechanism, sums.purpose) == ("algorithm", "gaussian", "round 1 … round 12")
    low, high = (float(word) for word in sums.noise.split(" to "))
    assert low == pytest.approx(min(sums.scales), rel=0.01) and high == pytest.approx(max(sums.scales), rel=0.01)
    (spreads,) = (line for line in lines if line.query == "Spread")
    assert (spreads.asked, spreads.purpose) == ("how far rows spread", "second moments, and others")


def test_every_charge_is_in_the_ledger_once() -> None:
    made = people()
    charges = sum(map(len, made.parts.entries.values()))
    rows = _cells(_html(make_ledger_table(made)))[1:]
    assert rows[-1] == ["the release", "", f"{charges}", "", "2", "10⁻⁶"]
    parts = [row for row in rows[:-1] if row[4]]
    assert [(row[0], row[4]) for row in parts] == [("algorithm (80 % of ε)", "1.6"), ("segments (20 % of ε)", "0.4")]
    assert sum(int(row[2]) for row in rows[:-1] if not row[4]) == charges


def test_the_account() -> None:
    made = make_account_table(played(account={"spent_epsilon": 0.5, "cap_epsilon": 2.0}))
    assert _cells(_html(made))[1:] == [
        ["before", "0.5", "0"],
        ["this release", "1", "10⁻⁶"],
        ["after", "1.5", "10⁻⁶"],
        ["the most it may hold", "2", "10⁻⁵"],
    ]
    assert "ε = 0.5 of it is left" in made.notes[0] and made.notes[1].startswith("This is charge 1 of that account")


def test_a_line_a_segment_with_what_is_known_of_it() -> None:
    told = reported(
        segment(1, numbers("age", 20, 30, 40), shares("region", South=0.2, North=0.8), name="so", telling=("age",)),
        segment(2, numbers("age", 50, 60, 70, wide=True), shares("region", **{f"r{place}": 0.1 for place in range(8)})),
        segment(3, numbers("age"), shares("region")),
    )
    made = fill("segments.html.j2", played(report=told))
    first = [f"r{place} 10 % (0 to 20)" for place in range(6)]
    assert _cells(made) == [
        ["segment", "size", "age (years)", "region"],
        [
            "1 so",
            "100 ± 10",
            "30 (28 to 32)from 20 (18 to 22)to 40 (38 to 42)",
            "North 80 % (70 to 90)South 20 % (10 to 30)",
        ],
        ["2", "200 ± 10", "58 to 62", f"{''.join(first)}two categories more: see segments.csv"],
        ["3", "300 ± 10", "", ""],
    ]
    assert made.count("class=apart") == 1 and '<td class=apart data-head="age (years)">' in made


def test_days_are_written_as_dates() -> None:
    told = reported(segment(1, numbers("joined", 3, 31, 60, unit="days from 2020-01-01", first_day="2020-01-01")))
    heads, (_, _, cell) = _cells(fill("segments.html.j2", played(report=told)))
    assert heads[2] == "joined" and "2020-02-01 (2020-01-30 to 2020-02-03)" in cell
    assert "to 2020-03-01 (2020-02-28 to 2020-03-03)" in cell and "days" not in cell


def test_many_columns_of_segments_are_cut_and_it_is_said() -> None:
    told = reported(segment(1, *(numbers(f"c{place}", 20, 30, 40) for place in range(12))))
    made = fill("segments.html.j2", played(report=told))
    assert len(_cells(made)[1]) == 12 and "two columns more: see segments.csv." in made


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


def test_sizes_are_bars_with_their_noise() -> None:
    sized = {"sizes": Sizes(np.array([7012.0, 4990.0]), np.full(2, 14.0))}
    made = draw_sizes(played(profile=sized))
    assert made is not None and made.alt == "Released sizes: segment 1 7,012 ± 25, segment 2 4,990 ± 25"
    long, short = (float(width) for width in re.findall(r'class="bar".*?width="([\d.]+)"', made.markup))
    assert short / long == pytest.approx(4990 / 7012, rel=0.01)
    assert made.markup.count('class="noise"') == 2 and "7,012 ± 25" in made.markup
    negative = draw_sizes(played(profile={"sizes": Sizes.publish(np.array([-3.0, 5.0]), np.full(2, np.nan))}))
    assert negative is not None and 'width="0.5"' in negative.markup and "±" not in negative.markup
    assert draw_sizes(played(profile={"sizes": None})) is None


def test_centres_stand_along_their_column_between_its_bounds() -> None:
    columns = (ProfileColumn("age", 20, 120), ProfileColumn("income", 0, 10))
    centers = np.array([[20.0, 0.0], [70.0, 5.0], [120.0, 10.0]])
    drawn = draw_centers(_centred(columns, centers))
    places = [float(x) for x in re.findall(r'<path class="stem" d="M([0-9.]+) ', drawn.markup)]
    assert len(places) == 6 and places[:3] == places[3:]
    assert places[0] < places[1] < places[2]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1], abs=0.2)
