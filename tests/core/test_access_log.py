"""What this process saw: for the table that it names, for all where it names none."""

from __future__ import annotations

from dpviz.core.private_session import AccessKind, AccessLog, AccessTotals


def test_what_names_no_table_counts_for_each_and_what_names_one_for_it_alone() -> None:
    log = AccessLog()
    for source in ("mine", "other", ""):
        log.add_look(source, AccessKind.LOSS)
        log.add_study(source)
        log.add_run(source, 0.25)
        log.add_grid_read(source)
    log.add_look("mine", AccessKind.ROWS)
    log.add_run("other", 4.0)
    log.add_study("other")
    log.add_grid_read("mine")
    seen = log.count("mine")
    assert seen == AccessTotals({AccessKind.ROWS: 1, AccessKind.LOSS: 2}, 2, 2, 0.5, 3)
    assert [*seen.looks] == [AccessKind.ROWS, AccessKind.LOSS], "in the order of the kinds, not of the visit"
    assert log.count("a third one") == AccessTotals({AccessKind.LOSS: 1}, 1, 1, 0.25, 1)
    log.clear()
    assert log.count("mine") == AccessTotals({}, 0, 0, 0, 0)


def test_looks_are_told_in_one_order_and_a_proposal_is_one() -> None:
    looks = {AccessKind.LOSS: 2, AccessKind.REFERENCE: 0, AccessKind.ROWS: 1}
    assert [*AccessKind.tabulate(looks, proposed=True).items()] == [("rows", 1), ("loss", 2), ("proposal", 1)]
    assert AccessKind.tabulate({}, proposed=False) == {}
