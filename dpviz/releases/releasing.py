"""A release: everything that can be refused is refused first, then the account is charged, then noise is drawn.

Between the charge and the noise lies nothing but the charge itself: whoever pulls the plug there has paid and released
nothing; nobody releases without having paid. What was drawn becomes a transcript, and every file is made of that alone,
as it is read back: what leaves is checked as its recipients will check it, and held back where it would not pass.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dpviz import __version__
from dpviz.core import ACCESS_LOG, ExactNoise, RequestError, name_library
from dpviz.releases.account import Account, AccountBalance, AccountEntry, Charge, State, Taken
from dpviz.releases.bought_bounds import refuse_too_few
from dpviz.releases.described_table import make_described_table, refuse_beyond_memory, spell_out_columns
from dpviz.releases.package import CARD, SIGNATURE, VERIFY, make_zip
from dpviz.releases.playing import Played, describe_overspending, play
from dpviz.releases.promise import AccessCounts
from dpviz.releases.release_parts import Parts, Tables, Watch, make_all_parts, make_parts_of_nobody
from dpviz.releases.release_reader import ReadRelease, read_release
from dpviz.releases.release_request import AccountThen, Asked, CostPart, ReleaseRequest, hash_code, name_platform
from dpviz.releases.release_sentences import make_refusal
from dpviz.releases.render import format_ledger, render_whole
from dpviz.releases.signature import format_signature
from dpviz.releases.transcript import AnswerRecording, Transcript, read_transcript
from dpviz.releases.verifying import verify
from dpviz.runs import Division, Judgement, KnownRows, OpenTable, Request, create_whole, declare
from dpviz.tables import Content, Declaration, codings, declarations

# A number of rows for rehearsals where the public one is not known yet.
_ANY_N = 10_000
# Of a column's width: what two computations of the same centres may differ by.
_LAST_DIGITS = 1e-9


@dataclass(frozen=True, eq=False)
class Preflight:
    """A release that nothing stands against; no row has been asked about, and nothing is charged."""

    release_request: ReleaseRequest
    content: Content
    declaration: Declaration
    table: OpenTable | None
    account: Account
    before: AccountBalance

    @property
    def shares(self) -> Mapping[str, CostPart]:
        """What each part may spend."""
        return self.release_request.shares(self.declaration)

    @property
    def charge(self) -> Charge:
        """What the account is charged."""
        return self.release_request.charge(self.declaration)

    def list_spent(self) -> list[AccountEntry]:
        """Charges of such a release, since it was planned, of which nothing has left."""
        since = self.account.standing().entries[len(self.before.entries) :]
        return [one for one in since if one.charge == self.charge and one.state is not State.RELEASED]

    @property
    def expected_loss(self) -> str:
        """What is to be expected, in words; "" where bounds are still to be bought, which tell nothing."""
        if self.table is None:
            return ""
        asked = replace(self.release_request.request, delta=self.release_request.delta)
        rows, share = KnownRows.read(self.declaration), self.release_request.find_share(self.declaration)
        return Judgement.of_request(asked, self.table.private, rows=rows, share=share).announcement


@dataclass(frozen=True, eq=False)
class ReleaseDraws:
    """What was drawn for a release, and the recordings of all sources."""

    parts: Parts
    recordings: Mapping[str, AnswerRecording]


@dataclass(frozen=True, eq=False)
class Release:
    """A release that has left: the number of its charge, its files, what they were made of, and the zip that passed."""

    number: int
    files: Mapping[str, bytes]
    played: Played
    data: bytes

    def save(self, path: str | Path) -> Path:
        """Write the zip to a new file."""
        try:
            create_whole(Path(path), self.data)
        except (OSError, ValueError) as error:
            raise make_refusal("not_saved", why=type(error).__name__) from None
        return Path(path)


def plan_release(
    request: Request,
    content: Content,
    declared: Declaration,
    account: Account,
    *,
    words: Mapping[str, Any],
    division: Division,
    smallest_group: int = 0,
    continues: str | Path | ReadRelease | None = None,
    opened: OpenTable | None = None,
) -> Preflight:
    """A release that nothing stands against; nothing is charged yet.

    Parameters
    ----------
    request : Request
    content, declared : table and Declaration
    account : Account
        That it will be charged to.
    words : mapping
        The owner's words, in place of what is declared.
    division : Division
        Parts of ε: for what the segments are, for each open column's bounds, for the shares of missing cells.
    smallest_group : int
    continues : path, ReadRelease or None
        An earlier release, whose segments are counted again.
    opened : OpenTable or None
        The table, where it is open already.

    Returns
    -------
    Preflight

    Raises
    ------
    RequestError
        If something stands against it.
    """
    earlier = read_release(continues) if isinstance(continues, str | Path) else continues
    release_request = ReleaseRequest(
        request,
        declarations.find_words(declared, today=datetime.now(UTC).date().isoformat(), **words),
        division,
        smallest_group,
        continues=None if earlier is None else earlier.allow_continuation(content, declared),
        seen=AccessCounts.of(ACCESS_LOG.count(content.fingerprint), proposed=declared.proposed),
    )
    return preflight(release_request, content, declared, account, opened=opened)


def preflight(
    release_request: ReleaseRequest,
    content: Content,
    declaration: Declaration,
    account: Account,
    *,
    opened: OpenTable | None = None,
) -> Preflight:
    """Everything checked that can be checked before a charge; a table that is ``opened`` already is not read again.

    Parameters
    ----------
    release_request : ReleaseRequest
        What is asked for.
    content : Content
        The file or table, none of whose rows has been read.
    declaration : Declaration
        What is declared of the table.
    account : Account
        What is charged later.
    opened : OpenTable or None
        The open table, where it was read before; None: it is read now.

    Returns
    -------
    Preflight
        Ready to be published; nothing is charged.

    Raises
    ------
    RequestError
        If the request, the declaration, the table or the account does not allow it, or the library that draws is
        missing.
    """
    name_library()  # refuses where it is not installed
    declaration = spell_out_columns(content, declaration)
    release_request.check(declaration)
    if to_buy := declaration.open_columns:
        refuse_beyond_memory(content, to_buy)
        refuse_too_few(declaration, epsilon=release_request.division.bounds * release_request.request.epsilon)
    if release_request.division.missing:
        refuse_beyond_memory(content, declaration.columns)
    table = None
    if to_buy:
        _try(release_request, declare(content, _close(declaration)), content)
        declaration = replace(declaration, title=declaration.title or content.name)
    else:
        table = declare(content, declaration) if opened is None else opened
        declaration = replace(table.declaration, words=declaration.words)
        release_request.check(declaration)
        _try(release_request, table, content)
    prepared = Preflight(release_request, content, declaration, table, account, account.standing())
    prepared.before.refuse(prepared.charge)
    return prepared


def _try(release_request: ReleaseRequest, table: OpenTable, content: Content) -> None:
    """Ask for every table that the release will ask for, so that nothing about them is refused after the charge."""
    request = release_request.make_algorithm_request(table.declaration)
    request.check(table.private)
    request.check_releasable(table.private)
    if release_request.division.segments:
        make_described_table(table, content)


def _close(declaration: Declaration) -> Declaration:
    """The same with any bounds in place of open ones: to see whether the table can be read."""
    anywhere = [
        bounds
        if None not in bounds[:2]
        else declarations.ColumnBounds(*_find_ends(declaration, name, bounds), bounds.origin)
        for name, bounds in declaration.bounds.items()
    ]
    return declaration.with_bounds(declaration.columns, anywhere)


def _find_ends(declaration: Declaration, name: str, bounds: declarations.ColumnBounds) -> tuple[float, float]:
    lower, upper = bounds.lower, bounds.upper
    if declaration.codings.get(name) == codings.Stretched("log"):  # which has no 0
        return lower or (upper or 1.0) / 10, upper or 10 * (lower or 0.1)
    if lower is not None:
        return lower, lower + max(1.0, abs(lower))
    return (-1.0, 1.0) if upper is None else (upper - max(1.0, abs(upper)), upper)


def publish(
    prepared: Preflight,
    *,
    watch: Watch | None = None,
    charged: Callable[[int], None] | None = None,
    key: Path | None = None,
) -> Release:
    """Charge the account, draw, make the files, and check them. A second press is a second charge.

    ``charged`` is told the number of the charge before anything is drawn, ``watch`` every step of the algorithm. The
    plan is played twice on what was drawn: to make the files, and to check them.

    Parameters
    ----------
    prepared : Preflight
        What ``preflight`` allowed.
    watch : Watch or None
        Is shown every step of the algorithm; None: nobody looks on.
    charged : function or None
        Is told the number of the charge.
    key : Path or None
        Of the private key that signs; None: nobody does.

    Returns
    -------
    Release
        The number of its charge, its files, and a zip of them that ``verify`` finds nothing wrong with.

    **Guarantee.** (ε, δ)-DP as ordered, for the table's relation and unit of privacy: the parts add up by basic
    composition, and each has a ledger of its own. Bounds that were declared, k, the columns and the request are public.

    Raises
    ------
    RequestError
        If the account or the rehearsal refuses (nothing is charged), or something fails after the charge (which stays).
    """
    rehearse(prepared, key)
    charge = prepared.charge
    taken = prepared.account.take(charge)
    number = taken.link.number
    try:
        if charged is not None:
            charged(number)
        drawn = draw(prepared, watch=watch)
        release = _make_release(number, make_transcript(prepared, taken, drawn), drawn.parts, charge, key)
    except BaseException as error:
        prepared.account.note_failed(number, why=type(error).__name__)
        raise
    with suppress(RequestError):  # paid for: it leaves, even where the account cannot note any more that it did
        prepared.account.note_released(number, card_sha256=hashlib.sha256(release.files[CARD]).hexdigest())
    return release


def _make_release(
    number: int, transcript: Transcript, drawn: Parts, charge: Charge, key: Path | None = None
) -> Release:
    """The files of a transcript as it is read back, in a zip that passes; refused where something is not as it was."""
    played = play(read_transcript(transcript.to_bytes("")).whole)
    refuse_unpaid(drawn, played, charge)
    files = render_whole(played)
    if key is not None:
        files[SIGNATURE] = format_signature(files[VERIFY], key).encode("utf-8")
    data = make_zip(files)
    for finding in verify(data).findings:
        raise make_refusal("would_not_pass", file=finding.file, what=finding.what)
    return Release(number, files, played, data)


def rehearse(prepared: Preflight, key: Path | None = None) -> None:
    """Make the whole release over tables without rows: what cannot be drawn or written is refused before the charge.

    How much noise is drawn, and how fine, follows from what is public, and hardly from the rows.
    """
    declared, table = prepared.declaration, prepared.table
    n_public = declared.n_public if table is None else table.n_public
    if n_public is None and declared.relation == "replace":  # its bounds are bought, and no row was counted yet
        n_public = _ANY_N
    sources = {part: ExactNoise() for part in prepared.shares}  # nothing of it leaves
    drawn = _draw_once(make_parts_of_nobody(prepared.release_request, declared, sources, n_public), sources)
    try:
        transcript = make_transcript(prepared, Taken.rehearse(prepared.before, prepared.charge), drawn)
        _make_release(0, transcript, drawn.parts, prepared.charge, key)
    except UnicodeEncodeError:
        raise make_refusal("half_character") from None


def draw(prepared: Preflight, *, watch: Watch | None = None) -> ReleaseDraws:
    """Every answer of a release, each part with noise of its own."""
    sources = make_fresh_noise(prepared.shares)
    parts = make_all_parts(
        prepared.release_request, prepared.declaration, sources, prepared.content, partial(_open, prepared), watch=watch
    )
    return _draw_once(parts, sources)


def _draw_once(parts: Parts, sources: Mapping[str, ExactNoise]) -> ReleaseDraws:
    return ReleaseDraws(parts, {part: AnswerRecording(one.coins, tuple(one.released)) for part, one in sources.items()})


def make_fresh_noise(parts: Iterable[str]) -> dict[str, ExactNoise]:
    """A source of noise for each part of a release."""
    return {part: ExactNoise() for part in parts}


def _open(prepared: Preflight, declaration: Declaration) -> Tables:
    table = prepared.table or declare(prepared.content, declaration)  # else its bounds had to be bought first
    return Tables(table.private, partial(make_described_table, table, prepared.content))


def make_transcript(prepared: Preflight, taken: Taken, drawn: ReleaseDraws) -> Transcript:
    """All that leaves: what was drawn, with what was asked, declared and said, and how the account stood."""
    before = taken.before
    caps, spent = (before.cap_epsilon, before.cap_delta), (before.spent_epsilon, before.spent_delta)
    asked = Asked(
        version=__version__,
        noise=name_library(),
        platform=name_platform(),
        code=hash_code(),
        date=datetime.now(UTC).date().isoformat(),
        release_request=prepared.release_request,
        n_public=drawn.parts.clustered.run.n_public,
        declared=prepared.declaration,
        account=AccountThen(before.name, *caps, *spent, taken.link),
    )
    return Transcript(asked.to_dict(), drawn.recordings)


def refuse_unpaid(drawn: Parts, played: Played, charge: Charge) -> None:
    """The last guard, before any file is made: what all ledgers spent was charged, and nothing else was drawn."""
    shares = played.shares
    if found := describe_overspending(drawn, shares, epsilon=charge.epsilon, delta=charge.delta):
        raise make_refusal("overspent", what=found[0])
    domain, again, run = drawn.clustered.run.domain, played.run.centers, drawn.clustered.run.centers
    same = (
        not played.unasked
        and played.parts.declaration == drawn.declaration
        and bool((np.abs(again - run) <= _LAST_DIGITS * (domain.upper - domain.lower)).all())
        and format_ledger(played.parts.entries, shares) == format_ledger(drawn.entries, shares)
        and played.parts.segments_csv == drawn.segments_csv
    )
    if not same:
        raise make_refusal("played_otherwise")
