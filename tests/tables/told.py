"""Cases that lie in a text file beside the tests: what comes in, and what is made of it, once found to be right."""

from collections.abc import Callable
from pathlib import Path

from tests.stored import compare_texts


def compare_cases(name: str, tell: Callable[[str], str]) -> None:
    """Each head of the file ``name`` in ``stored`` is a case; below it stands what ``tell`` makes of it."""
    path = Path(__file__).with_name("stored") / name
    lines = path.read_text("utf-8").split("\n")
    cases = [line.removeprefix("=== ") for line in lines if line.startswith("=== ")]
    compare_texts(path, [(case, tell(case)) for case in cases])
