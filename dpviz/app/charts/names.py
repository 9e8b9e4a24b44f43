"""Names of columns in a figure: its text knows tags, links and templates, and a name must be none of them."""

from __future__ import annotations

from html import escape


def spell_name(name: str) -> str:
    """``name`` for any text of a figure: read as it is, never as a tag, a template of a hover text or a formula.

    >>> spell_name("<b>%{x}</b>")
    '&lt;b&gt;&#37;{x}&lt;/b&gt;'
    """
    return escape(" ".join(name.split()), quote=False).replace("%{", "&#37;{").replace("$", "&#36;")
