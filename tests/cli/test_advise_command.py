"""Advice from the shell: an answer for a size, in words or as JSON, without any table."""

import re
from pathlib import Path

import numpy as np
import pytest

from dpviz.runs.clipped_rows import clipped
from dpviz.runs.evaluation import nicv, reference_for
from dpviz.runs.run import run
from tests.command_line import call
from tests.pages.site import sample_table

SIZE = ("advise", "--n", "50000", "--d", "4", "--k", "5")


def test_advice_names_an_algorithm_an_epsilon_and_how_sure_it_is(capsys):
    said = call(capsys, *SIZE, "--delta", "1e-6", "--json")
    assert said.code == 0, said.err
    best = said.json["best"]
    assert 0.01 <= best["epsilon"] <= 10 and best["median"] <= 1.1 and best["share"] >= 0.799
    text = call(capsys, *SIZE, "--delta", "1e-6").out
    assert said.json["answer"] in text and "no row of yours is read" in text
    assert f"At ε = {best['epsilon']:g}, on made-up tables:" in text
    stricter = call(capsys, *SIZE, "--delta", "1e-6", "--target", "1.02", "--json").json["best"]
    assert stricter is None or stricter["epsilon"] >= best["epsilon"]


@pytest.mark.parametrize(
    "options",
    [["--target", "1"], ["--n", "0"], ["--k", "0"], ["--delta", "0.1"], ["--relation", "swap"], ["--d", "x"]],
    ids=" ".join,
)
def test_a_wrong_question_is_refused_in_one_line(capsys, options):
    said = call(capsys, *SIZE, *options)
    assert (said.code, said.err.count("\n")) == (2, 1)


README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def losses_at(k: int, best: dict, *, runs: int) -> np.ndarray:
    """Losses, over that of k-means++, of the advised algorithm on the people of the sample at the advised ε."""
    table = sample_table("people")
    rows = clipped(table.private.reveal(note="test"), table.domain.region)
    reference = reference_for(rows, k).nicv
    asked = {"k": k, "epsilon": best["epsilon"], "delta": 1e-6}
    drawn = (run(best["algorithm"], table.private, **asked, seed=seed).unit_centers for seed in range(runs))
    return np.array([nicv(rows.points, centers) / reference for centers in drawn])


@pytest.mark.slow
def test_the_readmes_advice_is_kept_by_the_sample_of_its_size(capsys):
    line = re.findall(r"python -m dpviz (advise .*)", README)[0]
    table, asked = sample_table("people"), line.split()
    words = dict(zip(asked[1::2], asked[2::2], strict=True))
    assert (int(words["--n"]), int(words["--d"])) == (table.loaded.n_rows, table.domain.dim)
    best = call(capsys, *asked, "--json").json["best"]
    assert np.median(losses_at(int(words["--k"]), best, runs=7)) <= float(words["--target"])


@pytest.mark.slow
def test_the_readme_says_how_often_its_advice_is_kept_and_with_another_k_not(capsys):
    said = re.search(
        r"in (\d+) of 20 runs with\s+k = (\d), at ε = (\S+), and in (\d+) of 20 with k = (\d), at ε = (\S+)\.\n", README
    )
    assert said is not None
    for kept, k, epsilon in (said.groups()[:3], said.groups()[3:]):
        asked = ("advise", "--n", "12000", "--d", "6", "--k", k, "--delta", "1e-6", "--json")
        best = call(capsys, *asked).json["best"]
        assert best["epsilon"] == float(epsilon)
        assert int((losses_at(int(k), best, runs=20) <= 1.1).sum()) == int(kept)
