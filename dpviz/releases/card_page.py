"""A release as one page for a reader: a lawyer, a journalist, a privacy officer. It prints on two sheets.

The page has no script and asks for nothing: its own policy forbids both, whatever a picture or a name holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from string import Template

from dpviz.charts.theme import FONT, Theme, choose_palette
from dpviz.charts.wording import capitalize_first, format_percent, join_clauses
from dpviz.releases.card_facts import CardFacts, CardPicture, list_said
from dpviz.releases.card_pictures import draw_centers, draw_sizes
from dpviz.releases.card_tables import (
    format_account,
    format_bounds,
    format_centers,
    format_ledger,
    format_missing,
    format_segments,
)
from dpviz.releases.intervals import WIDE
from dpviz.releases.promise import (
    ALONE,
    describe_accesses,
    describe_choice,
    describe_promise,
    describe_recomposed,
    describe_sizes,
    describe_slack,
    describe_smallest,
    format_belief,
    format_paper,
    format_small,
    list_protected,
    list_unprotected,
)
from dpviz.releases.segment_words import describe_quality, describe_segments
from dpviz.releases.segments_report import TOO_SMALL

_HERE = Path(__file__).parent
_NEIGHBOURS = {"add_remove": "added or removed", "replace": "replaced by another"}
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_CODE = {"light": "#f2f4f7", "dark": "#1d2530"}


def make_card_page(facts: CardFacts) -> str:
    """The page ``card.html``: public and released values only, light and dark, for a telephone and for two A4 sheets.

    Whatever comes from outside is escaped. The markup of ``facts.pictures`` is ours and is put in as it is.
    """
    words = facts.words
    day = join_clauses(", ".join(list_said(*words.curators)), *list_said(words.region), words.publication_date)
    body = Template((_HERE / "card_page.html").read_text(encoding="utf-8")).substitute(
        name=escape(words.name),
        origin=escape(day),
        description=escape(words.description),
        promise=escape(describe_promise(facts)),
        belief=escape(format_belief(facts)),
        slack=escape(f"{describe_slack(facts)} {describe_recomposed(facts)}".rstrip()),
        key="".join(f"<dt>{escape(name)}</dt><dd>{escape(told)}</dd>" for name, told in _list_key_facts(facts)),
        protected="".join(f"<p>{escape(told)}</p>" for told in list_protected(facts)),
        unprotected="".join(
            f"<li><b>{escape(head)}.</b> {escape(told)}</li>" for head, told in list_unprotected(facts)
        ),
        pictures=_draw_pictures(facts),
        centers=format_centers(facts) + _format_centers_note(facts),
        segments=format_segments(facts),
        segment_head="<h3>Who is in them</h3>" if describe_segments(facts.segments) else "",
        segment_note=_format_segment_note(facts),
        bounds=format_bounds(facts) + format_missing(facts),
        looks=escape(describe_accesses(facts)),
        chosen=_format_choice(facts),
        accounting=escape(f"{facts.accounting.rstrip('.')}. {ALONE}"),
        ledger=format_ledger(facts),
        account=format_account(facts),
        made="".join(f"<p>{escape(told)}</p>" for told in _list_making(facts)),
        verify=_format_verify(),
        justification=escape(_format_words(words.justification, "why these bounds, this ε and this k")),
        intended=escape(_format_words(words.intended_use, "what it is meant for", begin="Meant for: ")),
        footer=escape(
            f"Written by dpviz {facts.dpviz}{_format_authors(words.authors)}, together with the release. Beside "
            "the owner's own words, nothing on this page was read from the rows without noise."
        ),
    )
    return make_page(f"{words.name} · card", body)


def _format_words(words: str, what: str, *, begin: str = "") -> str:
    """The owner's words, or that there are none."""
    return f"{begin}{words}" if list_said(words) else f"The owner has not said {what}."


def _format_authors(authors: Sequence[str]) -> str:
    return f" for {', '.join(list_said(*authors))}" if list_said(*authors) else ""


def make_page(title: str, body: str) -> str:
    """A page with the style of the files of a release: it has no script, asks for nothing, and forbids both.

    Parameters
    ----------
    title : str
        Of the page.
    body : str
        HTML.

    Returns
    -------
    str
        A whole HTML file.
    """
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{_read_style()}</style></head><body>\n{body}</body></html>\n"
    )


def _read_style() -> str:
    css = Template((_HERE / "card_page.css").read_text(encoding="utf-8"))
    return css.substitute(font=FONT, light=_format_colors("light"), dark=_format_colors("dark"))


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


def _draw_pictures(facts: CardFacts) -> str:
    sizes = draw_sizes(facts)
    beside = (_format_figure(sizes) if sizes else "") + _format_quality(facts)
    others = "".join(map(_format_figure, facts.pictures))
    return f"{_format_figure(draw_centers(facts))}<div>{beside}</div>{others}"


def _format_figure(picture: CardPicture) -> str:
    return (
        f'<figure><figcaption>{escape(picture.title)}</figcaption><div role="img" aria-label="{escape(picture.alt)}">'
        f"{picture.markup}</div></figure>"
    )


def _format_centers_note(facts: CardFacts) -> str:
    """What stands behind a ±, and why sizes do not add up to something else."""
    if facts.center_sd is None:
        noise = "The algorithm cannot tell the noise on its centres."
    else:
        noise = "± is one standard deviation of the noise on that number."
    told = " ".join(filter(None, (noise, describe_sizes(facts), describe_smallest(facts))))
    return f'<p class="muted">{escape(told)}</p>'


def _format_segment_note(facts: CardFacts) -> str:
    if not facts.segments or not describe_segments(facts.segments):
        return ""
    level = float(facts.segments.get("level", 0.9))
    return (
        '<p class="muted">Of each column the median, or the shares; in brackets an interval that holds '
        f"{format_percent(level)} of the time, each by itself, so that among many some do not. A range "
        f"alone, such as 18–60, "
        f"is all that is known of a median whose interval is wider than {format_percent(WIDE)} of the "
        f"bounds. Below it, where "
        "both ends are known better than that, the middle half. Shares and sizes carry noise each, and need not add "
        f"up. “{capitalize_first(TOO_SMALL)}” is said where noise of one histogram is half of the noisy "
        f"size or more, or the "
        "size may be noise alone: an absent number is no zero. Marked ▸: what tells a segment apart from the "
        "others.</p>"
    )


def _format_quality(facts: CardFacts) -> str:
    told = list(describe_quality(facts.quality_report))
    if facts.expected_loss:
        told.append(f"Expected before the release: {facts.expected_loss}")
    if not told:
        return ""
    return f"<h3>How good the segments are</h3><p>{escape(' '.join(told))}</p>"


def _format_choice(facts: CardFacts) -> str:
    chosen = facts.words.chosen_after_looking
    told = f"<p>{escape(describe_choice(facts))}</p>"
    return f"{told}<blockquote>{escape(chosen)}</blockquote>" if chosen.strip() else told


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


def _format_verify() -> str:
    return (
        "<p>Without the rows: <code>python -m dpviz verify release.zip</code> checks that every file follows from the "
        "released answers, and that no more was spent than was charged. VERIFY.txt lists all that it checks.</p>"
        "<p>Nobody can tell from these files that the noise was honestly drawn, that bounds came from nowhere near the "
        "rows, that the owner's words, the looks and the account are as is said, or that nothing else was released "
        "about the same people.</p>"
        "<p>Whoever holds rows finds the segment of each with <code>python assign.py ROWS.csv SEGMENTS.csv</code>, on "
        "their own machine. Segments of single rows are not published.</p>"
    )
