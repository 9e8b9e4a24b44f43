"""The declaration as a sentence: text, and words of which each is a control. A pure function of what is in hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dpviz.algorithms import Guarantee
from dpviz.app.ui.bench.hand import UNKNOWN, Hand, format_number_typed
from dpviz.app.ui.escape import strip_markdown
from dpviz.core import check
from dpviz.tables import codings
from dpviz.words import format_small, format_things, shorten

# Letters of a name and of an origin, columns that are said at first, and those that are while some bound is missing.
_LONG_NAME, _LONG_ORIGIN, _FEW, _MOST = 18, 26, 4, 12
MORE = "more"
"""The word behind which the other columns stand."""


@dataclass(frozen=True)
class Word:
    """A word that is a control: a box to type into, or a button that opens a form.

    ``name`` is what a screen reader says before it; a ``gap`` is still to be said, a ``refusal`` says why what was
    typed cannot be.
    """

    id: str
    text: str
    name: str
    gap: bool = False
    refusal: str = ""
    is_box: bool = False


Paragraph = list[str | Word]


def write_sentence(hand: Hand) -> list[Paragraph]:
    """Three sentences: whose rows, which groups, what is accepted."""
    return [list(_say_whose(hand)), list(_say_groups(hand)), list(_say_accepted(hand))]


def summarize(hand: Hand) -> str:
    """The sentence in a line, for where there is no room and nothing is missing."""
    columns = hand.declaration.columns
    by = ", ".join(map(_cut, columns[:2])) + (f" and {len(columns) - 2} more" if len(columns) > 2 else "")
    return f"{_cut(hand.title)}: {format_things(hand.request.k, 'group')} by {by}"


def format_rows(hand: Hand) -> str:
    """How many rows there are, as the box of the sentence says it; "" where nobody has."""
    if hand.rows is None:
        return UNKNOWN if hand.buys_rows else ""
    low, high = hand.rows
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _cut(name: str) -> str:
    return shorten(strip_markdown(name), _LONG_NAME)


def _make_box(hand: Hand, word: str, text: str, name: str) -> Word:
    return Word(word, text, name, not text, hand.refused.get(word, ""), is_box=True)


def _make_button(hand: Hand, word: str, text: str, name: str) -> Word:
    return Word(word, text or "__", name, not text, hand.refused.get(word, ""))


def _say_whose(hand: Hand) -> Iterator[str | Word]:
    declared = hand.declaration
    yield from ("The", _make_button(hand, "kind", str(declared.kind), "whose eyes it is for"))
    yield from ("table", _make_button(hand, "table", _cut(hand.title), "table"))
    yield from ("has", _make_box(hand, "rows", format_rows(hand), "number of rows, or a range"), "rows,")
    each, most = declared.id_column, declared.rows_per_person
    of_whom = "person" if each is None else _cut(each)
    person = f"{'one' if most == 1 else f'at most {most:,}'} of each {of_whom}"
    yield from (_make_button(hand, "person", person if hand.person_said else "", "rows of a person"), ".")


def _say_groups(hand: Hand) -> Iterator[str | Word]:
    columns, card = hand.declaration.columns, hand.request.card
    yield from ("Find", _make_box(hand, "k", f"{hand.request.k}", "number of groups"))
    yield "group by" if hand.request.k == 1 else "groups by"
    number = format_things(len(columns), "column") if columns else ""
    yield from (_make_button(hand, "columns", number, "which columns"), ":" if columns else "")
    refused = {word.partition(":")[2] for word in hand.refused if ":" in word}
    wanting = [name for name in columns if name in hand.open_columns or name in refused]
    most = _MOST if wanting else _FEW if len(columns) > _FEW + 1 else _FEW + 1
    most = len(columns) if hand.unfolded else most
    # What is missing is said first, so that no gap is hidden; all else stays in its order.
    first = sorted(columns, key=lambda name: name not in wanting) if len(wanting) and len(columns) > most else columns
    for place, name in enumerate(first[:most]):
        yield from [","] if place else []
        yield from _say_column(hand, name)
    if rest := len(columns) - len(first[:most]):
        yield from ("and", Word(MORE, f"{rest} more", "the other columns"))
    if columns:
        origin = shorten(strip_markdown(hand.origin), _LONG_ORIGIN) if hand.origin else ""
        yield from (", bounds from", _make_button(hand, "origin", origin, "where bounds are from"))
    yield from (", with", _make_button(hand, "algorithm", card.title, "algorithm"))
    # Whether it would spend a δ, as it is set.
    some = replace(hand.request, delta=hand.request.delta or check.choose_usual_delta(None))
    if Guarantee.APPROX in card.guarantees and some.spent_delta:
        yield from (", δ", _make_box(hand, "delta", format_small(hand.request.delta), "delta"))
    yield "."


def _say_column(hand: Hand, name: str) -> Iterator[str | Word]:
    """A number is its name and both bounds, a date both of its ends; a category says how many values it has."""
    declared, word = hand.declaration, f"column:{name}"
    ends, coding = declared.bounds[name], declared.codings.get(name, codings.NUMBER)

    def button(said: str = "") -> Word:
        return _make_button(hand, word, f"{_cut(name)}{said}", f"column {strip_markdown(name)}")

    if hand.find_written(name):
        said = "" if ends.lower is None else coding.words[0]
        yield from (button(), _make_box(hand, f"low:{name}", said, f"{strip_markdown(name)}, first to last day"))
        return
    if coding.ends is not None:
        # How long a cycle is, or how many values are declared.
        names = getattr(coding, "names", coding.words)
        yield button(f" ({names[0] if len(names) == 1 else format_things(len(names), 'value')})")
        return
    yield button(" (log)" if coding.kind == "log" else f" ({coding.kind})" if coding is not codings.NUMBER else "")
    if name in hand.buys:
        yield "with bounds that ε buys"
        return
    yield _make_box(hand, f"low:{name}", format_number_typed(ends.lower), f"{strip_markdown(name)} from")
    yield "to"
    yield _make_box(hand, f"high:{name}", format_number_typed(ends.upper), f"{strip_markdown(name)} to")


def _say_accepted(hand: Hand) -> Iterator[str | Word]:
    loss, risk = hand.target, hand.risk
    looser = _make_box(hand, "loss", f"{100 * (loss.loss - 1):.10g}", "accepted loss, %")
    yield from ("I accept groups that are", looser)
    yield from ("% looser than without privacy, in", Word("often", f"{10 * loss.share:g} of 10", "how often"), "draws.")
    prior, accepted = (f"{100 * chance:.10g}" for chance in (risk.prior, risk.accepted))
    yield from ("Whoever guesses something about a person with", _make_box(hand, "prior", prior, "guess before, %"))
    yield from ("% may be sure with at most", _make_box(hand, "accepted", accepted, "guess after, %"), "%.")
