"""Whatever leaves a page: one record behind all files of a run, marked inside and by name, without a time."""

import dataclasses
import io
import json
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import streamlit
from streamlit.testing.v1 import AppTest

from dpviz.app.charts.animation import TitleNumber
from dpviz.app.charts.player.player_page import MOST_BYTES, RELEASED_ONLY, animate
from dpviz.app.charts.plot import pack
from dpviz.runs import OpenTable, declare
from dpviz.runs.export import format_centers_csv, format_run_json
from dpviz.tables import open_csv
from dpviz.tables.declarations import FROM_ROWS, Declaration, FileKind
from tests.app.charts.test_player_page import leaks, packed_in, truth_of
from tests.contract.tables import make_blobs
from tests.pages import tables
from tests.pages.site import open_ledger
from tests.pages.tables import app_on, ask, computed, open_below, open_blobs, sound, text_of, truth_switch


class Taken(NamedTuple):
    """A file that a page offers."""

    name: str
    data: bytes

    @property
    def frame(self) -> pd.DataFrame:
        return pd.read_csv(io.BytesIO(self.data))


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> dict[str, Taken]:
    """The files behind all download buttons, as they were last drawn, by their labels."""
    files: dict[str, Taken] = {}
    real = streamlit.download_button

    def noted(label: str, data: Any, file_name: str, *args: Any, **kwargs: Any) -> bool:
        made = data() if callable(data) else data
        files[label] = Taken(file_name, made if isinstance(made, bytes) else made.encode())
        return real(label, data, file_name, *args, **kwargs)

    monkeypatch.setattr(streamlit, "download_button", noted)
    return files


PLAYED = "Play it anywhere (HTML)"


def ran(table: OpenTable, *, seed: int | None = 4, k: int = 3) -> AppTest:
    """Explore after a run of DPLloyd, with its files in sight."""
    app = app_on("home.py", table, algorithm="dplloyd")
    if seed is not None:
        app.session_state["visit:settings"]["bench:seed"] = seed
    ask(app, k=k)
    if app.session_state["run:result"].table_key != app.session_state["visit:table"].key:  # a private one waits
        tables.run_again(app)
        sound(app.run())
    return open_below(app, "Take away")


@pytest.mark.parametrize(("seed", "why"), [(4, "follows from a seed"), (None, "not hardened")])
def test_every_file_of_a_run_says_inside_and_by_its_name_what_it_is_not_and_whether_bounds_are_from_rows(
    offered, seed, why
) -> None:
    table = open_blobs()
    read = {"declaration": dataclasses.replace(table.declaration, origins=("", FROM_ROWS))} if seed is None else {}
    app = ran(dataclasses.replace(table, **read), seed=seed)
    assert why in text_of(app)
    open_ledger(app)
    assert set(offered) == {PLAYED, "Centres (CSV)", "Run (JSON)", "Ledger (CSV)"}
    for taken in offered.values():
        text = taken.data.decode()
        assert taken.name.startswith("SIMULATION_") and "SIMULATION: " in text and why in text
        assert ("BOUNDS_FROM_ROWS_" in taken.name) == ("BOUNDS_FROM_ROWS: " in text) == bool(read)
    for label in ("Centres (CSV)", "Ledger (CSV)"):
        assert offered[label].frame["note"].str.contains(why).all()
    told = json.loads(offered["Run (JSON)"].data)
    assert why in told["note"] and told["seeded"] == (seed is not None)


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_one_record_is_behind_the_json_the_centres_and_the_ledger(offered, relation) -> None:
    values = "".join(f"{x!r},{y!r}\n" for x, y in make_blobs(400).tolist())
    told = Declaration(columns=("x", "y"), lower=(-1.0,) * 2, upper=(1.0,) * 2, relation=relation)
    app = ran(declare(open_csv(f"x,y\n{values}".encode()), told), seed=None)
    open_ledger(app)
    *_, entry = app.session_state["visit:books"]
    record = entry.record
    assert offered["Run (JSON)"].data.decode() == format_run_json(record)
    assert offered["Centres (CSV)"].data.decode() == format_centers_csv(record)
    said, ledger = json.loads(offered["Run (JSON)"].data), offered["Ledger (CSV)"].frame
    for column, key in (("amount", "amount"), ("noise scale", "scale"), ("sensitivity", "sensitivity")):
        assert np.array_equal(ledger[column], [line[key] for line in said["ledger"]["entries"]])
    assert set(ledger["note"]) == {said["note"]} == {record.note}
    assert set(ledger["version"]) == {said["version"]} and set(ledger["date"]) == {said["date"]}
    runs = app.dataframe[0].value
    assert runs["ε spent"].tolist() == [said["ledger"]["epsilon"]]
    origin = {"add_remove": "bought", "replace": "by the replace relation"}[relation]
    assert set(ledger["n"]) == set(runs["n"]) == {said["n_origin"]} == {origin}


