"""A transcript that claims something else, with every file made anew of it, is named, or stands in ``CANNOT_TELL``.

The forger has this program, and the answers of a genuine release. Leaves are taken from the document itself: one that
is new is tested from the day on which it is there.
"""

import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from functools import cache, reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from dpviz.core.check import RequestError
from dpviz.releases.package import CANNOT_TELL
from dpviz.releases.render import render
from dpviz.releases.transcript import Transcript
from dpviz.tables.declarations import apply_declaration, to_json
from tests.cases import about
from tests.releases.forging import verdict_on
from tests.releases.people import unrehearsed
from tests.releases.test_continuing import released as continuing
from tests.releases.test_release_bytes import KINDS, PLAIN, pressed, write_rows

# Those whose users draw their own noise are never released; of the others, one of each way to count.
RELEASES: Mapping[str, tuple[str, dict[str, Any], dict[str, float]]] = {
    "rounds": ("dplloyd:rounds=7", {**PLAIN, "n_public": 900}, {"segments": 0.0}),
    "auto": ("auto", PLAIN, {"segments": 0.3}),
    "hashes": ("lsh-coreset", {**PLAIN, "n_public": 900}, {"segments": 0.2}),
    "persons": ("auto", {**KINDS["all parts"][0], "id_column": "who", "rows_per_person": 3}, KINDS["all parts"][1]),
}

DRAWN, PLAN, EPSILON, DECLARED, WORDS, EARLIER, ACCOUNT = CANNOT_TELL
CANNOT_BE_TOLD = {
    "version": DRAWN,  # another one is said to be another one
    "noise": DRAWN,
    "platform": DRAWN,
    "date": DRAWN,
    "request.parameters.*": PLAN,
    "request.epsilon": EPSILON,
    "request.delta": EPSILON,
    "segments": EPSILON,
    "bounds": EPSILON,
    "missing": EPSILON,
    "declared.*": DECLARED,
    "words.*": WORDS,
    "seen.*": WORDS,
    "account.*": ACCOUNT,
    # What is said of groups is made anew for whatever number: when it was promised its owner says.
    "smallest_group": WORDS,
    "continues.*": EARLIER,
}
OTHERS: Mapping[str, tuple[Any, ...]] = {
    "version": ("0.0.1",),
    "noise": ("OpenDP 0.9.0",),
    "platform": ("Python 3.0.0, NumPy 1.0.0, another system",),
    "code": (64 * "0",),
    "date": ("2001-01-01",),
    # A little more: a much larger share asks for other histograms, which is told by their form.
    "segments": (0.205, 0.305),
    "bounds": (0.105,),
    "missing": (0.105,),
    "words.publication_date": ("2001-01-01",),
    "words.sector": ("Energy",),
    "request.algorithm": ("sulq", "auto", "eugkm"),
    "continues.sha256": (64 * "0",),
}


@cache
def released(name: str) -> Transcript:
    if name not in RELEASES:
        return continuing(True).played.transcript
    algorithm, declared, shares = RELEASES[name]
    with TemporaryDirectory() as folder, unrehearsed():
        data = write_rows(Path(folder), "rows", 0, 900)
        return pressed(Path(folder) / "one", data, declared, algorithm, shares).played.transcript


def read_asked(name: str) -> dict[str, Any]:
    """What was asked, as values to be changed; the declaration, which is a text, as the values in it."""
    asked: dict[str, Any] = json.loads(json.dumps(dict(released(name).asked)))
    return {**asked, "declared": json.loads(asked["declared"])}


def forge(name: str, asked: Mapping[str, Any]) -> dict[str, bytes]:
    """Every file, made of a transcript that claims something else."""
    declared = to_json(apply_declaration(json.dumps(asked["declared"])).validate())
    return render(Transcript({**asked, "declared": declared}, released(name).recordings))


def name_forgery(name: str, asked: Mapping[str, Any]) -> tuple[str, ...]:
    """What is found, or why no such files can be made."""
    try:
        files = forge(name, asked)
    except RequestError as error:
        return (str(error),)
    except Exception as error:  # answers of other shapes: there is nothing to render
        return (type(error).__name__,)
    return tuple(finding.what for finding in verdict_on(files).findings)


