"""What is open, in words: lines for summaries, and to stand beside every ε."""

from collections.abc import Sequence
from typing import Any

from dpviz.app.ui.escape import escape_markdown
from dpviz.runs import OpenTable
from dpviz.tables import file_format

RELATION_WORDS = {"add_remove": "added or removed", "replace": "replaced by another"}
DELIMITER_WORDS = {**file_format.DELIMITERS, file_format.WHITESPACE: "blanks or tabs"}
_MOST_COLUMNS, _MOST_NOTES, _MOST_LETTERS = 6, 12, 80
_VALUES = {"categories": "categories", "order": "ranks", "dates": "dates"}


def format_bullets(notes: Sequence[str]) -> str:
    """The first few notes as a list in Markdown, and how many more there are."""
    rest = len(notes) - _MOST_NOTES
    lines = [*map(escape_markdown, notes[:_MOST_NOTES]), *([f"and {rest} more notes"] if rest > 0 else [])]
    return "\n".join(f"- {line}" for line in lines)


def describe_unit(table: OpenTable) -> str:
    """Unit of privacy and neighbouring relation, to stand beside every ε."""
    return f"{escape_markdown(table.private.unit)}, {RELATION_WORDS[table.private.relation.value]}"


def describe_delimiter(delimiter: str) -> str:
    """What stands between two fields, in a word where there is one."""
    return DELIMITER_WORDS.get(delimiter, delimiter)


def describe_columns(names: tuple[str, ...], most: int = _MOST_COLUMNS) -> str:
    """How many columns, and the names of the first few, as Markdown."""
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{len(names)} column{'' if len(names) == 1 else 's'}: {', '.join(map(escape_markdown, names[:most]))}{rest}"


def describe_coding(said: Any) -> str:
    """A coding in words.

    >>> [describe_coding(said) for said in ({"categories": ["N", "S"]}, {"cycle": 24.0}, {"order": ["I", "II"]})]
    ['categories N, S', 'a cycle of 24', 'ranks I, II']
    """
    if not isinstance(said, dict):
        return "numbers"
    if "scale" in said:
        return f"{said['scale']} scale"
    if "cycle" in said:
        return f"a cycle of {said['cycle']:g}"
    word, values = next((word, said[key]) for key, word in _VALUES.items() if key in said)
    told = f"{word} {', '.join(values)}"
    return told if len(told) <= _MOST_LETTERS else f"{told[: _MOST_LETTERS - 1]}…"
