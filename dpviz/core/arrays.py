"""The kinds of arrays that the whole package speaks of."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]
Short = npt.NDArray[np.float32]
