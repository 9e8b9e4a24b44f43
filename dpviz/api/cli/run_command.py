"""``dpviz run``: run one algorithm on a table and print what it releases."""

import argparse
import json
from pathlib import Path
from typing import Any

from dpviz.algorithms import Card, find_card
from dpviz.api.api_sentences import SENTENCES, make_refusal
from dpviz.api.cli.declared_table import add_table_options, open_declared_table
from dpviz.api.console import NotWritten, Parser, add_options, add_request_options, read_request, say
from dpviz.core import AccessKind, RequestError, format_table, tabulate_entries
from dpviz.runs import Judgement, OpenTable, ReleaseRecord, Run, export, run_request, write_whole
from dpviz.words import PLUS_MINUS, render, to_plain


def add(command: Parser) -> None:
    """Its options."""
    add_table_options(command)
    add_options(command, "run")
    add_request_options(command, seed="repeatable noise, for a study; never for a release")
    add_options(command, "run and what it leaves")


def serve(arguments: argparse.Namespace) -> str:
    """Serve the request; the text to print."""
    card, request = find_card(arguments.algorithm), read_request(arguments)
    request.check_numbers()
    if arguments.out is not None:
        _check_out(Path(arguments.out), card, data=Path(arguments.data))
    table, notes, accesses = open_declared_table(arguments)
    judged = Judgement.of_request(request, table.private)
    finished = run_request(request, table.private)
    seen = {
        AccessKind.ROWS: accesses,
        AccessKind.LOSS: int(arguments.evaluate),
        AccessKind.REFERENCE: int(not finished.private),
    }
    record = ReleaseRecord.of(finished, table, accesses=seen)
    # Before anything else is worked out: what was paid for must not be lost.
    centers = refused = None
    if arguments.out is not None:
        centers = export.format_centers_csv(record, numbered=False)
        try:
            write_whole(Path(arguments.out), centers.encode("utf-8", errors="replace"))
        except OSError as error:
            refused = error.strerror or type(error).__name__
    if finished.private:
        kept = "in --out" if arguments.out is not None and refused is None else "nowhere (--out keeps them)"
        arguments.paid = f"ε = {request.epsilon:g} is spent, and its centres lie {kept}; another run spends again"
    report = _make_report(record, finished, table, evaluated=arguments.evaluate) | {"expected": judged.announcement}
    report["verdict"] = "" if finished.verdict is None or finished.verdict.fine else finished.verdict.words
    for note in notes:
        say(note)
    if table.loaded.n_rows < finished.k:  # for the owner: a private n must not decide whether a release is made
        say(SENTENCES.fill("few_rows"))
    if arguments.json:
        text = json.dumps(report, allow_nan=False)
    else:
        text = format_run(report, card, name=table.loaded.name, finished=finished)
    if centers is None or refused is None:
        return text
    in_full = "" if arguments.json else f"\n\nThe same as --out would hold it:\n{centers.strip()}"
    raise NotWritten(SENTENCES.fill("centres_not_written", why=refused), text + in_full)


def _make_report(record: ReleaseRecord, finished: Run, table: OpenTable, *, evaluated: bool) -> dict[str, Any]:
    """The run in the form of ``--json``; what was read without privacy stands under "revealed"."""
    revealed = {} if finished.private else {"centers": finished.centers.tolist()}
    if evaluated:
        revealed |= _compute_scores(finished, table)
    finite: dict[str, Any] = to_plain(record.to_dict() | ({"revealed": revealed} if revealed else {}))
    return finite


def _compute_scores(finished: Run, table: OpenTable) -> dict[str, float]:
    """Measures of the centres; ``unlabelled`` is how many of the rows or points that are judged have no label."""
    from dpviz.runs import clip_rows, evaluation

    revealed = table.private.reveal(note="run --evaluate", kind=AccessKind.LOSS)
    rows = clip_rows(revealed, table.private.domain.region).unfold(finished.points_per_row)
    scores = evaluation.evaluate(rows, finished.unit_centers, evaluation.find_reference(rows, finished.k)).to_dict()
    labels = table.read_labels(revealed.unfold(finished.points_per_row))
    if labels is not None:
        own = evaluation.assign(rows.points, finished.unit_centers)
        scores["label_accuracy"] = evaluation.label_accuracy(labels, own)
        scores["label_ceiling"] = evaluation.label_ceiling(labels, finished.k)
        scores["unlabelled"] = int((labels < 0).sum())
    return scores


def _check_out(out: Path, card: Card, *, data: Path) -> None:
    """Refuse a file that could not be written before any budget is spent."""
    if not card.private:
        raise make_refusal("no_private_centres", algorithm=card.id)
    try:
        is_data = out.exists() and data.exists() and out.samefile(data)
        has_place = not out.is_dir() and out.absolute().parent.is_dir()
    except (OSError, ValueError):  # a name that is too long, or with a character that no file may have
        raise RequestError("--out is no path that a file can have here: give another one.") from None
    if is_data:
        raise RequestError("--out names the data file itself: give another file.")
    if not has_place:
        raise RequestError("--out is not a file in a folder that exists: make the folder first, or give another path.")


def format_run(report: dict[str, Any], card: Card, *, name: str, finished: Run) -> str:
    """``report`` is what ``--json`` prints of a ``finished`` run."""
    revealed = report.get("revealed", {})
    unlabelled = revealed.get("label_accuracy", 0.0) is None  # which a line of its own says
    scores = [
        (one, f"{value:,}" if isinstance(value, int) else "infinite" if value is None else f"{value:.4g}")
        for one, value in revealed.items()
        if one != "centers" and not (unlabelled and one.startswith("label_"))
    ]
    said = {"report": report, "card": card, "name": name, "run": finished, "scores": scores, "table": format_table}
    return render("run.txt.j2", **said, PLUS_MINUS=PLUS_MINUS, tabulate=tabulate_entries).rstrip("\n")
