"""The bench of announcements: fitted and judged on different families, and what is fitted rises with the noise."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from benchmarks.expectation import BY_NAME, HEADER, KINDS, Ran, _fit, list_settings
from dpviz.algorithms.auto.auto import compute_mean_noise
from dpviz.algorithms.card import Setting


def test_no_family_judges_what_it_was_fitted_on_and_each_kind_has_its_turn() -> None:
    fitted, judged = (list(list_settings(60, judging=judging)) for judging in (False, True))
    assert not {family.name for family, *_ in fitted} & {family.name for family, *_ in judged}
    for plans in (fitted, judged):
        assert [family.kind for family, *_ in plans[:6]] == [*KINDS, *KINDS]
        assert all(size.d > 1 for family, size, _ in plans if family.kind == "tails")
    assert list(list_settings(5, judging=True)) == judged[:5]


def test_what_is_fitted_is_what_runs_lost(capsys: pytest.CaptureFixture[str]) -> None:
    """Losses of 1 + 10 times the noise, more so for each kind: their medians and tenths come back."""
    rng, found = np.random.default_rng(0), []
    families = {kind: next(one for one in BY_NAME.values() if one.kind == kind) for kind in KINDS}
    for times, kind in enumerate(KINDS, start=1):
        for n in np.geomspace(300, 30_000, 80).astype(int).tolist():
            setting = Setting(2, 5, 1.0, 1e-6, n=n)
            lost = 1 + 10 * times * compute_mean_noise(setting) * float(rng.uniform(0.8, 1.2))
            found.append(Ran(families[kind], setting, lost))
    _fit(found)
    said = capsys.readouterr().out
    lines = [list(map(float, line[1:])) for line in csv.reader(said.splitlines()[1:])]
    assert said.startswith(HEADER) and len(lines) >= 4
    assert (np.diff(lines, axis=0) >= 0).all()
    for noise, *announced in lines[2:-1]:
        for times, (median, tenth) in enumerate(np.reshape(announced, (3, 2)), start=1):
            assert median - 1 == pytest.approx(10 * times * 10**noise, rel=0.35) and tenth > median
