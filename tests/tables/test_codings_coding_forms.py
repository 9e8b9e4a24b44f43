"""What a declaration may say of a column: it is read back as it was said, and what cannot be is refused in words."""

from __future__ import annotations

import json
from datetime import date

from dpviz.tables.codings import Closed, Cycle, Dates, Nominal, Ordinal, Stretched
from dpviz.tables.declarations import Declaration, apply_bounds_option, apply_declaration, to_json

SAID = {
    "age": [17, 90],
    "income": {"bounds": [1, 1000000], "scale": "log"},
    "change": {"bounds": [-5, 5], "scale": "root"},
    "region": {"categories": ["N", "Süd", "7"]},
    "sex": {"categories": ["F", "M"], "closed": True},
    "stage": {"order": ["I", "II", "III"]},
    "joined": {"dates": ["2015-01-01", "2024-12-31"]},
    "left": {"dates": ["2015-01-01", "2024-12-31"], "written": "dmy"},
    "hour": {"cycle": 24},
}


def declared(bounds: object, **more: object) -> Declaration:
    return apply_declaration(json.dumps({"bounds": bounds, **more})).validate()


def test_every_form_is_read_and_written_back():
    one = declared(SAID, weights={"region": 0.7})
    assert one.codings == {
        "income": Stretched("log"),
        "change": Stretched("root"),
        "region": Nominal(("N", "Süd", "7")),
        "sex": Closed(("F", "M")),
        "stage": Ordinal(("I", "II", "III")),
        "joined": Dates(date(2015, 1, 1), date(2024, 12, 31)),
        "left": Dates(date(2015, 1, 1), date(2024, 12, 31), "dmy"),
        "hour": Cycle(24.0),
    }
    assert dict(zip(one.columns, zip(one.lower, one.upper, strict=True), strict=True)) == {
        **{"age": (17, 90), "income": (1, 1e6), "change": (-5, 5), "region": (0, 4), "sex": (0, 1), "stage": (1, 3)},
        **{"joined": (0, 3652), "left": (0, 3652), "hour": (0, 24)},
    }
    assert one.textual == ("region", "sex", "stage", "joined", "left")
    again = json.loads(to_json(one))
    assert again["bounds"] == SAID and again["weights"] == {"region": 0.7}
    assert apply_declaration(to_json(one)) == one


def test_a_linear_scale_and_whole_numbers_as_categories_are_what_they_look_like():
    linear = {"x": {"bounds": [0, 1]}, "y": {"bounds": [0, 1], "scale": "linear"}}
    one = declared({**linear, "floor": {"categories": [1, 2]}})
    assert one.codings == {"floor": Nominal(("1", "2"))}


def test_one_pair_for_all_columns_takes_the_place_of_every_coding():
    onto = declared(SAID)
    assert not apply_bounds_option("0,1", onto).codings
    fewer = onto.choose_columns(["hour", "age"])
    assert list(fewer.coded) == ["hour"]


def test_two_hundred_categories_and_one_are_allowed():
    many = declared({"zip": {"categories": [f"{i:05}" for i in range(200)]}, "one": {"categories": ["a"]}})
    assert many.upper == (201.0, 2.0)