def list_leaves(values: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(values, (dict, list)) and values:
        for key in values if isinstance(values, dict) else range(len(values)):
            yield from list_leaves(values[key], (*path, key))
    else:
        yield path


def list_others(path: str, value: Any) -> tuple[Any, ...]:
    """Other values that are allowed, or as near to it as can be."""
    if path in OTHERS:
        return tuple(other for other in OTHERS[path] if other != value)
    if value is None:
        return (900, "x")
    if isinstance(value, bool | int):
        return (not value if isinstance(value, bool) else value + 1,)
    return (1.5 * value or 0.1,) if isinstance(value, float) else (f"{value}x" if isinstance(value, str) else "x",)


def changed(asked: Any, path: tuple[Any, ...], other: Any) -> Any:
    if not path:
        return other
    copy = asked.copy()
    copy[path[0]] = changed(asked[path[0]], path[1:], other)
    return copy


def list_forgeries(name: str, *, told: bool) -> Iterator[tuple[str, Any]]:
    """Each leaf with another value; of those that can be told, or of the others."""
    asked = read_asked(name)
    for path in list_leaves(asked):
        dotted = ".".join(map(str, path))
        if any(fnmatch(dotted, known) for known in CANNOT_BE_TOLD) == told:
            continue
        value: Any = asked
        for key in path:
            value = value[key]
        for other in list_others(dotted, value):
            yield dotted, changed(asked, path, other)


EACH = [pytest.param(name, marks=[pytest.mark.slow] * (name != "rounds")) for name in (*RELEASES, "continued")]


@pytest.mark.parametrize("name", EACH)
def test_every_claim_that_is_not_known_to_be_untold_is_named(name: str) -> None:
    assert not name_forgery(name, read_asked(name)), "a genuine one"
    forgeries = list(list_forgeries(name, told=True))
    assert {"code", "n_public", "request.k"} <= {path for path, _ in forgeries}
    for path, asked in forgeries:
        with about(path):
            assert name_forgery(name, asked)


def test_every_reason_stands_in_the_list_and_each_of_the_list_is_a_reason() -> None:
    assert {*CANNOT_BE_TOLD.values()} == {*CANNOT_TELL}


# What was claimed by hand, and passed once: what is changed in which place. Of bounds nothing can be told.
CLAIMS: Mapping[str, Mapping[str, Any]] = {
    "a tenth of ε": {"request.epsilon": 0.4},
    "a hundred times ε": {"request.epsilon": 400.0, "account.cap_epsilon": 1_000.0},
    "rows of a person": {"declared.id_column": "who", "declared.rows_per_person": 100},
    "other columns": {"declared.bounds.height": [0, 2]},
    "charged more": {"account.charged_epsilon": 5.0},
    "charged less": {"account.charged_epsilon": 0.1},
    "an account that could not bear it": {"account.cap_epsilon": 1.0},
    "a library by any name": {"noise": "OpenDP 0.13.0, proved by the state"},
    "a platform by any name": {"platform": "an enclave"},
    "a version by any name": {"version": "0.1.0 (audited)"},
    "a day by any name": {"date": "yesterday"},
    "looks by any name": {"seen.looks": {"by a notary only": 1}},
    "runs that cost nothing": {"seen.runs_epsilon": 0.0},
    "bounds that were bought": {"bounds": 0.1},
    "segments for nearly nothing": {"segments": 0.002},
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_what_passed_once_is_named(claim: str) -> None:
    name = "auto" if claim.startswith("segments") else "rounds"
    asked = read_asked(name)
    for path, other in CLAIMS[claim].items():
        *groups, last = path.split(".")
        reduce(dict.__getitem__, groups, asked)[last] = other
    assert name_forgery(name, asked)


def test_what_is_said_of_the_noise_is_why_a_lesser_epsilon_is_named() -> None:
    asked = read_asked("rounds")
    asked["request"]["epsilon"] = 0.04
    verdict = verdict_on(forge("rounds", asked))
    assert verdict.noise == "as noisy as claimed: no" and not verdict.holds
    assert ["differ less" in finding.what for finding in verdict.findings] == [True]
