"""A release from the request to its files: what is refused first, what is charged, what leaves."""

import ast
import csv
import io
import os
import stat
import subprocess
import sys
from dataclasses import replace
from math import pi, sqrt
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

import numpy as np
import pandas as pd
import pytest
import yaml

from dpviz.core.accounting import Accounting
from dpviz.core.check import RequestError
from dpviz.core.exact_noise import ExactNoise, WholeTruth
from dpviz.releases import playing, releasing
from dpviz.releases.account import Account, AccountExceeded, State, Taken
from dpviz.releases.package import CARD, CENTERS, Finding, make_zip
from dpviz.releases.playing import play
from dpviz.releases.publishing import PublishJob, keep_copy
from dpviz.releases.release_request import hash_code
from dpviz.releases.releasing import Release, draw, make_transcript, preflight, publish, refuse_unpaid
from dpviz.releases.verifying import verify
from dpviz.runs.evaluation import assign
from dpviz.runs.jobs import JobState
from dpviz.runs.request import Division
from dpviz.tables.csv_intake import CsvOnDisk
from dpviz.tables.named import open_file
from tests import waiting
from tests.cases import about
from tests.releases.charges import a_charge
from tests.releases.people import account_in, declare_people, order_for, ready_in, unrehearsed
from tests.releases.pinned_noise import noise_of_a_seed


def test_a_second_press_is_a_second_charge(tmp_path):
    prepared = ready_in(tmp_path)
    with unrehearsed():
        one, other = publish(prepared), publish(prepared)
    entries = prepared.account.standing().entries
    assert [(entry.state, entry.charge.epsilon, entry.charge.delta) for entry in entries] == [("released", 1, 1e-6)] * 2
    assert not np.array_equal(one.played.run.centers, other.played.run.centers)
    with pytest.raises(AccountExceeded):
        publish(prepared)


def visits() -> str:
    """Three groups of visitors, with cells that were not declared, written oddly, or left empty."""
    rng, lines = np.random.default_rng(4), ["age,region,sex,stage,joined,hour,pay,debt"]
    for i in range(900):
        g = i % 3
        region = rng.choice([["Su\u0308d", " Süd "], ["7", "7.0"], ["N", "elsewhere", "NA", ""]][g])
        sex, stage = rng.choice(["F", "M"]), ["I", "II", "III"][g]
        day = f"{1 + i % 28:02}.{1 + i % 12}.20{15 + 3 * g}"
        hour, pay = (8 * g + rng.normal()) % 24, 100 * 10**g * np.exp(0.3 * rng.normal())
        debt = [-400, 0, 2000][g] + 10 * rng.normal()
        lines.append(f"{20 + 25 * g + rng.normal():.2f},{region},{sex},{stage},{day},{hour:.3f},{pay:.2f},{debt:.2f}")
    odd = ((2, "x"), (3, "IV"), (4, "31.02.2016"), (5, ""), (0, "NA"), (4, "2016-01-01"), (6, "-20"), (6, "1e9"))
    for row, (column, cell) in enumerate(odd, start=5):
        cells = lines[row].split(",")
        cells[column] = cell
        lines[row] = ",".join(cells)
    return "\n".join(lines) + "\n"


MIXED = {
    "n_public": None,
    "units": {"pay": "€"},
    "bounds": {
        "age": [0, 100],
        "pay": {"bounds": [None, None], "scale": "log"},
        "region": {"categories": ["Süd", "7", "N"]},
        "sex": {"categories": ["F", "M"], "closed": True},
        "stage": {"order": ["I", "II", "III"]},
        "joined": {"dates": ["2015-01-01", "2024-12-31"], "written": "dmy"},
        "hour": {"cycle": 24},
        "debt": {"bounds": [-10_000, 10_000], "scale": "root"},
    },
    "origins": {},
    "bounds_origin": "documentation",
    "weights": {"region": 4.0},
}


