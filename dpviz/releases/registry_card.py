"""A release as an entry of the public Differential Privacy Deployments Registry: a draft, of tier 3 if all is said.

The registry renders its texts as Markdown with formulas. Names, units and sources come from outside and are written so
that they stay text; what the owner says is printed as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import yaml

from dpviz.releases.card_facts import NOT_STATED, CardColumn, CardFacts, CardWords, CostPart, group_charges
from dpviz.releases.promise import (
    describe_accesses,
    describe_choice,
    describe_promise,
    describe_recomposed,
    describe_rows,
    describe_slack,
    describe_unit,
    format_belief,
    format_paper,
    format_small,
    format_span,
    format_steps,
    list_protected,
    list_unprotected,
)
from dpviz.words import capitalize_first, format_things

_SIGNS = re.compile(r"[\\`*_\[\]<>$|~#&]")
# An algorithm of the local model: every person adds the noise, before a curator sees anything.
_LOCAL = ("lsh-local",)
_LONGEST_SLUG = 80
_NOBODY_SAID_ACCESS = "Who else can read the rows, the curator alone can say."
_NOBODY_SAID_PLANS = "Whether others will follow, the owner has not said."
NOT_AUDITED = "No third party has audited this release or the program that made it."


def make_registry_card(facts: CardFacts) -> dict[str, Any]:
    """The entry, of plain values: valid by the registry's schema, every field of its three tiers filled."""
    safe = _clean_facts(facts)
    return {
        "url_slug": _make_slug(facts.words.name),
        "status": "Draft",
        "tier": 2 if NOT_STATED in _list_own_words(facts.words) else 3,
        "deployment": {
            "basic": _describe_basics(safe),
            "dp_variant": {
                "variant_name": "Pure DP" if facts.pure else "Approximate DP",
                "data_domain": _describe_domain(safe),
                "unprotected_quantities": _join_sentences(f"{head}: {said}" for head, said in list_unprotected(safe)),
            },
            "privacy_loss": _describe_loss(safe),
            "deployment_model": _describe_deployment(safe),
            "accounting": {
                "post_processing": _describe_post_processing(safe),
                "composition": _describe_composition(safe),
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": _describe_tuning(safe),
                "mechanisms": _format_mechanisms(safe),
                "justification": facts.words.justification,
            },
            "administrative": {
                "sources": _format_sources(safe),
                "notes": _format_notes(safe),
                "registry_authors": list(facts.words.authors),
            },
        },
    }


def _list_own_words(words: CardWords) -> tuple[str, ...]:
    return (words.intended_use, words.region, words.justification, *words.curators, *words.authors)


def format_card(facts: CardFacts) -> str:
    """The entry as the file ``card.yaml``."""
    written: str = yaml.safe_dump(make_registry_card(facts), sort_keys=False, allow_unicode=True, width=110)
    return written


def _describe_basics(facts: CardFacts) -> dict[str, Any]:
    words = facts.words
    sector = {"data_product_sector": words.sector} if words.sector else {}
    return {
        "name": words.name,
        "data_curators": list(words.curators),
        "intended_use": words.intended_use,
        "data_product_type": "Summary statistics",
        "data_product_region": words.region,
        "description": words.description,
        "publication_date": words.publication_date,
        **sector,
    }


def _describe_domain(facts: CardFacts) -> str:
    columns = "; ".join(f"{column.name}: {format_span(column)} ({column.origin})" for column in facts.named)
    size = "any number of rows" if facts.relation == "add_remove" else "all of the same number of rows"
    return (
        f"Tables of records like those of “{facts.table}”, {size}, each row clipped by itself to the declared bounds "
        f"or categories. Columns, with where their bounds come from: {columns}."
    )


