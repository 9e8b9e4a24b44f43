"""An animation, and it as a page of its own: nothing is fetched or private, names stay text, and it is small."""

import base64
import gzip
import json
import re
from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np
import pytest

import dpviz
from dpviz.app.charts.animation import Animation, TitleNumber
from dpviz.app.charts.canvas import RevealedView
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.player import player_page
from dpviz.app.charts.player.player_page import RELEASED_ONLY, PlayerScene, animate, make_player_page
from dpviz.app.charts.view import make_view
from dpviz.core import RequestError
from dpviz.runs import Contender, OpenTable, ReleaseRecord, Request, Run, clip_rows, declare, run, run_steps
from dpviz.runs.evaluation import Reference, find_reference, measure_recovery
from dpviz.tables import Declaration, FileKind, make_numeric_table
from dpviz.words import choose_palette
from tests.contract.tables import make_blobs
from tests.pages.tables import open_blobs

LIGHT = choose_palette("light")
HOSTILE = "</script><b>bold</b><script>alert(1)</script>"
"""Bytes of an animation in one palette, as the pages send it."""


def packed_in(page: str) -> dict[str, Any]:
    """What lies in the page for its script, unpacked."""
    (block,) = re.findall(r'<script type="application/json" id="packed">(.*?)</script>', page, flags=re.DOTALL)
    held: dict[str, Any] = json.loads(block)
    return held | json.loads(gzip.decompress(base64.b64decode(held["drawn"])))


def numbers_in(value: Any) -> Iterator[np.ndarray]:
    """All numbers of an animation, those in base64, too."""
    if isinstance(value, dict) and "bdata" in value:
        yield np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"]).astype(float)
    elif isinstance(value, dict):
        for part in value.values():
            yield from numbers_in(part)
    elif isinstance(value, list):
        yield np.array([one for one in value if isinstance(one, int | float)], float)
        for part in value:
            yield from numbers_in(part)
    elif isinstance(value, str):
        yield np.array([float(found) for found in re.findall(r"\d+\.\d+", value)], float)


def truth_of(table: OpenTable, k: int) -> tuple[RenderContext, Reference, np.ndarray]:
    """All that an owner may see of the rows, and the rows in unit coordinates."""
    rows = clip_rows(table.private.reveal(note="test"), table.domain.region)
    reference = find_reference(rows, k)
    found = lambda centers: measure_recovery(rows.points, centers, reference)  # noqa: E731
    shown = (RevealedView.of(rows.points, "test"), reference, found)
    more = {"ratio": lambda _: 1.2345, "epsilon": 1.0, "ghosts": (rows.points[:k],)}
    context = RenderContext(make_view(table.domain), choose_palette("dark"), *shown, **more)
    return context, reference, rows.points


def occurs(page: str, values: np.ndarray, *, precision: float = 1e-7) -> float:
    """Which share of ``values`` is among the numbers of a page, its animations' included."""
    words = page.split("<body>")[1].split('<script type="application/json"')[0]
    there = np.unique(np.concatenate([*numbers_in(packed_in(page)["animations"]), *numbers_in(words), [np.inf]]))
    place = np.clip(np.searchsorted(there, values), 1, len(there) - 1)
    gap = np.minimum(np.abs(there[place] - values), np.abs(there[place - 1] - values))
    return float(np.mean(gap <= precision * np.maximum(np.abs(values), 1e-3)))


def leaks(page: str, values: np.ndarray) -> bool:
    """Whether one of ``values`` is in the page to its last digit, or more to seven digits than chance brings."""
    return occurs(page, values, precision=1e-13) > 0 or occurs(page, values) > 0.002


def page_of(table: OpenTable, finished: Run, context: RenderContext, numbers: tuple[TitleNumber, ...] = ()) -> str:
    record = ReleaseRecord.of(finished, table)
    return make_player_page([PlayerScene("", [], animate(finished, context, numbers), record, table.title)])


def run_eugkm(table: OpenTable, seed: int = 1) -> Run:
    return run("eugkm", table.private, k=3, epsilon=1.0, seed=seed)


