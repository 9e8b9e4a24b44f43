"""A run in a notebook: the player of the dashboard in a frame of its own, and the same page as a file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import plotly.graph_objects as go

from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.player.player_page import PlayerScene, animate, make_player_page
from dpviz.app.charts.registry import draw_picture
from dpviz.app.charts.view import make_view
from dpviz.core import RequestError
from dpviz.runs import Run, write_whole
from dpviz.words import choose_palette, render

MOST_BYTES = 6_000_000
"""A page beyond this is no file to pass on, and nothing to keep inside a notebook."""
_HEIGHT = 760


@dataclass(frozen=True, eq=False)
class RunDisplay:
    """A run to look at: released and public values only, whatever the table."""

    run: Run
    step: int = -1
    title: str = ""

    @cached_property
    def html(self) -> str:
        """A page that plays all steps without network or server."""
        animation = animate(self.run, self._context, at=self.step % len(self.run.frames))
        return make_player_page([PlayerScene(animation=animation, run=self.run, table=self.title)])

    @property
    def figure(self) -> go.Figure:
        """The step as a figure of Plotly, to be changed or saved as a picture."""
        context = self._context.with_steps_of(self.run)
        figure = draw_picture(self.run.frames[self.step].step, context).draw().headed(context.palette)
        return figure.update_layout(paper_bgcolor=context.palette.surface)  # in a dark notebook, too

    def save(self, path: str | Path) -> Path:
        """Write the page, one HTML file; where it lies."""
        if not self.run.private:
            raise RequestError(f"{self.run.algorithm} has no privacy: its run is for your eyes, no file is made.")
        file = Path(path)
        write_whole(file, self.html.encode())
        return file

    @property
    def _context(self) -> RenderContext:
        epsilon = self.run.epsilon if self.run.private else None
        return RenderContext(make_view(self.run.domain), choose_palette("light"), epsilon=epsilon)

    def _repr_html_(self) -> str:
        return frame_page(self.html)


def show(run: Run, step: int = -1, *, title: str = "") -> RunDisplay:
    """The picture of ``run``, its last step first; a notebook plays it, ``save`` writes it as one HTML file.

    Parameters
    ----------
    run : Run
        A finished run.
    step : int
        The step that is seen first.
    title : str
        Of the table, if the page shall say it.

    Returns
    -------
    RunDisplay
        For a notebook, or to be saved.

    Raises
    ------
    RequestError
        If the run has no such step.
    """
    if not -len(run.frames) <= step < len(run.frames):
        raise RequestError(f"step is {step}: give a number from 0 to {len(run.frames) - 1}, or -1 for the last.")
    return RunDisplay(run, step, title)


show.__module__ = "dpviz"


def frame_page(page: str) -> str:
    """A page inside another one: neither's style reaches the other; a sentence if it is too large for that."""
    if len(page.encode()) > MOST_BYTES:
        return "<p>The picture is too large for a notebook: <code>show(run).save(path)</code> writes it.</p>"
    return render("frame.html.j2", height=_HEIGHT, surface=choose_palette("light").surface, page=page)
