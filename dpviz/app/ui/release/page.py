"""What a release asks, top to bottom: what leaves, what it rests on, what it costs, and one button.

All on it is public or released. A row, a true count or a loss on the rows has no way here.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.app.charts.result_charts import draw_account, find_left
from dpviz.app.ui.controls import BOUNDS, MISSING, SEGMENTS, recall_division
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import SENTENCES, draw_caption_with_badge, draw_python_section, look_of, say_refusal, show_plot
from dpviz.app.ui.release.released_notice import list_publications
from dpviz.app.ui.same_origin import may_name_paths
from dpviz.app.ui.server_log import log_defect
from dpviz.app.ui.session import make_once, recall, remember
from dpviz.app.ui.table_words import describe_coding
from dpviz.core import ACCESS_LOG, RequestError, check, name_library
from dpviz.releases import AccessCounts, Account, AccountBalance, PublishJob, ReleaseRequest, State, preflight, promise
from dpviz.runs import Division, OpenTable, Request, Script, format_value, windows
from dpviz.tables import Content, Declaration, codings, declarations
from dpviz.words import capitalize_first, format_number, format_percent, format_small, format_things, glossary, render


def find_refusal(check: Callable[[], object]) -> list[str]:
    """What a check that fails says against a release; nothing where it passes."""
    try:
        check()
    except RequestError as error:
        return [str(error)]
    return []


@dataclass(frozen=True, eq=False)
class ReleaseSubject:
    """A source and what is declared of it; ``table`` is None where bounds are still open."""

    content: Content
    declaration: Declaration
    table: OpenTable | None

    @property
    def title(self) -> str:
        """What it is called on screen."""
        return self.declaration.title or self.content.name

    @property
    def source_key(self) -> str:
        """The same for whatever is declared about one file: looks and releases add up over it."""
        return self.content.fingerprint if self.table is None else self.table.source_key

    def with_words(self, words: declarations.OwnerWords) -> ReleaseSubject:
        """The same with the words of a card among what is declared: the zip's declaration then brings them along."""
        said = {name: value for name in declarations.OWNER_WORDS if (value := getattr(words, name))}
        said.pop("publication_date")
        return replace(self, declaration=replace(self.declaration, words=said))


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
            sectors, sector, key = declarations.SECTORS, before["sector"], f"{kept}:sector"
            at = sectors.index(sector) if sector in sectors else None
            said["sector"] = st.selectbox("Sector (optional)", sectors, at, placeholder="none of these", key=key) or ""
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
    """Which word is missing, by the name that its field has on the page, which says what it is for."""
    name, gap, rest = missing.partition(":")[0].partition(" ")
    return f"{capitalize_first(name.replace('_', ' '))}{gap}{rest}."


def _propose_words(declared: Declaration, today: str) -> dict[str, Any]:
    """What is declared; where nothing is, a name and a description are proposed, and all else is asked."""
    usual = asdict(declarations.find_words(declared, today=today))
    del usual["chosen_after_looking"]  # which is asked beside what was seen
    asked = [name for name in _ON_THE_CARD if name not in (*declared.words, "name", "description")]
    return usual | {name: () if declarations.OWNER_WORDS[name].several else "" for name in asked}


def _ask_answer(key: str, word: declarations.OwnerWord, before: Any) -> Any:
    label = escape_markdown(word.label)
    text = "\n".join(before) if word.several else before
    box: dict[str, Any] = {"value": text, "max_chars": declarations.LONGEST, "placeholder": word.hint, "key": key}
    said = (st.text_area(label, height=68, **box) if word.long else st.text_input(label, **box)) or ""
    return tuple(line.strip() for line in said.splitlines() if line.strip()) if word.several else said


