"""The facts of a card: what does not fit together is refused, and missing words are named before anything is spent."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.core.check import RequestError
from dpviz.releases.card_facts import NOT_STATED, CardColumn, CostPart, group_charges
from dpviz.releases.promise import (
    describe_accesses,
    describe_promise,
    describe_rows,
    describe_smallest,
    format_belief,
    format_paper,
    list_unprotected,
)
from dpviz.releases.registry_card import make_registry_card
from tests.releases.made_facts import facts, people_facts, words


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"parts": (CostPart("clustering", 0.8, 1e-6),)}, "epsilon = 0.8, and the release is said to cost 1:"),
        (
            {"parts": (CostPart("a", 0.8, 0.0), CostPart("b", 0.2, 0.0))},
            "delta = 0, and the release is said to cost 1e-06:",
        ),
        ({"relation": "swap"}, "The relation is 'swap'"),
        ({"k": 3}, r"shape \(2, 2\): give 3 of them"),
        ({"centers": np.zeros((2, 3))}, "these columns first"),
        ({"centers": np.zeros(2)}, "The centres have shape"),
        ({"sizes": np.zeros(3)}, r"sizes has shape \(3,\): give an array of shape \(2,\)"),
        ({"center_sd": np.zeros(2)}, "center_sd has shape"),
        ({"size_sd": np.zeros(3)}, "size_sd has shape"),
        ({"columns": (CardColumn("a", 0, None), CardColumn("b", 0, 1))}, "Column 'a' is clustered and has no bounds"),
    ],
)
def test_what_does_not_fit_together_is_refused(change, named) -> None:
    with pytest.raises(RequestError, match=named):
        facts(**change)


def test_all_words_are_there_or_named() -> None:
    assert words().list_missing() == ()
    for name in ("name", "description", "intended_use", "region", "justification"):
        (said,) = words(**{name: " "}).list_missing()
        assert said.startswith(f"{name} is empty: ")
    for name in ("curators", "authors"):
        for none in ((), ("",)):
            (said,) = words(**{name: none}).list_missing()
            assert said.startswith(f"{name} is empty: ")
    assert words(sector="Fishing").list_missing()[0].startswith("sector is not one that the registry knows: ")
    assert words(publication_date="1 July").list_missing() == ("publication_date is no day: write it as YYYY-MM-DD.",)
    assert words(chosen_after_looking="").list_missing() == ()


def test_a_large_promise_in_words() -> None:
    large = facts(epsilon=20.0, parts=(CostPart("all", 20.0, 1e-6),))
    assert "at most e^20." in describe_promise(large)
    assert "almost certain" in format_belief(large)
    of_a_person = facts(relation="replace", has_id=True)
    assert "is recorded about one person changes" in describe_promise(of_a_person)


def test_what_is_not_protected() -> None:
    for protected_n in ({"n": None}, {"n": 11_987.4, "n_bought": True}):
        assert "Number of rows" not in dict(list_unprotected(facts(**protected_n)))
    assert describe_rows(facts(n=None)) == "Not published, and not used."
    assert "two looks: other" in describe_accesses(facts(looks={"other": 2}))


def test_charges_that_are_alike_stand_together() -> None:
    made = people_facts()
    lines = list(group_charges(made))
    assert sum(len(line.notes) for line in lines) == len(made.entries)
    assert len(lines) < len(made.entries) / 3
    (sums,) = (line for line in lines if line.query == "ResidualSum")
    assert (sums.part, sums.mechanism, sums.purpose) == ("clustering", "gaussian", "round 1 … round 12")
    low, high = (float(word) for word in sums.noise.split(" to "))
    assert low == pytest.approx(min(sums.scales), rel=0.01) and high == pytest.approx(max(sums.scales), rel=0.01)
    (spreads,) = (line for line in lines if line.query == "Spread")
    assert (spreads.asked, spreads.purpose) == ("how far rows spread", "second moments, and others")
    (histograms,) = (line for line in lines if line.part == "segments")
    assert (histograms.purpose, histograms.noise) == ("Histogram of segments", "30")


def test_a_card_whose_owner_left_something_unsaid_is_of_a_lower_tier() -> None:
    assert make_registry_card(facts())["tier"] == 3
    for unsaid in ({"intended_use": NOT_STATED}, {"curators": (NOT_STATED,)}, {"justification": NOT_STATED}):
        assert make_registry_card(facts(words=words(**unsaid)))["tier"] == 2


def test_an_algorithm_of_ours_has_no_paper_that_is_called_none() -> None:
    made = facts(paper="None: its parts are from Su et al. 2016")
    assert format_paper(made) == "it has no paper of its own; its parts are from Su et al. 2016"
    assert "None" not in str(make_registry_card(made)["deployment"]["implementation"]["mechanisms"])
    assert format_paper(facts(paper="Su et al. 2016")) == "Su et al. 2016"


def test_the_card_says_what_only_the_owner_can_say_or_that_nobody_said_it() -> None:
    deployed = make_registry_card(facts())["deployment"]
    assert "the owner has not said" in deployed["deployment_model"]["release_type_details"]
    assert "the curator alone can say" in deployed["deployment_model"]["actors"]
    told = {"raw_access": "Two clerks", "other_releases": "A yearbook.", "repeats": "Every year", "several_rows": "No"}
    deployed = make_registry_card(facts(words=words(**told)))["deployment"]
    assert "asked who can read the raw table: Two clerks. Whoever" in deployed["deployment_model"]["actors"]
    assert deployed["deployment_model"]["release_type_details"].endswith("published: A yearbook. Every year.")
    assert deployed["privacy_loss"]["privacy_unit_details"].endswith("how many rows one person can have: No.")


def test_the_card_says_the_level_of_its_unit_its_rho_and_what_made_it() -> None:
    made = facts(recomposed=((1e-6, 0.87),), rho=0.03741, platform="Python 3.11, Linux", code="ab12")
    deployed = make_registry_card(made)["deployment"]
    assert deployed["privacy_loss"]["privacy_unit"].startswith("1 row (event level): ")
    parameters = deployed["privacy_loss"]["privacy_parameters"]
    assert parameters["rho"] == pytest.approx(0.03741, rel=1e-3) and parameters["rho"] >= 0.03741
    assert "rho" not in make_registry_card(facts())["deployment"]["privacy_loss"]["privacy_parameters"]
    assert "ε = 0.87 at δ = 10⁻⁶" in deployed["privacy_loss"]["privacy_parameters_details"]
    assert "dpviz 0.1.0, on Python 3.11, Linux; its source files have the SHA-256 ab12" in str(deployed)


def test_who_pays_is_said_by_formula() -> None:
    assert describe_smallest(facts()) == ""
    said = describe_smallest(facts(smallest_group=1_234.0))
    assert said.startswith(
        "Small groups pay most for the noise: a group of fewer than about 1,200 rows cannot be shown"
    )
