"""The ledger: every charge against the declared budget, refused before a row is read if it does not fit.

Why charges add up is in ``docs/proofs/accounting.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, inf
from typing import Annotated, Any

from dpviz.core.accounting import (
    Accounting,
    Budget,
    DrawList,
    LossKind,
    NoiseDraws,
    Shares,
    calibrate_scale,
    compose_epsilon,
    compute_amount,
    compute_spent_epsilon,
    gdp_epsilon,
    refuse_unpriced,
    scale_draws,
    zcdp_epsilon,
)
from dpviz.core.check import RequestError, positive
from dpviz.core.mechanisms import Mechanism
from dpviz.core.reporting import Report, TextTable

# Additions of shares that were rounded down stay below the cap; this forgives the last bit of the check itself.
_ROUNDING = 1e-12


class BudgetExceeded(RequestError):
    """A charge that is more than the ledger has left; nothing was computed or released."""


@dataclass(frozen=True)
class Entry:
    """One charge.

    ``mechanism``, ``query`` and ``note`` are words for people, which decide nothing. Amounts add up, except under PLD;
    ``epsilon`` and ``delta`` only under pure accounting. The mechanism's own norm is l1 for Laplace, l2 for Gaussian,
    range for exponential, row norms for K-norm.

    Raises
    ------
    RequestError
        If the accounting has no rule of addition for such a loss.
    """

    mechanism: Annotated[str, "what drew the noise"]
    loss: Annotated[LossKind, "the kind of its privacy loss, which is proved"]
    query: Annotated[str, "the question"]
    note: Annotated[str, "what it was asked for"]
    epsilon: Annotated[float, "its ε alone"]
    delta: Annotated[float, "its δ alone"]
    sensitivity: Annotated[float, "in the mechanism's own norm, of all draws together"]
    scale: Annotated[float, "of the noise, in that norm"]
    draws: Annotated[int, "how often it was drawn, alike, with each row"] = field(default=1, kw_only=True)
    amount: Annotated[float, "its cost, which is added up in `unit`"]
    accounting: Accounting

    def __post_init__(self) -> None:
        refuse_unpriced(self.loss, self.accounting, mechanism=self.mechanism)

    @classmethod
    def of(cls, mechanism: Mechanism[Any], query: str, accounting: Accounting, *, delta: float, note: str) -> Entry:
        """The charge for one draw, computed from the object that draws.

        Parameters
        ----------
        mechanism : Mechanism
        query : str
            The question's name.
        accounting : Accounting
        delta : float
            The draw's own part, under basic composition.
        note : str
            What the ledger says it is for.

        Returns
        -------
        Entry
        """
        loss: object = getattr(mechanism, "loss", None)
        refuse_unpriced(loss, accounting, mechanism=mechanism.name)
        paid = mechanism.cost(accounting)
        if accounting is Accounting.BASIC:
            own: float | None = 0.0  # what is ε-DP takes no part of δ
            if mechanism.loss in (LossKind.GAUSSIAN, LossKind.APPROXIMATE):
                own = getattr(mechanism, "delta", None)
            if own is None:
                raise RequestError(
                    f"A {mechanism.name} mechanism does not say its part of delta: pay it under another rule."
                )
            alone, delta = paid, own
        elif mechanism.loss is LossKind.GAUSSIAN:
            alone = gdp_epsilon(mechanism.sensitivity / mechanism.scale, delta)
        else:
            # Many releases in one entry: at a δ, their ρ may add up to less than their ε.
            together = zcdp_epsilon(paid, delta) if accounting is Accounting.ZCDP else inf
            pure = mechanism.cost(Accounting.PURE)
            alone, delta = (pure, 0.0) if pure <= together else (together, delta)
        return cls(
            mechanism=mechanism.name,
            loss=mechanism.loss,
            query=query,
            note=note,
            sensitivity=mechanism.sensitivity,
            scale=mechanism.scale,
            accounting=accounting,
            amount=paid,
            epsilon=alone,
            delta=delta,
            draws=getattr(mechanism, "draws", 1),
        )

    @classmethod
    def revealed(cls, what: str, *, note: str) -> Entry:
        """A look without any guarantee, in a ledger that promises none.

        Parameters
        ----------
        what : str
            What was looked at.
        note : str
            Why.

        Returns
        -------
        Entry
            Without a cost, and without a promise.
        """
        return cls("reveal", LossKind.REVEALED, what, note, inf, 0.0, 0.0, 0.0, 0.0, Accounting.NONE)

    def to_dict(self) -> dict[str, str | float]:
        """Plain values for export."""
        plain = {**vars(self), "loss": self.loss.value, "unit": self.accounting.unit.name}
        del plain["accounting"]
        return plain

    @property
    def rho(self) -> float:
        """What it costs in zCDP, whatever the accounting is.

        Raises
        ------
        RequestError
            If no ρ of it is proved.
        """
        refuse_unpriced(self.loss, Accounting.ZCDP, mechanism=self.mechanism)
        times = 1 if self.loss is LossKind.GAUSSIAN else self.draws
        return times * compute_amount(
            self.loss, Accounting.ZCDP, sensitivity=self.sensitivity / times, scale=self.scale
        )

    def list_draws(self) -> NoiseDraws:
        """The noise, for loss distributions.

        Raises
        ------
        RequestError
            If it is neither like Laplace, nor Gaussian, nor of bounded range: no proof that a distribution bounds it.
        """
        refuse_unpriced(self.loss, Accounting.PLD, mechanism=self.mechanism)
        if self.loss is LossKind.GAUSSIAN:
            # Many draws with one scale are one draw with the Euclidean norm of their sensitivities.
            return NoiseDraws(True, self.scale / self.sensitivity)
        return NoiseDraws(False, self.scale / self.sensitivity * self.draws, self.draws)


def tabulate_entries(entries: Sequence[Mapping[str, Any]], heading: str) -> TextTable:
    """Entries, as ``Entry.to_dict`` gives them, to be printed.

    Parameters
    ----------
    entries : sequence of mapping of str to object
        What was charged.
    heading : str
        Of the table.

    Returns
    -------
    TextTable
    """
    rows = [
        [e["mechanism"], e["query"], e["note"], f"{e['sensitivity']:.4g}", f"{e['scale']:.4g}", f"{e['epsilon']:.4g}"]
        for e in entries
    ]
    return TextTable(heading, ["mechanism", "query", "for", "sensitivity", "noise scale", "ε alone"], rows)


def compute_total_epsilon(
    accounting: Accounting, entries: Sequence[Entry], *, delta: float, planned: tuple[NoiseDraws, ...] = ()
) -> float:
    """The ε at ``delta`` of all ``entries`` together, on the grid of all that is ``planned``.

    Parameters
    ----------
    accounting : Accounting
    entries : sequence of Entry
        What was charged.
    delta : float
        At which ε is asked for.
    planned : tuple of NoiseDraws
        All draws that were calibrated together, under PLD.

    Returns
    -------
    float
        Of everything that was charged.
    """
    if accounting is Accounting.PLD and entries:
        return compose_epsilon(tuple(entry.list_draws() for entry in entries), delta, whole=planned)
    return compute_spent_epsilon(accounting, fsum(entry.amount for entry in entries), delta=delta)


@dataclass(repr=False)
class Ledger(Report):
    """The odometer of one run with its cap: ε, μ² or ρ; under PLD the ε that all draws compose to.

    Under PLD it books what is on one list of draws, which is fixed before the first charge (``DrawList``). Where none
    was announced, the first charge is the whole list.

    Parameters
    ----------
    accounting : Accounting
    epsilon, delta : float
        The cap as it was requested; δ is 0 under pure accounting.
    """

    accounting: Accounting
    epsilon: float
    delta: float
    entries: list[Entry] = field(default_factory=list)
    cap: float = field(init=False)
    budget: Budget = field(init=False)
    """The whole amount, to be divided."""
    announced: DrawList | None = field(init=False, default=None)
    """Under PLD, what is left of the list of draws."""
    planned: tuple[NoiseDraws, ...] = ()
    """All noise that was calibrated together, where some was: it sets the grid that losses are rounded up to."""

    def __post_init__(self) -> None:
        self.epsilon, self.delta = positive(epsilon=self.epsilon), float(self.delta)
        if self.accounting in (Accounting.PURE, Accounting.NONE):
            self.delta = 0.0
        whole = self.accounting.compute_capacity(epsilon=self.epsilon, delta=self.delta)
        self.budget = Budget(self.accounting, whole, self.delta if self.accounting is Accounting.BASIC else 0.0)
        self.cap = self.epsilon if self.accounting is Accounting.PLD else whole

    @property
    def left(self) -> Budget:
        """The amount that no entry has taken."""
        delta = self.budget.delta - fsum(entry.delta for entry in self.entries) if self.budget.delta else 0.0
        amount = self.budget.amount - fsum(entry.amount for entry in self.entries)
        return Budget(self.accounting, amount, delta).fraction(1 - 1e-12)

    @property
    def draws(self) -> tuple[NoiseDraws, ...]:
        """The noise of all entries so far, for loss distributions."""
        return tuple(entry.list_draws() for entry in self.entries)

    @property
    def spent(self) -> float:
        """What is spent so far, to be compared with ``cap``."""
        return self._total(self.entries)

    def _total(self, entries: Sequence[Entry]) -> float:
        if self.accounting is Accounting.PLD:
            return compute_total_epsilon(self.accounting, entries, delta=self.delta, planned=self.planned)
        return fsum(entry.amount for entry in entries)

    @property
    def spent_fraction(self) -> float:
        """Part of the cap that is spent, in [0, 1]."""
        return 0.0 if self.cap == inf else min(1.0, self.spent / self.cap)

    @property
    def spent_epsilon(self) -> float:
        """The ε, at the ledger's δ, of what is spent so far; never above the request."""
        if self.cap == inf:
            return inf if self.entries else 0.0
        total = compute_total_epsilon(self.accounting, self.entries, delta=self.delta, planned=self.planned)
        return min(self.epsilon, total)

    def announce(self, *planned: NoiseDraws, first: tuple[NoiseDraws, ...] = ()) -> None:
        """Fix the list of draws: ``first`` as they are, and ``planned`` with one scale by which all use up the cap.

        Parameters
        ----------
        first : tuple of NoiseDraws
            What is drawn as it is, a bought number of rows for example.
        *planned
            Multipliers of all other draws.

        Raises
        ------
        RequestError
            If the accounting needs no list, one is fixed already, something was drawn, or only ``first`` would be.
        """
        if self.accounting is not Accounting.PLD:
            raise RequestError(f"Under {self.accounting.value} accounting shares add up: divide the session's budget.")
        if self.entries or self.announced is not None:
            raise RequestError("Draws are announced once, before the first answer: list all of them then.")
        if not planned:
            raise RequestError(
                "Under loss distributions all draws are announced before the first answer, and a noisy number of rows "
                "is one: list them in the card's draws, or declare the number of rows public."
            )
        scale = calibrate_scale(planned, first, epsilon=self.epsilon, delta=self.delta)
        self.planned = (*first, *scale_draws(planned, scale))
        self.announced = DrawList.of(self.planned, scale=scale)

    def calibrate(self, draws: Mapping[str, NoiseDraws]) -> Shares:
        """A share for each of ``draws``, at the scale of the list, which they are where none is fixed yet."""
        if self.announced is None:
            self.announce(*draws.values())
        assert self.announced is not None
        noise = zip(draws, scale_draws(tuple(draws.values()), self.announced.scale), strict=True)
        return Shares({name: Budget(Accounting.PLD, drawn.rho) for name, drawn in noise})

    def _compute_remainder(self, entries: Sequence[Entry]) -> DrawList | None:
        """What is left of the list of draws after ``entries``; refuses what is not on it."""
        if self.accounting is not Accounting.PLD:
            return None
        nothing_left = DrawList.of(())
        if self.announced is None and not self.entries:
            return nothing_left
        left = self.announced or nothing_left
        for entry in entries:
            left = left.subtract(entry.list_draws(), note=entry.note)
        return left

    def charge(self, *entries: Entry) -> None:
        """Book ``entries`` together, or none of them.

        Raises
        ------
        BudgetExceeded
            If they cost more than is left.
        NotAnnounced
            Under PLD, if they are not on the list of draws.
        """
        for entry in entries:
            if entry.accounting is not self.accounting:
                raise RequestError(
                    f"The step {entry.note!r} is priced under {entry.accounting.value} accounting, but this ledger "
                    f"adds up under {self.accounting.value}: price it by the ledger's rule."
                )
            if not entry.amount > 0 and self.accounting is not Accounting.NONE:
                # Noise bought with a negative share would be booked as a refund.
                raise BudgetExceeded(f"The step {entry.note!r} has no budget: give it a share above 0.")
        after = self._total([*self.entries, *entries])
        if not after <= self.cap * (1 + _ROUNDING):
            left = max(0.0, self.cap - self.spent)
            unit = "epsilon" if self.accounting is Accounting.PLD else self.accounting.unit.name
            raise BudgetExceeded(
                f"This step asks for {after - self.spent:.6g} of {unit}, but {left:.6g} of "
                f"{self.cap:.6g} is left: give the step a smaller share or the run a larger epsilon."
            )
        deltas = fsum(entry.delta for entry in (*self.entries, *entries))
        if self.accounting is Accounting.BASIC and not deltas <= self.delta * (1 + _ROUNDING):
            raise BudgetExceeded(f"This step asks for more of delta than is left of {self.delta:g}: give a larger one.")
        self.announced = self._compute_remainder(entries)
        self.entries.extend(entries)

    def _list_blocks(self) -> Iterator[str | TextTable]:
        if self.accounting is Accounting.NONE:
            yield "Ledger: no privacy, the rows themselves were read"
        else:
            spent = f"ε = {self.spent_epsilon:.6g} of {self.epsilon:g} spent, δ = {self.delta:g}"
            yield f"Ledger: {spent}, {self.accounting.value} accounting, entries: {len(self.entries)}"
        if self.entries:
            yield tabulate_entries([entry.to_dict() for entry in self.entries], "What was spent, and on what")
