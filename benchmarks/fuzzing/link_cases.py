"""Links to pages: query parameters that no form would write, met by the pages themselves."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.fuzzing.case import Broken, Case, short
from benchmarks.fuzzing.hostile import NUMBER_TEXTS, TEXTS, happens, one, some
from benchmarks.fuzzing.secrets import Secrets
from dpviz.algorithms.registry import CARDS

_ROUTER = Path(__file__).resolve().parents[2] / "pages" / "_router.py"
_PAGES = ("home.py", "home.py", "home.py", "compare.py", "compare.py")
_KEYS = ("algorithm", "k", "epsilon", "delta", "seed", "study", "page", "sample", "table", "")
_SECONDS = 180


def link_case(rng: np.random.Generator) -> Case:
    """A page opened by a link, with or without a table: it may ignore what the link says, and never fails."""
    page = one(rng, _PAGES)
    card = one(rng, tuple(CARDS.values()))
    param_fields = tuple(f"{card.id}.{param_field.name}" for param_field in card.params.param_fields())
    query = {key: _value(rng) for key in some(rng, (*_KEYS, *param_fields), 4)}
    if happens(rng, 0.6):
        query["algorithm"] = card.id
    opened = happens(rng, 0.7)

    def do(folder: Path) -> str:
        from streamlit.testing.v1 import AppTest

        visit = AppTest.from_file(str(_ROUTER), default_timeout=_SECONDS)
        if opened:
            visit.session_state["visit:table"] = _sample()
        for key, value in query.items():
            visit.query_params[key] = value
        if page != "home.py":
            visit.switch_page(page)
        visit.run()
        if visit.exception:
            raise Broken(f"a traceback on the page: {visit.exception[0].proto.type}")
        return "\n".join(str(alert.value) for alert in (*visit.error, *visit.warning, *visit.info))

    about = f"{page}, {'with' if opened else 'without'} a table, {short(query, most=400)}"
    return Case("link", about, do, Secrets())


def _value(rng: np.random.Generator) -> str:
    text: str = one(rng, (*NUMBER_TEXTS, *TEXTS, *CARDS, "1", "3", "0.5", "1e-6"))
    return text.encode("utf-8", errors="replace").decode()[:2_000]


@cache
def _sample() -> object:
    from dpviz.runs.open_table import declare
    from dpviz.tables.named import sample

    opened = sample("fifteen").load()
    return declare(*opened)
