"""The session: the only file that touches private rows.

``PrivateTable`` holds rows; ``open`` gives a ``PrivateSession`` with a budget, whose methods answer with noise that the
ledger has charged first. Whoever audits the privacy of dpviz reads this file, ``queries``, ``mechanisms`` and
``ledger``; and ``transcripts``, which weighs answers for attacks on public tables.

The closed lists are questions whose sensitivity and mechanisms whose cost are proved and tested. The session refuses
everything else, so that code which is not of the package never sees a row. Whoever adds a question, a partition or a
mechanism writes it here, and the contract tests ask for its proof (``docs/proofs/sensitivities.md``).

What this process saw of rows, without privacy or by runs that no account paid for, is counted where it happens. The log
knows a table by its source, whatever was declared about it. What names no source may be about any table, and counts for
each. What another process saw is not in it.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, is_dataclass, replace
from enum import StrEnum
from math import fsum
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dpviz.core import check, kernel_draw, local_model, losses, mechanisms, partitions, quantiles, queries, tuples
from dpviz.core.accounting import Accounting, Budget, NoiseDraws, Shares
from dpviz.core.arrays import Array, Codes
from dpviz.core.block_models import BlockKMeans
from dpviz.core.content import order_by_content, order_persons_by_content
from dpviz.core.domain import Domain, Region
from dpviz.core.exact_noise import DELTA_PART, EPSILON_SLACK, INSTEAD, ExactSource, WholeTruth, refuse_without_twin
from dpviz.core.exact_noise import MOST_CELLS as EXACT_CELLS
from dpviz.core.lattice import MOST_ROWS
from dpviz.core.ledger import Entry, Ledger
from dpviz.core.mechanisms import Additive, Answer, Drawer, Kind, Measurement, Mechanism, Question, choose_noise_kind
from dpviz.core.noise import StudyNoise
from dpviz.core.queries import AsAsked, Count, Query, Relation, Sensitivity, Tallies
from dpviz.core.revealed_rows import Revealed, sample_rows
from dpviz.core.rows import BLOCK_NUMBERS, NOT_AT_ONCE, Rows, RowSource, find_rows_in_use, move_into_region
from dpviz.core.stored_rows import find_complete, is_sparse, move_sparse_into_region


class AccessKind(StrEnum):
    """What somebody saw of the rows themselves, without privacy; none of it is in a release."""

    ROWS = "rows"
    """Rows, as dots or as lines of a table, or counts of them."""
    LOSS = "loss"
    """Measures of results: of one run, or of a study."""
    REFERENCE = "reference"
    """The centres of k-means++."""
    PROPOSAL = "proposal"
    """How the file is read, as a look at it proposed."""

    @classmethod
    def tabulate(cls, accesses: Mapping[AccessKind, int], *, proposed: bool) -> dict[str, int]:
        """Looks by kind, in the order of the kinds and without those that there were none of.

        Parameters
        ----------
        accesses : mapping of AccessKind to int
        proposed : bool
            Whether the declaration was proposed, which is a look, whoever counted.

        Returns
        -------
        dict of str to int
        """
        numbers = {cls.PROPOSAL: int(proposed), **accesses}
        return {kind.value: numbers[kind] for kind in cls if numbers.get(kind)}


class AccessTotals(NamedTuple):
    """Looks by kind, studies, runs that no account paid for, with their ε added up, and readings of k from those."""

    looks: Mapping[AccessKind, int]
    studies: int
    runs: int
    runs_epsilon: float
    grids_read: int


class AccessLog:
    """Accesses of one process, by the source of their table; "" is one that nobody has named."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        """Begin anew, as a new process does."""
        self._seen: list[tuple[str, str, float]] = []

    def _add(self, source: str, what: str, epsilon: float = 0.0) -> None:
        with self._lock:
            self._seen.append((source, what, epsilon))

    def add_look(self, source: str, kind: AccessKind) -> None:
        """Count a look at rows."""
        self._add(source, kind)

    def add_study(self, source: str) -> None:
        """Count a study of losses; that it looked at them is counted apart."""
        self._add(source, "study")

    def add_run(self, source: str, epsilon: float) -> None:
        """Count a run that no account has paid for, or none that outlives this process."""
        self._add(source, "run", epsilon)

    def add_grid_read(self, source: str) -> None:
        """Count that a k was read from the grid of such a run."""
        self._add(source, "grid")

    def count(self, source: str) -> AccessTotals:
        """What was seen of one table, or may have been."""
        with self._lock:
            seen = [(what, epsilon) for table, what, epsilon in self._seen if table in (source, "")]
        times = Counter(what for what, _ in seen)
        looks, spent = {kind: times[kind] for kind in AccessKind if times[kind]}, fsum(epsilon for _, epsilon in seen)
        return AccessTotals(looks, times["study"], times["run"], spent, times["grid"])


ACCESS_LOG = AccessLog()
"""Of this process."""

QUERIES: tuple[type, ...] = (
    *(queries.Count, queries.Sum, queries.SparseCount, queries.Radii, queries.Spread, queries.ResidualMoments),
    *(queries.ResidualSum, queries.ScaledResidualSum, queries.Pull, queries.BoxSum, queries.Weights, queries.ChosenSum),
    *(losses.SwapLoss, losses.Loss, losses.MedianLoss, losses.PoolLoss, losses.CappedLosses),
    *(queries.SegmentHistogram, queries.DistanceScales, kernel_draw.DistanceWeights),
    *(quantiles.Quantiles, quantiles.Medians, tuples.Tuples, local_model.EachRow),
)
MECHANISMS: tuple[type, ...] = (
    *(mechanisms.Laplace, mechanisms.Gaussian, mechanisms.KNorm, mechanisms.Exponential, mechanisms.Peeling),
    *(mechanisms.NoisyThreshold, mechanisms.SparseLaplace, mechanisms.NoisyExcess, mechanisms.PathCounts),
    *(kernel_draw.KernelDraw, quantiles.ExponentialQuantile, quantiles.SmoothMedian),
    *(tuples.NoisyCenters, tuples.TupleAverages, local_model.LocalNoise, local_model.LocalReports),
)
# What users answer one by one; only messages that are private on their own may leave.
LOCAL: dict[type, type] = {local_model.UserQuestion: local_model.LocalReports}
# Questions over universes that may be too large to write down, and the partitions that have one.
SPARSE: dict[type, tuple[type, ...]] = {
    queries.SparseCount: (partitions.Grid, partitions.ProjectedCells, partitions.CubeTree, partitions.HashCodes),
    local_model.UserQuestion: (partitions.HashCodes,),
}
DENSE: tuple[type, ...] = (
    *(partitions.Everything, partitions.Voronoi, partitions.Grid, partitions.UnevenGrid, partitions.Zoomed),
    *(partitions.ProjectedCells, partitions.HashTree),
)
# Fits for which a block's line depends on that block's rows alone.
BLOCK_MODELS: tuple[type, ...] = (BlockKMeans,)


def refuse_unknown(query: Query, mechanism: Mechanism[Any]) -> None:
    """Only questions and mechanisms that are proved: code that is not of the package never sees a row.

    Raises ``RequestError`` if one of them, or the partition, is not on its list, or has too many cells.
    """
    if type(mechanism) not in MECHANISMS:
        raise check.RequestError(f"{type(mechanism).__name__} is not a mechanism the session knows.")
    over = query.over if type(query) in QUERIES or LOCAL.get(type(query)) is type(mechanism) else None
    inner = over.inner if isinstance(over, partitions.ProjectedCells) else over
    suits = SPARSE.get(type(query), DENSE)
    if type(over) not in suits or type(inner) not in suits or isinstance(inner, partitions.ProjectedCells):
        raise check.RequestError(
            f"{type(query).__name__} over {type(over).__name__} is not a question the session knows."
        )
    if type(query) in SPARSE and over is not None and over.n_cells > partitions.MOST_CELLS:
        raise check.RequestError(
            f"The partition has {over.n_cells:.2g} cells: use at most 2^62, so that each has a code."
        )


N_SHARE = 0.02  # of the budget buys a noisy number of rows where none is declared


def name_unit(rows_per_person: int | None) -> str:
    """The unit of privacy in words, by the most rows that a person has; None: one row is somebody's."""
    if rows_per_person is None:
        return "1 row"
    plural = "" if rows_per_person == 1 else "s"
    return f"1 person, up to {rows_per_person} row{plural}"


