"""``dpviz account``: make or show the account of a data set, to which every release is charged."""

import argparse
import json
from pathlib import Path
from typing import Any

from dpviz.api.api_sentences import SENTENCES
from dpviz.api.console import Parser, add_options, say
from dpviz.releases import Account, AccountBalance, read_release
from dpviz.words import foreign


def add(command: Parser) -> None:
    """Its options."""
    add_options(command, "account")
    actions = command.add_subparsers(dest="action", required=True, metavar="{new,show}")
    add_options(actions.add_parser("new", help="make an account without releases", allow_abbrev=False), "account new")
    show = actions.add_parser("show", help="what is spent, what is left, and on what", allow_abbrev=False)
    add_options(show, "account show")


def serve(arguments: argparse.Namespace) -> str:
    """Serve the request; the text to print."""
    path = Path(arguments.account)
    if arguments.action == "new":
        caps = {"cap_epsilon": arguments.cap_epsilon, "cap_delta": arguments.cap_delta}
        Account.new(path, name=arguments.name, **caps)
        made = {"file": foreign.format_name(path), "name": arguments.name}
        return SENTENCES.fill("account_made", **made, epsilon=arguments.cap_epsilon, delta=arguments.cap_delta)
    account = Account.open(path)
    standing, look_alikes = account.standing(), account.look_alikes()
    for other in look_alikes:
        say(SENTENCES.fill("account_beside", other=other))
    for name in arguments.release:
        found = read_release(Path(name)).find_contradiction(standing)
        say(f"{foreign.format_name(Path(name))}: {found or 'its charge is in this account.'}")
    return (
        json.dumps(_to_plain(standing, look_alikes), indent=2, ensure_ascii=False) if arguments.json else standing.text
    )


def _to_plain(standing: AccountBalance, look_alikes: tuple[str, ...]) -> dict[str, Any]:
    return {
        "format": 1,
        **{name: getattr(standing, name) for name in ("name", "unit", "relation")},
        "cap": {"epsilon": standing.cap_epsilon, "delta": standing.cap_delta},
        "spent": {"epsilon": standing.spent_epsilon, "delta": standing.spent_delta},
        "left": {"epsilon": standing.left_epsilon, "delta": standing.left_delta},
        "together": {"epsilon": standing.together_epsilon, "delta": standing.cap_delta},
        "chain": {"broken_at": standing.broken_at, "remarks": list(standing.remarks)},
        "releases": [entry.to_dict() for entry in standing.entries],
        "look_alikes": list(look_alikes),
    }
