"""One judgement: light, advice and announcement agree on forty cells, or it says why they differ."""

import re
from dataclasses import replace

from dpviz.algorithms.auto.auto import expect_loss
from dpviz.algorithms.card import Level, Setting
from dpviz.algorithms.registry import find_card, list_private_cards
from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable
from dpviz.runs.advice.advice import Target, foresee, load_stored_study
from dpviz.runs.advice.judgement import Judgement, KnownRows
from dpviz.runs.request import Contender, Request
from dpviz.runs.verdict import Verdict
from tests.cases import for_each

SIZES = (
    *((2, 5, 300), (2, 5, 3_000), (2, 15, 5_000), (3, 4, 12_000), (6, 6, 1_000)),
    *((6, 6, 8_000), (6, 15, 40_000), (20, 5, 12_000), (1, 3, 600), (10, 10, 100_000)),
)
BUDGETS = ((0.05, 1e-6), (0.3, 1e-6), (1.0, 1e-6), (1.0, 0.0))
CELLS = [Setting(d, k, epsilon, delta, n=n) for d, k, n in SIZES for epsilon, delta in BUDGETS]
AUTO, USUAL = find_card("auto"), Target()


def test_light_advice_and_announcement_agree() -> None:
    for cell in CELLS:
        judged, asked = Judgement.of(AUTO, cell), foresee(cell).find_needed("auto", USUAL)
        wide = expect_loss(cell).wide
        if judged.level is Level.GREEN:
            assert asked <= cell.epsilon and wide <= 1.3, cell
        scaled = replace(cell, common=cell.dim > 1)
        if Judgement.of(AUTO, scaled).level is Level.GREEN:  # in one scale a column may have a tail
            assert (expect_loss(scaled).tails or 0.0) <= 1.3, cell
        if asked <= cell.epsilon:
            assert judged.level is not Level.RED, cell
        advice = foresee(cell).advise(USUAL)
        if advice.best is not None:
            best = Judgement.of(find_card(advice.best.algorithm), replace(cell, epsilon=advice.epsilon))
            assert best.level in (Level.GREEN, Level.AMBER), cell
        assert (judged.in_short == "borderline") == (judged.level is Level.AMBER), cell


def test_what_would_do_is_more_than_there_is_and_does() -> None:
    promises = 0
    for cell in CELLS:
        judged = Judgement.of(AUTO, cell)
        for words, holds in (
            ("if groups are of like size", lambda at: Judgement.of(AUTO, at).like is Level.GREEN),
            ("whatever their sizes", lambda at: Judgement.of(AUTO, at).level is Level.GREEN),
        ):
            for way in re.findall(
                rf"((?:About [\d,]+ records)?(?: or )?(?:ε ≥ [\d.]+)?) would do {words}", judged.message
            ):
                rows, epsilon = re.search(r"About ([\d,]+)", way), re.search(r"≥ ([\d.]+)", way)
                if rows is not None:
                    n = int(rows.group(1).replace(",", ""))
                    assert cell.n is not None and n > cell.n and holds(replace(cell, n=n)), (cell, way)
                if epsilon is not None:
                    e = float(epsilon.group(1))
                    assert e > cell.epsilon and holds(replace(cell, epsilon=e)), (cell, way)
                promises += 1
    assert promises > 30


def test_a_run_that_ends_unlike_its_light_says_why() -> None:
    green, red = (Judgement.of(AUTO, Setting(10, 10, 1.0, 1e-6, n=n)) for n in (100_000, 300))
    fine, lost = Verdict("fine", "", ""), Verdict("failed", "this run failed", "Noise.")
    assert "says otherwise" in green.explain_difference(lost) and "speaks against it" in red.explain_difference(fine)
    assert green.explain_difference(fine) == red.explain_difference(lost) == ""


@for_each("card", list_private_cards())
def test_no_light_is_green_where_nobody_measured_groups_of_unlike_sizes(card) -> None:
    rich = Judgement.of(card, Setting(2, 4, 1.0, 1e-6, n=10**9))
    assert (rich.level is Level.GREEN) == (rich.like is Level.GREEN and rich.yours is Level.GREEN)
    assert (rich.yours is None) == (card.id not in load_stored_study(with_delta=True).algorithms)
    if rich.yours is None and rich.like is Level.GREEN:
        assert "has not been measured" in rich.message


def test_a_private_number_of_rows_gives_no_light_until_somebody_says_one() -> None:
    table = PrivateTable([[0.0, 0.0]] * 20, Domain.of(["x", "y"], 0, 1))
    request = Request(Contender("auto"), 4, 1.0, 1e-6)
    rows = KnownRows(100_000, 200_000)
    hidden, said = Judgement.of_request(request, table), Judgement.of_request(request, table, rows=rows)
    assert hidden.level is None and "only you know" in hidden.announcement
    assert said.level is Level.GREEN and said.announcement.startswith("Enough records: ")
    assert (
        Judgement.of_request(replace(request, k=0), table).announcement
        == Judgement.of_request(replace(request, k=0), table).refusal
    )
