"""``dpviz advise``: name an algorithm and the smallest ε for a size and a target; reads no table."""

import argparse
import json
from dataclasses import asdict

from dpviz.api.console import Parser, add_options
from dpviz.core import format_table
from dpviz.runs import Advice, Division, RowsAdvice, Target, advise
from dpviz.words import round_percent

# What `advise` takes as it is given here.
_SAME = ("declaration", "target", "share", "delta", "relation", "rows_per_person", "segments", "buy_bounds", "missing")


def add(command: Parser) -> None:
    """Its options."""
    add_options(command, "advise", target=Target().loss, share=Target().share)
    add_options(command, "division", **Division().named)
    add_options(command, "result")


def serve(arguments: argparse.Namespace) -> str:
    """Serve the request; the text to print."""
    n = arguments.n
    asked = {name: getattr(arguments, name) for name in _SAME}
    rows = n[0] if n is not None and len(n) == 1 else n
    advice = advise(rows, arguments.d, arguments.k, **asked, algorithm=arguments.algorithm or None)
    return json.dumps(_to_plain(advice), indent=2, ensure_ascii=False) if arguments.json else _format_text(advice)


def _format_text(answer: RowsAdvice) -> str:
    advice = answer.few
    lines = [
        [
            one.title,
            f"{one.median:.4g}",
            f"{one.low:.4g} to {one.high:.4g}",
            round_percent(one.share),
            f"{one.seconds:.2g}",
        ]
        for one in advice.outlooks
    ]
    header = ["algorithm", "loss / k-means++ (median)", "25-75 %", "held on", "seconds"]
    share = filter(None, [advice.describe_share()])
    parts = ("certainty", "alternatives", "changes")
    said = [answer.sentence, *share, *(line for part in parts for line in advice.write(part))]
    table = [f"At ε = {advice.setting.epsilon:g}, on made-up tables:", format_table(header, lines)] if lines else []
    return "\n".join([*said, *table, Advice.WHERE_FROM])


def _to_plain(answer: RowsAdvice) -> dict[str, object]:
    advice, many = answer.few, answer.many.best
    return {
        "answer": answer.sentence,
        "n": list(answer.rows),
        "certainty": advice.write("certainty")[0],
        "target": advice.target.loss,
        "share": advice.target.share,
        "share_for_centers": advice.share,
        "best": None if advice.best is None else asdict(advice.best),
        "best_of_most_rows": None if many is None else asdict(many),
        "others": [asdict(one) for one in advice.others],
        "changes": [{"with": one.words, "outlook": one.outlook and asdict(one.outlook)} for one in advice.changes],
        "stand_ins": advice.n_tables,
        "beyond": advice.beyond,
    }
