"""Papers: every claim with its verdict, and how it was computed."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

import dpviz.ui.papers_panel as papers_panel
from dpviz.charts.studies.claim_figure import ClaimFigure
from dpviz.charts.theme import choose_palette
from dpviz.claims.claim import Outcome
from dpviz.claims.registry import CLAIMS
from dpviz.claims.shipped import Shipped, shipped
from tests.charts.test_theme import contrast
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


@pytest.mark.slow
def test_all_claims_stand_there_with_their_verdicts_and_the_command(planted):
    at = visit("papers.py")
    shown = everything_shown(at)
    assert all(
        claim.id in str(at.selectbox(key="papers:claim").options) or claim.paper in shown for claim in CLAIMS.values()
    )
    assert at.subheader[0].value == "Of 12 claims, run again as the papers ran them: 12 hold in part"
    assert "a quick run of dpviz 0.1.0" in shown
    kinds = [node.type for node in at.main]
    assert kinds[1:3] == ["title", "subheader"] and "markdown" not in kinds[: kinds.index("selectbox")], "scores first"
    assert "Holds: 5 of 5" not in shown
    at.segmented_control(key="papers:source:su-epsilon").set_value("published files")
    assert "Holds: 5 of 5" in everything_shown(fine(at.run())), "those of published files have their own verdict"
    fine(at.selectbox(key="papers:claim").set_value("cohen-naive").run())
    assert "Error of the means against the number of samples" in everything_shown(at)


@pytest.fixture(scope="module")
def verdicts():
    """Of what is shipped."""
    return {claim.id: shipped(claim).verdict(claim) for claim in CLAIMS.values()}


def test_the_headline_counts_the_verdicts_of_what_is_shipped(verdicts):
    said = papers_panel.headline(verdicts)
    counts = {outcome: sum(v.outcome is outcome for v in verdicts.values()) for outcome in Outcome}
    words = {Outcome.HOLDS: r"(\d+) holds?\b(?! in)", Outcome.IN_PART: r"(\d+) holds? in part"}
    words[Outcome.FAILS] = r"(\d+) do(?:es)? not hold"
    words[Outcome.UNDECIDED] = r"(\d+) (?:is|are) undecided"
    assert said.startswith(f"Of {len(CLAIMS)} claims")
    found = {outcome: re.search(words[outcome], said) for outcome in Outcome}
    assert {outcome: int(match[1]) if match else 0 for outcome, match in found.items()} == counts


def test_each_line_has_the_value_of_the_paper_beside_ours(verdicts):
    from_files = {
        claim.id: found.verdict(claim)
        for claim in CLAIMS.values()
        if (found := shipped(claim, papers_panel.FROM_FILES))
    }
    board = papers_panel.scores(verdicts, from_files)
    assert list(board.index) == list(CLAIMS) and not (board == "").any(axis=None)
    for claim_id, verdict in verdicts.items():
        worst = min(verdict.findings, key=lambda finding: finding.margin)
        line = board.loc[claim_id]
        assert (line["decides"], line["asked"], line["found"]) == (worst.says, worst.paper, worst.ours)
        held = sum(finding.outcome is Outcome.HOLDS for finding in verdict.findings)
        assert line["findings"] == f"{held} of {len(verdict.findings)}"
        assert line["margin"].startswith(f"{worst.margin:.3g}×")
        drawn = worst.interval is not None and worst.interval.low < worst.interval.high
        assert (" to " in line["margin"]) == drawn
        assert (line["files"] == papers_panel._NONE) == (claim_id not in from_files)
        assert (line["today"] == papers_panel._NONE) == (verdict.today is None)
        assert all(finding.paper and finding.ours for finding in verdict.findings)
    assert board.loc["cohen-separation", "made"] == "in part"
    assert not {look.color for look in papers_panel._LOOKS.values()} & {"orange", "blue", "gray"}


def test_stand_ins_published_files_and_today_stand_side_by_side():
    planted_ones = (PLANTED["su-epsilon"](outcome) for outcome in (Outcome.IN_PART, Outcome.HOLDS))
    made, files = map(CLAIMS["su-epsilon"].judge, planted_ones)
    cells = papers_panel.findings(made, files)
    assert [cell.split(":")[0] for cell in cells["files"]] == ["holds"] * len(cells)
    assert {cell.split(":")[0] for cell in cells["made"]} == {"holds", "fails"}
    assert set(cells["today"]) == {papers_panel._NONE}
    against_today = papers_panel.findings(
        CLAIMS["google-coreset"].judge(PLANTED["google-coreset"](Outcome.HOLDS)), None
    )
    assert against_today.loc[0, "made"].startswith("holds") and against_today.loc[0, "today"].startswith("fails")
    assert set(against_today["files"]) == {papers_panel._NONE}


def test_verdicts_in_the_table_can_be_read():
    for name in ("light", "dark"):
        ground = choose_palette(name).surface
        assert all(contrast(inks[name == "dark"], ground) >= 4.5 for inks in papers_panel._INKS.values())


def test_a_line_that_is_chosen_shows_its_claim(planted, monkeypatch):
    chosen = list(CLAIMS)[4]
    state = {"papers:board": SimpleNamespace(selection=SimpleNamespace(rows=[4]))}
    monkeypatch.setattr(papers_panel.st, "session_state", state)
    papers_panel._choose(list(CLAIMS))
    assert state["papers:claim"] == chosen


@pytest.mark.slow
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