class PrivateTable:
    """Private rows with everything that was declared about them.

    Parameters
    ----------
    values : array of shape (n, d)
        Data units, one number a declared column (see ``Domain.width``); may hold NaN and infinities.
    domain : Domain
    relation : Relation
        Neighbouring tables. Under ``add_remove`` a row with a cell that is not finite is dropped; under ``replace`` the
        domain's placeholder takes its place.
    n_public : int or None
        The number of rows, if its owner declares it public. Under ``replace`` it is public by definition.
    persons : int array of shape (n, 2) or (n,), or None
        Who each row belongs to: two hashes of an id, as ``LoadedTable.identifiers`` makes them, or any numbers; -1:
        nobody knows, and the row is dropped; None means one row a person. Which rows of a person are used follows from
        that person's rows and the second hash; of numbers without one, from the rows alone.
    rows_per_person : int
        At most this many rows of a person are used; every sensitivity is multiplied by it.

    Raises
    ------
    RequestError
        If the declarations contradict each other.
    """

    _sample: Array | None = None

    def __init__(
        self,
        values: Array,
        domain: Domain,
        *,
        relation: Relation | str = Relation.ADD_REMOVE,
        n_public: int | None = None,
        persons: Codes | None = None,
        rows_per_person: int = 1,
        block_numbers: int = BLOCK_NUMBERS,
    ) -> None:
        self._declare(domain, relation, rows_per_person, with_persons=persons is not None)
        self.sparse = is_sparse(values)
        as_table: Any = sparse.csr_array if self.sparse else np.asarray
        self._values: Any = as_table(values, dtype=np.float64)
        if self._values.ndim != 2 or self._values.shape[1] != domain.width:
            raise check.RequestError(
                f"The values are not a table of {domain.width} columns, as declared: give an array of shape "
                f"(n, {domain.width})."
            )
        if persons is not None:
            persons = np.asarray(persons)
            if persons.dtype.kind not in "iu":  # the type of the array alone says whether it can tell them apart
                raise check.RequestError(
                    f"persons holds {persons.dtype}, not whole numbers: floats are the same for different whole "
                    "numbers above 2^53. Give an array of integers, one for each row and -1 where it is missing, such "
                    "as pandas.factorize(ids)[0] of ids that are text or nullable integers."
                )
            if persons.shape not in ((n := self._values.shape[0],), (n, 2)):
                raise check.RequestError("The id column is not as long as the table: give one id for each row.")
        drops = self.relation is Relation.ADD_REMOVE
        self._kept = find_rows_in_use(self._values, persons, drop_incomplete=drops)
        to_region: Any = move_sparse_into_region if self.sparse else move_into_region
        stored = to_region(self._values, self._kept, domain)
        whose = None if persons is None else persons[self._kept]
        rows = Rows(stored, domain.region, persons=whose, block_numbers=block_numbers)
        if persons is not None:
            rows, chosen = rows.cap(rows_per_person)
            self._kept = self._kept[chosen]
        self._hold(rows, n_public)

    @classmethod
    def over(
        cls,
        rows: RowSource,
        domain: Domain,
        *,
        relation: Relation | str = Relation.ADD_REMOVE,
        n_public: int | None = None,
        with_persons: bool = False,
        rows_per_person: int = 1,
        sample: Array | None = None,
    ) -> PrivateTable:
        """The table of ``rows`` that were prepared as declared (see ``Preparation``) and are not in memory.

        ``sample`` is what ``sample_rows`` makes of them, where somebody has it already.

        Parameters
        ----------
        rows : RowSource
        domain, relation, n_public, rows_per_person
            As ``PrivateTable`` takes them.
        with_persons : bool
            Whether rows know whose they are.
        sample : array of shape (m, d) or None
            Of rows, for their owner's eyes only.

        Returns
        -------
        PrivateTable
            No row has been read.

        Raises
        ------
        RequestError
            If the declarations contradict each other, or there are more rows than a table holds.
        """
        table = cls.__new__(cls)
        table._declare(domain, relation, rows_per_person, with_persons=with_persons)
        table.sparse, table._values, table._sample = False, None, sample
        table._hold(rows, n_public)
        return table

    def _declare(self, domain: Domain, relation: Relation | str, rows_per_person: int, *, with_persons: bool) -> None:
        check.one_of(tuple(r.value for r in Relation), relation=getattr(relation, "value", relation))
        rows_per_person = check.at_least(1, rows_per_person=rows_per_person)
        self.domain = domain
        self.relation = Relation(relation)
        self.rows_per_person = rows_per_person
        self.has_persons = with_persons
        self.source = ""  # what its looks are counted under: whoever opens a file names it
        self.accesses: list[str] = []
        # Contract tests put a kind of session here that records, replays or explodes.
        self._room_type: type[PrivateSession] = PrivateSession
        if self.relation is Relation.REPLACE and (rows_per_person > 1 or with_persons):
            raise check.RequestError(
                "The replace relation is defined for one row a person: choose add_remove, or no id column."
            )
        if rows_per_person > 1 and not with_persons:
            raise check.RequestError(
                f"rows_per_person is {rows_per_person} but no id column says whose each row is: name one, or give 1."
            )

    def _hold(self, rows: RowSource, n_public: int | None) -> None:
        if n_public is not None:
            n_public = check.at_least(1, n_public=n_public)
        if len(rows) > MOST_ROWS:
            raise check.RequestError(f"A table holds at most {MOST_ROWS:,d} rows: take a sample that size.")
        self._rows = rows
        self.n_public = len(rows) if self.relation is Relation.REPLACE else n_public
        self.n_most = self.n_public

    @property
    def in_memory(self) -> bool:
        """Whether the rows are; else algorithms that need all of them at once are refused, and few are shown."""
        return self._rows.in_memory

    @property
    def unit(self) -> str:
        """The unit of privacy in words."""
        return name_unit(self.rows_per_person if self.has_persons else None)

    def open(
        self,
        *,
        epsilon: float,
        delta: float,
        accounting: Accounting,
        noise: StudyNoise | ExactSource,
        needs_n: bool = True,
        draws: Callable[[PrivateSession], Sequence[NoiseDraws]] | None = None,
    ) -> PrivateSession:
        """A session over these rows whose answers cost at most (ε, δ) in all.

        If an algorithm needs the number of rows and none is declared, a noisy one is bought first. Of release-grade
        noise, whose law is discrete, a little of ε and δ is kept back (see ``exact_noise``). Under PLD accounting
        ``draws`` says what will be drawn, of a session that has answered nothing yet, or the plan does by
        ``calibrate``.

        Parameters
        ----------
        epsilon, delta : float
        accounting : Accounting
        noise : StudyNoise or ExactSource
        needs_n : bool
            Whether the plan asks for the number of rows; where it is private a part of the budget buys one.
        draws : function or None
            Of the session to all draws of a run, under PLD accounting.

        Returns
        -------
        PrivateSession
            With the whole budget, and a ledger of its own.

        Raises
        ------
        RequestError
            If ε or δ is outside its range; or n is to be bought under PLD before draws are announced.
        """
        epsilon, delta = check.positive(epsilon=epsilon), check.check_delta(self.n_most, delta=delta)
        if noise.hardened and accounting in (Accounting.GDP, Accounting.PLD):
            epsilon, delta = epsilon - EPSILON_SLACK, delta * DELTA_PART
        ledger, region = Ledger(accounting, epsilon, delta), self.domain.region
        session = self._room_type(self._rows, region, self.relation, self.rows_per_person, ledger, noise, self.n_public)
        buys_n = needs_n and self.n_public is None and accounting is not Accounting.NONE
        share = ledger.budget.fraction(N_SHARE)
        if accounting is Accounting.PLD and (draws is not None or buys_n):
            ledger.announce(*(draws(session) if draws else ()), first=(NoiseDraws.gaussian_of(share.amount),) * buys_n)
        if buys_n:
            session.buy_n(share)
        return session

    def note_access(self, note: str, kind: AccessKind) -> None:
        """Count a look, here and in the log of this process, which the card of a release tells.

        Parameters
        ----------
        note : str
            What for.
        kind : AccessKind
        """
        self.accesses.append(note)
        ACCESS_LOG.add_look(self.source, kind)

    def reveal(self, *, note: str, kind: AccessKind = AccessKind.ROWS) -> Revealed:
        """The rows themselves, for their owner's eyes: counted as a look of that kind, never part of a release.

        Parameters
        ----------
        note : str
            What for.
        kind : AccessKind

        Returns
        -------
        Revealed
            All rows that can be shown, or a fair sample.
        """
        self.note_access(note, kind)
        if not self.in_memory:
            if self._sample is None:
                self._sample = sample_rows(self._rows)
            return Revealed(self._sample, np.arange(len(self._sample)), inside=True)
        kept = self._kept[find_complete(self._values[self._kept])]
        if self.sparse:
            return Revealed(move_sparse_into_region(self._values, kept, self.domain), kept)
        return Revealed(self.domain.to_unit(self.domain.limit(self._values[kept], far=1e9)), kept)


