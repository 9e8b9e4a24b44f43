"""A release: everything that can be refused is refused first, then the account is charged, then noise is drawn.

Between the charge and the noise lies nothing but the charge itself: whoever pulls the plug there has paid and released
nothing; nobody releases without having paid.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np

from dpviz import __version__
from dpviz.check import RequestError
from dpviz.privacy.exact_draws import library
from dpviz.privacy.exact_noise import ExactNoise
from dpviz.release.account import Account, Standing
from dpviz.release.bought_bounds import open_columns, refuse_too_few
from dpviz.release.card_facts import AccountFacts, CardColumn, CardFacts, Part
from dpviz.release.coded_table import refuse_beyond_memory, spelled_out
from dpviz.release.described_table import described_table
from dpviz.release.order import Order
from dpviz.release.package import CARD, Published, files_of
from dpviz.release.release_parts import Parts, Tables, Watch, all_parts
from dpviz.release.segments_for_card import certificate_for_card, segments_for_card
from dpviz.release.transcript import Tape, Transcript
from dpviz.runs.open_table import OpenTable, declare
from dpviz.runs.run import Run
from dpviz.table.declaration import Declaration
from dpviz.table.named import Content
from dpviz.table.sidecar import to_json


@dataclass(frozen=True, eq=False)
class Ready:
    """A release that nothing stands against; no row has been asked about, and nothing is charged."""

    order: Order
    content: Content
    declaration: Declaration
    table: OpenTable | None
    account: Account
    before: Standing

    @property
    def shares(self) -> Mapping[str, Part]:
        """What each part may spend."""
        return self.order.shares(self.declaration)


@dataclass(frozen=True, eq=False)
class Drawn:
    """What was drawn for a release, and the tapes of all sources."""

    parts: Parts
    tapes: Mapping[str, Tape]

    @property
    def run(self) -> Run:
        """That of the algorithm."""
        return self.parts.clustered.run


@dataclass(frozen=True, eq=False)
class Release:
    """A release that has left: its files, and the number of its charge."""

    number: int
    files: Mapping[str, bytes]
    drawn: Drawn


def ready(
    order: Order, content: Content, declaration: Declaration, account: Account, *, opened: OpenTable | None = None
) -> Ready:
    """Everything checked that can be checked before a charge; a table that is ``opened`` already is not read again.

    Raises
    ------
    RequestError
        If the order, the declaration, the table or the account does not allow it.
    """
    declaration = spelled_out(content, declaration)
    order.check(declaration)
    if to_buy := open_columns(declaration):
        refuse_beyond_memory(content, to_buy)
        refuse_too_few(declaration, epsilon=order.bounds * order.request.epsilon)
    if order.missing:
        refuse_beyond_memory(content, declaration.columns)
    table = None
    if not to_buy:
        table = declare(content, declaration) if opened is None else opened
        declaration = replace(table.declaration, words=declaration.words)
        order.check(declaration)
        of_algorithm = order.of_algorithm(declaration)
        of_algorithm.check(table.private)
        of_algorithm.check_releasable(table.private)
    before = account.standing()
    before.refuse(order.charge(declaration, unit=unit_of(declaration, table)))
    return Ready(order, content, declaration, table, account, before)


def press(prepared: Ready, *, watch: Watch | None = None, charged: Callable[[int], None] | None = None) -> Release:
    """Charge the account, draw, and make the files. A second press is a second charge.

    ``charged`` is told the number of the charge before anything is drawn, ``watch`` every step of the algorithm.

    **Guarantee.** (ε, δ)-DP as ordered, for the table's relation and unit of privacy: the parts add up by basic
    composition, and each has a ledger of its own. Bounds that were declared, k, the columns and the order are public.

    Raises
    ------
    RequestError
        If the account refuses (nothing is released), or something fails after the charge (which stays).
    """
    charge = prepared.order.charge(prepared.declaration, unit=unit_of(prepared.declaration, prepared.table))
    number = prepared.account.charge(charge)
    try:
        if charged is not None:
            charged(number)
        drawn = draw(prepared, watch=watch)
        files = files_of(published(prepared, drawn))
    except BaseException as error:
        prepared.account.failed(number, why=type(error).__name__)
        raise
    with suppress(RequestError):  # paid for: it leaves, even where the account cannot note any more that it did
        prepared.account.released(number, card_sha256=hashlib.sha256(files[CARD]).hexdigest())
    return Release(number, files, drawn)


def draw(prepared: Ready, *, watch: Watch | None = None) -> Drawn:
    """Every answer of a release, each part with noise of its own."""
    sources = {part: ExactNoise() for part in prepared.shares}
    parts = all_parts(
        prepared.order, prepared.declaration, sources, prepared.content, partial(_opened, prepared), watch=watch
    )
    return Drawn(parts, {part: Tape(source.coins, tuple(source.released)) for part, source in sources.items()})


def _opened(prepared: Ready, declaration: Declaration) -> Tables:
    table = prepared.table
    if table is None:  # its bounds had to be bought first
        table = declare(prepared.content, declaration)
        request = prepared.order.of_algorithm(prepared.declaration)
        request.check(table.private)
        request.check_releasable(table.private)
    return Tables(table.private, partial(described_table, table, prepared.content))


def unit_of(declaration: Declaration, table: OpenTable | None) -> str:
    """The unit of privacy in words."""
    if table is not None:
        return table.private.unit
    if declaration.id_column is None:
        return "1 row"
    plural = "" if declaration.rows_per_person == 1 else "s"
    return f"1 person, up to {declaration.rows_per_person} row{plural}"


def published(prepared: Ready, drawn: Drawn) -> Published:
    """All that leaves, from what was declared and drawn."""
    order, run, parts_drawn = prepared.order, drawn.run, drawn.parts
    declaration, centers = parts_drawn.declaration, parts_drawn.clustered.published
    report = None if parts_drawn.told is None else parts_drawn.told.report
    parts = tuple(order.shares(prepared.declaration).values())
    charged = [{"part": part, **entry.to_dict()} for part, own in parts_drawn.entries.items() for entry in own]
    charge = order.charge(prepared.declaration, unit=unit_of(prepared.declaration, prepared.table))
    before, transcript = prepared.before, Transcript(asked(prepared, drawn), drawn.tapes)
    facts = CardFacts(
        words=order.words,
        table=declaration.title or prepared.content.name,
        columns=card_columns(declaration),
        k=run.k,
        algorithm=order.request.card.title,
        algorithm_id=run.algorithm,
        paper=order.request.card.paper,
        epsilon=order.request.epsilon,
        delta=order.delta,
        relation=run.relation,
        unit=run.unit,
        rows_per_person=declaration.rows_per_person,
        has_id=declaration.id_column is not None,
        n=run.n,
        n_bought=run.n_origin == "bought",
        looks={str(kind): number for kind, number in order.looks.items()},
        studies=order.studies,
        accounting=_accounting_words(run, parts),
        parts=parts,
        entries=tuple(charged),
        noise=library(),
        dpviz=__version__,
        account=AccountFacts(
            before.name,
            before.cap_epsilon,
            before.cap_delta,
            before.spent_epsilon,
            before.spent_delta,
            before.spent_epsilon + charge.epsilon,
            before.spent_delta + charge.delta,
        ),
        centers=centers.centers,
        center_step=centers.step,
        center_sd=centers.sd,
        sizes=None if run.noisy_weights is None else np.rint(run.noisy_weights),
        size_sd=_size_sd(run),
        segments=None if report is None else segments_for_card(report),
        certificate=None if report is None else certificate_for_card(report.certificate),
        expected_loss=order.expected_loss,
        missing=parts_drawn.missing_told,
        transcript=transcript.sha256,
    )
    return Published(
        facts,
        declaration,
        run.domain,
        centers,
        parts_drawn.entries,
        parts_drawn.segments_csv,
        transcript,
    )


def asked(prepared: Ready, drawn: Drawn) -> dict[str, Any]:
    """What was asked, in plain values: enough to play the release again."""
    order, run = prepared.order, drawn.run
    return {
        "version": __version__,
        "request": {
            "algorithm": run.algorithm,
            "k": run.k,
            "epsilon": order.request.epsilon,
            "delta": order.request.delta,
            "parameters": {name: value for name, value in run.parameters.items() if value is not None},
        },
        "segments": order.segments,
        "bounds": order.bounds,
        "missing": order.missing,
        "n_public": run.n_public,
        "declared": to_json(prepared.declaration),
        "declaration": to_json(drawn.parts.declaration),
        "date": datetime.now(UTC).date().isoformat(),
    }


def card_columns(declaration: Declaration) -> tuple[CardColumn, ...]:
    """The clustered columns, then those that segments alone are told by."""
    clustered = tuple(
        CardColumn(name, bounds.lower, bounds.upper, declaration.units.get(name, ""), declaration.origin_of(name))
        for name, bounds in declaration.bounds.items()
    )
    others = tuple(
        CardColumn(name, one.lower, one.upper, declaration.units.get(name, ""), "declared", one.categories)
        for name, one in declaration.describe.items()
    )
    return (*clustered, *others)


def _accounting_words(run: Run, parts: Sequence[Part]) -> str:
    within = {
        "pure": "inside the algorithm every ε adds up (sequential composition)",
        "gdp": "inside the algorithm Gaussian noise adds up exactly (Gaussian differential privacy)",
        "pld": "inside the algorithm the loss distributions of all draws are composed numerically",
        "zcdp": "inside the algorithm ρ adds up (zero-concentrated differential privacy)",
    }[run.accounting.value]
    between = "Parts of the release add up (basic composition)" if len(parts) > 1 else "There is one part"
    return f"{between}; {within}."


def _size_sd(run: Run) -> float | None:
    sd = getattr(run.frames[-1].step, "count_noise_sd", None)
    return None if sd is None or run.noisy_weights is None else float(np.max(sd))
