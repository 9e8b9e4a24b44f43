"""A window for ε: both sides are kept by what they promise, and what would open one does."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.algorithms.card import Setting
from dpviz.core.check import RequestError
from dpviz.runs.advice.advice import Target, foresee, format_epsilon
from dpviz.runs.advice.judgement import KnownRows
from dpviz.runs.advice.recommendation import RowsAdvice
from dpviz.runs.meaning.windows import Belief, Risk, Window, compute_allowed_epsilon

USUAL, RISK = Target(), Risk()
CASES = {
    "window": (Setting(6, 6, 1.0, 1e-6, n=8_000), RISK),
    "wide": (Setting(2, 4, 1.0, 1e-6, n=200_000), Risk(0.1, 0.5)),
    "none": (Setting(6, 6, 1.0, 1e-6, n=800), RISK),
    "out of reach": (Setting(2, 5, 1.0, 1e-6, n=300), RISK),
}


def asked(setting: Setting, risk: Risk = RISK, *, target: Target = USUAL, most_rows: int | None = None) -> Window:
    rows = None if setting.n is None else KnownRows(setting.n, most_rows or setting.n)
    return Window.of(RowsAdvice.of(rows, setting, target=target), risk)


@given(st.floats(0.001, 0.9), st.floats(0.01, 0.999))
def test_what_is_allowed_is_the_largest_that_keeps_the_belief(prior: float, accepted: float) -> None:
    most = compute_allowed_epsilon(prior, accepted)
    if accepted <= prior:
        assert most == 0
        return
    if most >= 1e-3:
        assert Belief.bound(prior, epsilon=most).most == pytest.approx(accepted, rel=1e-9)
        assert Belief.bound(prior, epsilon=1.001 * most).most > accepted
        assert Belief.bound(prior, epsilon=max(1e-3, float(format_epsilon(most)))).most <= accepted * (1 + 1e-9)


def test_what_would_open_a_window_does() -> None:
    setting, risk = CASES["none"]
    found, said = asked(setting, risk), 0
    for what, words in found.openings:
        numbers = [float(text.replace(",", "")) for text in re.findall(r"[\d,.]*\d", words)]
        if what == "More rows":
            opened = asked(replace(setting, n=int(numbers[0])), risk)
        elif what == "Fewer clusters":
            opened = asked(replace(setting, k=int(numbers[0])), risk)
        elif what == "A larger loss":
            opened = asked(setting, risk, target=Target(round(1 + numbers[0] / 100, 6)))
        else:
            assert what == "A larger risk"
            opened = asked(setting, Risk(risk.prior, numbers[1] / 100))
        assert opened.kind in ("window", "wide"), (what, words)
        said += 1
    assert said >= 3


def test_sides_that_cannot_be_are_refused() -> None:
    setting, _ = CASES["window"]
    assert asked(setting, Risk(0.5, 0.2)).most == 0 and asked(setting, Risk(0.5, 0.2)).kind == "none"
    for risk in (Risk(0.0, 0.5), Risk(0.1, 1.0), Risk(float("nan"), 0.5)):
        with pytest.raises(RequestError):
            asked(setting, risk)
    with pytest.raises(RequestError):
        asked(replace(setting, delta=0.01))
    with pytest.raises(RequestError):
        asked(replace(setting, n=None))


def test_what_is_accepted_is_kept_at_both_sides() -> None:
    for setting, risk in CASES.values():
        found = asked(setting, risk)
        assert Belief.bound(risk.prior, epsilon=found.most).most <= risk.accepted
        assert foresee(setting).list_needed(USUAL).get(found.algorithm, 0) <= found.least
