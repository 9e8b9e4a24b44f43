"""Catalogues read a release by their own libraries; whoever unpacks one finds pictures, a notebook and ten lines."""

import csv
import io
import json
import logging
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import frictionless
import mlcroissant
import numpy as np
import pandas as pd
import pytest

from dpviz.releases.package import CENTERS, CROISSANT, DATAPACKAGE, IN_ORDER, MAP, NOTEBOOK, PROFILE, README, TABLES
from dpviz.releases.render import render_files
from dpviz.tables.declarations import Declaration, apply_declaration
from tests.releases.made_played import people, played, press
from tests.releases.segment_tables import KINDS, mixed_frame

# Names that mean something to CSV, to XML, to JSON-LD and to whoever looks for columns by name.
HOSTILE = ('a,"b"', "segment", "<b>&\x07", "noisy_size", "@id")


@cache
def mixed() -> Mapping[str, bytes]:
    """The files of a release of dates, categories, ranks, hours and amounts."""
    declared = apply_declaration(json.dumps({"bounds": KINDS, "bounds_origin": "law or physics", "n_public": 600}))
    return render_files(press(mixed_frame(600), declared.validate(), k=3, segments=0.3))


@cache
def hostile() -> Mapping[str, bytes]:
    """The files of a release whose columns have names that are in the way."""
    rows = pd.DataFrame(np.random.default_rng(1).uniform(0, 1, (300, len(HOSTILE))), columns=[*HOSTILE])
    many = len(HOSTILE)
    declared = Declaration(HOSTILE, (0.0,) * many, (1.0,) * many, bounds_origin="law or physics", n_public=300)
    return render_files(press(rows, declared, k=2))


MADE = {
    "two columns": lambda: render_files(played(segments=0.2)),
    "people": lambda: render_files(people()),
    "mixed": mixed,
    "hostile": hostile,
    "centres alone": lambda: render_files(played()),
}


@pytest.fixture(params=MADE)
def files(request: pytest.FixtureRequest) -> Mapping[str, bytes]:
    made: Mapping[str, bytes] = MADE[request.param]()
    return made


@pytest.fixture
def folder(files: Mapping[str, bytes], tmp_path: Path) -> Path:
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


def read_rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_library_of_frictionless_finds_every_cell_as_described(folder: Path) -> None:
    report = frictionless.validate(str(folder / DATAPACKAGE))
    assert report.valid, report.flatten(["type", "message"])
    tables = [task for task in report.tasks if "rows" in task.stats]
    assert {task.place for task in tables} == {name for name in TABLES if (folder / name).exists()}


def test_a_descriptor_says_what_was_declared() -> None:
    told = json.loads(mixed()[DATAPACKAGE])
    (centers,) = (one for one in told["resources"] if one["path"] == CENTERS)
    fields = {one["name"]: one for one in centers["schema"]["fields"]}
    assert list(fields) == list(read_rows(mixed()[CENTERS])[0])
    assert fields["joined"]["unit"] == "days from 2020-01-01" and fields["joined_in_words"]["type"] == "date"
    assert fields["pay"]["constraints"] == {"minimum": 100.0, "maximum": 100_000.0}
    assert fields["noisy_size"]["type"] == "integer"
    assert told["privacy"]["epsilon"] == 1.0 and told["title"] == "Six walks of life, 2026"
    assert {one["path"] for one in told["resources"]} == {*mixed()} - {DATAPACKAGE, CROISSANT}
    for said, begun in (("Six walks", "Six walks. Released with"), ("Whose?", "Whose? Released with")):
        made = played(said={"description": said, "justification": said})
        described = json.loads(render_files(made)[CROISSANT])["description"]
        assert described.startswith(begun), "what the owner says ends before the program speaks"
        assert made.request.with_argument("Released with ε.").words.justification == f"{begun} ε."


@pytest.mark.filterwarnings("ignore")
def test_the_library_of_croissant_reads_every_record(files: Mapping[str, bytes], folder: Path) -> None:
    logging.disable(logging.WARNING)  # it wants a licence, which the owner of a release has not named
    try:
        dataset = mlcroissant.Dataset(jsonld=str(folder / CROISSANT))
    finally:
        logging.disable(logging.NOTSET)
    assert not dataset.metadata.issues.errors
    assert {f"{one.id}.csv" for one in dataset.metadata.record_sets} == {*TABLES} & {*files}
    croissant = json.loads(files[CROISSANT])
    names = {one["@id"]: one["name"] for kind in croissant["recordSet"] for one in kind["field"]}
    for record, row in zip(dataset.records("centers"), read_rows(files[CENTERS]), strict=True):
        assert [names[place] for place in record] == list(row)
        assert [float(one) for one in record.values() if isinstance(one, float | int)][1:4] == [
            float(row[name]) for name in list(row)[1:4]
        ]
    told = croissant["distribution"]
    assert [one["@id"] for one in told] == [name for name in IN_ORDER if name in {*files} - {DATAPACKAGE, CROISSANT}]
    assert all(one["description"] and len(one["sha256"]) == 64 for one in told)


def test_the_first_file_has_ten_lines_whatever_its_owner_says() -> None:
    for said in ({}, {"name": "Two\nlines\r\nand\ta tab", "curators": ("One\u2028", "b" * 500)}):
        text = render_files(played(said=said))[README].decode()
        assert len(text.splitlines()) == 10 and text.endswith(".\n")


def test_a_picture_says_its_title_its_epsilon_and_its_source_inside(files: Mapping[str, bytes]) -> None:
    for name in {PROFILE, MAP} & {*files}:
        drawn = ElementTree.fromstring(files[name].decode())
        words = " ".join(drawn.itertext())
        assert "Six walks of life, 2026" in words and "ε = " in words and "Office of Statistics" in words
        assert "Released" in words or "released" in words
        assert not [one for one in drawn.iter() if one.tag.endswith(("script", "image", "a", "foreignObject"))]
    assert (MAP in files) == (len(json.loads(files["declaration.json"])["bounds"]) == 2)


def test_the_notebook_runs_where_the_zip_was_unpacked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    book = json.loads((folder / NOTEBOOK).read_text("utf-8"))
    assert book["nbformat"] == 4
    held: dict[str, object] = {}
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), NOTEBOOK, "exec"), held)
    assert "noisy_size" in capsys.readouterr().out
