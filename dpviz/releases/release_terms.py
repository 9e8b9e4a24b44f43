"""Terms of a release, from ``release_terms.toml``: of its questions, and of standards that catalogue what it holds."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TERMS: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("release_terms.toml").read_text(encoding="utf-8"))
