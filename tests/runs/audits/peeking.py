"""Plans that break the contract, each in one way, as cards; and which checks of an audit have to say so."""

import gc
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np

from dpviz.algorithms.card import Card, Params
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.core.partitions import Everything, Voronoi
from dpviz.core.private_session import PrivateSession, PrivateTable
from dpviz.core.queries import Count, Sum
from tests.example_packages import example

START, SCALE = example("peeking").START, example("peeking").SCALE


def mean(session: PrivateSession, k: int, part: float = 1.0) -> CentersStep:
    """An honest step for ``part`` of the budget: the noisy mean of all rows, k times."""
    share = session.budget.fraction(part).split(count=1, sums=session.dim)
    count = session.release(Count(Everything()), share.count, note="rows").value
    sums = session.release(Sum(Everything()), share.sums, note="sums").value
    centers = np.repeat(session.region.clip(sums / np.maximum(count, 1.0)[:, None]), k, axis=0)
    return CentersStep(title="A noisy mean", centers=centers, noisy_counts=np.repeat(count / k, k))


def true_mean(session: PrivateSession, k: int, params: Params, rng: np.random.Generator) -> Iterator[Step]:
    """Pays, and then releases the truth."""
    yield mean(session, k)
    rows = np.asarray(session.release.__self__._rows.values, dtype=np.float64)
    middle = rows.mean(axis=0) if len(rows) else np.zeros(session.dim)
    yield CentersStep(title="The truth", centers=np.repeat(middle[None], k, axis=0), released=True)


def found_in_memory(session: PrivateSession, k: int, params: Params, rng: np.random.Generator) -> Iterator[Step]:
    """Never names the session's rows: it looks for tables among everything that lives, whoever else has left some."""
    tables = [vars(thing).get("_values") for thing in gc.get_objects() if type(thing) is PrivateTable]
    held = [values for values in tables if isinstance(values, np.ndarray)]  # of one that was refused there may be none
    found = sum(float(np.nan_to_num(values[:3]).clip(-1, 1).sum()) for values in held)
    yield CentersStep(title="Starts", centers=np.full((k, session.dim), np.sin(found) / 2))
    yield mean(session, k)


def number_in_a_step(session: PrivateSession, k: int, params: Params, rng: np.random.Generator) -> Iterator[Step]:
    """Honest centres, beside a number of rows that nobody released."""
    n = len(session._rows)
    yield replace(mean(session, k), count_noise_sd=float(n))


def noise_by_the_rows(session: PrivateSession, k: int, params: Params, rng: np.random.Generator) -> Iterator[Step]:
    """Goes on where it is refused, with noise that depends on the number of rows."""
    part = 0.3 + 0.4 / (1 + len(session._rows))
    with suppress(AssertionError):
        yield mean(session, k, part)
    yield mean(session, k, 1 - part)


def half_spent(session: PrivateSession, k: int, params: Params, rng: np.random.Generator) -> Iterator[Step]:
    """Leaves half of the budget."""
    yield mean(session, k, 0.5)


def books_emptied(session: PrivateSession, k: int, params: Params, rng: np.random.Generator) -> Iterator[Step]:
    """Spends twice, and tears a page out."""
    yield mean(session, k, 1.0)
    session.ledger.entries.clear()
    yield mean(session, k, 1.0)


def global_coins(session: PrivateSession, k: int, params: Params, rng: np.random.Generator) -> Iterator[Step]:
    """Starts by a generator that the whole program shares."""
    yield CentersStep(title="Starts", centers=np.random.uniform(-0.1, 0.1, (k, session.dim)))  # noqa: NPY002
    yield mean(session, k)


def own_coins(session: PrivateSession, k: int, params: Params, rng: np.random.Generator) -> Iterator[Step]:
    """Starts by a generator of its own, which no seed repeats."""
    yield CentersStep(title="Starts", centers=np.random.default_rng().uniform(-0.1, 0.1, (k, session.dim)))
    yield mean(session, k)


def empty_cells(session: PrivateSession, k: int, params: Params, rng: np.random.Generator) -> Iterator[Step]:
    """Divides by a count that may be 0."""
    cells = Voronoi(session.region.clip(rng.uniform(-1, 1, (k, session.dim))))
    count = np.rint(session.release(Count(cells), session.budget, note="rows").value)
    with np.errstate(divide="ignore", invalid="ignore"):
        yield CentersStep(title="Quotients", centers=cells.centers * (count / count)[:, None], released=True)


def _card(plan: Callable[..., Iterator[Step]]) -> Card:
    return replace(START, id=plan.__name__.replace("_", "-"), title=plan.__name__, plan=plan)


HONEST = _card(lambda session, k, params, rng: iter([mean(session, k)]))
"""What the others would be without their mistake."""

MISTAKES: dict[Card, tuple[str, ...]] = {
    START: ("source", "replay", "session", "neighbours", "planted neighbours", "attack", "seed"),
    SCALE: ("source", "replay", "session", "neighbours", "planted neighbours"),
    _card(true_mean): ("source", "replay", "session", "attack"),
    _card(found_in_memory): ("source", "replay"),
    _card(number_in_a_step): ("source", "replay", "session"),
    _card(noise_by_the_rows): ("replay", "neighbours"),
    _card(half_spent): ("ledger",),
    _card(books_emptied): ("source", "ledger"),
    _card(global_coins): ("source", "global state", "seed"),
    _card(own_coins): ("seed",),
    _card(empty_cells): ("hard tables",),
}
