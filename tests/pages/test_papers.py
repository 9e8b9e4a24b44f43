"""Papers: every claim with its verdict, and how it was computed."""

from __future__ import annotations

import pytest

import dpviz.ui.papers_panel as papers_panel
from dpviz.charts.studies.claim_figure import ClaimFigure
from dpviz.claims.claim import Outcome
from dpviz.claims.registry import CLAIMS
from dpviz.claims.shipped import Shipped
from tests.claims.planted import PLANTED
from tests.pages.site import everything_shown, fine, visit

MADE = {"quick": True, "dpviz": "0.1.0", "command": "python -m dpviz reproduce --quick --out DIR"}


# What lies in the folder of generated tables, and in the one of published files.
OUTCOMES = {None: Outcome.IN_PART, papers_panel.FROM_FILES: Outcome.HOLDS}


@pytest.fixture
def planted(monkeypatch):
    monkeypatch.setattr(
        papers_panel, "shipped", lambda claim, folder=None: Shipped(PLANTED[claim.id](OUTCOMES[folder]), MADE)
    )


def test_all_claims_stand_there_with_their_verdicts_and_the_command(planted):
    at = visit("papers.py")
    shown = everything_shown(at)
    assert all(
        claim.id in str(at.selectbox(key="papers:claim").options) or claim.paper in shown for claim in CLAIMS.values()
    )
    assert "holds in part: 12" in shown and "a quick run of dpviz 0.1.0" in shown


def test_another_claim_is_drawn_when_it_is_chosen(planted):
    at = visit("papers.py")
    fine(at.selectbox(key="papers:claim").set_value("cohen-naive").run())
    assert "Error of the means against the number of samples" in everything_shown(at)


@pytest.mark.slow
def test_results_from_published_files_have_a_verdict_of_their_own(planted):
    at = visit("papers.py")
    assert "Holds: 5 of 5" not in everything_shown(at)
    at.segmented_control(key="papers:source:su-epsilon").set_value("published files")
    assert "Holds: 5 of 5" in everything_shown(fine(at.run()))


def test_a_claim_is_judged_and_drawn_once_a_server_for_each_theme(planted, monkeypatch):
    drawn = []

    def draw(figure, palette, **how):
        drawn.append(palette)
        return draw_claim(figure, palette, **how)

    draw_claim = ClaimFigure.draw
    monkeypatch.setattr(ClaimFigure, "draw", draw)
    papers_panel._figures.clear()
    first = [chart.proto.spec for chart in visit("papers.py").get("plotly_chart")]
    assert first == [chart.proto.spec for chart in visit("papers.py").get("plotly_chart")]
    assert len(drawn) == len(first) > 0


def test_without_results_the_page_says_how_to_make_them(monkeypatch):
    monkeypatch.setattr(papers_panel, "shipped", lambda claim, folder=None: None)
    assert "python -m dpviz reproduce" in everything_shown(visit("papers.py"))
