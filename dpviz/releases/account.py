"""The account of a data set: every release is charged to it before its noise is drawn, and never beyond its cap.

It outlives the visit. There is no row and no value of the data in it: what it holds was declared, or chosen.
"""

from __future__ import annotations

import getpass
import hashlib
import json
import os
import re
import shutil
import sqlite3
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from itertools import dropwhile, pairwise
from math import floor, fsum, isfinite, log10
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

from dpviz import __version__
from dpviz.core import Relation, RequestError, TextTable, check, compose_guarantees
from dpviz.releases.account_file import create, may_be_account, open_to_change, open_to_read
from dpviz.releases.release_sentences import SENTENCES, make_refusal
from dpviz.words import foreign, render

# Ten times 0.1 is 1: this forgives the last bits of the check itself.
_ROUNDING = 1e-12
_LONGEST = 200
# Seconds to wait for another process, and for a file that nobody has named.
_PATIENCE, _GLANCE = 10.0, 0.2
_CHARGED = ("epsilon", "delta", "algorithm", "k", "unit", "relation", "columns", "lower", "upper", "who")
_TOLD = ("number", "at", "version", "state", "card_sha256", "why", "previous_sha256", "sha256")
_HEADER = ["no.", "when (UTC)", "who", "algorithm", "k", "ε", "δ", "columns", "state", "card", "charge"]
_HASH_SHOWN, _SECONDS_SHOWN = 12, len("2026-01-31T12:00:00")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00", re.ASCII)
# Accounts whose ``with`` blocks are open, of all threads of this process.
_IN_USE: list[Account] = []


class AccountExceeded(RequestError):
    """A release that costs more than the account has left: nothing was charged, drawn or released."""


class State(StrEnum):
    """What has become of a charge; it stays in any case."""

    CHARGED = "charged"
    RELEASED = "released"
    FAILED = "failed after charge"


