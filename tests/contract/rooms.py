"""Rooms for tests: the product's, and one that explodes when rows are touched."""

from __future__ import annotations

from typing import Any, ClassVar

from dpviz.privacy.room import DataRoom
from dpviz.privacy.taped_rooms import CoupledBlocks, Loss, Tape, in_room, loss_room, recording_room, replaying_room
from dpviz.table.rows import Rows

__all__ = [
    "CoupledBlocks",
    "ExplodingRows",
    "Loss",
    "RowsTouched",
    "Tape",
    "exploding_room",
    "in_room",
    "loss_room",
    "recording_room",
    "replaying_room",
]


class RowsTouched(Exception):
    """Somebody reached for the rows of an exploding room."""


class ExplodingRows(Rows):
    """Rows that may be held but not looked at."""

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__"):
            return super().__getattribute__(name)
        raise RowsTouched(name)

    def __len__(self) -> int:
        raise RowsTouched("len")


def exploding_room(*, answers_before: int = 0) -> type[DataRoom]:
    """A room that answers that many questions and explodes when rows are touched after that."""

    class Exploding(DataRoom):
        answered: ClassVar[list[int]] = [0]

        def _true_answers(self, queries: list[Any]) -> list[Any]:
            self.answered[0] += 1
            if self.answered[0] > answers_before:
                self._rows = ExplodingRows.__new__(ExplodingRows)
            return super()._true_answers(queries)

    return Exploding
