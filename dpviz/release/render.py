"""The files of a release, a function each, made of its transcript alone.

Whoever releases and whoever verifies make them here: of what was drawn, what was declared, the owner's words and how
the account stood. No table gets here, nor anything that could reach one, so that no row can.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dpviz.algorithms.registry import card_of
from dpviz.arrays import Array
from dpviz.privacy.ledger import Entry
from dpviz.release.assign_script import assign_script
from dpviz.release.card_facts import AccountFacts, CardColumn, CardFacts, Part
from dpviz.release.card_page import card_page
from dpviz.release.package import ASSIGN, CARD, CENTERS, DECLARATION, LEDGER, PAGE, SEGMENTS, TRANSCRIPT, VERIFY
from dpviz.release.package import verify_text as verify_text_of
from dpviz.release.playing import Played, play
from dpviz.release.registry_card import card_yaml
from dpviz.release.rounding import Rounded
from dpviz.release.segments_for_card import certificate_for_card, segments_for_card
from dpviz.release.transcript import Transcript
from dpviz.runs.run import Run
from dpviz.table.csv_writer import csv_text
from dpviz.table.declaration import Declaration
from dpviz.table.sidecar import to_json

_LEDGER_COLUMNS = (
    *("part", "mechanism", "loss", "query", "note", "epsilon", "delta", "sensitivity", "scale", "draws", "amount"),
    "unit",
)


def render(transcript: Transcript) -> dict[str, bytes]:
    """Every file of a release by its name, ``VERIFY.txt`` last.

    Raises
    ------
    RequestError
        If the transcript is of no release.
    """
    played = play(transcript)
    files = files_of(played)
    files[TRANSCRIPT] = transcript.to_bytes()
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
        LEDGER: ledger_csv(played.parts.entries),
        DECLARATION: to_json(played.parts.declaration),
        ASSIGN: assign_py(played),
    }
    return {name: text.encode("utf-8") for name, text in texts.items() if text}


def centers_csv(played: Played) -> str:
    """Released centres, data units, on their grid; beside each the noisy size, where the run measured one."""
    run, published = played.parts.clustered.run, played.parts.clustered.published
    return centers_table(run.domain.columns, published, _sizes(run))


def centers_table(columns: Sequence[str], published: Rounded, sizes: Array | None) -> str:
    """The same of any centres."""
    names = ["segment", *columns, *(["noisy_size"] if sizes is not None else [])]
    rows = [[str(place), *center] for place, center in enumerate(published.texts, start=1)]
    if sizes is not None:
        rows = [[*row, f"{size:.0f}"] for row, size in zip(rows, sizes.tolist(), strict=True)]
    return csv_text([names, *rows])


def segments_csv(played: Played) -> str:
    """What is said of segments and of missing cells; "" where neither was asked about."""
    return played.parts.segments_csv


def ledger_csv(entries: Mapping[str, Sequence[Entry]]) -> str:
    """Every charge, a row each, with the part of the release that it belongs to."""
    rows = [
        [part, *(told[name] if isinstance(told[name], str) else repr(told[name]) for name in _LEDGER_COLUMNS[1:])]
        for part, charged in entries.items()
        for told in (entry.to_dict() for entry in charged)
    ]
    return csv_text([_LEDGER_COLUMNS, *rows])


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
        center_sd=centers.sd,
        sizes=_sizes(run),
        size_sd=_size_sd(run),
        segments=None if report is None else segments_for_card(report),
        certificate=None if report is None else certificate_for_card(report.certificate),
        expected_loss=order.expected_loss,
        missing=parts.missing_told,
        transcript=played.transcript.sha256,
    )


def _columns(declared: Declaration) -> tuple[CardColumn, ...]:
    """The clustered columns, then those that segments alone are told by."""
    clustered = tuple(
        CardColumn(name, bounds.lower, bounds.upper, declared.units.get(name, ""), declared.origin_of(name))
        for name, bounds in declared.bounds.items()
    )
    others = tuple(
        CardColumn(name, one.lower, one.upper, declared.units.get(name, ""), "declared", one.categories)
        for name, one in declared.describe.items()
    )
    return (*clustered, *others)


def _accounting_words(run: Run, shares: Sequence[Part]) -> str:
    within = {
        "pure": "inside the algorithm every ε adds up (sequential composition)",
        "gdp": "inside the algorithm Gaussian noise adds up exactly (Gaussian differential privacy)",
        "pld": "inside the algorithm the loss distributions of all draws are composed numerically",
        "zcdp": "inside the algorithm ρ adds up (zero-concentrated differential privacy)",
    }[run.accounting.value]
    between = "Parts of the release add up (basic composition)" if len(shares) > 1 else "There is one part"
    return f"{between}; {within}."


def _sizes(run: Run) -> Array | None:
    return None if run.noisy_weights is None else np.rint(run.noisy_weights)


def _size_sd(run: Run) -> float | None:
    sd = getattr(run.frames[-1].step, "count_noise_sd", None)
    return None if sd is None or run.noisy_weights is None else float(np.max(sd))
