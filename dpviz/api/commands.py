"""The commands in Python: ``declare``, ``sweep`` and ``release``, and k from a paid synopsis.

The command line goes the same way: it reads what was typed, calls these, and prints.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpviz.algorithms import AUTO
from dpviz.core import ACCESS_LOG, AccessKind, PrivateTable, RequestError, check
from dpviz.releases import Account, ReadRelease, Release, plan_release, publish
from dpviz.runs import Contender, Division, JudgedTable, OpenTable, Request, StudyGrid, compute_rows, count_cores, tidy
from dpviz.runs import declare as declare_table
from dpviz.tables import Declaration, declarations, file_format, open_csv, open_typed, read_declared

if TYPE_CHECKING:
    from dpviz.algorithms import synopsis_reading
    from dpviz.tables import Proposal

Data = str | Path | pd.DataFrame | np.ndarray[Any, Any]
"""A CSV or Parquet file, a folder of Parquet files, the address of a table of a database or of Spark, the name of a
sample, a table of numbers in memory, or a data frame of Spark, which stays where it is."""

Declared = Declaration | Mapping[str, Any] | str | Path
"""What is declared of a table: a declaration, what its JSON says, or the path of such a file."""


def declare(
    data: str | Path,
    known: Mapping[str, Any] | None = None,
    *,
    confirmed: Sequence[str] = (),
    missing: Sequence[str] = (),
    every: bool = False,
) -> Declaration:
    """Propose how a file is read: a look at some of its rows, for the eyes of its owner.

    Parameters
    ----------
    data : path
        A CSV file, perhaps packed (.csv.gz); or Parquet or a table of a database, of which only the names and types of
        columns are read.
    known : mapping or None
        What its owner knows, by the keys of a declaration file, such as ``bounds`` and ``bounds_origin``; it goes
        before what is proposed.
    confirmed : sequence of str
        Columns that are declared as they were found in the rows: their categories, ranks or cycles.
    missing : sequence of str
        Columns whose values that seem to mean missing, such as -999, are declared to.
    every : bool
        Whether all measures are chosen, and not only the likeliest twelve.

    Returns
    -------
    Declaration
        With bounds left open where ``known`` has none: they never come from rows. Of a CSV file ``proposed`` is set,
        and runs that use it say so.

    **Guarantee.** None: this reads rows. Check what is proposed, and declare what you know.

    Raises
    ------
    RequestError
        If the file cannot be used.
    """
    proposed, _ = complete_proposal(data, confirmed=confirmed, missing=missing, every=every)
    if known is None:
        return proposed
    return declarations.apply_declaration(json.dumps(known), proposed, what="What is known").validate()


def complete_proposal(
    data: str | Path, *, confirmed: Sequence[str] = (), missing: Sequence[str] = (), every: bool = False
) -> tuple[Declaration, Proposal]:
    """What ``declare`` proposes, and what it saw on the way there.

    **Guarantee.** None: this reads rows.
    """
    from dpviz.tables import Proposal, propose

    typed = open_typed(data)
    if typed is not None:
        text = tuple(name for name in typed.columns if name not in typed.numeric_columns)
        note = "Read from the names and types of the columns; no row was looked at."
        proposal = Proposal(file_format.PLAIN_FORMAT, typed.columns, typed.numeric_columns, text, (note,))
    else:
        file = open_csv(data)
        ACCESS_LOG.add_look(file.fingerprint, AccessKind.PROPOSAL)
        proposal = propose(file)
    joined = proposal.join_to(declarations.NOTHING_DECLARED, confirmed=confirmed, missing=missing, every=every)
    return replace(joined, proposed=typed is None), proposal


def open_table(data: Data, declaration: Declared | None = None) -> PrivateTable:
    """A table as it is declared, ready for ``run``.

    Parameters
    ----------
    data : path, name of a sample, data frame or array of shape (n, d)
        Data units.
    declaration : Declaration, mapping, path or None
        None: what a sample, or the JSON file beside a file, declares.

    Returns
    -------
    PrivateTable
        With all that is declared about its rows.

    Raises
    ------
    RequestError
        If the table or what is declared of it cannot be used.
    """
    return declare_table(*read_declared(data, declaration)).private


def sweep(
    data: Data,
    declaration: Declared | None = None,
    *,
    algorithms: Sequence[str],
    epsilons: Sequence[float],
    ks: Sequence[int],
    ns: Sequence[int | None] = (None,),
    deltas: Sequence[float] = (1e-6,),
    repeats: int = 20,
    seed: int = 0,
    jobs: int | None = None,
) -> pd.DataFrame:
    """Run algorithms many times over a grid, and measure what each run loses.

    Parameters
    ----------
    data : path, name of a sample, data frame or array of shape (n, d)
        Data units.
    declaration : Declaration, mapping, path or None
        None: what a sample, or the JSON file beside a file, declares.
    algorithms : sequence of str
        Ids; a variant is written ``"ID:name=value"``.
    epsilons, ks, ns, deltas : sequences
        The grid; n = None is the whole table.
    repeats : int
        Runs of each point.
    seed : int
        The same study has the same results.
    jobs : int or None
        Worker processes; None: one a core.

    Returns
    -------
    DataFrame
        A line a run, in the order of the grid; ``ratio`` is its loss over that of k-means++.

    **Guarantee.** None: losses are read from the rows. The results are for the eyes of the data's owner.

    Raises
    ------
    RequestError
        If the request is outside what is allowed; no run has begun then.
    """
    table = declare_table(*read_declared(data, declaration))
    contenders = tuple(Contender.from_text(text) for text in algorithms)
    grid = StudyGrid(contenders, tuple(ks), tuple(epsilons), tuple(deltas), tuple(ns), repeats=repeats, seed=seed)
    grid.check(table.private)
    workers = check.at_least(1, jobs=count_cores() if jobs is None else jobs)
    place = {trial.key: number for number, trial in enumerate(grid.list_trials())}
    return tidy(sorted(run_trials(table, grid, workers=workers), key=lambda row: place[row["trial"]]))


def run_trials(
    table: OpenTable, grid: StudyGrid, *, workers: int, done: Collection[str] = ()
) -> Iterator[dict[str, Any]]:
    """The results of the trials of a grid that are not ``done``, as they come, measured on the rows of ``table``.

    **Guarantee.** None: losses are read from the rows.
    """
    left = [trial for trial in grid.list_trials() if trial.key not in done]
    revealed = table.private.reveal(note="sweep", kind=AccessKind.LOSS)
    ACCESS_LOG.add_study(table.source_key)
    judged = JudgedTable.of(table.private, revealed, table.read_labels(revealed))
    yield from compute_rows(judged, grid, left, workers=workers)


def release(
    declaration: Declared,
    data: Data,
    *,
    k: int,
    epsilon: float,
    account: Account | str | Path,
    delta: float = 0.0,
    algorithm: str = "auto",
    params: Mapping[str, Any] | None = None,
    segments: float = Division.segments,
    buy_bounds: float = Division.bounds,
    missing: float = Division.missing,
    smallest_group: int = 0,
    continues: str | Path | ReadRelease | None = None,
    chosen: str | None = None,
    words: Mapping[str, Any] | None = None,
) -> Release:
    """Release k centres, and what the segments are, with release-grade noise.

    Parameters
    ----------
    declaration : Declaration, mapping or path
    data : path, name of a sample, data frame or array of shape (n, d)
    k : int
    epsilon, delta : float
        Of the whole release.
    account : Account or path
        Charged before noise is drawn.
    algorithm : str
    params : mapping or None
    segments, buy_bounds, missing : float
        Parts of ε: for what the segments are, for each open column's bounds, for the shares of missing cells.
    smallest_group : int
        Rows that each group of segments has at least in 99 of 100 releases: small ones are joined with their nearest,
        by released values. 0: nothing is promised.
    continues : path, ReadRelease or None
        The zip of an earlier release of the table, whose segments keep their names and are counted again, with
        half of what segments cost. None: none.
    chosen : str or None
        What was chosen after a look at the rows; printed verbatim on the card.
    words : mapping or None
        The owner's words, in place of what is declared.

    Returns
    -------
    Release
        With the number of its charge and its files; ``save`` writes the zip.

    **Guarantee.** (ε, δ)-DP as ordered; see ``dpviz.releases.releasing.publish``. A release that breaks off stays
    charged.

    Raises
    ------
    RequestError
        If something stands against it (nothing is charged then), or it failed after its charge.
    """
    used = account if isinstance(account, Account) else Account.open(account)
    prepared = plan_release(
        Request(Contender.parse(algorithm, params or {}), k, epsilon, delta),
        *read_declared(data, declaration),
        used,
        words={**(words or {}), **({} if chosen is None else {"chosen_after_looking": chosen})},
        division=Division(segments, buy_bounds, missing),
        smallest_group=smallest_group,
        continues=continues,
    )
    return publish(prepared)


def select_k(
    X: Any,
    *,
    most: int,
    epsilon: float,
    bounds: Any,
    algorithm: str = AUTO,
    random_state: int | None = None,
    **settings: Any,
) -> synopsis_reading.SuggestedK:
    """How many clusters there are, read from one paid synopsis that serves every k.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Data units.
    most : int
        The largest k that is considered.
    algorithm : str
        One that releases a synopsis: ``auto`` or ``eugkm``.
    epsilon, bounds, random_state, **settings
        As for ``PrivateKMeans``, ``delta``, ``n_public`` and ``account`` among them.

    Returns
    -------
    SuggestedK
        The suggested k, and the loss at each.

    **Guarantee.** (ε, δ)-DP: one fit with k = ``most``; whatever is read from it is free.

    Raises
    ------
    RequestError
        If a number is outside its range, or the account does not bear it; nothing is charged or released then.
    """
    from dpviz.algorithms import synopsis_reading  # what reads and fits is of no use to the other commands
    from dpviz.api.estimators import PrivateKMeans

    check.within(2, synopsis_reading.MOST_K, most=most)
    if algorithm not in (AUTO, "eugkm"):
        raise RequestError(f"{algorithm} releases no synopsis to read k from: ask for auto or eugkm.")
    model = PrivateKMeans(most, algorithm, epsilon, bounds=bounds, random_state=random_state, **settings).fit(X)
    return synopsis_reading.suggest_k(model.run_.steps, most, np.random.default_rng(random_state))


for _exported in (declare, open_table, sweep, release, select_k):
    _exported.__module__ = "dpviz"