def _describe_loss(facts: CardFacts) -> dict[str, Any]:
    parts = "; ".join(_describe_part(part) for part in facts.parts)
    return {
        "privacy_unit": describe_unit(facts),
        "privacy_unit_details": _join_sentences(list_protected(facts)),
        "privacy_parameters": {
            "epsilon": float(f"{facts.epsilon:.9g}"),
            "delta": float(f"{facts.delta:.9g}"),
            **_compute_rho(facts),
        },
        "privacy_parameters_details": _join_sentences(
            [
                describe_promise(facts),
                format_belief(facts),
                *filter(None, [describe_slack(facts), describe_recomposed(facts)]),
                f"Its parts, which add up: {parts}.",
            ]
        ),
    }


def _compute_rho(facts: CardFacts) -> dict[str, float]:
    """The release in ρ, four digits, rounded up."""
    return {} if facts.rho is None else {"rho": float(f"{1.0005 * facts.rho:.3e}")}


def _describe_deployment(facts: CardFacts) -> dict[str, Any]:
    local = facts.algorithm_id in _LOCAL
    trust = (
        "Every person adds the noise to the own row, and nobody has to be trusted with it."
        if local
        else "The curator holds the rows and is trusted with them, with drawing the noise honestly, and with having "
        "declared bounds that were not read from the rows."
    )
    return {
        "model_name": "Local" if local else "Central",
        "model_name_details": trust,
        "actors": f"{trust} {_describe_access(facts)} Whoever has the published files may be an adversary "
        "with unlimited knowledge and computing power, and all of them may work together.",
        "release_type": "One release",
        "release_type_details": f"{_describe_account(facts)} {_describe_plans(facts)}",
        "data_source_type": "Static",
        "data_source_type_details": "The table is one snapshot, as it was on the day of the release.",
        "access_type": "Non-interactive",
        "access_type_details": "Nobody can ask the rows anything; the published files are all there is.",
    }


def _describe_access(facts: CardFacts) -> str:
    """Who can read the raw table, in the owner's words."""
    said = facts.words.raw_access.strip()
    return f"The owner, asked who can read the raw table: {_format_sentence(said)}" if said else _NOBODY_SAID_ACCESS


def _describe_plans(facts: CardFacts) -> str:
    """What else will be published, in the owner's words."""
    words = (facts.words.other_releases.strip(), facts.words.repeats.strip())
    told = " ".join(_format_sentence(one) for one in words if one)
    return f"The owner, asked what else will be published: {told}" if told else _NOBODY_SAID_PLANS


def _describe_account(facts: CardFacts) -> str:
    account = facts.account
    if account is None:
        return "No account of earlier and later releases about the same people was given."
    before, after, most = (
        f"ε = {epsilon:g}, δ = {format_small(delta)}"
        for epsilon, delta in (
            (account.before_epsilon, account.before_delta),
            (account.after_epsilon, account.after_delta),
            (account.cap_epsilon, account.cap_delta),
        )
    )
    return (
        f"Releases about the same people are charged to one account of at most {most}. Before this release {before} "
        f"was spent of it, after it {after}.{'' if account.link is None else f' {account.link.words}'}"
    )


def _describe_post_processing(facts: CardFacts) -> str:
    said = ["Released centres were moved into the declared bounds."]
    if facts.steps is not None:
        steps = ", ".join(
            f"{column.name}: {format_steps(own)} {column.unit}".rstrip()
            for column, own in zip(facts.clustered, facts.steps.T.tolist(), strict=True)
        )
        said.append(f"Their coordinates were rounded to a public grid ({steps}).")
    if facts.segments is not None:
        said.append("Medians, quartiles and shares of segments, and their intervals, were computed from noisy counts.")
    said.append("None of this reads a row again, and none of it costs privacy.")
    return _join_sentences(said)


def _describe_composition(facts: CardFacts) -> str:
    draws = format_things(len(facts.entries), "charge")
    return (
        f"{facts.accounting.rstrip('.')}. The release has {format_things(len(facts.parts), 'part')} with "
        f"{draws} in the ledger; the parts add up by basic composition: "
        f"{'; '.join(_describe_part(part) for part in facts.parts)}."
    )


