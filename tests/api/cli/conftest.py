"""Releases for commands that read one: a good one, a forged one, and a zip that is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpviz.releases.package import CENTERS, make_zip
from tests.releases.forging import rehashed, released


@pytest.fixture(scope="session")
def zips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("zips")
    forged = rehashed({**released(), CENTERS: released()[CENTERS].replace(b"1", b"2")})
    for name, files in (("good", released()), ("forged", forged), ("none", {"a.txt": b"a"})):
        (folder / f"{name}.zip").write_bytes(make_zip(files))
    return folder