def draw_accesses_section(asked_of: ReleaseSubject) -> tuple[AccessCounts, str]:
    """What this process saw of the rows, and what its owner says was chosen after it."""
    key = asked_of.source_key
    seen = AccessCounts.of(ACCESS_LOG.count(key), proposed=asked_of.declaration.proposed)
    with st.expander("Looks at the rows in this process", icon=":material/visibility:", key="release:looks"):
        st.markdown(escape_markdown(seen.words), help=glossary.explain_words("look, loss"))
    kept = f"release:chosen:{key[:16]}"
    before = asked_of.declaration.words.get("chosen_after_looking", "")
    first = recall(kept, before if isinstance(before, str) else "")
    look = look_of("chosen_after_looking", value=first, max_chars=declarations.LONGEST, key=kept)
    return seen, remember(kept, str(st.text_area(**look) or ""))


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
    # What a release would be refused for, with what to do about it on these pages.
    against = [SENTENCES.fill("bounds_from_rows")] if declared.bounds_from_rows else []
    if not against and (nowhere := declared.unexplained):
        against = [SENTENCES.fill("bounds_from_nowhere", names=nowhere)]
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
            lines.append(Line(name, "open", "nobody knows them", cost=f"will be bought with ε = {format_number(each)}"))
            continue
        wrong = "blocked: nobody says" if origin == _NOWHERE else ""
        wrong = "blocked: the rows" if declarations.FROM_ROWS in origin else wrong
        coding = declared.codings.get(name, codings.NUMBER)
        span = promise.format_span(bounds.lower or 0.0, bounds.upper or 0.0, unit, coding.kind)
        span = describe_coding(coding.to_plain(bounds.lower, bounds.upper)) if coding.words else span
        lines.append(Line(name, span, origin if origin == _NOWHERE else stated, wrong))
    for name, one in declared.describe.items():
        said = format_things(len(one.categories), "category", "categories")
        said = said if one.bounds is None else " to ".join(map(promise.format_plain_number, one.bounds))
        lines.append(Line(name, said, "declared, for segments only"))
    return lines


def _make_table(lines: list[Line]) -> str:
    rows = [
        f"| {escape_markdown(one.column)} | {escape_markdown(one.bounds)} | {_describe_origin(one)} |" for one in lines
    ]
    return "\n".join(["| column | bounds | where from |\n|---|---|---|", *rows])


def _describe_origin(line: Line) -> str:
    if line.wrong:
        said = f" ({escape_markdown(line.origin)})" if line.origin not in (_NOWHERE, declarations.FROM_ROWS) else ""
        return f":red[:material/block: **{escape_markdown(line.wrong)}**]{said}"
    return f"**{escape_markdown(line.cost)}**" if line.cost else escape_markdown(line.origin)


_MOST_ROWS = 1_000_000  # of a smallest group


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


def draw_release_form(
    asked_of: ReleaseSubject, request: Request, division: Division, smallest: int, window: windows.Window | None
) -> None:
    """What leaves, what it rests on, what it costs, and the button; of one run without a ``seed``."""
    declared, today = asked_of.declaration, datetime.now(UTC).date().isoformat()
    draft = ReleaseRequest(request, declarations.find_words(declared, today=today), division, smallest)
    status = _draw_what_leaves(draft, asked_of)
    found: dict[str, list[str]] = {"Bounds": draw_bounds_section(draft, asked_of)}
    seen, chosen = draw_accesses_section(asked_of)
    words = draw_words_form(declared, asked_of.source_key, today=today, chosen=chosen)
    found["Words of the card"] = [describe_missing(one) for one in words.list_missing()]
    opened = None
    if may_name_paths():
        opened, found["Account"] = draw_account_section(draft, asked_of)
    else:
        st.subheader("The account", divider="gray", anchor=False, help=glossary.explain_term("account"))
        st.info(**look_of("by_command_line"))
        ways = {"number": format_number, "value_of": format_value, "quote": shlex.quote}
        commands = render("release_commands.txt.j2", asked=draft, usual_bounds=Division.bounds, **ways).rstrip()
        st.code(commands, language="bash")
        why = "This server is not this machine's alone: release by the command line, with the commands below."
        found["Account"] = [why]
    found["Noise"] = _draw_noise_section(draft, asked_of)
    release_request = replace(draft, words=words, seen=seen)
    if window is not None:
        argument = window.argument(request.epsilon)
        with st.expander("Why this ε, as the card says it", icon=":material/balance:", key="release:why"):
            draw_caption_with_badge("public", escape_markdown(argument))
        release_request = release_request.with_argument(argument)
    in_words = asked_of.with_words(release_request.words)
    against = [words for of_part in found.values() for words in of_part]
    # The argument is for this ε: of what the zip declares, whoever asks at another one has the owner's words alone.
    draw_publish_section(release_request, asked_of.with_words(words), opened, against)
    asked, account = (release_request.request, release_request.parts), opened and opened.account.path
    script = partial(Script.for_release, in_words.content.name, in_words.declaration, *asked, account)
    draw_python_section(script, key="release", stem="release")
    _draw_standing(status, found, against)


def _draw_standing(place: DeltaGenerator, found: Mapping[str, Sequence[str]], against: Sequence[str]) -> None:
    """Say in ``place`` which parts are ready, and what to do first about what stands ``against`` the others."""
    with place.container(gap="xsmall"):
        with st.container(horizontal=True, gap="xsmall"):
            for part, of_part in found.items():
                if of_part:
                    st.badge(f"{escape_markdown(part)}: to do", icon=":material/block:", color="red")
                else:
                    st.badge(escape_markdown(part), icon=":material/check:", color="green")
        if not against:
            st.markdown(":green[:material/check_circle: **Ready.**] Type ε below, and press.")
        else:
            st.markdown(f":red[:material/block: **Next:**] {escape_markdown(against[0])}")


