"""The type of columns of text: missing cells stay missing in it, in every version of pandas that is served."""

from __future__ import annotations

from typing import Any

import pandas as pd

# Before version 3 "str" made the text "nan" of a missing cell: rows of nobody would have been those of one person.
TEXT: Any = "str" if int(pd.__version__.partition(".")[0]) >= 3 else pd.StringDtype("pyarrow_numpy")
