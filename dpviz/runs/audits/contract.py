"""The contract of every private algorithm, as checks that raise: audits and tests run them; mistakes must fail them."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from dpviz.algorithms import Card
from dpviz.core import Accounting, Broken, PrivateSession, PrivateTable, compute_total_epsilon, replay
from dpviz.runs.audits.neighboring_tables import NeighborSetting, list_settings, list_variants
from dpviz.runs.meaning.independent_accounting import compute_independent_epsilon
from dpviz.runs.one_run import Run, run_request
from dpviz.runs.request import Contender, Request

# Log densities and sums are floating-point numbers.
_ROUNDING = 1e-8
# What a ledger has to spend of a request, and what an independent library, which rounds upward, has to find of it.
_LEAST_SPENT, _LEAST_FOUND = 0.99, 0.98


class Recorded(NamedTuple):
    """A run whose releases were recorded."""

    recording: replay.Recording
    run: Run


@contextmanager
def add_context(*where: object) -> Iterator[None]:
    """Whatever breaks inside says in which case."""
    try:
        yield
    except Broken as broken:
        raise Broken(f"{', '.join(map(str, where))}: {broken}") from broken


def demand(holds: bool | np.bool_, sentence: str) -> None:
    """Refuse what does not hold."""
    if not holds:
        raise Broken(sentence)


def run_card(
    card: Card,
    table: PrivateTable,
    *,
    session: type[PrivateSession] | None = None,
    params: Mapping[str, Any] | None = None,
    **request: Any,
) -> Run:
    """A run in that kind of session; ``request`` is what is asked, as for ``run``."""
    return run_request(Request(Contender.of(card, params), **request), replay.open_as(table, session))


def record_run(card: Card, table: PrivateTable, **request: Any) -> Recorded:
    """A run, as ``run_card``, with all that it released; nothing of it holds the table."""
    recording = replay.Recording()
    return Recorded(recording, run_card(card, table, session=recording.make_recording_session(), **request))


def check_replayed(card: Card, table: PrivateTable, first: Recorded, **request: Any) -> None:
    """With its answers recorded, a run comes out the same over a ``table`` whose rows may be any: nobody reads them."""
    again = run_card(card, table, session=first.recording.make_replaying_session(), **request)
    demand(not first.recording.broken, "; ".join(first.recording.broken))
    demand(len(first.run.frames) == len(again.frames), "without the rows, there are more steps or fewer")
    for place, (one, other) in enumerate(zip(first.run.frames, again.frames, strict=True), start=1):
        demand(one.step.title == other.step.title, f"without the rows, step {place} has another title")
        here, there = (list(list_values(frame.step)) for frame in (one, other))
        same = len(here) == len(there) and all(map(_is_equal, here, there))
        demand(same, f"without the rows, step {place} ({one.step.title!r}) holds other numbers: something was read")
        demand(one.spent_epsilon == other.spent_epsilon, f"without the rows, step {place} costs more or less")


def _is_equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == other.dtype.kind == "f")
    return bool(one == other or (one != one and other != other))


def list_values(thing: object, *, depth: int = 4) -> Iterator[Any]:
    """Every array, number and word in a step, those inside its grids and trees included."""
    if isinstance(thing, np.ndarray | np.generic | int | float | str):
        yield thing
    elif isinstance(thing, tuple | list):
        for part in thing:
            yield from list_values(part, depth=depth)
    elif dataclasses.is_dataclass(thing) and depth > 0:
        for one in dataclasses.fields(thing):
            yield from list_values(getattr(thing, one.name), depth=depth - 1)


def check_loss(card: Card, one: PrivateTable, other: PrivateTable, **request: Any) -> replay.RecordedLoss:
    """No transcript of ``one`` is likelier there than on its neighbour by more than was declared; returns the loss."""
    return check_neighbor(card, record_run(card, one, **request), other, **request)


def check_neighbor(card: Card, first: Recorded, other: PrivateTable, **request: Any) -> replay.RecordedLoss:
    """The same of a run that was recorded, which several neighbours may be compared with."""
    loss = replay.RecordedLoss()
    run_card(card, other, session=first.recording.make_loss_session(loss), **request)
    demand(not first.recording.broken, "; ".join(first.recording.broken))
    asked = len(loss.fractions_of_bound) + len(loss.unbounded)
    demand(asked == len(first.recording.released), "the neighbour asks fewer questions")
    for (name, _), part in zip(loss.per_release, loss.fractions_of_bound, strict=True):
        demand(part <= 1 + _ROUNDING, f"a {name} release loses {part:.4f} times what its entry says")
    _check_total_loss(first.run, loss)
    return loss


def _check_total_loss(run: Run, loss: replay.RecordedLoss) -> None:
    most = run.epsilon * (1 + _ROUNDING)
    beyond = f"a transcript is e^{loss.log_ratio:.4f} times as likely on a neighbour, at ε = {run.epsilon:g}"
    match run.accounting:
        case Accounting.PURE:
            demand(loss.shift_squared == 0, "Gaussian noise is priced by ε alone")
            demand(loss.log_ratio <= most, beyond)
        case Accounting.BASIC:
            # Of (ε, δ) releases, one in 1/δ may lose more; seeds are fixed. Gaussian ones are bounded above.
            demand(loss.log_ratio <= most, beyond)
            epsilon, delta = (sum(part) for part in zip(*((e.epsilon, e.delta) for e in run.entries), strict=True))
            demand(epsilon <= most, "entries add up to more than ε")
            demand(delta <= run.delta * (1 + _ROUNDING), "entries add up to more than δ")
            for mechanism in loss.unbounded:
                cost = mechanism.cost(Accounting.BASIC)
                demand(any(entry.epsilon == cost for entry in run.entries), "a release is booked at another price")
        case Accounting.GDP:
            demand(loss.log_ratio == 0, "noise that is not Gaussian is priced by μ²")
            booked = sum(entry.amount for entry in run.entries)
            demand(loss.shift_squared <= booked * (1 + _ROUNDING), "answers shift by more than the booked μ²")
        case Accounting.ZCDP | Accounting.PLD:
            # Releases are bounded one by one above, and their ρ add up, or their loss distributions compose.
            demand(sum(entry.amount for entry in run.entries) > 0, "nothing was booked")
        case Accounting.NONE:
            raise Broken("a private card runs without a guarantee")


def check_ledger(card: Card, table: PrivateTable, **request: Any) -> None:
    """The entries are what was drawn, and add up to the request: all but 1 % of it, and no more, by two libraries."""
    check_booked(record_run(card, table, **request))


def check_booked(first: Recorded) -> None:
    """Of a run that was recorded: the entries are what was drawn, and add up to the request."""
    recording, run = first
    drawn = [(m.name, m.sensitivity, m.scale) for m in recording.mechanisms]
    booked = [(entry.mechanism, entry.sensitivity, entry.scale) for entry in run.entries]
    demand(drawn == booked, "the ledger does not list what was drawn")
    demand(len(run.entries) > 0, "nothing was asked, so that nothing was spent")
    # The total, in the ledger's own accounting and by dp-accounting.
    spent = f"{run.spent_fraction:.4f} of the request was spent; {_LEAST_SPENT:g} to 1 is allowed"
    demand(_LEAST_SPENT <= run.spent_fraction <= 1.0, spent)
    total = compute_total_epsilon(run.entries[0].accounting, run.entries, delta=run.delta)
    demand(total <= run.epsilon, f"the entries add up to ε = {total:.6g} of {run.epsilon:g}")
    independent = compute_independent_epsilon(run.entries, delta=run.delta)
    if independent is None:
        raise Broken("an independent library cannot add the entries up")
    added = f"an independent library adds the entries up to ε = {independent:.6g} of {run.epsilon:g}"
    demand(_LEAST_FOUND * run.epsilon <= independent <= run.epsilon, added)
    demand(0 < run.spent_epsilon <= run.epsilon, f"ε = {run.spent_epsilon:.6g} of {run.epsilon:g} was spent")
    for entry in run.entries:
        demand(entry.accounting is run.accounting, "an entry is booked under another accounting")
        demand(entry.amount > 0, "an entry costs nothing")
        demand(0 < entry.epsilon <= run.epsilon * (1 + _ROUNDING), "an entry costs more than was asked for")


def check_centers(run: Run, k: int) -> None:
    """Exactly k finite centres inside the domain."""
    domain = run.domain
    demand(run.centers.shape == (k, domain.dim), f"the centres have shape {run.centers.shape}, not {(k, domain.dim)}")
    demand(np.isfinite(run.centers).all(), "a centre is not finite")
    slack = 1e-9 * domain.scale
    inside = (run.centers >= domain.lower - slack).all() and (run.centers <= domain.upper + slack).all()
    radius = np.linalg.norm(run.unit_centers, axis=1).max()
    demand(inside and radius <= domain.region.radius * (1 + 1e-9), "a centre lies outside the bounds")


SEED = 11
"""Of every run of an audit that has one: whoever audits twice finds the same."""

K = 3
"""Clusters of a run, where nothing else is said."""


class NotAsked(Exception):
    """A check that does not apply, and why."""


@dataclass(frozen=True)
class Subject:
    """What is audited: an algorithm with its presets and choices; and the runs of an attack on it, in pairs."""

    card: Card
    runs: int

    @property
    def settings(self) -> list[tuple[dict[str, Any], float]]:
        """Each preset with a δ that suits it, and the default one with every other choice another than usual."""
        return [(params, delta) for _, params, delta in [*list_settings(self.card), *list_variants(self.card)]]

    def list_cases(
        self, cases: Sequence[NeighborSetting], epsilons: Sequence[float] = ()
    ) -> Iterator[tuple[list[object], NeighborSetting, dict[str, Any]]]:
        """Each setting on each kind of table at each ε, or the usual one: in words, the table, what is asked of it."""
        for (params, delta), case, epsilon in product(self.settings, cases, epsilons or (2.0,)):
            request = {"k": K, "epsilon": epsilon, "delta": delta, "params": params, "seed": SEED}
            yield describe_case(params, delta, case, *[f"ε = {epsilon:g}"] * bool(epsilons)), case, request

    def run(self, table: PrivateTable, *, params: Mapping[str, Any], delta: float, **how: Any) -> Run:
        """A run of it; what is not said is as usual."""
        return run_card(self.card, table, params=params, delta=delta, **{"k": K, "epsilon": 2.0, "seed": SEED, **how})


Check = Callable[[Subject], str]
"""What held, as a sentence; raises ``Broken`` where something did not, and ``NotAsked`` where it does not apply."""


def describe_case(params: Mapping[str, Any], delta: float, *more: object) -> list[object]:
    """In which case: the preset, δ and whatever else."""
    return [*(value for name, value in params.items() if name == "preset"), f"δ = {delta:g}", *more]
