"""The hand of the bench: what is typed is taken or refused in its word, and what it advises is what is released."""

import re
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpviz.app.ui.bench.hand import FILLED, ONE_ROW, Hand
from dpviz.app.ui.bench.sentence import Word, summarize, write_sentence
from dpviz.releases import ReleaseRequest
from dpviz.runs import Contender, Division, Request
from dpviz.tables import open_csv, propose
from dpviz.tables.codings import Dates
from dpviz.tables.declarations import ColumnBounds, Declaration, FileKind, find_words
from tests.cases import for_each

CUSTOMERS = b"customer_id,age,spend,visits,channel\n" + b"".join(
    b"%d,%d,%d.5,%d,%s\n" % (1000 + i, 20 + i % 60, 10 * i, i % 9, (b"web", b"shop", b"phone")[i % 3])
    for i in range(80)
)
AUTO = Request(Contender("auto"), 5, 1.0, 1e-6)


def dropped(raw: bytes = CUSTOMERS, name: str = "customers") -> Hand:
    file = open_csv(raw, name=name)
    return Hand.of_file(1, file, Declaration(title=name), propose(file), AUTO)


def filled(*, columns: int = 2, rows: str = "5,000") -> Hand:
    """A hand with nothing left to say."""
    hand = dropped().choose_columns(["age", "spend", "visits"][:columns])
    hand = hand.type_in("rows", rows).say_person(None, 1, "add_remove").say_origin("law")
    for name in hand.declaration.columns:
        hand = hand.type_in(f"low:{name}", "0").type_in(f"high:{name}", "100")
    return hand


def words_of(hand: Hand) -> dict[str, Word]:
    return {piece.id: piece for pieces in write_sentence(hand) for piece in pieces if isinstance(piece, Word)}


def test_a_dropped_file_is_private_and_no_bound_number_of_rows_or_person_is_taken_from_it():
    hand = dropped()
    assert hand.declaration.kind is FileKind.PRIVATE and hand.declaration.proposed and hand.is_private
    assert hand.declaration.columns == ("age", "spend", "visits", "channel") and hand.rows is None
    numbers = [f"{end}:{name}" for name in ("age", "spend", "visits") for end in ("low", "high")]
    assert hand.gaps == ["rows", "person", *numbers, "origin"] and not hand.is_complete
    assert {word.id for word in words_of(hand).values() if word.gap} == set(hand.gaps)


def test_no_note_denies_what_the_sentence_says():
    hand = dropped()
    assert hand.proposal is not None and "channel" in hand.declaration.columns
    about = [note for note in hand.proposal.notes if any(f'"{name}"' in note for name in hand.declaration.columns)]
    assert about and not [note for note in about if re.search(r"not (chosen|proposed)|[Ll]eft out", note)]
    assert not any("chosen" in note for note in hand.proposal.notes), "a choice may change, a proposal may not"


@for_each("said", ["k 0", "k 2.5", "k 1001", "delta 0.5", "loss 0", "loss 1001", "prior 30", "low:age 1e999"])
def test_what_cannot_be_is_refused(said: str):
    word, _, text = said.partition(" ")
    assert word in filled().type_in(word, text).refused


def test_every_gap_can_be_filled_and_then_the_table_can_be_opened():
    hand = filled()
    assert not hand.gaps and hand.is_complete
    assert [settled for _, settled in hand.list_ticks()] == ["one row", "law"] and len(summarize(hand)) < 60
    assert not any(word.gap or word.refusal for word in words_of(hand).values())
    # Whose rows they are is said once: the dossier prints it, and does not say that the owner has not said.
    assert hand.declaration.words == {"several_rows": ONE_ROW}
    assert not hand.say_person("visits", 3, "replace").declaration.words
    for word in ("rows", "low:age", "high:spend"):  # what is emptied is a gap again
        emptied = hand.type_in(word, "")
        assert (word == "rows" and emptied.refused) or word in emptied.gaps


BOXES = ("rows", "k", "delta", "loss", "prior", "accepted", "low:age", "high:age", "low:spend", "high:spend")


@given(st.sampled_from(BOXES), st.text(max_size=12) | st.floats(allow_nan=True).map(str) | st.integers().map(str))
@example("loss", "10000000001")
@example("loss", "999.99999")
@example("accepted", "99.99999")
def test_whatever_is_typed_is_taken_or_refused_in_its_word_and_nothing_else_changes(word: str, text: str):
    before = filled()
    after = before.type_in(word, text)
    if word in after.refused:
        assert replace(after, refused={}) == before, "what was refused changes nothing"
        assert not after.is_complete and words_of(after)[word].refusal
        assert not after.type_in(word, words_of(before)[word].text).refused
    else:
        said = words_of(after)[word]
        assert said.gap or after.type_in(word, said.text) == after, "what the sentence says can be typed"


