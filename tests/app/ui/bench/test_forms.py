"""Forms of the bench: what is said there is in the declaration and comes back, and says what it does to the rows."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.app.ui.bench.forms import describe_moves, merge_declaration, read_names
from dpviz.app.ui.bench.hand import Hand
from dpviz.app.ui.data.table_link import KeptFile, KeptFiles
from dpviz.app.ui.data.table_summary import measure_clipping
from dpviz.core import Domain, Revealed
from dpviz.runs import Contender, Request
from dpviz.tables import IntakeError, open_csv
from dpviz.tables.codings import Cycle, Nominal, Ordinal, Stretched
from dpviz.tables.declarations import ColumnBounds, Declaration, FileKind, to_json
from dpviz.tables.file_format import format_names
from tests.cases import for_each


def test_rows_that_bounds_move_are_told_in_shares_with_how_far_means_move():
    told = Declaration(columns=("x", "y"), lower=(0.0, None), upper=(10.0, None))
    values = np.array([[1.0, np.nan], [2.0, np.inf], [11.0, 1.0], [3.0, 1.0]])
    assert describe_moves(values, told) == "50 % of the whole rows move to the bounds."
    assert describe_moves(values[3:], told) == "" == describe_moves(values[:0], told)
    domain, ball = Domain.of(["x", "y"], 0.0, 10.0), Domain.of(["x", "y"], -1.0, 1.0, radius=1.0)
    values = np.array([[5.0, 5.0], [5.0, 20.0], [-10.0, 5.0], [5.0, 5.0]])
    cost = measure_clipping(Revealed(domain.to_unit(values), np.arange(4)), domain)
    assert cost.rows_moved == 0.5
    told = {side: cost.by_column[side].tolist() for side in ("below", "above", "mean shift")}
    assert told == {"below": [0.25, 0.0], "above": [0.0, 0.25], "mean shift": pytest.approx([2.5, -2.5])}
    for points, moved in (([[0.9, 0.9], [0.0, 0.5]], 0.5), (np.empty((0, 2)), 0.0)):  # the radius counts, too
        assert measure_clipping(Revealed(np.array(points), np.arange(len(points))), ball).rows_moved == moved


START = Declaration(columns=("age", "pay"), lower=(0.0, 1.0), upper=(100.0, 60_000.0), n_public=5_000)


def test_a_column_is_declared_and_clustered_and_taken_back():
    one = START.with_coding("region", {"categories": ["N", "S"]}, 1.0)
    assert one.columns == ("age", "pay", "region") and one.codings == {"region": Nominal(("N", "S"))}
    assert one.bounds["region"] == ColumnBounds(0.0, 3.0) and one.weights == {"region": 1.0}
    two = one.with_coding("pay", {"bounds": [1, 60_000], "scale": "log"}).with_coding("age", {"cycle": 100})
    assert two.coded == {"age": Cycle(100.0), "pay": Stretched("log"), "region": Nominal(("N", "S"))}
    file = open_csv(b"age,pay,region\n1,2,N\n", name="people")
    hand = Hand(1, file, two, Request(Contender("auto"), 5, 1.0, 1e-6))
    plain = hand.say_column("pay", {"bounds": [1, 60_000], "scale": "linear"}).choose_columns(["age", "pay"])
    again = plain.declaration
    assert again.columns == ("age", "pay") and again.bounds["pay"] == START.bounds["pay"] and not again.weights
    number = plain.say_column("age", {"bounds": [None, None], "scale": "linear"}).declaration
    assert number.bounds["age"] == ColumnBounds() and not number.codings
    other = hand.say_column("region", {"order": ["N", "S"]}).declaration
    assert other.codings["region"] == Ordinal(("N", "S")) and not other.weights


@for_each(
    ("form", "why"),
    [
        *(({"categories": []}, "not a list of texts"), ({"bounds": [0, 5], "scale": "log"}, "no 0")),
        *(({"cycle": "x"}, "not a number above 0"), ({"dates": ["2015-01-01"]}, "not the first and the last")),
        ({"categories": ["a"], "closed": True}, "two make a coordinate"),
    ],
)
def test_what_cannot_be_declared_is_one_sentence(form, why):
    with pytest.raises(IntakeError, match=why):
        START.with_coding("age", form)


FILE = open_csv(b"a,b,c,who\n1,2,3,x\n4,5,6,y\n", name="letters")
NOW = Declaration(
    **{"columns": ("a", "b"), "lower": (0.0, None), "upper": (1.0, None), "origins": ("a guess", "")},
    **{"bounds_origin": "the form", "kind": FileKind.PUBLIC, "scaling": "common", "title": "letters"},
)
SEVERAL = replace(NOW, id_column="who")


@for_each(
    ("json", "now", "changed"),
    [
        ("{}", NOW, {}),
        ('{"relation": "replace"}', NOW, {"relation": "replace"}),
        (
            '{"bounds": {"c": [5, 6]}, "origins": {"c": "law or physics"}}',
            NOW,
            {"columns": ("c",), "lower": (5.0,), "upper": (6.0,), "origins": ("law or physics",)},
        ),
        ('{"lower": -1, "upper": 2}', NOW, {"lower": (-1.0,) * 2, "upper": (2.0,) * 2, "origins": ()}),
        ('{"rows_per_person": 5}', SEVERAL, {"rows_per_person": 5}),
        ('{"id_column": null}', replace(SEVERAL, rows_per_person=3), {"id_column": None, "rows_per_person": 1}),
        (to_json(replace(NOW, kind=FileKind.SIMULATED)), Declaration(title="other"), None),
    ],
)
def test_json_says_all_that_it_says_and_nothing_else(json, now, changed):
    """Bounds say which columns are clustered; a part may stand where the form has the rest; what is silent stays."""
    expected = replace(NOW, kind=FileKind.SIMULATED) if changed is None else replace(now, **changed)
    assert merge_declaration(now, json, FILE) == expected


@for_each(
    "json",
    [
        *('{"bounds": {"z": [0, 1]}}', '{"id_column": "z"}', '{"label": "z"}', '{"numbers": ["a", "b", "z"]}'),
        *('{"id_column": "a"}', '{"numbers": ["c"]}', '{"rows_per_person": 5}'),
        '{"file": {"header": false, "names": ["p", "q"]}}',
    ],
)
def test_json_that_does_not_fit_is_refused(json):
    with pytest.raises(IntakeError):
        merge_declaration(NOW, json, FILE)


WRITTEN = st.text(st.characters(codec="utf-8", exclude_categories=("C",)), min_size=1, max_size=12).map(str.strip)


@given(st.lists(WRITTEN))
def test_names_that_are_written_down_are_read_back(names):
    names = tuple(name for name in names if name)
    assert read_names(format_names(names)) == names
    assert read_names('age,"height, cm"\n\n weight ,') == ("age", "height, cm", "weight")


PUBLIC = Declaration(columns=("x",), lower=(0.0,), upper=(1.0,), kind=FileKind.PUBLIC)


def kept(size: int = 10, **changed) -> KeptFile:
    return KeptFile(open_csv(b"x" * size, name="table"), replace(PUBLIC, **changed))


def test_a_public_file_is_kept_under_a_word_that_nobody_guesses_with_its_newest_declaration_until_it_is_forgotten():
    registry = KeptFiles()
    words = [registry.put(kept()) for _ in range(20)]
    assert len({*words}) == 20 and all(len(word) >= 20 for word in words)
    assert registry.find("") is None and registry.find("x") is None
    assert registry.put(kept(kind=FileKind.PRIVATE)) is None, "a private file is never kept"
    assert registry.put(kept(upper=(2.0,)), words[0]) == words[0]
    assert registry.find(words[0]).declaration.upper == (2.0,)
    registry.forget(words[0])
    assert registry.find(words[0]) is None


def test_there_is_room_for_so_much_and_time_for_so_long():
    now = [0.0]
    registry = KeptFiles(most_bytes=25, most_seconds=60, clock=lambda: now[0])
    assert registry.put(kept(26)) is None
    first, second, third = (registry.put(kept()) for _ in range(3))
    assert registry.find(first) is None and registry.find(second) is not None
    now[0] = 30.0
    registry.put(kept(), second)
    now[0] = 80.0
    assert registry.find(third) is None and registry.find(second) is not None
