"""One run of one algorithm: frames of released steps, what was spent, and the centres."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from dpviz.algorithms import (
    Card,
    CentersStep,
    Level,
    LossDiagnostic,
    Params,
    ReferenceStep,
    Step,
    find_card,
    size_estimates,
)
from dpviz.core import (
    ACCESS_LOG,
    AccessKind,
    Accounting,
    AnySource,
    Array,
    Domain,
    Entry,
    ExactSource,
    Ledger,
    PrivateTable,
    Relation,
    Report,
    StudyNoise,
    TextTable,
)
from dpviz.runs.advice.judgement import Judgement, list_noisy_shares
from dpviz.runs.request import Contender, Request
from dpviz.runs.verdict import Verdict, reach_verdict
from dpviz.words import PLUS_MINUS, Key

if TYPE_CHECKING:
    from dpviz.algorithms import synopsis_reading
    from dpviz.runs.profiles import Profile

SIMULATION = "SIMULATION"
SEEDED = "The noise is seeded, so that a study can be repeated: whoever knows the seed can take it off. Not a release."
_NOT_HARDENED = "the noise is study noise, not hardened against floating-point attacks: do not publish."
_MOST_COLUMNS = 8  # of a printed run: as many as a terminal holds side by side


@dataclass(frozen=True, eq=False, repr=False)
class Frame(Report):
    """A step and what had been spent when it was taken.

    ``spent_epsilon`` is the ε, at the run's δ, of all entries so far; ``entries`` is how many there were.
    """

    step: Step
    spent_epsilon: float
    spent_fraction: float
    entries: int

    def _list_blocks(self) -> Iterator[str]:
        yield f"{self.step.title} (ε = {self.spent_epsilon:.3g} spent so far)"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RunFacts:
    """What is said of a run wherever it is told of: what was asked for, where n came from, what was spent, and how.

    ``n`` is the number of rows that was used, where one was: public or, if ``n_origin`` is "bought", noisy.
    """

    algorithm: Annotated[str, "its id"]
    private: bool
    k: Annotated[int, "clusters"]
    epsilon: Annotated[float, "that was asked for"]
    delta: Annotated[float, "that was asked for"]
    unit: Annotated[str, "the unit of privacy"]
    n_public: Annotated[int | None, "the number of rows, where it is public"]
    n: Annotated[float | None, "the number of rows, as it was declared or bought"]
    n_origin: Annotated[str, "which of both"]
    parameters: Annotated[Mapping[str, Any], Key("of the algorithm", "an object")]
    accounting: Accounting
    spent_epsilon: float | None
    entries: tuple[Entry, ...]
    hardened: bool
    seeded: Annotated[bool, "whether the noise follows from a seed"]
    warnings: Annotated[tuple[str, ...], Key("what to know before the numbers are used", "a list of texts")] = ()

    @property
    def noise(self) -> str:
        """Which noise it was."""
        return "release-grade" if self.hardened else "simulation only: seedable floating-point noise"

    @property
    def hardening_note(self) -> str:
        """What to know of noise that is not release-grade; empty otherwise, and without privacy."""
        return "" if self.hardened or not self.private else _NOT_HARDENED

    @property
    def simulation_note(self) -> str:
        """Why this is a simulation and no release; empty of a release, and without privacy."""
        if not self.private or (self.hardened and not self.seeded):
            return ""
        return f"{SIMULATION}: {SEEDED if self.seeded else _NOT_HARDENED}"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RunSoFar(RunFacts):
    """A run under way: the steps that it has taken, and what has been spent.

    Holds public and released values only: it may be pickled and replayed. How long it took is not in it, because that
    depends on the rows. The exception is a run of a non-private algorithm (``private`` is False), whose centres are
    revealed. ``domain`` is that of the centres: the table's, or where a row stands for ``points_per_row`` points, that
    of one of them.
    """

    relation: str
    domain: Domain
    points_per_row: int
    spent_epsilon: float
    spent_fraction: float
    frames: tuple[Frame, ...]

    @property
    def steps(self) -> list[Step]:
        """What it has released so far, in order."""
        return [frame.step for frame in self.frames]

    @property
    def unit_centers(self) -> Array | None:
        """Final centres, unit coordinates, shape (k, d); None before the end."""
        return None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Run(RunSoFar, Report):
    """A finished run."""

    @property
    def unit_centers(self) -> Array:
        """Final centres, unit coordinates, shape (k, d)."""
        step = self.frames[-1].step
        if not isinstance(step, CentersStep | ReferenceStep):
            raise TypeError(f"the last step of an algorithm must carry centres, not a {type(step).__name__}")
        return step.centers

    @property
    def centers(self) -> Array:
        """Final centres, data units, shape (k, d)."""
        return self.domain.from_unit(self.unit_centers)

    @property
    def noisy_weights(self) -> Array | None:
        """Released cluster sizes, shape (k,), where there are any: by all that was released, where that is known."""
        step = self.frames[-1].step
        if self.sizes is not None:
            return self.sizes.rows
        return step.noisy_counts if isinstance(step, CentersStep) else None

    @property
    def center_noise_sd(self) -> Array | None:
        """Standard deviation of the noise on a coordinate of each centre (k,), unit coordinates, where it is known."""
        step = self.frames[-1].step
        return step.center_noise_sd if isinstance(step, CentersStep) else None

    @cached_property
    def profile(self) -> Profile:
        """What is said of each centre: its coordinates and its size, with the noise on both."""
        from dpviz.runs.profiles import make_profile  # here, because a first fit does not wait for it

        return make_profile(self)

    def read_shares(self) -> dict[str, dict[str, Array]]:
        """The share (k,) of each declared category in every centre, by column and category."""
        from dpviz.runs.profiles import read_shares

        return read_shares(self.domain, self.centers)

    def tabulate_centers(self, heading: str, *, most: int | None = None) -> TextTable:
        """The centres beside their sizes, each number with its noise, to be printed."""
        made = self.profile
        rows = [
            [str(place + 1), *made.describe_center(place, most).values(), *sizes]
            for place, *sizes in zip(range(self.k), *([made.sizes.words] if made.sizes else []), strict=True)
        ]
        return TextTable(heading, ["", *self.domain.names[:most], *["rows"] * (made.sizes is not None)], rows)

    @cached_property
    def sizes(self) -> size_estimates.Sizes | None:
        """Released cluster sizes with standard deviations, where these are known.

        By everything that was released, where its algorithm puts that together; else by its last rounds or its grid.
        """
        estimate = find_card(self.algorithm).sizes
        found = None if estimate is None else estimate(self.steps, self.domain.region)
        return size_estimates.estimate_sizes(self.steps) if found is None else found

    @cached_property
    def loss_diagnostic(self) -> LossDiagnostic | None:
        """What released values alone say of how well it went, where its algorithm can tell."""
        diagnose = find_card(self.algorithm).loss_diagnostic
        return None if diagnose is None else diagnose(self.steps, self.domain.region)

    @cached_property
    def stability(self) -> synopsis_reading.Stability | None:
        """How far its segments hang on the noise of its synopsis; None where released values speak against it, and
        of an algorithm that cannot say how its run went: redraws were compared with other runs of ``auto`` alone.
        """
        if self.loss_diagnostic is None or self.verdict is None or not self.verdict.fine:
            return None
        from dpviz.algorithms import synopsis_reading  # here, because a first fit does not wait for it

        return synopsis_reading.measure_stability(self.steps, self.unit_centers)

    @cached_property
    def verdict(self) -> Verdict | None:
        """How it ended, by released and public values alone; None where it is not private."""
        if not self.private:
            return None
        n = None if self.n_public is None else self.n_public * self.points_per_row
        return reach_verdict(
            self.steps, self.domain.region, sizes=self.sizes, n_declared=n, loss_diagnostic=self.loss_diagnostic
        )

    @property
    def ledger(self) -> Ledger:
        """What was spent, and on what."""
        return Ledger(self.accounting, self.epsilon, self.delta, list(self.entries))

    def _list_blocks(self) -> Iterator[str | TextTable]:
        title, steps = find_card(self.algorithm).title, f"steps: {len(self.frames)}"
        if not self.private:
            yield f"{title}: k = {self.k}, {steps}; no privacy"
        else:
            budget = f"ε = {self.epsilon:g} (spent {self.spent_epsilon:.6g}), δ = {self.delta:g}"
            yield f"{title}: k = {self.k}, {steps}; {budget}; {self.relation}, {self.unit}"
        kind = "Released centres (they carry noise)" if self.private else "Revealed centres (read without privacy)"
        columns = len(self.domain.names)
        left_out = f", the first {_MOST_COLUMNS} of {columns} columns" * (columns > _MOST_COLUMNS)
        yield self.tabulate_centers(f"{kind}{left_out}", most=_MOST_COLUMNS)
        if self.private:
            yield PLUS_MINUS
        if self.verdict is not None and not self.verdict.fine:
            yield f"By released values: {self.verdict.words}"
        if self.loss_diagnostic is not None:
            yield f"{self.loss_diagnostic.words}."
        if self.stability is not None:
            yield self.stability.words
        yield from (f"Note: {note}" for note in (*self.warnings, *filter(None, [self.hardening_note])))


Run.__module__ = "dpviz"


def run(
    card: Card | str,
    table: PrivateTable,
    *,
    k: int,
    epsilon: float,
    delta: float = 0.0,
    params: Params | Mapping[str, Any] | None = None,
    seed: int | None = None,
) -> Run:
    """Run an algorithm on a private table.

    Parameters
    ----------
    card : Card or str
        An algorithm or its id; ``auto`` is the best all-round one.
    table : PrivateTable
    k : int
        Number of clusters.
    epsilon, delta : float
        The whole budget; δ is used by approximate algorithms only.
    params : Params or mapping
        What is not given keeps its default.
    seed : int or None
        Makes a study repeatable. A release needs None: fresh noise.

    Returns
    -------
    Run
        With every step, the ledger, and the centres in data units.

    **Guarantee.** (ε, δ)-DP for the table's relation and unit of privacy; the domain, k and all parameters are public.

    Raises
    ------
    RequestError
        If the request is outside what is allowed; nothing has been read then.
    """
    request = Request(Contender.of(card, params), k, epsilon, delta, seed)
    request.check(table)
    if request.card.private:  # counted before it draws: a run that breaks off may have shown its steps
        ACCESS_LOG.add_run(table.source, request.epsilon)
    else:
        table.note_access(f"{request.algorithm} run with k = {request.k}", AccessKind.REFERENCE)
    return run_request(request, table)


run.__module__ = "dpviz"


def run_request(request: Request, table: PrivateTable, *, noise: AnySource | None = None) -> Run:
    """The run that is asked for; see ``run``.

    Parameters
    ----------
    request : Request
    table : PrivateTable
    noise : AnySource or None
        Draws in place of the seed's generator; None: that generator.

    Returns
    -------
    Run
        With every step, the ledger, and the centres in data units.
    """
    *_, last = run_steps(request, table, noise=noise)
    assert isinstance(last, Run)
    return last


def run_steps(request: Request, table: PrivateTable, *, noise: AnySource | None = None) -> Iterator[RunSoFar]:
    """What is asked for as it grows: the run so far after each step, then the ``Run`` itself.

    ``noise`` draws in place of a generator that follows from the seed: what a study of errors switches off, and what a
    release brings, with public coins of its own.

    Parameters
    ----------
    request : Request
    table : PrivateTable
    noise : AnySource or None
        Draws in place of the seed's generator; None: that generator.

    Yields
    ------
    RunSoFar

    Raises
    ------
    RequestError
        Also if a release has a seed, or its algorithm no release-grade noise.
    """
    card, params, k = request.card, request.check(table), int(request.k)
    accounting, planned = card.accounting(params, request.delta), card.draws
    coins, drawn = _make_two_streams(request.seed)
    if isinstance(noise, ExactSource):
        request.check_releasable(table)
        coins = np.random.SeedSequence(noise.coins)
    source = noise or StudyNoise(np.random.default_rng(drawn))
    draws = None if planned is None else lambda session: planned(session, k, params)
    asked: dict[str, Any] = {"epsilon": request.epsilon, "delta": request.delta, "needs_n": card.needs_n}
    opened = table.open(accounting=accounting, noise=source, draws=draws, **asked)
    ledger = opened.ledger
    declared = "by the replace relation" if table.relation is Relation.REPLACE else "declared"
    facts: dict[str, Any] = {
        "algorithm": card.id,
        "private": card.private,
        "k": k,
        "epsilon": request.epsilon,
        "delta": request.delta if ledger.delta else 0.0,
        "relation": table.relation.value,
        "unit": table.unit,
        "n_public": table.n_public,
        "n": opened.n if card.needs_n else None,
        "n_origin": ("bought" if table.n_public is None else declared) if card.needs_n else "not used",
        "parameters": asdict(params),
        "domain": table.domain.unfold(params.points_per_row(k)),
        "points_per_row": params.points_per_row(k),
        "accounting": accounting,
        "hardened": source.hardened,
        "seeded": request.seed is not None,
        # Of a release its whole ε is judged, where it is asked for; this run is but a part of it.
        "warnings": _list_warnings(request, table, params, judges=not isinstance(noise, ExactSource)),
    }
    frames: tuple[Frame, ...] = ()
    region, settles = table.domain.region, table.domain.region.blocks is not None
    for step in card.plan(opened, k, params, np.random.default_rng(coins)):
        # Centres lie where means of rows can: between categories, not beyond. Post-processing.
        if settles and isinstance(step, CentersStep | ReferenceStep) and step.centers.shape[1] == region.dim:
            step = replace(step, centers=region.settle_points(step.centers))
        frames = (*frames, Frame(step, ledger.spent_epsilon, ledger.spent_fraction, entries=len(ledger.entries)))
        yield RunSoFar(**facts, **_describe_spending(ledger), frames=frames)
    yield Run(**facts, **_describe_spending(ledger), frames=frames)


def _describe_spending(ledger: Ledger) -> dict[str, Any]:
    spent = ("spent_epsilon", "spent_fraction")
    return {**{name: getattr(ledger, name) for name in spent}, "entries": tuple(ledger.entries)}


def _make_two_streams(seed: int | None) -> tuple[np.random.SeedSequence, np.random.SeedSequence]:
    """Public coins, which may be shown and replayed, and noise, which may not; without a seed nothing links the two."""
    if seed is None:
        return np.random.SeedSequence(), np.random.SeedSequence()
    coins, noise = np.random.SeedSequence(seed).spawn(2)
    return coins, noise


def _list_warnings(request: Request, table: PrivateTable, params: Params, *, judges: bool) -> tuple[str, ...]:
    if not request.card.private:
        return ("k-means++ reads the rows without any privacy: its centres are revealed, never a release.",)
    light: tuple[str, ...] = ()
    if judges:
        judged = Judgement.of(request.card, request.make_setting(table), params, sparse=table.sparse)
        light = (judged.message,) if judged.level not in (None, Level.GREEN) else ()
    declared = {"relation": table.relation, "rows_per_person": table.rows_per_person}
    shares = list_noisy_shares(table.domain, n=table.n_public, k=request.k, epsilon=request.epsilon, **declared)
    return (*light, *table.domain.notes, *shares)