SEVERAL = {
    "0 to 9": {"age": (0, 9)},
    "1–9; 2..5": {"age": (1, 9), "spend": (2, 5)},
    "1,000 – 2.000,5;; -5 to −1": {"age": (1000, 2000.5), "visits": (-5, -1)},
    "3": {"age": (3, None)},
    "3 to 4; …": dict.fromkeys(("age", "spend", "visits"), (3, 4)),
    "0 to 1; 3 to 4; ...": {"age": (0, 1), "spend": (3, 4), "visits": (3, 4)},
}


@for_each(("text", "told"), SEVERAL.items())
def test_bounds_of_several_columns_are_typed_at_once(text: str, told: dict[str, tuple[float, float]]):
    hand = dropped().type_in("low:age", text)
    given_bounds = {name: ends[:2] for name, ends in hand.declaration.bounds.items() if ends.lower is not None}
    assert not hand.refused and given_bounds == {**told, "channel": given_bounds["channel"]}


@for_each("text", ["9 to 0", "0 to 1 to 2", "0 to 1; x", "0 to 1; 9 to 5", "; ".join(["1 to 2"] * 4), "0 to many"])
def test_ranges_that_cannot_be_are_refused_as_a_whole(text: str):
    hand = dropped()
    assert replace(hand.type_in("low:age", text), refused={}) == hand


def test_bounds_from_the_rows_stay_so_whatever_is_said_until_both_are_typed():
    read = {"age": ColumnBounds(20.0, 79.0, FILLED)}
    hand = dropped().say_kind(FileKind.PUBLIC).choose_columns(["age"]).take_bounds(read)
    assert not hand.declaration.bounds_from_rows, "anybody may see them"
    private = hand.say_kind(FileKind.PRIVATE).say_origin("law")
    assert private.declaration.bounds_from_rows and private.type_in("low:age", "18").declaration.bounds_from_rows
    assert not private.type_in("low:age", "18").type_in("high:age", "90").declaration.bounds_from_rows


DIVISIONS = [Division(), Division(segments=0.0), Division(0.5, 0.1), Division(0.2, 0.03, 0.05)]


@for_each(
    ("columns", "rows", "division", "buys"),
    [
        (columns, rows, division, buys)
        for columns, rows in ((1, "800"), (2, "5,000"), (3, "5,000 to 12,000"))
        for division in DIVISIONS
        for buys in (False, True)
    ],
)
def test_the_epsilon_that_is_advised_is_the_one_that_is_released(columns, rows, division, buys):
    hand = replace(filled(columns=columns, rows=rows), division=division)
    if buys:
        hand = replace(hand.type_in("low:age", "").type_in("high:age", ""), buys=("age",))
    window = hand.find_window()
    epsilon = 1.0 if window is None or not window.least < 30 else window.least
    hand = replace(hand, request=replace(hand.request, epsilon=epsilon))
    words = find_words(hand.declaration, today="2026-01-01")
    asked = ReleaseRequest(hand.request, words, division)
    assert asked.make_algorithm_request(hand.declaration) == hand.run_request
    assert asked.charge(hand.declaration).epsilon == epsilon
    assert asked.find_share(hand.declaration) == pytest.approx(hand.share)
    if window is not None:
        assert window.answer.few.share == pytest.approx(hand.share), "the band is of what the centres get"


def test_a_column_of_dates_is_a_gap_for_both_of_its_ends_and_written_as_it_writes_days():
    rows = b"age,since\n" + b"".join(b"%d,%d.3.20%d\n" % (20 + i % 60, 1 + i % 28, 10 + i % 9) for i in range(80))
    hand = dropped(rows).choose_columns(["age", "since"])
    assert [gap for gap in hand.gaps if "since" in gap] == ["low:since"] and "high:since" not in words_of(hand)
    assert "first and the last day" in hand.type_in("low:since", "2015-01-01").refused["low:since"]
    said = hand.type_in("low:age", "0 to 100; 1.3.2010 to 31.12.2019")
    assert said.declaration.codings["since"] == Dates(date(2010, 3, 1), date(2019, 12, 31), "dmy")
    assert words_of(said)["low:since"].text == "2010-03-01 to 2019-12-31" and "since" not in said.declaration.numbers
    assert said.type_in("low:since", words_of(said)["low:since"].text) == said
    plain = hand.say_column("since", {"bounds": [0, 9], "scale": "linear"})
    assert words_of(plain)["high:since"].text == "9", "what its owner has said that it holds is proposed no more"
