"""``audit``: the contract of private algorithms, tried out on one of them; what held and what did not, in sentences."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from dpviz.algorithms.card import Card
from dpviz.audit import privacy_checks, sturdiness_checks
from dpviz.audit.audited import Check, NotAsked, Subject, number
from dpviz.audit.source_rules import draws_from_a_global_state, goes_round_the_front_door, sources_of
from dpviz.check import RequestError
from dpviz.privacy.broken import Broken, demand

RUNS = 100
"""Runs with a person, and as many without, from which attackers have to tell which is which."""


class Finding(NamedTuple):
    """What came of a check: whether it held (None: it does not apply), and a sentence that says what."""

    check: str
    held: bool | None
    says: str


def audit(card: Card, *, runs: int = RUNS) -> Iterator[Finding]:
    """Every check of the contract on an algorithm, one after another; all tables are made up.

    Parameters
    ----------
    card : Card
        One that promises privacy.
    runs : int
        Pairs of runs of the attack.

    **Guarantee.** None: no row of anybody is read.

    Raises
    ------
    RequestError
        If the algorithm promises nothing that could be audited.
    """
    if not card.private:
        raise RequestError(f"{card.title} promises no privacy: there is nothing to audit.")
    subject = Subject(card, runs)
    yield from (_found(name, check, subject) for name, check in CHECKS.items())


def _found(name: str, check: Check, subject: Subject) -> Finding:
    """Code of others may fail in any way: whatever stops a check is a finding."""
    try:
        return Finding(name, True, check(subject))
    except NotAsked as reason:
        return Finding(name, None, str(reason))
    except (Broken, RequestError) as broken:
        return Finding(name, False, str(broken))
    except Exception as error:
        return Finding(name, False, f"the check ended with {type(error).__name__}")


def source(subject: Subject) -> str:
    """What can be seen without a run."""
    files = sources_of(subject.card)
    if not files:
        raise NotAsked("there is no Python source to read")
    offences = []
    for file in files:
        tree = ast.parse(file.read_text("utf-8"))
        for line, words in (*goes_round_the_front_door(tree), *draws_from_a_global_state(tree)):
            offences.append(f"{file.name}:{line} {words}")
    demand(not offences, "; ".join(offences))
    return f"nothing in {number(files, 'file')} reaches behind the room's doors or draws from a global state"


CHECKS: Mapping[str, Check] = {
    "source": source,
    "ledger": privacy_checks.spent,
    "replay": privacy_checks.replayed,
    "room": privacy_checks.read,
    "neighbours": privacy_checks.mild,
    "planted neighbours": privacy_checks.planted,
    "attack": privacy_checks.attacked,
    "hard tables": sturdiness_checks.hard_tables,
    "seed": sturdiness_checks.repeated,
    "global state": sturdiness_checks.global_state,
}
"""The checks by name, in the order in which they are run."""

CANNOT_TELL = (
    "whether a plan peeks at tables that are unlike the small ones of an audit",
    "whether its code hides what it does: whoever installs a package runs it with every right of their own",
    "whether it clusters well",
)
"""What no audit can tell."""
