"""The leaderboard: worst cells first, whoever overspends is no rival, and a bench that was stopped goes on."""

from pathlib import Path

import pytest

from benchmarks import leaderboard
from benchmarks.families import FAMILIES, Size
from benchmarks.leaderboard import main
from benchmarks.leaderboard_cells import cells_in


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
