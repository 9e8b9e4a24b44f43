"""Results that come with dpviz: tables of claims, and how they were made. Never a substitute for running them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from dpviz.resources import RESOURCES
from experiments.claim import Claim, Verdict
from experiments.material import PUBLISHED, SUBSTITUTE, SYNTHETIC
from experiments.verdict_table import FILE, judge_looks

#: What verdicts are about: published files where there are some, else generated tables.
FOLDER = RESOURCES / "docs" / "reproduced"
#: The same, computed from generated tables throughout.
STAND_INS = FOLDER / "stand-ins"


@dataclass(frozen=True, eq=False)
class Shipped:
    """The table of a claim as it was written, its entry in the manifest, its lines of the verdicts."""

    table: pd.DataFrame
    made: dict[str, Any]
    lines: pd.DataFrame = field(default_factory=pd.DataFrame)

    def verdict(self, claim: Claim) -> Verdict:
        """Judged from the table; the intervals, which take a while, are those that were written."""
        return judge_looks(claim.judge, self.table, self.lines)

    @property
    def how(self) -> str:
        """Which command made it, with which version, and how much that was."""
        amount = "a quick run" if self.made["quick"] else "a full run"
        looks = f", {self.made['look']} of {self.made['looks']} looks" if self.made.get("looks", 1) > 1 else ""
        return f"{amount} of dpviz {self.made['dpviz']}{looks}: `{self.made['command']}`"

    @property
    def on_files(self) -> bool:
        """Whether it was computed from published files or the nearest that there are, if only partly."""
        return bool(self.table["origin"].isin([PUBLISHED, SUBSTITUTE]).any())

    @property
    def about(self) -> str:
        """What kind of tables the verdict is about."""
        if self.on_files:
            return "published files"
        return "stand-ins" if (self.table["origin"] == SYNTHETIC).any() else "the paper's recipe"


def load_shipped(claim: Claim, folder: Path = FOLDER) -> Shipped | None:
    """What lies in ``folder`` of ``claim``; None if nothing does.

    Parameters
    ----------
    claim : Claim
    folder : Path
        As ``python -m experiments --out`` left it.

    Returns
    -------
    Shipped or None
    """
    file, manifest = folder / f"{claim.id}.csv", folder / "manifest.json"
    if not file.is_file() or not manifest.is_file():
        return None
    made = json.loads(manifest.read_text("utf-8"))["claims"].get(claim.id)
    if made is None:
        return None
    verdicts = folder / FILE
    lines = pd.read_csv(verdicts).query("claim == @claim.id") if verdicts.is_file() else pd.DataFrame()
    return Shipped(pd.read_csv(file), made, lines)
