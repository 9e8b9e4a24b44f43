"""Templates filled with values: whatever is put into markup is escaped, and a value that is missing is an error."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # slow to import, and most processes write no page
    from jinja2 import Environment

_FOLDER = Path(__file__).parent


def render(template: str, /, **values: Any) -> str:
    """The text of a template.

    Parameters
    ----------
    template : str
        Its name in this folder.
    **values
        What it is filled with. Texts are escaped, also in attributes, but in a template of plain text; markup of our
        own has to be marked as such in the template, with ``safe``.

    Returns
    -------
    str
        The same values give the same text.
    """
    return _find_environment(markup=not template.endswith(".txt.j2")).get_template(template).render(**values)


@cache
def _find_environment(*, markup: bool) -> Environment:
    return make_environment(markup=markup)


def make_environment(*, markup: bool) -> Environment:
    """All templates, for filters that a room adds; into what is no ``markup`` values go as they are."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=markup,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
