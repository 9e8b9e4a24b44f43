"""Small multiples of segments: released bars, sizes with their noise, nothing of a segment that is too small to say."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.app.charts.result_charts import draw_segments
from dpviz.words.theme import choose_palette
from tests.app.charts.laws import is_sound, shows_kinds
from tests.releases.segment_tables import KINDS, described, described_mixed, middles, mixed_frame, report_of, rows_of


def _report(epsilon: float):
    return report_of(described(rows_of(3000), units={"height": "m"}), epsilon=epsilon).to_dict()


def test_a_row_of_panels_for_each_segment():
    colors, panels = choose_palette("dark"), draw_segments(_report(20.0), ("Westerners", "", ""))
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


def test_amounts_on_a_log_scale_stand_where_their_logarithms_do_and_few_labels_below_them():
    said = {**KINDS, "pay": {"bounds": [1, 1_000_000], "scale": "log"}, "age": {"bounds": [-100, 100], "scale": "root"}}
    table = described_mixed(mixed_frame(3000), bounds=said)
    report = report_of(table, middles(table.description), epsilon=200.0).to_dict()
    for segment in report["segments"]:
        segment["telling"] = ["pay", "age", "hour"]
    figure = draw_segments(report).draw(choose_palette("light")).headed(choose_palette("light"))
    is_sound(figure)
    pay, age, hour = (figure.layout[name] for name in ("xaxis", "xaxis2", "xaxis3"))
    assert pay.range == pytest.approx((0, np.log(1e6))) and list(pay.ticktext) == ["1", "1,000", "1M"]
    assert age.range == pytest.approx((-10, 10)) and list(age.ticktext) == ["−100", "0", "100"]
    assert list(hour.ticktext) == ["0 to 3", "6 to 9", "12 to 15", "18 to 21"]
    bars = figure.data[0]
    assert bars.x[np.argmax(bars.y)] == pytest.approx(np.log(300), abs=0.5) and (np.array(bars.width) > 0.01).all()


def test_a_column_that_drowns_has_no_bars():
    table = described_mixed(
        mixed_frame(900), bounds={**KINDS, "region": {"categories": [*"NS", *map(str, range(400))]}}
    )
    report = report_of(table, middles(table.description), epsilon=4.0).to_dict()
    for segment in report["segments"]:
        segment["telling"] = []
    figure = draw_segments(report).draw(choose_palette("light")).headed(choose_palette("light"))
    assert not any("region" in note.text for note in figure.layout.annotations)


def test_what_is_too_small_has_no_bars_but_a_size():
    panels = draw_segments(_report(0.002))
    figure = panels.draw(choose_palette("light")).headed(choose_palette("light"))
    assert not figure.data and not (figure.layout.xaxis.visible or figure.layout.yaxis.visible)
    whole = draw_segments(_report(20.0)).draw(choose_palette("light")).headed(choose_palette("light"))
    assert figure.layout.height < whole.layout.height
    assert "too small to say" in panels.words


def test_words_and_numbers_say_the_same():
    report = _report(20.0)
    panels = draw_segments(report)
    assert panels.finding.startswith("Three segments, of 9")
    table = panels.table()
    assert set(table["column"]) == {"x", "y", "height", "region"}
    first = table[(table["segment"] == "Segment 1") & (table["column"] == "region")]
    np.testing.assert_array_equal(first["noisy count"], report["segments"][0]["columns"][3]["histogram"]["counts"])
    assert "Segment 1: 9" in panels.words
