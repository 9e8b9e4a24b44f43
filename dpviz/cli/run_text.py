"""A run as text for a terminal: what was released, what it cost, what to expect of it."""

from __future__ import annotations

from typing import Any

from dpviz.algorithms.card import Card
from dpviz.printed import table_text
from dpviz.privacy.ledger import entries_table
from dpviz.runs.record import RELEASE_GRADE
from dpviz.runs.run import NOT_HARDENED, centers_table


def run_text(report: dict[str, Any], card: Card, *, name: str) -> str:
    """``report`` is what ``--json`` prints."""
    blocks = [f"{card.title} on {name}: k = {report['k']}", _privacy(report)]
    if report["released"]["centers"] is not None:
        heading = "Released centres (they carry noise), data units"
        released = report["released"]
        blocks.append(
            centers_table(heading, report["columns"], released["centers"], released["weights"]).text(most=None)
        )
        heading = "Ledger (what was spent, and on what; --json lists all)"
        blocks.append(entries_table(report["ledger"]["entries"], heading).text())
    if "revealed" in report:
        blocks.append(_revealed(report))
    blocks += [f"Note: {warning}" for warning in report["warnings"]]
    if card.private and report["noise"] != RELEASE_GRADE:
        blocks.append(f"Note: {NOT_HARDENED}")
    return "\n\n".join(blocks)


def _privacy(report: dict[str, Any]) -> str:
    ledger = report["ledger"]
    if ledger["epsilon"] is None:
        return "Privacy: none. The rows themselves were read."
    public = "" if report["n_public"] is None else f"{report['n_public']:,}, public: "
    n = {"bought": "private, a noisy one was bought"}.get(report["n_origin"], f"{public}{report['n_origin']}")
    return (
        f"Privacy: ε = {report['epsilon']:g} (spent {ledger['epsilon']:.6g}), δ = {ledger['delta']:g}, "
        f"{ledger['accounting']} accounting; relation {report['relation']}; unit of privacy: {report['unit']}; n: {n}"
    )


def _revealed(report: dict[str, Any]) -> str:
    revealed = dict(report["revealed"])
    centers = revealed.pop("centers", None)
    parts = []
    if centers is not None:
        heading = "Revealed centres (read from the rows without privacy, never a release), data units"
        parts.append(centers_table(heading, report["columns"], centers, None).text(most=None))
    if revealed:
        if revealed.get("label_accuracy", 0.0) is None:
            del revealed["label_accuracy"]  # no row has a label, as the next line says
        rows = [[_SCORE_WORDS[name], _score(value)] for name, value in revealed.items()]
        scores = table_text(["measure", "value"], rows)
        parts.append(f"Revealed (read from the rows for their owner, never part of a release):\n{scores}")
    return "\n\n".join(parts)


def _score(value: float | None) -> str:
    if value is None:
        return "infinite"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


_SCORE_WORDS = {
    "nicv": "loss per row",
    "nicv_kmeans": "loss per row of k-means++",
    "ratio": "ratio to k-means++",
    "matched_error": "error of matched centres",
    "distance_ratio": "mean distance against k-means++",
    "ari": "adjusted Rand index against k-means++",
    "share_gap": "largest error of a segment's share",
    "label_accuracy": "label accuracy of the labelled",
    "unlabelled": "without a label, left out there",
    "clipping": "clipping: squared move of a row, beside the losses",
}
