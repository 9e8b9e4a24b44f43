"""A part of a lesson's file, with the place where it stands: what is wrong with it is said in one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn

from dpviz.check import RequestError, format_value

_MOST_LETTERS = 2_000


class LessonError(RequestError):
    """A lesson that cannot be read: which file, which scene, which field, what is allowed and what to do."""


@dataclass(frozen=True)
class Entry:
    """Fields by name; ``place`` is the file, the scene and the part: "rich-person.yaml, scene 3, question"."""

    place: str
    said: Mapping[str, Any]

    @classmethod
    def of(cls, place: str, said: Any, *, allowed: Sequence[str], needed: Sequence[str] = ()) -> Entry:
        """The fields of a part, of which none is unknown and none that is needed is missing.

        Parameters
        ----------
        place : str
            Where in the file it stands, for a sentence.
        said : object
            What stands there.
        allowed : sequence of str
            Names that may be there.
        needed : sequence of str
            Names that have to be there.

        Returns
        -------
        Entry
            Its fields.

        Raises
        ------
        LessonError
            If one is, or if there are no fields.
        """
        if not isinstance(said, Mapping):
            raise LessonError(
                f"{place}: this is {_describe_kind(said)}; write lines of `name: value` from {_format_list(allowed)}."
            )
        unknown = sorted(format_value(name) for name in said if name not in allowed)
        if unknown:
            raise LessonError(
                f"{place}: {unknown[0]} is no field here; allowed are {_format_list(allowed)}. Rename it."
            )
        missing = [name for name in needed if said.get(name) is None]
        if missing:
            raise LessonError(
                f"{place}: {missing[0]!r} is missing; needed are {_format_list(needed)}. Add a line for it."
            )
        return cls(place, said)

    def refuse(self, field: str, problem: str) -> NoReturn:
        """Say that a field cannot stay as it is: ``problem`` ends with what to do.

        Parameters
        ----------
        field : str
            Its name in the file.
        problem : str
            The end of the sentence.
        """
        raise LessonError(f"{self.place}, {field}: {problem}")

    def has(self, field: str) -> bool:
        """Whether a field is given."""
        return self.said.get(field) is not None

    def read_text(self, field: str, *, most: int = _MOST_LETTERS) -> str:
        """A text, its lines joined as YAML has them; "" where it is not given.

        Parameters
        ----------
        field : str
            Its name in the file.
        most : int
            Letters.

        Returns
        -------
        str
            The text, or "".
        """
        value = self.said.get(field)
        if value is None:
            return ""
        return self._read_text(field, value, most)

    def _read_text(self, field: str, value: Any, most: int) -> str:
        if not isinstance(value, str):
            self.refuse(
                field,
                f"{format_value(value)} is {_describe_kind(value)}; a text is allowed. Put it between quotation marks.",
            )
        if not value.strip() or len(value) > most:
            self.refuse(field, f"it has {len(value):,} letters; 1 to {most:,} are allowed. Change it.")
        return value.strip()

    def read_yes_or_no(self, field: str, *, usual: bool) -> bool:
        """A yes or no; ``usual`` where it is not given.

        Parameters
        ----------
        field : str
            Its name in the file.
        usual : bool
            Where it is not given.

        Returns
        -------
        bool
            What is said.
        """
        value = self.said.get(field)
        if value is None:
            return usual
        if not isinstance(value, bool):
            self.refuse(field, f"this is {_describe_kind(value)}; true or false is allowed. Write one of them.")
        return value

    def read_texts(self, field: str, *, least: int, most: int) -> tuple[str, ...]:
        """A list of different texts.

        Parameters
        ----------
        field : str
            Its name in the file.
        least : int
            The least that is allowed.
        most : int
            The most that is allowed.

        Returns
        -------
        tuple of str
            In their order.
        """
        value = self.said.get(field)
        if not isinstance(value, list) or not least <= len(value) <= most:
            self.refuse(
                field, f"this is {_describe_kind(value)}; a list of {least} to {most} texts is allowed. Write one."
            )
        texts = tuple(self._read_text(field, one, 200) for one in value)
        if len(set(texts)) < len(texts):
            self.refuse(field, "two of them are the same; different texts are allowed. Change one.")
        return texts

    def read_number(self, field: str, low: float, high: float, *, whole: bool = False) -> float | int:
        """A number within a range; what YAML takes for a text, such as 1e-6, is read too.

        Parameters
        ----------
        field : str
            Its name in the file.
        low : float
            The least that is allowed.
        high : float
            The most that is allowed.
        whole : bool
            Whether it has to be a whole number.

        Returns
        -------
        float or int
            Checked.
        """
        return self.check_number(field, self.said.get(field), low, high, whole=whole)

    def check_number(self, field: str, value: Any, low: float, high: float, *, whole: bool = False) -> float | int:
        """``value`` as a number of that field.

        Parameters
        ----------
        field : str
            Its name in the file.
        value : object
            What stands there.
        low : float
            The least that is allowed.
        high : float
            The most that is allowed.
        whole : bool
            Whether it has to be a whole number.

        Returns
        -------
        float or int
            Checked.
        """
        kind = "whole number" if whole else "number"
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                self.refuse(field, f"{format_value(value)} is no number; a {kind} is allowed. Write digits.")
        good = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
        if not good or (whole and value != int(value)):
            self.refuse(
                field, f"it is {format_value(value)}; a {kind} from {low:,g} to {high:,g} is allowed. Change it."
            )
        number: float | int = int(value) if whole else value
        return number

    def read_numbers(self, field: str, low: float, high: float, *, least: int, most: int) -> tuple[float, ...]:
        """A list of rising numbers within a range.

        Parameters
        ----------
        field : str
            Its name in the file.
        low : float
            The least that is allowed.
        high : float
            The most that is allowed.
        least : int
            The least that is allowed.
        most : int
            The most that is allowed.

        Returns
        -------
        tuple of float
            Rising.
        """
        value = self.said.get(field)
        if not isinstance(value, list) or not least <= len(value) <= most:
            self.refuse(
                field, f"this is {_describe_kind(value)}; a list of {least} to {most} numbers is allowed. Write one."
            )
        numbers = tuple(float(self.check_number(field, one, low, high)) for one in value)
        if any(later <= earlier for earlier, later in pairwise(numbers)):
            self.refuse(field, "they do not rise; different numbers from small to large are allowed. Sort them.")
        return numbers

    def read_choice(self, field: str, allowed: Sequence[str]) -> str:
        """One of a few words.

        Parameters
        ----------
        field : str
            Its name in the file.
        allowed : sequence of str
            Names that may be there.

        Returns
        -------
        str
            One of them.
        """
        value = self.said.get(field)
        if value not in allowed:
            self.refuse(field, f"{format_value(value)} is none of {_format_list(allowed)}. Choose one of them.")
        return str(value)

    def read_part(self, field: str, *, allowed: Sequence[str], needed: Sequence[str] = ()) -> Entry:
        """The fields of a part of this part; none where it is not given.

        Parameters
        ----------
        field : str
            Its name in the file.
        allowed : sequence of str
            Names that may be there.
        needed : sequence of str
            Names that have to be there.

        Returns
        -------
        Entry
            Its fields.
        """
        said = self.said.get(field)
        return Entry.of(f"{self.place}, {field}", {} if said is None else said, allowed=allowed, needed=needed)


def _describe_kind(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "a yes or no (so YAML reads yes, no, on and off)"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return f"a list of {len(value)}"
        case dict():
            return "a group of fields"
        case _:
            return "something else, such as a date"


def _format_list(names: Sequence[str]) -> str:
    return ", ".join(names)