def test_a_release_of_columns_of_every_kind_is_verified_tells_what_is_so_and_finds_segments(tmp_path):
    data, said = declare_people(tmp_path, **MIXED)
    data.write_text(visits(), encoding="utf-8")
    order = replace(order_for(said, epsilon=50.0), division=Division(0.3, missing=0.05))
    prepared = preflight(order, open_file(data), said, account_in(tmp_path, cap_epsilon=50.0))
    with unrehearsed(), noise_of_a_seed(1):
        release = publish(prepared)
    (charged,) = prepared.account.standing().entries
    assert charged.charge.columns == tuple(MIXED["bounds"]) and charged.charge.lower[:2] == (0, None), "bought, too"
    rows = list(csv.reader(io.StringIO(release.files[CENTERS].decode())))
    assert rows[0][1:7] == ["age", "pay", "region = Süd", "region = 7", "region = N", "region = (any other)"]
    shares = np.array([[float(cell) for cell in row[3:8]] for row in rows[1:]])
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=0.05)
    assert (shares >= 0).all() and "documentation; weight 4" in release.files["card.html"].decode()
    assert verify(make_zip(release.files)).holds
    _check_amounts(release)

    (tmp_path / "assign.py").write_bytes(release.files["assign.py"])
    command = [sys.executable, "-I", "-W", "error", "assign.py", "people.csv", "out.csv"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    found = [row["segment"] for row in csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text()))]
    domain, rounded = release.played.run.domain, release.played.parts.clustered.rounded
    numbers, text = ["age", "hour", "pay", "debt"], ["region", "sex", "stage", "joined"]
    loaded = open_file(tmp_path / "people.csv").read(numbers=numbers, text=text)
    values = loaded.encode_columns(domain.names, prepared.declaration.coded)
    whole = np.isfinite(values).all(axis=1)
    assert 0 < (~whole).sum() < 50
    points = domain.region.rows(domain.to_unit(domain.limit(values[whole])))
    ours = np.full(len(values), "", dtype=object)
    ours[whole] = assign(points, domain.to_unit_coordinates(rounded.centers)) + 1
    assert found == [str(one) for one in ours]


def _check_amounts(release: Release) -> None:
    """Money on a log scale in its own units wherever a release tells it: bought bounds, centres, noise, quartiles."""
    table = pd.read_csv(io.BytesIO(release.files[CENTERS])).sort_values("age")
    pay = release.played.parts.declaration.bounds["pay"]
    assert 0 < pay.lower <= 100 and 10_000 <= pay.upper <= 500_000
    assert table["pay"].tolist() == pytest.approx([100, 1000, 10_000], rel=0.1)
    factor = table["pay_sd"] / table["pay"]
    assert factor.tolist() == pytest.approx([factor.median()] * 3, rel=0.2)
    assert table["debt"].tolist() == pytest.approx([-400, 0, 2000], rel=0.2, abs=20)
    steps = release.played.parts.clustered.rounded.step[:, 1]
    assert steps.max() > 5 * steps.min(), "large amounts are rounded to a wider grid"
    told = pd.read_csv(io.BytesIO(release.files["segments.csv"]))
    missing = told[(told.statistic == "share of missing cells") & told.segment.isna()].set_index("column").value
    assert float(missing["region"]) == pytest.approx(1 / 6, abs=0.06) and float(missing["pay"]) < 0.02


def test_what_breaks_after_the_charge_stays_charged(tmp_path, monkeypatch):
    prepared = ready_in(tmp_path)
    monkeypatch.setattr(releasing, "draw", Mock(side_effect=MemoryError))
    with pytest.raises(MemoryError):
        publish(prepared)
    (entry,) = prepared.account.standing().entries
    assert entry.state is State.FAILED and entry.why == "MemoryError"


def test_nothing_that_releases_imports_looks_or_reveals():
    """Read from the syntax tree: what makes a release sees no truth."""
    package = Path(releasing.__file__).parent
    for path in package.glob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not names & {"reveal", "compute_non_private"}, path.name
        looking = ("reveal", "data_access", "evaluation")
        assert not {name for name in modules if any(word in name for word in looking)}, path.name


