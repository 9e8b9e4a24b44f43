"""From a declaration, a seeded account and a visit to each number and each unit on the three pages of a release.

What is expected stands here, or is computed here from what was declared and asked, from the ledger's scales and from
the table: what makes a card again, as ``verify`` does, would make its mistakes again.
"""

import csv
import html
import io
import json
import re
import zipfile
from collections.abc import Iterable, Mapping
from functools import cache
from math import exp, inf, sqrt
from pathlib import Path
from statistics import NormalDist
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pytest
import yaml
from streamlit.testing.v1 import AppTest

import dpviz
from dpviz.words import NINE_IN_TEN, format_noisy
from tests import waiting
from tests.pages.components import _visits_are_cheap
from tests.pages.site import open_form, paste_bounds, press, turn_to, upload
from tests.pages.tables import app_on, ask, run_again, sound
from tests.releases.charges import a_charge
from tests.releases.people import WORDS, unrehearsed

__all__ = ["_visits_are_cheap"]

YAML, HTML, DOSSIER = "card.yaml", "card.html", "dossier.html"
PAGES = (YAML, HTML, DOSSIER)
PERSONS, ROWS, WITHOUT_AGE = 300, 900, 90
BOUNDS = {"age": [0, 100], "income": [0, 90000]}
DECLARED = {
    "title": "Visitors",
    "bounds": BOUNDS,
    "units": {"age": "years", "income": "€"},
    "origins": {"age": "law or physics", "income": "documentation"},
}
OF_ROWS = (
    "The unit of privacy is 1 row.",
    {YAML: "1 row (event level): whoever has m rows in the table has the promise of m times this ε."},
    {DOSSIER: "1 row (event level): whoever has m rows in the table has the promise of m times this ε."},
    {DOSSIER: "one unit (1 row)"},
)
PUBLIC_ROWS = "It is 900, which was declared and is public: it is not protected."


class Case(NamedTuple):
    """What is declared and asked; every ε that a page names; and what stands on each page, or on the one that is named.

    ``parts`` are those of the whole ε, in the order of spending.
    """

    declared: dict[str, Any]
    asked: dict[str, Any]
    parts: dict[str, float]
    unit: str
    said: Iterable[str | Mapping[str, str]]

    @property
    def epsilon(self) -> float:
        return float(self.asked["epsilon"])


# e^0.8 = 2.226, e^1.6 = 4.953, e^2.4 = 11.02; 1 / (1 + e^-0.8) = 0.6900; 1 + e = 3.718. Bounds are rounded up.
CASES = {
    "rows, their number declared": Case(
        {"n_public": ROWS},
        {"epsilon": 0.8, "segments": 0.0, "params": {"rounds": 1}},
        {"algorithm": 0.8},
        "1 row",
        (
            *OF_ROWS,
            PUBLIC_ROWS,
            "The presence of one row changes the odds of anything that is released with noise by at most 2.23×.",
            "at most 69 % certain",
            "odds within 11.1×",
            {YAML: "is promised both together: odds within 4.96×."},
            "such a reader can be at most 83.3 % certain: odds within 4.96×.",
        ),
    ),
    "rows, their number bought": Case(
        {},
        {"epsilon": 1.0, "delta": 1e-6, "algorithm": "auto", "segments": 0.25},
        {"algorithm": 0.75, "segments": 0.25},
        "1 row",
        (*OF_ROWS, "by at most 2.72×.", {DOSSIER: "in: odds within 7.39×, and δ = 3.72 × 10⁻⁶ beyond them."}),
    ),
    "persons, of three rows each": Case(
        {"id_column": "who", "rows_per_person": 3, "describe": {"town": {"categories": ["North", "South"]}}},
        {"epsilon": 3.0, "segments": 0.25},
        {"algorithm": 2.25, "segments": 0.75},
        "1 person, up to 3 rows",
        (
            "The unit of privacy is 1 person, up to 3 rows.",
            "of one person three rows are used at most",
            "The presence of one person changes the odds of anything that is released with noise by at most 20.1×.",
            "at most 95.3 % certain",
            {DOSSIER: "one unit (1 person, up to 3 rows)"},
        ),
    ),
    "bounds and missing cells bought": Case(
        {"bounds": {"age": [0, 100], "income": [None, None]}, "origins": {"age": "law or physics"}, "proposed": True},
        {"epsilon": 8.0, "segments": 0.25, "missing": 0.05, "buy_bounds": 0.03},
        # 0.03 and 0.05 of 8; then a quarter of what is left is for segments.
        {"bounds": 0.24, "missing cells": 0.4, "algorithm": 5.52, "segments": 1.84},
        "1 row",
        (
            *OF_ROWS,
            "by at most 2,990×.",
            {HTML: "the bounds of income, which are released with noise and paid for; so are"},
            "one look that proposed how to read the file",
            {DOSSIER: "income: bought, ε = 0.24."},
        ),
    ),
}
SPENT, CAP = 0.5, 20.0
"""Of the account, before the release, and at most."""


