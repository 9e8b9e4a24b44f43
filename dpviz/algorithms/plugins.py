"""Algorithms that installed packages bring: found by the entry points ``dpviz.algorithms``, checked, and marked.

Each entry point names a ``Card``. Whatever is wrong with one leaves that one out, with a sentence; the others stand.
A card that is brought is never ours: its title says so, and nothing of it is released with release-grade noise.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import wraps
from importlib.metadata import EntryPoint, entry_points
from inspect import isgeneratorfunction
from typing import Any

import numpy as np

from dpviz.algorithms.card import DOES, AccountingRule, Card, Expectation, Guarantee, Params, Plan, Setting
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.core import Accounting, Broken, PrivateSession, RequestError, check

GROUP = "dpviz.algorithms"
"""The group of entry points, each of which names a ``Card``."""

NOT_OURS = "not ours"
"""The badge of an algorithm that a package brings."""

_ID = re.compile(r"[a-z][a-z0-9+-]{0,39}")
# A setting of the usual size, at which whatever a card computes of public numbers is tried once.
_USUAL = Setting(dim=2, k=3, epsilon=1.0, delta=1e-6, n=1000)


@dataclass(frozen=True)
class Brought:
    """The cards that packages bring, by id, and a sentence for each that was left out."""

    cards: dict[str, Card] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()


def load_plugins(taken: Collection[Card]) -> Brought:
    """What the installed packages bring beside the cards that are ``taken``, in the order of their names."""
    cards: dict[str, Card] = {}
    left_out = []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (_name_package(entry), entry.name)):
        package = _name_package(entry)
        card, wrong = _load(entry)
        if card is not None:
            wrong = _find_wrong(card, [*taken, *cards.values()])
        if card is None or wrong is not None:
            left_out.append(f"The algorithm {check.format_value(entry.name)} of {package} is left out: {wrong}.")
        else:
            cards[card.id] = _mark(card, package)
    return Brought(cards, tuple(left_out))


def _name_package(entry: EntryPoint) -> str:
    return "an unnamed package" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"


def _load(entry: EntryPoint) -> tuple[Card | None, str | None]:
    """What an entry point names, or why that is no card. Code of others may fail in any way, and even leave."""
    try:
        found = entry.load()
    except (Exception, SystemExit) as error:
        missing = f" ({error.name} is not installed)" if isinstance(error, ModuleNotFoundError) else ""
        return None, f"importing {entry.value} ended with {type(error).__name__}{missing}; mend it, or uninstall it"
    if isinstance(found, Card):
        return found, None
    return None, f"{entry.value} is of type {type(found).__name__}; it has to be a Card (dpviz.algorithms.card)"


def _find_wrong(card: Card, taken: Collection[Card]) -> str | None:
    """Why a card cannot stand beside the others, as a clause; None if it can."""
    if not isinstance(card.id, str) or not _ID.fullmatch(card.id):
        return f"its id is {check.format_value(card.id)}; give up to 40 of a-z, 0-9, + and -, a letter first"
    if any(card.id == other.id for other in taken):
        return f"its id {check.format_value(card.id)} is taken; give it one of its own"
    if any(f"{card.title} ({NOT_OURS})" == other.title or card.title == other.title for other in taken):
        return f"its title {check.format_value(card.title)} is taken; give it one of its own"
    try:
        return next(_list_wrong_parts(card), None)
    except Exception as error:
        return f"what it says of the setting k = 3, d = 2, ε = 1, n = 1,000 ended with {type(error).__name__}"


def _list_wrong_parts(card: Card) -> Iterator[str]:
    """Whatever in a card a form, a page or a sweep could not show."""
    from dpviz.tables import list_samples  # of no use where no package brings anything

    said = {"title": card.title, "family": card.family, "paper": card.paper, "summary": card.summary}
    said |= {"story": card.story, "when": card.when}
    silent = [name for name, text in said.items() if not isinstance(text, str) or not text.strip()]
    yield from (f"its {name} is no text" for name in silent)
    if card.does not in DOES or card.does == "No privacy":
        allowed = ", ".join(word for word in DOES if word != "No privacy")
        yield f"it does {check.format_value(card.does)}; choose one of {allowed}"
    samples = [sample.id for sample in list_samples()]
    if card.sample not in samples:
        yield f"there is no sample {check.format_value(card.sample)}; name one of {', '.join(samples)}"
    if not card.guarantees or not all(isinstance(one, Guarantee) for one in card.guarantees) or not card.private:
        yield "it promises no privacy; name Guarantee.PURE, Guarantee.APPROX or both"
    if not isgeneratorfunction(card.plan):
        yield "its plan is no generator function; yield a step after each question"
    if not isinstance(card.params, type) or not issubclass(card.params, Params):
        yield "its params are no class of Params"
    card.params.parse({param_field.name: param_field.default for param_field in card.params.param_fields()})
    # What a card computes of public numbers, tried once.
    params = card.params()
    _check_accounting(card.accounting)(params, _USUAL.delta)
    if card.expect is not None:
        Expectation(*card.expect(_USUAL, params))
    for name, rule in (("smallest_n", card.smallest_n), ("operations", card.operations)):
        if rule is not None and not np.isfinite(float(rule(_USUAL, params))):
            yield f"its {name} is no number"


def _mark(card: Card, package: str) -> Card:
    """The card as the registry shows it: its title says that it is not ours, and it is never released."""
    return replace(
        card,
        title=f"{card.title} ({NOT_OURS})",
        brought_by=package,
        plan=_watch(card.plan, f"{card.title}, which {package} brings,"),
        accounting=_check_accounting(card.accounting),
        release=f"{package} brings it, and nobody here has proved what it does with the rows",
    )


def _check_accounting(rule: AccountingRule) -> AccountingRule:
    """The same rule, which cannot open a session without a guarantee: there rows themselves would leave."""

    def checked(params: Any, delta: float) -> Accounting:
        accounting = rule(params, delta)
        if not isinstance(accounting, Accounting) or accounting is Accounting.NONE:
            raise RequestError("Its accounting gives no guarantee: an algorithm of a package has to have one.")
        return accounting

    return checked


def _watch(plan: Plan, who: str) -> Plan:
    """The same plan: what goes wrong in it is told as its own, and its steps are such as can be shown."""

    @wraps(plan)
    def watched(session: PrivateSession, k: int, params: Any, rng: np.random.Generator) -> Iterator[Step]:
        last: Step | None = None
        try:
            for last in plan(session, k, params, rng):
                if type(last).__module__.partition(".")[0] != "dpviz":
                    raise RequestError(f"{who} yields a step of its own, which has no picture: use a CentersStep.")
                yield last
        except (RequestError, Broken):
            raise
        except Exception as error:
            raise RequestError(f"{who} stopped with {type(error).__name__}: tell its authors.") from error
        if not isinstance(last, CentersStep) or np.shape(last.centers) != (k, session.dim // params.points_per_row(k)):
            raise RequestError(f"{who} ended without {k} centres: its last step has to carry them.")

    return watched
