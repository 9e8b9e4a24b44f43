"""Papers: every claim with its verdict, and how it was computed."""

from __future__ import annotations

from functools import cache

import pytest

from dpviz.app.charts.studies import stored_verdicts
from dpviz.app.charts.studies.claim_figure import ClaimFigure
from dpviz.app.charts.studies.stored_verdicts import FOLDER, STAND_INS, Outcome, StoredVerdicts
from dpviz.app.ui import papers_panel
from experiments.material import PUBLISHED
from experiments.registry import CLAIMS
from experiments.stored_results import describe_result
from tests.experiments.planted import PLANTED
from tests.pages.site import everything_shown, fine, visit

MADE = {"quick": True, "dpviz": "0.1.0", "command": "python -m experiments --quick --out DIR"}


# What lies in the folder of verdicts, and in the one of generated tables.
OUTCOMES = {FOLDER: Outcome.IN_PART, STAND_INS: Outcome.HOLDS}


@pytest.fixture
def planted(monkeypatch):
    def runs(claim_id, folder=FOLDER):
        return PLANTED[claim_id](OUTCOMES[folder]).assign(origin=PUBLISHED)

    @cache
    def read(folder=FOLDER):
        tables = [(claim, runs(claim.id, folder)) for claim in CLAIMS.values()]
        results = [describe_result(claim, table, MADE, claim.judge(table)) for claim, table in tables]
        return StoredVerdicts(("a rule",), tuple(results))

    monkeypatch.setattr(stored_verdicts, "read_verdicts", read)
    monkeypatch.setattr(stored_verdicts, "read_runs", runs)


@pytest.mark.slow
def test_all_claims_stand_there_with_their_verdicts_and_each_is_drawn_once_a_server_and_theme(planted, monkeypatch):
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
    verdicts = [claim.judge(PLANTED[claim.id](Outcome.IN_PART)) for claim in CLAIMS.values()]
    assert at.subheader[0].value == papers_panel.format_headline(verdicts)
    assert "a quick run of dpviz 0.1.0" in shown and "a rule" in shown
    kinds = [node.type for node in at.main]
    assert kinds.index("plotly_chart") < kinds.index("selectbox"), "the picture of all findings comes first"
    assert "Holds: 5 of 5" not in shown
    at.segmented_control(key="papers:source:su-epsilon").set_value("synthetic tables")
    assert "Holds: 5 of 5" in everything_shown(fine(at.run())), "those of stand-ins have their own verdict"
    fine(at.selectbox(key="papers:claim").set_value("cohen-naive").run())
    assert "Error of the means against the number of samples" in everything_shown(at)


def test_without_results_the_page_says_how_to_make_them(monkeypatch):
    monkeypatch.setattr(stored_verdicts, "read_verdicts", lambda folder=FOLDER: StoredVerdicts())
    assert "python -m experiments" in everything_shown(visit("papers.py"))