def write_visitors(path: Path) -> None:
    """Three rows of each of 300 persons, in three groups; every tenth has no age."""
    rng, place = np.random.default_rng(0), np.arange(ROWS)
    middle = np.array([[20, 15_000], [45, 60_000], [75, 30_000]])[place % 3]
    lines = [
        f"p{row % PERSONS},{f'{age:.0f}' if row % 10 else ''},{pay:.0f},{'South' if row % 3 else 'North'}"
        for row, (age, pay) in enumerate(np.round(middle + rng.normal(0, [3, 3_000], (ROWS, 2))))
    ]
    path.write_text("\n".join(["who,age,income,town", *lines]) + "\n")


class Made(NamedTuple):
    """The files of a release, its three pages as words, and what it charged."""

    files: Mapping[str, bytes]
    card: Mapping[str, Any]
    pages: Mapping[str, str]
    ledger: list[dict[str, str]]


def read_rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode())))


def read_pages(files: Mapping[str, bytes]) -> dict[str, str]:
    """The words of each page, without markup and pictures."""

    def list_leaves(told: Any) -> list[str]:
        if isinstance(told, dict | list):
            return [leaf for one in (told.values() if isinstance(told, dict) else told) for leaf in list_leaves(one)]
        return [str(told).replace("\\", "")]

    pages = {YAML: " ".join(list_leaves(yaml.safe_load(files[YAML])))}
    for name in (HTML, DOSSIER):
        text = re.sub(r"<(style|svg).*?</\1>", " ", files[name].decode(), flags=re.DOTALL)
        pages[name] = html.unescape(re.sub(r"<[^>]+>", " ", text))
    return {name: re.sub(r"\s+([.,;:])", r"\1", " ".join(text.split())) for name, text in pages.items()}


@cache
def released(name: str) -> Made:
    case = CASES[name]
    with TemporaryDirectory() as folder:
        data, path = Path(folder) / "visitors.csv", Path(folder) / "people.sqlite"
        write_visitors(data)
        account = dpviz.Account.new(path, name="people", cap_epsilon=CAP, cap_delta=1e-5)
        before = {"columns": ("age",), "lower": (0.0,), "upper": (100.0,), "unit": case.unit}
        account.charge(a_charge(SPENT, **before, relation=case.declared.get("relation", "add_remove")))
        asked = {"k": 3, "algorithm": "dplloyd", **case.asked}
        with unrehearsed():
            files = dpviz.release({**DECLARED, **case.declared}, data, account=account, **asked).files
    return Made(files, yaml.safe_load(files[YAML]), read_pages(files), read_rows(files["ledger.csv"]))


