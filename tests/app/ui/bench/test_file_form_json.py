"""What JSON or a proposal makes of a declaration: all that it says, and nothing else."""

from __future__ import annotations

import doctest
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.app.ui.bench import file_form
from dpviz.app.ui.bench.file_form import merge_declaration, read_names
from dpviz.runs.open_table import declare
from dpviz.tables.csv_intake import open_csv
from dpviz.tables.declarations import Declaration, FileKind, to_json
from dpviz.tables.file_format import FileFormat, NumberStyle, format_names
from dpviz.tables.loaded_table import IntakeError
from dpviz.tables.proposal import Proposal
from tests.cases import about

FILE = open_csv(b"a,b,c,who\n1,2,3,x\n4,5,6,y\n", name="letters")
NOW = Declaration(
    columns=("a", "b"),
    lower=(0.0, None),
    upper=(1.0, None),
    origins=("a guess", ""),
    bounds_origin="the form",
    kind=FileKind.PUBLIC,
    scaling="common",
    title="letters",
)


def test_what_json_is_silent_about_stays():
    assert merge_declaration(NOW, "{}", FILE) == NOW
    assert merge_declaration(NOW, '{"relation": "replace"}', FILE) == replace(NOW, relation="replace")


def test_bounds_by_column_say_which_columns_are_clustered():
    told = merge_declaration(NOW, '{"bounds": {"c": [5, 6]}, "origins": {"c": "law or physics"}}', FILE)
    assert told == replace(NOW, columns=("c",), lower=(5.0,), upper=(6.0,), origins=("law or physics",))


def test_one_pair_is_that_of_the_chosen_columns_or_of_all():
    pair = '{"lower": -1, "upper": 2}'
    told = merge_declaration(NOW, pair, FILE)
    assert (told.columns, told.lower, told.upper, told.origins) == (("a", "b"), (-1.0,) * 2, (2.0,) * 2, ())
    nothing = Declaration(numbers=("a", "b", "c"))
    assert merge_declaration(nothing, pair, FILE).columns == ("a", "b", "c")


def test_another_file_format_makes_other_columns():
    json = '{"file": {"header": false, "names": ["p", "q", "r", "s"]}, "bounds": {"q": [0, 9]}}'
    assert merge_declaration(NOW, json, FILE).columns == ("q",)
    with pytest.raises(IntakeError, match=r'"a".*"p", "q"'):
        merge_declaration(NOW, '{"file": {"header": false, "names": ["p", "q"]}}', FILE)


def test_json_that_does_not_fit_is_refused():
    unknown = ('{"bounds": {"z": [0, 1]}}', '{"id_column": "z"}', '{"label": "z"}', '{"numbers": ["a", "b", "z"]}')
    for json in (*unknown, '{"id_column": "a"}', '{"numbers": ["c"]}'):
        with about(json), pytest.raises(IntakeError):
            merge_declaration(NOW, json, FILE)


def test_json_without_an_id_column_forgets_the_rows_of_a_person():
    several = replace(NOW, id_column="who", rows_per_person=3)
    assert merge_declaration(several, '{"id_column": null}', FILE) == NOW


def test_json_may_say_a_part_where_the_form_has_the_rest():
    several = replace(NOW, id_column="who")
    assert merge_declaration(several, '{"rows_per_person": 5}', FILE) == replace(several, rows_per_person=5)
    assert merge_declaration(NOW, '{"file": {"several_lines": true}}', FILE).file.several_lines, (
        "public as the form says"
    )
    with pytest.raises(IntakeError, match="id_column"):
        merge_declaration(NOW, '{"rows_per_person": 5}', FILE)


def test_a_simulated_table_stays_simulated():
    simulated = replace(NOW, kind=FileKind.SIMULATED)
    assert merge_declaration(Declaration(title="other"), to_json(simulated), FILE) == simulated


def test_a_whole_declaration_comes_back_from_its_json():
    whole = declare(FILE, replace(NOW, lower=(0.0, 0.0), upper=(1.0, 9.0), id_column="who", rows_per_person=2))
    told = merge_declaration(Declaration(title="other"), to_json(whole.declaration), FILE)
    assert told == whole.declaration


def test_a_proposal_keeps_what_was_chosen_and_drops_what_is_text():
    found = Proposal(FileFormat(style=NumberStyle(",")), ("a", "b", "who"), ("a",), ("b", "who"), ())
    told = found.join_to(replace(NOW, id_column="who", rows_per_person=2, label_column="gone"))
    assert (told.columns, told.lower, told.upper, told.origins) == (("a",), (0.0,), (1.0,), ("a guess",))
    assert told.numbers == ("a",) and told.id_column == "who" and told.rows_per_person == 2
    assert told.label_column is None and told.proposed and told.file == found.file
    assert told.validate() == told


def test_a_proposal_chooses_columns_that_sound_like_measures_if_they_are_few():
    def chosen(*numbers):
        return Proposal(FileFormat(), numbers, numbers, (), ()).join_to(Declaration()).columns

    assert chosen("age", "person_id", "label", "income") == ("age", "income")
    assert chosen(*(f"x{j}" for j in range(13))) == ()


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=("C",)), min_size=1).map(str.strip)))
def test_names_that_are_written_down_are_read_back(names):
    names = tuple(name for name in names if name)
    assert read_names(format_names(names)) == names


def test_names_stand_on_lines_or_between_commas():
    assert read_names('age,"height, cm"\n\n weight ,') == ("age", "height, cm", "weight")
    tried = doctest.testmod(file_form)
    assert tried.attempted > 0 and tried.failed == 0
