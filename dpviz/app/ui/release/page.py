"""What a release asks, top to bottom: what leaves, what it rests on, what it costs, and one button.

All on it is public or released. A row, a true count or a loss on the rows has no way here.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.app.ui.controls import BOUNDS, MISSING, SEGMENTS, recall_division
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import draw_caption_with_badge, draw_python_section, look_of
from dpviz.app.ui.page_sentences import SENTENCES
from dpviz.app.ui.release.account_section import draw_account_section, draw_publish_section
from dpviz.app.ui.release.subject import ReleaseSubject, find_refusal
from dpviz.app.ui.same_origin import may_name_paths
from dpviz.app.ui.session import recall, remember
from dpviz.app.ui.table_words import describe_coding
from dpviz.core import ACCESS_LOG, RequestError, name_library
from dpviz.releases import AccessCounts, ReleaseRequest, promise
from dpviz.runs import Division, Request, Script, format_value, windows
from dpviz.tables import Declaration, codings, declarations
from dpviz.words import capitalize_first, format_number, format_percent, format_small, format_things, glossary, render

_DECLARED_FIRST = ("name", "description")
_ON_THE_CARD = [name for name, word in declarations.OWNER_WORDS.items() if word.label]


def draw_words_form(declared: Declaration, source_key: str, *, today: str, chosen: str) -> declarations.OwnerWords:
    """Draw the form of the card's words."""
    kept = f"release:words:{source_key[:16]}"
    before: dict[str, Any] = {**_propose_words(declared, today), **recall(kept, {}), "publication_date": today}
    missing = declarations.OwnerWords(**before, chosen_after_looking=chosen).list_missing()
    with st.expander("The card in your words", expanded=bool(missing), icon=":material/edit_note:", key=f"{kept}:open"):
        columns = st.columns(2, gap="medium")
        said: dict[str, Any] = {}
        for place, name in enumerate(_ON_THE_CARD):
            with columns[place % 2]:
                said[name] = _ask_answer(f"{kept}:{name}", declarations.OWNER_WORDS[name], before[name])
        with columns[1]:
            said["sector"] = _ask_sector(f"{kept}:sector", before["sector"])
    said |= _ask_evaluation(kept, before, declared)
    return declarations.OwnerWords(**remember(kept, {**before, **said}), chosen_after_looking=chosen)


def _ask_evaluation(kept: str, before: dict[str, Any], declared: Declaration) -> dict[str, str]:
    """Answers to what only the owner can say; the dossier prints them, and names what is left open."""
    # A column that says whose each row is has answered how many rows a person may have.
    asked = {
        name: one
        for name, one in declarations.OWNER_QUESTIONS.items()
        if name != "several_rows" or not declared.id_column
    }
    # What was typed just now is in the session before its box is drawn again.
    now = {name: st.session_state.get(f"{kept}:{name}", before[name]) for name in asked}
    open_ended = sum(not str(said).strip() for said in now.values())
    title = "What an evaluator asks" + (f": {format_things(open_ended, 'question')} open" if open_ended else "")
    with st.expander(escape_markdown(title), icon=":material/fact_check:", key=f"{kept}:evaluators"):
        st.caption("The dossier in the zip prints your answers word by word. A question left open is named as open.")
        columns, said = st.columns(2, gap="medium"), {}
        for place, (name, question) in enumerate(asked.items()):
            look: dict[str, Any] = {"max_chars": declarations.LONGEST, "height": 68, "key": f"{kept}:{name}"}
            said[name] = columns[place % 2].text_area(escape_markdown(question), before[name], **look) or ""
    return said


def describe_missing(missing: str) -> str:
    """Which word is missing, by the name that its field has on the page, which says what it is for.

    >>> describe_missing("intended_use is empty: say what the release is for.")
    'Intended use is empty.'
    """
    name, gap, rest = missing.partition(":")[0].partition(" ")
    return f"{capitalize_first(name.replace('_', ' '))}{gap}{rest}."


def _propose_words(declared: Declaration, today: str) -> dict[str, Any]:
    """What is declared; where nothing is, a name and a description are proposed, and all else is asked."""
    usual = asdict(declarations.find_words(declared, today=today))
    del usual["chosen_after_looking"]  # which is asked beside what was seen
    asked = [name for name in _ON_THE_CARD if name not in (*declared.words, *_DECLARED_FIRST)]
    return usual | {name: () if declarations.OWNER_WORDS[name].several else "" for name in asked}