PrivateTable.__module__ = "dpviz"


@dataclass(eq=False, repr=False)
class PrivateSession:
    """Answers with noise, paid from one ledger.

    Attributes
    ----------
    region : Region
        Where rows (and candidate centres) live, unit coordinates; public.
    budget : Budget
        What the algorithm may divide: the whole request, less a noisy number of rows if one had to be bought.
    n : int
        The number of rows as declared or as bought; at least 1.
    n_is_public : bool
        Whether the number of rows was declared; a bought one is a release like any other.
    """

    _rows: RowSource
    region: Region
    relation: Relation
    rows_per_person: int
    ledger: Ledger
    _noise: StudyNoise | ExactSource
    _n: int | None

    def __post_init__(self) -> None:
        self.n_is_public = self._n is not None
        self.budget = self.ledger.budget

    @classmethod
    def over_no_rows(
        cls, region: Region, relation: Relation, rows_per_person: int, ledger: Ledger, n: int
    ) -> PrivateSession:
        """A session that knows every noise scale that one over ``n`` rows would draw with, and can read none.

        Parameters
        ----------
        region : Region
            Unit coordinates.
        relation : Relation
        rows_per_person : int
            The most that one person has.
        ledger : Ledger
            Of what would be spent.
        n : int
            As declared.

        Returns
        -------
        PrivateSession
        """
        noise = StudyNoise(np.random.default_rng(0))
        return cls(Rows.of(np.empty((0, region.dim)), region), region, relation, rows_per_person, ledger, noise, n)

    @property
    def dim(self) -> int:
        return self.region.dim

    @property
    def n(self) -> int:
        """The public, or paid, number of rows; at least 1."""
        if self._n is None:
            raise check.RequestError("This algorithm needs the number of rows: declare n_public.")
        return max(1, self._n)

    @property
    def accounting(self) -> Accounting:
        return self.ledger.accounting

    @property
    def spherical(self) -> bool:
        """Whether there is K-norm noise: it has no release-grade twin."""
        return not self._noise.hardened

    @property
    def most_cells(self) -> float:
        """The cells of a sparse question: release-grade noise is drawn on each of them."""
        return EXACT_CELLS if self._noise.hardened else partitions.MOST_CELLS

    def noise_kind(self, *, spherical: bool = False) -> Kind[Array, Additive]:
        """Noise that is added to an array: Laplace under pure accounting, or K-norm if ``spherical``; else Gaussian."""
        return choose_noise_kind(self.accounting, spherical=spherical and self.spherical)

    def sensitivity(self, query: Query) -> Sensitivity:
        """The most that one unit of privacy changes the answer to ``query``; public."""
        return query.sensitivity(self.relation, self.region).times(self.rows_per_person)

    def mechanism(self, query: Query, kind: Kind[Any, Drawer], share: Budget, **options: object) -> Drawer:
        """The mechanism that ``ask`` would use: an algorithm may plan with its scale, which is public.

        Parameters
        ----------
        query : Query
        kind : Kind
        share : Budget
        **options
            Public settings of the kind.

        Returns
        -------
        Drawer
            With the noise that ``ask`` would use; nothing is charged.
        """
        return kind.calibrated(share, self.sensitivity(query), **options)

    def buy_n(self, share: Budget) -> None:
        """Release a noisy number of rows, used wherever the algorithm needs n; the rest stays in ``budget``."""
        self._n = max(
            1, round(float(self.release(Count(partitions.Everything()), share, note="number of rows").value[0]))
        )
        self.budget = self.ledger.left

    def calibrate(self, **draws: NoiseDraws) -> Shares:
        """A share for each of ``draws``, whose noise keeps its proportions and together uses up all that is left.

        Under PLD only. Unless the card has announced them, this fixes what can be drawn afterwards (``DrawList``).
        """
        return self.ledger.calibrate(draws)

    def release(
        self, query: Query, share: Budget, *, note: str, spherical: bool = False
    ) -> Measurement[Array, Additive]:
        """The answer to ``query`` with Laplace noise (Gaussian under GDP and zCDP; K-norm if ``spherical`` and pure).

        Parameters
        ----------
        query : Query
        share : Budget
        note : str
            What the ledger says it is for.
        spherical : bool
            Whether density shall depend on the Euclidean norm of each row of the answer.

        Returns
        -------
        Measurement
            Its value has the shape of the answer, unit coordinates.

        **Guarantee.** ``share``, for the session's relation and unit of privacy.

        Raises
        ------
        BudgetExceeded
            If the share is more than the ledger has left; nothing is computed or released.
        """
        return self.ask(query, self.noise_kind(spherical=spherical), share, note=note)

    def ask(
        self, query: Query, kind: Kind[Answer, Drawer], share: Budget, *, note: str, **options: object
    ) -> Measurement[Answer, Drawer]:
        """The answer to ``query`` by a mechanism of that ``kind``, bought with ``share`` and public ``options``.

        The session computes the sensitivity and buys the noise itself: whoever asks cannot get it wrong.

        Parameters
        ----------
        query : Query
        kind : Kind
        share : Budget
        note : str
            What the ledger says it is for.
        **options
            Public settings of the kind.

        Returns
        -------
        Measurement
            The value, and the mechanism that drew it.

        **Guarantee.** ``share``, for the session's relation and unit of privacy.

        Raises
        ------
        RequestError
            If the question or the mechanism is not on the closed lists, or a point lies outside the region.
        """
        mechanism: Any = self.mechanism(query, kind, share, **options)
        return self._answer([(query, mechanism)], note=note)[0]

    def ask_together(self, *questions: Question, note: str) -> tuple[Measurement[Array, Additive], ...]:
        """Answers with added noise to several questions in one pass over the rows, each as ``ask`` gives it.

        Parameters
        ----------
        note : str
            What the ledger says it is for.
        *questions
            Each with its kind, share and options.

        Returns
        -------
        tuple of Measurement
            One for each question, in their order.

        **Guarantee.** The sum of their shares. None is answered unless all can be paid.
        """
        bought: Any = [(query, self.mechanism(query, kind, share)) for query, kind, share in questions]
        return tuple(self._answer(bought, note=note))

    def project(self, frame: Array, region: Region) -> PrivateSession:
        """A session over the rows' images under the public linear map ``frame`` (p, d), clipped to ``region``.

        One row stays one row (stability 1); the ledger, the noise and n are shared.
        """
        return self._make_sibling(self._rows.project(frame, region), region)

    def sparsify(self, most: int) -> PrivateSession:
        """A session over the rows with their ``most`` largest entries each; the others become 0.

        One row stays one row (stability 1); the ledger, the noise and n are shared.
        """
        radius = min(self.region.radius, float(np.sqrt(most) * self.region.half.max()))
        # Without its smaller entries a row is no corner of a simplex any more; what holds of box and ball stays true.
        region = replace(self.region, radius=radius, nonzeros=min(most, self.dim), blocks=None)
        return self._make_sibling(self._rows.sparsify(most, region), region)

    def unfold(self, points: int) -> PrivateSession:
        """A session over the ``points`` points that stand side by side in each row: one row is so many rows of a
        person.

        The ledger and the noise are shared; all sensitivities are ``points`` times as large.
        """
        if points == 1:
            return self
        region = self.region.unfold(points)
        session = self._make_sibling(self._rows.unfold(points, region), region)
        session.rows_per_person, session._n = points * self.rows_per_person, self._n and points * self._n
        return session

    def blocks(self, model: BlockKMeans, number: int) -> PrivateSession:
        """A session over the models of ``number`` disjoint secret blocks of rows, one line a model.

        A row, or all rows of a person, lie in one block, drawn uniformly and independently of all others. Whoever
        comes, goes or is exchanged changes one line: the new session's relation is ``replace``, its n is ``number``.

        Parameters
        ----------
        model : BlockKMeans
        number : int
            Of blocks; public.

        Returns
        -------
        PrivateSession
            Over a table of that many lines, one a block.
        """
        if type(model) not in BLOCK_MODELS:
            raise check.RequestError(f"{type(model).__name__} is not a model of blocks that the session knows.")
        if isinstance(self._noise, ExactSource):
            raise check.RequestError(f"Models of secret blocks have no release-grade noise: {INSTEAD}.")
        region = model.region(self.region)
        lines = self._rows.fit_blocks(model, self._draw_secret_blocks(number), number)
        session = self._make_sibling(Rows.of(lines, region), region)
        session.relation, session.rows_per_person, session._n = Relation.REPLACE, 1, number
        return session

    def _draw_secret_blocks(self, number: int) -> Codes:
        # Dealt in an order that follows from what the rows are: that of the file has no say in a study's draw.
        persons = self._rows.persons
        assert not isinstance(self._noise, ExactSource)
        if persons is None:
            block = np.empty(len(self._rows), dtype=np.int64)
            block[np.argsort(self._rows.hash_rows(), kind="stable")] = self._noise.codes(number, len(block))
            return block
        whose, place = order_persons_by_content(self._rows.values, persons)
        return self._noise.codes(number, len(place))[place][whose]

    def _make_sibling(self, rows: RowSource, region: Region) -> PrivateSession:
        session = copy(self)
        session._rows, session.region = rows, region
        return session

    def compute_non_private(self, compute: Callable[[Array], Array], *, note: str) -> Array:
        """``compute`` on the rows themselves, by content: only in a session that was opened with no guarantee at
        all.

        Parameters
        ----------
        compute : function
            Of all rows, shape (n, d) in unit coordinates.
        note : str
            What the ledger says it is for.

        Returns
        -------
        array
            What it returns.
        """
        if self.accounting is not Accounting.NONE:
            raise check.RequestError(
                "Rows leave a session only as noisy answers: open it without a guarantee to study."
            )
        self.ledger.charge(Entry.revealed("rows", note=note))
        rows = self._rows.values
        return compute(rows[order_by_content(rows)])

    def _refuse_points_outside(self, public: Query | Mechanism[Any]) -> None:
        points: Array | None = getattr(public, "points", None)
        slack = 1e-12 * self.region.radius
        if points is not None and not np.all(np.abs(self.region.clip(points) - points) <= slack):
            raise check.RequestError("A public point lies outside the region: clip points before asking about them.")

    def _answer(self, bought: Sequence[tuple[Query, Mechanism[Any]]], *, note: str) -> list[Measurement[Any, Any]]:
        """The one way out: charge everything, then read rows once, then draw. True answers die in this frame."""
        for query, mechanism in bought:
            refuse_unknown(query, mechanism)
            if self._noise.hardened:
                refuse_without_twin(mechanism)
            if isinstance(query, AsAsked) and not self._rows.in_memory and type(query) not in LOCAL:
                raise check.RequestError(NOT_AT_ONCE)
            self._refuse_points_outside(query)
            self._refuse_points_outside(mechanism)
        self.ledger.charge(
            *(
                Entry.of(mechanism, type(query).__name__, self.accounting, delta=self.ledger.delta, note=note)
                for query, mechanism in bought
            )
        )
        truths = self._compute_true_answers([query for query, _ in bought])
        return [
            Measurement(self._draw(mechanism, truth), mechanism)
            for (_, mechanism), truth in zip(bought, truths, strict=True)
        ]

    def _draw(self, mechanism: Mechanism[Any], truth: Any) -> Any:
        """One release. Nobody can change what was released afterwards."""
        noise = self._noise
        if isinstance(noise, ExactSource):
            released = noise.answer(mechanism, truth, self.accounting)
        else:
            released = mechanism.draw(truth, noise)
        for part in vars(released).values() if is_dataclass(released) else (released,):
            if isinstance(part, np.ndarray):
                part.flags.writeable = False
        return released

    def _compute_true_answers(self, queries: list[Query]) -> list[Any]:
        """Answers without noise, added up over chunks; users whose rows are not in memory answer where these lie."""
        if not self._rows.in_memory and isinstance(
            query := queries[0], local_model.UserQuestion
        ):  # which is asked alone
            return [local_model.DistantUsers(self._rows, query.over)]
        totals = self._rows.total(Tallies(tuple(queries)), max(query.width for query in queries))
        if self._noise.hardened:
            return [WholeTruth.of(query, total, self.region) for query, total in zip(queries, totals, strict=True)]
        return [query.truth(total, self.region) for query, total in zip(queries, totals, strict=True)]
