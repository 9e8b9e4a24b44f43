"""The promise in words: how large it is, what it does not cover, and who pays for the noise."""

from __future__ import annotations

import doctest

from dpviz.algorithms.size_estimates import Sizes
from dpviz.releases import promise
from dpviz.releases.access_counts import AccessCounts
from dpviz.releases.promise import (
    describe_promise,
    describe_rows,
    describe_smallest,
    format_belief,
    format_paper,
    list_protected,
    list_unprotected,
)
from tests.releases.made_played import played


def test_doctests() -> None:
    assert doctest.testmod(promise).failed == 0


def test_a_large_promise_in_words() -> None:
    large = played(request={"epsilon": 20.0})
    assert "at most e^20." in describe_promise(large)
    assert "almost certain" in format_belief(large)
    of_a_person = played(declared={"id_column": "who", "rows_per_person": 3}, run={"relation": "replace"})
    assert "is recorded about one person changes" in describe_promise(of_a_person)
    assert "of one person three rows are used at most" in " ".join(list_protected(of_a_person))


def test_what_is_not_protected() -> None:
    assert dict(list_unprotected(played()))["Number of rows"] == (
        "It is 900, which was declared and is public: it is not protected."
    )
    for protected_n in ({"n": None}, {"n": 11_987.4, "n_origin": "bought"}):
        assert "Number of rows" not in dict(list_unprotected(played(run=protected_n)))
    assert describe_rows(played(run={"n": None})) == "Not published, and not used."
    assert "two looks: other" in dict(list_unprotected(played(seen=AccessCounts({"other": 2}))))["Looks at the rows"]


def test_an_algorithm_of_ours_has_no_paper_that_is_called_none() -> None:
    said = format_paper("None: its parts are from Su et al. 2016")
    assert said == "it has no paper of its own; its parts are from Su et al. 2016"
    assert format_paper("Su et al. 2016") == "Su et al. 2016"


def test_who_pays_is_said_by_formula() -> None:
    assert describe_smallest(played(profile={"sizes": None})) == ""
    rows = played().profile.sizes.rows
    made = played(profile={"sizes": Sizes(rows, 411.4 * (rows > 0))})
    assert made.profile.smallest_group >= 3 * 411.4
    least = f"{float(f'{made.profile.smallest_group:.2g}'):,.0f}"
    assert describe_smallest(made).startswith(
        f"Small groups pay most for the noise: a group of fewer than about {least} rows cannot be shown"
    )


def test_a_small_chance_is_rounded_up_and_round_where_it_is_round() -> None:
    assert [promise.format_one_in(delta) for delta in (1e-5, 3e-5)] == ["one in 100,000", "one in 33,300"]