def _ask_answer(key: str, word: declarations.OwnerWord, before: Any) -> Any:
    label = escape_markdown(word.label)
    text = "\n".join(before) if word.several else before
    box: dict[str, Any] = {"value": text, "max_chars": declarations.LONGEST, "placeholder": word.hint, "key": key}
    said = (st.text_area(label, height=68, **box) if word.long else st.text_input(label, **box)) or ""
    return tuple(line.strip() for line in said.splitlines() if line.strip()) if word.several else said


def _ask_sector(key: str, before: str) -> str:
    at = declarations.SECTORS.index(before) if before in declarations.SECTORS else None
    return st.selectbox("Sector (optional)", declarations.SECTORS, at, placeholder="none of these", key=key) or ""


def draw_accesses_section(asked_of: ReleaseSubject) -> tuple[AccessCounts, str]:
    """What this process saw of the rows, and what its owner says was chosen after it."""
    key = asked_of.source_key
    seen = AccessCounts.of(ACCESS_LOG.count(key), proposed=asked_of.declaration.proposed)
    with st.expander("Looks at the rows in this process", icon=":material/visibility:", key="release:looks"):
        st.markdown(escape_markdown(seen.words), help=glossary.explain_term("look"))
    return seen, _ask_choice(asked_of.declaration, key)


def _ask_choice(declared: Declaration, source_key: str) -> str:
    kept = f"release:chosen:{source_key[:16]}"
    before = declared.words.get("chosen_after_looking", "")
    first = recall(kept, before if isinstance(before, str) else "")
    look = look_of("chosen_after_looking", value=first, max_chars=declarations.LONGEST, key=kept)
    return remember(kept, str(st.text_area(**look) or ""))


_MOST_LINES = 12
_NOWHERE = "not stated"
_ALL, _SAID_OF_ALL = "Said of all bounds", "see below"


class Line(NamedTuple):
    """One column: what is declared of it, where that comes from, and what is wrong with it, or what it costs."""

    column: str
    bounds: str
    origin: str
    wrong: str = ""
    cost: str = ""


def draw_bounds_section(release_request: ReleaseRequest, asked_of: ReleaseSubject) -> list[str]:
    """Draw the table of bounds and where they come from."""
    declared = asked_of.declaration
    against = _list_bounds_hindrances(declared)
    lines = sorted(list_lines(release_request, declared), key=lambda line: not (line.wrong or line.cost))
    # What the sentence says already is folded away; what is wrong or costs is not.
    shown = any(line.wrong or line.cost for line in lines)
    with st.expander("Where every bound comes from", shown, icon=":material/straighten:", key="release:where_from"):
        st.markdown(_make_table(lines[:_MOST_LINES]), help=glossary.explain_term("bounds"))
        if len(lines) > _MOST_LINES:
            with st.expander(f"{len(lines) - _MOST_LINES:d} more columns, all declared"):
                st.markdown(_make_table(lines[_MOST_LINES:]))
        if declared.bounds_origin.strip():
            st.caption(f"{_ALL}: {escape_markdown(declared.bounds_origin.strip())}")
    for words in against:
        st.markdown(f":red[:material/block: {escape_markdown(words)}]")
    return against


def list_lines(release_request: ReleaseRequest, declared: Declaration) -> list[Line]:
    """What is said of each column's bounds."""
    to_buy = declared.open_columns
    lines = []
    for name, bounds in declared.bounds.items():
        unit = declared.units.get(name, "")
        origin = declared.describe_origin(name)
        stated = bounds.origin or _SAID_OF_ALL
        if name in to_buy:
            each = release_request.request.epsilon * release_request.division.bounds
            cost = f"will be bought with ε = {format_number(each)}"
            lines.append(Line(name, "open", "nobody knows them", cost=cost))
            continue
        wrong = "blocked: nobody says" if origin == _NOWHERE else ""
        wrong = "blocked: the rows" if declarations.FROM_ROWS in origin else wrong
        coding = declared.codings.get(name, codings.NUMBER)
        span = (
            describe_coding(coding.to_plain(bounds.lower, bounds.upper))
            if coding.words
            else promise.format_span(bounds.lower or 0.0, bounds.upper or 0.0, unit, coding.kind)
        )
        lines.append(Line(name, span, origin if origin == _NOWHERE else stated, wrong))
    for name, one in declared.describe.items():
        said = format_things(len(one.categories), "category", "categories")
        said = said if one.bounds is None else " to ".join(map(promise.format_plain_number, one.bounds))
        lines.append(Line(name, said, "declared, for segments only"))
    return lines


