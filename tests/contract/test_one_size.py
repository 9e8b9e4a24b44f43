"""One size, one error: whatever prints a released number prints the same value and the same half-width of it.

A fact is the size of a segment, or what its centre says of a column. What is due follows from the full numbers in
``centers.csv``; every other file, page and print of the same release is searched for whatever stands before and behind
a ±.
"""

import csv
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from math import hypot, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.releases.release_reader import read_release
from dpviz.releases.releasing import Release
from dpviz.words import NINE_IN_TEN, PLUS_MINUS_RELEASED, format_noisy, format_reach
from tests import waiting
from tests.command_line import told_by
from tests.pages.components import _visits_are_cheap
from tests.pages.tables import PromptRegistry, UnderWayRegistry, app_on, sound, text_of
from tests.releases.people import unrehearsed

__all__ = ["_visits_are_cheap"]

ROWS, K, EPSILON = 1_500, 3, 3.0
# What a number that is printed with six digits may have been, in parts of it.
SIX_DIGITS = (1 - 5e-6, 1 + 5e-6)
LABEL = "South"
NUMBER = r"−?\d(?:[\d,]*\d)?(?:\.\d+)?"
PAIR = re.compile(rf"({NUMBER}) ± ({NUMBER})( %)?")
BOUNDS: dict[str, Any] = {
    "age": [0, 100],
    "income": [0, 90_000],
    "pay": {"bounds": [10, 100_000], "scale": "log"},
    "joined": {"dates": ["2015-01-01", "2024-12-31"]},
    "town": {"categories": ["North", "South"]},
}
TWO = {name: BOUNDS[name] for name in ("age", "income")}
DOCUMENTS = ("card.html", "dossier.html", "card.yaml", "VERIFY.txt")
# What is declared of each kind of release, and what is asked of the command line.
KINDS: dict[str, tuple[dict[str, Any], tuple[object, ...]]] = {
    "two columns of numbers": ({"bounds": TWO, "n_public": ROWS}, ("--segments", 0)),
    "number of rows and bounds bought": ({"bounds": {**BOUNDS, "income": [None, None]}}, ("--segments", 0.3)),
}


def spell_out(value: float, reach: float, factor: int = 1, **how: Any) -> set[str]:
    """Its texts: two where the digits of a standard deviation do not tell which way its ± is rounded."""
    return {format_noisy(factor * value, factor * reach * end, **how) for end in SIX_DIGITS}


class Told(NamedTuple):
    """The files of a release, and whatever shows it, as texts by the name of what shows it."""

    files: Mapping[str, bytes]
    texts: Mapping[str, str]
    numbers: tuple[dict[str, Any], ...]

    @property
    def centers(self) -> list[dict[str, str]]:
        return list(csv.DictReader(self.files["centers.csv"].decode().splitlines()))

    def find_due(self) -> Iterator[tuple[str, float, float]]:
        """Of each fact its name, the value and the half-width, from full numbers."""
        for row in self.centers:
            for name in row:
                if f"{name}_sd" in row:
                    yield f"{name} of {row['segment']}", float(row[name]), NINE_IN_TEN * float(row[f"{name}_sd"])

    def find_sizes(self) -> list[tuple[float, float]]:
        return [(value, reach) for name, value, reach in self.find_due() if name.startswith("noisy_size")]

    def find_due_texts(self) -> set[str]:
        """Everything that may stand around a ±: sizes, their sum, coordinates, and shares in percent."""
        due, written = set(), [(f"{name} of {row['segment']}", row[name]) for row in self.centers for name in row]
        steps = {name: 10.0 ** -len(said.partition(".")[2]) for name, said in written}  # no text has more digits
        for name, value, reach in self.find_due():
            due |= spell_out(value, reach, step=steps[name])
            due |= {f"{text} %" for text in spell_out(value, reach, 100, step=100 * steps[name])}
        sizes = self.find_sizes()
        total, whole = sum(value for value, _ in sizes), sqrt(sum(reach**2 for _, reach in sizes))
        due |= spell_out(total, whole, whole=True)
        for row in csv.DictReader(self.files["ledger.csv"].decode().splitlines()):
            if row["note"] == "number of rows":  # as it is bought
                (number,) = {*re.findall(rf"number of rows, ({NUMBER}) ±", self.files["card.html"].decode())}
                sd = float(row["scale"]) * (sqrt(2) if row["mechanism"] == "laplace" else 1)
                n, reach = float(number.replace(",", "")), NINE_IN_TEN * sd
                due |= spell_out(n, reach, whole=True) | spell_out(n - total, hypot(reach, whole), whole=True)
        return due


