"""A release as one page for a reader: a lawyer, a journalist, a privacy officer. It prints on two sheets.

The page has no script and asks for nothing: its own policy forbids both, whatever a picture or a name holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from string import Template

from dpviz.charts.theme import FONT, Theme, palette
from dpviz.charts.wording import clauses, opening, percent
from dpviz.release.card_facts import CardFacts, CardPicture, said
from dpviz.release.card_pictures import centers_picture, sizes_picture
from dpviz.release.card_tables import account_html, bounds_html, centers_html, ledger_html, missing_html, segments_html
from dpviz.release.intervals import WIDE
from dpviz.release.promise import (
    ALONE,
    belief,
    chosen_sentence,
    looks_sentence,
    paper_of,
    promise,
    protected,
    recomposed_sentence,
    sizes_sentence,
    slack,
    small,
    smallest_sentence,
    unprotected,
)
from dpviz.release.segment_words import certificate_told, segments_told
from dpviz.release.segments_report import TOO_SMALL

_HERE = Path(__file__).parent
_NEIGHBOURS = {"add_remove": "added or removed", "replace": "replaced by another"}
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_CODE = {"light": "#f2f4f7", "dark": "#1d2530"}


def card_page(facts: CardFacts) -> str:
    """The page ``card.html``: public and released values only, light and dark, for a telephone and for two A4 sheets.

    Whatever comes from outside is escaped. The markup of ``facts.pictures`` is ours and is put in as it is.
    """
    words = facts.words
    day = clauses(", ".join(said(*words.curators)), *said(words.region), words.publication_date)
    body = Template((_HERE / "card_page.html").read_text(encoding="utf-8")).substitute(
        name=escape(words.name),
        origin=escape(day),
        description=escape(words.description),
        promise=escape(promise(facts)),
        belief=escape(belief(facts)),
        slack=escape(f"{slack(facts)} {recomposed_sentence(facts)}".rstrip()),
        key="".join(f"<dt>{escape(name)}</dt><dd>{escape(told)}</dd>" for name, told in _key(facts)),
        protected="".join(f"<p>{escape(told)}</p>" for told in protected(facts)),
        unprotected="".join(f"<li><b>{escape(head)}.</b> {escape(told)}</li>" for head, told in unprotected(facts)),
        pictures=_pictures(facts),
        centers=centers_html(facts) + _centers_note(facts),
        segments=segments_html(facts),
        segment_head="<h3>Who is in them</h3>" if segments_told(facts.segments) else "",
        segment_note=_segment_note(facts),
        bounds=bounds_html(facts) + missing_html(facts),
        looks=escape(looks_sentence(facts)),
        chosen=_chosen(facts),
        accounting=escape(f"{facts.accounting.rstrip('.')}. {ALONE}"),
        ledger=ledger_html(facts),
        account=account_html(facts),
        made="".join(f"<p>{escape(told)}</p>" for told in _made(facts)),
        verify=_verify(),
        justification=escape(_or_not(words.justification, "why these bounds, this ε and this k")),
        intended=escape(_or_not(words.intended_use, "what it is meant for", begin="Meant for: ")),
        footer=escape(
            f"Written by dpviz {facts.dpviz}{_for(words.authors)}, together with the release. Beside "
            "the owner's own words, nothing on this page was read from the rows without noise."
        ),
    )
    return page_html(f"{words.name} · card", body)


def _or_not(words: str, what: str, *, begin: str = "") -> str:
    """The owner's words, or that there are none."""
    return f"{begin}{words}" if said(words) else f"The owner has not said {what}."


def _for(authors: Sequence[str]) -> str:
    return f" for {', '.join(said(*authors))}" if said(*authors) else ""


