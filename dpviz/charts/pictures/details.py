"""How finely a histogram was told from its noise: the blocks that share their rows evenly, and the tree of details."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpviz.algorithms.auto.detail_tree import Details
from dpviz.algorithms.auto.view_synopsis import SynopsisStep
from dpviz.arrays import Codes
from dpviz.charts.canvas import SCREEN
from dpviz.charts.picture import Drawing, Look
from dpviz.charts.pictures.grid_cells import add_blocks, shown_grid
from dpviz.charts.sheet import Sheet
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, number
from dpviz.table.domain import Domain

# How strong the parts of a bar are: what stood out, what is believed in part, what is shared evenly.
_BARS = (("kept", 1.0), ("believed in part", 0.55), ("shared evenly", 0.18))
# How wide bars are that lie 1 apart, and the room above them as a share of their height.
_WIDTH, _AIR = 0.8, 0.04


@dataclass(frozen=True, eq=False)
class Blocks(Drawing[SynopsisStep]):
    """The side of the block around each cell that shares its rows evenly: the darker, the finer rows are told apart.

    ``shown`` is the view of the step's picture, ``grid_step`` the step in its coordinates.
    """

    grid_step: SynopsisStep
    shown: View
    legend_lines = 3

    def view(self, view: View) -> View:
        return self.shown

    def finding(self, domain: Domain) -> str:
        alone = float(np.mean(_details(self.step).blocks == 1))
        return f"{number(100 * alone)} % of the cells stand out one by one"

    def note(self, look: Look) -> str:
        hidden = len(self.step.grid.half) > (1 if self.shown.flat else 2)
        finest = "the finest along what is not shown" if hidden else ""
        return clauses("pale: large blocks, shared evenly", "first of several trees", finest, look.view.about)

    def paint(self, sheet: Sheet, look: Look) -> None:
        step, blocks = self.grid_step, _details(self.step).blocks.ravel()
        shown = shown_grid(step.grid, step.codes, np.zeros(len(blocks)), sheet.view)
        place = (step.grid.places(step.codes, list(shown.axes)) // shown.block).T
        sides = np.full(shown.values.size, np.inf)
        np.minimum.at(sides, np.ravel_multi_index(tuple(place), shown.values.shape), blocks)
        sheet.plot.update_layout(showlegend=False)
        add_blocks(sheet, shown, sides.reshape(shown.values.shape), _coarsest(blocks))

    def table(self, domain: Domain) -> pd.DataFrame:
        return tabled(_details(self.step))

    def words(self, domain: Domain) -> str:
        return (
            f"{self.finding(domain)}; the largest block that shares its rows evenly is "
            f"{_details(self.step).blocks.max():,} cells wide."
        )


@dataclass(frozen=True, eq=False)
class DetailTree(Drawing[SynopsisStep]):
    """Of all blocks of each size, how many tell their parts apart and how many share their rows among them."""

    legend_lines = 3

    def finding(self, domain: Domain) -> str:
        details = _details(self.step)
        out, of = int((details.kept + details.shrunk).sum()), int(_all(details).sum())
        return f"{out:,} of {of:,} details stand out of the noise"

    def note(self, look: Look) -> str:
        return "one tree of several: each block is cut in halves along all axes"

    def paint(self, sheet: Sheet, look: Look) -> None:
        plot, details = sheet.plot, _details(self.step)
        below = np.zeros(len(details.sides))
        places, whole = np.arange(len(below)), np.maximum(_all(details), 1)
        for (name, strength), blocks in zip(_BARS, (details.kept, details.shrunk, details.shared), strict=True):
            share = blocks / whole
            sheet.bars(
                places.astype(SCREEN),
                share.astype(SCREEN),
                np.full(len(places), _WIDTH, dtype=SCREEN),
                name,
                "released",
                strength=strength,
                hover="%{customdata}",
                notes=[f"{number_of:,} of {of:,} blocks: {name}" for number_of, of in zip(blocks, whole, strict=True)],
                trace={"base": below.astype(SCREEN)},
            )
            below = below + share
        words = [f"{side:,}" for side in details.sides]
        plot.update_xaxes(title_text="side of the parts, in cells", tickvals=places, ticktext=words)
        plot.update_xaxes(showgrid=False, zeroline=False)
        plot.update_yaxes(title_text="share of the blocks", tickformat=".0%", range=[0, 1 + _AIR])
        plot.update_layout(barmode="overlay", legend={"traceorder": "normal"})

    def table(self, domain: Domain) -> pd.DataFrame:
        return tabled(_details(self.step))

    def words(self, domain: Domain) -> str:
        details = _details(self.step)
        listed = ", ".join(
            f"{kept + shrunk:,} of {of:,} at a side of {side:,}"
            for side, kept, shrunk, of in zip(details.sides, details.kept, details.shrunk, _all(details), strict=True)
        )
        return f"{self.finding(domain)}: {listed}."


def tabled(details: Details) -> pd.DataFrame:
    """What became of the details, a line for each size of block."""
    return pd.DataFrame(
        {
            "side of the parts (cells)": details.sides,
            "kept": details.kept,
            "believed in part": details.shrunk,
            "shared evenly": details.shared,
        }
    )


def _details(step: SynopsisStep) -> Details:
    assert step.details is not None
    return step.details


def _all(details: Details) -> Codes:
    return details.kept + details.shrunk + details.shared


def _coarsest(blocks: Codes) -> int:
    return max(2, int(blocks.max()))
