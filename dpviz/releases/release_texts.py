"""Templates of what a release says, filled with what was played: every sentence about it is a filter in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

from dpviz.releases import promise
from dpviz.releases.card_tables import (
    describe_missing,
    draw_places,
    draw_sizes,
    group_charges,
    list_segment_heads,
    make_account_table,
    make_bounds_table,
    make_centers_table,
    make_ledger_table,
)
from dpviz.releases.intervals import WIDE
from dpviz.releases.playing import Played
from dpviz.releases.release_request import CostPart
from dpviz.releases.segment_words import count_intervals, describe_quality, format_share, list_half, split_interval
from dpviz.releases.segments_report import TOO_SMALL, SegmentsReport
from dpviz.runs import Run
from dpviz.tables import owner_words
from dpviz.words import (
    DRAWS_SAY,
    PLUS_MINUS_RELEASED,
    capitalize_first,
    format_count,
    format_number,
    format_percent,
    format_reach,
    format_things,
    join_clauses,
    make_environment,
)

if TYPE_CHECKING:  # slow to import, and most processes write no page
    from jinja2 import Environment

NOT_AUDITED = "No third party has audited this release or the program that made it."
"""Of every release."""
_MOST_COLUMNS = 12
# What Markdown and formulas read as markup.
_SIGNS = re.compile(r"[\\`*_\[\]<>$|~#&]")
# What YAML takes for a line's end, or for no text at all, where JSON lets it stand.
_UNSPEAKABLE = re.compile("[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def fill(template: str, played: Played, **values: Any) -> str:
    """The text of a template about a release; what is put into markup is escaped."""
    return (
        _make_environment(markup=template.endswith((".html.j2", ".svg.j2")))
        .get_template(template)
        .render(p=played, **values)
    )


def fill_yaml(template: str, played: Played, **values: Any) -> Any:
    """The same of a template that is YAML, as plain values."""
    return yaml.load(fill(template, played, **values), _find_loader())


@cache
def _find_loader() -> Any:
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def _make_environment(*, markup: bool) -> Environment:
    made = make_environment(markup=markup)
    made.globals |= {
        "DRAWS_SAY": DRAWS_SAY,
        **{"NOT_STATED": owner_words.NOT_STATED, "NOT_AUDITED": NOT_AUDITED, "TOO_SMALL": TOO_SMALL, "WIDE": WIDE},
        **{
            "ALONE": promise.ALONE,
            "questions": owner_words.OWNER_QUESTIONS,
            "join_clauses": join_clauses,
            "plain": escape_markdown,
        },
        **{"together": promise.describe_together, "certainty": promise.compute_certainty, "quote": quote_owner},
    }
    for name in ("promise", "recomposed", "slack", "unit", "rows", "sizes", "smallest", "choice"):
        made.filters[name] = getattr(promise, f"describe_{name}")
    made.filters |= {
        **{"belief": promise.format_belief, "protected": promise.list_protected, "paper": promise.format_paper},
        **{"unprotected": promise.list_unprotected, "small": promise.format_small, "steps": promise.format_steps},
        **{"odds": promise.format_odds_factor, "number": format_number, "share_of": format_percent},
        **{"things": format_things, "in_words": format_count, "capital": capitalize_first, "charges": group_charges},
        **{"apart": split_interval, "share": format_share},
        **{"half": list_half, "intervals": count_intervals, "heads": list_segment_heads, "missing": describe_missing},
        **{"centers_table": make_centers_table, "bounds_table": make_bounds_table, "ledger_table": make_ledger_table},
        **{"account_table": make_account_table, "centers_picture": draw_places, "sizes_picture": draw_sizes},
        **{"quality": describe_quality, "accounting": describe_accounting, "errors": describe_errors},
        **{"small_groups": describe_small_groups, "origins": describe_origins, "parts": describe_parts},
        **{"said": select_said, "plain": escape_markdown, "sentences": join_sentences, "q": quote},
        "flow": format_flow,
    }
    return made


def quote(value: Any) -> str:
    """A value in YAML, whatever letters it holds."""
    return _UNSPEAKABLE.sub(lambda one: f"\\U{ord(one[0]):08x}", json.dumps(value, ensure_ascii=False))


def format_flow(numbers: Mapping[str, float | None]) -> str:
    """Those numbers that there are, as YAML on one line."""
    told = {name: value for name, value in numbers.items() if value is not None}
    return yaml.safe_dump(told, default_flow_style=True, sort_keys=False)


def join_sentences(parts: Iterable[str]) -> str:
    """Those that say something, each with its stop."""
    return " ".join(one if one.rstrip()[-1:] in ".!?:" else f"{one}." for one in parts if one)


def quote_owner(question: str, *words: str) -> str:
    """The owner's words, with what was asked; "" where nothing is said."""
    told = join_sentences(one.strip() for one in words)
    return f"The owner, asked {question}: {told}" if told else ""


