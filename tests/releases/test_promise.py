"""The promise in words: how large it is, what it does not cover, and who pays for the noise."""

from __future__ import annotations

import doctest

from dpviz.releases import promise
from dpviz.releases.promise import AccessCounts, format_paper


def test_doctests() -> None:
    assert doctest.testmod(promise).failed == 0


def test_an_algorithm_of_ours_has_no_paper_that_is_called_none() -> None:
    said = format_paper("None: its parts are from Su et al. 2016")
    assert said == "it has no paper of its own; its parts are from Su et al. 2016"
    assert format_paper("Su et al. 2016") == "Su et al. 2016"


def test_a_small_chance_is_rounded_up_and_round_where_it_is_round() -> None:
    assert [promise.format_one_in(delta) for delta in (1e-5, 3e-5)] == ["one in 100,000", "one in 33,300"]


def test_looks_are_told_in_one_order_however_they_were_counted() -> None:
    looks = {"rows": 2, "loss": 1, "a look of another version": 1}
    one, other = AccessCounts(looks), AccessCounts(dict(reversed(looks.items())))
    assert one.words == other.words and [*one.looks] == [*other.looks] == [*looks]
