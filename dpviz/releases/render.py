"""The files of a release, a function each, made of its transcript alone.

Whoever releases and whoever verifies make them here: of what was drawn, what was declared, the owner's words and how
the account stood. No table gets here, nor anything that could reach one, so that no row can.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from dpviz.core import Array, CodedColumn, Domain, Entry, queries
from dpviz.releases.catalogue_files import CenterFields, make_catalogue, make_notebook, make_pictures, make_readme
from dpviz.releases.continuing import format_continued
from dpviz.releases.draws import format_draws
from dpviz.releases.intervals import format_finite
from dpviz.releases.package import (
    ASSIGN,
    CARD,
    CENTERS,
    CONTINUED,
    DECLARATION,
    DOSSIER,
    DRAWS_FILE,
    GROUPS,
    LEDGER,
    NOTEBOOK,
    PAGE,
    README,
    SEGMENTS_FILE,
    TRANSCRIPT,
    VERIFY,
    format_verify,
)
from dpviz.releases.playing import Played, play
from dpviz.releases.release_parts import Parts
from dpviz.releases.release_request import OF_SEGMENTS, CostPart
from dpviz.releases.release_sentences import TERMS, make_refusal
from dpviz.releases.release_texts import format_card, make_card_page, make_dossier_page
from dpviz.releases.segments_report import SegmentsReport
from dpviz.releases.smallest_groups import format_groups
from dpviz.releases.transcript import AnswerRecording, Transcript
from dpviz.runs import profiles
from dpviz.tables import MISSING, codings, declarations, file_format, find_text, format_csv


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
        about["shape"] = _list_lengths(answer)
        yield f"{part}/{place:04d}", about


def _list_lengths(answer: Any) -> list[int]:
    if isinstance(answer, queries.SparseCounts):
        return [len(answer.codes)]
    return [] if isinstance(answer, int) else list(np.shape(answer))


_LEDGER_COLUMNS = (
    *("part", "part_epsilon", "part_delta", "composed_by", "cost", "cost_unit"),
    *("mechanism", "loss", "query", "note", "sensitivity", "scale", "draws", "epsilon_alone", "delta_alone"),
)


def render(transcript: Transcript) -> dict[str, bytes]:
    """Every file of a release by its name, ``VERIFY.txt`` last."""
    return render_whole(play(transcript))


def render_whole(played: Played) -> dict[str, bytes]:
    """The same of a transcript that was played already."""
    files = render_files(played)
    files[VERIFY] = format_verify(files, version=played.asked.version).encode("utf-8")
    return files


def render_files(played: Played) -> dict[str, bytes]:
    """The files that follow from what was played, in their order: all but ``VERIFY.txt``."""
    texts = {
        README: make_readme(played),
        PAGE: make_card_page(played),
        CENTERS: format_centers(played),
        SEGMENTS_FILE: format_segments(played),
        GROUPS: "" if played.groups is None else format_groups(played.groups),
        CONTINUED: "" if played.continued is None else format_continued(played.continued),
        DRAWS_FILE: "" if played.draws is None else format_draws(played.draws),
        **make_pictures(played),
        NOTEBOOK: make_notebook(played),
        ASSIGN: format_assign_script(played),
        DOSSIER: make_dossier_page(played),
        CARD: format_card(played),
        LEDGER: format_ledger(played.parts.entries, played.shares),
        DECLARATION: declarations.to_json(played.parts.declaration),
    }
    files = {name: text.encode("utf-8") for name, text in texts.items() if text}
    files[TRANSCRIPT] = played.transcript.to_bytes(make_legend(played.transcript, played.parts))
    return files | {name: text.encode("utf-8") for name, text in make_catalogue(played, files).items()}


def format_centers(played: Played) -> str:
    """Released centres, data units, on their grid, and sizes; how far off each number is stands beside it."""
    # A centre is off by the mean of the rows of its segment less what is released; what the noise of its algorithm
    # alone adds is in a column of its own.
    return make_centers_table(played.parts.profile, played.parts.clustered.rounded.texts)


def make_centers_table(profile: profiles.Profile, centers: Sequence[Sequence[str]]) -> str:
    """The same of any profile, whose ``centers`` are written so; an sd that nobody can tell is left empty.

    At the end stand, in columns of their own, the dates, ranks and values of a cycle that coordinates come to.
    """
    worded = [place for place, column in enumerate(profile.columns) if column.begins_words]
    drawn = np.zeros((profile.k, 0)) if profile.drawn_sd is None else profile.drawn_sd
    told = zip(centers, profile.center_sd.tolist(), drawn.tolist(), strict=True)
    rows = [
        [str(place), *center, *map(format_finite, sd), *map(format_finite, noise)]
        for place, (center, sd, noise) in enumerate(told, start=1)
    ]
    if profile.sizes is not None:
        sized = zip(rows, profile.sizes.rows.tolist(), profile.sizes.sd.tolist(), strict=True)
        rows = [[*row, f"{size:.0f}", format_finite(sd)] for row, size, sd in sized]
    rows = [[*row, *(profile.say_center(segment, place) for place in worded)] for segment, row in enumerate(rows)]
    return format_csv([["segment", *(field.name for field in CenterFields.of(profile).all)], *rows])


def format_segments(played: Played) -> str:
    """What is said of segments and of missing cells; "" where neither was asked about."""
    return played.parts.segments_csv


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


def format_assign_script(played: Played) -> str:
    """The program that finds the segment of a row."""
    found, declared = played.parts.clustered, played.parts.declaration
    centers = np.array(found.rounded.texts, dtype=np.float64)
    return write_assign_script(found.run.domain, centers, title=declared.title, file=declared.file)


_TEMPLATE = Path(__file__).with_name("assign.py.txt")
_OF_CATEGORIES = Path(__file__).with_name("assign_mixed.py.txt")


def write_assign_script(
    domain: Domain, centers: Array, *, title: str, file: file_format.FileFormat = file_format.PLAIN_FORMAT
) -> str:
    """The text of ``assign.py``: Python and NumPy only, everything declared and released stands in it as numbers.

    ``centers`` (k, d), released, data units, as they are published.
    """
    if centers.ndim != 2 or centers.shape[1] != domain.dim:
        raise make_refusal("script_shape", shape=centers.shape, dim=domain.dim)
    styles = [file.get_style(name) for name in domain.names]
    template, of_columns = (
        (_OF_CATEGORIES, _describe_coded(domain)) if domain.declared else (_TEMPLATE, _describe_plain(domain))
    )
    return Template(template.read_text(encoding="utf-8")).substitute(
        of_columns,
        title=repr(title),
        columns=_join_lines(map(repr, domain.names)),
        centers=_join_lines(map(repr, centers.tolist())),
        encoding=repr(file.encoding),
        delimiter=repr(file.delimiter),
        names=repr(list(file.names)),
        has_header=file.header is not False,
        styles=_join_lines(repr((style.decimal, "".join(style.grouping_marks), style.sign)) for style in styles),
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
