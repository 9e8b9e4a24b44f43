"""Known mistakes, one line of code each, planted one at a time: the test that must catch each turns red.

A guard that cannot fail guards nothing. ``mistakes/`` has them in the field's words: the file, what it
says, what it would say, and the test that catches it, the cheapest of those that do. Each is tried in a child that
finds the changed module in place of the right one; nothing is written into the tree. Where tests have moved,
``python -m benchmarks.mutation --planted`` says which one catches what.
"""

from collections import Counter
from collections.abc import Mapping

import pytest

from benchmarks.mutation.forked import KILLED, LIVES, ROOT, Trial
from benchmarks.mutation.places import source_of
from benchmarks.mutation.planted import mistakes
from tests.durations import stored

MISTAKES = mistakes()


def test_every_mistake_is_one_place_of_a_file_and_has_a_name_of_its_own():
    for planted in MISTAKES:
        assert source_of(planted.file).count(planted.was) == 1, (
            f"{planted.mistake}: what is changed is not there, or twice"
        )
        assert planted.was != planted.would_be, planted.mistake
        file, _, test = planted.caught_by.partition("[")[0].partition("::")
        assert f"def {test}(" in (ROOT / file).read_text("utf-8"), f"{planted.mistake}: no test is called {test}"
    assert max(Counter(planted.mistake for planted in MISTAKES).values()) == 1


@pytest.mark.slow
def test_without_a_mistake_a_test_of_each_file_is_green(nursery):
    """That each is green by itself the suite says; that it is so in a child hangs on what its file imports and shares.

    Of a file the cheapest is run: whatever is not there, or does not end, turns no mistake red below.
    """
    seconds = stored()
    dearest_first = sorted({one.caught_by for one in MISTAKES}, key=lambda test: _cost(seconds, test), reverse=True)
    cheapest = {test.partition("::")[0]: test for test in dearest_first}
    found = nursery.run(Trial([*cheapest.values()]).patient(10.0 * len(cheapest)))
    assert found.outcome == LIVES, f"{found.test} is red without any mistake: {found.why}"
    assert found.ran >= len(cheapest)


def _cost(seconds: Mapping[str, Mapping[str, float]], test: str) -> tuple[float, str]:
    file, _, function = test.partition("[")[0].partition("::")
    return seconds.get(file, {}).get(function, 0.0), test


@pytest.mark.parametrize(
    "planted", [pytest.param(one, id=one.mistake, marks=() if one.quick else pytest.mark.slow) for one in MISTAKES]
)
def test_a_planted_mistake_turns_its_test_red(planted, nursery):
    found = nursery.run(Trial([planted.caught_by], planted.file, planted.source).patient(5.0))
    assert found.outcome == KILLED, f"{planted.caught_by} lets it pass"
    # A module that cannot even be imported proves nothing.
    assert found.test.startswith(planted.caught_by.partition("[")[0]), f"{found.test} is red instead: {found.why}"
