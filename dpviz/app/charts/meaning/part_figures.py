"""The parts of the page *What ε means* as figures for a page that is taken away; their runs are made here."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dpviz.app.charts.meaning.asking_costs import AskingCosts
from dpviz.app.charts.meaning.attack_region import AttackRegion
from dpviz.app.charts.meaning.deployment_strip import DeploymentStrip
from dpviz.app.charts.meaning.deployments import SOURCE, load_deployments
from dpviz.app.charts.meaning.icon_array import IconArray
from dpviz.app.charts.meaning.twin_clouds import TwinClouds
from dpviz.app.charts.player.player_page import Figured
from dpviz.app.charts.view import make_view
from dpviz.runs import AskingAgain, OpenTable, Request, clip_rows, membership, run_request

_HALF = 0.5


def make_part_figures(part: str, table: OpenTable, asked: Request) -> list[Figured]:
    """Figures of the part with that name, about the person of a public table who is hardest to hide."""
    return list(_PARTS[part](table, asked))


def _draw_odds(table: OpenTable, asked: Request) -> Iterator[Figured]:
    array = IconArray(_HALF, asked.epsilon)
    yield Figured.under(array.draw, array.title, array.words(), "public", subtitle=array.sentence)


def _draw_attack(table: OpenTable, asked: Request) -> Iterator[Figured]:
    items = list(membership.attack_work(membership.make_neighbors(table, membership.find_farthest_row(table)), asked))
    reference = [item.trial for item in items if isinstance(item, membership.ReferenceTrial)]
    region = AttackRegion.of([item for item in items if isinstance(item, membership.AttackTrial)], reference, asked)
    yield Figured.under(
        region.draw, region.title, region.words(), "public", "released", "revealed", subtitle=region.sentence
    )


def _draw_neighbors(table: OpenTable, asked: Request) -> Iterator[Figured]:
    both = membership.make_neighbors(table, membership.find_farthest_row(table))
    rows = clip_rows(table.private.reveal(note="neighbours of a public table"), table.domain.region).points
    clouds = TwinClouds.of(_run_trials(table, asked), make_view(table.domain), rows, both.person, asked.epsilon)
    yield Figured.under(clouds.draw, clouds.title, clouds.words(), "released", "revealed", subtitle=clouds.sentence)


def _draw_again(table: OpenTable, asked: Request) -> Iterator[Figured]:
    costs = AskingCosts(AskingAgain.of(_run_trials(table, asked), run_request(asked, table.private).entries, asked))
    for place, curve in enumerate(costs.curves):
        heading, subtitle = (f"{costs.title}. {curve.heading}", costs.sentence) if not place else (curve.heading, "")
        yield Figured.under(curve.draw, heading, curve.words, "released", subtitle=subtitle)


def _draw_others(table: OpenTable, asked: Request) -> Iterator[Figured]:
    strip = DeploymentStrip(load_deployments(), asked.epsilon)
    about = f"{strip.sentence} Source: {SOURCE}."
    yield Figured.under(strip.draw, strip.title, strip.words(), "public", subtitle=about)


def _run_trials(table: OpenTable, asked: Request) -> list[membership.AttackTrial]:
    both = membership.attack_work(membership.make_neighbors(table, membership.find_farthest_row(table)), asked)
    return [item for item in both if isinstance(item, membership.AttackTrial)]


_PARTS: dict[str, Callable[[OpenTable, Request], Iterator[Figured]]] = {
    "odds": _draw_odds,
    "attack": _draw_attack,
    "worlds": _draw_neighbors,
    "again": _draw_again,
    "others": _draw_others,
}