def _list_bounds_hindrances(declared: Declaration) -> list[str]:
    """What a release would be refused for, with what to do about it on these pages."""
    if declared.bounds_from_rows:
        return [SENTENCES.fill("bounds_from_rows")]
    if nowhere := declared.unexplained:
        return [SENTENCES.fill("bounds_from_nowhere", names=nowhere)]
    return []


def _make_table(lines: list[Line]) -> str:
    head = "| column | bounds | where from |\n|---|---|---|"
    rows = [
        f"| {escape_markdown(one.column)} | {escape_markdown(one.bounds)} | {_describe_origin(one)} |" for one in lines
    ]
    return "\n".join([head, *rows])


def _describe_origin(line: Line) -> str:
    if line.wrong:
        said = f" ({escape_markdown(line.origin)})" if line.origin not in (_NOWHERE, declarations.FROM_ROWS) else ""
        return f":red[:material/block: **{escape_markdown(line.wrong)}**]{said}"
    return f"**{escape_markdown(line.cost)}**" if line.cost else escape_markdown(line.origin)


_MOST_ROWS = 1_000_000  # of a smallest group


class Terms(NamedTuple):
    """One run without a seed, how its ε is divided, and the rows of the smallest group that is promised; 0: none."""

    request: Request
    division: Division
    smallest_group: int


def ask_division(*, buys: bool, public: bool = False) -> Division:
    """How the ε of a release is divided; what is as usual for the table is not kept for another one."""
    kept = recall_division(public=public)
    _ask_part("part_for_segments", kept.segments, SEGMENTS)
    if buys:
        _ask_part("part_for_bounds", kept.bounds, BOUNDS)
    _ask_part("part_for_missing", kept.missing, MISSING)
    divided = recall_division(public=public)
    return divided if buys else replace(divided, bounds=Division.bounds)


def _ask_part(name: str, kept: float, key: str) -> None:
    usual = round(100 * kept)
    percent = int(st.slider(**look_of(name, value=usual, key=key)))
    if percent != usual:
        remember(key, percent)


def ask_smallest_group(divided: Division) -> int:
    """The rows that each group of a release is promised to have; 0: nothing is promised."""
    off = not divided.segments
    smallest = st.number_input(**look_of("smallest", max_value=_MOST_ROWS, disabled=off, key="release:smallest"))
    return int(smallest) if divided.segments else 0


def _explain_epsilon(epsilon: float, window: windows.Window | None) -> str:
    """The argument for ε by the window of the bench, for the owner's words; "" where there is none."""
    if window is None:
        return ""
    argument = window.argument(epsilon)
    with st.expander("Why this ε, as the card says it", icon=":material/balance:", key="release:why"):
        draw_caption_with_badge("public", escape_markdown(argument))
    return argument


def draw_release_form(asked_of: ReleaseSubject, terms: Terms, window: windows.Window | None) -> None:
    """What leaves, what it rests on, what it costs, and the button."""
    declared, today = asked_of.declaration, datetime.now(UTC).date().isoformat()
    said = declarations.find_words(declared, today=today)
    draft = ReleaseRequest(terms.request, said, terms.division, terms.smallest_group)
    status = _draw_what_leaves(draft, asked_of)
    found: dict[str, list[str]] = {"Bounds": draw_bounds_section(draft, asked_of)}
    seen, chosen = draw_accesses_section(asked_of)
    words = draw_words_form(asked_of.declaration, asked_of.source_key, today=today, chosen=chosen)
    found["Words of the card"] = [describe_missing(one) for one in words.list_missing()]
    opened = None
    if may_name_paths():
        opened, found["Account"] = draw_account_section(draft, asked_of)
    else:
        st.subheader("The account", divider="gray", anchor=False, help=glossary.explain_term("account"))
        st.info(**look_of("by_command_line"))
        ways = {"number": format_number, "value_of": format_value, "quote": shlex.quote}
        usual = Division.bounds
        commands = render("release_commands.txt.j2", asked=draft, usual_bounds=usual, **ways).rstrip()
        st.code(commands, language="bash")
        found["Account"] = [
            "This server is not this machine's alone: release by the command line, with the commands below."
        ]
    found["Noise"] = _draw_noise_section(draft, asked_of)
    release_request = replace(draft, words=words, seen=seen).with_argument(
        _explain_epsilon(terms.request.epsilon, window)
    )
    in_words = asked_of.with_words(release_request.words)
    draw_publish_section(release_request, in_words, opened, list_hindrances(found))
    asked, account = (release_request.request, release_request.parts), opened and opened.account.path
    script = partial(Script.for_release, in_words.content.name, in_words.declaration, *asked, account)
    draw_python_section(script, key="release", stem="release")
    _draw_standing(status, found)


