"""Public files outlive a reload, by a word that nobody guesses; private ones, old ones and too many do not."""

from __future__ import annotations

from dataclasses import replace

from dpviz.app.ui.data.table_link import KeptFile, KeptFiles
from dpviz.tables.csv_intake import open_csv
from dpviz.tables.declarations import Declaration, FileKind

PUBLIC = Declaration(columns=("x",), lower=(0.0,), upper=(1.0,), kind=FileKind.PUBLIC)


def _file(size: int = 10) -> KeptFile:
    return KeptFile(open_csv(b"x" * size, name="table"), PUBLIC)


def test_a_public_file_is_found_by_its_word_alone() -> None:
    registry = KeptFiles()
    words = [registry.put(_file()) for _ in range(20)]
    assert len({*words}) == 20 and all(len(word or "") >= 20 for word in words)
    assert registry.find(words[0] or "") is not None and registry.find("") is None and registry.find("x") is None


def test_a_private_file_is_never_kept() -> None:
    registry = KeptFiles()
    assert registry.put(_file()._replace(declaration=replace(PUBLIC, kind=FileKind.PRIVATE))) is None


def test_the_same_word_holds_the_newest_declaration_until_it_is_forgotten() -> None:
    registry = KeptFiles()
    word = registry.put(_file())
    assert word is not None
    assert registry.put(_file()._replace(declaration=replace(PUBLIC, upper=(2.0,))), word) == word
    found = registry.find(word)
    assert found is not None and found.declaration.upper == (2.0,)
    registry.forget(word)
    assert registry.find(word) is None


def test_there_is_room_for_so_much_and_time_for_so_long() -> None:
    now = [0.0]
    registry = KeptFiles(most_bytes=25, most_seconds=60, clock=lambda: now[0])
    assert registry.put(_file(26)) is None
    first, second, third = (registry.put(_file()) or "" for _ in range(3))
    assert registry.find(first) is None and registry.find(second) is not None
    now[0] = 30.0
    registry.put(_file(), second)
    now[0] = 80.0
    assert registry.find(third) is None and registry.find(second) is not None
