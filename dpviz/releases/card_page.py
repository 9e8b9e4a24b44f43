"""A release as one page for a reader: a lawyer, a journalist, a privacy officer. It prints on two sheets.

The page has no script and asks for nothing: its own policy forbids both, whatever a picture or a name holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dpviz.releases.card_facts import CardFacts, list_said
from dpviz.releases.card_pictures import draw_centers, draw_sizes
from dpviz.releases.card_tables import (
    describe_missing,
    make_account_table,
    make_bounds_table,
    make_centers_table,
    make_ledger_table,
    make_segments_table,
)
from dpviz.releases.intervals import WIDE
from dpviz.releases.promise import (
    ALONE,
    describe_accesses,
    describe_choice,
    describe_promise,
    describe_recomposed,
    describe_slack,
    format_belief,
    format_paper,
    format_small,
    list_protected,
    list_unprotected,
)
from dpviz.releases.segment_words import describe_quality
from dpviz.releases.segments_report import TOO_SMALL
from dpviz.words import FONT, Theme, capitalize_first, choose_palette, format_percent, join_clauses, render

_NEIGHBOURS = {"add_remove": "added or removed", "replace": "replaced by another"}
_OWNER = "In the owner's words: "
_CODE = {"light": "#f2f4f7", "dark": "#1d2530"}


def make_card_page(facts: CardFacts) -> str:
    """The page ``card.html``: public and released values only, light and dark, for a telephone and for two A4 sheets.

    Whatever comes from outside is escaped. The markup of ``facts.pictures`` is ours and is put in as it is.
    """
    words = facts.words
    origin = join_clauses(", ".join(list_said(*words.curators)), *list_said(words.region), words.publication_date)
    return render_page(
        "card.html.j2",
        title=f"{words.name} · card",
        words=words,
        about=f"{_OWNER}{words.description}",
        origin=origin,
        promise=describe_promise(facts),
        belief=format_belief(facts),
        slack=f"{describe_slack(facts)} {describe_recomposed(facts)}".rstrip(),
        key_facts=list(_list_key_facts(facts)),
        protected=list_protected(facts),
        unprotected=list_unprotected(facts),
        justification=_format_words(words.justification, "why these bounds, this ε and this k", begin=_OWNER),
        intended=_format_words(words.intended_use, "what it is meant for", begin=f"Meant for. {_OWNER}"),
        drawn_centers=draw_centers(facts),
        drawn_sizes=draw_sizes(facts),
        pictures=facts.pictures,
        quality=_describe_quality(facts),
        centers=make_centers_table(facts),
        segments=make_segments_table(facts),
        level=format_percent(float((facts.segments or {}).get("level", 0.9))),
        wide=format_percent(WIDE),
        too_small=capitalize_first(TOO_SMALL),
        bounds=make_bounds_table(facts),
        missing=describe_missing(facts),
        looks=describe_accesses(facts),
        choice=describe_choice(facts),
        accounting=f"{facts.accounting.rstrip('.')}. {ALONE}",
        ledger=make_ledger_table(facts),
        account=make_account_table(facts),
        making=list(_list_making(facts)),
        footer=(
            f"Written by dpviz {facts.dpviz}{_format_authors(words.authors)}, together with the release. Beside "
            "the owner's own words, nothing on this page was read from the rows without noise."
        ),
    )


def _format_words(words: str, what: str, *, begin: str = "") -> str:
    """The owner's words, or that there are none."""
    return f"{begin}{words}" if list_said(words) else f"The owner has not said {what}."


def _format_authors(authors: Sequence[str]) -> str:
    return f" for {', '.join(list_said(*authors))}" if list_said(*authors) else ""


def render_page(template: str, /, **values: Any) -> str:
    """A page in the style of the files of a release: it has no script, asks for nothing, and forbids both.

    **values
        What it is filled with: a ``title``, and what else it says.
    """
    return render(template, font=FONT, light=_format_colors("light"), dark=_format_colors("dark"), **values)


def _format_colors(theme: Theme) -> str:
    ink = choose_palette(theme)
    named = {
        "surface": ink.surface,
        "text": ink.text,
        "muted": ink.muted,
        "line": ink.grid,
        "public": ink.public,
        "released": ink.released,
        "code": _CODE[theme],
    }
    return " ".join(f"--{name}: {color};" for name, color in named.items())


def _list_key_facts(facts: CardFacts) -> Iterator[tuple[str, str]]:
    yield "ε", f"{facts.epsilon:g}"
    yield "δ", format_small(facts.delta)
    yield "protects", f"{facts.unit}, {_NEIGHBOURS[facts.relation]}"
    yield "data", facts.table
    yield "segments", f"k = {facts.k}"
    yield "algorithm", facts.algorithm
    yield "noise", facts.noise


def _describe_quality(facts: CardFacts) -> str:
    expected = [f"Expected before the release: {facts.expected_loss}"] if facts.expected_loss else []
    return " ".join([*describe_quality(facts.quality_report), *expected])


def _list_making(facts: CardFacts) -> Iterator[str]:
    yield f"The algorithm is {facts.algorithm} ({format_paper(facts)})."
    yield (
        f"Noise was drawn by {facts.noise} on whole numbers, from the randomness of the operating system, without a "
        "seed. No answer about the rows left without it."
    )
    if facts.center_step is not None:
        yield "Released centres were rounded to a public grid; that reads no row again."
    ran = f", on {facts.platform}" if facts.platform else ""
    yield f"The program is dpviz {facts.dpviz}{ran}. How long it took is not said, because that depends on the rows."
