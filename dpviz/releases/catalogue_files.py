"""What a catalogue reads of a release: files and columns with type, unit and bounds, in the terms of two standards.

References
----------
Frictionless Data Package 1.0. MLCommons Croissant 1.0.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dpviz.releases.card_tables import CardPicture, draw_centers, draw_map, draw_sizes, has_map
from dpviz.releases.intervals import COVERED
from dpviz.releases.package import CENTERS, CROISSANT, DATAPACKAGE, MAP, PROFILE
from dpviz.releases.playing import Played
from dpviz.releases.promise import format_small
from dpviz.releases.release_sentences import TERMS
from dpviz.releases.release_texts import fill, fill_yaml, make_page, make_slug, select_said
from dpviz.runs import Script, profiles
from dpviz.tables import codings, format_csv, owner_words
from dpviz.words import join_clauses, shorten

_KEYWORDS = ["differential privacy", "clustering", "k-means"]
# What no XML can hold.
_NO_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Of a picture: characters of its head, lengths around its parts.
_LONGEST, _MARGIN, _HEAD, _GAP, _FOOT = 70, 10.0, 44.0, 34.0, 26.0
_WIDTH = 420.0


class FileField(NamedTuple):
    """A column of a table in a release: its type is one of Frictionless; its bounds are declared, data units."""

    name: str
    kind: str
    says: str
    unit: str = ""
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True)
class CenterFields:
    """All of them: a coordinate a column, two errors of each, sizes, and at the end what coordinates say."""

    coordinates: tuple[FileField, ...]
    sds: tuple[FileField, ...]
    noises: tuple[FileField, ...]
    sizes: tuple[FileField, ...]
    words: tuple[FileField, ...]

    @property
    def all(self) -> tuple[FileField, ...]:
        """In their order."""
        return (*self.coordinates, *self.sds, *self.noises, *self.sizes, *self.words)

    @classmethod
    def of(cls, profile: profiles.Profile) -> CenterFields:
        """Those of released centres; a name that a column has already gets a stroke more."""
        columns = profile.columns
        taken = ["segment"]
        coordinates = tuple(
            FileField(_find_free_name(one.name, taken), "number", _describe_column(one), one.unit, one.lower, one.upper)
            for one in columns
        )
        off = (
            "how far “{}” may be off from the mean of its segment, as a standard deviation; empty where nobody can tell"
        )
        drawn = "standard deviation of the noise on “{}” alone, as the algorithm tells it"
        sds, noises = (
            tuple(
                FileField(_find_free_name(f"{one.name}{end}", taken), "number", says.format(one.name), one.unit)
                for one in columns
                if end == "_sd" or profile.drawn_sd is not None
            )
            for end, says in (("_sd", off), ("_noise_sd", drawn))
        )
        sizes: tuple[FileField, ...] = ()
        if profile.sizes is not None:
            says = "standard deviation of the noise on its size"
            sizes = (
                FileField(_find_free_name("noisy_size", taken), "integer", "rows of the segment", "rows"),
                FileField(_find_free_name("noisy_size_sd", taken), "number", says, "rows"),
            )
        words = tuple(
            FileField(
                _find_free_name(f"{one.whole}_in_words", taken),
                "date" if isinstance(one.declared, codings.Dates) else "string",
                f"what the released centre says of “{one.whole}”",
            )
            for one in columns
            if one.begins_words
        )
        return cls(coordinates, sds, noises, sizes, words)


def _describe_column(column: profiles.ProfileColumn) -> str:
    """What its numbers are."""
    if column.shared:
        return f"share of the rows with this value of “{column.whole}”"
    if isinstance(column.declared, codings.Cycle):
        return f"coordinate of the mean of “{column.whole}” on its circle"
    return "coordinate of the released centre"


def _find_free_name(name: str, taken: list[str]) -> str:
    """The name, or with strokes behind it one that no column has; it is taken then."""
    while name in taken:
        name += "_"
    taken.append(name)
    return name


class CatalogueFile(NamedTuple):
    """A file of a release: its name, title and description, its bytes, and its columns where it is a table."""

    name: str
    title: str
    says: str
    data: bytes
    fields: tuple[FileField, ...] = ()

    @property
    def media(self) -> str:
        """Its media type."""
        return str(TERMS["media"][self.name.rsplit(".")[-1]])

    @property
    def sha256(self) -> str:
        """Of its bytes."""
        return hashlib.sha256(self.data).hexdigest()


def make_catalogue(played: Played, files: Mapping[str, bytes]) -> dict[str, str]:
    """``datapackage.json`` and ``croissant.json``, which say what the other ``files`` of a release hold."""
    described = list(_describe_files(played, files))
    packages = {DATAPACKAGE: _make_datapackage(played, described), CROISSANT: _make_croissant(played, described)}
    return {name: json.dumps(said, ensure_ascii=False, indent=1) + "\n" for name, said in packages.items()}


def _describe_files(played: Played, files: Mapping[str, bytes]) -> Iterator[CatalogueFile]:
    told = fill_yaml("files.yaml.j2", played, centers=CenterFields.of(played.profile).all, COVERED=COVERED)
    units = {f"mean of {one.name}": one.unit for one in played.profile.columns}
    for name, data in files.items():
        about = told[name]
        fields = [FileField(*one) for one in about.get("columns", ())]
        head = read_head(data) if fields else []
        others = head[len(fields) :]
        fields += [FileField(one, about["others"][0], about["others"][1], units.get(one, "")) for one in others]
        # A name that a spreadsheet would take for a formula is written with a sign before it.
        written = read_head(format_csv([[one.name for one in fields]]).encode())
        assert written == head, f"{name} has other columns than its description"
        fields = [one._replace(name=column) for one, column in zip(fields, head, strict=True)]
        yield CatalogueFile(name, about["title"], about["says"], data, tuple(fields))


def read_head(table: bytes) -> list[str]:
    """The names of the columns of a table, as they are written."""
    return next(csv.reader(io.StringIO(table.decode("utf-8"), newline="")), [])


def _make_datapackage(played: Played, files: Sequence[CatalogueFile]) -> dict[str, Any]:
    """The descriptor of Frictionless: tables with the schema of their columns, other files as they are."""
    said = played.request.words
    return {
        "profile": "data-package",
        "name": make_slug(said.name),
        "title": said.name,
        "description": said.description,
        "created": f"{played.asked.date}T00:00:00Z",
        "contributors": [{"title": one, "role": "publisher"} for one in owner_words.list_said(*said.curators)],
        "keywords": _KEYWORDS,
        "privacy": _describe_privacy(played),
        "resources": [_make_resource(one) for one in files],
    }


def _make_resource(file: CatalogueFile) -> dict[str, Any]:
    stem, _, ending = file.name.rpartition(".")
    said: dict[str, Any] = {
        "name": stem.replace("_", "-") if ending == "csv" else file.name.replace("_", "-").lower(),
        "path": file.name,
        "title": file.title,
        "description": file.says,
        "format": ending,
        "mediatype": file.media,
        "bytes": len(file.data),
        "hash": f"sha256:{file.sha256}",
    }
    if not file.fields:
        return said
    schema: dict[str, Any] = {"fields": [_make_field(one) for one in file.fields], "missingValues": [""]}
    if file.name == CENTERS:
        schema["primaryKey"] = ["segment"]
    return {**said, "profile": "tabular-data-resource", "encoding": "utf-8", "schema": schema}


def _make_field(field: FileField) -> dict[str, Any]:
    ends = {"minimum": field.lower, "maximum": field.upper}
    constraints = {name: end for name, end in ends.items() if end is not None}
    more = {"unit": field.unit, "constraints": constraints}
    said = {"name": field.name, "type": field.kind, "description": field.says}
    return said | {name: one for name, one in more.items() if one}


def _describe_privacy(played: Played) -> dict[str, Any]:
    """What is promised, in plain values."""
    return {
        "epsilon": played.epsilon,
        "delta": played.delta,
        "unit": played.run.unit,
        "relation": played.run.relation,
        "transcript_sha256": played.transcript.sha256,
        "verify": "dpviz verify release.zip",
    }


def _make_croissant(played: Played, files: Sequence[CatalogueFile]) -> dict[str, Any]:
    """The same as JSON-LD of Croissant: each file, and a set of records for each table."""
    said = played.request.words
    promise = f"ε = {played.epsilon:g}, δ = {format_small(played.delta)}, which protect {played.run.unit}"
    return {
        "@context": TERMS["croissant"],
        "@type": "sc:Dataset",
        "@id": make_slug(said.name),
        "name": said.name,
        "description": f"{said.description} Released with differential privacy: {promise}.",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "datePublished": played.asked.date,
        "creator": [{"@type": "sc:Organization", "name": one} for one in owner_words.list_said(*said.curators)],
        "keywords": _KEYWORDS,
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": one.name,
                "name": one.name,
                "description": one.says,
                "contentUrl": one.name,
                "contentSize": f"{len(one.data)} B",
                "encodingFormat": one.media,
                "sha256": one.sha256,
            }
            for one in files
        ],
        "recordSet": [_make_record_set(one) for one in files if one.fields],
    }


def _make_record_set(file: CatalogueFile) -> dict[str, Any]:
    """Columns have places for ids: their names may hold anything."""
    name = file.name.removesuffix(".csv")
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{name}/{place}",
            "name": one.name,
            "description": f"{one.says} ({one.unit})" if one.unit else one.says,
            "dataType": TERMS["croissant_types"][one.kind],
            "source": {"fileObject": {"@id": file.name}, "extract": {"column": one.name}},
        }
        for place, one in enumerate(file.fields, start=1)
    ]
    key = {"key": {"@id": f"{name}/1"}} if file.name == CENTERS else {}
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "description": file.says, **key, "field": fields}


def make_pictures(played: Played) -> dict[str, str]:
    """``profile.svg``, and ``map.svg`` where two columns were clustered: pictures that say where they come from."""
    pictures = {PROFILE: _draw_standing(played, filter(None, [draw_centers(played), draw_sizes(played)]))}
    return pictures | ({MAP: _draw_standing(played, [draw_map(played)])} if has_map(played) else {})


def _draw_standing(played: Played, pictures: Iterable[CardPicture]) -> str:
    """Pictures below each other, with title, ε and source."""
    placed, height = [], _HEAD
    for one in pictures:
        placed.append((height + _GAP / 2, one))
        height += _GAP + one.height
    drawn = make_page(
        "picture.svg.j2",
        played,
        title=_write_line(played.request.words.name),
        source=_name_source(played),
        placed=placed,
        width=_WIDTH + 2 * _MARGIN,
        height=height + _FOOT,
    )
    return _NO_XML.sub(" ", drawn)


def _name_source(played: Played) -> str:
    """Who released it, when, and the hash by which it is known, on one line."""
    said = played.request.words
    told = join_clauses(select_said(said.curators), played.asked.date)
    return f"{_write_line(told)}; dpviz release {played.transcript.sha256[:12]}"


def _write_line(words: str) -> str:
    """What an owner says, on one line of a picture or of a file."""
    return shorten(" ".join(words.split()), _LONGEST)


def make_readme(played: Played) -> str:
    """``README.txt``: what to open first, in ten lines."""
    name = _write_line(played.request.words.name)
    return fill("readme.txt.j2", played, name=name, mapped=has_map(played), source=_name_source(played))


def make_notebook(played: Played) -> str:
    """``read_release.ipynb``: the tables of the zip, read with pandas."""
    return Script.for_unpacked(segments=played.report is not None, draws=played.draws is not None).notebook
