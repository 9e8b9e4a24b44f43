"""Names of columns in a figure: its text knows tags, links and templates, and a name must be none of them."""

from __future__ import annotations

from html import escape

_MARKS = str.maketrans({"%": "&#37;", "{": "&#123;", "}": "&#125;", "$": "&#36;"})


def spelled(name: str) -> str:
    """``name`` for any text of a figure: read as it is, never as a tag, a template of a hover text or a formula.

    >>> spelled("<b>%{x}</b>")
    '&lt;b&gt;&#37;&#123;x&#125;&lt;/b&gt;'
    """
    return escape(" ".join(name.split()), quote=False).translate(_MARKS)
