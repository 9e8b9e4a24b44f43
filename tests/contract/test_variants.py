"""Variants of the papers that are no preset: each keeps the ledger, plays again without rows, and hides a row."""

import pytest

from dpviz.algorithms.registry import CARDS, list_private_cards
from dpviz.runs.audits.contract import check_booked, check_loss, check_replayed, record_run
from dpviz.runs.audits.neighboring_tables import list_variants
from tests.cases import about
from tests.contract.tables import BOUGHT, PERSONS, PUBLIC, REPLACE, list_neighbours

# A card, what its preset is not, and δ.
VARIANTS = (
    ("dplloyd", {"preset": "su", "start": "uniform", "shares": "doubling"}, 0.0),
    ("dplloyd", {"preset": "gaussian", "start": "uniform", "shares": "doubling"}, 1e-6),
    ("eugkm", {"preset": "su", "starts": 3, "fineness": "errors", "counts": "whole"}, 0.0),
    ("eugkm", {"preset": "tuned", "starts": 3, "fineness": "errors", "counts": "whole"}, 0.0),
    ("balcan-kmedian", {"medians": "drawn"}, 0.0),
    ("balcan-kmedian", {"medians": "drawn"}, 1e-6),
    ("k-averages", {"axes": "turned"}, 1e-6),
)


def test_an_audit_tries_every_choice_that_is_no_preset():
    tried = {card.id: list_variants(card) for card in list_private_cards()}
    for card, params, _ in VARIANTS:
        others = {name: value for name, value in params.items() if name not in ("preset", "starts")}
        assert any(others.items() <= variant.items() for _, variant, _ in tried[card]), card
    assert not tried["auto"] and len(tried["gkm"]) == 2


@pytest.mark.parametrize(("card", "params", "delta"), VARIANTS)
def test_a_variant_books_what_it_drew_plays_again_without_rows_and_hides_a_row(card, params, delta):
    for case, epsilon in ((BOUGHT, 1.0), (PUBLIC, 35.0), (REPLACE, 0.1), (PERSONS, 1.0)):
        request = {"k": 3, "epsilon": epsilon, "delta": delta, "params": params, "seed": 1}
        with about(case, f"ε = {epsilon}"):
            first = record_run(CARDS[card], case.table(), **request)
            check_booked(first)
            check_replayed(CARDS[card], case.table(), first, **request)
            for one, other in list_neighbours(case, 0, few=True):
                check_loss(CARDS[card], one, other, **request)
