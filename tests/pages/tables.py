"""Small open tables for page tests, and the app with one of them open."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from streamlit.testing.v1 import AppTest

from dpviz.table.loaded_table import numeric_table
from dpviz.ui.declaration import Declaration, FileKind, OpenTable, declare
from tests.contract.tables import blobs

ROUTER = Path(__file__).resolve().parents[2] / "pages" / "_router.py"


def open_blobs(kind: FileKind = FileKind.PUBLIC, *, n: int = 400, dim: int = 2, labelled: bool = False) -> OpenTable:
    """``n`` rows around three centres, with declared bounds and n."""
    values = blobs(n, dim)
    names = [f"x{j}" for j in range(dim)]
    if labelled:
        values, names = np.column_stack([values, values[:, 0] > 0]), [*names, "label"]
    declaration = Declaration(
        columns=tuple(f"x{j}" for j in range(dim)),
        lower=(-1.0,) * dim,
        upper=(1.0,) * dim,
        n_public=n,
        kind=kind,
        label_column="label" if labelled else None,
        title="blobs",
    )
    return declare(numeric_table(values, names, name="blobs"), declaration)


def app_on(page: str, table: OpenTable | None, **link: str) -> AppTest:
    """The app on ``page`` with ``table`` open, as a ``link`` with these settings opens it; fails if the page raised."""
    app = AppTest.from_file(str(ROUTER), default_timeout=60)
    if table is not None:
        app.session_state["visit:table"] = table
    app.run().switch_page(page)
    for name, value in link.items():
        app.query_params[name] = value
    return sound(app.run())


def sound(app: AppTest) -> AppTest:
    """``app``, if it showed no exception."""
    assert not app.exception, [error.message for error in app.exception]
    return app


def text_of(app: AppTest) -> str:
    """All words on the page that are not widgets."""
    return "\n".join(part.value for part in (*app.markdown, *app.caption, *app.info, *app.error, *app.warning))
