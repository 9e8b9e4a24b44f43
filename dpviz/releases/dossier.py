"""The dossier of a release: what an evaluator, a data protection officer or a recipient asks, and who answers it.

Each question is answered by the release, follows from it, is answered in the owner's words, or is named as not
answered. Its template has them all, in their order; it reads what was played, so that it can be
made again without a row.

References
----------
NIST SP 800-226 (March 2025, final), Guidelines for evaluating differential privacy guarantees: most questions.
WP29 opinion 05/2014 on anonymisation techniques: singling out, linkability, inference. Dwork, Kohli & Mulligan 2019:
why this ε, and who agreed to it.
"""

from __future__ import annotations

from enum import StrEnum
from itertools import groupby
from typing import NamedTuple

from dpviz.releases.card_page import make_page
from dpviz.releases.playing import Played
from dpviz.releases.release_texts import fill_yaml


class Who(StrEnum):
    """Who answers a question."""

    RELEASE = "answered by the release"
    FOLLOWS = "follows from the release"
    OWNER = "in the owner's words"
    NOBODY = "not answered"


class Answer(NamedTuple):
    """A question of an evaluator, who answers it, and the answer."""

    section: str
    question: str
    who: Who
    said: str


def make_dossier(played: Played) -> tuple[Answer, ...]:
    """Every question with its answer, in the order of the page."""
    sections = fill_yaml("dossier.yaml.j2", played).items()
    return tuple(
        Answer(section, question, Who[who.upper()], said)
        for section, answers in sections
        for question, who, said in answers
    )


def make_dossier_page(played: Played) -> str:
    """The page ``dossier.html``: light and dark, for a telephone and for paper, without script."""
    answers = make_dossier(played)
    return make_page(
        "dossier.html.j2",
        played,
        questions=len(answers),
        open_ended=sum(one.who is Who.NOBODY for one in answers),
        sections=[(name, list(those)) for name, those in groupby(answers, key=lambda one: one.section)],
        kinds={who: {Who.OWNER: "owner", Who.NOBODY: "nobody"}.get(who, "released") for who in Who},
    )
