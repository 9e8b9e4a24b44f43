"""``dpviz account``: make or show the account of a data set, to which every release is charged."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from dpviz.cli.console import say
from dpviz.cli.parser import Parser, number
from dpviz.foreign import printable_name
from dpviz.printed import TextTable
from dpviz.release.account import Account, Standing, rounded_down

_FORMAT = 1
_HASH_SHOWN = 12


def add(command: Parser) -> None:
    """Its options."""
    command.description = (
        "An account is a file of yours that outlives the visit: a cap, and every release that was charged to it. It "
        "holds no row. Reads no table."
    )
    actions = command.add_subparsers(dest="action", required=True, metavar="{new,show}")
    new = actions.add_parser("new", help="make an account without releases", allow_abbrev=False)
    new.add_argument("account", metavar="FILE.sqlite", help="a new file, for you alone; copy it as you copy the data")
    new.add_argument("--name", required=True, metavar="NAME", help="what the data set is called")
    new.add_argument(
        "--cap-epsilon", type=number, required=True, metavar="E", help="the most ε of all releases together"
    )
    new.add_argument("--cap-delta", type=number, default=0.0, metavar="D", help="the most δ of them (default: 0)")
    show = actions.add_parser("show", help="what is spent, what is left, and on what", allow_abbrev=False)
    show.add_argument("account", metavar="FILE.sqlite", help="what `account new` made")
    show.add_argument("--json", action="store_true", help="print one JSON object")


def serve(arguments: argparse.Namespace) -> str:
    """Serve the request; the text to print.

    Raises
    ------
    RequestError
        If the account cannot be made or read.
    """
    path = Path(arguments.account)
    if arguments.action == "new":
        caps = {"cap_epsilon": arguments.cap_epsilon, "cap_delta": arguments.cap_delta}
        Account.new(path, name=arguments.name, **caps)
        return (
            f"{printable_name(path)} is the account of {arguments.name}: ε = {arguments.cap_epsilon:g} and "
            f"δ = {arguments.cap_delta:g} for all releases together. Keep it as long as the data: only it knows what "
            "is spent."
        )
    account = Account.open(path)
    standing, look_alikes = account.standing(), account.look_alikes()
    for other in look_alikes:
        say(
            f"Warning: {other} has a release with the same columns and bounds. If it is about the same people, what "
            "both accounts have spent adds up: go on with one of them."
        )
    return (
        json.dumps(_plain(standing, look_alikes), indent=2, ensure_ascii=False) if arguments.json else _text(standing)
    )


def _text(standing: Standing) -> str:
    lines = [
        f"Account of {standing.name}",
        f"ε: {standing.spent_epsilon:.6g} of {standing.cap_epsilon:g} spent, "
        f"{rounded_down(standing.left_epsilon)} left",
        f"δ: {standing.spent_delta:.6g} of {standing.cap_delta:g} spent, {rounded_down(standing.left_delta)} left",
    ]
    if not standing.entries:
        return "\n".join([*lines, "No releases: the first one sets the unit of privacy and the relation."])
    lines.append(f"Unit of privacy: {standing.unit}; neighbours: {standing.relation}")
    if standing.together_epsilon < standing.spent_epsilon:
        lines.append(
            f"together at most ε = {standing.together_epsilon:.4g} at δ = {standing.cap_delta:g} by dp-accounting, if "
            "no ε was chosen after a look at an earlier release; the cap counts the sum"
        )
    return "\n".join([*lines, _releases(standing).text(most=None)])


def _releases(standing: Standing) -> TextTable:
    header = ["no.", "when (UTC)", "who", "algorithm", "k", "ε", "δ", "columns", "state", "card"]
    rows = [
        [
            str(entry.number),
            entry.at.removesuffix("+00:00"),
            entry.charge.who,
            entry.charge.algorithm,
            str(entry.charge.k),
            f"{entry.charge.epsilon:g}",
            f"{entry.charge.delta:g}",
            str(len(entry.charge.columns)),
            entry.state.value if entry.why is None else f"{entry.state.value}: {entry.why}",
            (entry.card_sha256 or "")[:_HASH_SHOWN],
        ]
        for entry in standing.entries
    ]
    return TextTable("Releases", header, rows)


def _plain(standing: Standing, look_alikes: tuple[str, ...]) -> dict[str, Any]:
    return {
        "format": _FORMAT,
        "name": standing.name,
        "unit": standing.unit,
        "relation": standing.relation,
        "cap": {"epsilon": standing.cap_epsilon, "delta": standing.cap_delta},
        "spent": {"epsilon": standing.spent_epsilon, "delta": standing.spent_delta},
        "left": {"epsilon": standing.left_epsilon, "delta": standing.left_delta},
        "together": {"epsilon": standing.together_epsilon, "delta": standing.cap_delta},
        "releases": [entry.to_dict() for entry in standing.entries],
        "look_alikes": list(look_alikes),
    }
