"""What an algorithm would do with the open table, said before it runs: refuse, fail, or serve; in words and a light."""

from __future__ import annotations

import re
from collections.abc import Callable

from dpviz.algorithms.card import Card
from dpviz.algorithms.regime import Level, round_up
from dpviz.charts.wording import number
from dpviz.runs.open_table import OpenTable
from dpviz.runs.request import Prospect, Request
from dpviz.ui.controls import request
from dpviz.ui.escape import plain

Foresee = Callable[[Card], Prospect]

_LIGHTS = {
    Level.GREEN: ("enough records", "green", ":material/check_circle:"),
    Level.AMBER: ("borderline", "yellow", ":material/error:"),
    Level.RED: ("too few records", "red", ":material/cancel:"),
}
# Above this no table is large enough.
_OUT_OF_REACH = 1e12


def foresight(table: OpenTable) -> Foresee:
    """What each card would do with ``table`` under the shared settings as they stand."""

    def foresee(card: Card) -> Prospect:
        return request(card.id).prospect(table.private)

    return foresee


def light(prospect: Prospect) -> str:
    """A badge for what to expect; "" where nothing can be told."""
    if prospect.refusal:
        return ":red-badge[:material/block: cannot run]"
    if prospect.regime is None:
        return ""
    words, color, icon = _LIGHTS[prospect.regime.level]
    return f":{color}-badge[{icon} {words}]"


def in_short(prospect: Prospect) -> str:
    """Why it should not be run, as short as can be; "" if there is no such reason."""
    if prospect.refusal or prospect.regime is None or not prospect.hopeless:
        return prospect.refusal
    if prospect.regime.short:
        return prospect.regime.short
    needed = prospect.regime.needed_n
    if needed >= _OUT_OF_REACH:
        return "No realistic number of records is enough at this k and ε."
    return f"Too few records at this k and ε: about {round_up(needed):,} are needed."


def warned(words: str) -> str:
    """Words of caution behind a red sign; the number 1e-6 stays in one piece."""
    return f":red[:material/cancel:] {_in_one_piece(plain(words))}"


def whole_sentence(prospect: Prospect, request: Request, table: OpenTable) -> str:
    """A light and what it means for this request, with the number of records that would do."""
    card = request.card
    if prospect.refusal:
        return f"{light(prospect)} {_in_one_piece(plain(prospect.refusal))}"
    if prospect.regime is not None:
        return f"{light(prospect)} {plain(prospect.regime.message)}"
    if not card.private:
        return ":orange-badge[:material/visibility: revealed] Its centres come from the rows themselves."
    if card.smallest_n is None:
        return ""
    setting = request.setting(table.private)
    needed = round_up(card.smallest_n(setting, request.contender.settings) * setting.rows_per_person)
    words = f"k = {setting.k:d}, d = {setting.dim:d}, ε = {setting.epsilon:g} needs about {number(needed)} records"
    return (
        f":gray-badge[:material/help: n is private] {words}, if clusters are of like size; three times as many are "
        "better. Whether there are as many, only you know."
    )


def _in_one_piece(words: str) -> str:
    """A browser may break a line behind any hyphen, but not before a word joiner."""
    return re.sub(r"(?<=\de-)(?=\d)", "\u2060", words)
