"""Every file of the releases whose bytes are proved not to depend on rows."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from dpviz.releases.render import render
from dpviz.releases.transcript import read_transcript
from tests.proof.kept import Item, compare
from tests.releases.people import unrehearsed
from tests.releases.pinned_noise import PINNED, noise_of_its_truth
from tests.releases.test_release_bytes import CASES, KINDS, pressed, write_rows


def release(folder: Path, algorithm: str = "auto", kind: str = "all parts") -> Mapping[str, bytes]:
    """The files of a release of which nothing is drawn by chance, as it would leave any machine on one day."""
    declared, shares = KINDS[kind]
    data = write_rows(folder, "rows", 0, 900)
    with noise_of_its_truth(), unrehearsed():
        made = pressed(folder / "made", data, {**declared, "title": "Visitors"}, algorithm, shares).files
    whole = read_transcript(made["transcript.npz"]).whole
    account = {**whole.asked["account"], "sha256": "b" * 64, "previous_sha256": "a" * 64}  # of the version, too
    return render(replace(whole, asked={**whole.asked, **PINNED, "account": account}))


def list_files(folder: Path) -> Iterator[Item]:
    for algorithm, kind in CASES:
        (own := folder / f"{algorithm}-{kind}").mkdir()
        for name, data in release(own, algorithm, kind).items():
            yield f"{algorithm}, {kind}: {name}", data


def test_files_of_releases_are_what_they_were(tmp_path: Path) -> None:
    compare("releases", list_files(tmp_path))
