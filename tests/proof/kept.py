"""What must not change while code moves: a hash of every item, in a JSON file beside this one, a line each.

    RENEW_PROOF=1 python -m pytest -m "" tests/proof

writes the files anew. A change that means to alter an item says in its commit message which, and why; the diff of the
JSON names them. ``PROOF_TEXTS=FOLDER`` writes what is hashed into files there: those of two checkouts, compared, show
what an item said before. Nothing that is hashed names a module, a class or a folder, or quotes a docstring. Numbers are
hashed to the last bit: they hold for one thread, and for processors whose linear algebra is that of AVX2.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from dpviz import __version__

Item = tuple[str, str | bytes]
_HERE = Path(__file__).parent


def compare(kind: str, items: Iterable[Item]) -> None:
    """Every item is what it was; where one is not, the message names it."""
    assert os.environ["OMP_NUM_THREADS"] == "1", "sums follow the number of threads: unset OMP_NUM_THREADS"
    held: dict[str, bytes] = {}
    with threadpool_limits(1):
        for name, content in items:
            assert name not in held, f"two items are called {name}"
            held[name] = content if isinstance(content, bytes) else content.encode()
    if "PROOF_TEXTS" in os.environ:
        _write_texts(Path(os.environ["PROOF_TEXTS"]) / kind, held)
    now = {name: hash_bytes(content) for name, content in held.items()}
    path = _HERE / f"{kind}.json"
    if os.environ.get("RENEW_PROOF") == "1":
        path.write_text(json.dumps(now, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    kept = json.loads(path.read_text("utf-8"))
    told = [f"changed: {name}" for name in kept if now.get(name, kept[name]) != kept[name]]
    told += [f"gone: {name}" for name in kept if name not in now] + [f"new: {name}" for name in now if name not in kept]
    listed = "\n".join(told)
    assert not told, f"{len(told)} of {len(now)} {kind} are not what was stored:\n{listed}\n(see tests/proof/kept.py)"
    assert list(now) == list(kept), f"the {kind} come in another order"


def _write_texts(folder: Path, held: Mapping[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in held.items():
        (folder / name.replace("/", "_")).write_bytes(content)


def hash_bytes(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


def spell(values: Iterable[object]) -> str:
    """Arrays to the last bit, numbers and words, a line each."""
    return "\n".join(_spell_each(values))


def _spell_each(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, np.ndarray):
            yield f"{value.dtype.str} {value.shape} {hash_bytes(np.ascontiguousarray(value).tobytes())}"
        else:
            yield repr(value.item() if isinstance(value, np.generic) else value)


def without_day(text: str, folder: Path | None = None) -> str:
    """The same on any day, at any hour, in any version, and wherever ``folder`` lies."""
    today = datetime.now(UTC).date().isoformat()
    text = re.sub(rf"{today}(T[\d:.]+(\+00:00|Z)?)?", "TODAY", text).replace(__version__, "VERSION")
    return text if folder is None else text.replace(str(folder), "FOLDER")
