"""A press that goes on by itself: a page, a reload or a closed window neither stops nor repeats it.

It takes place in a thread of its own, where the rows are, rather than in a worker that they would have to be sent to.
Nothing takes it back: from the charge on it is paid for.
"""

import threading
from collections.abc import Callable
from contextlib import suppress

from dpviz.core import RequestError
from dpviz.releases.account import Account
from dpviz.releases.releasing import Preflight, Release, publish
from dpviz.runs import OWNER_ONLY, Failure, JobState, Progress, RunSoFar, Work, create_whole

_STEPS = 1000


class PublishJob(Work[Release]):
    """One press, begun when this is made; it presses once, whoever looks at it.

    Parameters
    ----------
    prepared : Ready
    on_defect : callable
        Is told an error that is no refusal; its words are kept from the page.

    Attributes
    ----------
    prepared : Preflight
        What was pressed.
    number : int or None
        Of the charge, as soon as there is one.
    kept : str
        The name of the copy beside the account; "" while there is none, or where it could not be written.
    """

    def __init__(self, prepared: Preflight, *, on_defect: Callable[[Exception], None]) -> None:
        super().__init__()
        self.number: int | None = None
        self.kept = ""
        self.prepared = prepared
        self._on_defect = on_defect
        # No daemon: a server that is told to stop waits for what is paid for.
        threading.Thread(target=self._publish, name="dpviz release").start()

    @property
    def release(self) -> Release | None:
        """What has left, once it has."""
        return next(iter(self.items), None)

    def cancel(self) -> None:
        """Does nothing: what is charged is released."""

    def _publish(self) -> None:
        self._note_begin()
        try:
            self._take(Progress(0, _STEPS, "a rehearsal"))
            release = publish(self.prepared, watch=self._watch, charged=self._note_charge)
            with suppress(OSError):
                self.kept = keep_copy(self.prepared.account, release)
            self._take(release)
        except RequestError as error:
            self._finish(JobState.FAILED, Failure(type(error).__name__, str(error)))
        except Exception as error:
            self._finish(JobState.FAILED, Failure(type(error).__name__))
            self._on_defect(error)
        else:
            self._finish(JobState.DONE)

    def _note_charge(self, number: int) -> None:
        self.number = number
        self._take(Progress(0, _STEPS, "charged; noise is drawn"))

    def _watch(self, step: RunSoFar) -> None:
        self._take(Progress(round(_STEPS * step.spent_fraction), _STEPS, step.frames[-1].step.title))


def keep_copy(account: Account, release: Release) -> str:
    """Write the zip of a release beside its account, into a new file for its owner's eyes alone; the file's name."""
    path = account.locate_copy(release.number)
    # Under that name it is there as a whole or not at all: whoever looks on must not find a damaged release.
    create_whole(path, release.data, mode=OWNER_ONLY)
    return path.name
