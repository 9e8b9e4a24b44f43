"""The owner's path: what is done, what is missing, what comes next, for whatever a visit has in hand."""

from __future__ import annotations

from dpviz.table.declaration import FileKind
from tests.pages.site import fine, sample_table, upload, visit

CSV = b"a,b\n" + b"\n".join(b"%d,%d" % (row, row % 7) for row in range(40))


def stops(at) -> list:
    """The links of the path, which stand before all others of a page."""
    return list(at.get("page_link"))[:4]


def path(at) -> list[str]:
    return [stop.proto.label.removeprefix(":gray[›] ") for stop in stops(at)]


def test_without_a_table_the_data_come_next_and_every_stop_leads_to_its_page():
    at = visit()
    assert path(at) == ["**Data: next**", "Bounds", "Choose ε", "Release"]
    pages = [stop.proto.page for stop in stops(at)]
    assert [page.split("/")[-1] for page in pages] == ["data", "data", "tradeoff", "release"]


def test_a_file_that_waits_has_data_and_no_bounds():
    at = upload(visit("data.py"), CSV)
    fine(at.switch_page("home.py").run())
    assert path(at)[:3] == [":green[✓] Data", ":red[**Bounds: missing**]", "Choose ε"]


def test_with_a_table_epsilon_comes_next_and_is_done_after_a_run():
    at = visit(table=sample_table("outlier", FileKind.PRIVATE))
    at.session_state["algorithm"] = "dplloyd"
    assert path(at)[:3] == [":green[✓] Data", ":green[✓] Bounds", "**Choose ε: next**"]
    fine(at.switch_page("explore.py").run())
    fine(at.button(key="run").click().run())
    fine(at.switch_page("home.py").run())
    assert path(at)[2] == "**Choose ε: next**", "what each ε buys has not been seen yet"
    fine(at.switch_page("tradeoff.py").run())
    fine(at.switch_page("home.py").run())
    assert path(at) == [":green[✓] Data", ":green[✓] Bounds", ":green[✓] Choose ε", "**Release: next**"]
    said = [stop.proto.help for stop in stops(at)]
    assert "ε = 1" in said[2] and "simulation" in said[3]


def test_it_opens_the_pages_of_an_owner():
    for page in ("home.py", "data.py", "tradeoff.py", "ledger.py", "release.py"):
        words = path(visit(page))
        assert all(word in said for word, said in zip(("Data", "Bounds", "Choose ε", "Release"), words, strict=True)), (
            page
        )