@pytest.fixture(params=CASES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_what_was_declared_and_asked_stands_on_each_page(name: str) -> None:
    case, made = CASES[name], released(name)
    for said in case.said:
        for page, words in said.items() if isinstance(said, Mapping) else [(page, said) for page in PAGES]:
            assert words in made.pages[page], page
    other = r"\b1 person\b" if case.unit == "1 row" else r"\b1 row\b"
    for page, text in made.pages.items():
        assert not re.search(other, text), page
        assert (PUBLIC_ROWS in text) == ("n_public" in case.declared), page
    assert "with k = 3." in made.pages[YAML] and "segments k = 3 " in made.pages[HTML]


def test_every_epsilon_is_asked_charged_or_a_part_and_parts_add_up(name: str) -> None:
    case, made = CASES[name], released(name)
    delta = float(case.asked.get("delta", 0.0))
    told = made.card["deployment"]
    parameters = told["privacy_loss"]["privacy_parameters"]
    assert (parameters["epsilon"], parameters["delta"]) == (case.epsilon, delta)
    assert told["dp_variant"]["variant_name"] == ("Approximate DP" if delta else "Pure DP")
    for part, epsilon in case.parts.items():
        words = f"{part}: ε = {epsilon:.6g}, δ = {'10⁻⁶' if delta and part == 'algorithm' else '0'}"
        assert made.pages[YAML].count(words) == 2
        share = f" ({100 * epsilon / case.epsilon:.0f} % of ε)" if len(case.parts) > 1 else ""
        charges = [row for row in made.ledger if row["part"] == part]
        assert re.search(rf"{re.escape(part + share)} {len(charges)} {epsilon:.6g} ", made.pages[HTML]), part
        costs = [float(row["cost"]) for row in charges if row["cost_unit"] == "epsilon"]
        assert not costs or sum(costs) == pytest.approx(epsilon, rel=1e-9)
    after, left = f"{SPENT + case.epsilon:.6g}", f"{CAP - SPENT - case.epsilon:.6g}"
    assert f"Before this release ε = {SPENT}, δ = 0 was spent of it, after it ε = {after}, " in made.pages[YAML]
    assert f"before {SPENT} 0 this release {case.epsilon:.6g} " in made.pages[HTML]
    assert f"ε = {left} of it is left" in made.pages[HTML]
    assert f"ε = {SPENT} was spent before this release, {after} after it." in made.pages[DOSSIER]
    known = {case.epsilon, SPENT, CAP, float(after), float(left), *case.parts.values()}
    for page, text in made.pages.items():
        own = re.sub(r"All draws of the release .*?\(zero-concentrated\)", "", text)  # by other rules, and other δ
        own = re.sub(r"ε = [\d.]+ in all, which no account has paid for", "", own)  # of this whole process
        for found in re.findall(r"ε = ([\d.]*\d)", own):
            assert any(float(found) == pytest.approx(one, rel=1e-5) for one in known), (page, found)


def test_a_number_of_rows_that_was_bought_is_told_as_noisy(name: str) -> None:
    case, made = CASES[name], released(name)
    if "n_public" in case.declared:
        return
    patterns = {
        YAML: r"It is ([\d,]+) ± ([\d,.]+), released with noise and paid for in the ledger: it is protected\.",
        HTML: r"the number of rows, ([\d,]+) ± ([\d,.]+), was released apart, with noise of its own[.:]",
        DOSSIER: r"It is ([\d,]+) ± ([\d,.]+), released with noise and paid for in the ledger: it is protected\.",
    }
    told = [re.findall(pattern, made.pages[page]) for page, pattern in patterns.items()]
    assert all(told)
    ((number, reach),) = {tuple(float(one.replace(",", "")) for one in both) for found in told for both in found}
    (scale,) = (float(row["scale"]) for row in made.ledger if row["note"] == "number of rows")
    (laplace,) = (row["mechanism"] == "laplace" for row in made.ledger if row["note"] == "number of rows")
    assert reach == pytest.approx(NINE_IN_TEN * scale * (sqrt(2) if laplace else 1), rel=0.05)
    assert abs(number - (ROWS - WITHOUT_AGE)) < 30 * scale
    assert all("declared and is public" not in page for page in made.pages.values())


def test_what_is_said_to_hold_nine_times_in_ten_reaches_as_far(name: str) -> None:
    made = released(name)
    centers = read_rows(made.files["centers.csv"])
    sds = [float(row["noisy_size_sd"]) for row in centers]
    (reach,) = re.findall(r"The ± of a size is at most ([\d.,]+) rows\.", made.pages[DOSSIER])
    assert 0.9 < 2 * NormalDist().cdf(float(reach.replace(",", "")) / max(sds)) - 1 < 0.93
    noise, apart = sds, "segments.csv" not in made.files
    if apart:  # beside the noise of its own count, of a size those are told that passed a border since
        ratio = exp(-1 / [float(row["scale"]) for row in made.ledger if row["query"] == "Count"][-1])
        noise = [sqrt(2 * ratio) / (1 - ratio)] * 3
        assert 0.99 * noise[0] < min(sds) and 2 * noise[0] < max(sds)
    total = sum(int(row["noisy_size"]) for row in centers)
    whole = format_noisy(total, NINE_IN_TEN * sqrt(sum(sd**2 for sd in noise)), whole=True)
    assert all(f"Sizes add up to {whole}" in made.pages[page] for page in (HTML, DOSSIER))
    if apart:
        # How far a centre is off from the mean of its segment nobody can tell where no segments were paid for.
        assert not any(row["age_sd"] or row["income_sd"] or not row["age_noise_sd"] for row in centers)
        return
    sizes = [row for row in read_rows(made.files["segments.csv"]) if row["statistic"] == "size"]
    for row, sd in zip(sizes, sds, strict=True):
        size, reach = float(row["value"]), float(row["high"]) - float(row["value"])
        assert 0.9 <= 2 * NormalDist().cdf(reach / sd) - 1 < 0.93
        assert f" {format_noisy(size, reach, whole=True, within=(0, inf))} " in made.pages[HTML]
    assert "an interval that holds 90 % of the time" in made.pages[HTML]


def test_a_visit_is_told_with_its_looks_and_the_sum_of_what_nobody_paid(tmp_path: Path) -> None:
    rows = b"age,income\n" + b"".join(b"%d,%d\n" % (row % 101, 371 * row % 90_001) for row in range(240))
    at = open_town(rows)
    press(at, "Propose from the rows (counted)")
    press(open_form(turn_to(at, "data.py").run(), "columns"), "Count what drops out (counted)")
    for epsilon in (1.0, 0.3):
        run_again(ask(sound(turn_to(at, "explore.py").run()), epsilon=epsilon))
    at = ask(sound(turn_to(open_town(rows), "release.py").run()), epsilon=2.5)
    path = dpviz.Account.new(tmp_path / "people.sqlite", name="people", cap_epsilon=100.0, cap_delta=1e-5).path
    at.text_input(key="release:account_path").set_value(str(path))
    sound(at.run())
    (typed,) = (one for one in at.text_input if (one.key or "").startswith("release:confirm:"))
    sound(typed.set_value("2.5").run())
    (button,) = (one for one in at.button if (one.key or "").startswith("release:press:"))
    sound(button.click().run())
    job = at.session_state["release:pressed"][-1].job
    assert job.wait(waiting.SECONDS) and job.kept, job.error
    zipped = tmp_path / job.kept
    assert dpviz.verify(zipped).holds
    with zipfile.ZipFile(zipped) as archive:
        pages = read_pages({name: archive.read(name) for name in PAGES})
    for page, text in pages.items():
        # A file that is dropped is proposed from its rows at once; the same rows are proposed anew when asked.
        assert "two looks that proposed how to read the file" in text, page
        assert "one look at rows" in text, page
        # The bench asks for the ε of a whole release: its runs spend the four fifths that are for centres.
        assert re.search(r"two runs on the rows [^.]*ε = 1\.04 in all", text), page
        assert "no row, no true count" not in text, page


def open_town(rows: bytes) -> AppTest:
    """The page of data of a visit to the same server, with a file of private rows; it knows of none before."""
    at = app_on("data.py", None, algorithm="dplloyd", k="2")
    upload(at, rows, "town.csv")
    paste_bounds(at, json.dumps({"bounds": BOUNDS, "bounds_origin": "law", "release": WORDS}))
    return sound(turn_to(at, "data.py").run())
