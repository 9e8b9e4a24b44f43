"""Folders of lessons: YAML changed by hand, damaged, deep or endless, and what is no file, beside a sound one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks.fuzzing.case import Broken, Case, short
from benchmarks.fuzzing.hostile import any_value, damaged, happens, one, some
from benchmarks.fuzzing.settings_cases import RAW_YAML
from dpviz.app.lessons.reading import FOLDER, read_lessons
from dpviz.app.ui.lessons import lesson_panel

_NAMES = tuple(
    os.fsdecode(name + b".yaml") for name in (b"a", b"caf\xe9", b"\xff\xfe", b"a\nb", b"\x1b[31m", b"-", b"x y")
)
_MOST_LETTERS = 2_000


def lesson_case(rng: np.random.Generator) -> Case:
    """A folder with a sound lesson, and up to three things that may be none."""
    put: dict[str, bytes | Callable[[Path], object]] = {}
    done = []
    for place in range(int(rng.integers(1, 4))):
        name = one(rng, _NAMES) if happens(rng, 0.3) else f"{place}.yaml"
        if happens(rng, 0.2):
            thing = one(rng, tuple(_THINGS))
            put[name], about = _THINGS[thing], thing
        else:
            put[name], about = _text(rng)
        done.append(f"{name!r} {about}")

    def do(folder: Path) -> str:
        (folder / "sound.yaml").write_bytes(_sound())
        for name, what in put.items():
            if isinstance(what, bytes):
                (folder / name).write_bytes(what)
            else:
                what(folder / name)
        for path in sorted(folder.glob("*.yaml")):
            lesson_panel._read_stamp(path)
        collection = read_lessons(folder)
        if "sound" not in collection.lessons:
            raise Broken("a lesson that cannot be read keeps another one from being read")
        for sentence in collection.refused:
            if (
                not sentence.endswith(".")
                or len(sentence) > _MOST_LETTERS
                or len(sentence.splitlines()) > 1
                or "\x1b" in sentence
            ):
                raise Broken(f"a refusal that is no sentence: {short(sentence)}")
        texts = [lesson.title for lesson in collection.lessons.values()]
        return "\n".join((*collection.lessons, *texts, *collection.refused))

    return Case("lessons", "; ".join(done), do)


@cache
def _sound() -> bytes:
    return next(iter(sorted(FOLDER.glob("*.yaml")))).read_bytes()


@cache
def _lessons() -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in sorted(FOLDER.glob("*.yaml")))


def _text(rng: np.random.Generator) -> tuple[bytes, str]:
    way = rng.random()
    if way < 0.25:
        text = one(rng, RAW_YAML)
        return text.encode("utf-8", "surrogatepass"), short(text)
    raw = one(rng, _lessons())
    if way < 0.45:
        return damaged(rng, raw)
    if way < 0.6:
        encoding = one(rng, ("utf-16", "utf-8-sig", "cp1252", "utf-32"))
        return raw.decode().encode(encoding, "replace"), encoding
    return _changed(rng, yaml.safe_load(raw))


def _changed(rng: np.random.Generator, said: Any) -> tuple[bytes, str]:
    """Up to three values somewhere in it are others, or gone, or under another name."""
    done = []
    for _ in range(int(rng.integers(1, 4))):
        at = said
        while True:
            keys = list(at) if isinstance(at, dict) else list(range(len(at)))
            key = one(rng, keys)
            if not isinstance(at[key], dict | list) or not at[key] or happens(rng, 0.15):
                break
            at = at[key]
        value = any_value(rng)
        done.append(f"{key} = {short(value, most=60)}")
        at[key] = value
    try:
        text = yaml.safe_dump(said, allow_unicode=True)
    except (yaml.YAMLError, ValueError):  # half characters, or numbers too long to be written
        text = repr(said) if happens(rng, 0.1) else "title: [half"
    deep = one(rng, ((1, ""), (1, ""), (200, "["), (30_000, "["), (900, "- "), (3_000, "{a: ")))
    more = some(rng, (deep[0] * deep[1], "x: &a [*a]\n", "*sound", "\0", "x" * 200_000), 1)
    return ("".join(more) + text).encode("utf-8", "replace"), f"{', '.join(done)} {short(more, most=40)}"


_THINGS: Mapping[str, Callable[[Path], object]] = {
    "leads nowhere": lambda path: path.symlink_to("nowhere"),
    "leads round": lambda path: path.symlink_to(path),
    "leads to the sound one": lambda path: path.symlink_to("sound.yaml"),
    "a folder": lambda path: path.mkdir(exist_ok=True),
    "a pipe": os.mkfifo,
    "zeros without end": lambda path: path.symlink_to("/dev/zero"),
    "nothing": lambda path: path.touch(),
}