def page_html(title: str, body: str) -> str:
    """A page with the style of the files of a release: it has no script, asks for nothing, and forbids both."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{_style()}</style></head><body>\n{body}</body></html>\n"
    )


def _style() -> str:
    css = Template((_HERE / "card_page.css").read_text(encoding="utf-8"))
    return css.substitute(font=FONT, light=_colors("light"), dark=_colors("dark"))


def _colors(theme: Theme) -> str:
    ink = palette(theme)
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


def _key(facts: CardFacts) -> Iterator[tuple[str, str]]:
    yield "ε", f"{facts.epsilon:g}"
    yield "δ", small(facts.delta)
    yield "protects", f"{facts.unit}, {_NEIGHBOURS[facts.relation]}"
    yield "data", facts.table
    yield "segments", f"k = {facts.k}"
    yield "algorithm", facts.algorithm
    yield "noise", facts.noise


def _pictures(facts: CardFacts) -> str:
    sizes = sizes_picture(facts)
    beside = (_figure(sizes) if sizes else "") + _quality(facts)
    others = "".join(map(_figure, facts.pictures))
    return f"{_figure(centers_picture(facts))}<div>{beside}</div>{others}"


def _figure(picture: CardPicture) -> str:
    return (
        f'<figure><figcaption>{escape(picture.title)}</figcaption><div role="img" aria-label="{escape(picture.alt)}">'
        f"{picture.markup}</div></figure>"
    )


def _centers_note(facts: CardFacts) -> str:
    """What stands behind a ±, and why sizes do not add up to something else."""
    if facts.center_sd is None:
        noise = "The algorithm cannot tell the noise on its centres."
    else:
        noise = "± is one standard deviation of the noise on that number."
    told = " ".join(filter(None, (noise, sizes_sentence(facts), smallest_sentence(facts))))
    return f'<p class="muted">{escape(told)}</p>'


def _segment_note(facts: CardFacts) -> str:
    if not facts.segments or not segments_told(facts.segments):
        return ""
    level = float(facts.segments.get("level", 0.9))
    return (
        '<p class="muted">Of each column the median, or the shares; in brackets an interval that holds '
        f"{percent(level)} of the time, each by itself, so that among many some do not. A range alone, such as 18–60, "
        f"is all that is known of a median whose interval is wider than {percent(WIDE)} of the bounds. Below it, where "
        "both ends are known better than that, the middle half. Shares and sizes carry noise each, and need not add "
        f"up. “{opening(TOO_SMALL)}” is said where noise of one histogram is half of the noisy size or more, or the "
        "size may be noise alone: an absent number is no zero. Marked ▸: what tells a segment apart from the "
        "others.</p>"
    )


def _quality(facts: CardFacts) -> str:
    told = list(certificate_told(facts.certificate))
    if facts.expected_loss:
        told.append(f"Expected before the release: {facts.expected_loss}")
    if not told:
        return ""
    return f"<h3>How good the segments are</h3><p>{escape(' '.join(told))}</p>"


def _chosen(facts: CardFacts) -> str:
    chosen = facts.words.chosen_after_looking
    told = f"<p>{escape(chosen_sentence(facts))}</p>"
    return f"{told}<blockquote>{escape(chosen)}</blockquote>" if chosen.strip() else told


def _made(facts: CardFacts) -> Iterator[str]:
    yield f"The algorithm is {facts.algorithm} ({paper_of(facts)})."
    yield (
        f"Noise was drawn by {facts.noise} on whole numbers, from the randomness of the operating system, without a "
        "seed. No answer about the rows left without it."
    )
    if facts.center_step is not None:
        yield "Released centres were rounded to a public grid; that reads no row again."
    ran = f", on {facts.platform}" if facts.platform else ""
    yield f"The program is dpviz {facts.dpviz}{ran}. How long it took is not said, because that depends on the rows."


def _verify() -> str:
    return (
        "<p>Without the rows: <code>python -m dpviz verify release.zip</code> checks that every file follows from the "
        "released answers, and that no more was spent than was charged. VERIFY.txt lists all that it checks.</p>"
        "<p>Nobody can tell from these files that the noise was honestly drawn, that bounds came from nowhere near the "
        "rows, that the owner's words, the looks and the account are as is said, or that nothing else was released "
        "about the same people.</p>"
        "<p>Whoever holds rows finds the segment of each with <code>python assign.py ROWS.csv SEGMENTS.csv</code>, on "
        "their own machine. Segments of single rows are not published.</p>"
    )
