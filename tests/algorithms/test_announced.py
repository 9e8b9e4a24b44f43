"""What is announced before a row is read: records that are needed, lights, work, what may be chosen, the plan of auto.

Benches measured these numbers, or somebody chose them: none changes by accident. ``announced.yaml`` holds them to four
digits. Whoever changes one on purpose renews it, and the change shows what else moved with it:

    python -m tests.algorithms.test_announced
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from dpviz.algorithms.auto.auto_plan import make_plan
from dpviz.algorithms.balcan2017.balcan import BalcanParams, choose_constants
from dpviz.algorithms.card import Card, Setting
from dpviz.algorithms.registry import CARDS
from dpviz.algorithms.su2016.dplloyd import plan_rounds
from dpviz.core.queries import Relation
from dpviz.runs.advice.judgement import Judgement
from tests.cases import about

STORED = Path(__file__).with_name("announced.yaml")
_ROWS = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
_PURE, _REPLACE = 0.0, Relation.REPLACE
_SETTINGS = (
    Setting(2, 3, 1.0, 1e-6, n=2_000),
    Setting(3, 20, 0.3, _PURE, n=100_000),
    Setting(9, 6, 4.0, 1e-6, n=30_000),
)
# Rows that are exchanged, several of a person, and more columns than grids can have axes.
_DECLARED = (
    *_SETTINGS,
    Setting(4, 5, 1.0, 1e-6, _REPLACE, 40_000),
    Setting(2, 3, 1.0, 1e-6, n=2_000, rows_per_person=3),
    Setting(3_000, 10, 0.1, 1e-6, n=1_000_000),
)
_LIT = (_DECLARED[0], _DECLARED[3], _DECLARED[5])
_PLANNED = {
    "one column": (Setting(1, 3, 0.5, 1e-6, n=5_000), {}),
    "two clusters": (Setting(2, 2, 1.0, 1e-6, n=50_000), {}),
    "two columns": (Setting(2, 8, 1.0, 1e-6, n=50_000), {}),
    "three columns, pure": (Setting(3, 5, 2.0, _PURE, n=20_000), {}),
    "two columns, n bought, exchanged": (Setting(2, 4, 1.0, 1e-6, _REPLACE, 10_000, 3), {"n_public": False}),
    "a view of few clusters": (Setting(6, 5, 1.0, 1e-6, n=50_000), {}),
    "a view of many clusters": (Setting(8, 30, 3.0, 1e-6, n=100_000), {}),
    "a view, pure": (Setting(6, 5, 3.0, _PURE, n=100_000), {"spherical": False}),
    "a view of many clusters, pure, n bought": (Setting(40, 30, 3.0, _PURE, n=100_000), {"n_public": False}),
    "more columns than axes are bought in": (Setting(1_500, 5, 1.0, 1e-6, n=50_000), {}),
}


def announced() -> dict[str, Any]:
    """All of it, as plain values."""
    cards = {card.id: dict(_of_card(card)) for card in CARDS.values()}
    plans = {name: {**_plan(*asked), "planned for": _planned_for(*asked)} for name, asked in _PLANNED.items()}
    rounds = {preset: dict(_rounds(preset)) for preset in ("su", "tuned", "gaussian")}
    return {"cards": cards, "rounds of Lloyd": rounds, "auto": plans, "forecasts of auto": dict(_forecasts())}


def _forecasts() -> Iterator[tuple[str, str]]:
    """From a loss that is next to that of k-means to one of which nothing can be told."""
    for dim, k, epsilon, n, common in product((1, 2, 20), (2, 20), (0.1, 3.0), (500, 20_000, 10**6), (False, True)):
        setting = Setting(dim, k, epsilon, 1e-6, n=n, common=common and dim > 1)
        asked = f"{dim} columns, {k} clusters, ε {epsilon:g}, {n:,} rows, common {common}"
        yield asked, _light(Judgement.of(CARDS["auto"], setting, CARDS["auto"].params()))


def _of_card(card: Card) -> Iterator[tuple[str, Any]]:
    yield "reads", "all rows at once" if card.at_once else "in chunks"
    for param_field in card.params.param_fields():
        of = "" if param_field.low is None else f"; {param_field.low} to {param_field.high}"
        yield param_field.name, f"{param_field.default}{of}"
    for preset in card.params.list_presets() or ("",):
        params = card.params(**({"preset": preset} if preset else {}))
        for name, rule in (("records", card.smallest_n), ("operations", card.operations)):
            if rule is not None:
                yield f"{name} {preset}".strip(), _short(rule(setting, params) for setting in _DECLARED)
        if card.private:
            yield f"lights {preset}".strip(), [_light(Judgement.of(card, setting, params)) for setting in _LIT]
        if isinstance(params, BalcanParams):
            constants = choose_constants(params, 20_000, 30)
            yield f"constants {preset}", " ".join("by noise" if one is None else f"{one:.4g}" for one in constants)


def _plan(setting: Setting, asked: dict[str, Any]) -> dict[str, str]:
    plan = make_plan(setting, **{"n_public": True, **asked})
    parts = {part.name: f"{part.noise} {part.weight:.4g}" for part in plan.parts}
    view = f"{plan.axes} axes, splits along {plan.swap_axes}"
    adaptive = "adaptive" if plan.adaptive else "not adaptive"
    rounds = f"{plan.rounds}, stride {plan.stride}, noise {plan.unit_variance:.4g}, {adaptive}"
    return {**parts, "view": view, "rounds": rounds}


def _planned_for(setting: Setting, asked: dict[str, Any]) -> dict[str, int]:
    """For how many of 250 numbers of rows, from ten to ten million, each kind of part is planned."""
    numbers = [round(10 ** (1 + 6 * place / 249)) for place in range(250)]
    plans = (make_plan(replace(setting, n=n), **{"n_public": True, **asked}) for n in numbers)
    kinds = ({part.name.removesuffix(f"_{part.round}") for part in plan.parts} for plan in plans)
    counts = Counter(chain.from_iterable(kinds))
    return {name: number for name, number in sorted(counts.items()) if number < 250}


def _rounds(preset: str) -> Iterator[tuple[str, str]]:
    for setting in _SETTINGS:
        ledger = SimpleNamespace(epsilon=setting.epsilon, delta=1e-6)
        sessions = (SimpleNamespace(dim=setting.dim, n=n, rows_per_person=2, ledger=ledger) for n in _ROWS)
        rounds = " ".join(str(plan_rounds(session, setting.k, preset)) for session in sessions)
        yield f"{setting.dim} columns, {setting.k} clusters", rounds


def _light(judged: Judgement) -> str:
    return f"{judged.level.value if judged.level else 'none'}: {judged.message}"


def _short(numbers: Iterator[float]) -> str:
    return " ".join(f"{number:.4g}" for number in numbers)


@pytest.mark.slow
def test_numbers_that_were_measured_or_chosen_are_those_that_are_stored() -> None:
    stored = yaml.safe_load(STORED.read_text(encoding="utf-8"))
    for kind, cases in announced().items():
        assert cases.keys() == stored[kind].keys()
        for name, numbers in cases.items():
            with about(name, "if this is meant: python -m tests.algorithms.test_announced"):
                assert numbers == stored[kind][name]


if __name__ == "__main__":
    STORED.write_text(yaml.safe_dump(announced(), sort_keys=False, width=120, allow_unicode=True), encoding="utf-8")
