"""Advice from the shell: an answer for a size, in words or as JSON, without any table."""

import re
from itertools import chain
from pathlib import Path

import pytest

from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import find_reference, nicv
from dpviz.runs.one_run import run
from dpviz.runs.open_table import declare
from dpviz.tables.named import sample
from tests.cases import about
from tests.command_line import call

SIZE = ("advise", "--n", "50000", "--d", "4", "--k", "5")


def test_a_wrong_question_is_refused_in_one_line(capsys):
    for options in (
        *(("--target", "1"), ("--n", "0"), ("--k", "0")),
        *(("--delta", "0.1"), ("--relation", "swap"), ("--d", "x")),
    ):
        said = call(capsys, *SIZE, *options)
        with about(*options):
            assert (said.code, said.err.count("\n")) == (2, 1)


PAGE = (Path(__file__).resolve().parents[3] / "docs" / "howto" / "choose.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_documentation_says_how_often_its_advice_is_kept_and_with_another_k_not(capsys):
    """On the people of the sample: losses of the advised algorithm at the advised ε over that of k-means++."""
    source, declared = sample("people").load()
    table = declare(source, declared)
    (shown, *_) = re.findall(r"python -m dpviz (advise .*)", PAGE)
    words = dict(zip(shown.split()[1::2], shown.split()[2::2], strict=True))
    assert (int(words["--n"]), int(words["--d"])) == (source.n_rows, table.domain.dim)
    said = re.search(
        r"answer of ε = (\S+) \((\S+) of it for the centres\) in\s"
        r"(\d+) of (\d+) runs with k = (\d), and in (\d+) of (\d+) with k = (\d)\.",
        PAGE,
    )
    assert said is not None and (said[3], said[5]) == (said[4], words["--k"])
    whole, for_centers = float(said[1]), float(said[2])
    rows = clip_rows(table.private.reveal(note="test"), table.domain.region)
    for kept, runs, k in (said.groups()[2:5], said.groups()[5:]):
        words["--k"] = k
        found = call(capsys, "advise", *chain(*words.items()), "--json").json
        best = found["best"]
        assert (best["epsilon"], best["epsilon"] * found["share_for_centers"]) == (whole, pytest.approx(for_centers))
        reference = find_reference(rows, int(k)).nicv
        asked = {"k": int(k), "epsilon": for_centers, "delta": 1e-6}
        drawn = (run(best["algorithm"], table.private, **asked, seed=seed).unit_centers for seed in range(int(runs)))
        losses = [nicv(rows.points, centers) / reference for centers in drawn]
        assert sum(loss <= float(words["--target"]) for loss in losses) == int(kept)
