"""The local model: every user sends one randomised message, and the table of messages is the release.

Nobody is trusted with rows: a message is ε-DP on its own, whatever its sender's row is. As many messages are sent as
there are users by the public (or bought) number: a seat without a user is taken by a placeholder. Rows beyond memory
make their messages where they lie, and only messages come back. Noise on every single row is the baseline, in which
little can be seen. The proof is in ``docs/proofs/local-model.md``.

References
----------
Kasiviswanathan et al. 2011 (the local model). Kairouz, Oh & Viswanath 2016 (k-ary randomised response). Chang, Ghazi,
Kumar & Manurangsi 2021 (one round of clustering in the local model).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import exp, inf, log1p
from typing import ClassVar, NamedTuple

import numpy as np

from dpviz.core.accounting import Budget, LossKind, compute_ratio
from dpviz.core.arrays import Array, Codes, Flags
from dpviz.core.content import order_by_content
from dpviz.core.domain import Region
from dpviz.core.lattice import ExactRows
from dpviz.core.mechanisms import DrawnNoise, KNorm, NoDensity, Priced
from dpviz.core.noise import StudyNoise
from dpviz.core.partitions import HashCodes
from dpviz.core.queries import AsAsked, OfCells, Relation, Sensitivity
from dpviz.core.rows import RowSource
from dpviz.core.tuples import Tuples, TupleTable


@dataclass(frozen=True, eq=False)
class EachRow(Tuples):
    """The rows themselves, tuples of one point, for a mechanism that fills a public number of places with them."""

    k: int = 1

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """One place changes its point, by the diameter at most, whether its row is exchanged, comes or goes."""
        return Sensitivity(l1=inf, l2=inf, block=region.diameter)


@dataclass(frozen=True)
class LocalNoise(DrawnNoise):
    """K-norm noise on each of ``number`` places, which hold rows in a random order; pure ε = sensitivity / scale.

    Where there are fewer rows than places the middle of the domain fills the others; where there are more, rows are
    left out. So the number of rows does not show, and one row changes one place.
    """

    name: ClassVar[str] = "k-norm on each row"
    # The random order makes the density a sum over all orders.
    exact: ClassVar[bool] = False
    once: KNorm
    number: int

    @classmethod
    def calibrated(cls, share: Budget, sensitivity: Sensitivity, *, number: int) -> LocalNoise:
        """Noise for which the messages of a person cost ``share``.

        Parameters
        ----------
        share : Budget
        sensitivity : Sensitivity
            The most that two rows lie apart, unit coordinates.
        number : int
            Places that are filled, whether there is a row for them or not; public.

        Returns
        -------
        LocalNoise
            With scale sensitivity / ε.
        """
        return cls(KNorm.calibrated(share, sensitivity), number)

    @property
    def loss(self) -> LossKind:
        """ε-DP: of the random order of places nothing more is proved."""
        return LossKind.PURE

    def draw(self, truth: TupleTable, noise: StudyNoise) -> Array:
        rows = truth.values[:, 0]
        places = np.zeros((self.number, rows.shape[1]))
        chosen = rows[np.argsort(noise.uniform((len(rows),)))[: self.number]]
        places[: len(chosen)] = chosen
        places = places[np.argsort(noise.uniform((self.number,)))]
        return self.once.draw(places, noise)

    def log_density(self, released: Array, truth: TupleTable) -> float:
        raise NoDensity("It is a sum over all orders of rows.")


@dataclass(frozen=True, eq=False)
class UserAnswers:
    """What every user knows: the code (n,) and the vector (n, d) of the own row, in the order of the users."""

    codes: Codes
    vectors: Array

    def __add__(self, other: UserAnswers) -> UserAnswers:
        return UserAnswers(np.r_[self.codes, other.codes], np.concatenate([self.vectors, other.vectors]))

    def order_by_content(self) -> UserAnswers:
        """The users in an order that follows from what they know: that of the file has no say in a study's draw."""
        order = order_by_content(self.vectors)
        return UserAnswers(self.codes[order], self.vectors[order])


@dataclass(frozen=True, eq=False)
class DistantUsers:
    """Users whose rows are not in memory: each makes the own message where the row lies."""

    rows: RowSource
    over: HashCodes


@dataclass(frozen=True, eq=False)
class UserQuestion(AsAsked, OfCells):
    """Every user's own code and row; no sum is formed before noise."""

    over: HashCodes

    def tally(self, rows: ExactRows, cell: Codes) -> UserAnswers:
        return UserAnswers(cell, rows.values.copy())

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """One message changes, from one row to another or to the placeholder; two rows lie at most a diameter apart."""
        return Sensitivity(l1=1.0, l2=1.0, block=region.diameter)