def list_strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from list_strings(one)
    elif isinstance(value, str):
        yield value


def read_page(app: AppTest) -> str:
    """All words of a page, those in its pictures too, without markup."""
    charts = [chart.proto for chart in app.get("plotly_chart")]
    words = [text_of(app), *(chart.alt for chart in charts)]
    words += [text for chart in charts for text in list_strings(json.loads(chart.spec))]
    words += [cell for table in app.dataframe for cell in table.value.to_numpy().ravel() if "±" in str(cell)]
    return strip_markup("\n".join(words))


def strip_markup(text: str) -> str:
    return re.sub(r"<[^>]+>", " ", re.sub(r"<(style|title)>.*?</\1>", "", text, flags=re.DOTALL))


def draw_released() -> None:
    """What the page Release shows of what has left."""
    import streamlit as st

    from dpviz.app.ui.release import released_panel

    released_panel._draw_tables(st.session_state["released"])


def show_released(data: bytes, files: Mapping[str, bytes]) -> AppTest:
    app = AppTest.from_function(draw_released, default_timeout=waiting.SECONDS)
    app.session_state["released"] = Release(1, files, read_release(data).played, data)
    return sound(app.run())


def show_read(data: bytes) -> AppTest:
    app = app_on("read.py", None, registry=UnderWayRegistry())  # whose example is not waited for
    app.session_state["job_panel:registry"] = PromptRegistry()
    app.file_uploader(key="read:one").upload("release.zip", data)
    return sound(app.run())


def write_rows(folder: Path) -> Path:
    rng, place = np.random.default_rng(5), np.arange(ROWS) % K
    lines = ["age,income,pay,joined,town"]
    days = np.datetime64("2015-01-01") + (np.array([283, 1_500, 2_900])[place] + rng.integers(-30, 30, ROWS))
    age, income = np.array([20, 45, 75])[place], np.array([15_000, 60_000, 30_000])[place]
    pay = np.array([100, 1_000, 10_000])[place] * np.exp(rng.normal(0, 0.2, ROWS))
    told = zip(age + rng.normal(0, 3, ROWS), income + rng.normal(0, 3_000, ROWS), pay, days, place, strict=True)
    lines += [f"{a:.1f},{i:.0f},{p:.2f},{day},{'South' if at == 1 else 'North'}" for a, i, p, day, at in told]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")
    return folder / "rows.csv"


@pytest.fixture(scope="module", params=list(KINDS))
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Told:
    said, options = KINDS[request.param]
    folder = tmp_path_factory.mktemp("release")
    rows, out, account, tidy = (folder / name for name in ("rows.csv", "out.zip", "people.sqlite", "tidy.csv"))
    write_rows(folder)
    told_by("account", "new", account, "--name", "people", "--cap-epsilon", 9, "--cap-delta", 1e-5)
    origins = dict.fromkeys((name for name, ends in said["bounds"].items() if ends != [None, None]), "documentation")
    (folder / "rows.json").write_text(json.dumps({"title": "People", "origins": origins, **said}))
    asked = ("--k", K, "--epsilon", EPSILON, "--delta", 1e-6, *options, "--account", account, "--out", out, "--yes")
    with unrehearsed():
        pressed = told_by("release", folder / "rows.json", rows, *asked)
    assert pressed.code == 0, pressed.err
    with zipfile.ZipFile(out) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    read = told_by("read", out, "--out", tidy)
    data = out.read_bytes()
    texts = {
        **{"release in the shell": pressed.out, "read in the shell": read.out},
        **{"verify in the shell": told_by("verify", out).out},
        **{name: strip_markup(files[name].decode()) for name in DOCUMENTS},
        **{"page Release": read_page(show_released(data, files)), "page Read": read_page(show_read(data))},
    }
    return Told(files, texts, tuple(told_by("read", out, "--json").json["numbers"]))


