"""Sessions for tests: of seeded noise, the product's, and one that explodes when rows are touched."""

from typing import Any, ClassVar

import numpy as np

from dpviz.core.accounting import Accounting
from dpviz.core.ledger import Entry
from dpviz.core.noise import StudyNoise
from dpviz.core.private_session import PrivateSession, PrivateTable
from dpviz.core.replay import CoupledBlocks, RecordedLoss, Recording, open_as  # noqa: F401  tests have them from here
from dpviz.core.rows import Rows


def open_seeded(
    table: PrivateTable,
    accounting: Accounting = Accounting.PURE,
    *,
    epsilon: float = 1.0,
    delta: float = 0.0,
    seed: int | np.random.Generator = 0,
    kind: type[PrivateSession] | None = None,
    needs_n: bool = False,
) -> PrivateSession:
    """A session of study noise, which buys no number of rows unless a test says so."""
    noise = StudyNoise(np.random.default_rng(seed))
    return open_as(table, kind).open(epsilon=epsilon, delta=delta, accounting=accounting, noise=noise, needs_n=needs_n)


def ask_often(session: PrivateSession, times: int, *asked: Any, **options: Any) -> tuple[list[Any], Entry]:
    """The answers to a question that is asked so many times, as if each was the first, and what one of them costs."""
    answers = []
    for _ in range(times):
        answers.append(session.ask(*asked, note="x", **options).value)
        session.ledger.entries, (entry,) = [], session.ledger.entries
    return answers, entry


class RowsTouched(Exception):
    """Somebody reached for the rows of an exploding session."""


class ExplodingRows(Rows):
    """Rows that may be held but not looked at."""

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__"):
            return super().__getattribute__(name)
        raise RowsTouched(name)

    def __len__(self) -> int:
        raise RowsTouched("len")


def exploding_session(*, answers_before: int = 0) -> type[PrivateSession]:
    """A session that answers that many questions and explodes when rows are touched after that."""

    class Exploding(PrivateSession):
        answered: ClassVar[list[int]] = [0]

        def _compute_true_answers(self, queries: list[Any]) -> list[Any]:
            self.answered[0] += 1
            if self.answered[0] > answers_before:
                self._rows = ExplodingRows.__new__(ExplodingRows)
            return super()._compute_true_answers(queries)

    return Exploding
