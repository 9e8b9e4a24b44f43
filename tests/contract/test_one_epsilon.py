"""One ε at every door: what is advised is charged exactly so, and its centres get what was advised of them."""

from collections.abc import Callable
from dataclasses import replace
from math import fsum
from pathlib import Path
from typing import NamedTuple

import pytest

import dpviz
from dpviz.algorithms.card import Setting
from dpviz.app.ui.bench.finding import Sides
from dpviz.releases.release_request import ALGORITHM
from dpviz.releases.releasing import Release
from dpviz.runs.advice.advice import Target, foresee
from dpviz.runs.open_table import declare
from dpviz.runs.request import Division
from dpviz.tables.declarations import FileKind, apply_declaration_file
from dpviz.tables.named import open_file
from dpviz.words import format_number
from tests.command_line import told_by
from tests.pages.site import fine, press, visit
from tests.releases.people import write_people

K, DELTA = 3, 1e-6
DEFENDED = {
    **{"intended_use": "Planning", "curators": ["Town of Bremen"], "region": "Bremen", "authors": ["A. Muster"]},
    "justification": "Bounds from the law",
}


class Advised(NamedTuple):
    """What a door says: who, at which ε, and on which share of the made-up tables that held."""

    algorithm: str
    epsilon: float
    share: float


def ask_python(data: Path, declared: Path, **parts: float) -> Advised:
    best = dpviz.advise(declaration=declared, k=K, delta=DELTA, **parts).few.best
    return Advised(best.algorithm, best.epsilon, best.share)


def ask_shell(data: Path, declared: Path, **parts: float) -> Advised:
    options = [text for name, part in parts.items() for text in (f"--{name.replace('_', '-')}", part)]
    said = told_by("advise", "--declaration", declared, "--k", K, "--delta", DELTA, *options, "--json")
    best = said.json["best"]
    return Advised(best["algorithm"], best["epsilon"], best["share"])


@pytest.mark.parametrize(
    ("ask", "parts"),
    [
        (ask_python, {}),
        (ask_python, {"segments": 0.0}),
        (ask_shell, {}),
        (ask_shell, {"segments": 0.5, "missing": 0.1}),
    ],
)
def test_what_is_advised_is_charged_and_achieved(
    ask: Callable[..., Advised], parts: dict[str, float], tmp_path: Path
) -> None:
    data, declared = write_people(tmp_path, n_public=9_000, release=DEFENDED)
    advised = ask(data, declared, **parts)
    account = dpviz.Account.temporary(cap_epsilon=20, cap_delta=1e-5)
    made = dpviz.release(
        declared, data, k=K, epsilon=advised.epsilon, delta=DELTA, algorithm=advised.algorithm, account=account, **parts
    )
    (entry,) = account.standing().entries
    assert entry.charge.epsilon == advised.epsilon and account.standing().spent_epsilon == advised.epsilon
    assert fsum(part.epsilon for part in made.played.shares.values()) == pytest.approx(advised.epsilon)
    assert foresee_centers(made) == pytest.approx(advised.share, abs=0.005)


@pytest.mark.parametrize("percent", [10, 50])
def test_what_the_bench_advises_is_asked_for_by_its_release(percent: int, tmp_path: Path) -> None:
    data, declared = write_people(tmp_path, release=DEFENDED)
    said = replace(apply_declaration_file(declared).validate(), kind=FileKind.PRIVATE, n_public=9_000)
    at = visit("release.py", table=declare(open_file(data), said))
    at.slider(key="release:share").set_value(percent)
    at = press(fine(at.run()), "Back to the picture")
    hand = replace(at.session_state["bench:hand"], division=Division(percent / 100))
    epsilon = at.session_state["epsilon"]
    window = hand.find_window()
    assert epsilon == Sides.of_window(window).proposed
    assert hand.share == pytest.approx(1 - percent / 100) and window.answer.few.share == pytest.approx(hand.share)
    at = press(at, f"Release at ε = {epsilon:g}")
    assert f"at ε = {format_number(epsilon)}" in at.subheader[0].value
    assert f"Type {epsilon:g} to confirm ε" in [box.label for box in at.text_input]
    divided = next(one.value for one in at.caption if one.value.startswith("ε is divided"))
    assert f"algorithm ε = {format_number(hand.share * epsilon)} " in divided


def foresee_centers(made: Release) -> float:
    """On which share of the made-up tables an algorithm keeps the target with what the centres were given."""
    run, spent = made.played.run, made.played.shares[ALGORITHM].epsilon
    at = Setting(run.domain.dim, run.k, spent, run.delta, n=run.n_public)
    return foresee(at).compute_share_met(run.algorithm, spent, Target())


def test_an_advised_epsilon_that_all_goes_to_the_centres_is_less_than_one_that_is_divided() -> None:
    divided = ({}, {"segments": 0.0}, {"segments": 0.5})
    whole, alone, half = (dpviz.advise(3_000, 6, 6, delta=DELTA, **parts).few for parts in divided)
    assert alone.epsilon <= whole.epsilon < half.epsilon
    assert alone.describe_share() == "" and "80 % goes to the centres" in whole.describe_share()
