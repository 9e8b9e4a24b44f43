"""The files of a release, a function each, made of its transcript alone.

Whoever releases and whoever verifies make them here: of what was drawn, what was declared, the owner's words and how
the account stood. No table gets here, nor anything that could reach one, so that no row can.

For catalogues, files and columns are told with type, unit and bounds in the terms of two standards.

References
----------
Frictionless Data Package 1.0. MLCommons Croissant 1.0.
"""

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import isfinite
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import numpy as np

from dpviz.core import Array, CodedColumn, Domain, Entry, queries
from dpviz.releases import package, release_texts
from dpviz.releases.continuing import format_continued
from dpviz.releases.playing import Played, play
from dpviz.releases.release_parts import Parts
from dpviz.releases.release_request import OF_SEGMENTS, CostPart
from dpviz.releases.release_sentences import TERMS, make_refusal
from dpviz.releases.segments_report import SegmentsReport
from dpviz.releases.smallest_groups import format_groups
from dpviz.releases.tallies import COVERED, format_draws, format_finite
from dpviz.releases.transcript import AnswerRecording, Transcript
from dpviz.runs import Script, profiles
from dpviz.tables import MISSING, codings, declarations, file_format, find_text, format_csv
from dpviz.words import join_clauses, shorten

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

    @property
    def constraints(self) -> dict[str, float]:
        """Its declared ends, in the words of Frictionless."""
        return {name: end for name, end in {"minimum": self.lower, "maximum": self.upper}.items() if end is not None}


def list_center_fields(profile: profiles.Profile) -> list[FileField]:
    """The columns of released centres: a coordinate a column, two errors of each, sizes, and what coordinates say.

    A name that a column has already gets a stroke more.
    """
    columns, name = profile.columns, partial(_find_free_name, taken=["segment"])
    found = [
        FileField(name(one.name), "number", _describe_column(one), one.unit, one.lower, one.upper) for one in columns
    ]
    for end, says in TERMS["errors"].items():
        told = columns if end == "_sd" or profile.drawn_sd is not None else ()
        found += [
            FileField(name(f"{one.name}{end}"), "number", says.format(one.name, one.mean), one.unit) for one in told
        ]
    if profile.sizes is not None:
        says = "standard deviation of what its size is off by"
        found.append(FileField(name("noisy_size"), "integer", "rows of the segment", "rows"))
        found.append(FileField(name("noisy_size_sd"), "number", says, "rows"))
    for one in columns:
        if one.begins_words:
            kind = "date" if isinstance(one.declared, codings.Dates) else "string"
            says = f"what the released centre says of “{one.whole}”"
            found.append(FileField(name(f"{one.whole}_in_words"), kind, says))
    return found


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
    def sha256(self) -> str:
        """Of its bytes."""
        return hashlib.sha256(self.data).hexdigest()


def _describe_files(played: Played, files: Mapping[str, bytes]) -> Iterator[CatalogueFile]:
    told = release_texts.fill_yaml("files.yaml.j2", played, centers=list_center_fields(played.profile), COVERED=COVERED)
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


