"""The bench that changes the package line by line: what it finds to change, how a child ends, what is kept of it."""

import json
from functools import cache
from pathlib import Path

import pytest

import benchmarks.mutation.places as places_module
import benchmarks.mutation.reached as reached_module
from benchmarks.mutation.forked import HANGS, KILLED, LIVES, NO_TESTS, NOT_HERE, ROOT, Outcome, Trial
from benchmarks.mutation.places import Place, places_of, sample, source_of
from benchmarks.mutation.planted import mistakes
from benchmarks.mutation.results import Result, explanations, killed_before, report, store, stored

FILE = "dpviz/core/mechanisms.py"
TESTS = ["tests/core/test_mechanisms_measurement.py"]


@pytest.mark.slow
def test_a_wrong_module_is_caught_and_the_test_is_named(nursery):
    found = nursery.run(Trial(TESTS, FILE, source_of(FILE) + "\n\nclass Measurement:\n    pass\n"))
    assert found.outcome == KILLED
    assert found.test.startswith(TESTS[0])
    assert found.why


def test_a_module_that_does_the_same_lives(nursery):
    before = {path: path.stat().st_mtime_ns for path in (ROOT / "dpviz" / "core").iterdir()}
    assert nursery.run(Trial(TESTS, FILE, source_of(FILE) + "\n\nNOTHING_NEW = 1\n")).outcome == LIVES
    assert before == {path: path.stat().st_mtime_ns for path in (ROOT / "dpviz" / "core").iterdir()}


def test_a_module_that_is_called_like_a_test_is_changed_too(nursery):
    file = "dpviz/core/tuples.py"
    assert nursery.run(Trial(["tests/core/test_tuples.py"], file, "assert False\n")).outcome == KILLED


@pytest.mark.parametrize(
    ("wrong", "limit"),
    [("while True:\n    pass\n", {"cpu_seconds": 1.0}), ("import signal\nsignal.pause()\n", {"wall_seconds": 1.0})],
    ids=["works for ever", "waits for ever"],
)
def test_a_module_that_never_ends_is_ended(nursery, wrong, limit):
    assert nursery.run(Trial(TESTS, FILE, wrong, **limit)).outcome == HANGS


def test_a_module_that_ends_its_process_or_cannot_be_imported_is_caught(nursery):
    for wrong in ("import os\nos.abort()\n", "import nothing_of_this_name\n"):
        assert nursery.run(Trial(TESTS, FILE, wrong)).outcome == KILLED


def test_whoever_runs_no_test_has_caught_nothing(nursery):
    assert nursery.run(Trial([f"{TESTS[0]}::test_that_is_not_there"], FILE, "")).outcome in (NO_TESTS, KILLED)
    assert nursery.run(Trial([f"{TESTS[0]}::test_that_is_not_there"])).outcome == NO_TESTS


def test_a_loaded_function_gets_other_code_and_what_is_more_than_functions_is_left_to_a_process_that_loads_it(nursery):
    planted = next(one for one in mistakes() if one.file == "dpviz/releases/promise.py" and "order" in one.mistake)
    warm = nursery.of(warm=True)
    assert warm.run(Trial([planted.caught_by], planted.file, planted.source)).outcome == KILLED
    assert warm.run(Trial([planted.caught_by])).outcome == LIVES
    more = Trial([planted.caught_by], planted.file, planted.source + "\n\nNOTHING_NEW = 1\n")
    assert warm.run(more).outcome == NOT_HERE
    assert nursery.run(more).outcome == KILLED


CODE = '''"""Of 1 + 1."""
from logging import getLogger

__all__ = ["a" + "b"]
log = getLogger()
Both = int | str


@cache
@other
def f(x: int | str = 1, *, y: int = 0) -> int | None:
    """Not 2 - 1."""
    log.info("a" + "b")
    if x < 3:
        raise ValueError("x" + 1)
    zip(x, strict=True)
    return x - 1
'''


