"""What people ask about a release: eight questions, answered in ``questions.yaml`` once, and read from here."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

_FILE = Path(__file__).with_name("questions.yaml")


@dataclass(frozen=True)
class CommonQuestion:
    """A question, its answer, and whose guidance that is; ``numbers`` in it are worked out from formulas."""

    id: str
    asks: str
    says: str
    source: str
    numbers: dict[str, str] = field(default_factory=dict)


@cache
def read_questions() -> tuple[CommonQuestion, ...]:
    """All of them, in their order."""
    said: dict[str, dict[str, Any]] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return tuple(CommonQuestion(key, **one) for key, one in said.items())
