"""Papers: every claim with its verdict, and how it was computed."""

from dpviz.app.charts.studies import stored_verdicts
from dpviz.app.charts.studies.claim_figure import ClaimFigure
from dpviz.app.charts.studies.stored_verdicts import FOLDER, StoredVerdicts
from dpviz.app.ui import papers_panel
from experiments.registry import CLAIMS
from tests.pages.site import everything_shown, fine, visit


def test_all_claims_stand_there_with_their_verdicts_and_each_is_drawn_once_a_server_and_theme(monkeypatch):
    drawn, draw_claim = [], ClaimFigure.draw

    def draw(figure, palette, **how):
        drawn.append(palette)
        return draw_claim(figure, palette, **how)

    monkeypatch.setattr(ClaimFigure, "draw", draw)
    papers_panel._draw_figures.clear()
    at = visit("papers.py")
    first = [chart.proto.spec for chart in at.get("plotly_chart")]
    assert first == [chart.proto.spec for chart in visit("papers.py").get("plotly_chart")]
    assert len(drawn) == len(first) - 1 > 0  # the picture of all findings is no claim's
    shown, offered = everything_shown(at), str(at.selectbox(key="papers:claim").options)
    assert all(claim.id in offered or claim.paper in shown for claim in CLAIMS.values())
    verdicts = [result.verdict for result in stored_verdicts.read_verdicts().claims]
    assert at.subheader[0].value == papers_panel.format_headline(verdicts)
    assert "a quick run of dpviz 0.1.0" in shown and stored_verdicts.read_verdicts().rules[0][:60] in shown
    kinds = [node.type for node in at.main]
    assert kinds.index("plotly_chart") < kinds.index("selectbox"), "the picture of all findings comes first"
    assert "Holds in part: 4 of 5" in shown and "Undecided: 0 of 5" not in shown
    at.segmented_control(key="papers:source:su-epsilon").set_value("synthetic tables")
    assert "Undecided: 0 of 5" in everything_shown(fine(at.run())), "those of stand-ins have their own verdict"
    fine(at.selectbox(key="papers:claim").set_value("cohen-naive").run())
    assert "Error of the means against the number of samples" in everything_shown(at)


def test_without_results_the_page_says_how_to_make_them(monkeypatch):
    monkeypatch.setattr(stored_verdicts, "read_verdicts", lambda folder=FOLDER: StoredVerdicts())
    assert "python -m experiments" in everything_shown(visit("papers.py"))
