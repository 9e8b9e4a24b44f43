"""The settings every page shares: ε, δ, k. Links carry them; they carry no data and no seed."""

from math import isfinite
from typing import Any, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.algorithms import AUTO, CARDS
from dpviz.app.ui.addresses import MEANING
from dpviz.app.ui.bench.hand import HIGHEST_DELTA, MOST_CLUSTERS
from dpviz.app.ui.session import choose, find_table, know_clusters, read_setting, recall, remember
from dpviz.core import check
from dpviz.runs import Contender, Division, Request, Target
from dpviz.words import glossary

# What anybody asks a page for; ``check`` allows more, and so does the command line.
LOWEST_EPSILON, HIGHEST_EPSILON, USUAL_EPSILON = 0.01, 35.0, 1.0
USUAL_CLUSTERS = 5
SHARES = (0.5, Target().share, 0.9)
"""Of draws, in which a loss that is accepted may be asked for."""

_UNTIED, _SLIDER = "link:untied", "epsilon:slider"
_RANGES = {"epsilon": (LOWEST_EPSILON, HIGHEST_EPSILON), "delta": (0.0, HIGHEST_DELTA), "k": (1, MOST_CLUSTERS)}

ROUND_EPSILONS = (
    *(0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.2, 0.3, 0.5, 0.7),
    *(1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 25.0, 35.0),
)


def read_request(algorithm: str | None = None) -> Request:
    """The shared settings as they stand, for the chosen algorithm or another one; every number is checked again."""
    chosen = algorithm or read_setting("algorithm", AUTO)
    # Of a typed or linked ε as many digits as are told everywhere.
    k, epsilon = int(read_setting("k", USUAL_CLUSTERS)), float(f"{read_setting('epsilon', USUAL_EPSILON):g}")
    delta = float(read_setting("delta", choose_default_delta()))
    return Request(Contender(chosen, recall(f"params:{chosen}", {})), k, epsilon, delta)


SEGMENTS, BOUNDS, MISSING = "release:share", "release:bounds", "release:missing"
"""What the sliders of a release are kept as, in percent of its ε."""


def recall_division(*, public: bool = False) -> Division:
    """How a release of this visit divides its ε; of ``public`` rows nothing is bought that describes segments."""
    usual = Division(segments=0.0) if public else Division()
    parts = {SEGMENTS: usual.segments, BOUNDS: usual.bounds, MISSING: usual.missing}
    return Division(*(recall(key, round(100 * part)) / 100 for key, part in parts.items()))


def draw_epsilon_control(*, beside: bool = False) -> tuple[float, DeltaGenerator]:
    """ε as a slider over round values, 0.01 to 35 on a log scale, and an exact box, kept in step.

    The box stands below the slider, with room for a button, which is returned, and the way to the page that says what ε
    means; on that page it stands ``beside`` the slider.
    """
    if beside:
        slider_place, box_place = st.columns([3, 1], vertical_alignment="bottom", gap="small")
        button_place = box_place
    else:
        slider_place = st.container()
        box_place, button_place = st.columns([1, 2], vertical_alignment="bottom", gap="small")
    # The box is drawn first: it is what a link sets, and the slider follows it.
    epsilon = float(_draw_box(box_place, "epsilon", "exact ε", USUAL_EPSILON, step=0.01, format="%g"))
    st.session_state[_SLIDER] = epsilon
    offered, help = sorted({*ROUND_EPSILONS, epsilon}), glossary.explain_term("epsilon")
    look: dict[str, Any] = {"key": _SLIDER, "help": f"{help}\n\n{glossary.explain_words('budget')}"}
    look |= {"format_func": lambda value: f"{value:g}", "on_change": _follow_slider}
    slider_place.select_slider("ε, the privacy budget", offered, **look)
    if not beside:
        st.page_link(MEANING, label="What ε means", icon=":material/balance:")
    return epsilon, button_place


def choose_epsilon(value: float) -> None:
    """Set ε from anywhere but its own two widgets; call it from a callback."""
    choose("epsilon", min(HIGHEST_EPSILON, max(LOWEST_EPSILON, float(value))))


def draw_delta_control() -> float:
    """δ as an exact box; at first min(1e-6, 1/(10 n)) where n is public."""
    usual = choose_default_delta()
    help = glossary.explain_term("delta", f"Usual here: 10⁻⁶, or 1/(10 n) where that is less: {usual:g}.")
    return float(_draw_box(st, "delta", "δ, slack", usual, step=1e-7, format="%.1e", help=help))


def draw_k_control() -> int:
    """k, the number of clusters."""
    return int(_draw_box(st, "k", "k, clusters", USUAL_CLUSTERS, step=1, help=glossary.explain_term("cluster")))


def draw_k_and_delta() -> tuple[int, float]:
    """k, the number of clusters, and the slack δ side by side."""
    left, right = st.columns(2, vertical_alignment="bottom", gap="small")
    with left:
        k = draw_k_control()
    with right:
        delta = draw_delta_control()
    return k, delta


def remember_link() -> None:
    """Keep what a link asks for while no table is open: opening one changes the page, which drops the link."""
    if find_table() is not None:
        return
    for key, (low, high) in _RANGES.items():
        linked = _read_number(st.query_params.get(key))
        if linked is not None and low <= linked <= high:
            st.session_state[f"link:{key}"] = remember(key, int(linked) if key == "k" else linked)
    named = st.query_params.get("algorithm")
    if any(named in (card.id, card.title) for card in CARDS.values()):
        remember("algorithm", str(named))


def suggest_k(k: int) -> None:
    """Set k for a table publicly known to hold so many clusters, unless a link asked for another; call it before any
    control is drawn."""
    know_clusters(k)
    choose("k", st.session_state.pop("link:k", k))


def suggest_delta() -> None:
    """Set δ to the usual one for the open table, or to what a link asked for; call it before any control is drawn."""
    choose("delta", st.session_state.pop("link:delta", choose_default_delta()))


def choose_default_delta() -> float:
    """min(1e-6, 1/(10 n)) for a public n, of a range its largest, else 1e-6; at most two digits."""
    table = find_table()
    if table is None:
        return check.choose_usual_delta(None)
    _, most = table.declaration.n_range or (None, None)
    return check.choose_usual_delta(most if table.n_public is None else table.n_public)


def _follow_slider() -> None:
    # A move may arrive when another page, or a new session after a restart, has dropped the slider's value.
    if _SLIDER in st.session_state:
        st.session_state["epsilon"] = st.session_state[_SLIDER]


def _draw_box(place: Any, key: str, label: str, usual: float, **look: Any) -> float:
    """A box for a shared number. At first it holds the link's if that is allowed, else what this visit remembers."""
    low, high = _RANGES[key]
    linked = _read_number(st.query_params.get(key))
    if key in st.session_state:
        # Set anew: a widget of this name on another page does not hand its value on by itself.
        st.session_state[key] = st.session_state[key]
    elif linked is None or not low <= linked <= high:
        st.session_state[key] = recall(key, usual)
    value: float = place.number_input(label, low, high, key=key, **bind_to_link(key), **look)
    return remember(key, value)


def bind_to_link(key: str) -> dict[str, Any]:
    """What ties the box of a number to the link; nothing where the link holds what no such box can read.

    Streamlit falls over an infinite number for a box of whole ones, in every run of a visit that came with it.
    """
    untied = cast("set[str]", st.session_state.setdefault(_UNTIED, set()))
    linked = _read_number(st.query_params.get(key))
    if linked is not None and not isfinite(linked):
        untied.add(key)
        del st.query_params[key]
    return {} if key in untied else {"bind": "query-params"}


def _read_number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
