"""Whether runs on a table, the title of their picture and the stored study give one answer to: which ε?

python -m benchmarks.recommended [--jobs 1]

On a synthetic table of each of ``SIZES`` a study runs as on the page, and for each target three answers are read.
Where the stored study lies more than one tried ε apart, the reason that is given must be true. A line a reading, and
what contradicts it; exit 1 if anything does.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from math import inf, isfinite
from typing import Any

import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.families import Size
from benchmarks.timing import machine
from dpviz.algorithms.card import Setting
from dpviz.app.charts.studies.curves import Curves, draw_smallest
from dpviz.runs.advice.advice import Advice, Target, count_steps_apart, find_start, foresee
from dpviz.runs.advice.recommendation import Recommendation
from dpviz.runs.clipped_rows import JudgedTable
from dpviz.runs.open_table import declare
from dpviz.runs.request import Contender
from dpviz.runs.smallest_epsilon import SmallestEpsilon
from dpviz.runs.study.grid import StudyGrid
from dpviz.runs.study.study import compute_study_rows, tidy
from dpviz.tables.declarations import Declaration
from dpviz.tables.made_tables import simulate

DELTA = 1e-6
CONTENDERS = (Contender("auto"), Contender("eugkm"), Contender("dplloyd"))
TARGETS = (1.02, 1.1, 1.3, 2.0)
SIZES = (
    *(Size(1_000, 2, 3), Size(3_000, 2, 8), Size(10_000, 2, 3), Size(5_000, 1, 4), Size(2_000, 3, 5)),
    *(Size(20_000, 3, 8), Size(5_000, 6, 3), Size(20_000, 6, 8), Size(4_000, 12, 4), Size(400, 2, 2)),
)
_USUAL = Target()


def study_on(size: Size) -> pd.DataFrame:
    """A study on a synthetic table of that size, as the page makes one."""
    made = simulate((-1.0,) * size.d, (1.0,) * size.d, size.n, size.d, size.k, seed=0)
    names = tuple(f"x_{j + 1}" for j in range(size.d))
    declared = Declaration(names, lower=(-1.0,) * size.d, upper=(1.0,) * size.d, n_public=size.n)
    table = declare(made, declared)
    judged = JudgedTable.of(table.private, table.private.reveal(note="a bench"), None)
    grid = StudyGrid(CONTENDERS, (size.k,), StudyGrid.list_epsilons(0.1, 10.0), (DELTA,), repeats=5)
    return tidy([item for item in compute_study_rows(judged, grid) if isinstance(item, dict)])


def readings(frame: pd.DataFrame, size: Size) -> Iterator[dict[str, Any]]:
    """Of each target: what the runs say, what the stored study says, why they differ, and what contradicts that."""
    tried = sorted(frame["epsilon"].unique())
    for target in map(Target, TARGETS):
        advice = foresee(Setting(size.d, size.k, 1.0, DELTA, n=size.n)).advise(target)
        answers = SmallestEpsilon.find_all(frame, target)
        found = Recommendation.of(target, advice, answers, tried, CONTENDERS)
        kept = (frame["ratio"] <= target.loss).groupby([frame["contender"], frame["epsilon"]]).mean().unstack()
        least = min(find_start(tried, (line.to_numpy() >= target.share - 1e-9).tolist()) for _, line in kept.iterrows())
        title = f"From ε = {least:g} on, {found.who} stays within 10 %"
        wrong = {
            "the picture's title is not the recommendation": (
                draw_smallest(Curves(frame), answers, found).finding != found.finding
            ),
            "the recommendation is not what the runs say, counted anew": (
                not found.epsilon == answers[0].epsilon == least
            ),
            "the curves' title says otherwise": (
                target == _USUAL and isfinite(least) and not Curves(frame).finding.startswith(title)
            ),
            "a difference goes without a reason, or a reason without a difference": (
                (found.apart is None) != (count_steps_apart(advice.epsilon, least, tried) <= 1)
            ),
            "the reason is not true": (
                found.apart is not None and not _is_true(found.apart.kind, advice, answers, tried)
            ),
            "the reason is not said": found.apart is not None and found.apart.words not in found.compare_with(advice),
        }
        yield {
            **{"n": size.n, "d": size.d, "k": size.k, "target": target.loss, "runs": least, "stored": advice.epsilon},
            "why": found.apart.kind if found.apart is not None else "",
            "wrong": "; ".join(words for words, is_so in wrong.items() if is_so),
        }


def _is_true(kind: str, advice: Advice, answers: Sequence[SmallestEpsilon], tried: Sequence[float]) -> bool:
    """Whether a reason holds, by its own words."""
    titles = {"auto": "Auto", "eugkm": "EUGkM", "dplloyd": "DPLloyd"}
    leading = titles.get(advice.leading.algorithm) if advice.leading is not None else None
    own = next((answer for answer in answers if answer.contender == leading), None)
    if own is None:
        return kind == "not compared"
    apart = [count_steps_apart(own.epsilon, each, tried) for each in advice.each]
    return {
        "another algorithm": answers[0].epsilon < own.epsilon
        and count_steps_apart(own.epsilon, advice.epsilon, tried) <= 1,
        "few runs": own.low <= advice.epsilon <= own.high,
        "other sizes": advice.beyond,
        "among them": min(apart, default=inf) <= 1 or min(advice.each) <= own.epsilon <= max(advice.each),
        "unlike them": all(steps > 1 for steps in apart),
    }.get(kind, False)


def _lines_of(size: Size) -> list[dict[str, Any]]:
    with threadpool_limits(1):
        return list(readings(study_on(size), size))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    print(machine())
    parts = Parallel(n_jobs=asked.jobs, return_as="generator")(delayed(_lines_of)(size) for size in SIZES)
    contradicted = 0
    for part in parts:
        print(pd.DataFrame(part).to_string(index=False, float_format="{:.4g}".format), flush=True)
        contradicted += sum(bool(line["wrong"]) for line in part)
    print(f"{contradicted} of {len(SIZES) * len(TARGETS)} readings are contradicted.")
    raise SystemExit(contradicted > 0)


if __name__ == "__main__":
    main()
