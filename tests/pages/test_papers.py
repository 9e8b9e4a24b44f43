"""Papers: every claim with its verdict, and how it was computed."""

from __future__ import annotations

import re
from functools import cache
from types import SimpleNamespace

import pytest

import dpviz.app.ui.papers_panel as papers_panel
from dpviz.app.charts.studies import stored_verdicts
from dpviz.app.charts.studies.claim_figure import ClaimFigure
from dpviz.app.charts.studies.stored_verdicts import FOLDER, STAND_INS, Outcome, StoredVerdicts, read_verdicts
from dpviz.words import choose_palette
from experiments.material import PUBLISHED
from experiments.registry import CLAIMS
from experiments.stored_results import describe_result
from tests.experiments.planted import PLANTED
from tests.pages.site import everything_shown, fine, visit
from tests.words.test_theme import contrast

MADE = {"quick": True, "dpviz": "0.1.0", "command": "python -m experiments --quick --out DIR"}


# What lies in the folder of verdicts, and in the one of generated tables.
OUTCOMES = {FOLDER: Outcome.IN_PART, STAND_INS: Outcome.HOLDS}


@pytest.fixture
def planted(monkeypatch):
    def runs(claim_id, folder=FOLDER):
        return PLANTED[claim_id](OUTCOMES[folder]).assign(origin=PUBLISHED)

    @cache
    def read(folder=FOLDER):
        tables = ((claim, runs(claim.id, folder)) for claim in CLAIMS.values())
        return StoredVerdicts(
            ("a rule",), tuple(describe_result(claim, table, MADE, claim.judge(table)) for claim, table in tables)
        )

    monkeypatch.setattr(stored_verdicts, "read_verdicts", read)
    monkeypatch.setattr(stored_verdicts, "read_runs", runs)


@pytest.mark.slow
def test_all_claims_stand_there_with_their_verdicts_and_the_command(planted):
    at = visit("papers.py")
    shown = everything_shown(at)
    assert all(
        claim.id in str(at.selectbox(key="papers:claim").options) or claim.paper in shown for claim in CLAIMS.values()
    )
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


@pytest.fixture(scope="module")
def lines():
    """Of what is stored."""
    return papers_panel.list_lines(read_verdicts().claims)


def test_the_headline_counts_the_findings_of_what_is_stored(lines):
    verdicts = [line.verdict for line in lines.values()]
    said = papers_panel.format_headline(verdicts)
    number = sum(len(verdict.findings) for verdict in verdicts)
    assert said.startswith(f"Of {number} findings in {len(CLAIMS)} groups")
    for words, outcome in ((r"(\d+) holds?\b", Outcome.HOLDS), (r"(\d+) do(?:es)? not", Outcome.FAILS)):
        counted = sum(verdict.count(outcome) for verdict in verdicts)
        assert int(re.search(words, said)[1]) == counted
    answers = papers_panel.format_answers(lines.values())
    assert "Su et al. 2016: " in answers and "Cohen et al. 2021: " in answers
    assert f"{sum(line.result.is_on_files for line in lines.values())} on published files" in answers


def test_each_line_has_the_finding_that_decides_and_its_claim_the_paper_s_value_beside_ours(lines):
    board = papers_panel.tabulate_claims(lines)
    assert list(board.index) == list(CLAIMS) and not (board == "").any(axis=None)
    for claim_id, of_claim in lines.items():
        verdict = of_claim.verdict
        worst = min(verdict.findings, key=lambda finding: finding.margin)
        line = board.loc[claim_id]
        assert line["decides"] == worst.says
        told = papers_panel.tabulate_findings(verdict, None)
        assert worst.paper in set(told["asked"]) and any(worst.ours in cell for cell in told["run"])
        assert line["margin"].startswith(f"{worst.margin:.3g}×")
        drawn = worst.interval is not None and worst.interval.low < worst.interval.high
        assert (" to " in line["margin"]) == drawn
        assert (line["made"] == papers_panel._NONE) == (not of_claim.result.is_on_files)
        assert (line["today"] == papers_panel._NONE) == (verdict.today is None)
        assert all(finding.paper and finding.ours for finding in verdict.findings)
    assert board.loc["cohen-separation", "run"] == "in part"
    assert not {said.look.color for said in papers_panel._SAID.values()} & {"orange", "blue", "gray"}


def test_an_open_finding_says_what_it_would_take(lines):
    for line in lines.values():
        for finding in line.verdict.findings:
            cell = papers_panel._cell(finding)
            needs = " needed" in cell or "too near" in cell
            assert needs == (finding.outcome is Outcome.UNDECIDED and finding.interval is not None), cell


def test_published_files_stand_ins_and_today_stand_side_by_side():
    planted_ones = (PLANTED["su-epsilon"](outcome) for outcome in (Outcome.IN_PART, Outcome.HOLDS))
    run, made = map(CLAIMS["su-epsilon"].judge, planted_ones)
    cells = papers_panel.tabulate_findings(run, made)
    assert [cell.split(":")[0] for cell in cells["made"]] == ["holds"] * len(cells)
    assert {cell.split(":")[0] for cell in cells["run"]} == {"holds", "fails"}
    assert set(cells["today"]) == {papers_panel._NONE}
    against_today = papers_panel.tabulate_findings(
        CLAIMS["google-coreset"].judge(PLANTED["google-coreset"](Outcome.HOLDS)), None
    )
    assert against_today.loc[0, "run"].startswith("holds") and against_today.loc[0, "today"].startswith("fails")
    assert set(against_today["made"]) == {papers_panel._NONE}


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
    papers_panel._draw_figures.clear()
    first = [chart.proto.spec for chart in visit("papers.py").get("plotly_chart")]
    assert first == [chart.proto.spec for chart in visit("papers.py").get("plotly_chart")]
    assert len(drawn) == len(first) - 1 > 0  # the picture of all findings is no claim's


def test_without_results_the_page_says_how_to_make_them(monkeypatch):
    monkeypatch.setattr(stored_verdicts, "read_verdicts", lambda folder=FOLDER: StoredVerdicts())
    assert "python -m experiments" in everything_shown(visit("papers.py"))


def test_a_finding_opens_a_table_of_its_size_and_the_setting_that_decides_it(lines, monkeypatch):
    opened = []
    monkeypatch.setattr(papers_panel, "open_synthetic_table", opened.append)
    monkeypatch.setattr(papers_panel, "open_run", opened.append)
    papers_panel._open_finding(lines["su-epsilon"].result.settings[1])
    table, request = opened
    assert (table.n, table.d, table.k) == (5_000, 2, 15) and table.is_allowed
    assert (request.algorithm, request.k, request.epsilon) == ("pgkm", 15, 0.05)
    opened.clear()
    papers_panel._open_finding(lines["balcan-epsilon"].result.settings[2])
    assert opened[0].is_allowed and opened[0].n * opened[0].d <= papers_panel._MOST_CELLS, "what a page can hold"
    assert not lines["cohen-naive"].result.settings, "its samples are no table"
