"""A release from the request to its files: what is refused first, what is charged, what leaves."""

from __future__ import annotations

import csv
import io
import os
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dpviz.algorithms.size_estimates import Sizes
from dpviz.core.check import RequestError
from dpviz.releases import releasing
from dpviz.releases.account import Account, AccountExceeded, State
from dpviz.releases.package import CENTERS, LEDGER, NEEDED, make_zip
from dpviz.releases.release_reader import read_release
from dpviz.releases.release_request import hash_code
from dpviz.releases.releasing import Release, preflight, publish
from dpviz.releases.render import make_centers_table
from dpviz.releases.verifying import verify
from dpviz.runs.evaluation import assign
from dpviz.runs.profiles import Profile, ProfileColumn
from dpviz.tables.declarations import Declaration, apply_declaration
from dpviz.tables.named import open_file
from tests.releases.people import account_in, declare_people, order_for, ready_in
from tests.releases.pinned_noise import noise_of_a_seed


# All of them are released by the tests of bytes.
@pytest.mark.parametrize("algorithm", ["auto", "eugkm", "sulq"])
def test_a_release_charges_its_account_and_holds_every_file(tmp_path, algorithm):
    prepared = ready_in(tmp_path, algorithm=algorithm)
    release = publish(prepared)
    assert set(release.files) >= set(NEEDED)
    (entry,) = prepared.account.standing().entries
    assert entry.state is State.RELEASED and entry.charge.epsilon == 1.0
    assert entry.charge.delta == (0.0 if algorithm == "eugkm" else 1e-6)
    assert not release.played.run.seeded and release.played.run.hardened


def test_centres_lie_on_a_grid_no_coarser_than_half_their_noise(tmp_path):
    release = publish(ready_in(tmp_path))
    run = release.played.run
    rows = list(csv.reader(io.StringIO(release.files[CENTERS].decode())))
    beside = ["age_sd", "income_sd", "age_noise_sd", "income_noise_sd", "noisy_size", "noisy_size_sd"]
    assert rows[0] == ["segment", "age", "income", *beside] and len(rows) == 4
    written = np.array([[float(cell) for cell in row[1:3]] for row in rows[1:]])
    sd = np.median(run.frames[-1].step.center_noise_sd) * run.domain.scale
    assert (np.abs(written - run.centers) <= sd / 4 + 1e-12).all()
    assert all(len(row[1]) < 10 for row in rows[1:])


def test_the_ledger_of_the_zip_is_that_of_the_run(tmp_path):
    release = publish(ready_in(tmp_path))
    rows = list(csv.DictReader(io.StringIO(release.files[LEDGER].decode())))
    assert [row["scale"] for row in rows] == [f"{entry.scale:.9g}" for entry in release.played.run.entries]
    assert {row["part"] for row in rows} == {"algorithm"}


@pytest.mark.slow
def test_segments_are_a_part_of_their_own_and_described_columns_need_not_be_clustered(tmp_path):
    data, said = declare_people(tmp_path, describe={"town": {"categories": ["North", "South"]}})
    lines = data.read_text().splitlines()
    data.write_text("\n".join([f"{lines[0]},town", *(f"{line},North" for line in lines[1:])]) + "\n")
    # Noise is fresh in every release: at this ε none of it matters.
    release_request = order_for(said, epsilon=20.0, segments=0.3)
    release = publish(preflight(release_request, open_file(data), said, account_in(tmp_path, cap_epsilon=20.0)))
    rows = list(csv.DictReader(io.StringIO(release.files["segments.csv"].decode())))
    north = [float(row["value"]) for row in rows if row["statistic"] == "share of North"]
    assert len(north) == 3 and min(north) > 0.8
    sizes = [float(row["value"]) for row in rows if row["statistic"] == "size"]
    assert sum(sizes) == pytest.approx(900, abs=60)
    spent = {part: sum(entry.epsilon for entry in own) for part, own in release.played.parts.entries.items()}
    assert spent["segments"] == pytest.approx(6.0, rel=1e-9)
    assert release.played.run.epsilon == pytest.approx(14.0)


