"""Declarations: every accepted form, one canonical text, a sentence for everything else."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dpviz.tables.declarations import (
    OWNER_WORDS,
    ColumnBounds,
    Declaration,
    apply_bounds_option,
    apply_declaration,
    find_declaration_path,
    find_words,
    read_declaration,
    to_json,
)
from dpviz.tables.loaded_table import IntakeError
from tests.cases import about
from tests.releases.made_played import words
from tests.tables.told import compare_cases


def declared_by(value: object) -> Declaration:
    return apply_declaration(json.dumps(value)).validate()


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


def tell(case: str) -> str:
    """What is read of a declaration, and its one text, which reads back as it."""
    one = apply_declaration(case).validate()
    text = to_json(one)
    again = apply_declaration(text).validate()
    assert again == one and to_json(again) == text
    bounds = {name: list(pair) for name, *pair in zip(one.columns, one.lower, one.upper, strict=False)}
    return f"{bounds} {one.codings} read as text: {one.textual}\n{text}"


def test_every_form_is_read_and_has_one_text_that_reads_back(tmp_path: Path) -> None:
    compare_cases("declarations.txt", tell)
    (tmp_path / "t.json").write_text('\ufeff{"bounds": {"x": [0, 1]}}', encoding="utf-8")
    assert read_declaration(tmp_path / "t.json") == declared_by({"lower": [0], "upper": [1], "columns": ["x"]})


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
    assert {find_declaration_path(tmp_path / name) for name in ("x.json", f"{'x' * 300}.csv")} == {None}


def test_all_words_are_there_or_named() -> None:
    assert words().list_missing() == ()
    for name in ("name", "description", "intended_use", "region", "justification"):
        (said,) = words(**{name: " "}).list_missing()
        assert said.startswith(f"{name} is empty: ")
    assert words(authors=("",)).list_missing()[0].startswith("authors is empty: ")
    assert words(sector="Fishing").list_missing()[0].startswith("sector is not one that the registry knows: ")
    assert words(publication_date="1 July").list_missing() == ("publication_date is no day: write it as YYYY-MM-DD.",)
    assert words(chosen_after_looking="").list_missing() == ()


def test_every_word_can_be_declared_and_comes_back() -> None:
    answered = {
        name: ("A", "<b>") if word.several else f"So says the owner of {name}." for name, word in OWNER_WORDS.items()
    }
    said = apply_declaration(to_json(replace(Declaration(columns=("a",), lower=(0.0,), upper=(1.0,)), words=answered)))
    assert {name: getattr(find_words(said, today="2026-07-20"), name) for name in answered} == answered