def _draw_what_leaves(release_request: ReleaseRequest, asked_of: ReleaseSubject) -> DeltaGenerator:
    """Draw the sentence; the place below it that tells what stands against the release."""
    declared, request, delta = asked_of.declaration, release_request.request, release_request.delta
    columns = format_things(len(declared.columns), "column")
    segments = ", and what their segments are" if release_request.division.segments else ""
    missing = ", and how many values are missing" if release_request.division.missing else ""
    centers = capitalize_first(format_things(request.k, "centre"))
    leaves = f"{centers} of {columns}{segments}{missing}, at ε = {format_number(request.epsilon)}"
    st.subheader(escape_markdown(leaves), anchor=False, help=glossary.explain_words("ε, centre, segment, cluster"))
    slack = f"The exception is δ = {format_small(delta)}, {promise.format_one_in(delta)}." if delta else ""
    odds = promise.describe_odds(declared.relation, request.epsilon, has_id=declared.id_column is not None)
    said = escape_markdown(f"{capitalize_first(odds)} {slack}".rstrip())
    st.markdown(said, help=glossary.explain_words("ε, δ, odds, unit of privacy"))
    return st.container()


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
        epsilon = release_request.request.epsilon
        parts = [
            f"{escape_markdown(name)} ε = {format_number(part.epsilon)} ({format_percent(part.epsilon / epsilon)})"
            for name, part in release_request.shares(asked_of.declaration).items()
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


_PATH, _TYPED, _ALIKE = "release:account", "release:account_path", "release:alike"
_NEW, _REFUSED = "release:new", "release:new_refused"
_BECAME = {State.RELEASED: "released", State.FAILED: ":red[charged, nothing released]"}
_UNKNOWN = "charged; whether it was released is not known"


class Opened(NamedTuple):
    """An account, and how it stands now."""

    account: Account
    standing: AccountBalance


def draw_account_section(release_request: ReleaseRequest, asked_of: ReleaseSubject) -> tuple[Opened | None, list[str]]:
    """Draw the section of the account."""
    about = glossary.explain_term("account", "There is no row in it.")
    st.subheader("The account", divider="gray", anchor=False, help=about)
    st.session_state.setdefault(_TYPED, recall(_PATH, ""))
    text = (st.text_input(**look_of("account_path", key=_TYPED)) or "").strip().strip('"')
    path = remember(_PATH, str(Path(text).expanduser()) if text else "")
    if not path:
        return None, ["No account is open: give its path."]
    if not Path(path).exists():
        if refused := st.session_state.pop(_REFUSED, ""):
            st.error(escape_markdown(refused), title="No account was made", icon=":material/block:")
        with st.form(_NEW, border=False):
            name, epsilon, delta, button = st.columns([3, 1, 1, 1], vertical_alignment="bottom", gap="small")
            name.text_input(**look_of("account_name", value=asked_of.title, key=f"{_NEW}:name"))
            epsilon.number_input(**look_of("cap_epsilon", key=f"{_NEW}:epsilon"))
            delta.number_input(**look_of("cap_delta", key=f"{_NEW}:delta"))
            button.form_submit_button("Make it", on_click=_make, width="stretch")
        return None, ["There is no account at this path yet: make it."]
    try:
        # A page does not wait long for another program.
        account = Account.open(path, patience=2.0)
        opened = Opened(Account(account.path), account.standing())
    except RequestError as error:
        st.error(escape_markdown(error), icon=":material/block:")
        return None, [str(error)]
    against = find_refusal(lambda: opened.standing.refuse(release_request.charge(asked_of.declaration)))
    _draw_balance(release_request, opened, against)
    columns = asked_of.declaration.columns
    given = (str(opened.account.path), len(opened.standing.entries), columns)
    for beside in make_once(_ALIKE, given, lambda: opened.account.look_alikes(columns=columns)):
        alike = f"The account {check.format_value(beside)} beside it has a release of columns of this table"
        words = escape_markdown(f"{alike}: if it is about the same people, use one account for both.")
        st.warning(words, icon=":material/content_copy:")
    return opened, against


def _make() -> None:
    """Make the account that the form asks for; called before the page is drawn, which opens it."""
    name = st.session_state[f"{_NEW}:name"] or ""
    epsilon, delta = (float(st.session_state[f"{_NEW}:{cap}"]) for cap in ("epsilon", "delta"))
    try:
        Account.new(recall(_PATH, ""), name=name, cap_epsilon=epsilon, cap_delta=delta)
    except RequestError as error:
        st.session_state[_REFUSED] = str(error)


def _draw_balance(release_request: ReleaseRequest, opened: Opened, against: list[str]) -> None:
    standing, now = opened.standing, release_request.request.epsilon
    cap, before = standing.cap_epsilon, standing.spent_epsilon
    st.markdown(f"**{escape_markdown(standing.name)}**: ε", help=glossary.explain_term("epsilon"))
    show_plot(draw_account(cap, before, now), key="release:account_bar", bare=True)
    past, added = format_small(standing.spent_delta), format_small(release_request.delta)
    left_delta = standing.left_delta - release_request.delta
    left = f"{format_small(left_delta)} left after it" if left_delta >= 0 else "not enough left"
    delta = escape_markdown(f"{past} before, {added} now, {left} of {format_small(standing.cap_delta)}")
    spent, adds, rest, limit = map(format_number, (before, now, find_left(cap, before, now), cap))
    st.caption(f"ε: {spent} before, {adds} now, {rest} left of {limit}. δ: {delta}.")
    for words in against:
        st.error(escape_markdown(words), icon=":material/block:")
    # The last releases of the account, with what has become of each, and where its copy lies.
    lines = []
    for entry in reversed(standing.entries[-3:]):
        cost, copy = format_number(entry.charge.epsilon), opened.account.locate_copy(entry.number)
        said = f"- release {entry.number:d}: ε = {cost}, {escape_markdown(entry.at[:10])}"
        # Whoever has reloaded the page finds here what was paid for.
        kept = f"; its zip lies beside the account as {escape_markdown(copy.name)}" if copy.is_file() else ""
        lines.append(f"{said}, {_BECAME.get(entry.state, _UNKNOWN)}{kept}")
    if lines:
        st.markdown("\n".join(lines))
        st.caption(escape_markdown(" ".join(standing.remarks)))


_ANOTHER = "release:another"


@dataclass(frozen=True, eq=False)
class Publication:
    """One press of this visit: what was released, and how that goes."""

    title: str
    source_key: str
    release_request: ReleaseRequest
    job: PublishJob


def find_last_publication() -> Publication | None:
    """The last press, unless its owner has asked for another one since."""
    presses = list_publications()
    if not presses or (presses[-1].job.state.final and st.session_state.get(_ANOTHER) == len(presses)):
        return None
    return presses[-1]


def prepare_another() -> None:
    """Bring the form back for one more release; call it from a callback."""
    st.session_state[_ANOTHER] = len(list_publications())


def draw_publish_section(
    release_request: ReleaseRequest, asked_of: ReleaseSubject, opened: Opened | None, against: Sequence[str]
) -> None:
    """Draw the confirmation and the button, and publish if it was pressed."""
    st.subheader("Release", divider="gray", anchor=False, help=glossary.explain_term("released"))
    number = len(list_publications()) + 1
    wanted = f"{release_request.request.epsilon:g}"
    said, place = st.columns([2, 3], vertical_alignment="bottom", gap="small")
    # The keys of one press are never those of the next: a second click cannot press again.
    box: dict[str, Any] = {"key": f"release:confirm:{number}", "placeholder": wanted, "disabled": bool(against)}
    typed = str(said.text_input(f"Type {wanted} to confirm ε", **box) or "")
    confirmed = _is_same(typed, release_request.request.epsilon)
    look = look_of("press", key=f"release:press:{number}", disabled=bool(against) or not confirmed)
    is_pressed = place.button(f"Charge the account and release ε = {wanted}", **look)
    if against:
        st.caption(":material/block: Something above stands against it.")
    elif number > 1:
        st.caption("This visit has released before: one more press is one more charge, and both add up.")
    if is_pressed and confirmed and not against and opened is not None:
        _publish(release_request, asked_of, opened)


def _publish(release_request: ReleaseRequest, asked_of: ReleaseSubject, opened: Opened) -> None:
    content, declared = asked_of.content, asked_of.declaration
    with say_refusal("Nothing was charged"):
        prepared = preflight(release_request, content, declared, opened.account, opened=asked_of.table)
        # One step that nothing interrupts: whoever runs the page again finds the press, not the button.
        job = PublishJob(prepared, on_defect=log_defect)
        list_publications().append(Publication(asked_of.title, asked_of.source_key, release_request, job))
        st.rerun()


def _is_same(typed: str, epsilon: float) -> bool:
    """Whether this is that number, as it is shown or as it is."""
    try:
        return float(typed.strip().replace(",", ".")) in (epsilon, float(f"{epsilon:g}"))
    except ValueError:
        return False