def _describe_part(part: CostPart) -> str:
    return f"{part.name}: ε = {part.epsilon:.6g}, δ = {format_small(part.delta)}"


def _describe_tuning(facts: CardFacts) -> str:
    said = facts.words.chosen_after_looking.strip()
    after = f"{describe_choice(facts)} {said}" if said else describe_choice(facts)
    expected = [f"Expected before the release: {facts.expected_loss}"] if facts.expected_loss else []
    return _join_sentences(
        [
            "Each row was clipped by itself to the declared bounds.",
            f"Number of rows: {describe_rows(facts)}",
            describe_accesses(facts),
            *expected,
            after,
        ]
    )


def _format_mechanisms(facts: CardFacts) -> str:
    drawn = "; ".join(
        f"{capitalize_first(made.mechanism)} noise on {made.asked} ({made.purpose}; "
        f"{format_things(len(made.scales), 'charge')}, noise scale {made.noise})"
        for made in group_charges(facts)
    )
    return (
        f"The algorithm is {facts.algorithm} ({format_paper(facts)}) with k = {facts.k}. Its mechanisms: {drawn}. All "
        f"noise was drawn by {facts.noise} on whole numbers, from the randomness of the operating system and without "
        "a seed: rows lie on a public lattice, sums over them are exact whole numbers, and no floating-point number "
        "touches a true answer before noise has been added. How long the program took is not published, and no other "
        f"protection against timing is claimed. The rows stay with the curator. The program is dpviz {facts.dpviz}."
    )


def _format_notes(facts: CardFacts) -> str:
    hashed = f" The released answers of transcript.npz have the SHA-256 {facts.transcript}." if facts.transcript else ""
    return f"{NOT_AUDITED} The entry was written by dpviz {facts.dpviz} together with the release.{hashed}"


def _format_sources(facts: CardFacts) -> str:
    return (
        f"The algorithm's paper: {format_paper(facts)}. The files of the release: centres, segments, ledger, "
        "declaration and transcript lie beside this card; python -m dpviz verify checks them without the rows. The "
        f"program: dpviz {facts.dpviz}{_describe_code(facts)}."
    )


def _describe_code(facts: CardFacts) -> str:
    ran = f", on {facts.platform}" if facts.platform else ""
    return f"{ran}; its source files have the SHA-256 {facts.code}" if facts.code else ran


def _join_sentences(said: Any) -> str:
    return " ".join(map(_format_sentence, said))


def _format_sentence(said: str) -> str:
    return said if said.rstrip()[-1:] in ".!?:" else f"{said}."


def _make_slug(name: str) -> str:
    """What the registry makes a stable address of.

    >>> _make_slug("People of a town, 2026"), _make_slug("東京")
    ('people-of-a-town-2026', 'release')
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST_SLUG].strip("-") or "release"


def _clean_facts(facts: CardFacts) -> CardFacts:
    """The same with every name from outside written so that Markdown reads it as text."""
    columns = tuple(map(_clean_column, facts.columns))
    declared = tuple(one._replace(column=_clean_column(one.column)) for one in facts.declared)
    entries = tuple(_clean_entry(entry) for entry in facts.entries)
    columned = replace(facts, columns=columns, declared=declared)
    return replace(columned, table=_to_plain(facts.table), unit=_to_plain(facts.unit), entries=entries)


def _clean_column(column: CardColumn) -> CardColumn:
    return CardColumn(
        _to_plain(column.name),
        column.lower,
        column.upper,
        _to_plain(column.unit),
        _to_plain(column.origin),
        tuple(map(_to_plain, column.categories)),
        column.kind,
    )


def _clean_entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _to_plain(value) if isinstance(value, str) else value for name, value in entry.items()}


def _to_plain(name: str) -> str:
    """``name`` on one line, without the power to format, link or begin a formula.

    >>> _to_plain("income_k$"), _to_plain("two\\nlines")
    ('income\\\\_k\\\\$', 'two lines')
    """
    return _SIGNS.sub(r"\\\g<0>", " ".join(name.split()))
