"""The files of a release, a function each, made of its transcript alone.

Whoever releases and whoever verifies make them here: of what was drawn, what was declared, the owner's words and how
the account stood. No table gets here, nor anything that could reach one, so that no row can.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np

from dpviz.algorithms.registry import card_of
from dpviz.privacy.accounting import Accounting
from dpviz.privacy.ledger import Entry
from dpviz.release.assign_script import assign_script
from dpviz.release.card_facts import AccountFacts, CardColumn, CardFacts, Part
from dpviz.release.card_page import card_page
from dpviz.release.dossier import dossier_page
from dpviz.release.legend import legend_of
from dpviz.release.package import (
    ASSIGN,
    CARD,
    CENTERS,
    DECLARATION,
    DOSSIER,
    LEDGER,
    PAGE,
    SEGMENTS,
    TRANSCRIPT,
    VERIFY,
)
from dpviz.release.package import verify_text as verify_text_of
from dpviz.release.playing import Played, play, recomposed
from dpviz.release.registry_card import card_yaml
from dpviz.release.segments_for_card import certificate_for_card, segments_for_card
from dpviz.release.transcript import Transcript
from dpviz.runs.open_table import domain_of
from dpviz.runs.profile import Profile
from dpviz.runs.run import Run
from dpviz.table.csv_writer import csv_text
from dpviz.table.declaration import Declaration
from dpviz.table.sidecar import to_json

_LEDGER_COLUMNS = (
    *("part", "part_epsilon", "part_delta", "composed_by", "cost", "cost_unit"),
    *("mechanism", "loss", "query", "note", "sensitivity", "scale", "draws", "epsilon_alone", "delta_alone"),
)
# How the charges of one part add up, by the ledger's accounting.
_COMPOSED_BY = {
    Accounting.PURE: "sum of epsilon",
    Accounting.GDP: "sum of mu squared",
    Accounting.ZCDP: "sum of rho",
    Accounting.BASIC: "sums of epsilon and of delta",
    Accounting.PLD: "loss distributions of all draws",
    Accounting.NONE: "",
}


def render(transcript: Transcript) -> dict[str, bytes]:
    """Every file of a release by its name, ``VERIFY.txt`` last.

    Raises
    ------
    RequestError
        If the transcript is of no release.
    """
    played = play(transcript)
    return whole_release(played)


def whole_release(played: Played) -> dict[str, bytes]:
    """The same of a transcript that was played already."""
    files = files_of(played)
    files[TRANSCRIPT] = played.transcript.to_bytes(legend_of(played.transcript, played.parts))
    files[VERIFY] = verify_text(files, version=played.asked.version)
    return files


def files_of(played: Played) -> dict[str, bytes]:
    """The files that follow from what was played: all but the transcript itself and ``VERIFY.txt``."""
    facts = facts_of(played)
    texts = {
        CENTERS: centers_csv(played),
        SEGMENTS: segments_csv(played),
        CARD: card_yaml(facts),
        PAGE: card_page(facts),
        DOSSIER: dossier_page(facts),
        LEDGER: ledger_csv(played.parts.entries, played.shares),
        DECLARATION: to_json(played.parts.declaration),
        ASSIGN: assign_py(played),
    }
    return {name: text.encode("utf-8") for name, text in texts.items() if text}


def centers_csv(played: Played) -> str:
    """Released centres, data units, on their grid, and sizes; each number with the sd of its noise in a column."""
    return centers_table(played.parts.profile, played.parts.clustered.published.texts)


def centers_table(profile: Profile, centers: Sequence[Sequence[str]]) -> str:
    """The same of any profile, whose ``centers`` are written so; an sd that nobody can tell is left empty."""
    columns = [column.name for column in profile.columns]
    sizes = [] if profile.sizes is None else ["noisy_size", "noisy_size_sd"]
    names = [*_free([f"{name}_sd" for name in columns], columns), *sizes]
    rows = [
        [str(place), *center, *map(_sd, sd)]
        for place, (center, sd) in enumerate(zip(centers, profile.center_sd.tolist(), strict=True), start=1)
    ]
    if profile.sizes is not None:
        noise = np.full(profile.k, np.nan) if profile.size_sd is None else profile.size_sd
        rows = [
            [*row, f"{size:.0f}", _sd(sd)]
            for row, size, sd in zip(rows, profile.sizes.tolist(), noise.tolist(), strict=True)
        ]
    return csv_text([["segment", *columns, *names], *rows])


def _free(names: Sequence[str], taken: Sequence[str]) -> list[str]:
    """Names that no column has: one that is taken gets a stroke more."""
    found: list[str] = []
    for name in names:
        while name in (*taken, *found):
            name += "_"
        found.append(name)
    return found


def _sd(value: float) -> str:
    return f"{value:.6g}" if isfinite(value) else ""


def segments_csv(played: Played) -> str:
    """What is said of segments and of missing cells; "" where neither was asked about."""
    return played.parts.segments_csv


def ledger_csv(entries: Mapping[str, Sequence[Entry]], shares: Mapping[str, Part]) -> str:
    """Every charge, a row each, with the part of the release that it belongs to and what that part costs as a whole.

    What adds up inside a part, by the rule that ``composed_by`` names, is ``cost``. What a charge would cost alone adds
    up to more where that rule is a finer one.
    """
    rows = [_ledger_row(shares[part], entry) for part, charged in entries.items() for entry in charged]
    return csv_text([_LEDGER_COLUMNS, *rows])


def _ledger_row(part: Part, entry: Entry) -> list[str]:
    told = entry.to_dict()
    told |= {"part": part.name, "part_epsilon": part.epsilon, "part_delta": part.delta, "cost": told["amount"]}
    told |= {"composed_by": _COMPOSED_BY[entry.accounting], "cost_unit": told["unit"]}
    told |= {"epsilon_alone": told["epsilon"], "delta_alone": told["delta"]}
    return [one if isinstance(one := told[name], str) else repr(one) for name in _LEDGER_COLUMNS]


def assign_py(played: Played) -> str:
    """The program that finds the segment of a row."""
    found, declared = played.parts.clustered, played.parts.declaration
    return assign_script(found.run.domain, found.published.centers, title=declared.title, file=declared.file)


def verify_text(files: Mapping[str, bytes], *, version: str) -> bytes:
    """``VERIFY.txt``: what is checked, what nobody can tell, and the hashes of ``files``."""
    return verify_text_of(files, version=version).encode("utf-8")


def facts_of(played: Played) -> CardFacts:
    """What the two cards say."""
    asked, parts = played.asked, played.parts
    order, run, declared, account = asked.order, parts.clustered.run, parts.declaration, asked.account
    report = None if parts.told is None else parts.told.report
    shares = tuple(played.shares.values())
    centers, card = parts.clustered.published, card_of(run.algorithm)
    deltas = (10 * order.delta, order.delta, order.delta / 100)
    again = recomposed(parts, deltas) if order.delta else None
    return CardFacts(
        words=order.words,
        table=declared.title,
        columns=_columns(declared),
        k=run.k,
        algorithm=card.title,
        algorithm_id=run.algorithm,
        paper=card.paper,
        epsilon=order.request.epsilon,
        delta=order.delta,
        relation=run.relation,
        unit=run.unit,
        rows_per_person=declared.rows_per_person,
        has_id=declared.id_column is not None,
        n=run.n,
        n_bought=run.n_origin == "bought",
        looks=order.seen.looks,
        studies=order.seen.studies,
        runs=order.seen.runs,
        runs_epsilon=order.seen.runs_epsilon,
        grids_read=order.seen.grids_read,
        counted_by=order.seen.where,
        accounting=_accounting_words(run, shares),
        parts=shares,
        entries=tuple({"part": part, **entry.to_dict()} for part, own in parts.entries.items() for entry in own),
        noise=asked.noise,
        dpviz=asked.version,
        recomposed=() if again is None else tuple(zip(deltas, again[0], strict=True)),
        rho=None if again is None else again[1],
        platform=asked.platform,
        code=asked.code,
        account=AccountFacts(
            account.name,
            account.cap_epsilon,
            account.cap_delta,
            account.spent_epsilon,
            account.spent_delta,
            account.spent_epsilon + account.charged_epsilon,
            account.spent_delta + account.charged_delta,
        ),
        centers=centers.centers,
        center_step=centers.step,
        center_sd=parts.profile.center_sd if parts.profile.noise_known else None,
        smallest_group=parts.profile.smallest_group if isfinite(parts.profile.smallest_group) else None,
        sizes=parts.profile.sizes,
        size_sd=parts.profile.size_sd,
        segments=None if report is None else segments_for_card(report),
        certificate=None if report is None else certificate_for_card(report.certificate),
        expected_loss=order.expected_loss,
        missing=parts.missing_told,
        transcript=played.transcript.sha256,
    )


def _columns(declared: Declaration) -> tuple[CardColumn, ...]:
    """The clustered columns, then those that segments alone are told by."""
    domain = domain_of(declared)
    units = domain.units or ("",) * domain.dim
    ends = zip(domain.columns, domain.lower.tolist(), domain.upper.tolist(), units, strict=True)
    named = zip(domain.names, domain.places, strict=True)
    said = [origin for name, place in named for origin in [_origin(declared, name)] * (place.stop - place.start)]
    clustered = tuple(CardColumn(*one, origin) for one, origin in zip(ends, said, strict=True))
    others = tuple(
        CardColumn(name, one.lower, one.upper, declared.units.get(name, ""), "declared", one.categories)
        for name, one in declared.describe.items()
    )
    return (*clustered, *others)


def _origin(declared: Declaration, name: str) -> str:
    """Where the bounds or the values of a column come from, and its weight: both are public."""
    weight = declared.weights.get(name)
    return declared.origin_of(name) + ("" if weight is None else f"; weight {weight:g}")


def _accounting_words(run: Run, shares: Sequence[Part]) -> str:
    within = {
        "pure": "inside the algorithm every ε adds up (sequential composition)",
        "gdp": "inside the algorithm Gaussian noise adds up exactly (Gaussian differential privacy)",
        "pld": "inside the algorithm the loss distributions of all draws are composed numerically",
        "zcdp": "inside the algorithm ρ adds up (zero-concentrated differential privacy)",
    }[run.accounting.value]
    between = "Parts of the release add up (basic composition)" if len(shares) > 1 else "There is one part"
    return f"{between}; {within}."
