"""``dpviz release``: release the centres of a declared table, charged to an account, as a zip that can be defended."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from dpviz.api.api_sentences import SENTENCES
from dpviz.api.console import NotWritten, Parser, add_options, list_center_tables, read_request, refuse_taken, say
from dpviz.core import RequestError
from dpviz.releases import OF_BOUNDS, Account, Preflight, Release, check_signer, package, plan_release, publish, receive
from dpviz.runs import Division, KnownRows, RowsAdvice, Target, declare_on_cluster, windows, write_whole
from dpviz.tables import connect, read_declared
from dpviz.words import foreign, list_names


def add(command: Parser) -> None:
    """Its options."""
    usual = windows.Risk()
    add_options(command, "release")
    add_options(command, "division", **Division().named)
    add_options(command, "release and its account", loss=Target().loss, prior=usual.prior, accepted=usual.accepted)
    command.add_argument("--seed", help=argparse.SUPPRESS)


def serve(arguments: argparse.Namespace) -> str:
    """Serve the request; the text to print."""
    if arguments.seed is not None:
        raise RequestError("A release has no seed: whoever knows it could take the noise off; leave --seed out.")
    out = Path(arguments.out)
    refuse_taken(out)
    if arguments.sign is not None:
        check_signer(Path(arguments.sign))
    account = Account.open(Path(arguments.account))
    target, risk = _read_accepted(arguments)
    prepared = _prepare(arguments, account)
    window = _find_window(prepared, target, risk)
    if window is not None and (arguments.accept_loss is not None or arguments.accept_risk is not None):
        argument = window.argument(prepared.release_request.request.epsilon)
        prepared = replace(prepared, release_request=prepared.release_request.with_argument(argument))
    for name in account.look_alikes(columns=prepared.declaration.columns):
        say(f"The account {name} has a release of columns of this table: if it is about the same people, use one.")
    say(describe_promise(prepared))
    expected = prepared.expected_loss if window is None else ""
    if window is not None:
        opens = "; ".join(f"{what.lower()} ({words})" for what, words in window.openings)
        what_opens = f" What would open a window: {opens}." if opens else ""
        say(f"{window.finding}. {window.argument(prepared.release_request.request.epsilon)}{what_opens}")
    elif expected:
        say(f"What to expect. {expected}")
    if not arguments.yes:
        if not sys.stdin.isatty():
            raise RequestError("Nobody is there to confirm: add --yes to release.")
        typed = f"{prepared.release_request.request.epsilon:g}"
        say(f"Type {typed} to release; anything else ends here, and nothing is charged.")
        if sys.stdin.readline().strip() != typed:
            raise RequestError("Not confirmed: nothing was charged or released.")
    release = _publish(prepared, None if arguments.sign is None else Path(arguments.sign))
    try:
        write_whole(out, release.data)
    except (OSError, KeyboardInterrupt) as error:
        raise _report_kept(account, release, error) from None
    arguments.paid = f"charge {release.number} is spent and the release lies in --out; do not release again"
    blocks = [*list_center_tables(release.played.parts.profile), *_list_conclusions(release, expected)]
    return "\n\n".join([*blocks, f"Written to {foreign.format_name(out)}; charge {release.number}."])


def _publish(prepared: Preflight, key: Path | None) -> Release:
    """Charge and draw; whatever stops that, Ctrl-C too, it is said that a charge stays."""
    try:
        return publish(prepared, key=key)
    except BaseException:
        with suppress(RequestError):
            for entry in prepared.list_spent():
                spent = {"number": entry.number, "epsilon": entry.charge.epsilon, "delta": entry.charge.delta}
                say(SENTENCES.fill("charge_spent", account=prepared.before.name, **spent))
        raise


def _list_conclusions(release: Release, expected: str) -> Iterator[str]:
    """What came out by released values, as its recipient reads it, and what was said beforehand of such a run."""
    received = receive(release.played)
    finding = received.finding
    said = [f"  {'✓' if one.good else '!'} {one.sentence}" for one in received.may]
    yield "\n".join([". ".join(filter(None, (finding.title, finding.reason))), *said])
    yield from (f"Note: {warning}" for warning in release.played.run.warnings if warning not in expected)


def _prepare(arguments: argparse.Namespace, account: Account) -> Preflight:
    content, declaration = read_declared(arguments.data, arguments.declaration)
    chosen, declared = arguments.chosen, "chosen_after_looking" in declaration.words
    # This process knows of no look before it, so that whoever is there is asked.
    if chosen is None and not (declared or arguments.yes) and sys.stdin.isatty():
        say(SENTENCES.fill("what_was_seen"))
        chosen = sys.stdin.readline().strip()
    opened = None
    if arguments.cluster is not None:
        connect(arguments.cluster)
        opened = declare_on_cluster(content, declaration)
    return plan_release(
        read_request(arguments),
        content,
        declaration,
        account,
        words={} if chosen is None else {"chosen_after_looking": chosen},
        division=Division(arguments.segments, arguments.buy_bounds, arguments.missing),
        smallest_group=arguments.smallest_group,
        continues=arguments.continues,
        opened=opened,
    )


def _read_accepted(arguments: argparse.Namespace) -> tuple[Target, windows.Risk]:
    """The loss and the risk that are accepted; what is usually asked about where nobody says."""
    said = arguments.accept_risk
    if said is not None and len(said) != 2:
        raise RequestError("--accept-risk takes a guess and what it may become: write them as 0.1,0.25.")
    risk = windows.Risk() if said is None else windows.Risk(*said)
    risk.allow()  # refuses what is no probability
    return Target(Target().loss if arguments.accept_loss is None else arguments.accept_loss), risk


def _find_window(prepared: Preflight, target: Target, risk: windows.Risk) -> windows.Window | None:
    """The window for ε; None where nobody says how many rows there are, or no such table was studied."""
    rows, request = KnownRows.read(prepared.declaration), prepared.release_request.request
    if prepared.table is None or rows is None or rows.low < request.k or prepared.table.private.sparse:
        return None
    setting = replace(request.make_setting(prepared.table.private), delta=prepared.release_request.delta)
    share = prepared.release_request.find_share(prepared.declaration)
    answer = RowsAdvice.of(rows, setting, target=target, share=share, contender=request.contender)
    return windows.Window.of(answer, risk) if answer.is_studied else None


def describe_promise(prepared: Preflight) -> str:
    """What is about to leave, in a sentence; and what bounds that nobody declared take of it, in another one."""
    release_request, before = prepared.release_request, prepared.before
    told, request = "", release_request.request
    if bought := prepared.shares.get(OF_BOUNDS):
        columns = list_names(prepared.declaration.open_columns)
        told = f" Of ε, {bought.epsilon:g} buys the bounds of {columns}, which are open."
    return SENTENCES.fill(
        "about_to_release",
        **{"k": request.k, "algorithm": request.card.title, "epsilon": request.epsilon, "delta": release_request.delta},
        **{"account": before.name, "before": before.spent_epsilon, "after": before.spent_epsilon + request.epsilon},
        **{"cap": before.cap_epsilon, "bought": told, "s": "s" * (request.k > 1)},
    )


def _report_kept(account: Account, release: Release, error: BaseException) -> NotWritten:
    """Where a paid release is kept that could not be written where it was wanted."""
    beside = account.locate_copy(release.number)
    where, why = "could be kept nowhere else", getattr(error, "strerror", None) or type(error).__name__
    try:
        write_whole(beside, release.data)
        where = f"is kept beside the account as {foreign.format_name(beside)}"
    except OSError:
        pass
    return NotWritten(
        f"--out cannot be written ({why}): the release is charged, stands on stdout and {where}; do not release again.",
        release.files[package.CENTERS].decode("utf-8"),
    )
