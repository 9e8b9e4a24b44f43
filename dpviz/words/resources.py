"""Where the files lie that are no code: samples, lessons, results, pages."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parents[1]
RESOURCES = _HERE / "beside" if (_HERE / "beside").is_dir() else _HERE.parent
"""Holds app.py, pages/, sample_data/, lessons/, docs/reproduced/: in the package of a wheel, else the checkout."""


@cache
def read_toml(module: str, name: str) -> dict[str, Any]:
    """What the TOML file of that name beside a module says; read once, and nobody changes it.

    Parameters
    ----------
    module
        The ``__file__`` of the module.
    name
        The name of the file, with its ending.

    Returns
    -------
    Its keys and values.
    """
    return tomllib.loads(Path(module).with_name(name).read_text(encoding="utf-8"))
