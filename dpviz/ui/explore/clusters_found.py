"""What a run found, cluster by cluster, in the owner's units, and then what that cost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from dpviz.algorithms.steps import CentersStep
from dpviz.charts.share_bars import ShareBars
from dpviz.charts.theme import palette
from dpviz.charts.wording import number, opening, ratio
from dpviz.glossary import explained, words_of
from dpviz.runs.advice.judgement import apart_after, judge_request
from dpviz.runs.export import picture_stem
from dpviz.runs.open_table import OpenTable
from dpviz.runs.request import Request
from dpviz.runs.run import Run, sign_told, verdict_told
from dpviz.runs.told_centers import profile_rows, share_noise, shares_of
from dpviz.table.declaration import FileKind
from dpviz.ui.badges import badge_text, badged
from dpviz.ui.escape import plain
from dpviz.ui.explore.scores import Judged
from dpviz.ui.figure import data_table, show_wide
from dpviz.ui.looks import reveal_allowed

# Columns shown as bars within their bounds; a table with more of them says numbers alone.
_MOST_BARS = 12
_CLUSTER, _ROWS, _NOISE = "cluster", "rows", "± noise"
_UNITS = "In unit coordinates²; k-means++ reads the same rows, as the declared bounds leave them."
_SHIFT = "centre ± (% of range)"


def found(table: OpenTable, run: Run, judged: Judged | None, request: Request) -> None:
    """The table of clusters, and the loss under it; ``request`` is what was run."""
    kind = badge_text("released" if run.private else "revealed")
    st.markdown(f"{kind} {plain(_in_words(run))}")
    if run.domain.declared:
        data_table(found_table(run), alt="Every cluster: its size, and what its centre says", height="auto")
        _shares(run)
        _sign(run)
        _cost(table, judged)
        return
    bars = {
        name: st.column_config.ProgressColumn(format="%.4g", min_value=float(low), max_value=float(high))
        for name, low, high in zip(run.domain.columns, run.domain.lower, run.domain.upper, strict=True)
    }
    shown = bars if run.domain.dim <= _MOST_BARS else {}
    if run.verdict is not None and not run.verdict.fine:
        badged("released", f":material/warning: {plain(opening(verdict_told(run.verdict)))}")
    if apart := apart_after(judge_request(request, table.private), run.verdict):
        st.caption(plain(apart))
    data_table(found_table(run), alt="Every cluster: its size and its centre", height="auto", columns=shown)
    _sign(run)
    _cost(table, judged)


def found_table(run: Run) -> pd.DataFrame:
    """One line a cluster: size ± noise where they were measured, and its centre in data units."""
    step = run.frames[-1].step
    lines = pd.DataFrame({_CLUSTER: np.arange(1, run.k + 1)})
    if isinstance(step, CentersStep):
        if run.noisy_weights is not None:
            lines[_ROWS] = run.noisy_weights.round().clip(min=0).astype(np.int64)
            if run.sizes is not None:
                lines[_NOISE] = run.sizes.sd
        if step.center_noise_sd is not None:
            # Unit coordinates run over 2, from -1 to 1, in a column of full width.
            lines[_SHIFT] = 50.0 * step.center_noise_sd
    if run.domain.declared:
        told = profile_rows(run.domain, run.unit_centers, run.center_noise_sd)
        return pd.concat([lines, pd.DataFrame(told, columns=list(run.domain.names))], axis="columns")
    centers = pd.DataFrame(run.centers, columns=list(run.domain.columns))
    return pd.concat([lines, centers], axis="columns")


def _shares(run: Run) -> None:
    """The shares of declared values, if there are any."""
    shares = shares_of(run.domain, run.centers)
    if not shares:
        return
    sd = run.center_noise_sd
    declared = {column.name: column for column in run.domain.declared}
    noise = {} if sd is None else {name: share_noise(declared[name], sd) for name in shares}
    bars = ShareBars(shares, noise)
    theme = palette(st.context.theme.type)
    show_wide(bars.draw(theme), alt=bars.words(), key="explore:shares_of_values", stem=f"{picture_stem(run)}-shares")


def _sign(run: Run) -> None:
    """Whether the run went well, as far as released values tell."""
    if run.sign is None:
        return
    doubtful = ":material/warning: " if run.sign.doubts else ""
    words = f"{doubtful}{plain(sign_told(run.sign))}."
    badged(
        "released",
        words,
        help="From the noisy histogram and the last round; nothing was spent on it. "
        f"The range held for nine in ten of many runs on generated tables. {explained('loss')}",
    )


def _in_words(run: Run) -> str:
    sizes = run.noisy_weights
    if sizes is None:
        return f"{run.k} clusters; their sizes were not measured."
    low, high = (number(max(0.0, float(size))) for size in (sizes.min(), sizes.max()))
    sds = None if run.sizes is None else (number(float(sd)) for sd in (run.sizes.sd.min(), run.sizes.sd.max()))
    noise = "" if sds is None else f", each ± {' to '.join(dict.fromkeys(sds))}"
    return f"{run.k} clusters of about {low} to {high} rows{noise}."


def _cost(table: OpenTable, judged: Judged | None) -> None:
    if judged is None:
        why = "k-means++ is still being computed." if reveal_allowed(table) else "Hidden: Show truth is off."
        badged("revealed", f"Loss against k-means++. {why}")
        return
    scores = judged.scores
    losses = f"{number(scores.nicv)} against {number(scores.nicv_kmeans)}"
    words = f"Loss {ratio(scores.ratio)} that of k-means++ ({losses})."
    if scores.clipping > 0 and table.kind is not FileKind.PRIVATE:
        words += f" The bounds alone move a row by {number(scores.clipping)} on the same scale."
    if judged.labels is not None and judged.labels.unlabelled:
        words += f" {judged.labels.unlabelled:,d} rows without a label are left out of the label accuracy."
    badged("revealed", words, help=f"{explained('loss', _UNITS)}\n\n{words_of('k-means++')}")
