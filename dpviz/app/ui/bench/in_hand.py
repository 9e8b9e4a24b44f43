"""The hand of this visit: begun from what is open or waits, and opened as soon as nothing is missing."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, cast

import streamlit as st

from dpviz.app.ui.bench.hand import Hand
from dpviz.app.ui.controls import USUAL_CLUSTERS, choose_epsilon, read_request, recall_division
from dpviz.app.ui.data.table_link import bring_to_use, is_large, is_preparing, open_sample
from dpviz.app.ui.figure import look_of
from dpviz.app.ui.session import (
    COMING,
    DataAccess,
    Source,
    Value,
    choose,
    count_access,
    find_source,
    find_table,
    find_undeclared,
    make_once,
    recall,
    remember,
)
from dpviz.core import AccessKind, RequestError, check
from dpviz.runs import KnownRows, OpenTable, Request, Target, list_columns, windows
from dpviz.tables import Content, CsvFile, CsvOnDisk, Declaration, FileKind, Proposal, file_format, propose, sample

_HAND, _OPENED, _REFUSED, _SEED = "bench:hand", "bench:opened", "bench:refused", "bench:seed"
_SAID, _BY_LINK, _ACCEPTED = "bench:said", -1, "bench:accepted"
_NUMBERS = ("k", "epsilon", "delta")
_WORD, _ANSWERED = "bench:word", "bench:answered"


def find_hand() -> Hand:
    """What is in hand, with the settings as they stand; where nothing is open or waits, a public sample is opened."""
    source = find_undeclared() or find_source()
    if source is None:
        open_shown_at_once()
        source = find_source()
    assert source is not None
    kept = cast("Hand | None", st.session_state.get(_HAND))
    if kept is None:
        # Take from the link of a new visit what stands in no control of the bench, and that its ε was asked for.
        if "epsilon" in st.query_params:
            remember(_SAID, _BY_LINK)
        with suppress(RequestError):
            asked = Request.from_query(st.query_params.to_dict(), usual=_read_settings())
            remember(f"params:{asked.algorithm}", dict(asked.params))
            for name in ("k", "delta", "epsilon", "algorithm"):
                if name in st.query_params:
                    choose(name, getattr(asked, name))
    if kept is None or kept.number != source.number or _is_opened_elsewhere(kept):
        kept = _begin(source)
        keep_hand(kept)
    return replace(kept, request=_read_settings(), division=recall_division(public=not kept.is_private))


def open_shown_at_once() -> None:
    """Open the public sample that is there from the start."""
    open_sample(sample("fifteen"))


def open_table_or_sample() -> OpenTable:
    """The open table; where none is, the public sample is opened."""
    if find_table() is None and recall(COMING, usual=False):
        st.stop()  # what is said above is enough
    if find_table() is None:
        open_shown_at_once()
    table = find_table()
    assert table is not None
    return table


def keep_hand(hand: Hand) -> None:
    """Keep it, and what it says of the settings that all pages share."""
    st.session_state[_HAND] = hand
    request = hand.request
    for name in ("k", "delta", "epsilon", "algorithm"):
        choose(name, getattr(request, name))
    remember(f"params:{request.algorithm}", dict(request.params))
    remember(_SEED, request.seed)


def find_opened(hand: Hand) -> OpenTable | None:
    """The open table, if it is what is in hand; opened now, if nothing is missing any more."""
    if hand.is_complete and not hand.buys and st.session_state.get(_OPENED) != _name_declared(hand):
        st.session_state.pop(_REFUSED, None)
        try:
            bring_to_use(hand.content, replace(hand.declaration, title=hand.title))
        except RequestError as error:
            st.session_state[_REFUSED] = str(error)
        # At last: a change of page that breaks this run off leaves the rest of it to the next.
        st.session_state[_OPENED] = _name_declared(hand)
    table, source = find_table(), find_source()
    if table is None or source is None or source.number != hand.number or not hand.is_complete:
        return None
    if st.session_state.get(_REFUSED) or is_preparing(source):
        return None
    remember(f"{_ACCEPTED}:{table.source_key}", _Accepted(hand.rows, hand.target, hand.risk))
    return table


class _Accepted(NamedTuple):
    """What an owner accepts of a table, kept until it is opened again."""

    rows: KnownRows | None = None
    target: Target = Target()
    risk: windows.Risk = windows.Risk()


def recall_accepted(table: OpenTable) -> _Accepted:
    """What was accepted of a table in this visit."""
    return recall(f"{_ACCEPTED}:{table.source_key}", _Accepted())


def open_anew() -> None:
    """Open what is in hand once more, as after a preparation that was broken off."""
    st.session_state.pop(_OPENED, None)


def find_refusal() -> str:
    """Why what is in hand could not be opened; "" if it could."""
    return str(st.session_state.get(_REFUSED, ""))


def set_epsilon(epsilon: float) -> None:
    """Take an ε from the axis; it is no longer one that was proposed."""
    remember(_SAID, find_hand().number)
    choose_epsilon(epsilon)


def is_epsilon_said(hand: Hand) -> bool:
    """Whether somebody has said which ε: on the axis for this table, or in the link that they came by."""
    return recall(_SAID, 0) in (hand.number, _BY_LINK)


def say_in_link(hand: Hand, *, form: str) -> None:
    """Name the settings in the link; a ``form`` of parameters that is open names its own."""
    for name, value in hand.request.query.items():
        if form != "algorithm" or name in _NUMBERS:
            st.query_params[name] = value


def _read_settings() -> Request:
    return replace(read_request(), seed=recall(_SEED, None))


def _name_declared(hand: Hand) -> tuple[Any, ...]:
    return (hand.number, hand.declaration)


def _is_opened_elsewhere(hand: Hand) -> bool:
    """Whether another page has opened the same file as something else."""
    source, opened = find_source(), st.session_state.get(_OPENED)
    if source is None or source.number != hand.number or find_undeclared() is not None:
        return False
    return opened is not None and opened[0] != hand.number


def _begin(source: Source) -> Hand:
    table = find_table()
    if find_undeclared() is None and table is not None:
        hand = _begin_with_table(source, table)
        st.session_state[_OPENED] = _name_declared(hand)
        st.session_state.pop(_REFUSED, None)
        return hand
    declared = source.declared or Declaration(title=source.content.name)
    # What was asked of the last table says nothing of this one.
    request = replace(_read_settings(), k=USUAL_CLUSTERS, delta=check.choose_usual_delta(None), seed=None)
    if declared.columns:
        return Hand(source.number, source.content, declared, request).take_declaration(declared)
    # What the first rows look like, or why that cannot be told.
    st.session_state.pop(_REFUSED, None)
    proposal = None
    if read_beginning(source.content) is not None:
        try:
            proposal = look_and_propose(source.content, Declaration().kind)
        except RequestError as error:
            st.session_state[_REFUSED] = str(error)
    return Hand.of_file(source.number, source.content, declared, proposal, request)


def _begin_with_table(source: Source, table: OpenTable) -> Hand:
    declared = table.declaration
    rows = KnownRows.read(declared)
    if rows is None and (table.n_public or table.kind.may_be_shown):
        n = table.n_public or table.loaded.n_rows
        rows = KnownRows(n, n)
    said = recall_accepted(table)
    hand = Hand(source.number, source.content, declared, _read_settings(), said.rows or rows, person_said=True)
    hand = replace(hand, target=said.target, risk=said.risk)
    return replace(hand, buys_rows=hand.rows is None)


def look_and_propose(content: Content, kind: FileKind, reading: file_format.FileFormat | None = None) -> Proposal:
    """How a CSV file seems to be written; a look, which is counted."""
    file = read_beginning(content)
    assert file is not None
    count_look(content, kind, AccessKind.PROPOSAL, "a proposal of how the file is read")
    return propose(file, reading=reading)


def count_look(content: Content, kind: FileKind, what: AccessKind, note: str) -> None:
    """Count that rows of a file were seen before it is opened."""
    seen = content.fingerprint
    count_access(DataAccess(seen, seen, content.name, kind, what, note))


def read_beginning(content: Content) -> CsvFile | None:
    """The first lines of a CSV file, which are all of one in memory; None of any other table."""
    if isinstance(content, CsvOnDisk):
        return make_once("bench:beginning", content.fingerprint, content.read_beginning)
    return content if isinstance(content, CsvFile) else None


def list_names(hand: Hand, file: file_format.FileFormat | None = None) -> tuple[str, ...]:
    """All columns, by the header or as declared; refused where the file cannot be read so."""
    declared = hand.declaration if file is None else replace(hand.declaration, file=file)
    return make_once("bench:names", (hand.number, declared.file), lambda: list_columns(hand.content, declared), most=4)


def find_open_word() -> str:
    """The word whose form is open; "" if none is."""
    return str(st.session_state.get(_WORD, ""))


def open_word(word: str) -> None:
    """Open the form of a word; call it from a callback."""
    st.session_state[_WORD] = word


def close_word() -> None:
    """Close the form that is open, and draw the page anew."""
    st.session_state[_WORD] = ""
    st.rerun()


def count_answers() -> int:
    """How many forms were answered: with each the sentence goes on to its next gap."""
    return int(st.session_state.get(_ANSWERED, 1))


def answer(hand: Hand) -> None:
    """Keep what a form said, close it, and go on to the next gap."""
    if not hand.is_private and hand.rows is None and (rows := count_public_rows(hand)) is not None:
        hand = hand.say_rows(rows)
    if hand.declaration != find_hand().declaration:
        st.session_state.pop(_REFUSED, None)  # it was of what was said before
    keep_hand(hand)
    st.session_state[_ANSWERED] = count_answers() + 1
    close_word()


def make_key(hand: Hand, name: str) -> str:
    """The key of a widget about this table."""
    return f"bench:{hand.number}:{name}"


def dress(hand: Hand, name: str, of: str = "", **more: Any) -> dict[str, Any]:
    """How a control about this table looks, its key, and what is so here."""
    return look_of(name, key=make_key(hand, f"{name}{of}"), **more)


def ask_one(
    hand: Hand, name: str, now: Value, words: Mapping[Value, str] | None = None, *, of: str = "", by: Any = st.selectbox
) -> Value:
    """One of the keys of ``words``, each shown as these say it; at first the one that is so ``now``."""
    look = dress(hand, name, of)
    known = look.pop("words", words)
    options = [*known, *([] if now in known else [now])]
    index, shown = options.index(now), lambda option: known.get(option, option)
    said: Value = by(options=options, index=index, format_func=shown, **look)
    return said


def count_public_rows(hand: Hand) -> KnownRows | None:
    """How many rows a file has that anybody may see; None where that takes reading a large one."""
    content, declared = hand.content, hand.declaration
    if is_large(content):
        return None
    if isinstance(content, CsvFile):
        try:
            n = content.read(declared.file, numbers=(), text=content.header(declared.file).names[:1]).n_rows
        except RequestError:
            return None
    else:
        n = getattr(content, "n_rows", 0)
    return KnownRows(n, n) if n else None