Hindrances = Mapping[str, Sequence[str]]
"""By part of the page, each sentence that stands against the release."""


def list_hindrances(found: Hindrances) -> list[str]:
    """All of them, in the order of the page."""
    return [words for of_part in found.values() for words in of_part]


def _draw_standing(place: DeltaGenerator, found: Hindrances) -> None:
    """Say in ``place`` which parts are ready, and what to do first about those that are not."""
    against = list_hindrances(found)
    with place.container(gap="xsmall"):
        with st.container(horizontal=True, gap="xsmall"):
            for part, of_part in found.items():
                if of_part:
                    st.badge(f"{escape_markdown(part)}: to do", icon=":material/block:", color="red")
                else:
                    st.badge(escape_markdown(part), icon=":material/check:", color="green")
        if not against:
            st.markdown(":green[:material/check_circle: **Ready.**] Type ε at the foot of this page, and press.")
        else:
            st.markdown(f":red[:material/block: **Next:**] {escape_markdown(against[0])}")


def _draw_what_leaves(release_request: ReleaseRequest, asked_of: ReleaseSubject) -> DeltaGenerator:
    """Draw the sentence; the place below it that tells what stands against the release."""
    declared, epsilon, delta = asked_of.declaration, release_request.request.epsilon, release_request.delta
    leaves = escape_markdown(_describe_what_leaves(release_request, asked_of))
    st.subheader(leaves, anchor=False, help=glossary.explain_words("ε, centre, segment, cluster"))
    slack = f"The exception is δ = {format_small(delta)}, {promise.format_one_in(delta)}." if delta else ""
    odds = promise.describe_odds(declared.relation, epsilon, has_id=declared.id_column is not None)
    said = escape_markdown(f"{capitalize_first(odds)} {slack}".rstrip())
    st.markdown(said, help=glossary.explain_words("ε, odds, unit of privacy"))
    return st.container()


def _describe_what_leaves(release_request: ReleaseRequest, asked_of: ReleaseSubject) -> str:
    """What is published, and at which ε."""
    request, declared = release_request.request, asked_of.declaration
    columns = format_things(len(declared.columns), "column")
    segments = ", and what their segments are" if release_request.division.segments else ""
    missing = ", and how many values are missing" if release_request.division.missing else ""
    centers = capitalize_first(format_things(request.k, "centre"))
    return f"{centers} of {columns}{segments}{missing}, at ε = {format_number(request.epsilon)}"


def _draw_noise_section(release_request: ReleaseRequest, asked_of: ReleaseSubject) -> list[str]:
    """Draw it; what in it stands against the release."""
    try:
        library = name_library()
    except RequestError as error:
        st.error(escape_markdown(error), icon=":material/block:")
        return [str(error)]
    against = _list_hindrances(release_request, asked_of)
    for words in against:
        st.error(escape_markdown(words), icon=":material/block:")
    if against:
        return against
    with st.expander("The noise, and how ε is divided", icon=":material/grain:", key="release:noise"):
        drawn = SENTENCES.fill("noise_drawn", library=escape_markdown(library))
        st.markdown(drawn, help=glossary.explain_term("noise"))
        shares = release_request.shares(asked_of.declaration)
        epsilon = release_request.request.epsilon
        parts = [
            f"{escape_markdown(name)} ε = {format_number(part.epsilon)} ({format_percent(part.epsilon / epsilon)})"
            for name, part in shares.items()
        ]
        st.caption(f"ε is divided: {'; '.join(parts)}. The parts add up.", help=glossary.explain_term("accounting"))
    return against


def _list_hindrances(release_request: ReleaseRequest, asked_of: ReleaseSubject) -> list[str]:
    declared, asked = asked_of.declaration, release_request.request

    def check() -> None:
        asked.check_numbers()
        if not asked.card.private:
            raise RequestError(f"{asked.card.title} reads the rows as they are: it is never released.")
        release_request.find_share(declared)
        if asked_of.table is not None:
            request = release_request.make_algorithm_request(declared)
            request.check(asked_of.table.private)
            request.check_releasable(asked_of.table.private)

    return find_refusal(check)
