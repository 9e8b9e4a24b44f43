"""Released centres in the words of the declaration: what noise alone could make is not said."""

from math import nan

from dpviz.runs.profiles import describe_shares
from tests.cases import for_each


@for_each(
    "shares, reach, words",
    [
        ({"a": 1.0, "b": 0.0}, nan, "a 100 %, others under 1 %"),
        ({"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1}, 0.2, "a or b: 40 %, 30 %, c 20 %, d up to 30 %; each ± 20 %"),
        ({"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1}, 0.09, "a 40 %, b 30 %, c 20 %, d up to 19 %; each ± 9 %"),
        ({"a": 0.86, "b": 0.05, "c": 0.03}, 0.097, "a 86 %, others up to 14.7 %; each ± 9.7 %"),
        ({"a": 0.4, "b": 0.39, "c": 0.21}, 0.1, "a or b: 40 %, 39 %, c 21 %; each ± 10 %"),
        ({"a": 0.6, "b": 0.4}, 180.0, "each up to 100 %"),
        ({"a": 0.3, "b": 0.1, "c": 0.0}, 0.35, "each up to 65 %"),
    ],
)
def test_shares_in_words(shares, reach, words):
    assert describe_shares(shares, reach) == words
