"""What the fits of one process cost: charged to an account, or counted here so that the second one warns."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from math import fsum

from dpviz.api.api_sentences import SENTENCES
from dpviz.core import ACCESS_LOG, ChoiceWarning, PrivacyWarning
from dpviz.releases import Account, Charge

# Fits of this process that no account has counted, and what was said of them.
_uncounted: list[tuple[float, float]] = []
_warned: set[type[Warning]] = set()
_lock = threading.Lock()


@contextmanager
def count_fit(charge: Charge, account: Account | None) -> Iterator[None]:
    """A fit that is charged before it draws, and what has become of it noted; without an account, the second one warns.

    **Guarantee.** What the block draws is on the account's disk before the block begins, and stays charged.
    """
    if account is None:
        _warn_of_sum(charge)
        yield
        return
    if account.is_temporary:  # which ends with this process: what it has paid, no other release counts
        ACCESS_LOG.add_run("", charge.epsilon)
    number = account.charge(charge)
    try:
        yield
    except BaseException as error:
        account.note_failed(number, why=type(error).__name__)
        raise
    account.note_released(number)


def _warn_of_sum(charge: Charge) -> None:
    ACCESS_LOG.add_run("", charge.epsilon)
    with _lock:
        _uncounted.append((charge.epsilon, charge.delta))
        if len(_uncounted) < 2 or PrivacyWarning in _warned:
            return
        _warned.add(PrivacyWarning)
        epsilons, deltas = zip(*_uncounted, strict=True)
    together, cap_delta = (f", δ = {fsum(deltas):g}", ", cap_delta=...") if any(deltas) else ("", "")
    warnings.warn(
        SENTENCES.fill("many_fits", models=len(epsilons), epsilon=fsum(epsilons), delta=together, cap_delta=cap_delta),
        PrivacyWarning,
        stacklevel=5,
    )


def warn_of_choice() -> None:
    """Warn once of a score beside several models: nobody can tell what it is for, but a choice by it is not paid."""
    with _lock:
        if len(_uncounted) < 2 or ChoiceWarning in _warned:
            return
        _warned.add(ChoiceWarning)
    warnings.warn(SENTENCES.fill("true_scores"), ChoiceWarning, stacklevel=3)
