"""Where the files lie that are no code: samples, lessons, results, pages."""

from pathlib import Path

_HERE = Path(__file__).resolve().parents[1]
RESOURCES = _HERE / "beside" if (_HERE / "beside").is_dir() else _HERE.parent
"""Holds app.py, pages/, sample_data/, lessons/, docs/reproduced/: in the package of a wheel, else the checkout."""