def test_the_page_of_a_private_run_holds_its_release_only_whatever_its_owner_sees(offered) -> None:
    table = open_blobs(FileKind.PRIVATE, n=900)
    app = ran(table)
    truth_switch(app).set_value(True)
    sound(app.run())
    assert "k-means++" in str(tables.read_animation(app)["numbers"]), "truth is on the screen"
    name, data = offered[PLAYED]
    page = data.decode()
    run = app.session_state["run:result"].run
    assert name == f"SIMULATION_dplloyd_k3_eps{run.epsilon:g}.html"
    look, reference, rows = truth_of(table, 3)
    shown = [table.domain.from_unit(points) for points in (rows, reference.centers)]
    assert not leaks(page, np.concatenate([points.ravel() for points in (*shown, rows)]))
    assert RELEASED_ONLY in page and "the loss of k-means++" not in page and "private: not in this file" in page
    numbers = [TitleNumber.of_spending(run)]
    seen = dataclasses.replace(look.without_rows(), epsilon=run.epsilon)
    assert packed_in(page)["animations"] == [json.loads(pack(animate(run, seen, numbers)))]


def test_the_reference_offers_no_file_and_that_of_settings_holds_no_result(offered) -> None:
    app = app_on("home.py", open_blobs(), algorithm="kmeans++")
    assert "run:result" in app.session_state
    open_below(app, "Take away")
    assert not offered
    app_on("compare.py", open_blobs(), drawer="settings")
    (taken,) = offered.values()
    assert taken.name == "trade-off-study.yaml" and b"epsilon" in taken.data and b"ratio" not in taken.data


RUNS, BEHIND, PAGE = "runs (CSV)", "These numbers (CSV)", "See it anywhere (HTML)"
# Where a study is computed, and the files that it offers.
STUDIES = {where: {RUNS, BEHIND, PAGE} for where in ("sweep", "map", "ks", "ns")}
STUDIES |= {"causes": {BEHIND, PAGE}, "payers": {BEHIND, PAGE}, "draws": {BEHIND}, "compare": {RUNS, PAGE}}


@pytest.mark.some(2)
@pytest.mark.parametrize(("where", "files"), STUDIES.items(), ids=list(STUDIES))
def test_every_file_of_a_study_says_inside_and_by_its_name_that_losses_are_revealed(
    offered, where: str, files: set[str]
) -> None:
    app = app_on("compare.py", open_blobs(), drawer=where)
    app.multiselect(key="compare:contenders").set_value(["DPLloyd", "EUGkM"])
    app.slider(key="compare:repeats").set_value(1)
    app.number_input(key="k").set_value(3)
    if where in ("sweep", "map"):
        app.select_slider(key=f"{where}:range").set_value((0.5, 1.0))
    app.session_state[f"{where}:repeats"] = {"draws": 5, "payers": 5, "causes": 3}.get(where, 1)
    app.session_state["compare:below"] = "Take away"
    app.session_state[f"{where}:table"] = True
    computed(sound(app.run()), where)
    assert {RUNS if label.endswith(RUNS) else label for label in offered} == files
    page = offered.pop(PAGE, None)
    if page is not None:
        assert page.name.startswith("SIMULATION_revealed_") and page.name.endswith(".html")
        assert len(page.data) <= MOST_BYTES
        words = page.data.decode()
        assert "REVEALED: losses are read from rows" in words and '<b class="revealed">revealed</b>: ' in words
        assert "Losses on blobs, " in words and "protects 1 row" in words and "<details>" in words
    for taken in offered.values():
        assert taken.name.startswith("SIMULATION_revealed_") and taken.name.endswith(".csv")
        assert taken.frame["note"].str.contains("REVEALED: losses are read from rows").all()
        assert taken.frame["note"].str.contains("SIMULATION: ").all()
