"""Facts for cards: small ones, and those of a study run on *People* with everything that an owner would add."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from dpviz.releases.card_facts import AccountFacts, CardColumn, CardFacts, CardWords, CostPart
from dpviz.runs.one_run import Run, run
from dpviz.runs.open_table import declare
from dpviz.tables.named import sample

_UNITS = {"age": "years", "income": "$", "hours": "h", "commute_km": "km", "savings": "$", "visits": ""}
_NAMES = ("beginners", "retired", "commuters", "students", "managers", "parents", "others", "more")
REGIONS = ("North", "East", "South", "West")


def words(**changes: Any) -> CardWords:
    """What an owner says."""
    said = CardWords(
        name="Six walks of life, 2026",
        description="Typical people of a town: centres and sizes of six segments of its adults, from a survey.",
        intended_use="Planning of bus lines and opening hours by the town's council.",
        curators=("Office of Statistics of the Town",),
        region="The town and its suburbs",
        publication_date="2026-07-20",
        sector="Government",
        justification="Bounds are those of the questionnaire. ε was chosen on made tables, and fixed before the press.",
        authors=("A. Owner",),
        chosen_after_looking="Six clusters: five and seven were seen in a study on last year's survey.",
    )
    return replace(said, **changes)


def facts(**changes: Any) -> CardFacts:
    """A small release: two columns, two centres."""
    made = CardFacts(
        words=words(),
        table="People of a town",
        columns=(
            CardColumn("age", 18, 100, "years", "documentation"),
            CardColumn("income", 0, 200_000, "k$", "law or physics: top-coded"),
        ),
        k=2,
        algorithm="Auto",
        algorithm_id="auto",
        paper="dpviz",
        epsilon=1.0,
        delta=1e-6,
        relation="add_remove",
        unit="one person (one row)",
        rows_per_person=1,
        has_id=False,
        n=12_000,
        n_bought=False,
        looks={"rows": 1, "loss": 2},
        studies=1,
        accounting="Loss distributions inside of the clustering, basic composition between the parts",
        parts=(CostPart("clustering", 0.8, 1e-6), CostPart("segments", 0.2, 0.0)),
        entries=(_entry("clustering", "gaussian", "Sum", 12.5), _entry("segments", "laplace", "Histogram", 5.0)),
        noise="OpenDP 0.16.0",
        dpviz="0.1.0",
        account=AccountFacts("people", 2.0, 1e-5, 0.5, 0.0, 1.5, 1e-6),
        centers=np.array([[30.0, 40_000.0], [60.0, 90_000.0]]),
        center_step=np.array([0.5, 500.0]),
        center_sd=np.array([[0.9, 900.0], [1.1, 1_100.0]]),
        sizes=np.array([7012.0, 4990.0]),
        size_sd=np.array([14.0, 14.0]),
    )
    return replace(made, **changes)


def _entry(part: str, mechanism: str, query: str, scale: float) -> dict[str, Any]:
    numbers = {"epsilon": 0.1, "delta": 0.0, "sensitivity": 1.0, "scale": scale, "draws": 1, "amount": 0.1}
    return {
        "part": part,
        "mechanism": mechanism,
        "query": query,
        "note": f"{query} of {part}",
        "unit": "rho",
        **numbers,
    }


@cache
def people_run(k: int = 6) -> Run:
    """A study run of ``auto`` on *People*."""
    loaded = sample("people").load()
    table = declare(loaded.table, loaded.declaration)
    return run("auto", table.private, k=k, epsilon=0.8, delta=1e-6, seed=7)


def people_facts(k: int = 6, extra: int = 0) -> CardFacts:
    """A release of that run, with an invented account, and segments and a quality report made from its centres.

    ``extra`` more columns make it as large as a card may get.
    """
    made = people_run(k)
    domain = made.domain
    origin = "documentation: the questionnaire does not take anything beyond"
    columns = [
        CardColumn(name, low, high, _UNITS[name], origin)
        for name, low, high in zip(domain.columns, domain.lower.tolist(), domain.upper.tolist(), strict=True)
    ]
    more = [CardColumn(f"score_{place}", 0.0, 100.0, "", "law or physics: a share") for place in range(extra)]
    region = CardColumn("region", None, None, "", "public data: the town's districts", REGIONS)
    centers = np.hstack([np.round(made.centers, 1), np.full((k, extra), 42.0)])
    weights = made.noisy_weights
    assert weights is not None
    sizes = np.round(weights)
    bought = [{"part": "segments", **_entry("segments", "laplace", "Histogram", 30.0)} for _ in range(7)]
    return facts(
        columns=(*columns, *more, region),
        k=k,
        entries=(*({"part": "clustering", **entry.to_dict()} for entry in made.entries), *bought),
        centers=centers,
        center_step=np.r_[np.array([0.1, 100.0, 0.1, 0.1, 500.0, 0.1]), np.full(extra, 0.5)],
        center_sd=np.tile(np.r_[np.array([0.3, 410.0, 0.3, 0.3, 1100.0, 0.2]), np.full(extra, 1.0)], (k, 1)),
        sizes=sizes,
        size_sd=np.full(k, 31.0),
        segments=_segments(centers, sizes, [*columns, *more]),
        quality_report={
            "unit": "half-widths of the bounds, squared",
            "loss": {"value": 0.31, "low": 0.29, "high": 0.33},
            "one_center": {"value": 0.92, "low": 0.9, "high": 0.94},
            "data_independent": {"value": 0.78, "low": 0.76, "high": 0.8},
        },
        expected_loss="on tables of this size and shape the loss is 1.04 times that without privacy, 1.01 to 1.2 in "
        "nine of ten.",
    )


def _segments(centers: Any, sizes: Any, columns: list[CardColumn]) -> dict[str, Any]:
    told = []
    for place, (center, size) in enumerate(zip(centers.tolist(), sizes.tolist(), strict=True)):
        about = [_numbers(column, value) for column, value in zip(columns, center, strict=True)]
        about[place % len(about)]["tells_apart"] = True
        shares = [0.46, 0.27, 0.15, 0.12]
        about.append(
            {
                "name": "region",
                "shares": [
                    {"category": name, "value": share, "low": share - 0.03, "high": share + 0.03}
                    for name, share in zip(np.roll(REGIONS, place).tolist(), shares, strict=True)
                ],
            }
        )
        told.append({"name": _NAMES[place], "size": size, "low": size - 51, "high": size + 51, "columns": about})
    return {"level": 0.9, "segments": told}


def _numbers(column: CardColumn, value: float) -> dict[str, Any]:
    assert column.lower is not None and column.upper is not None
    lower, width = column.lower, column.upper - column.lower
    step = width / 100

    def around(middle: float) -> dict[str, float]:
        low, value, high = (max(lower, round(middle + side * step, 1)) for side in (-1, 0, 1))
        return {"value": value, "low": low, "high": high}

    quartiles = [around(value - 6 * step), around(value + 6 * step)]
    return {"name": column.name, "unit": column.unit, "median": around(value), "quartiles": quartiles}
