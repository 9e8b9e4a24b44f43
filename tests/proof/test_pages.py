"""All that each page says, as it opens and after a run: texts, labels, tooltips, options, tables, what charts draw."""

import gzip
import re
from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app.ui.release.read_page import share_example
from dpviz.releases.package import make_zip
from dpviz.releases.release_reader import read_release
from tests.pages.tables import app_on, computed, sound
from tests.pages.test_lessons import LESSONS, opened, walked
from tests.pages.test_sweep import traded
from tests.pages.test_words import PAGES
from tests.proof.kept import Item, compare, without_day
from tests.proof.test_releases import release

# Of what is sent to the browser, that which somebody reads, and what charts and the player are given.
SAID = ("label", "body", "title", "help", "placeholder", "options", "content", "text", "alt", "columns", "spec", "json")
ZIPPED = re.compile('"(H4sI[A-Za-z0-9+/=]+)"')


class SameSeed(np.random.SeedSequence):
    """Noise that is asked for without a seed has this one."""

    def __init__(self, entropy: Any = None, **more: Any) -> None:
        super().__init__(0 if entropy is None else entropy, **more)


def list_pages(folder: Path) -> Iterator[tuple[str, AppTest]]:
    for name, make in PAGES.items():
        yield name, make()
    yield "a sweep that ran", computed(traded(repeats=1), "sweep")
    for name in ("learn", "playground"):
        yield name, app_on(f"{name}.py", None)
    for lesson in LESSONS.values():
        yield f"lesson {lesson.id}", opened(lesson.id)
        if lesson.id != "asking-twice":  # runs for as long as all others together
            yield from ((f"lesson {lesson.id}, scene {place}", app) for place, app in walked(opened(lesson.id), lesson))
    zipped = make_zip(release(folder))
    share_example()[:] = [read_release(zipped)]
    read = app_on("read.py", None)
    yield "read", read
    read.file_uploader(key="read:one").upload("release.zip", zipped)
    yield "read a release", sound(read.run())


def list_texts(folder: Path) -> Iterator[Item]:
    """An item for each kind of element of a page, and one for the order in which they stand."""
    for page, app in list_pages(folder):
        texts: dict[str, list[str]] = defaultdict(list)
        for part in (app.main, app.sidebar):
            for element in list_elements(part):
                said = list(dict.fromkeys([*list_said(element.proto), *list_values(element)]))
                if said:
                    texts["order"].append(element.type)
                    texts[element.type] += [*said, ""]
        for kind, said in texts.items():
            yield f"{page}: {kind}", without_day("\n".join(said))


def list_elements(block: Any) -> Iterator[Any]:
    for element in block.children.values():
        if getattr(element, "proto", None) is not None:
            yield element
        if hasattr(element, "children"):
            yield from list_elements(element)


def list_said(message: Any) -> Iterator[str]:
    for field, value in message.ListFields():
        for one in value if field.is_repeated else [value]:
            if hasattr(one, "ListFields"):
                yield from list_said(one)
            elif isinstance(one, str) and field.name in SAID:
                # Unzipped, as libraries zip the same text to other bytes.
                yield ZIPPED.sub(lambda found: gzip.decompress(b64decode(found[1])).decode(), one)


def list_values(element: Any) -> Iterator[str]:
    """What stands in a field or a table, and which image is shown."""
    if element.type == "image":
        yield from (image.url for image in element.proto.imgs)
    value = getattr(element, "value", None)
    if isinstance(value, pd.DataFrame):
        yield value.to_csv()
    elif isinstance(value, int | float | str | list | tuple):
        yield str(value)


def test_what_pages_say_is_what_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np.random, "SeedSequence", SameSeed)
    compare("pages", list_texts(tmp_path))
