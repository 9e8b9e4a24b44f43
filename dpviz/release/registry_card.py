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

from dpviz.charts.wording import opening, things
from dpviz.release.card_facts import NOT_STATED, CardColumn, CardFacts, CardWords, Part
from dpviz.release.charges import charges
from dpviz.release.promise import (
    belief,
    chosen_sentence,
    looks_sentence,
    paper_of,
    plain_number,
    promise,
    protected,
    recomposed_sentence,
    rows_sentence,
    slack,
    small,
    span,
    unit_told,
    unprotected,
)

_SIGNS = re.compile(r"[\\`*_\[\]<>$|~#&]")
# An algorithm of the local model: every person adds the noise, before a curator sees anything.
_LOCAL = ("lsh-local",)
_LONGEST_SLUG = 80
_NOBODY_SAID_ACCESS = "Who else can read the rows, the curator alone can say."
_NOBODY_SAID_PLANS = "Whether others will follow, the owner has not said."
NOT_AUDITED = "No third party has audited this release or the program that made it."


def registry_card(facts: CardFacts) -> dict[str, Any]:
    """The entry, of plain values: valid by the registry's schema, every field of its three tiers filled.

    Parameters
    ----------
    facts : CardFacts
        With ``words`` that miss nothing; a sector that the registry does not know is left out.
    """
    safe = _as_text(facts)
    return {
        "url_slug": _slug(facts.words.name),
        "status": "Draft",
        "tier": 2 if NOT_STATED in _own_words(facts.words) else 3,
        "deployment": {
            "basic": _basic(safe),
            "dp_variant": {
                "variant_name": "Pure DP" if facts.pure else "Approximate DP",
                "data_domain": _data_domain(safe),
                "unprotected_quantities": _sentences(f"{head}: {said}" for head, said in unprotected(safe)),
            },
            "privacy_loss": _privacy_loss(safe),
            "deployment_model": _deployment_model(safe),
            "accounting": {"post_processing": _post_processing(safe), "composition": _composition(safe)},
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": _tuning(safe),
                "mechanisms": _mechanisms(safe),
                "justification": facts.words.justification,
            },
            "administrative": {
                "sources": _sources(safe),
                "notes": _notes(safe),
                "registry_authors": list(facts.words.authors),
            },
        },
    }


def _own_words(words: CardWords) -> tuple[str, ...]:
    return (words.intended_use, words.region, words.justification, *words.curators, *words.authors)


def card_yaml(facts: CardFacts) -> str:
    """The entry as the file ``card.yaml``."""
    written: str = yaml.safe_dump(registry_card(facts), sort_keys=False, allow_unicode=True, width=110)
    return written


def _basic(facts: CardFacts) -> dict[str, Any]:
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


def _data_domain(facts: CardFacts) -> str:
    columns = "; ".join(f"{column.name}: {span(column)} ({column.origin})" for column in facts.columns)
    size = "any number of rows" if facts.relation == "add_remove" else "all of the same number of rows"
    return (
        f"Tables of records like those of “{facts.table}”, {size}, each row clipped by itself to the declared bounds "
        f"or categories. Columns, with where their bounds come from: {columns}."
    )


def _privacy_loss(facts: CardFacts) -> dict[str, Any]:
    parts = "; ".join(_part(part) for part in facts.parts)
    return {
        "privacy_unit": unit_told(facts),
        "privacy_unit_details": _sentences(protected(facts)),
        "privacy_parameters": {"epsilon": float(facts.epsilon), "delta": float(facts.delta), **_rho(facts)},
        "privacy_parameters_details": _sentences(
            [
                promise(facts),
                belief(facts),
                *filter(None, [slack(facts), recomposed_sentence(facts)]),
                f"Its parts, which add up: {parts}.",
            ]
        ),
    }


def _rho(facts: CardFacts) -> dict[str, float]:
    """The release in ρ, four digits, rounded up."""
    return {} if facts.rho is None else {"rho": float(f"{1.0005 * facts.rho:.3e}")}


def _deployment_model(facts: CardFacts) -> dict[str, Any]:
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
        "actors": f"{trust} {_access(facts)} Whoever has the published files may be an adversary with unlimited "
        "knowledge and computing power, and all of them may work together.",
        "release_type": "One release",
        "release_type_details": f"{_account(facts)} {_plans(facts)}",
        "data_source_type": "Static",
        "data_source_type_details": "The table is one snapshot, as it was on the day of the release.",
        "access_type": "Non-interactive",
        "access_type_details": "Nobody can ask the rows anything; the published files are all there is.",
    }


def _access(facts: CardFacts) -> str:
    """Who can read the raw table, in the owner's words."""
    said = facts.words.raw_access.strip()
    return f"The owner, asked who can read the raw table: {_sentence(said)}" if said else _NOBODY_SAID_ACCESS


def _plans(facts: CardFacts) -> str:
    """What else will be published, in the owner's words."""
    words = (facts.words.other_releases.strip(), facts.words.repeats.strip())
    told = " ".join(_sentence(one) for one in words if one)
    return f"The owner, asked what else will be published: {told}" if told else _NOBODY_SAID_PLANS