def read_user() -> str:
    """Who works on this machine now, by its own word."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError, ImportError):  # an account of the system without a name
        return "unknown"
    return "".join(letter if letter.isprintable() else "?" for letter in name)[:_LONGEST] or "unknown"


@dataclass(frozen=True)
class Charge:
    """What a release costs, and what it is about; all of it public.

    Attributes
    ----------
    epsilon, delta : float
        The guarantee of the whole release.
    algorithm : str
        The id of its card.
    k : int
    unit, relation : str
        The unit of privacy in words, and ``add_remove`` or ``replace``.
    columns : tuple of str
    lower, upper : tuples of float or None
        Declared bounds, one a column, data units; None where the release buys them.
    who : str
        Who releases; by default the user of the operating system.

    Raises
    ------
    RequestError
        If it is no charge: ε outside [1e-3, 1e9], δ outside [0, 1), words that cannot be printed, infinite bounds.
    """

    epsilon: float
    delta: float
    algorithm: str
    k: int
    unit: str
    relation: str
    columns: tuple[str, ...]
    lower: tuple[float | None, ...]
    upper: tuple[float | None, ...]
    who: str = field(default_factory=read_user)

    def __post_init__(self) -> None:
        check.epsilon(epsilon=self.epsilon)
        _check_part(delta=self.delta)
        check.clusters(k=self.k)
        check.one_of(tuple(relation.value for relation in Relation), relation=self.relation)
        _check_words(algorithm=self.algorithm, unit=self.unit, who=self.who)
        if not self.columns or not len(self.columns) == len(self.lower) == len(self.upper):
            raise make_refusal("charge_uneven", columns=len(self.columns), lower=len(self.lower), upper=len(self.upper))
        if not all(bound is None or isfinite(bound) for bound in (*self.lower, *self.upper)):
            raise make_refusal("charge_bounds")

    def to_plain(self) -> dict[str, Any]:
        """Every part by its name, as the file of an account holds it: what is hashed is what is written."""
        return {
            **{name: getattr(self, name) for name in ("algorithm", "unit", "relation", "who")},
            **{"epsilon": float(self.epsilon), "delta": float(self.delta), "k": int(self.k)},
            "columns": json.dumps(self.columns),
            "lower": json.dumps([None if bound is None else float(bound) for bound in self.lower]),
            "upper": json.dumps([None if bound is None else float(bound) for bound in self.upper]),
        }


class ChargeLink(NamedTuple):
    """The place of a charge in the chain of its account, as a card prints it.

    ``previous_sha256`` is the hash of the charge before, of the account itself where there is none; ``previous_at``,
    when that one was made.
    """

    number: int
    at: str
    sha256: str
    previous_sha256: str
    previous_at: str

    @property
    def words(self) -> str:
        """In sentences, for the card.

        >>> ChargeLink(2, "2026-01-02T00:00:00+00:00", "b" * 64, "a" * 64, "2026-01-02T00:00:00+00:00").words[:53]
        'This is charge 2 of that account, 2026-01-02 UTC. Its'
        """
        told = SENTENCES.fill(
            "charge_link", number=self.number, day=self.at[:10], sha256=self.sha256, previous=self.previous_sha256
        )
        if not self.clock_went_back:
            return told
        return SENTENCES.fill("clock_went_back", told=told, day=self.previous_at[:10])

    @property
    def clock_went_back(self) -> bool:
        """Whether the charge is dated before the one that it follows."""
        return self.at < self.previous_at

    def find_contradiction(self, other: ChargeLink) -> str | None:
        """Why two releases cannot stem from one account that only grew; None where they may, or are one release."""
        if self.previous_sha256 != other.previous_sha256 or self.sha256 == other.sha256:
            return None
        return SENTENCES.fill("charged_twice", number=self.number)


@dataclass(frozen=True)
class AccountEntry:
    """One release in an account: its charge, when (UTC, ISO 8601), by which version, and what has become of it.

    ``sha256`` is the hash of the charge with that of the one before; None of charges by versions without a chain.
    """

    number: int
    at: str
    version: str
    charge: Charge
    state: State
    card_sha256: str | None
    why: str | None
    previous_sha256: str | None = None
    sha256: str | None = None

    def compute_sha256(self, previous: str) -> str:
        """Its hash after that of the charge before; what becomes of it later is no part of that."""
        return _hash([previous, *self.list_hashed()])

    def list_hashed(self) -> list[Any]:
        """What the chain holds of it."""
        plain = self.charge.to_plain()
        return [self.number, self.at, self.version, *(plain[name] for name in _CHARGED)]

    @property
    def cells(self) -> list[str]:
        """The entry as a line of a table, in the order of its header."""
        return [
            str(self.number),
            self.at[:_SECONDS_SHOWN],
            self.charge.who,
            self.charge.algorithm,
            str(self.charge.k),
            f"{self.charge.epsilon:g}",
            f"{self.charge.delta:g}",
            str(len(self.charge.columns)),
            self.state.value if self.why is None else f"{self.state.value}: {self.why}",
            (self.card_sha256 or "")[:_HASH_SHOWN],
            (self.sha256 or "")[:_HASH_SHOWN],
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for export."""
        return {name: getattr(self, name) for name in _TOLD} | {name: getattr(self.charge, name) for name in _CHARGED}


