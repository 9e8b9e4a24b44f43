"""Sessions for tests: the product's, and one that explodes when rows are touched."""

from __future__ import annotations

from typing import Any, ClassVar

from dpviz.core.private_session import PrivateSession
from dpviz.core.replay import (
    CoupledBlocks,
    RecordedLoss,
    Recording,
    open_as,
)
from dpviz.core.rows import Rows

__all__ = [
    "CoupledBlocks",
    "ExplodingRows",
    "RecordedLoss",
    "Recording",
    "RowsTouched",
    "exploding_session",
    "open_as",
]


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
