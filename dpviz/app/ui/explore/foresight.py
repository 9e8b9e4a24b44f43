"""What an algorithm would do with the open table, said before it runs: refuse, fail, or serve; in words and a light."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from dpviz.algorithms import Card, regime
from dpviz.app.ui.controls import read_request
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.studies.judged_rows import find_known_rows
from dpviz.runs import OUT_OF_REACH, Judgement, OpenTable, Request

Foresee = Callable[[Card], Judgement]

_COLORS = {
    regime.Level.GREEN: ("green", ":material/check_circle:"),
    regime.Level.AMBER: ("yellow", ":material/error:"),
    regime.Level.RED: ("red", ":material/cancel:"),
}


def foresee_outcome(request: Request, table: OpenTable, tried: Sequence[float] = ()) -> Judgement:
    """What is to be expected of a request, from public numbers and a dry run; of a range of rows, at the fewest.

    Parameters
    ----------
    request : Request
        What is asked.
    table : OpenTable
    tried : sequence of float
        Losses of a dry run over that of k-means++.

    Returns
    -------
    Judgement
        The same on every page.
    """
    known = find_known_rows(table)
    return Judgement.of_request(request, table.private, n=None if known is None else known.low, tried=tried)


def make_foresight(table: OpenTable) -> Foresee:
    """What each card would do with ``table`` under the shared settings as they stand."""

    def foresee(card: Card) -> Judgement:
        return foresee_outcome(read_request(card.id), table)

    return foresee


def format_light(judgement: Judgement) -> str:
    """A badge for what to expect; "" where nothing can be told."""
    if judgement.refusal:
        return ":red-badge[:material/block: cannot run]"
    if judgement.level is None:
        return ""
    color, icon = _COLORS[judgement.level]
    return f":{color}-badge[{icon} {escape_markdown(judgement.in_short)}]"


def summarize_judgement(judgement: Judgement) -> str:
    """Why it should not be run, as short as can be; "" if there is no such reason."""
    if judgement.refusal or not judgement.hopeless:
        return judgement.refusal
    if judgement.hides_categories:
        return "Its noise hides categories."
    if judgement.needed_n >= OUT_OF_REACH:
        return "No realistic number of records is enough at this k and ε."
    return f"Too few records at this k and ε: about {regime.round_up(judgement.needed_n):,} are needed."


def format_warning(words: str) -> str:
    """Words of caution behind a red sign; the number 1e-6 stays in one piece."""
    return f":red[:material/cancel:] {_join_number(escape_markdown(words))}"


def describe_judgement(judgement: Judgement, request: Request) -> str:
    """A light and what it means for this request, with the number of records that would do.

    Parameters
    ----------
    judgement : Judgement
        What is to be expected.
    request : Request
        What is asked.

    Returns
    -------
    str
        Markdown.
    """
    if judgement.refusal:
        return f"{format_light(judgement)} {_join_number(escape_markdown(judgement.refusal))}"
    if judgement.level is not None:
        return f"{format_light(judgement)} {escape_markdown(judgement.message)}"
    if not request.card.private:
        return ":orange-badge[:material/visibility: revealed] Its centres come from the rows themselves."
    if not judgement.message:
        return ""
    return f":gray-badge[:material/help: n is private] {escape_markdown(judgement.message)}"


def _join_number(words: str) -> str:
    """A browser may break a line behind any hyphen, but not before a word joiner."""
    return re.sub(r"(?<=\de-)(?=\d)", "\u2060", words)