@dataclass(frozen=True)
class AccountBalance:
    """How an account stands at one moment.

    Attributes
    ----------
    name : str
        What the data set is called.
    cap_epsilon, cap_delta : float
        The most that all releases together may cost.
    entries : tuple of AccountEntry
        Every release, in order.
    opened : str
        When it was made, UTC.
    """

    name: str
    cap_epsilon: float
    cap_delta: float
    entries: tuple[AccountEntry, ...]
    opened: str = ""

    @property
    def charges(self) -> tuple[Charge, ...]:
        """What every release has cost, in order."""
        return tuple(entry.charge for entry in self.entries)

    @property
    def unit(self) -> str | None:
        """The unit of privacy that the first release has set; None before it."""
        return self.entries[0].charge.unit if self.entries else None

    @property
    def relation(self) -> str | None:
        """The neighbouring relation that the first release has set; None before it."""
        return self.entries[0].charge.relation if self.entries else None

    @property
    def spent_epsilon(self) -> float:
        """The sum of ε, whatever has become of the releases."""
        return fsum(charge.epsilon for charge in self.charges)

    @property
    def spent_delta(self) -> float:
        """The sum of δ, whatever has become of the releases."""
        return fsum(charge.delta for charge in self.charges)

    @property
    def left_epsilon(self) -> float:
        """What the next release may cost."""
        return _compute_left(self.cap_epsilon, self.spent_epsilon)

    @property
    def left_delta(self) -> float:
        """The δ that the next release may have."""
        return _compute_left(self.cap_delta, self.spent_delta)

    @property
    def text(self) -> str:
        """What is spent and left, by simple and by numerical composition, and every release in a line."""
        cells = [entry.cells for entry in self.entries]
        table = TextTable("Releases", _HEADER, cells).to_text(most=None) if cells else ""
        return render("account.txt.j2", account=self, round_down=round_down, table=table).removesuffix("\n")

    @cached_property
    def together_epsilon(self) -> float:
        """The ε, at the δ of the cap, of all releases together by dp-accounting, where that is below their sum.

        Nothing is taken to be known of a release but its (ε, δ). It holds if no ε was chosen after a look at an
        earlier release; the sum, which decides about the cap, holds in any case.
        """
        guarantees = [(charge.epsilon, charge.delta) for charge in self.charges]
        return min(self.spent_epsilon, compose_guarantees(guarantees, self.cap_delta))

    @property
    def _chained(self) -> list[AccountEntry]:
        """The charges from the first that has a hash on: those before it are by versions that knew no chain."""
        return list(dropwhile(lambda entry: entry.sha256 is None, self.entries))

    @cached_property
    def _beginning(self) -> str:
        """What the first hash of the chain follows: the account itself, with charges that have none."""
        unchained = self.entries[: len(self.entries) - len(self._chained)]
        caps = [float(self.cap_epsilon), float(self.cap_delta)]
        return _hash([self.name, self.opened, *caps, *(entry.list_hashed() for entry in unchained)])

    @cached_property
    def broken_at(self) -> int | None:
        """The first charge that does not follow from what stands before it; None where the chain is whole."""
        previous = self._beginning
        for entry in self._chained:
            due = entry.compute_sha256(previous)
            if (entry.previous_sha256, entry.sha256) != (previous, due):
                return entry.number
            previous = due
        return None

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the chain of the charges says, a sentence each; the first says whether it is whole."""
        times = [(0, self.opened), *((entry.number, entry.at) for entry in self.entries)]
        back = [number for (_, before), (number, at) in pairwise(times) if at < before]
        return tuple(render("remarks.txt.j2", account=self, chained=self._chained, back=back).splitlines())

    def link(self, number: int) -> ChargeLink:
        """The place of a charge in the chain.

        Raises
        ------
        RequestError
            If there is no such charge, or it holds no hash.
        """
        for entry, before in zip(self.entries, [self.opened, *(entry.at for entry in self.entries)], strict=False):
            if entry.number == number and entry.sha256 and entry.previous_sha256:
                return ChargeLink(number, entry.at, entry.sha256, entry.previous_sha256, before)
        raise make_refusal("no_hashed_charge", number=number)

    def extend(self, charge: Charge) -> AccountBalance:
        """The account after one more charge, made now."""
        last = self.entries[-1] if self.entries else None
        previous = (last and last.sha256) or self._beginning
        number = last.number + 1 if last else 1
        entry = AccountEntry(number, _read_time(), __version__, charge, State.CHARGED, None, None, previous)
        entry = replace(entry, sha256=entry.compute_sha256(previous))
        return replace(self, entries=(*self.entries, entry))

    def find_contradiction(self, link: ChargeLink) -> str | None:
        """Why this account cannot be the one whose charge a card prints; None where it holds that charge.

        Parameters
        ----------
        link : ChargeLink
            As the card prints it.
        """
        if any((entry.sha256, entry.previous_sha256) == (link.sha256, link.previous_sha256) for entry in self.entries):
            return None
        return SENTENCES.fill("charge_not_there", number=link.number, day=link.at[:10])

    def refuse(self, charge: Charge) -> None:
        """Refuse what this account cannot bear: beyond its cap, about another unit or relation, or on a broken chain.

        Raises
        ------
        AccountExceeded, RequestError
        """
        if self.broken_at is not None:
            raise make_refusal("chain_breaks", broken=self.remarks[0])
        for what, ours, theirs in (
            ("unit of privacy", self.unit, charge.unit),
            ("neighbouring relation", self.relation, charge.relation),
        ):
            if ours not in (None, theirs):
                raise make_refusal(
                    "other_account", what=what, ours=check.format_value(ours), theirs=check.format_value(theirs)
                )
        self.refuse_cost(charge.epsilon, charge.delta)

    def refuse_cost(self, epsilon: float, delta: float = 0.0) -> None:
        """Refuse what costs more than is left, whatever it is about.

        Parameters
        ----------
        epsilon, delta : float
            Of the guarantee.

        Raises
        ------
        AccountExceeded
        """
        epsilons, deltas = ([getattr(one, name) for one in self.charges] for name in ("epsilon", "delta"))
        _refuse_beyond(self.name, "ε", [*epsilons, epsilon], cap=self.cap_epsilon, left=self.left_epsilon)
        _refuse_beyond(self.name, "δ", [*deltas, delta], cap=self.cap_delta, left=self.left_delta)


class Taken(NamedTuple):
    """A charge: its place in the chain, and how the account stood at the moment before."""

    link: ChargeLink
    before: AccountBalance

    @classmethod
    def rehearse(cls, before: AccountBalance, charge: Charge) -> Taken:
        """As it would be now; nothing is charged."""
        after = before.extend(charge)
        return cls(after.link(after.entries[-1].number), before)


@dataclass(frozen=True)
class Account:
    """An account in a file of its owner.

    In a ``with`` block it pays for every ``PrivateKMeans.fit`` of this process that names no account of its own. Copies
    are the same account: what they are charged adds up.

    Parameters
    ----------
    path : Path
    patience : float
        How many seconds to wait while another process changes it.
    """

    path: Path
    patience: float = _PATIENCE
    _only_in: int | None = field(default=None, repr=False)  # the number of the process that a temporary one ends with

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))

    @classmethod
    def new(cls, path: str | Path, *, name: str, cap_epsilon: float, cap_delta: float = 0.0) -> Account:
        """Make an account without releases, in a new file that its owner alone may read.

        Parameters
        ----------
        path : str or Path
            Of a file that is not there yet.
        name : str
            What the account is of.
        cap_epsilon : float
            The most ε that releases may cost together.
        cap_delta : float
            The most δ that releases may cost together.

        Returns
        -------
        Account
            Without releases.

        Raises
        ------
        RequestError
            If the file is there already or cannot be made, or the cap is none.
        """
        _check_words(name=name)
        check.epsilon(cap_epsilon=cap_epsilon)
        _check_part(cap_delta=cap_delta)
        account = cls(Path(path))
        caps = {"cap_epsilon": float(cap_epsilon), "cap_delta": float(cap_delta)}
        create(account.path, name=name, **caps, opened=_read_time(), wait=account.patience)
        return account

    @classmethod
    def open(cls, path: str | Path, *, patience: float = _PATIENCE) -> Account:
        """The account in a file that is there.

        Parameters
        ----------
        path : str or Path
            Of its file.
        patience : float
            Seconds to wait for another process.

        Returns
        -------
        Account
            Read only when it is used.

        Raises
        ------
        RequestError
            If the file is missing, damaged, locked, of a newer version, or no account.
        """
        account = cls(Path(path), patience)
        with open_to_read(account.path, wait=patience):
            return account

    @classmethod
    def temporary(cls, *, cap_epsilon: float, cap_delta: float = 0.0, name: str = "this process") -> Account:
        """Make an account that ends with this process: for a notebook that releases nothing.

        Other processes cannot charge it: what is sent to them refuses with a sentence.

        Parameters
        ----------
        cap_epsilon : float
            The most ε that releases may cost together.
        cap_delta : float
            The most δ that releases may cost together.
        name : str
            What the account is of.

        Returns
        -------
        Account
            In a folder of this process.

        Raises
        ------
        RequestError
            If the cap is none.
        """
        folder = Path(mkdtemp(prefix="dpviz-account-"))
        made = cls.new(folder / "account.sqlite", name=name, cap_epsilon=cap_epsilon, cap_delta=cap_delta)
        account = cls(made.path, _only_in=os.getpid())
        weakref.finalize(account, shutil.rmtree, folder, ignore_errors=True)
        return account

    @property
    def is_temporary(self) -> bool:
        """Whether it ends with its process."""
        return self._only_in is not None

    @classmethod
    def current(cls) -> Account | None:
        """The account of the innermost ``with`` block of this process; None outside of all."""
        return _IN_USE[-1] if _IN_USE else None

    def __enter__(self) -> Account:
        self.standing()  # whether it can be used is told here, not at the first fit
        _IN_USE.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _IN_USE.remove(self)

    def __copy__(self) -> Account:
        return self

    def __deepcopy__(self, _: object) -> Account:
        return self

    def __reduce__(self) -> tuple[type[Account], tuple[Path, float, int | None]]:
        return Account, (self.path.absolute(), self.patience, self._only_in)

    def charge(self, charge: Charge) -> int:
        """As ``take``; the number of the charge alone."""
        return self.take(charge).link.number

    def take(self, charge: Charge) -> Taken:
        """Charge a release: it is on the disk when this returns, and stays whatever happens.

        How the account stood before is read in the transaction of the charge, so that no other release lies between.

        Raises
        ------
        AccountExceeded
            If it costs more than is left.
        RequestError
            If it is about another unit of privacy or relation, or the file cannot be used.
        """
        self._refuse_elsewhere()
        with open_to_change(self.path, wait=self.patience) as file:
            before = _read_standing(file, self.path)
            before.refuse(charge)
            link, _ = taken = Taken.rehearse(before, charge)
            told = {name: getattr(link, name) for name in ("number", "at", "previous_sha256", "sha256")}
            told |= {"version": __version__, "state": State.CHARGED.value, **charge.to_plain()}
            names = ", ".join(told)
            file.execute(f"INSERT INTO release ({names}) VALUES ({', '.join('?' * len(told))})", (*told.values(),))
            return taken

    def note_released(self, number: int, *, card_sha256: str | None = None) -> None:
        """Note that a charged release has left, and by which card; a fit in Python has none.

        Parameters
        ----------
        number : int
            Of the charge.
        card_sha256 : str or None
            Of the card that left; None for a fit.

        Raises
        ------
        RequestError
            If there is no such charge, or it is known already what has become of it.
        """
        if card_sha256 is not None and not re.fullmatch("[0-9a-f]{64}", card_sha256):
            raise make_refusal("card_hash")
        self._settle(number, State.RELEASED, card_sha256=card_sha256)

    def note_failed(self, number: int, *, why: str) -> None:
        """Note that nothing came of a charge, and ``why``, in words without a value of the data; the charge stays.

        Parameters
        ----------
        number : int
            Of the charge.
        why : str
            In words, without a value of the data.

        Raises
        ------
        RequestError
            If there is no such charge, or it is known already what has become of it.
        """
        words = "".join(letter if letter.isprintable() else " " for letter in why)
        self._settle(number, State.FAILED, why=" ".join(words.split())[:_LONGEST])

    def _refuse_elsewhere(self) -> None:
        if self._only_in not in (None, os.getpid()):
            raise make_refusal("account_elsewhere")

    def _settle(self, number: int, state: State, *, card_sha256: str | None = None, why: str | None = None) -> None:
        with open_to_change(self.path, wait=self.patience) as file:
            found = next((entry for entry in _read_standing(file, self.path).entries if entry.number == number), None)
            if found is None:
                raise make_refusal("no_charge", number=check.format_value(number))
            if (found.state, found.card_sha256, found.why) == (state, card_sha256, why):
                return
            if found.state != State.CHARGED:
                raise make_refusal("charge_settled", number=check.format_value(number), state=found.state.value)
            changes = (state.value, card_sha256, why, number)
            file.execute("UPDATE release SET state = ?, card_sha256 = ?, why = ? WHERE number = ?", changes)

    def standing(self) -> AccountBalance:
        """How it stands now.

        Raises
        ------
        RequestError
            If the file cannot be used.
        """
        self._refuse_elsewhere()
        with open_to_read(self.path, wait=self.patience) as file:
            return _read_standing(file, self.path)

    def locate_copy(self, number: int) -> Path:
        """Where the copy of the release with charge ``number`` lies beside the account, whether it is there or not."""
        return self.path.with_name(f"{self.path.stem}-release-{number}.zip")

    def summary(self) -> str:
        """What is spent and left, by simple and by numerical composition, and each release and fit; a text.

        Raises
        ------
        RequestError
            If the file cannot be used.
        """
        return self.standing().text

    def look_alikes(self, folder: str | Path | None = None, *, columns: Sequence[str] = ()) -> tuple[str, ...]:
        """File names of other accounts with a release that may be about the same table, whatever they are called.

        It may where its columns are some of ours, or ours are some of its: those of a release of this account, or
        ``columns``. What no terminal shows is marked. Accounts that cannot be read now are left out.

        Parameters
        ----------
        folder : str, Path or None
            Where to look; None: beside this account.
        columns : sequence of str
            Those declared of the table.

        Raises
        ------
        RequestError
            If this account cannot be used.
        """
        ours = _list_subjects(self.standing()) | ({frozenset(columns)} if columns else frozenset())
        beside = Path(folder) if folder is not None else self.path.absolute().parent
        found = []
        for path in sorted(beside.iterdir()) if ours else ():
            if may_be_account(path) and not path.samefile(self.path):
                try:
                    theirs = Account(path, _GLANCE).standing()
                except RequestError:
                    continue
                if any(one <= other or other <= one for one in ours for other in _list_subjects(theirs)):
                    found.append(foreign.format_name(path))
        return tuple(found)


Account.__module__ = "dpviz"


def round_down(left: float) -> str:
    """Six digits that a release may ask for: never more than is left, but for rounding."""
    if left <= 0:
        return "0"
    digits = 5 - floor(log10(left))
    return f"{floor(left * 10**digits * (1 + _ROUNDING)) / 10**digits:.6g}"


def _read_standing(file: sqlite3.Connection, path: Path) -> AccountBalance:
    try:
        ((name, opened, cap_epsilon, cap_delta),) = file.execute(
            "SELECT name, opened, cap_epsilon, cap_delta FROM account"
        )
        lines = file.execute("SELECT * FROM release ORDER BY number")  # a file of an older version has fewer columns
        names = [column for column, *_ in lines.description]
        entries = tuple(_read_entry(dict(zip(names, line, strict=True))) for line in lines)
        _check_words(name=name)
        check.epsilon(cap_epsilon=cap_epsilon)
        _check_part(cap_delta=cap_delta)
    # No text, no number, no charge: whoever wrote that.
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise make_refusal("account_damaged", file=check.format_value(path.name)) from None
    return AccountBalance(name, cap_epsilon, cap_delta, entries, opened)


def _read_entry(told: dict[str, Any]) -> AccountEntry:
    charged = {name: told.pop(name) for name in _CHARGED}
    charged |= {name: tuple(json.loads(charged[name])) for name in ("columns", "lower", "upper")}
    told["state"] = State(told["state"])
    _check_words(version=told["version"])
    if not (_TIME.fullmatch(told["at"]) and isinstance(told.get("sha256"), str | None)):
        raise ValueError("no time, or no hash")
    return AccountEntry(**told, charge=Charge(**charged))


def _list_subjects(standing: AccountBalance) -> frozenset[frozenset[str]]:
    return frozenset(frozenset(charge.columns) for charge in standing.charges)


def _hash(parts: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()


def _compute_left(cap: float, spent: float) -> float:
    left = cap - spent
    return left if left > cap * _ROUNDING else 0.0


def _refuse_beyond(name: str, letter: str, costs: Sequence[float], *, cap: float, left: float) -> None:
    """Refuse the last of ``costs`` if all together are more than ``cap``."""
    if not fsum(costs) <= cap * (1 + _ROUNDING):
        instead = f"ask for at most {letter} = {round_down(left)}"
        if letter == "ε" and left < check.LEAST_EPSILON:
            instead = "nothing more can be released from it"
        elif not left:
            own_cap = "" if cap else ", or take an account that was made with a cap for δ (cap_delta, such as 1e-5)"
            instead = f"choose an algorithm without δ (delta 0){own_cap}"
        told = {"letter": letter, "cost": costs[-1], "left": round_down(left), "cap": cap, "instead": instead}
        raise make_refusal("account_exceeded", kind=AccountExceeded, account=check.format_value(name), **told)


def _read_time() -> str:
    # To the microsecond: two charges alike within a second, of an account put back in between, have two hashes.
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _check_part(**named: float) -> None:
    """Refuse a δ outside [0, 1)."""
    check.within(0.0, 1.0, **named)
    for name, value in named.items():
        if value == 1 or 0 < value < check.LEAST_DELTA:
            raise make_refusal("no_delta", name=name, value=check.format_value(value))


def _check_words(**named: str) -> None:
    """Refuse words that could not be told on one line."""
    for name, text in named.items():
        if not text.strip() or not text.isprintable() or len(text) > _LONGEST:
            raise make_refusal("no_words", name=name, text=check.format_value(text), most=_LONGEST)
