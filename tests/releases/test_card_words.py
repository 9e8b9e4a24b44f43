"""What the three pages of a release say of all that may be declared, asked, seen, drawn and left out.

A small release stands in full; of every other one the lines that it has instead. Sentences are stored, not judged: what
they have to say follows from ``test_card_from_declaration.py``, which computes it anew.
"""

import html
import re
from collections.abc import Callable
from dataclasses import replace
from difflib import ndiff
from pathlib import Path

import numpy as np

from dpviz.algorithms.size_estimates import Sizes
from dpviz.core.accounting import LossKind
from dpviz.releases.missing_shares import MissingShare, MissingShares
from dpviz.releases.playing import Played
from dpviz.releases.promise import AccessCounts
from dpviz.releases.release_texts import format_card, make_card_page, make_dossier_page
from dpviz.releases.segments_report import TOO_SMALL
from dpviz.runs.profiles import ProfileColumn
from dpviz.tables.codings import Closed
from dpviz.tables.declarations import FROM_ROWS, NOT_STATED, OWNER_QUESTIONS, Described
from tests.cases import about
from tests.proof.kept import without_day
from tests.releases.made_played import numbers, played, reported, segment, shares
from tests.releases.pinned_noise import PINNED
from tests.stored import compare_texts

STORED = Path(__file__).parent / "stored" / "card_words.txt"
UNKNOWN = {"center_sd": np.full((2, 2), np.nan), "sizes": None}
DAYS = {"unit": "days from 2020-01-01", "first_day": "2020-01-01"}
DATED = numbers("joined", 3, 31, 60, **DAYS)
MANY_SHARES = shares("region", **{f"r{place}": 0.1 for place in range(8)})
MISSING = tuple(MissingShare(f"column {place}", 0.03, 0.02, 0.04) for place in range(60))


def with_missing(number: int) -> Played:
    made = played()
    return replace(made, parts=replace(made.parts, missing=MissingShares(MISSING[:number], ())))


def failing() -> Played:
    """With a draw that fails with a chance of δ."""
    vars(entry := replace(played().run.entries[0]))["loss"] = LossKind.APPROXIMATE
    return played(run={"entries": (entry,)})


