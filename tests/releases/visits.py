"""Visits that end in releases: by the pages, in the shell, in Python; two tables, one account, a hand that draws."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Toggle

import dpviz
from tests import waiting
from tests.command_line import told_by
from tests.pages.site import open_form, paste_bounds, press, turn_to, upload
from tests.pages.tables import app_on, ask, computed, run_again, sound, truth_switch
from tests.releases.people import WORDS

DECLARED = {"bounds": {"age": [0, 100], "income": [0, 90000]}, "bounds_origin": "law", "release": WORDS}
TABLES = ("town", "village")
_ACTS = 5
# Some that no float holds, so that sums of them have many digits.
EPSILONS = (0.1, 0.3, 0.7, 1.0, 2.5)


class Visit:
    """What every door has: two tables with a declaration each, an account, and a hand that draws what is chosen."""

    acts: tuple[str, ...]

    def __init__(self, folder: Path, draw: np.random.Generator) -> None:
        self.folder, self.draw = folder, draw
        for name, rows in zip(TABLES, (240, 150), strict=True):
            cells = np.c_[draw.integers(0, 101, rows), draw.integers(0, 90001, rows)]
            np.savetxt(self.data(name), cells, delimiter=",", header="age,income", comments="", fmt="%d")
            self.declaration(name).write_text(json.dumps(DECLARED))
        self.account = folder / "people.sqlite"
        dpviz.Account.new(self.account, name="people", cap_epsilon=100.0, cap_delta=1e-5)

    def data(self, name: str) -> Path:
        return self.folder / f"{name}.csv"

    def declaration(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def draw_epsilon(self) -> float:
        return float(self.draw.choice(EPSILONS))

    def draw_segments(self) -> float:
        return float(self.draw.choice([0.0, 0.2]))

    def walk(self) -> list[Path]:
        """Go; the zips that were released."""
        names = self.draw.choice(TABLES, _ACTS, p=(0.7, 0.3)).tolist()
        walked = list(zip(self.draw.choice(self.acts, _ACTS).tolist(), names, strict=True))
        for name in TABLES:  # before most of them, a release would have nothing to tell
            walked.insert(int(self.draw.integers(_ACTS // 2, len(walked) + 1)), ("release", name))
        return [made for act, name in walked if (made := getattr(self, act)(name)) is not None]


class PageVisit(Visit):
    """A visit of the pages in which both files are private: what is seen of them is counted."""

    acts = ("propose", "count", "turn_truth", "preview", "fit", "study")

    def __init__(self, folder: Path, draw: np.random.Generator) -> None:
        super().__init__(folder, draw)
        self.come_again()

    def come_again(self) -> None:
        """To the same server, which knows nothing of the visit before but what it has seen."""
        self.open = ""
        self.at: AppTest = app_on("data.py", None, algorithm="dplloyd", k="2")

    def go(self, page: str, name: str) -> AppTest:
        """To a page, with that table open."""
        if self.open != name:
            sound(turn_to(self.at, "data.py").run())
            upload(self.at, self.data(name).read_bytes(), f"{name}.csv")
            paste_bounds(self.at, json.dumps(DECLARED))
            self.open = name
        return sound(turn_to(self.at, page).run())

    def propose(self, name: str) -> None:
        press(self.go("data.py", name), "Propose from the rows (counted)")

    def count(self, name: str) -> None:
        at = open_form(self.go("data.py", name), "columns")
        if "Count what drops out (counted)" in [button.label for button in at.button]:
            press(at, "Count what drops out (counted)")

    def turn_truth(self, name: str) -> None:
        switch = self.find_truth_switch(name)
        switch.set_value(not switch.value)
        sound(self.at.run())

    def find_truth_switch(self, name: str) -> Toggle:
        """It comes with the first run on the rows."""
        at = self.go("explore.py", name)
        if not any(one.label.startswith("Show truth") for one in at.toggle):
            self.fit(name)
        return truth_switch(at)

    def preview(self, name: str) -> None:
        self.go("data.py", name)

    def fit(self, name: str, epsilon: float | None = None) -> None:
        at = self.go("explore.py", name)
        run_again(ask(at, epsilon=epsilon or self.draw_epsilon()))

    def study(self, name: str) -> None:
        if not self.find_truth_switch(name).value:
            self.turn_truth(name)
        at = self.go("compare.py", name)
        at.multiselect(key="compare:contenders").set_value(["DPLloyd"])
        at.slider(key="compare:repeats").set_value(1)
        if not sound(at.run()).button(key="compare:compute").disabled:  # as it is for a study that is there already
            computed(at, "compare")

    def release(self, name: str) -> Path:
        at = self.go("release.py", name)
        for another in [one for one in at.button if one.key == "release:prepare_another"]:
            sound(another.click().run())
        ask(at, epsilon=self.draw_epsilon())
        at.slider(key="release:share").set_value(round(100 * self.draw_segments()))
        at.text_input(key="release:account_path").set_value(str(self.account))
        sound(at.run())
        (typed,) = (one for one in at.text_input if (one.key or "").startswith("release:confirm:"))
        sound(typed.set_value(f"{at.session_state['epsilon']:g}").run())
        (button,) = (one for one in at.button if (one.key or "").startswith("release:press:"))
        number = int(button.key.rpartition(":")[2])
        sound(button.click().run())
        presses = at.session_state["release:pressed"]
        assert len(presses) == number, [said.value for said in at.error]
        job = presses[-1].job
        assert job.wait(waiting.SECONDS)
        sound(at.run())
        assert job.release is not None and job.kept, (job.state, job.error)
        return self.folder / job.kept


class ShellVisit(Visit):
    """Commands, one after the other, as they are typed."""

    acts = ("propose", "fit", "evaluate", "study")

    def told(self, *argv: object) -> None:
        said = told_by(*argv)
        assert said.code == 0, said.err

    def new(self, ending: str) -> Path:
        return self.folder / f"{len([*self.folder.iterdir()])}{ending}"

    def propose(self, name: str) -> None:
        proposal = self.new(".json")
        self.told("declare", self.data(name), "--out", proposal)
        self.declaration(name).write_text(json.dumps({**json.loads(proposal.read_text()), **DECLARED}))

    def fit(self, name: str, *more: str) -> None:
        asked = ("--algorithm", "dplloyd", "--k", 2, "--epsilon", self.draw_epsilon())
        self.told("run", self.data(name), *asked, "--seed", 1, *more)

    def evaluate(self, name: str) -> None:
        self.fit(name, "--evaluate")

    def study(self, name: str) -> None:
        grid = ("--algorithms", "dplloyd", "--epsilons", self.draw_epsilon(), "--ks", 2, "--repeats", 1, "--jobs", 1)
        self.told("sweep", self.data(name), *grid, "--out", self.new(""))

    def release(self, name: str) -> Path:
        zipped = self.new(".zip")
        asked = ("--algorithm", "dplloyd", "--k", 2, "--epsilon", self.draw_epsilon(), "--segments")
        files = ("--account", self.account, "--out", zipped)
        self.told("release", self.declaration(name), self.data(name), *asked, self.draw_segments(), *files, "--yes")
        self.told("verify", zipped)
        return zipped


class PythonVisit(Visit):
    """One process of Python, in which fits without an account are counted."""

    acts = ("propose", "reveal", "fit", "run", "study")

    def propose(self, name: str) -> None:
        declared = dpviz.declare(self.data(name), DECLARED)
        assert declared.proposed
        self.declaration(name).write_text(json.dumps({**DECLARED, "proposed": True}))

    def reveal(self, name: str) -> None:
        assert len(dpviz.open_table(self.data(name)).reveal(note="to see them").points)

    def fit(self, name: str) -> None:
        rows = np.loadtxt(self.data(name), delimiter=",", skiprows=1)
        bounds = list(DECLARED["bounds"].values())
        dpviz.PrivateKMeans(2, epsilon=self.draw_epsilon(), bounds=bounds, algorithm="dplloyd").fit(rows)

    def run(self, name: str) -> None:
        dpviz.run("dplloyd", dpviz.open_table(self.data(name)), k=2, epsilon=self.draw_epsilon(), delta=0.0)

    def study(self, name: str) -> None:
        dpviz.sweep(self.data(name), algorithms=["dplloyd"], epsilons=[self.draw_epsilon()], ks=[2], repeats=1, jobs=1)

    def release(self, name: str) -> Path:
        made = dpviz.release(
            self.declaration(name),
            self.data(name),
            k=2,
            epsilon=self.draw_epsilon(),
            segments=self.draw_segments(),
            algorithm="dplloyd",
            account=self.account,
        )
        return made.save(self.folder / f"{made.number}.zip")
