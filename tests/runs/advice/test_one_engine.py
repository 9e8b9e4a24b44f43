"""One engine: in a walk of ε, advice, window, lights and pictures ask the stored study once what they all rest on."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import lru_cache

import pytest

from dpviz.algorithms.registry import find_card
from dpviz.app.charts.meaning import compute_losses
from dpviz.app.ui.studies.compare_page import find_advice
from dpviz.app.ui.studies.study_job import StudyQuestion
from dpviz.runs.advice import advice
from dpviz.runs.advice.advice import EPSILONS, Prospects, Target
from dpviz.runs.advice.judgement import Judgement
from dpviz.runs.meaning.windows import Risk, Window
from dpviz.runs.request import Contender
from dpviz.runs.study.grid import StudyGrid
from tests.pages.tables import open_blobs


def test_each_question_is_computed_once_in_a_walk_of_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    made, advised, computed = Counter[object](), Counter[object](), Counter[object]()
    keep, find = Prospects._advise, advice.find_start

    @lru_cache(maxsize=1024)
    def make(setting, share, study):
        made[setting, share] += 1
        return Prospects(setting, share, study)

    def advise(self, target):
        advised[self.setting, self.share, target] += 1
        return keep(self, target)

    def find_start(epsilons, met):
        computed["curves"] += 1
        return find(epsilons, met)

    monkeypatch.setattr(advice, "_foresee", make)
    monkeypatch.setattr(Prospects, "_advise", advise)
    monkeypatch.setattr(advice, "find_start", find_start)
    table, target = open_blobs(n=9_000), Target()
    grid = StudyGrid((Contender("auto"), Contender("eugkm")), (3,), EPSILONS, (1e-6,))
    question = StudyQuestion("sweep", table, None, grid)
    walked = list[int]()
    for epsilon in EPSILONS:
        answer = find_advice(question, target)
        window = Window.of(answer, Risk())
        compute_losses(window, 9_000)
        setting = answer.few.setting
        for algorithm in ("auto", "eugkm"):
            Judgement.of(find_card(algorithm), replace(setting, epsilon=epsilon), share=0.8)
        walked.append(advised.total())
    assert set(made.values()) == {1} and set(advised.values()) == {1}
    assert set(walked) == {1}, "advice is asked before the first step and never again"
    # What is not the table itself was asked about: more rows, fewer clusters, another ε of a remedy.
    of_the_table = [setting for setting, _ in made if (setting.n, setting.k) == (9_000, 3)]
    assert len(of_the_table) == 1