def _account(facts: CardFacts) -> str:
    account = facts.account
    if account is None:
        return "No account of earlier and later releases about the same people was given."
    before, after, most = (
        f"ε = {epsilon:g}, δ = {small(delta)}"
        for epsilon, delta in (
            (account.before_epsilon, account.before_delta),
            (account.after_epsilon, account.after_delta),
            (account.cap_epsilon, account.cap_delta),
        )
    )
    return (
        f"Releases about the same people are charged to one account of at most {most}. Before this release {before} "
        f"was spent of it, after it {after}."
    )


def _post_processing(facts: CardFacts) -> str:
    said = ["Released centres were moved into the declared bounds."]
    if facts.center_step is not None:
        steps = ", ".join(
            f"{column.name}: {plain_number(step)} {column.unit}".rstrip()
            for column, step in zip(facts.clustered, facts.center_step.tolist(), strict=True)
        )
        said.append(f"Their coordinates were rounded to a public grid ({steps}).")
    if facts.segments is not None:
        said.append("Medians, quartiles and shares of segments, and their intervals, were computed from noisy counts.")
    said.append("None of this reads a row again, and none of it costs privacy.")
    return _sentences(said)


def _composition(facts: CardFacts) -> str:
    draws = things(len(facts.entries), "charge")
    return (
        f"{facts.accounting.rstrip('.')}. The release has {things(len(facts.parts), 'part')} with "
        f"{draws} in the ledger; the parts add up by basic composition: "
        f"{'; '.join(_part(part) for part in facts.parts)}."
    )


def _part(part: Part) -> str:
    return f"{part.name}: ε = {part.epsilon:.6g}, δ = {small(part.delta)}"


def _tuning(facts: CardFacts) -> str:
    said = facts.words.chosen_after_looking.strip()
    after = f"{chosen_sentence(facts)} {said}" if said else chosen_sentence(facts)
    expected = [f"Expected before the release: {facts.expected_loss}"] if facts.expected_loss else []
    return _sentences(
        [
            "Each row was clipped by itself to the declared bounds.",
            f"Number of rows: {rows_sentence(facts)}",
            looks_sentence(facts),
            *expected,
            after,
        ]
    )


def _mechanisms(facts: CardFacts) -> str:
    drawn = "; ".join(
        f"{opening(made.mechanism)} noise on {made.asked} ({made.purpose}; {things(len(made.scales), 'charge')}, "
        f"noise scale {made.noise})"
        for made in charges(facts)
    )
    return (
        f"The algorithm is {facts.algorithm} ({paper_of(facts)}) with k = {facts.k}. Its mechanisms: {drawn}. All "
        f"noise was drawn by {facts.noise} on whole numbers, from the randomness of the operating system and without a "
        "seed: rows lie on a public lattice, sums over them are exact whole numbers, and no floating-point number "
        "touches a true answer before noise has been added. How long the program took is not published, and no other "
        "protection against timing is claimed. The rows stay with the curator. "
        f"The program is dpviz {facts.dpviz}."
    )


def _notes(facts: CardFacts) -> str:
    hashed = f" The released answers of transcript.npz have the SHA-256 {facts.transcript}." if facts.transcript else ""
    return f"{NOT_AUDITED} The entry was written by dpviz {facts.dpviz} together with the release.{hashed}"


def _sources(facts: CardFacts) -> str:
    return (
        f"The algorithm's paper: {paper_of(facts)}. The files of the release: centres, segments, ledger, declaration "
        "and transcript lie beside this card; python -m dpviz verify checks them without the rows. The program: "
        f"dpviz {facts.dpviz}{_code(facts)}."
    )


def _code(facts: CardFacts) -> str:
    ran = f", on {facts.platform}" if facts.platform else ""
    return f"{ran}; its source files have the SHA-256 {facts.code}" if facts.code else ran


def _sentences(said: Any) -> str:
    return " ".join(map(_sentence, said))


def _sentence(said: str) -> str:
    return said if said.rstrip()[-1:] in ".!?:" else f"{said}."


def _slug(name: str) -> str:
    """What the registry makes a stable address of.

    >>> _slug("People of a town, 2026"), _slug("東京")
    ('people-of-a-town-2026', 'release')
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST_SLUG].strip("-") or "release"


def _as_text(facts: CardFacts) -> CardFacts:
    """The same with every name from outside written so that Markdown reads it as text."""
    columns = tuple(
        CardColumn(
            _plain(one.name),
            one.lower,
            one.upper,
            _plain(one.unit),
            _plain(one.origin),
            tuple(map(_plain, one.categories)),
        )
        for one in facts.columns
    )
    entries = tuple(_entry_as_text(entry) for entry in facts.entries)
    return replace(facts, columns=columns, table=_plain(facts.table), unit=_plain(facts.unit), entries=entries)


def _entry_as_text(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) if isinstance(value, str) else value for name, value in entry.items()}


def _plain(name: str) -> str:
    """``name`` on one line, without the power to format, link or begin a formula.

    >>> _plain("income_k$"), _plain("two\\nlines")
    ('income\\\\_k\\\\$', 'two lines')
    """
    return _SIGNS.sub(r"\\\g<0>", " ".join(name.split()))
