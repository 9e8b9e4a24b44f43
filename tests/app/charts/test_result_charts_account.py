"""The bar of an account: what is drawn adds up, and a release beyond the cap is told in words, too."""

from __future__ import annotations

from dpviz.app.charts.result_charts import AccountBar
from dpviz.words.theme import choose_palette


def test_the_parts_lie_side_by_side_and_fill_the_cap():
    for theme in ("light", "dark"):
        figure = AccountBar(cap=2.0, before=0.5, this=1.0).draw(choose_palette(theme)).figure()
        ends = [(bar.base[0], bar.base[0] + bar.x[0]) for bar in figure.data]
        assert ends == [(0.0, 0.5), (0.5, 1.5), (1.5, 2.0)]
        assert figure.data[1].marker.color == choose_palette(theme).released
    empty = AccountBar(cap=2.0, before=0.0, this=0.5).draw(choose_palette("light")).figure()
    assert len(empty.data) == 2, "no part before"


def test_beyond_the_cap_it_has_another_colour_and_other_words():
    bar = AccountBar(cap=2.0, before=1.5, this=1.0)
    figure = bar.draw(choose_palette("light")).figure()
    assert not bar.fits and bar.left == 0.0 and "beyond the cap" in bar.words()
    assert figure.data[1].marker.color != choose_palette("light").released
    assert figure.layout.shapes[0].x0 == 2.0 and figure.layout.xaxis.range[1] >= 2.5


def test_the_last_bit_of_the_cap_may_be_spent():
    bar = AccountBar(cap=1.0, before=0.7, this=0.1 + 0.2)
    assert bar.fits and "beyond" not in bar.words()