def test_a_second_press_is_a_second_charge(tmp_path):
    prepared = ready_in(tmp_path)
    one, other = publish(prepared), publish(prepared)
    assert prepared.account.standing().spent_epsilon == 2.0
    assert not np.array_equal(one.played.run.centers, other.played.run.centers)
    with pytest.raises(AccountExceeded):
        publish(prepared)


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"origins": {}}, "Nobody says where the bounds of"),
        ({"origins": {"age": "these rows (leaks!)", "income": "documentation"}}, "no ε covers"),
        ({"bounds_origin": "these rows (leaks!)"}, "no ε covers"),
        ({"release": {"intended_use": " "}}, "intended_use is empty"),
        ({"release": {"curators": []}}, "curators is empty"),
    ],
)
def test_what_could_not_be_defended_is_refused_before_a_charge(tmp_path, declared, words):
    with pytest.raises(RequestError, match=words):
        ready_in(tmp_path, declared=declared)
    assert Account.open(tmp_path / "people.sqlite").standing().entries == ()


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


def test_a_release_of_columns_of_every_kind_is_verified_tells_what_is_so_and_finds_segments(tmp_path):
    mixed = {
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
    data, said = declare_people(tmp_path, **mixed)
    data.write_text(visits(), encoding="utf-8")
    order = replace(order_for(said, epsilon=50.0, segments=0.3), missing=0.05)
    prepared = preflight(order, open_file(data), said, account_in(tmp_path, cap_epsilon=50.0))
    with noise_of_a_seed(1):
        release = publish(prepared)
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
    bounds = release.played.parts.declaration.bounds
    assert 0 < bounds["pay"].lower <= 100 and 10_000 <= bounds["pay"].upper <= 500_000
    assert table["pay"].tolist() == pytest.approx([100, 1000, 10_000], rel=0.1)
    factor = table["pay_sd"] / table["pay"]
    assert factor.tolist() == pytest.approx([factor.median()] * 3, rel=0.2)
    assert table["debt"].tolist() == pytest.approx([-400, 0, 2000], rel=0.2, abs=20)
    steps = release.played.parts.clustered.rounded.step[:, 1]
    assert steps.max() > 5 * steps.min(), "large amounts are rounded to a wider grid"
    read = read_release(make_zip(release.files)).to_pandas()
    pay = read[(read.column == "pay") & (read.statistic == "centre")].sort_values("value")
    assert (pay.high / pay.value).to_numpy() == pytest.approx((pay.value / pay.low).to_numpy(), rel=0.02)
    words = read[(read.column == "joined") & (read.statistic == "centre")].words
    assert sorted(word[:4] for word in words) == ["2015", "2018", "2021"], "a number of days is a day, too"
    assert {*read[(read.column == "stage") & (read.statistic == "centre")].words} == {"I", "II", "III"}
    medians = read[(read.column == "pay") & (read.statistic == "median")].sort_values("value")
    for truth, low, high in zip((100, 1000, 10_000), medians.low, medians.high, strict=True):
        assert low < 1.05 * truth and 0.95 * truth < high < 1.5 * low
    card = release.files["card.html"].decode()
    assert "on a log scale" in card and "brackets hold both ends" in card
    missing = read_csv_of(release.files["segments.csv"], "share of missing cells")
    assert missing["region"] == pytest.approx(1 / 6, abs=0.06) and missing["pay"] < 0.02


def read_csv_of(file: bytes, statistic: str) -> dict[str, float]:
    """What a file of segments says of each column of the whole table."""
    rows = csv.DictReader(io.StringIO(file.decode()))
    return {row["column"]: float(row["value"]) for row in rows if row["statistic"] == statistic and not row["segment"]}


@pytest.mark.parametrize("algorithm", ["gkm", "pgkm", "kvariates", "lsh-local", "k-noisy-centers", "kmeans++"])
def test_algorithms_without_exact_noise_say_why(tmp_path, algorithm):
    with pytest.raises(RequestError, match=r"cannot be released: .*; choose one of .*auto"):
        ready_in(tmp_path, algorithm=algorithm)


def test_a_seed_is_refused(tmp_path):
    with pytest.raises(RequestError, match="seed"):
        ready_in(tmp_path, seed=7)


def test_more_than_the_account_has_left_is_refused_before_a_row_is_asked(tmp_path):
    prepared = ready_in(tmp_path)
    large = replace(prepared.release_request, request=replace(prepared.release_request.request, epsilon=2.5))
    with pytest.raises(AccountExceeded):
        preflight(large, prepared.content, prepared.declaration, prepared.account)


def test_what_breaks_after_the_charge_stays_charged(tmp_path, monkeypatch):
    prepared = ready_in(tmp_path)

    def breaks(*given, **named):
        raise MemoryError

    monkeypatch.setattr(releasing, "draw", breaks)
    with pytest.raises(MemoryError):
        publish(prepared)
    (entry,) = prepared.account.standing().entries
    assert entry.state is State.FAILED and entry.why == "MemoryError"


KILLED = """
import signal, sys
from pathlib import Path
from dpviz.releases import releasing
from tests.releases.people import ready_in

def draw(*given, **named):
    print("charged", flush=True)
    signal.pause()

releasing.draw = draw
releasing.publish(ready_in(Path(sys.argv[1])))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_kill_9_between_the_charge_and_the_noise_leaves_a_charge_and_no_release(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"charged\n"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    standing = Account.open(tmp_path / "people.sqlite").standing()
    assert standing.spent_epsilon == 1.0 and standing.entries[0].state is State.CHARGED
    assert sorted(path.suffix for path in tmp_path.iterdir() if path.suffix in (".zip", ".npz")) == []


def test_nothing_that_releases_imports_looks_or_reveals():
    """Read from the syntax tree: what makes a release sees no truth."""
    import ast
    from pathlib import Path

    package = Path(releasing.__file__).parent
    for path in package.glob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not names & {"reveal", "compute_non_private"}, path.name
        looking = ("reveal", "data_access", "evaluation")
        assert not {name for name in modules if any(word in name for word in looking)}, path.name


def test_an_order_divides_its_epsilon_and_no_more(tmp_path):
    prepared = ready_in(tmp_path)
    for share in (0.0, 0.2, 0.37):
        release_request = replace(prepared.release_request, segments=share)
        parts = release_request.shares(prepared.declaration).values()
        assert sum(part.epsilon for part in parts) == pytest.approx(1.0, rel=1e-12)
        assert sum(part.delta for part in parts) == 1e-6
    assert order_for(prepared.declaration, algorithm="eugkm").delta == 0.0


def test_open_bounds_are_a_part_of_their_own(tmp_path):
    account = account_in(tmp_path)
    declaration = apply_declaration('{"bounds": {"age": [0, 100], "income": [null, null]}, "bounds_origin": "law"}')
    release_request = order_for(declaration)
    parts = release_request.shares(declaration)
    assert parts["bounds"].epsilon == pytest.approx(0.03) and parts["algorithm"].epsilon == pytest.approx(0.97)
    assert account.standing().entries == ()


def test_bounds_that_noise_would_hide_are_refused_before_a_charge(tmp_path):
    with pytest.raises(RequestError, match="rows, and there are 900"):
        ready_in(tmp_path, declared={"bounds": {"age": [0, 100], "income": [None, None]}, "origins": {"age": "law"}})
    assert Account.open(tmp_path / "people.sqlite").standing().entries == ()


@pytest.mark.parametrize("sizes", [None, [3.0, 4.0]])
def test_centres_are_listed_with_their_sizes_where_there_are_any(sizes):
    given = None if sizes is None else Sizes(np.array(sizes), np.array([0.5, 0.25]))
    columns = (ProfileColumn("age", 0, 9), ProfileColumn("age_sd", 0, 9))
    sd = np.array([[0.125, np.nan], [1 / 3, 2.0]])
    made = Profile(columns, np.array([[1.0, 2], [2.5, 3]]), sd, np.ones(2), given)
    text = make_centers_table(made, [["1.0", "2"], ["2.5", "3"]])
    beside = ["", "", ""] if sizes is None else [",noisy_size,noisy_size_sd", ",3,0.5", ",4,0.25"]
    assert text.split() == [
        f"segment,age,age_sd,age_sd_,age_sd_sd{beside[0]}",
        f"1,1.0,2,0.125,{beside[1]}",
        f"2,2.5,3,0.333333,2{beside[2]}",
    ]


def test_the_unit_of_privacy_is_known_before_a_table_is_opened():
    units = {None: "1 row", 1: "1 person, up to 1 row", 3: "1 person, up to 3 rows"}
    for most, unit in units.items():
        declared = Declaration(("age",), (0.0,), (1.0,), bounds_origin="law or physics")
        said = declared if most is None else replace(declared, id_column="who", rows_per_person=most)
        assert order_for(said).charge(said).unit == unit


def test_the_hash_of_the_code_follows_modules_doors_and_templates_and_nothing_else(tmp_path):
    def hash_now():
        hash_code.cache_clear()
        return hash_code(tmp_path)

    known = {hash_now()}
    for name in ("core/rows.py", "core/__init__.pyi", "words/templates/card.html.j2", "algorithms/cards.toml"):
        for text in ("", "x"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
            assert hash_now() not in known, name
            known.add(hash_now())
    (tmp_path / "core/rows.py").rename(tmp_path / "core/row.py")
    assert (last := hash_now()) not in known
    for name in ("core/rows.pyc", "core/words.yaml"):
        (tmp_path / name).write_text("x")
        assert hash_now() == last, name
    hash_code.cache_clear()
