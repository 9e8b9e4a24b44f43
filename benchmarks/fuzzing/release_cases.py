"""Zips that say they are a release, and files that say they are an account: changed in all ways, and checked."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.fuzzing.case import Broken, Case, command, short
from benchmarks.fuzzing.hostile import NUMBERS, TEXTS, damaged, happens, one
from dpviz.api.cli.verify_command import format_verdict
from dpviz.core.accounting import Accounting
from dpviz.core.exact_noise import ExactSource, WholeTruth
from dpviz.releases.account import ChargeLink
from dpviz.releases.account_file import create, open_to_change
from dpviz.releases.package import TRANSCRIPT, VERIFY, format_verify, make_zip, read_members
from dpviz.releases.release_parts import make_all_parts, make_empty_content, make_empty_tables
from dpviz.releases.release_request import AccountThen, Asked, ReleaseRequest, name_platform
from dpviz.releases.render import render
from dpviz.releases.transcript import AnswerRecording, Transcript
from dpviz.releases.verifying import verify
from dpviz.runs.request import Contender, Request
from dpviz.tables.declarations import apply_declaration, find_words

_DECLARED = '{"title": "People", "bounds": {"age": [0, 100], "pay": [0, 9]}, "bounds_origin": "law", "n_public": 500}'
_BOMB, _DAY = 150_000_000, "2026-07-01T00:00:00+00:00"
_COLUMNS = (
    "algorithm",
    "k",
    "unit",
    "relation",
    "columns",
    "lower",
    "upper",
    "state",
    "epsilon",
    "at",
    "why",
    "sha256",
)


def release_case(rng: np.random.Generator) -> Case:
    """The zip of a release with something wrong in it."""
    change = one(
        rng, (_bytes_changed, _bytes_changed, _file_changed, _asked_otherwise, _answers_changed, _packed_badly)
    )
    data, about = change(rng)

    def do(folder: Path) -> str:
        path = folder / "release.zip"
        path.write_bytes(data)
        verdict = verify(path)
        if verdict.holds and data != make_zip(_files()):
            raise Broken("nothing is found to be wrong with a forged release")
        return format_verdict(verdict)

    return Case("verify", about, do)


def account_case(rng: np.random.Generator) -> Case:
    """The file of an account with something wrong in it."""
    if happens(rng, 0.7):
        data, about = damaged(rng, _account())
        return Case("account", about, partial(_shown, change=lambda path: path.write_bytes(data)))
    column, value = one(rng, _COLUMNS), one(rng, (*TEXTS, *NUMBERS))

    def rewritten(path: Path) -> None:
        path.write_bytes(_account())
        try:
            with open_to_change(path, wait=1.0) as file:
                file.execute(f"UPDATE release SET {column} = ?", (value,))
        except (ValueError, OverflowError):  # no database takes it, or no account
            path.write_bytes(_account())

    return Case("account", f"{column} = {short(value)}", partial(_shown, change=rewritten))


def _shown(folder: Path, *, change: Callable[[Path], object]) -> str:
    change(folder / "people.sqlite")
    return command(["account", "show", "people.sqlite"])


class _Made(ExactSource):
    """Answers that follow from a number, in place of noise: the base of all cases is always the same."""

    coins = 7

    def __init__(self) -> None:
        self._rng = np.random.default_rng(7)
        self.released: list[Any] = []

    def answer(self, mechanism: Any, truth: WholeTruth, accounting: Accounting) -> Any:
        """Noise alone, as of a table without rows."""
        self.released.append(np.round(self._rng.laplace(0.0, mechanism.scale, np.shape(truth.total)), 2))
        return self.released[-1]


@cache
def _base() -> Transcript:
    declared = apply_declaration(_DECLARED).validate()
    release_request = ReleaseRequest(
        Request(Contender("eugkm"), 3, 1.0, 0.0), find_words(declared, today="2026-07-01"), who="somebody"
    )
    sources = {part: _Made() for part in release_request.shares(declared)}
    tables = partial(make_empty_tables, n_public=declared.n_public)
    make_all_parts(release_request, declared, sources, make_empty_content(declared), tables)
    asked = Asked(
        version="0.0.0",
        noise="OpenDP 0.13.0",
        platform=name_platform(),
        code=64 * "0",
        date="2026-07-01",
        release_request=release_request,
        n_public=declared.n_public,
        declared=declared,
        account=AccountThen("people", 2.0, 0.0, 0.0, 0.0, ChargeLink(1, _DAY, "b" * 64, "a" * 64, _DAY)),
    )
    return Transcript(
        asked.to_dict(),
        {part: AnswerRecording(source.coins, tuple(source.released)) for part, source in sources.items()},
    )


@cache
def _files() -> Mapping[str, bytes]:
    return render(_base())


@cache
def _account() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "people.sqlite"
        create(path, name="people", cap_epsilon=2.0, cap_delta=0.0, opened="2026-07-01T00:00:00+00:00", wait=5.0)
        values = ("2026-07-01T00:00:00+00:00", "somebody", "0.1.0", 1.0, 0.0, "auto", 3, "1 row", "add_remove")
        said = (*values, '["age"]', "[0.0]", "[100.0]", "charged", *[None] * 4)
        with open_to_change(path, wait=5.0) as file:
            file.execute(f"INSERT INTO release VALUES (1, {', '.join('?' * len(said))})", said)
            file.execute("PRAGMA user_version")
        return path.read_bytes()


def _zipped(files: Mapping[str, bytes], rng: np.random.Generator) -> bytes:
    """With hashes that fit, mostly."""
    others = {name: data for name, data in files.items() if name != VERIFY}
    return make_zip({**others, VERIFY: format_verify(others).encode()} if happens(rng, 0.8) else files)


def _packed(files: Mapping[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip that is smaller than what is in it."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", packing) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return held.getvalue()


def _bytes_changed(rng: np.random.Generator) -> tuple[bytes, str]:
    return damaged(rng, make_zip(_files()))


def _file_changed(rng: np.random.Generator) -> tuple[bytes, str]:
    """One file damaged, or another one in its place."""
    files = dict(_files())
    name = one(rng, tuple(files))
    if happens(rng, 0.5):
        files[name], about = damaged(rng, files[name])
    else:
        text = one(rng, TEXTS) * int(rng.integers(1, 2_000))
        files[name], about = text.encode("utf-8", "surrogatepass"), short(text)
    return _zipped(files, rng), f"{name}: {about}"


def _asked_otherwise(rng: np.random.Generator) -> tuple[bytes, str]:
    """Something else asked, in a transcript whose hash fits."""
    asked = json.loads(json.dumps(dict(_base().asked)))
    at, name = asked, one(rng, tuple(asked))
    while isinstance(at[name], dict) and at[name] and happens(rng, 0.9):
        at = at[name]
        name = one(rng, tuple(at))
    value: Any = one(rng, (*TEXTS, *NUMBERS, None, [], {}, [1, "a"], {"a": {}}))
    at[name] = value
    try:
        forged = Transcript(asked, _base().recordings).to_bytes("")
    except (ValueError, UnicodeError):  # nothing that JSON or UTF-8 holds
        forged = _files()[TRANSCRIPT]
    return _zipped({**_files(), TRANSCRIPT: forged}, rng), f"{name} = {short(value)}"


def _answers_changed(rng: np.random.Generator) -> tuple[bytes, str]:
    """Other arrays among the answers, or heads of arrays that say what is not so."""
    held = read_members(_files()[TRANSCRIPT]).files
    name = one(rng, tuple(held))
    other: Any = one(
        rng,
        (
            np.zeros(0),
            np.full((3, 2), np.nan),
            np.array(np.inf),
            np.array("x" * 50),
            np.zeros((40, 40), dtype=np.int8),
            np.full(64, 1e308),
            np.array([2**63], dtype=np.uint64),
            np.zeros(3, dtype=">f4"),
        ),
    )
    if happens(rng, 0.7):
        file = io.BytesIO()
        np.save(file, other)
        held[name] = file.getvalue()
        about = f"{name}: {other.dtype} {other.shape}"
    else:
        before, after = one(rng, ((b"(", b"(9999999999,"), (b"<f8", b"|O8"), (b"False", b"True"), (b"{", b"{" * 90)))
        held[name] = held[name].replace(before, after, 1)
        about = f"{name}: {after!r}"
    return _zipped({**_files(), TRANSCRIPT: make_zip(held, packed=False)}, rng), about


def _packed_badly(rng: np.random.Generator) -> tuple[bytes, str]:
    """Too large, twice there, or packed in a way that no release is."""
    name, what = one(rng, tuple(_files())), one(rng, ("bomb", "bomb inside", "other packing", "folder"))
    if what == "bomb":
        return _packed({**_files(), name: bytes(_BOMB)}), f"{name} unpacks to {_BOMB:,}"
    if what == "bomb inside":
        return make_zip({**_files(), TRANSCRIPT: _packed({"asked.npy": bytes(_BOMB)})}), "a transcript that is one"
    packing = int(one(rng, (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED)))
    before = "a/../" if what == "folder" else ""
    return _packed({f"{before}{name}": data for name, data in _files().items()}, packing), f"{what} {packing}"
