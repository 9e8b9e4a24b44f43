"""The controls of a run: algorithm, ε, k, δ, parameters, what to expect of each; what runs it, and when.

On a public or simulated table a moved control runs by itself. On a private one only the button does: a run spends.
"""

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import streamlit as st

from dpviz.algorithms import CARDS, NOT_OURS, Card, Guarantee, Level, ParamField, round_up
from dpviz.app.ui.controls import bind_to_link, read_request
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.session import remember
from dpviz.app.ui.studies.judged_rows import find_known_rows
from dpviz.core import check
from dpviz.runs import Judgement, OpenTable, Request
from dpviz.words import glossary

_COLORS = {
    Level.GREEN: ("green", ":material/check_circle:"),
    Level.AMBER: ("yellow", ":material/error:"),
    Level.RED: ("red", ":material/cancel:"),
}


def foresee_outcome(request: Request, table: OpenTable) -> Judgement:
    """What is to be expected of a request, from public numbers; of a range of rows, at the fewest."""
    return Judgement.of_request(request, table.private, rows=find_known_rows(table))


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
    if judgement.needed_n >= check.MOST_RECORDS:
        return "No realistic number of records is enough at this k and ε."
    return f"Too few records at this k and ε: about {round_up(judgement.needed_n):,} are needed."


def format_warning(words: str) -> str:
    """Words of caution behind a red sign; the number 1e-6 stays in one piece."""
    # A browser may break a line behind any hyphen, but not before a word joiner.
    joined = re.sub(r"(?<=\de-)(?=\d)", "\u2060", escape_markdown(words))
    return f":red[:material/cancel:] {joined}"


_PROMISES = {Guarantee.PURE: "ε-DP", Guarantee.APPROX: "(ε, δ)-DP", Guarantee.NONE: "no privacy"}

THUMBNAILS = files("dpviz.app.ui") / "assets" / "thumbnails.json"
"""Of each algorithm what its steps are called, and a picture of one in both themes: ``sample_data.thumbnails``."""


@cache
def _read_thumbnails() -> Mapping[str, Any]:
    return dict(json.loads(THUMBNAILS.read_text(encoding="utf-8")))


def draw_catalogue(key: str, table: OpenTable | None) -> None:
    """All algorithms: what each shows, promises, would do with this table; a press sets the widget ``key`` to it."""
    for does, meaning, cards in CARDS.list_kinds():
        st.caption(f"**{escape_markdown(does)}**", help=escape_markdown(meaning))
        for card in cards:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                _draw_entry(card, key, None if table is None else foresee_outcome(read_request(card.id), table))
    for sentence in CARDS.brought.left_out:
        st.warning(escape_markdown(sentence), icon=":material/extension_off:")


def _draw_entry(card: Card, key: str, judgement: Judgement | None) -> None:
    drawn = _read_thumbnails().get(card.id)
    if drawn is not None:  # none of what a package brings
        svg = b64encode(drawn[st.context.theme.type or "light"].encode()).decode()
        said = f"A step of {card.title}: {escape_markdown(drawn['step'])}"
        st.markdown(f"![{said}](data:image/svg+xml;base64,{svg})", width=88)
    about = f"{card.summary}\n\n**When:** {card.when}\n\n{describe_needs(card)}"
    told = [*map(_PROMISES.__getitem__, card.guarantees), *(["local model"] if card.local else [])]
    shown = (" · ".join(words) for words in (told, drawn["shows"] if drawn else []))
    lines = [f":gray[:small[{escape_markdown(words)}]]" for words in shown if words]
    lines += [] if drawn else [f":red-badge[{NOT_OURS}]"]
    if judgement is not None:
        caution = summarize_judgement(judgement)
        lines += [format_light(judgement), f":small[{format_warning(caution)}]" if caution else ""]
    with st.container(gap=None):
        title = card.title if card.private else f"{card.title}, without privacy"
        look: dict[str, Any] = {"key": f"catalogue:{card.id}", "type": "tertiary", "help": about}
        st.button(escape_markdown(title), on_click=st.session_state.update, args=({key: card.id},), **look)
        st.markdown("  \n".join([line for line in lines if line]))