def test_the_hash_of_the_code_follows_modules_doors_and_templates_and_nothing_else(tmp_path):
    def hash_now():
        hash_code.cache_clear()
        return hash_code(tmp_path)

    known = {hash_now()}
    for name in ("core/rows.py", "core/__init__.pyi", "words/templates/card.html.j2", "algorithms/cards.toml"):
        for text in ("", "x"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
            known.add(hash_now())
    (tmp_path / "core/rows.py").rename(tmp_path / "core/row.py")
    known.add(last := hash_now())
    assert len(known) == 1 + 4 * 2 + 1
    for name in ("core/rows.pyc", "core/words.yaml"):
        (tmp_path / name).write_text("x")
        assert hash_now() == last, name
    hash_code.cache_clear()


# Whatever stands against a release is said before the account is charged; the card says how the account stood then.


TOWN = {"town": {"categories": ["North", "South"]}}
OPEN = {"bounds": {"age": [0, 100], "income": [None, None]}, "origins": {"age": "law"}}
BOUGHT = {**OPEN, "n_public": None, "bounds_origin": "law", "origins": {}}
INEXACT = ("gkm", "pgkm", "kvariates", "lsh-local", "k-noisy-centers", "kmeans++")
# What is declared, what is asked, and why nothing is charged.
REFUSED: tuple[tuple[dict[str, Any], dict[str, Any], str], ...] = (
    ({"origins": {}}, {}, "Nobody says where the bounds of"),
    ({"origins": {"age": "these rows (leaks!)", "income": "documentation"}}, {}, "no ε covers"),
    ({"bounds_origin": "these rows (leaks!)"}, {}, "no ε covers"),
    ({"release": {"intended_use": " "}}, {}, "intended_use is empty"),
    ({"release": {"curators": []}}, {}, "curators is empty"),
    (OPEN, {}, "rows, and there are 900"),
    ({"describe": TOWN, "n_public": None}, {"segments": 0.2}, "town"),
    ({"describe": TOWN, **BOUGHT}, {"segments": 0.2}, "town"),
    ({"id_column": "who", **BOUGHT}, {}, "who"),
    *(({}, {"algorithm": name}, r"cannot be released: .*; choose one of .*auto") for name in INEXACT),
    ({}, {"seed": 7}, "seed"),
    ({}, {"epsilon": 2.5}, r"asks for ε = 2\.5, and 2 of 2 is left .* ask for at most ε = 2\."),
    ({}, {"chosen_after_looking": "k \udcff"}, "half a character"),
)


def test_what_stands_against_a_release_is_said_and_nothing_is_charged(tmp_path):
    for place, (declared, asked, words) in enumerate(REFUSED):
        (folder := tmp_path / str(place)).mkdir()
        with about(declared, asked), pytest.raises(RequestError, match=words):
            publish(ready_in(folder, declared=declared, **asked))
        assert Account.open(folder / "people.sqlite").standing().entries == ()


def test_a_described_column_of_a_file_beyond_memory_is_refused(tmp_path):
    data, said = declare_people(tmp_path, describe=TOWN)
    head, *lines = data.read_text().splitlines()
    data.write_text("\n".join([f"{head},town", *(f"{line},North" for line in lines)]) + "\n")
    account = account_in(tmp_path)
    with pytest.raises(RequestError, match="would be described"):
        preflight(order_for(said, segments=0.2), CsvOnDisk(data), said, account)
    assert account.standing().entries == ()
    with unrehearsed():
        release = publish(preflight(order_for(said), CsvOnDisk(data), said, account))
    assert release.number == 1, "nothing is described where segments get nothing"


def test_noise_that_cannot_be_drawn_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("dpviz.core.exact_noise.MOST_GAUSSIAN", 5)
    prepared = ready_in(tmp_path, algorithm="dplloyd:preset=gaussian")
    with pytest.raises(RequestError, match="draws Gaussian noise on at most"):
        publish(prepared)
    assert prepared.account.standing().entries == ()


@pytest.mark.parametrize("declared", [{}, {"n_public": None}, {"n_public": None, "relation": "replace"}])
def test_a_rehearsal_reads_no_row(tmp_path, monkeypatch, declared):
    prepared = ready_in(tmp_path, declared=declared, segments=0.2)

    class NoRows:
        """Stands where rows would be: its public number is all that may be asked."""

        n_public = prepared.table.private.n_public

    releasing.rehearse(replace(prepared, content=None, table=NoRows()))


def test_a_card_tells_how_the_account_stood_at_its_own_charge(tmp_path):
    prepared = ready_in(tmp_path)
    account, order = prepared.account, prepared.release_request
    account.charge(replace(a_charge(0.25), unit="1 row"))  # another program, after the check
    publish(replace(prepared, release_request=replace(order, request=replace(order.request, epsilon=0.5))))
    second = publish(prepared)
    said = yaml.safe_load(second.files[CARD])["deployment"]["deployment_model"]["release_type_details"]
    assert "Before this release ε = 0.75" in said and "after it ε = 1.75" in said
    assert account.standing().spent_epsilon == 1.75


def test_a_release_that_nobody_could_check_in_bounded_time_is_refused(tmp_path):
    _, said = declare_people(tmp_path, n_public=None)
    release_request = order_for(said)
    large = replace(release_request, request=replace(release_request.request, k=10_000))
    large.check(said)
    names = tuple(f"c{place}" for place in range(3))
    wide = replace(said, columns=names, lower=(0.0,) * 3, upper=(1.0,) * 3, origins=("documentation",) * 3)
    with pytest.raises(RequestError, match="ask for at most 9459 clusters"):
        large.check(wide)


def test_files_that_cannot_be_made_are_found_before_the_charge(tmp_path, monkeypatch):
    monkeypatch.setattr("dpviz.releases.render.write_assign_script", Mock(side_effect=ZeroDivisionError))
    prepared = ready_in(tmp_path)
    with pytest.raises(ZeroDivisionError):
        publish(prepared)
    assert prepared.account.standing().entries == ()


def test_the_last_guard_lets_nothing_leave_that_was_not_charged_or_not_drawn(tmp_path):
    prepared = ready_in(tmp_path, algorithm="dplloyd:preset=gaussian", segments=0.2)
    charge = prepared.charge
    drawn, other = draw(prepared), draw(prepared)
    played = play(make_transcript(prepared, Taken.rehearse(prepared.before, charge), drawn))
    refuse_unpaid(drawn.parts, played, charge)
    for less, words in (({"epsilon": 0.9}, "more ε than the account was charged"), ({"delta": 0.0}, "more δ than")):
        with pytest.raises(RequestError, match=words):
            refuse_unpaid(drawn.parts, played, replace(charge, **less))
    told = drawn.parts.told._replace(report=other.parts.told.report)
    for part in ({"clustered": other.parts.clustered}, {"told": told}):  # centres alone, then segments alone
        mixed = replace(drawn.parts, **part)
        assert mixed.entries == drawn.parts.entries
        with pytest.raises(RequestError, match="comes to something else"):
            refuse_unpaid(mixed, played, charge)


def test_a_part_that_adds_up_its_own_ledger_wrongly_is_found_by_the_library_that_adds_up_apart(tmp_path, monkeypatch):
    prepared = ready_in(tmp_path, algorithm="dplloyd", segments=0.2)
    parts, shares = draw(prepared).parts, prepared.shares
    halved = {name: share._replace(epsilon=share.epsilon / 2) for name, share in shares.items()}
    monkeypatch.setattr(playing, "compute_total_epsilon", lambda *_, **__: 0.0)
    assert playing.describe_overspending(parts, shares, epsilon=1.0, delta=1e-6) == ()
    found = playing.describe_overspending(parts, halved, epsilon=1.0, delta=1e-6)
    assert [words.split()[2] for words in found] == ["algorithm", "segments"]


# A press in a thread of its own: once, to its end, with a copy beside the account; and what it says when it fails.


def pressed(prepared) -> tuple[PublishJob, list[Exception]]:
    """A press to its end, whoever would cancel it: it is paid for."""
    defects: list[Exception] = []
    pressing = PublishJob(prepared, on_defect=defects.append)
    pressing.cancel()
    assert pressing.wait(waiting.SECONDS)
    return pressing, defects


def test_a_defect_keeps_its_words_to_itself_and_the_charge_stays(tmp_path, monkeypatch):
    monkeypatch.setattr("dpviz.releases.releasing.draw", Mock(side_effect=ValueError("row 17")))
    prepared = ready_in(tmp_path)
    pressing, defects = pressed(prepared)
    assert (pressing.state, pressing.number, pressing.progress.done) == (JobState.FAILED, 1, 0)
    assert (pressing.error.kind, pressing.error.message) == ("ValueError", "")
    assert [str(error) for error in defects] == ["row 17"]
    assert prepared.account.standing().entries[0].state is State.FAILED


def test_a_release_leaves_even_where_neither_the_copy_nor_the_account_can_be_written_any_more(tmp_path, monkeypatch):
    full, locked = OSError(28, "No space left on device"), RequestError("the account is locked")
    monkeypatch.setattr("dpviz.releases.publishing.keep_copy", Mock(side_effect=full))
    monkeypatch.setattr(Account, "note_released", Mock(side_effect=locked))
    prepared = ready_in(tmp_path)
    pressing, defects = pressed(prepared)
    assert (pressing.state, pressing.kept, defects) == (JobState.DONE, "", [])
    assert verify(make_zip(pressing.release.files)).holds
    assert prepared.account.standing().entries[0].state is State.CHARGED


@pytest.mark.parametrize(("check", "charged"), [(1, 0), (2, 1)])
def test_what_would_not_pass_a_check_does_not_leave(tmp_path, monkeypatch, check, charged):
    def fails(data):
        given.append(data)
        wrong = (Finding(CARD, "it is another."),) if len(given) == check else ()
        return replace(verify(data), findings=wrong)

    given: list[bytes] = []
    monkeypatch.setattr("dpviz.releases.releasing.verify", fails)
    prepared = ready_in(tmp_path)
    pressing, defects = pressed(prepared)
    assert (pressing.state, pressing.release, defects) == (JobState.FAILED, None, [])
    assert "card.yaml would not pass a check" in pressing.error.message and "defect of dpviz" in pressing.error.message
    assert [entry.state for entry in prepared.account.standing().entries] == [State.FAILED] * charged
    assert not list(tmp_path.glob("*.zip"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    with unrehearsed():
        return publish(ready_in(tmp_path_factory.mktemp("made")))


@pytest.mark.parametrize("links", [True, False])
def test_a_copy_has_its_name_as_soon_as_it_is_whole_and_never_takes_the_place_of_another_file(
    tmp_path, monkeypatch, made, links
):
    if not links:  # as on some disks
        monkeypatch.setattr(Path, "hardlink_to", Mock(side_effect=PermissionError(1, "Operation not permitted")))
    kept, named, to_disk, account = tmp_path / "people-release-1.zip", [], os.fsync, account_in(tmp_path)

    def looks_on(descriptor):
        to_disk(descriptor)
        named.append(kept.exists())

    monkeypatch.setattr("dpviz.runs.owner_files.os.fsync", looks_on)
    assert keep_copy(account, made) == kept.name and named == [False]
    assert kept.read_bytes() == make_zip(made.files) and stat.S_IMODE(kept.stat().st_mode) == 0o600
    kept.write_text("mine")
    with pytest.raises(FileExistsError):
        keep_copy(account, made)
    assert kept.read_text() == "mine" and not list(tmp_path.glob(".dpviz-*"))


# What a release adds to the truth is as wide as its ledger says, draw by draw: not only what it was bought as.


# The mean of |noise| in noise scales, and of how many draws in standard deviations it may be away from that.
_USUAL, _AWAY = {"laplace": 1.0, "gaussian": sqrt(2 / pi)}, 5.0
# Draws that tell half the noise from all of it.
_ENOUGH = 200


class Watched(ExactNoise):
    """Noise that also keeps what was added, answer by answer; None where nothing was added to numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.added_noise: list[Any] = []

    def answer(self, mechanism: Any, truth: WholeTruth, accounting: Accounting) -> Any:
        released = super().answer(mechanism, truth, accounting)
        is_sum = isinstance(truth.total, np.ndarray) and np.shape(released) == np.shape(truth.total)
        self.added_noise.append(released - truth.total * truth.quantum if is_sum else None)
        return released


@pytest.mark.parametrize("algorithm", ["eugkm", "dplloyd:preset=gaussian", "auto"])
def test_noise_is_as_wide_as_the_ledger_says(tmp_path, algorithm: str) -> None:
    prepared = ready_in(tmp_path, algorithm=algorithm, segments=0.3)
    watched: dict[str, Watched] = {}
    scaled: dict[str, list[float]] = {}

    def fresh_noise(parts) -> dict[str, Watched]:
        watched.update({part: Watched() for part in parts})
        return watched

    while not scaled or min(map(len, scaled.values())) < _ENOUGH:
        with patch.object(releasing, "make_fresh_noise", fresh_noise):
            drawn = draw(prepared)
        for part, entries in drawn.parts.entries.items():
            for entry, noise in zip(entries, watched[part].added_noise, strict=True):
                if noise is not None:
                    scaled.setdefault(entry.mechanism, []).extend(np.abs(noise).ravel() / entry.scale)
    for mechanism, found in scaled.items():
        usual = _USUAL[mechanism]
        assert abs(np.mean(found) - usual) < _AWAY * usual / sqrt(len(found)), (mechanism, len(found))
