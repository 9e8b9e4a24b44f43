"""The leaderboard: worst cells first, whoever overspends is no rival, and a bench that was stopped goes on."""

from __future__ import annotations

import json
import re
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest

from benchmarks import leaderboard
from benchmarks.families import FAMILIES, Size
from benchmarks.leaderboard import Cell, cells_of, main, run_cell
from benchmarks.leaderboard_cells import cells_in
from benchmarks.leaderboard_page import finding, page
from benchmarks.public_implementations import GUESTS
from benchmarks.utility import Plan, refuse_other_settings
from dpviz.runs.evaluation import compute_mean_losses

PLAN = Plan((1.0,), 1, 1e9, ("auto",))


def row(table: str, algorithm: str, ratio: float | None, *, spent: float = 1.0, outcome: str = "done") -> dict:
    """A run at ε = 1."""
    return {
        **{"table": table, "judging": False, "n": 9, "d": 2, "k": 3, "epsilon": 1.0, "algorithm": algorithm},
        **{"repeat": 0, "ratio": ratio, "seconds": 0.1, "spent_epsilon": spent, "outcome": outcome},
    }


ROWS = [
    row("good, 9 x 2", "auto", 1.0),
    row("good, 9 x 2", "eugkm", 1.5),
    row("bad, 9 x 2", "auto", 3.0),
    row("bad, 9 x 2", "eugkm", 1.2),
    row("bad, 9 x 2", "greedy <b>", 1.1, spent=2.3),
    row("not run, 9 x 2", "auto", None, outcome="refused"),
    row("not run, 9 x 2", "eugkm", 2.0),
]


def test_the_best_is_the_best_of_those_that_spend_what_was_asked_for():
    good, bad, refused = cells_in(ROWS)
    assert [score.name for score in bad.scores] == ["greedy <b>", "eugkm", "auto"]
    assert bad.best is not None and bad.best.name == "eugkm" and bad.behind("auto") == pytest.approx(2.5)
    assert good.behind("auto") == 1.0 and refused.behind("auto") is None and refused.behind("eugkm") == 1.0


def test_the_headline_says_how_often_and_where_worst():
    said = finding(cells_in(ROWS), "auto")
    assert said == "auto is the best or within 3 % of it in 1 of 2 cells; at worst 2.50× the best: bad, 9 × 2 at ε = 1"
    assert finding(cells_in(ROWS), "eugkm").startswith("eugkm is the best or within 3 % of it in 2 of 3 cells")


def test_the_page_has_the_worst_cells_first_and_names_who_overspends():
    made = page(ROWS, header="A bench of <three> tables.", of="auto")
    assert re.findall(r'class="name">([a-z ]+),', made) == ["not run", "bad", "good"]
    assert "shown beside them only: greedy &lt;b&gt;." in made and "<b>2.3</b>" in made
    assert "A bench of &lt;three&gt; tables." in made and "greedy <b>" not in made
    assert 'class="of number" data-head="auto">refused<' in made
    assert len(re.findall(r'<circle [^>]* class="mine"/>', made)) == 2
    assert "http" not in made.replace("http-equiv", "") and "<script" not in made


def test_cells_are_recipes_at_every_epsilon_and_published_tables_where_they_lie(tmp_path):
    (tmp_path / "s1.csv").write_text("x,y\n")
    everything = list(cells_of(quick=False, data=tmp_path))
    assert {cell.epsilon for cell in everything} == {0.1, 0.25, 0.5, 1.0, 2.0, 4.0}
    assert len({cell.file for cell in everything}) == len(everything)
    assert sum(cell.name == "s1" for cell in everything) == 6 and not any(c.name == "letter" for c in everything)
    assert len(list(cells_of(quick=True, data=None))) < len(everything) / 3


def test_a_cell_that_is_there_is_not_run_again_and_half_of_one_is_none(tmp_path, monkeypatch):
    cell, runs = Cell("equal groups, 9 x 2", 1.0, made=(FAMILIES[0], Size(9, 2, 2))), []

    def measured(*asked: object) -> list[dict]:
        runs.append(asked)
        return [row("equal groups, 9 x 2", "auto", nan)]

    monkeypatch.setattr(leaderboard, "measured", measured)
    (tmp_path / cell.file).with_suffix(".half").write_text("[{")
    first = run_cell(cell, PLAN, tmp_path)
    assert first == run_cell(cell, PLAN, tmp_path) == json.loads((tmp_path / cell.file).read_text())
    assert len(runs) == 1 and first[0]["ratio"] is None
    assert [file.name for file in tmp_path.iterdir()] == [cell.file]


def test_a_guest_and_its_honest_twin_share_a_grid_and_differ_in_what_they_spend():
    """The start by the true loss is never worse on the rows; the other one spends what was asked for."""
    rows = np.random.default_rng(0).normal([[-0.5, 0.5]], 0.1, (150, 2)).clip(-1, 1)
    rows = np.concatenate([rows, -rows])
    (honest, spent), (guest, beyond) = (fit(rows, 3, 1.0, 5) for fit in GUESTS.values())
    assert honest.shape == guest.shape == (3, 2) and spent == pytest.approx(1.0) and beyond == inf
    losses = compute_mean_losses(rows, np.stack([honest, guest]))
    assert losses[1] <= losses[0] * (1 + 1e-9)
    made = page([*ROWS, row("good, 9 x 2", "guest", 0.9, spent=inf)], header="", of="auto")
    assert "<b>∞</b>" in made and "shown beside them only: greedy &lt;b&gt;, guest." in made


def test_a_bench_with_other_settings_is_left_alone(tmp_path):
    refuse_other_settings(tmp_path, {"repeats": 1})
    refuse_other_settings(tmp_path, {"repeats": 1})
    with pytest.raises(SystemExit, match="holds a bench with other settings"):
        refuse_other_settings(tmp_path, {"repeats": 2})


@pytest.mark.parametrize("asked", [["--only", "dbscan"], ["--only", "eugkm", "--of", "auto"]])
def test_who_is_not_there_is_refused(asked, tmp_path):
    with pytest.raises(SystemExit, match=r"There is no algorithm (dbscan|auto) here: choose from"):
        main([*asked, "--out", str(tmp_path / "none")])
    assert not (tmp_path / "none").exists()


def test_a_whole_bench_writes_one_page_and_goes_on(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.setattr(leaderboard, "QUICK_SIZES", (Size(300, 2, 3),))
    monkeypatch.setattr(leaderboard, "QUICK_EPSILONS", (4.0,))
    monkeypatch.setattr(leaderboard, "FAMILIES", FAMILIES[:2])
    asked = ["--quick", "--only", "eugkm", "--of", "eugkm", "--jobs", "1", "--out", str(tmp_path)]
    main(asked)
    assert "2 cells, 0 of them are there" in capsys.readouterr().out
    first = (tmp_path / "leaderboard.html").read_text()
    main(asked)
    assert "2 cells, 2 of them are there" in capsys.readouterr().out
    assert (tmp_path / "leaderboard.html").read_text() == first and "in 2 of 2 cells" in first
