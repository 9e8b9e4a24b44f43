"""``dpviz advise``: name an algorithm and the smallest ε for a size and a target; reads no table."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from dpviz import check
from dpviz.algorithms.card import Setting
from dpviz.algorithms.registry import card_of
from dpviz.cli.parser import Parser, number, whole
from dpviz.printed import table_text
from dpviz.privacy.queries import Relation
from dpviz.runs.advice.advice import Advice, advise
from dpviz.runs.advice.advice_words import WHERE_FROM, alternatives, certainty, changed
from dpviz.runs.advice.recommendation import recommend
from dpviz.runs.advice.target import USUAL_LOSS, USUAL_SHARE, Target


def add(command: Parser) -> None:
    """Its options."""
    command.description = (
        "Name the cheapest algorithm and the smallest ε that should keep the loss near that of k-means++, from a "
        "stored study of made-up tables. Reads no table."
    )
    command.add_argument("--n", type=whole, required=True, metavar="N", help="the number of rows, or about how many")
    command.add_argument("--d", type=whole, required=True, metavar="D", help="the number of columns")
    command.add_argument("--k", type=whole, required=True, metavar="K", help="number of clusters")
    command.add_argument(
        "--target",
        type=number,
        default=USUAL_LOSS,
        metavar="R",
        help=f"most loss over that of k-means++ (default: {USUAL_LOSS:g})",
    )
    command.add_argument(
        "--share",
        type=number,
        default=USUAL_SHARE,
        metavar="S",
        help=f"on which part of the tables it is met (default: {USUAL_SHARE:g})",
    )
    command.add_argument("--delta", type=number, default=0.0, metavar="D", help="0 for pure ε (default: 0)")
    command.add_argument("--relation", default="add_remove", metavar="add_remove|replace", help="neighbours")
    command.add_argument("--rows-per-person", type=whole, default=1, metavar="M", help="most rows of one person")
    command.add_argument("--json", action="store_true", help="print one JSON object")


def serve(arguments: argparse.Namespace) -> str:
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
    advice = advise(setting, target=Target(arguments.target, arguments.share))
    return json.dumps(_plain(advice), indent=2, ensure_ascii=False) if arguments.json else _text(advice)


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
    said = [recommend(advice.target, advice).sentence, certainty(advice), *alternatives(advice)]
    what_if = [changed(change, advice) for change in advice.changes]
    table = [f"At ε = {advice.setting.epsilon:g}, on made-up tables:", table_text(header, lines)] if lines else []
    return "\n".join([*said, *what_if, *table, WHERE_FROM])


def _plain(advice: Advice) -> dict[str, object]:
    return {
        "answer": recommend(advice.target, advice).sentence,
        "certainty": certainty(advice),
        "target": advice.target.loss,
        "share": advice.target.share,
        "best": None if advice.best is None else asdict(advice.best),
        "others": [asdict(one) for one in advice.others],
        "changes": [
            {"with": one.words, "outlook": None if one.outlook is None else asdict(one.outlook)}
            for one in advice.changes
        ],
        "stand_ins": advice.stand_ins,
        "beyond": advice.beyond,
    }
