"""Small open tables for page tests, and the app with one of them open."""

import base64
import gzip
import json
from collections.abc import Iterable
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Toggle

from dpviz.app.ui.studies.study_job import StudyJob
from dpviz.runs import JobState, JudgedTable, OpenTable, StudyGrid, Work, compute_study_rows, curve_work, declare
from dpviz.runs.worker import Failure
from dpviz.tables import Declaration, FileKind, make_numeric_table
from tests import waiting
from tests.contract.tables import make_blobs
from tests.core.tuple_checks import tight_tuples
from tests.pages.site import ROUTER, fine, turn_to

LOSS = "the loss of k-means++"
sound = fine


def open_blobs(kind: FileKind = FileKind.PUBLIC, *, n: int = 400, dim: int = 2, labelled: bool = False) -> OpenTable:
    """``n`` rows around three centres, with declared bounds and n."""
    values = make_blobs(n, dim)
    names = [f"x{j}" for j in range(dim)]
    if labelled:
        values, names = np.column_stack([values, values[:, 0] > 0]), [*names, "label"]
    declaration = Declaration(
        columns=tuple(f"x{j}" for j in range(dim)),
        lower=(-1.0,) * dim,
        upper=(1.0,) * dim,
        n_public=n,
        kind=kind,
        label_column="label" if labelled else None,
        title="blobs",
    )
    return declare(make_numeric_table(values, names, name="blobs"), declaration)


def open_pairs(number: int) -> OpenTable:
    """Rows that each hold two points, far apart, in either order; one row may be replaced."""
    names = ["x_1", "y_1", "x_2", "y_2"]
    values = tight_tuples(number, jitter=1e-6, misfits=3).reshape(number, 4)
    bounds = {"lower": (-1.0,) * 4, "upper": (1.0,) * 4}
    declaration = Declaration(columns=tuple(names), **bounds, relation="replace", kind=FileKind.PUBLIC, title="pairs")
    return declare(make_numeric_table(values, names, name="pairs"), declaration)


def ended(items: Iterable[Any]) -> Work[Any]:
    """A job that was done on the spot, where a test is not about workers."""
    job: Work[Any] = Work()
    job._note_begin()
    try:
        for item in items:
            job._take(item)
    except Exception as error:
        job._finish(JobState.FAILED, Failure.of(error))
    job._finish(JobState.DONE)
    return job


class ArrivingJob:
    """A job under way; each time someone looks, one item more has arrived."""

    error, progress, seconds_left, elapsed = None, None, None, 0.0

    def __init__(self, items: list[Any]) -> None:
        self.state, self._items, self._arrived = JobState.RUNNING, items, 0

    @property
    def items(self) -> list[Any]:
        self._arrived += 1
        return self._items[: self._arrived]

    def cancel(self) -> None:
        pass


_STUDIES: dict[tuple[str, str, bool], list[Any]] = {}


class PromptRegistry:
    """A registry that does its jobs at once, and the same study only once for all tests."""

    def submit(self, work: Any, *args: Any, **kwargs: Any) -> Work[Any]:
        # The curve of a table is of 85 runs: whoever tests it makes it.
        return ended(() if work is curve_work else work(*args, **kwargs))

    def start_study(self, judged: JudgedTable, grid: StudyGrid, *, key: str, with_centers: bool = False) -> Work[Any]:
        asked = (key, grid.to_yaml(), with_centers)
        if asked not in _STUDIES:
            _STUDIES[asked] = list(compute_study_rows(judged, grid, with_centers=with_centers))
        return ended(_STUDIES[asked])


class UnderWayRegistry:
    """A registry whose jobs have begun, and end when the test says so."""

    def submit(self, *_: Any, **__: Any) -> Work[Any]:
        job: Work[Any] = Work()
        job._note_begin()
        return job


def app_on(page: str, table: OpenTable | None, *, workers: bool = False, registry: Any = None, **link: str) -> AppTest:
    """The app on ``page`` with ``table`` open, as a ``link`` with these settings opens it; fails if the page raised.

    Its jobs are done at once, or by ``workers``, or as a ``registry`` of the test's own does them.
    """
    app = AppTest.from_file(str(ROUTER), default_timeout=waiting.SECONDS)
    if table is not None:
        app.session_state["visit:table"] = table
    if not workers:
        app.session_state["job_panel:registry"] = registry or PromptRegistry()
    turn_to(app, page)
    for name, value in link.items():
        app.query_params[name] = value
    return sound(app.run())


def run_again(app: AppTest) -> AppTest:
    """Press the button that runs: on rows of one's own, or on a public table another time."""
    keys = {button.key for button in app.button}
    return sound(app.button(key="bench:run" if "bench:run" in keys else "bench:again").click().run())


def open_below(app: AppTest, tab: str) -> AppTest:
    """Open what stands below the picture, at a tab."""
    app.session_state["bench:more"], app.session_state["explore:below"] = True, tab
    return sound(app.run())


def ask(app: AppTest, **settings: object) -> AppTest:
    """Set k, ε, δ or the algorithm, as the sentence and the axis do."""
    for name, value in settings.items():
        app.session_state[name] = value
    return sound(app.run())


def text_of(app: AppTest) -> str:
    """All words on the page that are not widgets."""
    parts = (*app.title, *app.markdown, *app.caption, *app.info, *app.error, *app.warning)
    return "\n".join(part.value for part in parts)


def job_of(app: AppTest, key: str) -> Work[Any]:
    """The job behind the study of a page."""
    return app.session_state[f"{key}:job"].job


def computed(app: AppTest, key: str) -> AppTest:
    """``app`` after its study has been sent off and has come back."""
    app.button(key=f"{key}:compute").click()
    sound(app.run())
    job = job_of(app, key)
    assert job.wait(waiting.SECONDS) and job.state is JobState.DONE, job.error
    return sound(app.run())


def study_in(app: AppTest, key: str) -> StudyJob:
    """The study of a page."""
    return app.session_state[f"{key}:job"]


def truth_switch(app: AppTest) -> Toggle:
    """The owner's switch at the foot of the rail."""
    (switch,) = (toggle for toggle in app.toggle if toggle.label.startswith("Show truth"))
    return switch


def players(app: AppTest) -> list[dict[str, Any]]:
    """What each player on the page was given."""
    given = [json.loads(component.proto.json) for component in app.get("bidi_component")]
    return [data for data in given if "animation" in data]


def board_in(app: AppTest) -> dict[str, Any]:
    """What the board was told, its answer read."""
    (told,) = (json.loads(part.proto.json) for part in app.get("bidi_component") if "dress" in part.proto.json)
    return told | {name: json.loads(told[name]) if told[name] else None for name in ("answer", "start")}


def read_animation(app: AppTest) -> dict[str, Any]:
    """What the only player was given: the steps, and what stands around them."""
    (data,) = players(app)
    steps = gzip.decompress(base64.b64decode(data["animation"]))
    animation: dict[str, Any] = json.loads(steps) | json.loads(data["around"])
    for step in animation["steps"]:
        for trace in (trace for picture in (step, *step["sides"]) for trace in picture["data"]):
            shared = {
                name: value["same"] for name, value in trace.items() if isinstance(value, dict) and "same" in value
            }
            trace |= {name: animation["shared"][same] for name, same in shared.items()}
    return animation


def numbers(app: AppTest) -> dict[str, str]:
    """The numbers beside the title, by what they are of."""
    return {entry["of"]: entry["value"] for entry in read_animation(app)["numbers"]}