def test_every_text_has_one_value_and_one_half_width_of_a_fact(told: Told) -> None:
    due = told.find_due_texts()
    for name, text in told.texts.items():
        found = {"".join((value, " ± ", reach, percent)) for value, reach, percent in PAIR.findall(text)}
        # A number of a date ends where the next begins: its ± is of days.
        found = {pair for pair in found if not re.search(rf"-{re.escape(pair)}", text)}
        assert found <= due, (name, sorted(found - due))
    sizes = told.find_sizes()
    for name in ("release in the shell", "read in the shell", "card.html", "page Read", "page Release"):
        assert all(any(text in told.texts[name] for text in spell_out(*size, whole=True)) for size in sizes), name
    ends = {format_reach(max(reach for _, reach in sizes) * end) for end in SIX_DIGITS}
    assert any(f"The ± of a size is at most {most} rows." in told.texts["dossier.html"] for most in ends)


def test_every_file_of_numbers_has_one_value_and_one_half_width_of_a_fact(told: Told) -> None:
    due = {name: (value, reach) for name, value, reach in told.find_due()}
    read = {
        f"{'noisy_size' if one['statistic'] == 'rows' else one['column']} of {one['segment']}": one
        for one in told.numbers
        if one["statistic"] in ("rows", "centre")
    }
    assert set(read) >= set(due)
    for name, (value, reach) in due.items():
        one = read[name]
        assert one["value"] == pytest.approx(value) and NINE_IN_TEN * one["error_sd"] == pytest.approx(reach, rel=1e-5)
        if name.startswith(("age", "income", "noisy_size")):
            widest = max(one["value"] - one["low"], one["high"] - one["value"])
            assert widest == pytest.approx(reach, rel=1e-5)
    for line in csv.DictReader(told.files.get("segments.csv", b"").decode().splitlines()):
        if line["statistic"] == "size":
            value, reach = due[f"noisy_size of {line['segment']}"]
            assert float(line["value"]) == value and float(line["high"]) - value == pytest.approx(reach, rel=1e-3)
            assert NINE_IN_TEN * float(line["noise_sd"]) == pytest.approx(reach, rel=1e-5)


def test_a_share_has_one_value_and_one_interval(told: Told) -> None:
    due = {}
    for row in told.centers:
        for label in ("North", "South", "(any other)", "(missing)") if f"town = {LABEL}" in row else ():
            value, reach = float(row[f"town = {label}"]), NINE_IN_TEN * float(row[f"town = {label}_sd"])
            due[row["segment"], label] = value, max(value - reach, 0.0), min(value + reach, 1.0)
    share, coordinate = "share of ", "town = "
    numbers = {(str(one["segment"]), one["statistic"], one["column"]): one for one in told.numbers}
    rows = csv.DictReader(told.files.get("segments.csv", b"").decode().splitlines())
    lines = {(row["segment"], row["statistic"]): row for row in rows}
    for (segment, label), expected in due.items():
        said = numbers[segment, share + label, "town"], numbers[segment, "centre", coordinate + label]
        for one in (*said, lines[segment, share + label]):
            assert [float(one[end]) for end in ("value", "low", "high")] == pytest.approx(expected, rel=1e-4, abs=1e-6)
    for name, text in told.texts.items():
        for label, printed in re.findall(r"(?<!= )(North|South)\s+([\d.]+) %", text):
            digits = len(printed.partition(".")[2])
            near = [abs(float(printed) - 100 * due[at][0]) <= 0.5001 * 10**-digits for at in due if at[1] == label]
            assert any(near), (name, label, printed)
    if due:  # the cells of both tables of the card are alike
        card = told.texts["card.html"]
        assert all(card.count(row["town_in_words"]) >= 2 for row in told.centers)


def test_what_a_plus_minus_is_stands_once_in_every_document_that_has_one(told: Told) -> None:
    for name, text in told.texts.items():
        assert " ".join(text.split()).count(PLUS_MINUS_RELEASED) == ("±" in text), name
        assert "standard deviation of the noise" not in text and not re.search(r"±\s?\d[\d.,]* sd", text), name
