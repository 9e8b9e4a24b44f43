"""Small multiples of segments: released bars, sizes with their noise, nothing of a segment that is too small to say."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.charts.segment_panels import SegmentPanels
from dpviz.charts.theme import choose_palette
from tests.charts.laws import is_sound, shows_kinds
from tests.releases.segment_tables import described, report_of, rows_of


def _report(epsilon: float):
    return report_of(described(rows_of(3000), units={"height": "m"}), epsilon=epsilon).to_dict()


def test_a_row_of_panels_for_each_segment():
    colors, panels = choose_palette("dark"), SegmentPanels(_report(20.0), ("Westerners", "", ""))
    figure = panels.draw(colors).headed(colors)
    is_sound(figure)
    shows_kinds(figure, colors, {"released"})
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert len(bars) == 9
    areas = [np.sum(trace.y * trace.width / np.mean(trace.width)) for trace in bars]
    assert areas == pytest.approx(np.ones(9), abs=0.05)
    notes = " ".join(note.text for note in figure.layout.annotations)
    assert "Westerners" in notes and "Segment 2" in notes and ", m<br>" in notes and "±" in notes
    domains = [(axis.domain, figure.layout[f"yaxis{axis.anchor[1:]}"].domain) for axis in figure.select_xaxes()]
    assert len({(across[0], up[0]) for across, up in domains}) == 9


def test_what_is_too_small_has_no_bars_but_a_size():
    panels = SegmentPanels(_report(0.002))
    figure = panels.draw(choose_palette("light")).headed(choose_palette("light"))
    assert not figure.data
    assert "too small to say" in panels.words()


def test_words_and_numbers_say_the_same():
    report = _report(20.0)
    panels = SegmentPanels(report)
    assert panels.finding.startswith("Three segments, of about 9")
    table = panels.table()
    assert set(table["column"]) == {"x", "y", "height", "region"}
    first = table[(table["segment"] == "Segment 1") & (table["column"] == "region")]
    np.testing.assert_array_equal(first["noisy count"], report["segments"][0]["columns"][3]["histogram"]["counts"])
    assert "Segment 1: about" in panels.words()