class Response(NamedTuple):
    """k-ary randomised response: the truth is sent with probability ``honest``, each other value with ``other``."""

    honest: float
    other: float

    @classmethod
    def over(cls, size: int, epsilon: float) -> Response:
        """ε-DP among ``size`` values: the odds are e^ε."""
        less = exp(-epsilon)
        return cls(1 / (1 + (size - 1) * less), less / (1 + (size - 1) * less))

    @property
    def gap(self) -> float:
        """How much likelier a value is sent by those who have it."""
        return self.honest - self.other


@dataclass(frozen=True, eq=False)
class Reports:
    """The messages: a prefix or code (n,) from each user, and a noisy vector (m, d) from each of the last group."""

    codes: Codes
    vectors: Array


@dataclass(frozen=True)
class LocalReports(Priced):
    """Each user sends the prefix of the own code that the group is asked for, by randomised response.

    Users of the last group send their prefix with ε/2 and their vector with K-norm noise with ε/2. One person's
    messages together cost ``sensitivity`` / ``scale`` = ε; users do not add up, since a row is in one message only.

    Parameters
    ----------
    sensitivity : float
        Messages of a person.
    scale : float
        One over the ε of a message.
    diameter : float
        The most that two rows lie apart.
    bits : tuple of int
        Length of the prefix that each group sends.
    groups : int array of shape (n,)
        Group of each seat, by public coins. Who takes which seat is secret, so that a user more or less changes what is
        said from one seat, and not from all later ones.
    middle : int
        Code of the middle of the region: what a placeholder answers, with a vector of 0, where there are fewer users.
    """

    name: ClassVar[str] = "local reports"
    loss: ClassVar[LossKind] = LossKind.PURE
    sensitivity: float
    scale: float
    diameter: float
    bits: tuple[int, ...]
    depth: int
    groups: Codes = field(compare=False, repr=False)
    middle: int

    @classmethod
    def calibrated(
        cls, share: Budget, sensitivity: Sensitivity, *, bits: tuple[int, ...], depth: int, groups: Codes, middle: int
    ) -> LocalReports:
        """Messages that cost ``share`` together.

        Parameters
        ----------
        share : Budget
        sensitivity : Sensitivity
            Messages of a person.
        bits : tuple of int
            Length of the prefix that each group sends.
        depth : int
            Bits of a code.
        groups : int array of shape (n,)
            Group of each seat, by public coins.
        middle : int
            Code of the middle of the region, which a seat without a user answers with.

        Returns
        -------
        LocalReports
        """
        messages = sensitivity.l1
        epsilon = compute_ratio(cls.loss, share, mechanism=cls.name)
        return cls(messages, messages / epsilon, sensitivity.block / messages, bits, depth, groups, middle)

    def compute_epsilon(self, group: int) -> float:
        """The ε of a group's prefix: all of a message, or half of it."""
        return (1.0 if group < len(self.bits) - 1 else 0.5) / self.scale

    def response(self, group: int) -> Response:
        """How a group's prefix is randomised."""
        return Response.over(1 << self.bits[group], self.compute_epsilon(group))

    @property
    def vector_noise(self) -> KNorm:
        """The noise of a vector."""
        return KNorm(self.diameter, 2 * self.diameter * self.scale)

    @property
    def shifts(self) -> Codes:
        """How many bits of the code each seat keeps back, shape (n,)."""
        return self.depth - np.array(self.bits, dtype=np.int64)[self.groups]

    @property
    def with_vector(self) -> Flags:
        """Which seats send a vector, shape (n,)."""
        return np.asarray(self.groups == len(self.bits) - 1)

    def draw(self, truth: UserAnswers | DistantUsers, noise: StudyNoise) -> Reports:
        if not isinstance(truth, DistantUsers):
            return self.messages(self.seat(truth, noise), noise)
        # As of answers in this process, to the last bit: the coins of a seat go to its row, and its message comes back.
        rows = truth.rows
        sitters = self.choose_sitters(len(rows), noise)
        others, honest, vectors = self.toss(rows.dim, noise)
        sent, last = choose_sent(self.middle >> self.shifts, others, honest), self.with_vector  # of placeholders
        taken, order = sitters < len(rows), np.argsort(rows.hash_rows(), kind="stable")
        coins = self.shifts[taken], others[taken], honest[taken]
        ask, width = partial(_send_prefix, over=truth.over), truth.over.width
        sent[taken] = rows.ask_each(order[sitters[taken]], *coins, ask=ask, width=width)
        who, added = order[sitters[taken & last]], vectors[taken[last]]
        vectors[taken[last]] = rows.ask_each(who, added, ask=_send_vector, width=rows.dim)
        return Reports(sent, vectors)

    def choose_sitters(self, users: int, noise: StudyNoise) -> Codes:
        """Who takes each seat: users and placeholders in a secret uniform order, as many as seats.

        Parameters
        ----------
        users : int
            How many there are.
        noise : StudyNoise

        Returns
        -------
        int array of shape (seats,)
            A number from ``users`` on is a placeholder.
        """
        seats = len(self.groups)
        return np.argsort(noise.uniform((max(users, seats),)))[:seats]

    def seat(self, truth: UserAnswers, noise: StudyNoise) -> UserAnswers:
        """The answers in the order of the seats; a placeholder answers with the middle.

        Parameters
        ----------
        truth : UserAnswers
            What users would answer.
        noise : StudyNoise

        Returns
        -------
        UserAnswers
            Of shape (seats,), in that order.
        """
        missing = max(0, len(self.groups) - len(truth.codes))
        fillers = UserAnswers(np.full(missing, self.middle), np.zeros((missing, truth.vectors.shape[1])))
        everybody = truth + fillers
        sitters = self.choose_sitters(len(truth.codes), noise)
        return UserAnswers(everybody.codes[sitters], everybody.vectors[sitters])

    def toss(self, dim: int, noise: StudyNoise) -> tuple[Codes, Flags, Array]:
        """All that chance decides of the messages of n seats, m of them in the last group, whatever is answered.

        Parameters
        ----------
        dim : int
        noise : StudyNoise

        Returns
        -------
        arrays of shape (n,), (n,) and (m, d)
            What is sent for a lie, counted without the truth; whether the truth is sent; what is added to vectors.
            Drawn group by group, and the noise of vectors last.
        """
        others, honest = np.empty(len(self.groups), dtype=np.int64), np.empty(len(self.groups), dtype=np.bool_)
        for group, bits in enumerate(self.bits):
            mine = np.flatnonzero(self.groups == group)
            others[mine], honest[mine] = toss_response(len(mine), bits, self.response(group), noise)
        silence = np.zeros((int(self.with_vector.sum()), dim))
        return others, honest, self.vector_noise.draw(silence, noise)

    def messages(self, truth: UserAnswers, noise: StudyNoise) -> Reports:
        """What is sent from each seat.

        Parameters
        ----------
        truth : UserAnswers
            Answers in the order of the seats.
        noise : StudyNoise

        Returns
        -------
        Reports
            Prefixes, and vectors of the last group in unit coordinates.
        """
        others, honest, added = self.toss(truth.vectors.shape[1], noise)
        sent = choose_sent(truth.codes >> self.shifts, others, honest)
        return Reports(sent, truth.vectors[self.with_vector] + added)

    def log_density(self, released: Reports, truth: UserAnswers) -> float:
        # Of answers in the order of their seats. That order is as likely on any table: it bounds the loss.
        if len(truth.codes) != len(self.groups):
            raise NoDensity("Who has a seat is secret: a density would sum over all ways to seat the users.")
        total = 0.0
        for group, bits in enumerate(self.bits):
            mine = self.groups == group
            honest = released.codes[mine] == truth.codes[mine] >> (self.depth - bits)
            # ln of the chance of the truth; of another value, ε less.
            least = -log1p(((1 << bits) - 1) * exp(-self.compute_epsilon(group)))
            total += least * len(honest) - self.compute_epsilon(group) * float((~honest).sum())
        return total + self.vector_noise.log_density(released.vectors, truth.vectors[self.with_vector])


def toss_response(number: int, bits: int, response: Response, noise: StudyNoise) -> tuple[Codes, Flags]:
    """For each of ``number`` values which lie would be sent, counted without the truth, and whether the truth is."""
    others = noise.codes((1 << bits) - 1, number)
    return others, noise.uniform((number,)) < response.honest


def choose_sent(values: Codes, others: Codes, honest: Flags) -> Codes:
    """Each of ``values`` (m,) where its sender is ``honest`` (m,), else the lie.

    ``others`` (m,) says which of all values but the true one that is.
    """
    return np.where(honest, values, others + (others >= values))


def _send_prefix(rows: ExactRows, who: Codes, shifts: Codes, others: Codes, honest: Flags, *, over: HashCodes) -> Codes:
    """The messages of rows about the prefixes of their codes."""
    return choose_sent(over.find_cells(rows)[who] >> shifts, others, honest)


def _send_vector(rows: ExactRows, who: Codes, noise: Array) -> Array:
    return np.asarray(rows.values[who] + noise)
