"""Names on a page: text from a file, a link or an error reaches Markdown through this door, and stays text."""

import re

# Invisible, and no letter: it keeps apart what the page's Markdown would join into a link, a sign or an icon after
# backslashes have been read.
_JOINER = "\N{WORD JOINER}"
# Control characters, and those that turn the direction of what follows them.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
# One underscore inside a word is no sign: a machine that reads a label aloud would read its backslash.
_SIGNS = re.compile(r"[\\`*\[\]{}|~$]|(?<![^\W_])_|_(?![^\W_])|[<&:](?=\S|$)|!(?=\[|$)")
# What begins a heading, a list, a quotation or a rule at the start of a line.
_BEGINS = re.compile(r"^(?:([-+=>#])|(\d+)([.)])(?=\s|$))")
# What Markdown could read as a sign, wherever it stands.
_MARKS = re.compile(r"[\\`*_\[\]{}|~$<>&:!#@]+")
# What could fetch, link or draw even in a label that nobody sees: a pair of signs, or one that needs no other.
_POWERFUL = re.compile(
    r"!\[|\][(\[:]|[<>\\`~|&@{}]|:\S|www\.|\$.*\$|\*.*\*|(?<![^\W_])_|_(?![^\W_])|--|==|^[-+=#]|^\d+[.)]", re.IGNORECASE
)
# At the beginning, a number with one of these would be the first entry of a list.
_COUNTED = re.compile(r"^(\s*\d+)[.)]+")
_JOINED = re.compile(r"(?<=:)(?=\S)|(?<=\])(?=[(\[\\])|(?=@)|(?<=[wW]{3})(?=\.)|(?<=[-<>=~])(?=\\?[-<>=~])")


def escape_markdown(name: object) -> str:
    """``name`` as it reads, on one line of Markdown, without the power to format, link, draw or fetch."""
    escaped = _SIGNS.sub(r"\\\g<0>", _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", " ".join(str(name).split())))
    begun = _BEGINS.sub(lambda sign: f"\\{sign[1]}" if sign[1] else f"{sign[2]}\\{sign[3]}", escaped)
    return _JOINED.sub(_JOINER, begun)


def strip_markdown(name: object) -> str:
    """``name`` for a label that is heard and not seen: as it is, or with blanks for signs where one has power."""
    line = _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", " ".join(str(name).split()))
    if not _POWERFUL.search(line):
        return line
    return escape_markdown(_COUNTED.sub(r"\1 ", _MARKS.sub(" ", str(name))))
