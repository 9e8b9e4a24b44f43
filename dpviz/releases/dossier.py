"""The dossier of a release: what an evaluator, a data protection officer or a recipient asks, and who answers it.

Each question is answered by the release, follows from it, is answered in the owner's words, or is named as not
answered. It is made of the facts of the card alone, so that it can be made again without a row.

References
----------
NIST SP 800-226 (draft, December 2023), Guidelines for evaluating differential privacy guarantees: most questions.
WP29 opinion 05/2014 on anonymisation techniques: singling out, linkability, inference. Dwork, Kohli & Mulligan 2019:
why this ε, and who agreed to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import groupby
from math import sqrt
from typing import NamedTuple

import numpy as np

from dpviz.releases.card_facts import OWNER_QUESTIONS, CardFacts, group_charges, list_said
from dpviz.releases.card_page import render_page
from dpviz.releases.promise import (
    ALONE,
    compute_certainty,
    describe_accesses,
    describe_choice,
    describe_noise,
    describe_promise,
    describe_recomposed,
    describe_rows,
    describe_sizes,
    describe_slack,
    describe_smallest,
    describe_together,
    describe_unit,
    format_belief,
    format_odds_factor,
    format_small,
    list_protected,
)
from dpviz.releases.registry_card import NOT_AUDITED
from dpviz.releases.segment_words import describe_segments
from dpviz.releases.segments_report import TOO_SMALL
from dpviz.words import format_count, format_number, format_things, join_clauses

# Nine tenths of a Laplace draw lie within so many scales, and of a Gaussian one within so many sd.
_LAPLACE, _GAUSSIAN = 2.303, 1.645


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


def make_dossier(facts: CardFacts) -> tuple[Answer, ...]:
    """Every question with its answer, in the order of the page."""
    sections = (
        ("The guarantee", _describe_guarantee(facts)),
        ("How good the numbers are", _describe_utility(facts)),
        ("How it was made", _describe_correctness(facts)),
        ("Around the release", _describe_deployment(facts)),
        ("Singling out, linking, inference", _describe_legal(facts)),
        ("What whoever uses it has to know", _describe_recipients(facts)),
    )
    return tuple(Answer(name, *answer) for name, answers in sections for answer in answers)


_Said = Iterator[tuple[str, Who, str]]


def _describe_owner(facts: CardFacts, name: str) -> tuple[str, Who, str]:
    """A question that only the owner can answer."""
    return _quote_words(OWNER_QUESTIONS[name], str(getattr(facts.words, name)))


def _quote_words(question: str, words: str) -> tuple[str, Who, str]:
    """A question that the card asks its owner, who may have left it open."""
    known = list_said(words)
    return question, Who.OWNER if known else Who.NOBODY, words.strip() if known else "The owner has not said."


def _describe_guarantee(facts: CardFacts) -> _Said:
    strength = (
        f"{_format_sentence(describe_promise(facts))} {format_belief(facts)} {describe_slack(facts)} "
        f"{describe_recomposed(facts)}"
    )
    yield "How strong is the guarantee, and at another δ?", Who.FOLLOWS, strength.strip()
    yield "Can it fail altogether?", Who.FOLLOWS, _describe_failure(facts)
    yield "What is one individual?", Who.RELEASE, f"{describe_unit(facts)} {' '.join(list_protected(facts))}"
    if not facts.has_id:
        yield _describe_owner(facts, "several_rows")
    relation = (
        f"Bounded by presence: odds within {format_odds_factor(facts.epsilon)}. A changed value is one row out and "
        f"another in: odds within {format_odds_factor(2 * facts.epsilon)}."
        if facts.relation == "add_remove"
        else f"Bounded by value: odds within {format_odds_factor(facts.epsilon)}. The number of rows is public."
    )
    yield "Is presence protected, or a value?", Who.RELEASE, relation
    household = f"Three units together: {describe_together(facts.epsilon, facts.delta, 3)}."
    yield "What of households?", Who.FOLLOWS, household
    yield _quote_words("Why these bounds, this ε and this k?", facts.words.justification)
    yield _describe_owner(facts, "agreed_by")
    yield "What did earlier releases spend?", Who.RELEASE, _describe_account(facts)
    yield _describe_owner(facts, "other_releases")


def _describe_failure(facts: CardFacts) -> str:
    kinds = sorted({str(entry.get("loss", "")) for entry in facts.entries} - {""})
    names = ", ".join(sorted({str(entry.get("mechanism", "")) for entry in facts.entries}))
    if "approximate" in kinds:
        return (
            f"Perhaps: of some draws it is proved only that they fail with a chance of at most "
            f"{format_small(facts.delta)}."
        )
    return f"No: every draw in the ledger ({names}) has a loss that grows gradually; none releases a row as it is."


def _describe_account(facts: CardFacts) -> str:
    account = facts.account
    if account is None:
        return "No account of other releases about these people was given."
    return (
        f"Account {account.name} holds at most ε = {account.cap_epsilon:g}, δ = {format_small(account.cap_delta)}: "
        f"ε = {account.before_epsilon:.6g} was spent before this release, {account.after_epsilon:.6g} after it."
    )


def _describe_utility(facts: CardFacts) -> _Said:
    yield "How large is the error of each number?", Who.RELEASE, _describe_errors(facts)
    yield "What of small groups?", Who.FOLLOWS, f"{_describe_small_groups(facts)} {describe_smallest(facts)}".rstrip()
    yield (
        "How much does clipping distort?",
        Who.NOBODY,
        "The share of rows that were clipped to the bounds is not released. Means are of clipped values: their bias is "
        "at most that share times the mean overshoot.",
    )
    yield (
        "Do results look wrong, and can that be seen?",
        Who.RELEASE,
        "Unrepaired noisy answers, negative ones too, are in transcript.npz; its legend names every array.",
    )
    yield _quote_words("What is it meant for?", facts.words.intended_use)
    yield _describe_owner(facts, "decision")


def _describe_errors(facts: CardFacts) -> str:
    errors = []
    if facts.sizes is not None and facts.size_sd is not None:
        reach = format_number(_GAUSSIAN * float(np.max(facts.size_sd)))
        errors.append(f"Sizes are within ±{reach} rows, nine times in ten.")
    if facts.center_sd is None:
        errors.append("The algorithm cannot tell the noise on its centres.")
    else:
        worst = facts.profile.even.center_sd.max(axis=0).tolist()
        told = ", ".join(
            f"{column.name} {describe_noise(column.coding, sd, column.unit)}"
            for column, sd in zip(facts.profile.columns[:12], worst, strict=False)
        )
        more = format_things(len(worst) - 12, "column") + " more: see centers.csv" if len(worst) > 12 else ""
        errors.append(
            f"The noise on a centre has, where it is worst, this standard deviation: {join_clauses(told, more)}."
        )
    errors.append("Beside every number of centers.csv and segments.csv stands its noise, or an interval.")
    return " ".join(errors)


def _describe_small_groups(facts: CardFacts) -> str:
    if facts.segments is None:
        return "Nothing was released about the segments but their centres, and what the algorithm counted itself."
    drowned = [f"{one.number}" for one in describe_segments(facts.segments) if one.name == TOO_SMALL]
    least = f"Segments of fewer than about {facts.segments.get('least_size', 0):,.0f} rows are not described."
    whose = f"segment {drowned[0]}" if len(drowned) == 1 else f"segments {', '.join(drowned)}"
    return f"{least} Here these are {whose}." if drowned else f"{least} Here all are larger."


def _describe_correctness(facts: CardFacts) -> _Said:
    drawn = "; ".join(
        f"{made.mechanism} noise on {made.asked}, scale {made.noise}, {format_things(len(made.scales), 'charge')}"
        for made in group_charges(facts)
    )
    yield (
        "Which mechanisms, with which sensitivity, composed how?",
        Who.RELEASE,
        f"{facts.accounting} {drawn}. {ALONE} The column “cost” is what adds up inside a part, by the rule in "
        "“composed_by”. dpviz verify plays all of it again.",
    )
    yield "Where are the bounds from?", Who.RELEASE, _describe_origins(facts)
    yield _describe_owner(facts, "bounds_known_by")
    yield "What was seen of the rows before?", Who.RELEASE, describe_accesses(facts)
    chosen = facts.words.chosen_after_looking.strip()
    yield "What was chosen because of it?", Who.OWNER if chosen else Who.NOBODY, chosen or describe_choice(facts)
    yield (
        "Is the noise safe against floating point and a weak generator?",
        Who.RELEASE,
        f"It is drawn by {facts.noise} on whole numbers, from the randomness of the operating system. The files cannot "
        "prove that.",
    )
    yield (
        "Is timing covered?",
        Who.NOBODY,
        "How long the program took is not published; nothing more is claimed. Nobody outside could ask the rows.",
    )
    code = f" Its source files have the SHA-256 {facts.code}." if facts.code else ""
    ran = f", run on {facts.platform}" if facts.platform else ""
    yield "Was the program tested and audited?", Who.NOBODY, f"{NOT_AUDITED} It is dpviz {facts.dpviz}{ran}.{code}"


def _describe_origins(facts: CardFacts) -> str:
    """Where the bounds come from, columns of one origin together."""
    alike: dict[str, list[str]] = {}
    for column in facts.named:
        alike.setdefault(column.origin, []).append(column.name)
    return " ".join(f"{', '.join(names)}: {origin.rstrip('.')}." for origin, names in alike.items())


def _describe_deployment(facts: CardFacts) -> _Said:
    local = facts.algorithm_id == "lsh-local"
    yield (
        "Who has to be trusted?",
        Who.RELEASE,
        "Nobody: every person adds the noise to the own row."
        if local
        else "The curator, who holds the rows and draws the noise (central model).",
    )
    yield _describe_owner(facts, "raw_access")
    yield _describe_owner(facts, "storage")
    yield _describe_owner(facts, "columns_needed")
    yield (
        "Can more be asked?",
        Who.RELEASE,
        "No: the published files are all there is. Another release of the same people adds its ε and δ to these.",
    )
    yield _describe_owner(facts, "repeats")


def _describe_legal(facts: CardFacts) -> _Said:
    yield (
        "Singling out",
        Who.FOLLOWS,
        f"No row leaves. Who guesses with a coin whether one unit ({facts.unit}) is in the table can be "
        f"{compute_certainty(facts.epsilon)}.",
    )
    yield (
        "Linking",
        Who.FOLLOWS,
        "Whatever else is known of a person cannot lift that bound: it holds against any knowledge beside.",
    )
    yield (
        "Inference",
        Who.NOBODY,
        "Not prevented: what is true of a group can be inferred of whoever is like it, in the table or not. Only what "
        "one's own row adds to such a guess is bounded.",
    )
    yield (
        "Would a motivated intruder succeed?",
        Who.NOBODY,
        "That test is the controller's, and stricter for a release to the world.",
    )
    yield (
        "What remains for the controller?",
        Who.NOBODY,
        "A legal basis for making the release, an impact assessment where one is due, a review from time to time. The "
        "raw table stays personal data. Whether the release is outside of data protection law is a legal conclusion "
        "that no program can draw.",
    )


def _describe_recipients(facts: CardFacts) -> _Said:
    yield (
        "What does a noise scale mean?",
        Who.FOLLOWS,
        f"Of Laplace noise of scale b the sd is {format_number(sqrt(2))} b, and nine draws in ten are "
        f"within {_LAPLACE:.2f} "
        f"b; of Gaussian noise within {_GAUSSIAN} sd. That is the noise alone: a sample of people varies besides.",
    )
    yield (
        "Can a subset be asked about later?",
        Who.FOLLOWS,
        "Not from these files: a segment of a region, or an age within a segment, needs new ε.",
    )
    yield "Why do sums disagree?", Who.FOLLOWS, _describe_sums(facts)
    yield (
        "What does an absent number mean?",
        Who.FOLLOWS,
        f"“{TOO_SMALL}” is decided by noisy sizes, and never says that there is nobody.",
    )
    if several := _count_intervals(facts):
        missed = f"expect about {format_count(max(1, several // 10))} to miss"
        yield (
            "How many intervals miss?",
            Who.FOLLOWS,
            f"Of {several} intervals that cover nine in ten each, {missed}. For all at once, widen each.",
        )
    yield (
        "How are two releases compared?",
        Who.FOLLOWS,
        "Numbers of segments do not match; noise alone may cut the same rows into other segments. dpviz read compares "
        "two releases only where their segments pair off, and counts a difference beyond twice the noise of both.",
    )
    yield "What was promised about the number of rows?", Who.RELEASE, describe_rows(facts)


def _describe_sums(facts: CardFacts) -> str:
    why = "Every number carries noise of its own, so that shares need not add up to 100 % and sizes not to the whole."
    return f"{why} {describe_sizes(facts)}".rstrip()


def _count_intervals(facts: CardFacts) -> int:
    told = describe_segments(facts.segments)
    return sum(1 + sum(3 if one.median is not None else len(one.shares) for one in part.columns) for part in told)


def _format_sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def make_dossier_page(facts: CardFacts) -> str:
    """The page ``dossier.html``: light and dark, for a telephone and for paper, without script."""
    answers = make_dossier(facts)
    return render_page(
        "dossier.html.j2",
        title=f"{facts.words.name} · dossier",
        name=facts.words.name,
        dpviz=facts.dpviz,
        questions=len(answers),
        open_ended=sum(one.who is Who.NOBODY for one in answers),
        sections=[(name, list(those)) for name, those in groupby(answers, key=lambda one: one.section)],
        kinds={who: {Who.OWNER: "owner", Who.NOBODY: "nobody"}.get(who, "released") for who in Who},
    )
