"""Declarations: every accepted form, one canonical text, a sentence for everything else."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.tables.codings import Closed, Cycle, Dates, Described, Nominal, Ordinal, Stretched
from dpviz.tables.declarations import (
    FROM_ROWS,
    ORIGINS,
    OWNER_WORDS,
    ColumnBounds,
    Declaration,
    FileKind,
    apply_bounds_option,
    apply_declaration,
    find_declaration_path,
    find_words,
    read_declaration,
    to_json,
)
from dpviz.tables.file_format import ENCODINGS, NEGATIVES, FileFormat, NumberStyle
from dpviz.tables.loaded_table import IntakeError
from tests.cases import about
from tests.examples import examples
from tests.releases.made_played import words
from tests.tables.told import compare_cases


def declared_by(value: object) -> Declaration:
    return apply_declaration(json.dumps(value)).validate()


def test_minimal_forms_say_the_same(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    for text in (
        '{"bounds": {"x": [0, 1], "y": [0, 1]}}',
        '{"lower": 0, "upper": 1, "columns": ["x", "y"]}',
        '{"lower": [0, 0], "upper": 1, "columns": ["x", "y"]}',
        '\ufeff{"lower": [0, 0], "upper": [1, 1], "columns": ["x", "y"]}',
    ):
        path.write_text(text, encoding="utf-8")
        assert read_declaration(path) == Declaration(columns=("x", "y"), lower=(0.0, 0.0), upper=(1.0, 1.0)), text


numbers = st.floats(-1e12, 1e12)
names = st.text(min_size=1, max_size=8)


styles = st.builds(
    NumberStyle,
    decimal=st.just(","),
    grouping=st.sampled_from(["", ".", " ", "'"]),
    sign=st.sampled_from(["", "%", "€", "kg"]),
    negative=st.sampled_from(NEGATIVES),
    missing=st.just(()) | st.just(("-999", "refused")),
)
formats = st.builds(
    FileFormat,
    encoding=st.sampled_from(ENCODINGS),
    delimiter=st.sampled_from(["", ";", "\t", "whitespace"]),
    header=st.sampled_from([None, True]),
    names=st.just(()) | st.just(("a", "b")),
    style=styles | st.just(NumberStyle()),
    skip=st.integers(0, 3),
    units_line=st.booleans(),
    styles=st.dictionaries(st.sampled_from(["a", "b"]), styles),
)


described = st.just(Described(categories=("North", "South"))) | st.builds(
    Described, categories=st.just(()), bounds=st.tuples(st.floats(-1e9, 0), st.floats(1, 1e9))
)


@st.composite
def sidecars(draw: st.DrawFn) -> Declaration:
    columns = draw(st.lists(names, max_size=4, unique=True))
    pairs = [sorted(draw(st.tuples(numbers, numbers).filter(lambda p: p[0] != p[1]))) for _ in columns or [""]]
    others = names.filter(lambda name: name not in columns)
    id_column = draw(st.none() | others)
    return Declaration(
        title=draw(st.text(max_size=9)),
        description=draw(st.text(max_size=9)),
        columns=tuple(columns),
        lower=tuple(low for low, _ in pairs),
        upper=tuple(high for _, high in pairs),
        bounds_origin=draw(st.text(max_size=9)),
        origins=tuple(draw(st.sampled_from(["", *ORIGINS])) for _ in columns) if draw(st.booleans()) else (),
        units=draw(st.dictionaries(names, st.sampled_from(["years", "k$", "µm"]), max_size=2)),
        scaling=draw(st.sampled_from(["unit", "common"])),
        radius=draw(st.none() | st.floats(1e-6, 1e6)),
        relation=draw(st.sampled_from(["add_remove", "replace"])),
        n_public=draw(st.none() | st.integers(1, 10**9)),
        kind=draw(st.sampled_from(FileKind)),
        label_column=draw(st.none() | others),
        id_column=id_column,
        rows_per_person=1 if id_column is None else draw(st.integers(1, 9)),
        numbers=draw(st.sampled_from([(), tuple(columns)])),
        describe=draw(st.dictionaries(others, described, max_size=3)),
        file=draw(formats),
        proposed=draw(st.booleans()),
    )


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(sidecars())
def test_canonical_text_reads_back_and_is_stable(declared: Declaration) -> None:
    again = apply_declaration(to_json(declared))
    assert again == declared
    assert to_json(again) == to_json(declared)


def test_a_part_of_a_declaration_is_joined_to_the_rest() -> None:
    rest = Declaration(columns=("x", "y"), lower=(0.0, 0.0), upper=(1.0, 1.0), id_column="who", title="rest")
    assert apply_declaration("{}", rest) == rest
    told = apply_declaration('{"rows_per_person": 3, "lower": [5, 6], "upper": 9}', rest).validate()
    assert (told.lower, told.upper, told.rows_per_person, told.title) == ((5.0, 6.0), (9.0, 9.0), 3, "rest")
    assert apply_declaration('{"origins": {"y": "a guess"}}', rest).origins == ("", "a guess")
    assert apply_declaration('{"id_column": null}', told).validate().rows_per_person == 1


def test_bounds_option_takes_a_pair_for_every_column_or_a_file(tmp_path: Path) -> None:
    bounds = apply_bounds_option("-1e6, 2.5").list_bounds(["any", "other"])
    assert (bounds.lower.tolist(), bounds.upper.tolist()) == ([-1e6, -1e6], [2.5, 2.5])
    path = tmp_path / "a,b.json"
    path.write_text('{"bounds": {"x": [0, 1]}}')
    assert apply_bounds_option(str(path)).columns == ("x",)
    for text in ("1,0", "0,0", "0,inf", "nan,1", "0", "0,1,2", "a,b", ""):
        with about(text), pytest.raises(IntakeError):
            apply_bounds_option(text)


def refuse(case: str) -> str:
    with pytest.raises(IntakeError) as told:
        apply_declaration(case).validate()
    return str(told.value)


def test_a_wrong_declaration_gets_the_sentence_that_is_stored() -> None:
    compare_cases("wrong_declarations.txt", refuse)
    many = [*map(str, range(501))]
    for value, said in (
        ({"bounds": {"x": [0, 10**400]}}, "finite"),
        ({"bounds": {"x": [0, 1]}, "describe": {"y": {"bounds": [0, 10**400]}}}, "finite"),
        ({"bounds": {"x": [0, 1]}, "describe": {"y": {"categories": many}}}, "at most 500"),
        ({"bounds": {"x": [0, 1]}, "describe": {name: {"bounds": [0, 1]} for name in many[:101]}}, "at most 100"),
        ({"bounds": {"x": [0, 1]}, "title": "t" * 2_001}, "longer than"),
        ({"bounds": {"x": {"categories": many}}}, "at most 500"),
    ):
        assert said in refuse(json.dumps(value))


def test_open_bounds_are_told_apart_from_declared_ones() -> None:
    declared = declared_by({"bounds": {"x": [0, 1], "y": [None, None]}, "proposed": True})
    assert declared.list_bounds(["x"]).upper.tolist() == [1]
    with pytest.raises(IntakeError, match='No bounds are declared for "y"'):
        declared.list_bounds(["x", "y"])


def test_every_bound_has_its_origin() -> None:
    value = {"bounds": {"x": [0, 1], "y": [0, 1]}, "bounds_origin": "the form", "origins": {"x": "documentation"}}
    declared = declared_by(value)
    assert (declared.describe_origin("x"), declared.describe_origin("y")) == ("documentation: the form", "the form")
    assert declared_by({"bounds": {"x": [0, 1]}}).describe_origin("x") == "not stated"
    assert not declared.bounds_from_rows
    assert declared_by({"bounds": {"x": [0, 1]}, "origins": {"x": FROM_ROWS}}).bounds_from_rows


def test_columns_are_spelled_out_over_a_table() -> None:
    one_pair = declared_by({"lower": 0, "upper": 1, "id_column": "who"}).over(("who", "a", "b", "label"))
    assert (one_pair.columns, one_pair.lower, one_pair.label_column) == (("a", "b"), (0.0, 0.0), "label")
    described = declared_by({"lower": 0, "upper": 1, "describe": {"a": {"categories": ["u"]}}}).over(("a", "b"))
    assert (described.columns, [*described.describe]) == (("b",), ["a"])
    clustered = described.with_bounds(["a"], [ColumnBounds(0.0, 1.0)]).validate()
    assert (clustered.columns, clustered.describe) == (("a",), {})
    named = declared_by({"bounds": {"label": [0, 1]}}).over(("label", "a"))
    assert (named.columns, named.label_column) == (("label",), None)


def test_files_that_are_no_json_get_a_sentence_without_their_content(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    for content in (b"", b"secret,1\n", b"\xff\xfe\x00", b"[" * 100_000, b" " * 1_000_001):
        path.write_bytes(content)
        with pytest.raises(IntakeError) as caught:
            read_declaration(path)
        assert type(caught.value) is IntakeError and "secret" not in str(caught.value)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
    for missing in (tmp_path / "none.json", tmp_path, "a\0b"):
        with pytest.raises(IntakeError):
            read_declaration(missing)


def test_sidecar_lies_beside_its_table(tmp_path: Path) -> None:
    names = ("x.csv", "x.csv.gz", "x.tsv")
    assert {find_declaration_path(tmp_path / name) for name in names} == {None}
    (tmp_path / "x.json").write_text("{}")
    assert {find_declaration_path(tmp_path / name) for name in names} == {tmp_path / "x.json"}
    assert find_declaration_path(tmp_path / "x.json") is None


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


def declared_bounds(bounds: object, **more: object) -> Declaration:
    return apply_declaration(json.dumps({"bounds": bounds, **more})).validate()


def test_every_form_is_read_and_written_back():
    one = declared_bounds(SAID, weights={"region": 0.7})
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
    one = declared_bounds({**linear, "floor": {"categories": [1, 2]}})
    assert one.codings == {"floor": Nominal(("1", "2"))}


def test_one_pair_for_all_columns_takes_the_place_of_every_coding():
    onto = declared_bounds(SAID)
    assert not apply_bounds_option("0,1", onto).codings
    fewer = onto.choose_columns(["hour", "age"])
    assert list(fewer.coded) == ["hour"]


def test_two_hundred_categories_and_one_are_allowed():
    many = declared_bounds({"zip": {"categories": [f"{i:05}" for i in range(200)]}, "one": {"categories": ["a"]}})
    assert many.upper == (201.0, 2.0)


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


def test_every_word_can_be_declared_and_comes_back() -> None:
    answered = {
        name: ("A", "<b>") if word.several else f"So says the owner of {name}." for name, word in OWNER_WORDS.items()
    }
    said = apply_declaration(to_json(replace(Declaration(columns=("a",), lower=(0.0,), upper=(1.0,)), words=answered)))
    assert {name: getattr(find_words(said, today="2026-07-20"), name) for name in answered} == answered
