"""Advice for as many rows as somebody said: the page, the command line and Python give one answer, or one refusal."""

import json
from collections import Counter
from dataclasses import replace

import pytest

import dpviz
from dpviz.algorithms.registry import find_card
from dpviz.app.charts.meaning import compute_losses
from dpviz.app.ui.studies import compare_page
from dpviz.app.ui.studies.study_job import StudyQuestion
from dpviz.core.check import RequestError
from dpviz.runs.advice import advice
from dpviz.runs.advice.advice import Prospects, Target
from dpviz.runs.advice.judgement import Judgement, KnownRows
from dpviz.runs.advice.recommendation import advise
from dpviz.runs.meaning.windows import Risk, Window
from dpviz.runs.open_table import declare
from dpviz.runs.request import Contender, Request
from dpviz.runs.run_sentences import SENTENCES
from dpviz.runs.study.grid import StudyGrid
from dpviz.tables.codings import Coding, Cycle, Nominal
from dpviz.tables.csv_intake import CsvFile
from dpviz.tables.declarations import Declaration, apply_declaration, to_json
from dpviz.tables.loaded_table import IntakeError
from tests.cases import about
from tests.command_line import call
from tests.pages.tables import open_blobs

# How many rows, as their owner says: a number, a range, or nothing; and what a run has bought.
SAID = [
    *((n, None, None) for n in (300, 3_000, 100_000, 3_000_000)),
    *((None, ends, None) for ends in ((300, 600), (8_000, 12_000), (10**6, 3 * 10**6))),
    *((None, None, bought) for bought in (299.6, 1_003.2, 98_000.4)),
    (None, (300, 3_000_000), 12_345.6),
]
ASKED = [(k, said) for k in (3, 5, 8) for said in SAID]
PLACES = Nominal(("N", "E", "S", "W"))
KINDS: list[tuple[dict[str, Coding], str]] = [
    *(({}, "unit"), ({}, "common"), ({"place": PLACES}, "unit"), ({"hour": Cycle(24.0)}, "unit")),
    *(({"place": PLACES, "region": Nominal(("A", "B", "C"))}, "unit"), ({"place": PLACES}, "common"), ({}, "unit")),
]


def declare_some(number: int, n: int | None, ends: tuple[int, int] | None) -> Declaration:
    """Of two to four columns of numbers, some tables with categories or hours beside them, some in one scale, in which
    the last of four are thin."""
    codings, scaling = KINDS[number % len(KINDS)]
    pairs = {f"x{place}": (0.0, 20.0**-place) for place in range(2 + number % 3)}
    pairs |= {name: coding.ends or (0.0, 1.0) for name, coding in codings.items()}
    lower, upper = zip(*pairs.values(), strict=True)
    return Declaration((*pairs,), lower, upper, codings=codings, scaling=scaling, n_public=n, n_range=ends)


def test_thirty_private_tables_get_one_answer_from_every_door(capsys, tmp_path, monkeypatch):
    """With 3, 5 and 8 clusters; what is advised can run."""
    thin = 0
    for number, (k, (n, ends, bought)) in enumerate(ASKED):
        delta = 0.0 if number % 2 else 1e-8
        declaration = declare_some(number, n, ends)
        columns = declaration.columns
        raw = ",".join(columns) + "\n" + "\n".join([",".join(["0.5"] * len(columns))] * 3) + "\n"
        table = declare(CsvFile("t", raw.encode()), declaration)
        assert declaration.count_coordinates() == (table.domain.dim, table.domain.coded_dim)
        monkeypatch.setattr(table.private, "reveal", None)
        monkeypatch.setattr("dpviz.app.ui.studies.judged_rows.find_bought_rows", lambda table, bought=bought: bought)
        path = tmp_path / f"{number}.json"
        path.write_text(to_json(declaration))
        given = [] if bought is None else ["--n", str(max(1, round(bought)))]
        typed = ("advise", "--declaration", path, "--k", k, "--delta", delta, *given)
        question = StudyQuestion("sweep", table, None, StudyGrid((Contender("auto"),), (k,), (1.0,), (delta,)))
        with about(k, n, ends, bought):
            said = call(capsys, *typed, "--json")
            rows = KnownRows.read(declaration, bought=bought)
            python = dpviz.advise(tuple(rows), declaration=declaration, k=k, delta=delta)
            page = compare_page.find_advice(question, Target())
            assert page.sentence == python.sentence == json.loads(said.out)["answer"]
            assert page.rows == python.rows == rows and said.json["n"] == list(rows)
            assert page.few.epsilon == python.few.epsilon >= page.many.epsilon == python.many.epsilon
            thin += page.few.setting.wide is not None
            if python.few.best is not None:
                Request(Contender(python.few.best.algorithm), k, python.few.epsilon, delta).check(table.private)
            if number % 4 == 0 and page.is_studied:  # what would open a window takes long
                assert Window.of(page, Risk()).least == python.few.epsilon
    assert thin > 0
    with pytest.raises(RequestError) as refused:
        dpviz.advise(declaration=declare_some(0, None, None), k=3)
    assert str(refused.value) == SENTENCES.fill("nobody_said")