@pytest.fixture
def example(monkeypatch):
    monkeypatch.setattr(places_module, "source_of", lambda file: CODE)
    return "dpviz/core/example.py"


def test_only_what_a_program_can_notice_is_changed(example):
    found = {(place.text.strip(), place.operator) for place in places_of(example)}
    assert {text for text, _ in found} == {
        "@other",
        "def f(x: int | str = 1, *, y: int = 0) -> int | None:",
        "if x < 3:",
        "return x - 1",
    }
    assert ("return x - 1", "ReplaceBinaryOperator_Sub_Add") in found
    assert ("if x < 3:", "ReplaceComparisonOperator_Lt_LtE") in found
    assert {name for text, name in found if text.startswith("def")} == {"NumberReplacer"}


def test_a_change_is_one_token_and_its_key_survives_other_lines(example, monkeypatch):
    place = next(place for place in places_of(example) if place.operator == "ReplaceBinaryOperator_Sub_Add")
    assert place.mutated() == CODE.replace("x - 1", "x + 1")
    monkeypatch.setattr(places_module, "source_of", lambda file: "import os\n\n" + CODE)
    assert place.key in {moved.key for moved in places_of(example)}


def test_a_larger_sample_holds_the_smaller_and_every_folder_has_its_share(monkeypatch):
    files = {"core": "dpviz/core/noise.py", "releases": "dpviz/releases/promise.py"}
    found = {part: [*places_of(file)] for part, file in files.items()}
    monkeypatch.setattr(places_module, "places", found.__getitem__)
    small, large = sample((*files,), 6, 3), sample((*files,), 12, 3)
    assert {place.key for place in small} <= {place.key for place in large}
    assert [place.file for place in small] == [files["core"]] * 3 + [files["releases"]] * 3
    assert small != sample((*files,), 6, 4)


def test_every_folder_that_is_changed_or_tried_is_there():
    assert all(any((ROOT / "dpviz" / part).rglob("*.py")) for part in places_module.PARTS)
    assert all(any((ROOT / "tests" / folder).rglob("test_*.py")) for folder in reached_module.TEST_FOLDERS)


def test_what_was_measured_is_kept_until_the_test_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(reached_module, "ROOT", tmp_path)
    test = tmp_path / "tests" / "test_one.py"
    test.parent.mkdir()
    test.write_text("one")
    measured = []

    def run(trials):
        measured.append(len(trials))
        return [Outcome(LIVES, durations={"tests/test_one.py::test": 0.5}) for _ in trials]

    for text in ("one", "one", "two", "two"):
        test.write_text(text)
        assert reached_module.reached_lines(["tests/test_one.py"], run).seconds == {"tests/test_one.py::test": 0.5}
    assert measured == [1, 0, 1, 0]


@cache
def some_place() -> Place:
    return next(iter(places_of(FILE)))


def result(name: str, outcome: str, *, explained: str = "") -> Result:
    place = some_place()
    made = Result.of(place, Outcome(outcome, test="killer"), tests=1, explained={place.key: explained})
    return Result(**{**vars(made), "key": name})


def test_results_are_counted_kept_and_compared(tmp_path: Path):
    results = [
        result("a", "killed"),
        result("b", "lives"),
        result("c", "lives", explained="the same"),
        result("d", "hangs"),
    ]
    store(results, tmp_path / "now.json")
    assert stored(tmp_path / "now.json") == results
    assert json.loads((tmp_path / "now.json").read_text())[0]["test"] == "killer"
    (core,) = [line.split() for line in report(results).splitlines() if line.startswith("core")]
    assert core == ["core", "4", "2", "1", "1", "75.0%"]
    (worse,) = killed_before(results, [result("a", "killed"), result("b", "killed"), result("x", "killed")])
    assert "killer" in worse


def test_every_explanation_is_of_a_line_that_is_there():
    for key in explanations():
        file, _, _, line = key.split(" | ", 3)
        assert line in map(str.strip, source_of(file).splitlines()), key
