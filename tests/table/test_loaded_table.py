"""Who is whom follows from the cell alone."""

from __future__ import annotations

import pandas as pd
import pytest

from dpviz.table.loaded_table import canonical_ids


@pytest.mark.parametrize("others", [[], ["anna"]])
def test_what_a_cell_is_called_depends_on_that_cell_only(others: list[str]) -> None:
    cells = pd.Series(["007", "7", " 7 ", "7.0", "0", *others], dtype="str")
    assert canonical_ids(cells).tolist() == ["007", "7", "7", "7", "0", *others]
