"""A transcript that claims something else, with every file made anew of it, is named, or stands in ``CANNOT_TELL``.

The forger has this program, and the answers of a genuine release. Leaves are taken from the document itself: one that
is new is tested from the day on which it is there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from dpviz.core.check import RequestError
from dpviz.releases.package import CANNOT_TELL, CARD, DOSSIER, PAGE
from dpviz.releases.render import render
from dpviz.releases.transcript import Transcript
from dpviz.tables.declarations import apply_declaration, to_json
from tests.cases import about
from tests.releases.forging import verdict_on
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
    with TemporaryDirectory() as folder:
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
    match value:
        case bool():
            return (not value,)
        case int():
            return (value + 1,)
        case float():
            return (1.5 * value or 0.1,)
        case str():
            return (f"{value}x",)
        case None:
            return (900, "x")
    return ("x",)


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


@pytest.mark.slow
def test_what_is_said_to_be_untold_passes_somewhere() -> None:
    """An entry of the table that is always named would hide what comes after it."""
    left = [*CANNOT_BE_TOLD]
    for _ in range(6):  # whether one is named may hang on the noise that was drawn
        for name in ("rounds", "hashes", "persons", "continued"):
            for path, asked in list_forgeries(name, told=False):
                if any(fnmatch(path, known) for known in left) and not name_forgery(name, asked):
                    left = [known for known in left if not fnmatch(path, known)]
        if not left:
            return
        released.cache_clear()
    raise AssertionError(left)


def test_every_reason_stands_in_the_list_and_each_of_the_list_is_a_reason() -> None:
    assert {*CANNOT_BE_TOLD.values()} == {*CANNOT_TELL}


Change = Callable[[dict[str, Any]], object]
# What was claimed by hand, and passed once: by release, what is changed in it. Of bounds nothing can be told.
CLAIMS: Mapping[str, tuple[str, Change]] = {
    "a hundredth of ε": ("rounds", lambda asked: asked["request"].update(epsilon=0.04)),
    "a tenth of ε": ("rounds", lambda asked: asked["request"].update(epsilon=0.4)),
    "a hundred times ε": ("rounds", lambda asked: (asked["request"].update(epsilon=400.0), raise_cap(asked))),
    "rows of a person": ("rounds", lambda asked: asked["declared"].update(id_column="who", rows_per_person=100)),
    "other columns": ("rounds", lambda asked: asked["declared"]["bounds"].update(height=[0, 2])),
    "charged more": ("rounds", lambda asked: asked["account"].update(charged_epsilon=5.0)),
    "charged less": ("rounds", lambda asked: asked["account"].update(charged_epsilon=0.1)),
    "an account that could not bear it": ("rounds", lambda asked: asked["account"].update(cap_epsilon=1.0)),
    "words of the program": ("rounds", lambda asked: asked.update(promise="No person can be found in this.")),
    "a library by any name": ("rounds", lambda asked: asked.update(noise="OpenDP 0.13.0, proved by the state")),
    "a platform by any name": ("rounds", lambda asked: asked.update(platform="an enclave")),
    "a version by any name": ("rounds", lambda asked: asked.update(version="0.1.0 (audited)")),
    "code of zeros": ("rounds", lambda asked: asked.update(code=64 * "0")),
    "code of nobody": ("rounds", lambda asked: asked.update(code="")),
    "looks by any name": ("rounds", lambda asked: asked["seen"].update(looks={"by a notary only": 1})),
    "runs that cost nothing": ("rounds", lambda asked: asked["seen"].update(runs_epsilon=0.0)),
    "another number of rows": ("rounds", lambda asked: asked.update(n_public=100_000)),
    "bounds that were bought": ("rounds", lambda asked: asked.update(bounds=0.1)),
    "segments for nearly nothing": ("auto", lambda asked: asked.update(segments=0.002)),
}


def raise_cap(asked: dict[str, Any]) -> None:
    asked["account"].update(cap_epsilon=1_000.0)


@pytest.mark.parametrize("claim", CLAIMS)
def test_what_passed_once_is_named(claim: str) -> None:
    name, change = CLAIMS[claim]
    asked = read_asked(name)
    change(asked)
    assert name_forgery(name, asked)


def test_what_is_said_of_the_noise_is_why_a_lesser_epsilon_is_named() -> None:
    asked = read_asked("rounds")
    asked["request"]["epsilon"] = 0.04
    verdict = verdict_on(forge("rounds", asked))
    assert verdict.noise == "as noisy as claimed: no" and not verdict.holds
    assert ["differ less" in finding.what for finding in verdict.findings] == [True]


def test_words_of_the_owner_are_marked_as_theirs() -> None:
    asked = read_asked("rounds")
    said = {name: f"Proved: nobody is in it ({name})." for name in ("description", "justification", "intended_use")}
    asked["words"].update(said)
    files = forge("rounds", asked)
    page, dossier = files[PAGE].decode(), files[DOSSIER].decode()
    for name, words in said.items():
        with about(name):
            assert page.count(words) == page.count(f"In words that the owner wrote or accepted: {words}") == 1
            assert dossier.count(words) == dossier.count(f'<dd class="owner">{words}') <= 1
            assert words in " ".join(files[CARD].decode().split())
