"""Mistakes that were made, or could be, in what leaves: each with the test that turns red when it is planted.

One file, what stands in it, what is put in its place, and the test. A test that stays green has lost what it was for.
"""

from __future__ import annotations

from typing import NamedTuple

BYTES = "tests/release/test_release_bytes.py::test_the_same_draws_over_any_other_rows_give_the_same_bytes"
VERIFY = "tests/release/test_verify.py"
BEFORE = "tests/release/test_before_the_charge.py"


class Planted(NamedTuple):
    """A mistake: in which ``file`` of the package ``new`` stands instead of ``old``, and the test that notices."""

    name: str
    file: str
    old: str
    new: str
    test: str


LEAKS = (
    Planted(
        "a true mean in the card's table name",
        "dpviz/release/releasing.py",
        "declaration = replace(table.declaration, words=declaration.words)",
        "declaration = replace(table.declaration, words=declaration.words, title=f'V {table.private._values[0, 0]}')",
        f"{BYTES}[auto-plain]",
    ),
    Planted(
        "a true mean on the card, written where the rows are",
        "dpviz/release/releasing.py",
        "n_public=drawn.parts.clustered.run.n_public,",
        "n_public=int(prepared.table.private._values[0, 1]),",
        f"{BYTES}[auto-segments]",
    ),
    Planted(
        "a warning that quotes a revealed mean",
        "dpviz/runs/run.py",
        "return (regime.message,) if",
        "return (f'{table._values[0, 0]} is a value',) if",
        "tests/release/test_release_bytes.py::test_a_run_says_the_same_of_any_other_rows[eugkm]",
    ),
    Planted(
        "a page that shows the true n of a private table",
        "dpviz/ui/owner_path.py",
        'f"{plain(table.title)} is open."',
        'f"{plain(table.title)} is open: {len(table.private._rows):,d} rows."',
        "tests/pages/test_true_numbers.py::test_no_page_shows_the_number_of_rows_of_a_private_table[data]",
    ),
    Planted(
        "noise halved after the charge",
        "dpviz/privacy/room.py",
        "Released(self._draw(mechanism, truth), mechanism)",
        "Released(self._draw(replace(mechanism, scale=mechanism.scale / 2), truth), mechanism)",
        "tests/release/test_noise_of_releases.py::test_noise_is_as_wide_as_the_ledger_says[eugkm]",
    ),
    Planted(
        "an algorithm that reads the number of rows past the room's doors",
        "dpviz/algorithms/auto/auto.py",
        "room.relation, room.n, room.rows_per_person)",
        "room.relation, max(1, len(room._rows)), room.rows_per_person)",
        f"{BYTES}[auto-segments]",
    ),
)

UNPAID = (
    Planted(
        "the share for missing cells is spent on each column",
        "dpviz/release/release_parts.py",
        "each = share.epsilon / len(declaration.columns)",
        "each = share.epsilon",
        f"{BYTES}[auto-missing cells]",
    ),
    Planted(
        "the share for bought bounds is spent on each column",
        "dpviz/release/release_parts.py",
        "epsilon=share.epsilon / len(open_columns(declaration))",
        "epsilon=share.epsilon",
        f"{BYTES}[auto-bought bounds]",
    ),
    Planted(
        "the charge leaves out a share",
        "dpviz/release/order.py",
        "epsilon=self.request.epsilon,\n            delta=self.delta,",
        "epsilon=self.shares(declaration)[ALGORITHM].epsilon,\n            delta=self.delta,",
        f"{BYTES}[auto-segments]",
    ),
    Planted(
        "the charge leaves out δ",
        "dpviz/release/order.py",
        "delta=self.delta,\n            algorithm",
        "delta=0.0,\n            algorithm",
        f"{BYTES}[auto-segments]",
    ),
    Planted(
        "segments get what the algorithm has",
        "dpviz/release/release_parts.py",
        "opened.described(), shares[OF_SEGMENTS]",
        "opened.described(), shares[ALGORITHM]",
        f"{BYTES}[auto-segments]",
    ),
    Planted(
        "how the account stood is read before the charge, not with it",
        "dpviz/release/releasing.py",
        "played = play(transcript_of(prepared, before, charge, drawn))",
        "played = play(transcript_of(prepared, prepared.before, charge, drawn))",
        f"{BEFORE}::test_a_card_tells_how_the_account_stood_at_its_own_charge",
    ),
    Planted(
        "what segments describe is asked for after the charge",
        "dpviz/release/releasing.py",
        "    if order.segments:\n        described_table(table, content)\n",
        "",
        f"{BEFORE}::test_a_described_column_of_a_file_beyond_memory_is_refused",
    ),
    Planted(
        "nothing is rehearsed",
        "dpviz/release/releasing.py",
        "    rehearse(prepared)\n    charge =",
        "    charge =",
        f"{BEFORE}::test_noise_that_cannot_be_drawn_is_refused",
    ),
)

UNCHECKED = (
    Planted(
        "files are not compared",
        "dpviz/release/verify.py",
        "yield from (Finding(name, words) for words in differences(files[name], due, table=name in _TABLES))",
        "pass",
        f"{VERIFY}::test_another_file_in_its_place_is_named[card.html]",
    ),
    Planted(
        "bounds that were bought are not compared",
        "dpviz/release/render.py",
        "to_json(played.parts.declaration)",
        "to_json(played.asked.declared)",
        "tests/release/test_release_bytes.py::test_bounds_that_were_bought_are_those_of_every_file_and_no_others_pass",
    ),
    Planted(
        "answers that nobody asks for are not named",
        "dpviz/release/verify.py",
        "for part in played.unasked:",
        "for part in ():",
        f"{VERIFY}::test_an_answer_that_nobody_asks_for_is_named[segments]",
    ),
    Planted(
        "what was spent is not compared with the charge",
        "dpviz/release/playing.py",
        "if fsum(spent) > epsilon * (1 + _LAST_DIGITS):",
        "if False:",
        f"{VERIFY}::test_more_spent_than_was_charged_is_named_even_where_every_file_says_so",
    ),
    Planted(
        "the card forgets looks",
        "dpviz/release/render.py",
        "looks=order.seen.looks,",
        "looks={},",
        "tests/release/test_release_bytes.py::test_nothing_of_the_owners_words_is_lost_on_the_way",
    ),
    Planted(
        "the card forgets runs on the rows",
        "dpviz/release/render.py",
        "runs=order.seen.runs,",
        "runs=0,",
        "tests/release/test_release_bytes.py::test_nothing_of_the_owners_words_is_lost_on_the_way",
    ),
    Planted(
        "arrays that are no answers are passed over",
        "dpviz/release/transcript.py",
        "if list(held) != list(whole.arrays()):",
        "if False:",
        f"{VERIFY}::test_whatever_else_a_transcript_holds_is_named",
    ),
    Planted(
        "words behind what was asked are passed over",
        "dpviz/release/transcript.py",
        "if text != whole.asked_text:",
        "if False:",
        f"{VERIFY}::test_whatever_else_a_transcript_holds_is_named",
    ),
    Planted(
        "bytes between the files of a zip are passed over",
        "dpviz/release/zips.py",
        "if len(data) != _expected(archive, listed):",
        "if False:",
        f"{VERIFY}::test_whatever_else_a_zip_holds_is_named",
    ),
    Planted(
        "text behind a signature is passed over",
        "dpviz/release/signature.py",
        "if signature != _text(public, signed).encode():",
        "if False:",
        "tests/release/test_foreign_bytes.py::test_text_behind_a_signature_is_named",
    ),
)

PLANTED = (*LEAKS, *UNPAID, *UNCHECKED)