@pytest.mark.some(3)
@pytest.mark.parametrize("algorithm", ["auto", "balcan", "eugkm", "dplloyd", "gkm", "lsh-coreset", "kvariates"])
def test_nothing_of_the_rows_is_in_a_page_of_released_values(algorithm: str) -> None:
    table = open_blobs(FileKind.PRIVATE, n=900)
    finished = run(algorithm, table.private, k=3, epsilon=1.0, delta=1e-6 if algorithm == "lsh-coreset" else 0, seed=2)
    context, reference, rows = truth_of(table, 3)
    page = page_of(table, finished, context.without_rows())
    secrets = [(unit, table.domain.from_unit(unit)) for unit in (rows, reference.centers)]
    assert not leaks(page, np.concatenate([points.ravel() for pair in secrets for points in pair]))
    assert occurs(page, finished.centers.ravel()) == 1, "the release is what is in it"
    assert RELEASED_ONLY in page and 'class="revealed"' not in page
    for announced in finished.warnings:  # said before the first row was read, from a table that is public
        page = page.replace(escape(announced), "")
    assert "k-means++" not in page
    # It follows from the run alone, which holds released and public values only.
    alone = animate(finished, RenderContext(make_view(finished.domain), LIGHT, epsilon=1.0))
    assert packed_in(page)["animations"] == [json.loads(json.dumps(alone))]


def test_the_same_search_finds_rows_and_reference_where_they_may_be_shown() -> None:
    table = open_blobs(n=900)
    context, reference, rows = truth_of(table, 3)
    page = page_of(table, run_eugkm(table, 2), context, (TitleNumber("revealed", "1.23×", "the loss of k-means++"),))
    shown = table.domain.from_unit(rows)
    assert occurs(page, shown.ravel()) > 0.95 and all(leaks(page, value) for value in shown[:20])
    assert occurs(page, table.domain.from_unit(reference.centers).ravel()) == 1
    assert RELEASED_ONLY not in page
    assert all(f'<b class="{kind}">{kind}</b>: ' in page for kind in ("released", "revealed"))
    assert {"released", "revealed"} <= set(packed_in(page)["animations"][0]["kinds"])


def test_hostile_names_stay_text() -> None:
    told = Declaration(columns=(HOSTILE, "y"), lower=(-1.0,) * 2, upper=(1.0,) * 2, kind=FileKind.PUBLIC, title=HOSTILE)
    table = declare(make_numeric_table(make_blobs(300), [HOSTILE, "y"], name="a"), told)
    finished, look = run_eugkm(table), truth_of(table, 3)[0]
    page = page_of(table, finished, look)
    scenes = [PlayerScene(HOSTILE, [HOSTILE]), PlayerScene(animation=animate(finished, look))]
    several = make_player_page(scenes, title=HOSTILE)
    for made in (page, several):
        assert "<b>bold" not in made and "alert(1)</script>" not in made
        assert made.count("</script>") == 2, "the block of data, and the script"
    assert escape(HOSTILE, quote=False) in page
    assert HOSTILE not in player_page.frame_page(page)


def test_a_page_names_no_place_to_fetch_anything_from() -> None:
    table = open_blobs()
    page = page_of(table, run_eugkm(table), truth_of(table, 3)[0])
    assert "default-src 'none'" in page
    held = packed_in(page)
    markup = page.replace(held["library"], "").replace(held["drawn"], json.dumps([held["animations"], held["figures"]]))
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", markup)
    assert "src=" not in markup.replace("{ src: VENDOR", "") and "href=" not in markup
    assert not re.search(r"url\((?!#)", markup)


def test_what_has_no_privacy_is_shown_as_revealed_and_never_saved(tmp_path) -> None:
    shown = dpviz.show(run("kmeans++", open_blobs(FileKind.PRIVATE).private, k=3, epsilon=1.0, seed=1))
    assert '<b class="revealed">revealed</b>: ' in shown.html and RELEASED_ONLY not in shown.html
    with pytest.raises(RequestError, match="no privacy"):
        shown.save(tmp_path / "run.html")
    assert not (tmp_path / "run.html").exists()
    released = dpviz.show(run_eugkm(open_blobs(FileKind.PRIVATE)))
    assert released.save(tmp_path / "run.html").read_text("utf-8") == released.html


@pytest.mark.some(1)
@pytest.mark.parametrize("algorithm", ["eugkm", "auto", "balcan"])
def test_of_a_run_under_way_no_step_speaks_for_the_run(algorithm: str) -> None:
    table = open_blobs()
    *growing, done = run_steps(Request(Contender(algorithm), 3, 1.0, 1e-6, seed=1), table.private)
    context = RenderContext(make_view(table.domain), LIGHT, epsilon=1.0, ratio=lambda _: 1.5)
    whole = Animation.of_run(done, context).to_data()["steps"]
    for so_far in growing:
        steps = Animation.of_run(so_far, context).to_data()["steps"]
        assert [step["name"] for step in steps] == [step["name"] for step in whole][: len(steps)]
        assert [step["spent"] for step in steps] == [step["spent"] for step in whole][: len(steps)]
        assert "1.5" not in " ".join(step["title"] for step in steps)
    assert "1.5" in whole[-1]["title"]
