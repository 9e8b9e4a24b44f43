"""Every algorithm runs from the command line on the sample file that its card names, and spends what it was given."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import replace

import pytest

from dpviz.algorithms.card import Card, Level, Setting
from dpviz.algorithms.registry import CARDS
from dpviz.core.queries import Relation
from dpviz.runs.advice.judgement import Judgement
from dpviz.tables.named import FOLDER, sample
from tests.cases import about
from tests.command_line import Said, call

# One of each kind of file; the others are slow.
FAST = ("dplloyd", "balcan-sparse", "k-noisy-centers")
OTHERS = tuple(name for name in CARDS if name not in FAST)
EPSILON, DELTA = 1.0, 1e-6
LABORATORIES = (FOLDER / "laboratories.csv", "--k", 2, "--delta", DELTA, "--json")


def _on_its_sample(capsys: pytest.CaptureFixture[str], card: Card) -> Said:
    (path,) = [path for path in FOLDER.glob(f"{card.sample}.*") if path.suffix in (".csv", ".npz")]
    request = ("--algorithm", card.id, "--k", sample(card.sample).clusters, "--epsilon", EPSILON, "--delta", DELTA)
    return call(capsys, "run", path, *request, "--json")


@pytest.mark.parametrize("ids", [FAST, pytest.param(OTHERS, marks=pytest.mark.slow)])
def test_a_run_on_the_sample_of_a_card(capsys: pytest.CaptureFixture[str], ids: Iterable[str]) -> None:
    for name in ids:
        with about(name):
            _check_run(capsys, CARDS[name])


def _check_run(capsys: pytest.CaptureFixture[str], card: Card) -> None:
    said = _on_its_sample(capsys, card)
    assert said.code == 0, said.err
    report, k = said.json, sample(card.sample).clusters
    told = report["released" if card.private else "revealed"]
    assert len(told["centers"]) == k
    assert all(len(center) == len(report["columns"]) for center in told["centers"])
    if not card.private:
        return
    assert 0.99 * EPSILON <= report["ledger"]["epsilon"] <= EPSILON
    assert sum(entry["epsilon"] for entry in report["ledger"]["entries"]) > 0
    declared = sample(card.sample).load().declaration if card.sample != "words" else None
    dim, n = len(report["columns"]), declared.n_public if declared is not None else report["n_public"]
    setting = Setting(dim=dim, k=k, epsilon=EPSILON, delta=DELTA, relation=Relation(report["relation"]), n=n)
    setting = replace(setting, common=dim > 1 and declared is not None and declared.scaling == "common")
    regime = Judgement.of(card, setting, card.params.parse(report["parameters"]), sparse=card.sample == "words")
    assert report["expected"] == regime.announcement
    if regime.level not in (None, Level.GREEN):
        assert regime.message in report["warnings"]


def test_a_table_of_tuples_is_served_point_by_point(capsys: pytest.CaptureFixture[str], tmp_path) -> None:
    out = tmp_path / "centers.csv"
    ask = ("--algorithm", "k-noisy-centers", "--set", "rows=tuples", "--seed", 1, "--evaluate", "--out", out)
    report = call(capsys, "run", *LABORATORIES, "--epsilon", 1, *ask).json
    assert (report["relation"], report["n_public"], report["columns"]) == (
        *("replace", 5000),
        ["temperature", "resistance"],
    )
    (zinc, aluminium) = sorted(report["released"]["centers"])
    assert zinc == pytest.approx([419.5, 253.8], abs=60) and aluminium == pytest.approx([660.3, 332.9], abs=60)
    assert 0.99 <= report["ledger"]["epsilon"] <= 1
    assert report["revealed"]["matched_error"] < 0.15 and report["revealed"]["ari"] > 0.99
    with out.open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["temperature", "resistance", "note"] and len(rows) == 2


def test_tables_that_hold_no_tuples_are_refused_in_a_sentence(capsys) -> None:
    ask = ("--algorithm", "k-averages", "--epsilon", 1, "--set", "rows=tuples")
    for options, said in (
        (("--relation", "add_remove"), "declare the relation replace"),
        (("--k", 3), "does not hold 3 points"),
        (("--columns", "temperature_1,temperature_2,resistance_1,resistance_2"), "same bounds for every point"),
    ):
        refused = call(capsys, "run", *LABORATORIES, *ask, *options)
        with about(*options):
            assert refused.code == 2 and said in refused.err and not refused.out


def test_a_sweep_does_not_judge_tuples_by_rows(capsys, tmp_path) -> None:
    grid = ("--algorithms", "k-noisy-centers:rows=tuples", "--ks", "2", "--epsilons", "1", "--out", tmp_path / "s")
    refused = call(capsys, "sweep", FOLDER / "laboratories.csv", *grid, "--delta", DELTA)
    assert refused.code == 2 and "reads 2 points from each row" in refused.err