def _draw_standing(played: Played, pictures: Iterable[release_texts.CardPicture]) -> str:
    """Pictures below each other, with title, ε and source."""
    placed, height = [], _HEAD
    for one in pictures:
        placed.append((height + _GAP / 2, one))
        height += _GAP + one.height
    drawn = release_texts.fill(
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
    told = join_clauses(release_texts.select_said(played.request.words.curators), played.asked.date)
    return f"{_write_line(told)}; dpviz release {played.transcript.sha256[:12]}"


def _write_line(words: str) -> str:
    """What an owner says, on one line of a picture or of a file."""
    return shorten(" ".join(words.split()), _LONGEST)


def make_legend(transcript: Transcript, parts: Parts) -> str:
    """The legend as JSON: an object for every answer, by the name of its arrays in the file.

    Each says ``part``, ``question``, ``for`` (what it was asked for), ``mechanism``, ``noise_scale`` in the mechanism's
    own norm, ``axes``, ``shape`` and ``unit``; a histogram of segments also says its ``column`` and the ``edges`` or
    ``labels`` of its bins.
    """
    report = None if parts.told is None else parts.told.report
    told = {
        name: one
        for part, recording in transcript.recordings.items()
        for name, one in _describe_part(
            part, recording, parts.entries.get(part, ()), report if part == OF_SEGMENTS else None
        )
    }
    return json.dumps(told, ensure_ascii=False, allow_nan=False)


def _describe_part(
    part: str, recording: AnswerRecording, entries: Sequence[Any], report: SegmentsReport | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Questions stand in the ledger in the order of their answers."""
    columns = iter(report.segments[0].columns if report is not None and report.segments else ())
    for place, answer in enumerate(recording.answers):
        about: dict[str, Any] = {"part": part}
        if place < len(entries):
            entry = entries[place]
            terms = TERMS["queries"].get(entry.query, {})
            about |= {"question": entry.query, "for": entry.note, "mechanism": entry.mechanism}
            about |= {"noise_scale": _shorten(entry.scale)}
            about |= {"axes": terms.get("axes", []), "unit": terms.get("unit", "")}
            if entry.query == "SegmentHistogram" and (said := next(columns, None)) is not None:
                bins = said.histogram
                about |= {"column": said.column, "labels": list(bins.labels), "edges": [*map(_shorten, bins.edges)]}
        about["shape"] = list(np.shape(answer.codes if isinstance(answer, queries.SparseCounts) else answer))
        yield f"{part}/{place:04d}", about


_LEDGER_COLUMNS = (
    *("part", "part_epsilon", "part_delta", "composed_by", "cost", "cost_unit"),
    *("mechanism", "loss", "query", "note", "sensitivity", "scale", "draws", "epsilon_alone", "delta_alone"),
)


def render(transcript: Transcript) -> dict[str, bytes]:
    """Every file of a release by its name, ``package.VERIFY.txt`` last."""
    return render_whole(play(transcript))


def render_whole(played: Played) -> dict[str, bytes]:
    """The same of a transcript that was played already."""
    files = render_files(played)
    files[package.VERIFY] = package.format_verify(files, version=played.asked.version).encode("utf-8")
    return files


def render_files(played: Played) -> dict[str, bytes]:
    """The files that follow from what was played, in their order: all but ``package.VERIFY.txt``."""
    has = {"segments": played.report is not None, "draws": played.draws is not None}
    notebook = Script.fill("script_unpacked.txt.j2", **has)
    found, declared, mapped = played.parts.clustered, played.declared, release_texts.draw_map(played)
    name, centers = _write_line(played.request.words.name), np.array(found.rounded.texts, dtype=np.float64)
    texts = {
        package.README: release_texts.fill(
            "readme.txt.j2", played, name=name, mapped=mapped is not None, source=_name_source(played)
        ),
        package.PAGE: release_texts.make_card_page(played),
        # A centre is off by the mean of the rows of its segment less what is released; what the noise of its algorithm
        # alone adds is in a column of its own.
        package.CENTERS: make_centers_table(played.profile, found.rounded.texts),
        package.SEGMENTS_FILE: played.parts.segments_csv,
        package.GROUPS: "" if played.groups is None else format_groups(played.groups),
        package.CONTINUED: "" if played.continued is None else format_continued(played.continued),
        package.DRAWS_FILE: "" if played.draws is None else format_draws(played.draws),
        package.PROFILE: _draw_standing(
            played, filter(None, [release_texts.draw_centers(played), release_texts.draw_sizes(played)])
        ),
        package.MAP: "" if mapped is None else _draw_standing(played, [mapped]),
        package.NOTEBOOK: notebook.notebook,
        package.ASSIGN: write_assign_script(found.run.domain, centers, title=declared.title, file=declared.file),
        package.DOSSIER: release_texts.make_dossier_page(played),
        package.CARD: release_texts.format_card(played),
        package.LEDGER: format_ledger(played.parts.entries, played.shares),
        package.DECLARATION: declarations.to_json(declared),
    }
    files = {name: text.encode("utf-8") for name, text in texts.items() if text}
    files[package.TRANSCRIPT] = played.transcript.to_bytes(make_legend(played.transcript, played.parts))
    # Two catalogues say what all others hold.
    described = list(_describe_files(played, files))
    for name, template in ((package.DATAPACKAGE, "datapackage.json.j2"), (package.CROISSANT, "croissant.json.j2")):
        made = json.loads(release_texts.fill(template, played, files=described))
        files[name] = f"{json.dumps(made, ensure_ascii=False, indent=1)}\n".encode()
    return files


def make_centers_table(profile: profiles.Profile, centers: Sequence[Sequence[str]]) -> str:
    """The same of any profile, whose ``centers`` are written so; an sd that nobody can tell is left empty.

    At the end stand, in columns of their own, the dates, ranks and values of a cycle that coordinates come to.
    """
    worded = [place for place, column in enumerate(profile.columns) if column.begins_words]
    drawn = np.zeros((profile.k, 0)) if profile.drawn_sd is None else profile.drawn_sd
    # Where shares are told by their histogram alone, nobody can tell how far off the centre is.
    sd = np.where(np.isclose(np.array(centers, dtype=np.float64), profile.centers), profile.center_sd, np.nan)
    rows = [
        [str(place), *center, *map(format_finite, sd), *map(format_finite, noise)]
        for place, (center, sd, noise) in enumerate(zip(centers, sd.tolist(), drawn.tolist(), strict=True), start=1)
    ]
    if profile.sizes is not None:
        sized = zip(rows, profile.sizes.rows.tolist(), profile.sizes.error.tolist(), strict=True)
        rows = [[*row, f"{size:.0f}", format_finite(sd)] for row, size, sd in sized]
    rows = [[*row, *(profile.say_center(segment, place) for place in worded)] for segment, row in enumerate(rows)]
    return format_csv([["segment", *(field.name for field in list_center_fields(profile))], *rows])


def format_ledger(entries: Mapping[str, Sequence[Entry]], shares: Mapping[str, CostPart]) -> str:
    """Every charge, a row each, with the part of the release that it belongs to and what that part costs as a whole."""
    # What adds up inside a part, by the rule that ``composed_by`` names, is ``cost``. What a charge would cost alone
    # adds up to more where that rule is a finer one.
    rows = [_format_ledger_row(shares[part], entry) for part, charged in entries.items() for entry in charged]
    return format_csv([_LEDGER_COLUMNS, *rows])


def _format_ledger_row(part: CostPart, entry: Entry) -> list[str]:
    told = entry.to_dict()
    told |= {"part": part.name, "part_epsilon": part.epsilon, "part_delta": part.delta, "cost": told["amount"]}
    told |= {"composed_by": TERMS["composed_by"][entry.accounting.name], "cost_unit": told["unit"]}
    told |= {"epsilon_alone": told["epsilon"], "delta_alone": told["delta"]}
    return [one if isinstance(one := told[name], str) else f"{one:.9g}" for name in _LEDGER_COLUMNS]


def write_assign_script(
    domain: Domain, centers: Array, *, title: str, file: file_format.FileFormat = file_format.PLAIN_FORMAT
) -> str:
    """The text of ``assign.py``: Python and NumPy only, everything declared and released stands in it as numbers.

    ``centers`` (k, d), released, data units, as they are published.
    """
    if centers.ndim != 2 or centers.shape[1] != domain.dim:
        raise make_refusal("script_shape", shape=centers.shape, dim=domain.dim)
    styles = [file.get_style(name) for name in domain.names]
    numbers = [file_format.read_values(style.missing, style).tolist() for style in styles]
    absent = [[*filter(isfinite, codes)] for codes in numbers]
    template = Path(__file__).with_name("assign_mixed.py.txt" if domain.declared else "assign.py.txt")
    return Template(template.read_text(encoding="utf-8")).substitute(
        _describe_coded(domain) if domain.declared else _describe_plain(domain),
        title=repr(title),
        columns=_join_lines(map(repr, domain.names)),
        centers=_join_lines(map(repr, centers.tolist())),
        encoding=repr(file.encoding),
        delimiter=repr(file.delimiter),
        names=repr(list(file.names)),
        has_header=file.header is not False,
        styles=_join_lines(
            repr((style.decimal, "".join(style.grouping_marks), style.sign, style.negative, none, list(style.missing)))
            for style, none in zip(styles, absent, strict=True)
        ),
    )


def _describe_plain(domain: Domain) -> dict[str, object]:
    """What is said of columns of numbers."""
    return {
        "lower": domain.lower.tolist(),
        "upper": domain.upper.tolist(),
        "scaling": repr(domain.scaling.value),
        "radius": repr(None if domain.radius is None else float(domain.radius)),
    }


def _describe_coded(domain: Domain) -> dict[str, object]:
    """The same where some column has a coding."""
    blocks, region = domain.region.blocks, domain.region
    longest = region.radius if blocks is None else blocks.free_radius
    return {
        "holds": _join_lines(repr(_encode_column(column)) for column in domain.declared),
        "sides": [_shorten(column.side) for column in domain.declared],
        "radius": repr(None if domain.radius is None else _shorten(longest)),
        "middle": [middle for column in domain.declared for middle in _find_middle(column)],
        "scale": [*map(_shorten, domain.even_scale.tolist())],
        "kinds": list(domain.kinds),
        "missing": sorted(MISSING),
    }


def _encode_column(column: CodedColumn) -> tuple[object, ...]:
    """What a column holds, as the program reads it."""
    match coding := column.coding:
        case codings.Nominal():
            return ("categories", list(_list_canonical(coding.names)))
        case codings.Closed() | codings.Ordinal():
            kind = "closed" if isinstance(coding, codings.Closed) else "order"
            return (kind, column.lower, column.upper, list(_list_canonical(coding.values)))
        case codings.Dates():
            return ("dates", column.lower, column.upper, coding.written, coding.first.toordinal())
        case codings.Cycle():
            return ("cycle", coding.period)
        case codings.Stretched():
            return (coding.scale, column.lower, column.upper)
        case _:
            return ("number", column.lower, column.upper)


def _find_middle(column: CodedColumn) -> list[float]:
    """What the middle of the region is on the scale of a column."""
    middle = column.coding.stretch(column.middle) if isinstance(column.coding, codings.Stretched) else column.middle
    return [_shorten(one) for one in middle]


def _shorten(value: float) -> float:
    """To nine digits, so that two machines write the same number."""
    return float(f"{value:.9g}")


def _list_canonical(names: Sequence[str]) -> list[str]:
    """Declared values as cells of a file are compared with them."""
    return [str(find_text(name)) for name in names]


def _join_lines(values: Iterable[str]) -> str:
    return f"[\n{''.join(f'    {value},{chr(10)}' for value in values)}]"
