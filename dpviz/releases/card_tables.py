"""The tables of a card: centres, segments, bounds, ledger, account; everything from outside is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby
from math import ceil, log10

from dpviz.charts.wording import format_number, format_percent, format_things
from dpviz.releases.card_facts import CardFacts
from dpviz.releases.charges import Charges, group_charges
from dpviz.releases.promise import format_small, format_span
from dpviz.releases.segment_words import ColumnTold, Interval, SegmentTold, describe_segments
from dpviz.table.declaration import FROM_ROWS

# What a sheet holds side by side and below each other; the files beside the card have all.
_MOST_COLUMNS, _MOST_CENTERS = 10, 24
_MOST_BOUNDS = 30


def format_table(head: Sequence[str], rows: Iterable[str], *, numbers: Sequence[int] = (), name: str) -> str:
    """A table of finished rows called ``name``; the columns at ``numbers`` are aligned to the right.

    Parameters
    ----------
    head : sequence of str
        Names of the columns.
    rows : iterable of str
        HTML of finished rows.
    numbers : sequence of int
        Places of columns that hold numbers.
    name : str
        What a reader of screens calls the table.

    Returns
    -------
    str
        HTML.
    """
    cells = "".join(
        f'<th scope="col"{" class=number" if place in numbers else ""}>{escape(title)}</th>'
        for place, title in enumerate(head)
    )
    label = f' aria-label="{escape(name)}"'
    return (
        f'<div class="wide" tabindex="0" role="region"{label}><table><thead><tr>{cells}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def format_row(cells: Sequence[str], *, numbers: Sequence[int] = (), kind: str = "") -> str:
    """One row; the first cell is its head.

    Parameters
    ----------
    cells : sequence of str
        HTML of each.
    numbers : sequence of int
        Places of columns that hold numbers.
    kind : str
        Class of the row.

    Returns
    -------
    str
        HTML.
    """
    first, *rest = cells
    told = "".join(
        f"<td{' class=number' if place in numbers else ''}>{escape(cell)}</td>"
        for place, cell in enumerate(rest, start=1)
    )
    return f'<tr{f" class={kind}" if kind else ""}><th scope="row">{escape(first)}</th>{told}</tr>'


def format_centers(facts: CardFacts) -> str:
    """Released centres in the units of the data, each coordinate and each size with the sd of its noise."""
    columns = facts.clustered[:_MOST_COLUMNS]
    digits = [_choose_digits(facts, place) for place in range(len(columns))]
    sized = facts.sizes is not None
    right = range(1, len(columns) + 2)
    rows = []
    for place, center in enumerate(facts.centers[:_MOST_CENTERS].tolist()):
        noise = [None] * len(columns) if facts.center_sd is None else facts.center_sd[place].tolist()
        cells = [
            f"{_format_value(value, digit)}{_format_sd(sd)}"
            for value, digit, sd in zip(center, digits, noise, strict=False)
        ]
        if facts.sizes is not None:
            cells.append(
                f"{facts.sizes[place]:,.0f}{_format_sd(None if facts.size_sd is None else facts.size_sd[place])}"
            )
        rows.append(format_row([str(place + 1), *cells], numbers=right))
    if facts.center_step is not None:
        cells = [format_number(value) for value in facts.center_step[: len(columns)].tolist()]
        rows.append(format_row(["rounded to", *cells, *([""] if sized else [])], numbers=right, kind="foot"))
    heads = [f"{one.name} ({one.unit})" if one.unit else one.name for one in columns]
    left_out = [
        format_things(facts.k - _MOST_CENTERS, "centre") if facts.k > _MOST_CENTERS else "",
        format_things(len(facts.clustered) - len(columns), "column") if len(facts.clustered) > len(columns) else "",
    ]
    rest = " and ".join(filter(None, left_out))
    more = f'<p class="muted">{rest} more: see centers.csv.</p>' if rest else ""
    head = ["segment", *heads, *(["size"] if sized else [])]
    return format_table(head, rows, numbers=right, name="Released centres") + more


def _format_sd(sd: float | None) -> str:
    """The sd of the noise on a number, two digits, as it stands behind it.

    >>> _format_sd(0.4321).split(), _format_sd(1234.5).split(), _format_sd(None)
    (['±', '0.43'], ['±', '1,200'], '')
    """
    return "" if sd is None else f" ±\xa0{format_number(float(f'{sd:.2g}'))}"


def _choose_digits(facts: CardFacts, place: int) -> int | None:
    if facts.center_step is None or not facts.center_step[place] > 0:
        return None
    return max(0, ceil(-log10(float(facts.center_step[place])) - 1e-9))


def _format_value(value: float, digits: int | None) -> str:
    return format_number(value) if digits is None else f"{value:,.{digits}f}".replace("-", "−")


def format_segments(facts: CardFacts) -> str:
    """What was released about each segment: a line each, on a telephone a card each; empty where nothing was."""
    told = describe_segments(facts.segments)[:_MOST_CENTERS]
    if not told:
        return ""
    names = list(dict.fromkeys(column.name for one in told for column in one.columns))
    units = {column.name: column.unit for column in facts.columns}
    units |= {column.name: column.unit for one in told for column in one.columns if column.unit}
    shown = names[:_MOST_COLUMNS]
    heads = ["segment", "size", *(f"{name} ({units[name]})" if units.get(name) else name for name in shown)]
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in heads)
    body = "".join(_format_segment(one, heads, shown) for one in told)
    rest = len(names) - len(shown)
    more = f'<p class="muted">{format_things(rest, "column")} more: see segments.csv.</p>' if rest else ""
    return (
        '<div class="wide" tabindex="0" role="region" aria-label="Segments"><table class="segments">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{more}"
    )


def _format_segment(one: SegmentTold, heads: Sequence[str], shown: Sequence[str]) -> str:
    about = {column.name: column for column in one.columns}
    cells = [_format_size(one.size), *(_format_column(about[name]) if name in about else "" for name in shown)]
    apart = ["", *(" class=apart" * (name in about and about[name].tells_apart) for name in shown)]
    told = "".join(
        f'<td{kind} data-head="{escape(title)}">{cell and f"<div>{cell}</div>"}</td>'
        for title, cell, kind in zip(heads[1:], cells, apart, strict=True)
    )
    return f'<tr><th scope="row">{escape(f"{one.number} {one.name}".strip())}</th>{told}</tr>'


def _format_column(told: ColumnTold) -> str:
    if told.median is None:
        lines = [f"{escape(category)} <b>{share.describe(share=True)}</b>" for category, share in told.largest]
        if told.left_out:
            lines.append(f"{format_things(told.left_out, 'category', 'categories')} more: see segments.csv")
        return "".join(f"<span>{line}</span>" for line in lines)
    if told.median.range_only:
        return f"<span>{told.median.describe()}</span>"
    half = "".join(f"<i>{end}</i>" for end in told.half)
    return f"<b>{format_number(told.median.value)}</b> <span>{told.median.around}</span>{half}"


def _format_size(size: Interval | None) -> str:
    if size is None:
        return ""
    value, low, high, _ = size
    around = "" if low is None or high is None else f"({low:,.0f}–{high:,.0f})"
    return f"<b>{value:,.0f}</b> <span>{around}</span>"


def format_bounds(facts: CardFacts) -> str:
    """Every declared column, its bounds or categories, and where these come from."""
    rows = []
    for origin, same in groupby(facts.columns[:_MOST_BOUNDS], key=lambda column: column.origin):
        alike = list(same)
        said = f'<td rowspan="{len(alike)}">{escape(origin)}</td>'
        for column in alike:
            aside = "" if column in facts.clustered else " *"
            kind = " class=warn" if FROM_ROWS in origin else ""
            name = f'<th scope="row">{escape(column.name)}{aside}</th>'
            rows.append(f"<tr{kind}>{name}<td>{escape(format_span(column))}</td>{said}</tr>")
            said = ""
    described = '<p class="muted">* described in segments, not used to find them.</p>'
    rest = len(facts.columns) - _MOST_BOUNDS
    more = f'<p class="muted">{format_things(rest, "column")} more: see declaration.json.</p>' if rest > 0 else ""
    aside = described if len(facts.columns) > len(facts.clustered) else ""
    return format_table(["column", "bounds", "who says so"], rows, name="Bounds and their origin") + aside + more


def format_missing(facts: CardFacts) -> str:
    """The released shares of missing cells; "" where none was bought."""
    if not facts.missing:
        return ""
    rest = len(facts.missing) - _MOST_BOUNDS
    more = f"; {format_things(rest, 'column')} more: see segments.csv" if rest > 0 else ""
    return f"<p>Missing values, with noise: {escape('; '.join(facts.missing[:_MOST_BOUNDS]))}{more}.</p>"


def format_ledger(facts: CardFacts) -> str:
    """What each part cost, and below it what its noise was drawn for."""
    return format_table(
        ["part, and what its noise was drawn for", "noise", "charges", "noise scale", "ε", "δ"],
        _list_ledger_rows(facts),
        numbers=(2, 3, 4, 5),
        name="Ledger",
    )


def _list_ledger_rows(facts: CardFacts) -> Iterator[str]:
    right, lines = (2, 3, 4, 5), list(group_charges(facts))
    for part in facts.parts:
        name = (
            f"{part.name} ({format_percent(part.epsilon / facts.epsilon)} of ε)" if len(facts.parts) > 1 else part.name
        )
        own = [line for line in lines if line.part == part.name]
        number_of_charges = f"{sum(len(line.scales) for line in own)}"
        cost = (f"{part.epsilon:.4g}", format_small(part.delta))
        yield format_row([name, "", number_of_charges, "", *cost], numbers=right, kind="part")
        yield from map(_format_charge, own)
    # What belongs to no part is not left out: a reader would miss it in the sum.
    names = {part.name for part in facts.parts}
    yield from (_format_charge(line) for line in lines if line.part not in names)
    whole = [f"{len(facts.entries)}", "", f"{facts.epsilon:.6g}", format_small(facts.delta)]
    yield format_row(["the release", "", *whole], numbers=right, kind="part")


def _format_charge(line: Charges) -> str:
    told = (f"{line.asked}: {line.purpose}", line.mechanism, f"{len(line.scales)}", line.noise, "", "")
    return format_row(told, numbers=(2, 3, 4, 5))


def format_account(facts: CardFacts) -> str:
    """The account before and after; a sentence where there is none."""
    account = facts.account
    if account is None:
        return "<p>No account of other releases about these people was given.</p>"
    lines = (
        ("before", account.before_epsilon, account.before_delta),
        ("this release", facts.epsilon, facts.delta),
        ("after", account.after_epsilon, account.after_delta),
        ("the most it may hold", account.cap_epsilon, account.cap_delta),
    )
    rows = [format_row([name, f"{epsilon:.6g}", format_small(delta)], numbers=(1, 2)) for name, epsilon, delta in lines]
    left = max(0.0, account.cap_epsilon - account.after_epsilon)
    return (
        format_table([f"account “{account.name}”", "ε", "δ"], rows, numbers=(1, 2), name="Account")
        + f'<p class="muted">ε = {left:.6g} of it is left for other releases about these people.</p>'
    )
