"""The parts of the page *What ε means* as figures for a page that is taken away; their runs are made here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from dpviz.app.charts.meaning.asking_costs import SENTENCE, describe_costs, draw_costs
from dpviz.app.charts.meaning.attack_region import draw_attack_region, list_attackers
from dpviz.app.charts.meaning.deployment_strip import draw_deployments
from dpviz.app.charts.meaning.deployments import SOURCE, load_deployments
from dpviz.app.charts.meaning.icon_array import draw_icon_array
from dpviz.app.charts.meaning.twin_clouds import TwinClouds, draw_twin_clouds
from dpviz.app.charts.player.player_page import Figured
from dpviz.app.charts.view import make_view
from dpviz.runs import AskingAgain, OpenTable, Request, clip_rows, membership, run_request

_HALF = 0.5


def make_part_figures(part: str, table: OpenTable, asked: Request) -> list[Figured]:
    """Figures of the part with that name, about the person of a public table who is hardest to hide."""
    return list(_PARTS[part](table, asked))


def _draw_odds(table: OpenTable, asked: Request) -> Iterator[Figured]:
    array = draw_icon_array(_HALF, asked.epsilon)
    yield Figured.of(array.draw, array.words, "public")


def _draw_attack(table: OpenTable, asked: Request) -> Iterator[Figured]:
    items = list(membership.attack_work(membership.make_neighbors(table, membership.find_farthest_row(table)), asked))
    reference = [item.trial for item in items if isinstance(item, membership.ReferenceTrial)]
    attackers = list_attackers([item for item in items if isinstance(item, membership.AttackTrial)], reference)
    region = draw_attack_region(attackers, asked.epsilon, asked.delta)
    yield Figured.of(region.draw, region.words, "public", "released", "revealed")


def _draw_neighbors(table: OpenTable, asked: Request) -> Iterator[Figured]:
    both = membership.make_neighbors(table, membership.find_farthest_row(table))
    rows = clip_rows(table.private.reveal(note="neighbours of a public table"), table.domain.region).points
    clouds = TwinClouds.of(_run_trials(table, asked), both.person)
    drawn = draw_twin_clouds(clouds, make_view(table.domain), rows, asked.epsilon)
    yield Figured.of(drawn.draw, drawn.words, "released", "revealed")


def _draw_again(table: OpenTable, asked: Request) -> Iterator[Figured]:
    again = AskingAgain.of(_run_trials(table, asked), run_request(asked, table.private).entries, asked)
    for place, curve in enumerate(draw_costs(again)):
        first = replace(curve, finding=f"{describe_costs(again)}. {curve.finding}", note=SENTENCE)
        yield Figured.of((curve if place else first).draw, curve.words, "released")


def _draw_others(table: OpenTable, asked: Request) -> Iterator[Figured]:
    strip = draw_deployments(load_deployments(), asked.epsilon)
    sourced = replace(strip, note=f"{strip.note} Source: {SOURCE}.")
    yield Figured.of(sourced.draw, strip.words, "public")


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
