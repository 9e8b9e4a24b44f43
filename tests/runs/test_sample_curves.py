"""What was studied of the samples beforehand is what the samples as they are show."""

from dataclasses import replace

import numpy as np
import pytest

from dpviz.runs import CURVE_EPSILONS, work
from dpviz.runs.sample_curves import CURVES, find_sample_curve, find_sample_reference, name_curve
from sample_data.curves import SHOWN, make_curve, make_reference, open_sample


def test_every_sample_of_a_file_has_a_curve_and_nothing_else_has_one():
    opened = [open_sample(one) for one in SHOWN]
    assert len(opened) == CURVES.read_text("utf-8").count("algorithm=auto")
    for table, request in opened:
        assert sorted(point.epsilon for point in find_sample_curve(table, request)) == list(CURVE_EPSILONS), table.title
        assert find_sample_curve(table, replace(request, epsilon=0.3, seed=7)), "of whatever ε is asked for"
        assert not find_sample_curve(table, replace(request, k=request.k + 1)), "never of another k"
        np.testing.assert_allclose(find_sample_reference(table, request.k), make_reference(table, request.k), rtol=1e-6)
        assert find_sample_reference(table, request.k + 1) is None
    told = replace(table, declaration=replace(table.declaration, upper=(2000.0, 2000.0)))
    assert name_curve(told, request) != name_curve(table, request)
    assert not find_sample_curve(told, request), "never of another declaration"
    assert find_sample_reference(told, request.k) is None


@pytest.mark.parametrize("sample", [one for one in SHOWN if one.id in ("fifteen", "outlier")], ids=lambda one: one.id)
def test_a_curve_made_anew_is_the_stored_one(sample, monkeypatch):
    """At every fourth ε, each of which has the same seeds."""
    monkeypatch.setattr(work, "CURVE_EPSILONS", CURVE_EPSILONS[::4])
    table, request = open_sample(sample)
    stored = {point.epsilon: point.losses for point in find_sample_curve(table, request)}
    made = make_curve(table, request)
    assert {new.epsilon for new in made} == {*CURVE_EPSILONS[::4]}
    for new in made:
        np.testing.assert_allclose(new.losses, stored[new.epsilon], rtol=1e-3)
