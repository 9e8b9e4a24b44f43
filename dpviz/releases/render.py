"""The files of a release, a function each, made of its transcript alone.

Whoever releases and whoever verifies make them here: of what was drawn, what was declared, the owner's words and how
the account stood. No table gets here, nor anything that could reach one, so that no row can.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite, sqrt
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from dpviz.algorithms import find_card
from dpviz.core import Accounting, Array, CodedColumn, Domain, Entry, RequestError, queries
from dpviz.releases.card_facts import OF_SEGMENTS, AccountFacts, CardColumn, CardFacts, CostPart, ToldColumn
from dpviz.releases.card_page import make_card_page
from dpviz.releases.dossier import make_dossier_page
from dpviz.releases.intervals import Interval
from dpviz.releases.package import (
    ASSIGN,
    CARD,
    CENTERS,
    DECLARATION,
    DOSSIER,
    LEDGER,
    PAGE,
    SEGMENTS_FILE,
    TRANSCRIPT,
    VERIFY,
    format_verify,
)
from dpviz.releases.playing import Played, play, recompose
from dpviz.releases.registry_card import format_card
from dpviz.releases.release_parts import Parts, announce_loss
from dpviz.releases.segments_report import (
    CategoriesSaid,
    NumbersSaid,
    QualityReport,
    QualityVerdict,
    Segment,
    SegmentsReport,
)
from dpviz.releases.transcript import AnswerRecording, Transcript
from dpviz.runs import Run, describe_center, make_domain, profiles
from dpviz.tables import MISSING, Declaration, codings, declarations, file_format, find_text, format_csv
from dpviz.words import format_ratio

# Of each question: the axes of its answer, and the unit of its numbers.
_AXES: dict[str, tuple[tuple[str, ...], str]] = {
    "Count": (("cell",), "rows"),
    "SparseCount": (("cell",), "rows"),
    "Sum": (("cell", "column"), "unit coordinates, added up"),
    "ResidualSum": (("cell", "column"), "unit coordinates, added up"),
    "Radii": (("bin of distance",), "rows"),
    "SegmentHistogram": (("segment", "bin"), "rows"),
    "DistanceScales": (("segment", "half octave of squared distance"), "rows"),
    "CappedLosses": (("set of centres",), "unit coordinates squared, added up"),
    "SwapLoss": (("swap",), "unit coordinates squared, added up"),
    "Loss": (("set of centres",), "unit coordinates squared, added up"),
}


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
            axes, unit = _AXES.get(entry.query, ((), ""))
            about |= {"question": entry.query, "for": entry.note, "mechanism": entry.mechanism}
            about |= {"noise_scale": _shorten(entry.scale), "axes": list(axes), "unit": unit}
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
# How the charges of one part add up, by the ledger's accounting.
_COMPOSED_BY = {
    Accounting.PURE: "sum of epsilon",
    Accounting.GDP: "sum of mu squared",
    Accounting.ZCDP: "sum of rho",
    Accounting.BASIC: "sums of epsilon and of delta",
    Accounting.PLD: "loss distributions of all draws",
    Accounting.NONE: "",
}


def render(transcript: Transcript) -> dict[str, bytes]:
    """Every file of a release by its name, ``VERIFY.txt`` last."""
    return render_whole(play(transcript))


def render_whole(played: Played) -> dict[str, bytes]:
    """The same of a transcript that was played already."""
    files = render_files(played)
    files[VERIFY] = format_verify(files, version=played.asked.version).encode("utf-8")
    return files


def render_files(played: Played) -> dict[str, bytes]:
    """The files that follow from what was played: all but ``VERIFY.txt``."""
    facts = collect_facts(played)
    texts = {
        CENTERS: format_centers(played),
        SEGMENTS_FILE: format_segments(played),
        CARD: format_card(facts),
        PAGE: make_card_page(facts),
        DOSSIER: make_dossier_page(facts),
        LEDGER: format_ledger(played.parts.entries, played.shares),
        DECLARATION: declarations.to_json(played.parts.declaration),
        ASSIGN: format_assign_script(played),
    }
    files = {name: text.encode("utf-8") for name, text in texts.items() if text}
    return {**files, TRANSCRIPT: played.transcript.to_bytes(make_legend(played.transcript, played.parts))}


def format_centers(played: Played) -> str:
    """Released centres, data units, on their grid, and sizes; each number with the sd of its noise in a column."""
    return make_centers_table(played.parts.profile, played.parts.clustered.rounded.texts)


def make_centers_table(profile: profiles.Profile, centers: Sequence[Sequence[str]]) -> str:
    """The same of any profile, whose ``centers`` are written so; an sd that nobody can tell is left empty.

    At the end stand, in columns of their own, the dates, ranks and values of a cycle that coordinates come to.

    ``centers``: data units, as they are published.
    """
    columns = [column.name for column in profile.columns]
    worded = [place for place, column in enumerate(profile.columns) if column.worded]
    sizes = [] if profile.sizes is None else ["noisy_size", "noisy_size_sd"]
    sds = _find_free_name([f"{name}_sd" for name in columns], columns)
    said = _find_free_name([f"{profile.columns[place].whole}_in_words" for place in worded], [*columns, *sds, *sizes])
    rows = [
        [str(place), *center, *map(_find_sd, sd)]
        for place, (center, sd) in enumerate(zip(centers, profile.center_sd.tolist(), strict=True), start=1)
    ]
    if profile.sizes is not None:
        noise = np.full(profile.k, np.nan) if profile.size_sd is None else profile.size_sd
        rows = [
            [*row, f"{size:.0f}", _find_sd(sd)]
            for row, size, sd in zip(rows, profile.sizes.tolist(), noise.tolist(), strict=True)
        ]
    rows = [[*row, *(profile.format_center(segment, place) for place in worded)] for segment, row in enumerate(rows)]
    return format_csv([["segment", *columns, *sds, *sizes, *said], *rows])


def _find_free_name(names: Sequence[str], taken: Sequence[str]) -> list[str]:
    """Names that no column has: one that is taken gets a stroke more."""
    found: list[str] = []
    for name in names:
        while name in (*taken, *found):
            name += "_"
        found.append(name)
    return found


def _find_sd(value: float) -> str:
    return f"{value:.6g}" if isfinite(value) else ""


def format_segments(played: Played) -> str:
    """What is said of segments and of missing cells; "" where neither was asked about."""
    return played.parts.segments_csv


def format_ledger(entries: Mapping[str, Sequence[Entry]], shares: Mapping[str, CostPart]) -> str:
    """Every charge, a row each, with the part of the release that it belongs to and what that part costs as a whole.

    What adds up inside a part, by the rule that ``composed_by`` names, is ``cost``. What a charge would cost alone adds
    up to more where that rule is a finer one.
    """
    rows = [_format_ledger_row(shares[part], entry) for part, charged in entries.items() for entry in charged]
    return format_csv([_LEDGER_COLUMNS, *rows])


def _format_ledger_row(part: CostPart, entry: Entry) -> list[str]:
    told = entry.to_dict()
    told |= {"part": part.name, "part_epsilon": part.epsilon, "part_delta": part.delta, "cost": told["amount"]}
    told |= {"composed_by": _COMPOSED_BY[entry.accounting], "cost_unit": told["unit"]}
    told |= {"epsilon_alone": told["epsilon"], "delta_alone": told["delta"]}
    return [one if isinstance(one := told[name], str) else f"{one:.9g}" for name in _LEDGER_COLUMNS]


def format_assign_script(played: Played) -> str:
    """The program that finds the segment of a row."""
    found, declared = played.parts.clustered, played.parts.declaration
    centers = np.array(found.rounded.texts, dtype=np.float64)
    return write_assign_script(found.run.domain, centers, title=declared.title, file=declared.file)


def collect_facts(played: Played) -> CardFacts:
    """What the two cards say."""
    asked, parts = played.asked, played.parts
    release_request = asked.release_request
    run = parts.clustered.run
    declared = parts.declaration
    account = asked.account
    report = None if parts.told is None else parts.told.report
    shares = tuple(played.shares.values())
    centers, card = parts.clustered.rounded, find_card(run.algorithm)
    deltas = (10 * release_request.delta, release_request.delta, release_request.delta / 100)
    again = recompose(parts, deltas) if release_request.delta else None
    return CardFacts(
        words=release_request.words,
        table=declared.title,
        columns=_list_columns(declared),
        k=run.k,
        algorithm=card.title,
        algorithm_id=run.algorithm,
        paper=card.paper,
        epsilon=release_request.request.epsilon,
        delta=release_request.delta,
        relation=run.relation,
        unit=run.unit,
        rows_per_person=declared.rows_per_person,
        has_id=declared.id_column is not None,
        n=run.n,
        n_bought=run.n_origin == "bought",
        looks=release_request.seen.looks,
        studies=release_request.seen.studies,
        runs=release_request.seen.runs,
        runs_epsilon=release_request.seen.runs_epsilon,
        grids_read=release_request.seen.grids_read,
        accounting=_describe_accounting(run, shares),
        parts=shares,
        entries=tuple({"part": part, **entry.to_dict()} for part, own in parts.entries.items() for entry in own),
        noise=asked.noise,
        dpviz=asked.version,
        recomposed=() if again is None else tuple(zip(deltas, again[0], strict=True)),
        rho=None if again is None else again[1],
        platform=asked.platform,
        code=asked.code,
        account=AccountFacts(
            account.name,
            account.cap_epsilon,
            account.cap_delta,
            account.spent_epsilon,
            account.spent_delta,
            account.spent_epsilon + release_request.request.epsilon,
            account.spent_delta + release_request.delta,
            account.link,
        ),
        centers=centers.centers,
        center_step=centers.step,
        center_sd=parts.profile.center_sd if parts.profile.noise_known else None,
        smallest_group=parts.profile.smallest_group if isfinite(parts.profile.smallest_group) else None,
        sizes=parts.profile.sizes,
        size_sd=parts.profile.size_sd,
        segments=None if report is None else describe_segments_for_card(report),
        quality_report=None if report is None else describe_quality_for_card(report.quality_report),
        expected_loss=announce_loss(release_request, declared, asked.n_public),
        missing=parts.missing_told,
        transcript=played.transcript.sha256,
        declared=_list_declared(declared, run.domain, parts.profile),
    )


def _list_columns(declared: Declaration) -> tuple[CardColumn, ...]:
    """The clustered columns, then those that segments alone are told by."""
    domain = make_domain(declared)
    units = domain.units or ("",) * domain.dim
    ends = zip(domain.columns, domain.lower.tolist(), domain.upper.tolist(), units, strict=True)
    named = zip(domain.names, domain.places, strict=True)
    said = [
        origin for name, place in named for origin in [_describe_origin(declared, name)] * (place.stop - place.start)
    ]
    clustered = tuple(
        CardColumn(*one, origin, kind=kind) for one, origin, kind in zip(ends, said, domain.kinds, strict=True)
    )
    others = tuple(
        CardColumn(name, low, high, declared.units.get(name, ""), "declared", one.categories)
        for name, one in declared.describe.items()
        for low, high in [one.bounds or (None, None)]
    )
    return (*clustered, *others)


def _list_declared(declared: Declaration, domain: Domain, profile: profiles.Profile) -> tuple[ToldColumn, ...]:
    """The clustered columns as they were declared, and what centres say of those that are no numbers."""
    columns = zip(domain.declared, domain.places, strict=False)
    return tuple(_describe_told(declared, column, place.start, profile) for column, place in columns)


def _describe_told(declared: Declaration, column: CodedColumn, place: int, profile: profiles.Profile) -> ToldColumn:
    origin, unit = _describe_origin(declared, column.name), declared.units.get(column.name, "")
    if isinstance(column.coding, codings.Stretched) or column.is_number:
        ends = CardColumn(column.name, column.lower, column.upper, unit, origin, kind=profile.columns[place].kind)
        return ToldColumn(ends, place)
    here = slice(place, place + column.dim)
    words = (
        describe_center(column, center[here], float(sd[place]))
        for center, sd in zip(profile.centers, profile.center_sd, strict=True)
    )
    return ToldColumn(CardColumn(column.name, None, None, unit, origin, column.coding.words), place, tuple(words))


def _describe_origin(declared: Declaration, name: str) -> str:
    """Where the bounds or the values of a column come from, and its weight: both are public."""
    weight = declared.weights.get(name)
    return declared.describe_origin(name) + ("" if weight is None else f"; weight {weight:g}")


def _describe_accounting(run: Run, shares: Sequence[CostPart]) -> str:
    within = {
        "pure": "inside the algorithm every ε adds up (sequential composition)",
        "gdp": "inside the algorithm Gaussian noise adds up exactly (Gaussian differential privacy)",
        "pld": "inside the algorithm the loss distributions of all draws are composed numerically",
        "zcdp": "inside the algorithm ρ adds up (zero-concentrated differential privacy)",
    }[run.accounting.value]
    between = "Parts of the release add up (basic composition)" if len(shares) > 1 else "There is one part"
    return f"{between}; {within}."


def describe_segments_for_card(report: SegmentsReport) -> dict[str, Any]:
    """The segments, each with its size and its columns, those that tell it apart marked."""
    told = [_describe_segment(one) for one in report.segments]
    return {"level": report.covered, "least_size": find_least_size(report), "segments": told}


def find_least_size(report: SegmentsReport) -> float:
    """The fewest rows, by its noisy size, of a segment of which something is described: below, noise drowns it."""
    noise = [column.histogram for segment in report.segments[:1] for column in segment.columns]
    least = min((one.sd * sqrt(len(one.counts) + (one.missing is not None)) for one in noise), default=0.0)
    return max(2 * least, max((one.size_sd for one in report.segments), default=0.0))


def describe_quality_for_card(quality_report: QualityReport) -> dict[str, Any]:
    """The quality report in words; where it cannot tell, ratios of noise would say nothing either."""
    words = list(quality_report.words)
    if quality_report.verdict is not QualityVerdict.CANNOT_TELL:
        words += [
            f"Squared, rows lie {_format_times(quality_report.ratio)} as far from their centre as from a single one.",
            "From centres that were placed without looking at any row they lie "
            f"{_format_times(quality_report.ratio_blind)} as far as from a single one.",
        ]
    return {"words": words, "verdict": quality_report.verdict.value}


def _format_times(interval: Interval) -> str:
    """A ratio with its interval."""
    value, low, high = (format_ratio(max(end, 0.0)) for end in (interval.value, interval.low, interval.high))
    return f"{value} ({low} to {high})"


def _describe_segment(segment: Segment) -> dict[str, Any]:
    columns = [_describe_column(one, tells_apart=one.column in segment.telling) for one in segment.columns]
    return {
        "number": segment.number,
        "name": segment.words,
        "size": segment.size.value,
        "low": segment.size.low,
        "high": segment.size.high,
        "columns": columns,
    }


def _describe_column(said: NumbersSaid | CategoriesSaid, *, tells_apart: bool) -> dict[str, Any]:
    if isinstance(said, CategoriesSaid):
        numbers: dict[str, Any] = {
            "shares": [{"category": one.label, **_format_interval(one.share)} for one in said.shares]
        }
    elif said.median is None or said.lower_quartile is None or said.upper_quartile is None:
        numbers = {}
    else:
        quartiles = [_format_interval(said.lower_quartile), _format_interval(said.upper_quartile)]
        numbers = {"median": _format_interval(said.median), "quartiles": quartiles}
        if said.first_day:
            numbers["first_day"] = said.first_day
    return {"name": said.column, "unit": said.unit, "tells_apart": tells_apart, **numbers}


def _format_interval(interval: Interval) -> dict[str, float | bool]:
    return {"value": interval.value, "low": interval.low, "high": interval.high, "range_only": interval.range_only}


_TEMPLATE = Path(__file__).with_name("assign.py.txt")
_OF_CATEGORIES = Path(__file__).with_name("assign_mixed.py.txt")


def write_assign_script(
    domain: Domain, centers: Array, *, title: str, file: file_format.FileFormat = file_format.PLAIN_FORMAT
) -> str:
    """The text of ``assign.py``: Python and NumPy only, everything declared and released stands in it as numbers.

    ``centers`` (k, d), released, data units, as they are published.
    """
    if centers.ndim != 2 or centers.shape[1] != domain.dim:
        raise RequestError(f"The centres have shape {centers.shape}: give (k, {domain.dim}), a coordinate a column.")
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
