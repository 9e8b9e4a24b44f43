"""What a film says of its own words: each is in the glossary, and says there what it says here."""

from __future__ import annotations

import pytest

from dpviz.charts.film import Film, Number
from dpviz.charts.picture import Look
from dpviz.charts.theme import palette
from dpviz.charts.view import view_of
from dpviz.glossary import glossary, term_named, terms_in
from dpviz.runs.request import Contender, Request
from dpviz.runs.run import run, steps_of
from tests.pages.tables import open_blobs


@pytest.mark.parametrize(
    ("algorithm", "expected"),
    [("balcan", {"cube", "candidate", "swap"}), ("eugkm", {"grid"}), ("lsh-coreset", {"coreset"})],
)
def test_the_words_of_steps_and_legends_come_with_their_sentence(algorithm: str, expected: set[str]) -> None:
    table = open_blobs()
    done = run(algorithm, table.private, k=3, epsilon=1.0, delta=1e-6, seed=1)
    film = Film(done, Look(view_of(table.domain), palette("light"))).data()
    for text, about in film["words"].items():
        named = term_named(text)
        meant = [named] if named else terms_in(text)
        assert about == "\n".join(f"{term.name}: {term.first}" for term in meant), text
    shown = [*film["words"], *(step["title"] + step["note"] for step in film["steps"])]
    assert expected <= {term.id for text in shown for term in terms_in(text)}
    assert film["words"]["released"].endswith(glossary()["released"].first)
    for step in film["steps"]:
        assert all(term.first in step["about"] for term in terms_in(f"{step['title']} {step['note']}"))


@pytest.mark.parametrize("algorithm", ["balcan", "auto"])
def test_a_still_is_the_step_of_the_film_with_everything_in_it(algorithm: str) -> None:
    table = open_blobs()
    film = Film(run(algorithm, table.private, k=3, epsilon=1.0, seed=1), Look(view_of(table.domain), palette("light")))
    whole = film.data()
    for place, step in enumerate(whole["steps"]):
        still = Film(film.run, Look(view_of(table.domain), palette("light"))).still(place)
        traces = [
            {name: whole["shared"][v["same"]] if isinstance(v, dict) and "same" in v else v for name, v in one.items()}
            for one in step["data"]
        ]
        assert still == {**{name: value for name, value in step.items() if name != "sides"}, "data": traces}


def test_a_number_says_what_its_words_mean() -> None:
    number = Number("released", "ε 1", "spent in 5 charges").data()
    assert (number["value"], number["of"], number["kind"]) == ("ε 1", "spent in 5 charges", "released")
    assert [line.split(":")[0] for line in number["about"].splitlines()] == ["ε", "charge"]


@pytest.mark.some(1)
@pytest.mark.parametrize("algorithm", ["eugkm", "auto", "balcan"])
def test_of_a_run_under_way_no_step_speaks_for_the_run(algorithm: str) -> None:
    table = open_blobs()
    *growing, done = steps_of(Request(Contender(algorithm), 3, 1.0, 1e-6, seed=1), table.private)
    look = Look(view_of(table.domain), palette("light"), epsilon=1.0, ratio=lambda _: 1.5)
    whole = Film(done, look).data()["steps"]
    for so_far in growing:
        steps = Film(so_far, look).data()["steps"]
        assert [step["name"] for step in steps] == [step["name"] for step in whole][: len(steps)]
        assert [step["spent"] for step in steps] == [step["spent"] for step in whole][: len(steps)]
        assert "1.5" not in " ".join(step["title"] for step in steps)
    assert "1.5" in whole[-1]["title"]
