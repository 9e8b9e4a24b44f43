"""Templates of what a release says, filled with what was played: every sentence about it is a filter in them.

The registry (opendp/deployments-registry-data, MIT, as of 2026-07-15) has a schema of its own. What it asks of an
entry, names, types, choices and tiers, is in ``registry_schema.yaml``, for whoever has a card and not that file; tests
hold the two against each other. It renders its texts as Markdown with formulas: names, units and sources come from
outside and are written so that they stay text, and what the owner says is printed as it is.

The page of the card has no script and asks for nothing: its own policy forbids both, whatever a name holds. Each
question of the dossier is answered by the release, follows from it, is answered in the owner's words, or is named as
not answered.

References
----------
NIST SP 800-226 (March 2025, final), Guidelines for evaluating differential privacy guarantees: most questions.
WP29 opinion 05/2014 on anonymisation techniques: singling out, linkability, inference. Dwork, Kohli & Mulligan 2019:
why this ε, and who agreed to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from itertools import groupby
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from dpviz.core import check
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
from dpviz.releases.segments_report import (
    TOO_SMALL,
    SegmentsReport,
    count_intervals,
    describe_quality,
    format_share,
    list_half,
    split_interval,
)
from dpviz.runs import Run
from dpviz.tables import owner_words
from dpviz.words import (
    DRAWS_SAY,
    FONT,
    PLUS_MINUS_RELEASED,
    Theme,
    capitalize_first,
    choose_palette,
    format_count,
    format_number,
    format_percent,
    format_reach,
    format_things,
    join_clauses,
    make_environment,
)

if TYPE_CHECKING:
    from jinja2 import Environment


_LONGEST_SLUG = 80


def make_registry_card(played: Played) -> dict[str, Any]:
    """The entry, of plain values: valid by the registry's schema, every field of its three tiers filled."""
    card: dict[str, Any] = fill_yaml("registry_card.yaml.j2", played, slug=make_slug(played.request.words.name))
    return card


def format_card(played: Played) -> str:
    """The entry as the file ``card.yaml``."""
    return yaml.safe_dump(make_registry_card(played), sort_keys=False, allow_unicode=True, width=110)


def make_slug(name: str) -> str:
    """What the registry makes a stable address of.

    >>> make_slug("People of a town, 2026"), make_slug("東京")
    ('people-of-a-town-2026', 'release')
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST_SLUG].strip("-") or "release"


@dataclass(frozen=True)
class RegistryField:
    """What the registry asks of a field: its kind, the level of detail that it belongs to, and what is allowed."""

    kind: str = "text"
    tier: int = 0
    allowed: tuple[Any, ...] = ()
    fields: Mapping[str, RegistryField] = field(default_factory=dict)
    required: tuple[str, ...] = ()

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> RegistryField:
        """As the file says it."""
        kind, below = said.get("kind", "text"), said.get("fields", {})
        allowed = owner_words.SECTORS if kind == "sector" else said.get("one of", ())
        fields = {name: cls.read(one) for name, one in below.items()}
        return cls(kind, said.get("tier", 0), tuple(allowed), fields, tuple(said.get("required", ())))

    def describe_fault(self, value: Any) -> str:
        """What is wrong with ``value``, and what to do; empty where nothing is."""
        said = check.format_value(value)
        if self.kind == "anything" or (self.kind == "number or text" and isinstance(value, str)):
            return ""
        if self.kind == "texts":
            good = isinstance(value, list) and value and all(isinstance(one, str) for one in value)
            return "" if good else f"is {said}: list at least one text"
        if self.kind.startswith("number"):
            if isinstance(value, bool) or not isinstance(value, Real):
                return f"is {said}: write a number"
        elif not isinstance(value, str):
            return f"is {said}: write a text"
        if self.allowed and value not in self.allowed:
            return f"is {said}: choose one of {', '.join(map(str, self.allowed))}"
        return "is no day: write it as YYYY-MM-DD" if self.kind == "day" and not owner_words.is_day(value) else ""


@cache
def read_schema() -> RegistryField:
    """An entry of the registry."""
    text = Path(__file__).with_name("registry_schema.yaml").read_text(encoding="utf-8")
    return RegistryField.read(yaml.safe_load(text))


def list_card_errors(card: Any) -> tuple[str, ...]:
    """What the registry would refuse in ``card``, a sentence each that names the field; empty where it is valid.

    >>> list_card_errors({"url_slug": "a", "status": "Draft", "tier": 4})[0]
    'tier is 4: choose one of 1, 2, 3.'
    """
    return tuple(_list_errors(read_schema(), card, ""))


def _list_errors(group: RegistryField, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{path or 'The card'} is {check.format_value(value)}: write its fields by their names."
        return
    for name, inner in value.items():
        place = f"{path}.{name}".lstrip(".")
        known = group.fields.get(name)
        if known is None:
            yield f"{place} is no field of the registry: take it out."
        elif known.kind == "group":
            yield from _list_errors(known, inner, place)
        elif wrong := known.describe_fault(inner):
            yield f"{place} {wrong}."
    for name in group.required:
        if name not in value:
            yield f"{f'{path}.{name}'.lstrip('.')} is missing: the registry requires it."


class Who(StrEnum):
    """Who answers a question."""

    RELEASE = "answered by the release"
    FOLLOWS = "follows from the release"
    OWNER = "in the owner's words"
    NOBODY = "not answered"


class Answer(NamedTuple):
    """A question of an evaluator, who answers it, and the answer."""

    section: str
    question: str
    who: Who
    said: str


def make_dossier(played: Played) -> tuple[Answer, ...]:
    """Every question with its answer, in the order of the page."""
    sections = fill_yaml("dossier.yaml.j2", played).items()
    return tuple(
        Answer(section, question, Who[who.upper()], said)
        for section, answers in sections
        for question, who, said in answers
    )


def make_dossier_page(played: Played) -> str:
    """The page ``dossier.html``: light and dark, for a telephone and for paper, without script."""
    answers = make_dossier(played)
    return make_page(
        "dossier.html.j2",
        played,
        questions=len(answers),
        open_ended=sum(one.who is Who.NOBODY for one in answers),
        sections=[(name, list(those)) for name, those in groupby(answers, key=lambda one: one.section)],
        kinds={who: {Who.OWNER: "owner", Who.NOBODY: "nobody"}.get(who, "released") for who in Who},
    )


_CODE = {"light": "#f2f4f7", "dark": "#1d2530"}


def make_card_page(played: Played) -> str:
    """The page ``card.html``: public and released values, light and dark, for a telephone and for two A4 sheets."""
    return make_page("card.html.j2", played)


def make_page(template: str, played: Played, **values: Any) -> str:
    """A page in the style of the files of a release: it has no script, asks for nothing, and forbids both."""
    return fill(template, played, font=FONT, light=_format_colors("light"), dark=_format_colors("dark"), **values)


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