SHARE = ProfileColumn("income = S", 0, 1, source="income", declared=Closed(("N", "S")))
CASES: dict[str, Callable[[], Played]] = {
    "small": played,
    "pure": lambda: played(request={"delta": 0.0}),
    "persons, one exchanged": lambda: played(
        declared={"id_column": "who", "rows_per_person": 3}, run={"relation": "replace"}
    ),
    "a number of rows that was bought": lambda: played(run={"n": 11_987.4, "n_origin": "bought"}),
    "a number of rows that nobody knows": lambda: played(run={"n": None}),
    "a great promise": lambda: played(request={"epsilon": 20.0}),
    "a promise beyond belief": lambda: played(request={"epsilon": 30.0}),
    "noise that cannot be told": lambda: played(profile=UNKNOWN),
    "much noise on sizes": lambda: played(profile={"sizes": played().profile.sizes._replace(sd=np.full(2, 411.4))}),
    "known centres": lambda: played(
        profile={
            "centers": np.array([[30.5, 40_000.0], [60.0, 90_500.0]]),
            "center_sd": np.array([[0.9, 900.0], [1.1, 1_100.0]]),
            "sizes": Sizes(np.array([7012.0, 4990.0]), np.full(2, 14.0)),
        }
    ),
    "three centres of two wide columns": lambda: played(
        profile={
            "columns": (ProfileColumn("age", 20, 120), ProfileColumn("income", 0, 1_000)),
            "centers": np.array([[20.0, 0.0], [70.0, 500.0], [120.0, 1_000.0]]),
            **{"center_sd": np.full((3, 2), np.nan), "scale": np.ones(2), "sizes": None},
        }
    ),
    "segments": lambda: played(
        report=reported(
            segment(1, numbers("age", 20, 30, 40), shares("region", S=0.2, N=0.8), name="so", telling=("age",)),
            segment(2, numbers("age", 50, 60, 70, wide=True), MANY_SHARES),
            segment(3, numbers("age"), shares("region")),
        )
    ),
    "segments of days": lambda: played(report=reported(segment(1, DATED), segment(2, numbers("joined", **DAYS)))),
    "segments of many columns": lambda: played(
        report=reported(segment(1, *(numbers(f"c{place}", 20, 30, 40) for place in range(12))))
    ),
    "many segments": lambda: played(
        report=reported(*(segment(i, numbers("age", 20, 30, 40), shares("town", N=0.5, S=0.5)) for i in range(1, 8)))
    ),
    "a segment that drowns": lambda: played(
        report=reported(segment(1, numbers("age", 20, 30, 40)), segment(2, numbers("age"), name=TOO_SMALL))
    ),
    "shares that a centre has said": lambda: played(
        profile={"columns": (*played().profile.columns[:1], SHARE), "centers": np.array([[30.0, 0.2], [60.0, 0.9]])},
        report=reported(segment(1, numbers("age"), shares("income", N=1, S=0)), segment(2, numbers("age", 5, 6, 7))),
    ),
    "a missing share": lambda: with_missing(1),
    "sixty missing shares": lambda: with_missing(60),
    "an account with little left": lambda: played(account={"spent_epsilon": 0.5, "cap_epsilon": 2.0}),
    "bounds of one origin, and a described column": lambda: played(
        declared={"describe": {"c": Described(bounds=(0, 9))}, "origins": ("documentation", "documentation")}
    ),
    "bounds that an earlier release bought": lambda: played(declared={"origins": ("law", "bought, ε = 0.06")}),
    "one centre": lambda: played(
        profile={
            **{"centers": np.array([[30.0, 40_000]]), "center_sd": np.ones((1, 2))},
            "sizes": Sizes(np.array([900.0]), np.array([6.0])),
        }
    ),
    "bounds from the rows": lambda: played(declared={"origins": (FROM_ROWS, "")}),
    "nothing seen": lambda: played(seen=AccessCounts()),
    "runs and a reading seen": lambda: played(seen=AccessCounts(runs=50, runs_epsilon=50.0, grids_read=1)),
    "another look": lambda: played(seen=AccessCounts({"other": 2})),
    "every question answered": lambda: played(said=dict.fromkeys(OWNER_QUESTIONS, "So says the owner <b>.")),
    "an owner who says nothing": lambda: played(
        said={"intended_use": NOT_STATED, "justification": NOT_STATED, "chosen_after_looking": " "}
    ),
    "no curator": lambda: played(said={"curators": (NOT_STATED,)}),
    "a draw that may fail": failing,
}


def list_lines(made: Played) -> list[str]:
    """The words of the three pages, a block of the markup a line."""
    made = replace(made, asked=replace(made.asked, **PINNED))
    found = []
    for name, text in {
        "card.html": make_card_page(made),
        "dossier.html": make_dossier_page(made),
        "card.yaml": format_card(made),
    }.items():
        if name.endswith(".html"):
            text = re.sub(
                r"<style.*?</style>|</?(?:b|strong|em|code|a|span|sup|sub)\b[^>]*>", "", text, flags=re.DOTALL
            )
            text = html.unescape(re.sub(r"</t[hd]>\s*", " | ", re.sub(r"<(?!/t[hd])[^>]+>", "\n", text)))
        text = re.sub(r"\d{4}-\d\d-\d\dT[\d:+.]+", "TIME", text)
        text = without_day(re.sub(r"\b(?=[0-9a-f]*\d)[0-9a-f]{12,64}\b", "HASH", text))
        found += [f"{name}: {' '.join(line.split())}" for line in text.splitlines() if line.strip()]
    return found


def test_pages_say_what_they_said() -> None:
    told, usual = [], list_lines(played())
    for name, make in CASES.items():
        lines = list_lines(make())
        with about(name):
            assert not re.search(r"\bnan\b|\$\{|\{\{", " ".join(lines))
        if name != "small":
            lines = [line for line in ndiff(usual, lines) if line[0] in "+-"]
        told.append((name, "\n".join(lines)))
    compare_texts(STORED, told)
