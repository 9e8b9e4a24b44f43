"""The owner's path: what is done, what is missing, what comes next, for whatever a visit has in hand."""

from __future__ import annotations

from dpviz.tables.declarations import FileKind
from tests.pages.site import everything_shown, fine, sample_table, upload, visit

CSV = b"a,b\n" + b"\n".join(b"%d,%d" % (row, row % 7) for row in range(40))


def path(at) -> list[str]:
    """The labels of the path; on Home it is a guide, whose stops are numbered, among other links."""
    labels = [link.proto.label for link in at.get("page_link")]
    numbered = [label.split(". ", 1)[1] for label in labels if label[:2] in ("1.", "2.", "3.", "4.")]
    return numbered or [label.removeprefix(":gray[›] ") for label in labels]


def test_without_a_table_the_data_come_next_and_every_stop_leads_to_its_page():
    at = visit()
    assert path(at) == ["**Data: next**", "Bounds", "Choose ε", "Release"]
    stops = [link for link in at.get("page_link") if link.proto.label[:2] in ("1.", "2.", "3.", "4.")]
    pages = [link.proto.page for link in stops]
    assert [page.split("/")[-1] for page in pages] == ["data", "data", "tradeoff", "release"]


def test_a_file_that_waits_has_data_and_no_bounds():
    at = upload(visit("data.py"), CSV)
    fine(at.switch_page("home.py").run())
    assert path(at)[:3] == [":green[✓] Data", ":red[**Bounds: missing**]", "Choose ε"]


def test_with_a_table_epsilon_comes_next_and_is_done_after_a_run():
    at = visit(table=sample_table("outlier", FileKind.PRIVATE))
    at.session_state["algorithm"] = "dplloyd"
    assert path(at)[:3] == [":green[✓] Data", ":green[✓] Bounds", "**Choose ε: next**"]
    fine(at.switch_page("tradeoff.py").run())
    fine(at.switch_page("home.py").run())
    assert path(at)[2] == "**Choose ε: next**", "a visit of a page decides nothing"
    fine(at.switch_page("explore.py").run())
    fine(at.button(key="run").click().run())
    assert "this visit 1 so far" in everything_shown(at), "a number that lags behind the press"
    fine(at.switch_page("home.py").run())
    assert path(at) == [":green[✓] Data", ":green[✓] Bounds", ":green[✓] Choose ε", "**Release: next**"]
    assert "ε = 1 is chosen" in everything_shown(at) and "simulation" in everything_shown(at)


def test_the_epsilon_that_is_handed_on_is_a_decision():
    at = visit("tradeoff.py", table=sample_table())
    assert path(at)[2].endswith("next**")
    fine(at.button(key="tradeoff:take").click().run())
    fine(at.switch_page("tradeoff.py").run())
    assert path(at)[2] == ":green[✓] Choose ε"


def test_it_opens_the_pages_of_an_owner():
    for page in ("home.py", "data.py", "tradeoff.py", "ledger.py", "release.py"):
        words = path(visit(page))
        assert all(word in said for word, said in zip(("Data", "Bounds", "Choose ε", "Release"), words, strict=True)), (
            page
        )
