"""Pictures that are taken by a browser."""

from benchmarks.pictures import NAMES
from tests.browser.server import ROOT


def test_every_picture_in_docs_can_be_taken_again() -> None:
    assert {path.stem for path in (ROOT / "docs").glob("*.png")} == set(NAMES)
