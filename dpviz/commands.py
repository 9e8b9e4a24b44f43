"""The command line in Python: ``declare``, ``sweep`` and ``release`` by the same names; and k from a paid synopsis."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpviz import check
from dpviz.algorithms.registry import AUTO
from dpviz.check import RequestError
from dpviz.costs import read_uncounted
from dpviz.estimators import PrivateKMeans
from dpviz.releases.account import Account
from dpviz.releases.release_request import BOUNDS, SEGMENTS, ReleaseRequest, find_words
from dpviz.releases.releasing import Release, preflight, publish
from dpviz.releases.seen import Seen, Where
from dpviz.runs.advice.suggested_k import MOST_K, SuggestedK, suggest_k
from dpviz.runs.clipped_rows import JudgedTable
from dpviz.runs.open_table import declare as open_table
from dpviz.runs.record import AccessKind
from dpviz.runs.request import Contender, Request
from dpviz.runs.scheduler import count_cores
from dpviz.runs.study.grid import Grid
from dpviz.runs.study.study import tidy
from dpviz.runs.study.workers import compute_rows
from dpviz.table.csv_intake import open_csv
from dpviz.table.declaration import NOTHING_DECLARED, Declaration
from dpviz.table.declaration_file import apply_declaration, apply_declaration_file
from dpviz.table.loaded_table import make_numeric_table
from dpviz.table.named import Content, declare_nothing, find_sample, open_file, open_named
from dpviz.table.proposal import propose

_WITH_SYNOPSIS = (AUTO, "eugkm")
Data = str | Path | pd.DataFrame | np.ndarray[Any, Any]
"""A CSV or Parquet file, a folder of Parquet files, the name of a sample, or a table of numbers in memory."""

Declared = Declaration | Mapping[str, Any] | str | Path
"""What is declared of a table: a declaration, what its JSON says, or the path of such a file."""


def declare(data: str | Path) -> Declaration:
    """Propose how a file is read: a look at its first rows, for the eyes of its owner.

    Parameters
    ----------
    data : path
        A CSV file, perhaps packed (.csv.gz).

    Returns
    -------
    Declaration
        With bounds left open: they never come from rows. ``proposed`` is set, and runs that use it say so.

    **Guarantee.** None: this reads rows. Check what is proposed, and declare what you know.

    Raises
    ------
    RequestError
        If the file cannot be used.
    """
    return propose(open_csv(Path(data))).join_to(NOTHING_DECLARED)


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
    content, declared = _declare_data(data, declaration)
    table = open_table(content, declared)
    contenders = tuple(Contender.from_text(text) for text in algorithms)
    grid = Grid(contenders, tuple(ks), tuple(epsilons), tuple(deltas), tuple(ns), repeats=repeats, seed=seed)
    grid.check(table.private)
    workers = check.at_least(1, jobs=count_cores() if jobs is None else jobs)
    revealed = table.private.reveal(note="sweep")
    judged = JudgedTable.of(table.private, revealed, table.read_labels(revealed))
    trials = grid.trials()
    place = {trial.key: number for number, trial in enumerate(trials)}
    rows = sorted(compute_rows(judged, grid, trials, workers=workers), key=lambda row: place[row["trial"]])
    return tidy(rows)


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
    segments: float = SEGMENTS,
    buy_bounds: float = BOUNDS,
    missing: float = 0.0,
    chosen: str | None = None,
    words: Mapping[str, Any] | None = None,
) -> Release:
    """Release k centres, and what the segments are, with release-grade noise.

    Parameters
    ----------
    declaration : Declaration, mapping or path
        What is declared of the table.
    data : path, name of a sample, data frame or array of shape (n, d)
    k : int
    epsilon, delta : float
        Of the whole release.
    account : Account or path
        Charged before noise is drawn.
    algorithm : str
    params : mapping or None
        Its parameters.
    segments, buy_bounds, missing : float
        Parts of ε: for what the segments are, for each open column's bounds, for the shares of missing cells.
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
    content, declared = _declare_data(data, declaration)
    said = {**(words or {}), **({} if chosen is None else {"chosen_after_looking": chosen})}
    fits = read_uncounted()
    order = ReleaseRequest(
        Request(Contender.checked(algorithm, params or {}), k, epsilon, delta),
        find_words(declared, today=datetime.now(UTC).date().isoformat(), **said),
        segments=segments,
        bounds=buy_bounds,
        missing=missing,
        seen=Seen(
            {AccessKind.PROPOSAL.value: 1} if declared.proposed else {},
            runs=fits.number,
            runs_epsilon=fits.epsilon,
            where=Where.COMMAND,
        ),
    )
    used = account if isinstance(account, Account) else Account.open(account)
    return publish(preflight(order, content, declared, used))


def select_k(
    X: Any,
    *,
    most: int,
    epsilon: float,
    bounds: Any,
    algorithm: str = AUTO,
    random_state: int | None = None,
    **settings: Any,
) -> SuggestedK:
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
    check.within(2, MOST_K, most=most)
    if algorithm not in _WITH_SYNOPSIS:
        raise RequestError(f"{algorithm} releases no synopsis to read k from: ask for auto or eugkm.")
    model = PrivateKMeans(most, algorithm, epsilon, bounds=bounds, random_state=random_state, **settings).fit(X)
    return suggest_k(model.run_, most, np.random.default_rng(random_state))


def _declare_data(data: Data, declaration: Declared | None) -> tuple[Content, Declaration]:
    """The table that ``data`` names, none of its rows read, and what is declared of it."""
    if isinstance(data, str | Path):
        sample = find_sample(str(data))
        if declaration is None or sample is not None:
            content, beside = open_named(str(data))
        else:
            content = open_file(Path(data))
            beside = declare_nothing(content)
    else:
        content, beside = make_numeric_table(data), Declaration()
    match declaration:
        case None:
            return content, beside
        case Declaration():
            return content, declaration.checked()
        case str() | Path():
            return content, apply_declaration_file(declaration, declare_nothing(content)).checked()
        case _:
            return content, apply_declaration(json.dumps(declaration), declare_nothing(content)).checked()
