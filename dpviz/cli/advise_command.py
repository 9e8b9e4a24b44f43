"""``dpviz advise``: the cheapest algorithm and the smallest ε for a table's size, without the table."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from dpviz import check
from dpviz.algorithms.card import Setting
from dpviz.algorithms.registry import card_of
from dpviz.printed import table_text
from dpviz.privacy.queries import Relation
from dpviz.runs.advice.advice import Advice, advise
from dpviz.runs.advice.advice_words import WHERE_FROM, alternatives, answer, certainty, changed


def advise_command(arguments: argparse.Namespace) -> str:
    """Serve the request; the text to print.

    Raises
    ------
    RequestError
        If a number is outside its range.
    """
    check.records(n=arguments.n)
    check.at_least(1, d=arguments.d)
    check.within(1, check.MOST_RECORDS, d=arguments.d)
    check.rows_per_person(rows_per_person=arguments.rows_per_person)
    check.clusters(k=arguments.k)
    check.delta_for(arguments.n, delta=arguments.delta)
    check.one_of(tuple(relation.value for relation in Relation), relation=arguments.relation)
    setting = Setting(
        dim=arguments.d,
        k=arguments.k,
        epsilon=1.0,
        delta=arguments.delta,
        relation=Relation(arguments.relation),
        n=arguments.n,
        rows_per_person=arguments.rows_per_person,
    )
    found = advise(setting, target=arguments.target)
    return json.dumps(_plain(found), indent=2, ensure_ascii=False) if arguments.json else _text(found)


def _text(advice: Advice) -> str:
    known = [one for one in (advice.best, *advice.others) if one is not None]
    lines = [
        [
            card_of(one.algorithm).title,
            f"{one.median:.4g}",
            f"{one.low:.4g} to {one.high:.4g}",
            f"{one.share:.0%}",
            f"{one.seconds:.2g}",
        ]
        for one in known
    ]
    header = ["algorithm", "loss / k-means++ (median)", "25-75 %", "held on", "seconds"]
    said = [answer(advice), certainty(advice), *alternatives(advice)]
    what_if = [changed(change, advice) for change in advice.changes]
    table = [f"At ε = {advice.setting.epsilon:g}, on stand-ins:", table_text(header, lines)] if lines else []
    return "\n".join([*said, *what_if, *table, WHERE_FROM])


def _plain(advice: Advice) -> dict[str, object]:
    return {
        "answer": answer(advice),
        "certainty": certainty(advice),
        "target": advice.target,
        "best": None if advice.best is None else asdict(advice.best),
        "others": [asdict(one) for one in advice.others],
        "changes": [
            {"with": one.words, "outlook": None if one.outlook is None else asdict(one.outlook)}
            for one in advice.changes
        ],
        "stand_ins": advice.stand_ins,
        "beyond": advice.beyond,
    }
