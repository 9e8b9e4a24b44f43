"""What a card's page is made of: tables and pictures."""

from __future__ import annotations

import doctest
import re

import numpy as np
import pytest

from dpviz.algorithms.size_estimates import Sizes
from dpviz.releases import playing, release_texts, segments_report
from dpviz.releases.playing import Played
from dpviz.releases.release_texts import (
    Row,
    Table,
    draw_centers,
    draw_sizes,
    group_charges,
    make_account_table,
    make_centers_table,
    make_ledger_table,
)
from dpviz.runs.profiles import ProfileColumn
from dpviz.words.wording import render
from tests.releases.made_played import people, played


@pytest.mark.parametrize("module", [segments_report, playing, release_texts])
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