def select_said(words: str | tuple[str, ...]) -> str:
    """Those of the owner's words that say something; "" where none do."""
    return ", ".join(owner_words.list_said(*((words,) if isinstance(words, str) else words)))


def escape_markdown(name: str) -> str:
    """``name`` on one line, without the power to format, link or begin a formula.

    >>> escape_markdown("income_k$"), escape_markdown("two\\nlines")
    ('income\\\\_k\\\\$', 'two lines')
    """
    return _SIGNS.sub(r"\\\g<0>", " ".join(name.split()))


def describe_accounting(run: Run, number_of_parts: int) -> str:
    """How the charges of a release add up."""
    within = {
        "pure": "inside the algorithm every ε adds up (sequential composition)",
        "gdp": "inside the algorithm Gaussian noise adds up exactly (Gaussian differential privacy)",
        "pld": "inside the algorithm the loss distributions of all draws are composed numerically",
        "zcdp": "inside the algorithm ρ adds up (zero-concentrated differential privacy)",
    }[run.accounting.value]
    between = "Parts of the release add up (basic composition)" if number_of_parts > 1 else "There is one part"
    return f"{between}; {within}."


def describe_parts(shares: Iterable[CostPart]) -> str:
    """What each part of a release costs."""
    return "; ".join(f"{one.name}: ε = {one.epsilon:.6g}, δ = {promise.format_small(one.delta)}" for one in shares)


def describe_errors(played: Played) -> str:
    """How far off sizes are, and centres where it is worst."""
    made, errors = played.profile, []
    if made.sizes is not None and made.sizes.known:
        errors.append(f"The ± of a size is at most {format_reach(float(made.sizes.reach.max()))} rows.")
    if not made.noise_known:
        errors.append("How far centres are off the means of their segments cannot be told.")
    else:
        worst = made.even.reach.max(axis=0).tolist()
        told = ", ".join(
            f"{one.name} {one.describe_reach(reach)}"
            for one, reach in zip(made.columns[:_MOST_COLUMNS], worst, strict=False)
        )
        rest = len(worst) - _MOST_COLUMNS
        more = f"{format_things(rest, 'column')} more: see centers.csv" if rest > 0 else ""
        errors.append(f"The ± of a centre is, where it is widest: {join_clauses(told, more)}.")
    return " ".join(
        [
            *errors,
            PLUS_MINUS_RELEASED,
            "Beside every number of centers.csv and segments.csv stands how far off it is, or an interval.",
        ]
    )


def describe_small_groups(report: SegmentsReport | None) -> str:
    """Which segments noise drowns, and the size that it takes."""
    if report is None:
        return "Nothing was released about the segments but their centres, and what the algorithm counted itself."
    drowned = [f"{one.number}" for one in report.segments if one.words == TOO_SMALL]
    whose = f"segment {drowned[0]}" if len(drowned) == 1 else f"segments {', '.join(drowned)}"
    here = f"Here these are {whose}." if drowned else "Here all are larger."
    return f"Segments of fewer than about {report.least_size:,.0f} rows are not described. {here}"


def describe_origins(played: Played) -> str:
    """Where the bounds come from, columns of one origin together."""
    alike: dict[str, list[str]] = {}
    for column in played.columns:
        alike.setdefault(column.origin, []).append(column.name)
    return " ".join(f"{', '.join(names)}: {origin.rstrip('.')}." for origin, names in alike.items())