def describe_needs(card: Card) -> str:
    """What has to be declared or given for it, as a sentence."""
    if not card.private:
        return "Needs the owner's leave to look at the rows."
    pure, approximate = (kind in card.guarantees for kind in (Guarantee.PURE, Guarantee.APPROX))
    delta = ("" if not approximate else "; with a δ above 0 other noise is used") if pure else "; a δ above 0"
    n = " and the number of rows (public, or bought)" if card.needs_n else ""
    return f"Needs bounds of every column{n}{delta}." + (" Takes sparse tables." if card.sparse else "")


def draw_description(card: Card) -> None:
    """The story of the algorithm, its formula and its paper, and whose it is."""
    if card.brought_by:
        brings = f"{escape_markdown(card.brought_by)} brings it"
        by = f"{brings}: nobody here has proved what it does with rows. It is never released."
        st.badge(NOT_OURS, color="red", help=by)
    st.markdown(card.story)
    if card.formula:
        st.latex(card.formula)
    st.caption(f"{describe_needs(card)} Paper: {card.paper}")


_FEW_CHOICES = 4
_BY_RULE = "by rule"


def draw_params_form(card: Card) -> dict[str, Any]:
    """One widget for each parameter of ``card``; what is left to a rule, or at its default, is left out of the result.

    The values are kept for the visit, and ``request`` finds them again on any page.
    """
    param_fields = card.params.param_fields()
    if not param_fields:
        st.caption("This algorithm has no parameters of its own.")
    chosen = [(one, _draw_widget(f"{card.id}.{one.name}", one)) for one in param_fields]
    return remember(f"params:{card.id}", {one.name: value for one, value in chosen if value != one.default})


def format_param_label(name: str) -> str:
    """A parameter's name as a label."""
    words = name.replace("_", " ").strip()
    return escape_markdown(words[:1].upper() + words[1:])


def _draw_widget(key: str, param_field: ParamField) -> Any:
    # What it does, after the word of the glossary that it is named after, if it is.
    label = format_param_label(param_field.name)
    about = param_field.help if (term := glossary.find_term(label)) is None else f"{term.first} {param_field.help}"
    bound: dict[str, Any] = {"key": key, "help": about, "bind": "query-params"}
    if param_field.kind is not bool and param_field.choices is None:
        return _draw_number(key, param_field, label, about)
    if param_field.kind is bool and not param_field.optional:
        return st.toggle(label, value=bool(param_field.default), **bound)
    given = {one: one for one in param_field.choices} if param_field.choices else {"yes": True, "no": False}
    answers: dict[str, Any] = ({_BY_RULE: None} if param_field.optional else {}) | given
    first = next(name for name, value in answers.items() if value == param_field.default)
    if len(answers) <= _FEW_CHOICES:
        picked = st.segmented_control(label, list(answers), default=first, required=True, **bound)
    else:
        picked = st.selectbox(label, list(answers), index=list(answers).index(first), **bound)
    return answers[picked or first]


def _draw_number(key: str, param_field: ParamField, label: str, about: str) -> float | int | None:
    number = int if param_field.kind is int else float
    bounds = {"min_value": param_field.low, "max_value": param_field.high, "value": param_field.default}
    typed: dict[str, Any] = {name: None if bound is None else number(bound) for name, bound in bounds.items()}
    # A hundredth of a narrow range, else a tenth of the default's size.
    narrow = param_field.low is not None and param_field.high is not None and param_field.high - param_field.low <= 1
    step = 0.01 if narrow else max(0.01, float(f"{abs(param_field.default or 1.0) / 10:.0e}"))
    value: float | int | None = st.number_input(
        label,
        **typed,
        step=1 if number is int else step,
        format="%d" if number is int else "%g",
        placeholder=_BY_RULE if param_field.optional else None,
        key=key,
        help=f"{about} Allowed: {param_field.range_text}." if param_field.range_text else about,
        **bind_to_link(key),
    )
    return value
