"""The judge of the fuzz reports what was planted for it, and nothing else."""

from multiprocessing.connection import Connection

import pytest

from benchmarks.fuzzing.judge import WAITED, judged
from benchmarks.fuzzing.secrets import Secrets
from benchmarks.fuzzing.workers import Limits, verdicts
from tests import waiting
from tests.cases import about
from tests.fuzz import planted

FAULTS = (
    (planted.shows_a_cell, "a value of the data leaks (result)"),
    (planted.refusing(f"x is {731_944_027.0:g}: give a smaller one."), "a value of the data leaks (refused)"),
    (planted.prints_a_word, "a value of the data leaks (result)"),
    (planted.says_why, "a value of the data leaks (refused)"),
    (planted.hides_a_key_error, "a guard caught a KeyError"),
    (planted.raises_a_key_error, "traceback: KeyError"),
    (planted.refusing(""), "an empty refusal"),
    (planted.refusing("It cannot be read.\nIt really cannot."), "a refusal over several lines"),
    (planted.refusing("bad input"), "a refusal that is no sentence"),
    (planted.says_half_a_character, "half a character that no page can show"),
    (planted.ends_in_another_way, "exit code 3"),
    (planted.keeps_the_promise, "result"),
    (planted.refuses_well, "refused"),
)


def test_a_planted_fault_is_reported():
    for do, outcome in FAULTS:
        with about(do.__name__):
            assert judged(planted.case(do), seconds=waiting.SECONDS).outcome == outcome


@pytest.mark.parametrize("do", [planted.works_without_end, planted.waits_without_end])
def test_what_never_ends_is_too_slow(do):
    assert judged(planted.case(do), seconds=0.1).outcome == "too slow"


def test_memory_is_counted_anew_for_each_case():
    little = judged(planted.case(planted.keeps_the_promise)).megabytes
    most = little + planted.MEGABYTES / 2
    assert judged(planted.case(planted.takes_much_memory), megabytes=most).outcome == "too much memory"
    assert judged(planted.case(planted.keeps_the_promise), megabytes=most).outcome == "result"


@pytest.mark.slow
def test_a_process_that_dies_or_hangs_takes_no_other_case_along(monkeypatch, tmp_path):
    """A case says that it hangs from now on, so that nobody has to wait for what takes long."""
    limits, hangs, asked = Limits(), tmp_path / "hangs", []
    poll = Connection.poll

    def poll_or_hang(connection, timeout):
        asked.append(timeout)
        assert waiting.eventually(lambda: poll(connection, 0) or hangs.exists())
        answered = poll(connection, 0)
        if not answered:
            hangs.unlink()
        return answered

    monkeypatch.setattr(Connection, "poll", poll_or_hang)
    monkeypatch.setenv(planted.HANGS, str(hangs))
    found = list(verdicts(0, range(len(planted.IN_A_PROCESS)), limits=limits, make=planted.case_of))
    assert [verdict.index for verdict in found] == [0, 1, 2, 3, 4]
    assert [verdict.outcome for verdict in found] == ["result", "hangs", "refused", "the process died", "result"]
    assert set(asked[1:3]) == {WAITED * limits.seconds + limits.grace}


def test_a_number_is_known_however_it_is_written():
    for written in ("731944027", "731,944,027", "7319.44027", "7.31944e+08", "731 944 027", "-731944027"):
        with about(written):
            assert planted.SECRETS.found_in(f"It is {written}.") == 1
            assert Secrets((912_345_678,)).found_in(f"It is {written}.") == 0
