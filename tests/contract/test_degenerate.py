"""Whatever the table, a run ends with exactly k finite centres inside the domain."""

import pytest

from dpviz.core.check import RequestError
from dpviz.core.queries import Relation
from dpviz.runs.audits.auditing import TABLES
from dpviz.runs.audits.contract import check_centers
from dpviz.runs.one_run import run
from tests.cases import about
from tests.contract.tables import SETTINGS, hands, in_turn, is_fast, make_blobs, make_small_table, named

# Every setting meets these in every way, and of the others one way each.
ALWAYS = ("no row", "one row")
WAYS = [(relation, k) for relation in Relation for k in (1, 3)]


def check_table(card, name, relation, k, **request) -> None:
    table = make_small_table(TABLES[name], relation=relation)
    with about(name, relation.value, f"k = {k}"):
        if relation is Relation.REPLACE and k > len(TABLES[name]):
            with pytest.raises(RequestError, match="at most that many clusters"):
                run(card, table, k=k, epsilon=1.0, seed=0, **request)
        else:
            check_centers(run(card, table, k=k, epsilon=1.0, seed=0, **request), k)


@pytest.mark.parametrize(
    ("card", "params", "delta", "turn"),
    [
        pytest.param(*setting, turn, marks=() if is_fast(turn, 0) else pytest.mark.slow)
        for turn, setting in enumerate(SETTINGS)
    ],
    ids=named,
)
def test_k_finite_centres_inside_whatever_the_table(card, params, delta, turn):
    for place, name in enumerate(TABLES):
        for way in WAYS if name in ALWAYS else [WAYS[(turn + place) % len(WAYS)]]:
            check_table(card, name, *way, delta=delta, params=params)


@pytest.mark.parametrize(
    ("card", "params", "delta", "corner"), hands([(None, 1e-3), (0.4, 1e4), (None, 1e4), (0.4, 1e-3)]), ids=named
)
def test_more_clusters_than_rows_and_extreme_budgets(card, params, delta, corner):
    ((radius, epsilon),) = corner
    table = make_small_table(make_blobs(5, 3), radius=radius)
    check_centers(run(card, table, k=12, epsilon=epsilon, delta=delta, params=params, seed=1), 12)


@pytest.mark.parametrize(("card", "params", "delta"), in_turn(1), ids=named)
def test_every_parameter_at_its_ends(card, params, delta):
    """Of a preset that is tried with and without a δ one has the lower ends and the other the upper ones."""
    alike = [setting for setting in SETTINGS if setting[0] is card and setting[1] == params]
    ends = ("low", "high")[alike.index((card, params, delta)) :: len(alike)]
    for param_field in card.params.param_fields():
        for value in (getattr(param_field, end) for end in ends):
            if value is not None:
                with about(param_field.name, value):
                    table, asked = make_small_table(make_blobs(60)), {**params, param_field.name: value}
                    done = run(card, table, k=2, epsilon=1.0, delta=delta, params=asked, seed=0)
                    check_centers(done, 2)
                    assert 0.99 <= done.spent_fraction <= 1.0
