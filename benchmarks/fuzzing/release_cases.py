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
from dpviz.cli.verify_command import verdict_text
from dpviz.privacy.accounting import Accounting
from dpviz.privacy.exact_noise import ExactSource, WholeTruth
from dpviz.release.account_file import changing, create
from dpviz.release.asked import AccountThen, Asked
from dpviz.release.order import Order, words_for
from dpviz.release.package import LEDGER, TRANSCRIPT, VERIFY, verify_text
from dpviz.release.release_parts import all_parts, content_without_rows, tables_without_rows
from dpviz.release.render import render
from dpviz.release.transcript import Tape, Transcript
from dpviz.release.verify import verify
from dpviz.release.zips import members_of, zip_of
from dpviz.runs.request import Contender, Request
from dpviz.table.sidecar import declaration_in

_DECLARED = '{"title": "People", "bounds": {"age": [0, 100], "pay": [0, 9]}, "bounds_origin": "law", "n_public": 500}'
_BOMB = 150_000_000
_COLUMNS = ("algorithm", "k", "unit", "relation", "columns", "lower", "upper", "state", "epsilon", "at", "why")


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
        if verdict.holds and _others(members_of(data).files) != _others(_files()):
            raise Broken("nothing is found to be wrong with a forged release")
        return verdict_text(verdict)

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
            with changing(path, wait=1.0) as file:
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
        """As many numbers as were asked for."""
        self.released.append(np.round(self._rng.uniform(0, 40, np.shape(truth.total)), 2))
        return self.released[-1]


@cache
def _base() -> Transcript:
    declared = declaration_in(_DECLARED).checked()
    order = Order(
        Request(Contender("eugkm"), 3, 1.0, 0.0), words_for(declared, today="2026-07-01"), segments=0.2, who="somebody"
    )
    sources = {part: _Made() for part in order.shares(declared)}
    tables = partial(tables_without_rows, n_public=declared.n_public)
    all_parts(order, declared, sources, content_without_rows(declared), tables)
    asked = Asked(
        version="0.0.0",
        noise="none",
        platform="none",
        code="",
        date="2026-07-01",
        order=order,
        n_public=declared.n_public,
        declared=declared,
        account=AccountThen("people", 2.0, 0.0, 0.0, 0.0, 1.0, 0.0),
    )
    return Transcript(
        asked.to_dict(), {part: Tape(source.coins, tuple(source.released)) for part, source in sources.items()}
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
        said = (*values, '["age"]', "[0.0]", "[100.0]", "charged", None, None)
        with changing(path, wait=5.0) as file:
            file.execute(f"INSERT INTO release VALUES (1, {', '.join('?' * len(said))})", said)
            file.execute("PRAGMA user_version")
        return path.read_bytes()


def _others(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """All but the ledger, whose last digits may differ, and the hashes."""
    return {name: data for name, data in files.items() if name not in (LEDGER, VERIFY)}


def _zipped(files: Mapping[str, bytes], rng: np.random.Generator) -> bytes:
    """With hashes that fit, mostly."""
    others = {name: data for name, data in files.items() if name != VERIFY}
    return zip_of({**others, VERIFY: verify_text(others).encode()} if happens(rng, 0.8) else files)


def _bytes_changed(rng: np.random.Generator) -> tuple[bytes, str]:
    return damaged(rng, zip_of(_files()))


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
        forged = Transcript(asked, _base().tapes).to_bytes("")
    except (ValueError, UnicodeError):  # nothing that JSON or UTF-8 holds
        forged = _files()[TRANSCRIPT]
    return _zipped({**_files(), TRANSCRIPT: forged}, rng), f"{name} = {short(value)}"


def _answers_changed(rng: np.random.Generator) -> tuple[bytes, str]:
    """Other arrays among the answers, or heads of arrays that say what is not so."""
    with zipfile.ZipFile(io.BytesIO(_files()[TRANSCRIPT])) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
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
    return _zipped({**_files(), TRANSCRIPT: zip_of(held)}, rng), about


def _packed_badly(rng: np.random.Generator) -> tuple[bytes, str]:
    """Too large, twice there, or packed in a way that no release is."""
    name, what = one(rng, tuple(_files())), one(rng, ("bomb", "bomb inside", "other packing", "folder"))
    if what == "bomb":
        return zip_of({**_files(), name: bytes(_BOMB)}), f"{name} unpacks to {_BOMB:,}"
    if what == "bomb inside":
        return zip_of({**_files(), TRANSCRIPT: zip_of({"asked.npy": bytes(_BOMB)})}), "a transcript that is one"
    packing = int(one(rng, (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_STORED)))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for one_name, data in _files().items():
            archive.writestr(one_name if what != "folder" else f"a/../{one_name}", data, packing)
    return file.getvalue(), f"{what} {packing}"
