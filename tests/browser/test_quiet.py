"""The numbers by which the browser tells what a page asks and hears are those of the page library's protocol."""

from __future__ import annotations

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.pictures import NAMES
from tests.browser.quiet import NUMBERS
from tests.browser.server import ROOT


def test_fields_are_those_of_the_page_library() -> None:
    asks, hears = BackMsg.DESCRIPTOR.fields_by_name, ForwardMsg.DESCRIPTOR.fields_by_name
    asked = asks["rerun_script"].message_type.fields_by_name
    run = hears["metadata"].message_type.fields_by_name["run"]
    assert {
        "RERUN_SCRIPT": asks["rerun_script"].number,
        "FRAGMENT_ID": asked["fragment_id"].number,
        "IS_AUTO_RERUN": asked["is_auto_rerun"].number,
        "METADATA": hears["metadata"].number,
        "RUN": run.number,
        "FRAGMENT_IDS": run.message_type.fields_by_name["fragment_ids"].number,
        "NEW_SESSION": hears["new_session"].number,
        "SCRIPT_FINISHED": hears["script_finished"].number,
        "EARLY_FOR_RERUN": ForwardMsg.FINISHED_EARLY_FOR_RERUN,
    } == NUMBERS


def test_every_picture_in_docs_can_be_taken_again() -> None:
    assert {path.stem for path in (ROOT / "docs").glob("*.png")} == set(NAMES)
