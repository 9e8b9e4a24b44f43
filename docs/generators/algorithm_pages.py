"""One page for each algorithm, from its card: paper, story, parameters, a ledger, and a run that plays."""

from __future__ import annotations

import warnings
from html import escape
from pathlib import Path

from dpviz import CARDS, run, sample, show
from dpviz.algorithms.card import Card, Guarantee
from dpviz.runs.one_run import Run
from dpviz.runs.open_table import declare

EPSILON, DELTA, SEED = 1.0, 1e-6, 7
_PROMISES = {
    Guarantee.PURE: "ε-differential privacy (δ = 0)",
    Guarantee.APPROX: "(ε, δ)-differential privacy",
    Guarantee.NONE: "none: it is the reference, and never a release",
}


def make_pages(root: Path) -> dict[str, str | bytes]:
    """A page and a player for each card."""
    return {place: content for card in CARDS.values() for place, content in make_card_pages(card).items()}


def make_card_pages(card: Card) -> dict[str, str | bytes]:
    """The page of one card, and the player of a run of it; the reference is never a release and has none."""
    finished = _run_example(card)
    made: dict[str, str | bytes] = {f"algorithms/{card.id}.md": _write_page(card, finished)}
    if card.private:
        page = show(finished, title=sample(card.sample).title).html
        made[f"algorithms/players/{card.id}.html"] = page.encode()
    return made


def _run_example(card: Card) -> Run:
    """One run on the sample that the card names, with as many centres as groups were put into it."""
    needs_delta = Guarantee.PURE not in card.guarantees and card.private
    example = sample(card.sample)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a warning says stands in the run's notes
        table = declare(*example.load()).private
        delta = DELTA if needs_delta else 0.0
        return run(card.id, table, k=example.clusters, epsilon=EPSILON, delta=delta, seed=SEED)


def _write_page(card: Card, finished: Run) -> str:
    example = sample(card.sample)
    lines = [
        f"# {card.title} (`{card.id}`)",
        "",
        f"{card.summary}",
        "",
        "| | |",
        "|---|---|",
        f"| paper | {_escape_cell(card.paper)} |",
        f"| promise | {_escape_cell('; '.join(_PROMISES[one] for one in card.guarantees))} |",
        f"| what it does with the rows | {_escape_cell(card.does)} |",
        f"| release-grade noise | {'yes' if card.releasable else _escape_cell(f'no: {card.release}')} |",
        f"| sparse tables | {'yes' if card.sparse else 'no'} |",
        f"| tables beyond memory | {'no: it needs all rows at once' if card.at_once else 'yes'} |",
        "",
        "## How it works",
        "",
        card.story,
        "",
        "## When to use it",
        "",
        card.when,
        "",
    ]
    if card.hopeless:
        lines += [f"Below the number of records that its regime asks for, {card.hopeless}.", ""]
    if card.private:
        lines += [
            "## A run, step by step",
            "",
            f"*{example.title}*, k = {example.clusters}, ε = {finished.epsilon:g}"
            + (f", δ = {finished.delta:g}" if finished.delta else "")
            + ", study noise with a fixed seed. The bar above the picture is the budget.",
            "",
            f'<iframe class="player" loading="lazy" title="A run of {escape(card.title)}" '
            f'src="players/{card.id}.html"></iframe>',
            "",
            "## What the run spent, and on what",
            "",
            f'<pre class="plain">{escape(str(finished.ledger))}</pre>',
            "",
            "## Regime",
            "",
            *(f"* {note}" for note in finished.warnings),
            "",
        ]
    return "\n".join([*lines, *_write_parameters(card)])


def _write_parameters(card: Card) -> list[str]:
    fields = card.params.param_fields()
    if not fields:
        return ["## Parameters", "", "None but k, ε and δ.", ""]
    rows = [
        f"| `{one.name}` | {'by a rule' if one.default is None else f'`{one.default}`'} "
        f"| {_escape_cell(', '.join(one.choices) if one.choices else one.range_text)} | {_escape_cell(one.help)} |"
        for one in fields
    ]
    return ["## Parameters", "", "| name | default | allowed | meaning |", "|---|---|---|---|", *rows, ""]


def _escape_cell(text: str) -> str:
    return text.replace("|", "\\|")