def test_the_stored_study_is_asked_once_in_a_walk_of_epsilon(monkeypatch):
    """By advice, window and the lights of two algorithms together; of what is not the table remedies ask."""
    asked, walked, settings, advised, kept = Counter(), [], set(), Prospects._advise, advice._foresee

    def count(self, target):
        asked[self.setting, self.share, target] += 1
        return advised(self, target)

    kept.cache_clear()
    monkeypatch.setattr(advice, "_foresee", lambda *of: settings.add(of[0]) or kept(*of))
    monkeypatch.setattr(Prospects, "_advise", count)
    question = StudyQuestion("sweep", open_blobs(n=9_000), None, StudyGrid((Contender("auto"),), (3,), (1.0,), (1e-6,)))
    for epsilon in advice.EPSILONS:
        answer = compare_page.find_advice(question, Target())
        compute_losses(Window.of(answer, Risk()), 9_000)
        for algorithm in ("auto", "eugkm"):
            Judgement.of(find_card(algorithm), replace(answer.few.setting, epsilon=epsilon), share=0.8)
        walked.append(asked.total())
    assert set(asked.values()) == {1} and len(set(walked)) == 1
    assert len({at for at in settings if (at.n, at.k) == (9_000, 3)}) == 1


def test_what_the_study_did_not_run_is_named_and_gets_no_advice():
    for asked in ("dplloyd:rounds=3", "k-noisy-centers"):
        answer = advise(20_000, 2, 5, delta=1e-6, algorithm=asked)
        assert not answer.is_studied and asked in answer.sentence
    with pytest.raises(RequestError, match="nobody"):
        advise(20_000, 2, 5, algorithm="nobody")


def test_a_delta_as_large_as_one_over_n_is_refused_in_one_sentence_on_every_door(capsys, tmp_path):
    """Of a range the largest number counts."""
    account = dpviz.Account.temporary(cap_epsilon=1, cap_delta=0.5)
    for n, ends in ((10_000, None), (None, (2_000, 10_000))):
        declaration = Declaration(("x",), (0.0,), (1.0,), bounds_origin="by design", n_public=n, n_range=ends)
        path = tmp_path / "t.csv"
        path.write_text("x\n" + "0.5\n" * 20)
        path.with_suffix(".json").write_text(to_json(declaration))
        table = declare(CsvFile("t", path.read_bytes()), declaration)
        sentence = "delta is 0.0001: give 0 or a number below 0.0001 (1/n); 1e-6 is usual."
        question = StudyQuestion("sweep", table, None, StudyGrid((Contender("auto"),), (2,), (1.0,), (1e-4,)))
        for ask in (
            lambda: advise(declaration=declaration, k=2, delta=1e-4),  # noqa: B023 (called at once)
            lambda: compare_page.find_advice(question, Target()),  # noqa: B023
            lambda: dpviz.run(dpviz.CARDS["auto"], table.private, k=2, epsilon=1.0, delta=1e-4),  # noqa: B023
            lambda: dpviz.sweep(path, algorithms=["auto"], epsilons=[1.0], ks=[2], deltas=[1e-4]),  # noqa: B023
            lambda: dpviz.release(declaration, path, k=2, epsilon=1.0, delta=1e-4, account=account),  # noqa: B023
        ):
            with pytest.raises(RequestError) as refused:
                ask()
            assert str(refused.value) == sentence
        common = ("--k", "2", "--delta", "1e-4")
        for typed in (
            ("run", path, *common, "--epsilon", "1"),
            ("advise", "--declaration", path.with_suffix(".json"), *common),
        ):
            said = call(capsys, *typed)
            assert (said.code, sentence in said.err) == (2, True), said.err
    assert not account.standing().entries


def test_what_is_known_of_the_number_of_rows():
    for declaration, bought, rows in (
        (Declaration(n_public=7), 9.0, KnownRows(7, 7)),
        (Declaration(n_range=(2, 9)), None, KnownRows(2, 9)),
        (Declaration(n_range=(2, 9)), 4.4, KnownRows(4, 4)),
        (Declaration(), -3.0, KnownRows(1, 1)),
        (Declaration(), None, None),
    ):
        assert KnownRows.read(declaration, bought=bought) == rows
    for wrong in ("[2]", "[0, 5]", "[5, 2]", "[2.5, 3]", '"2,3"', '[1, 2], "n_public": 3'):
        with about(wrong), pytest.raises(IntakeError):
            apply_declaration(f'{{"n_range": {wrong}}}')
    assert apply_declaration(to_json(Declaration(n_range=(2, 9)))).n_range == (2, 9)
