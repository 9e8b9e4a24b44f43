"""Advice from the shell: an answer for a size, in words or as JSON, without any table."""

import pytest

from tests.command_line import call

SIZE = ("advise", "--n", "50000", "--d", "4", "--k", "5")


def test_advice_names_an_algorithm_an_epsilon_and_how_sure_it_is(capsys):
    said = call(capsys, *SIZE, "--delta", "1e-6", "--json")
    assert said.code == 0, said.err
    best = said.json["best"]
    assert 0.01 <= best["epsilon"] <= 10 and best["median"] <= 1.1 and best["share"] >= 0.75
    text = call(capsys, *SIZE, "--delta", "1e-6").out
    assert said.json["answer"] in text and "no row of yours is read" in text
    assert f"At ε = {best['epsilon']:g}, on stand-ins:" in text
    stricter = call(capsys, *SIZE, "--delta", "1e-6", "--target", "1.02", "--json").json["best"]
    assert stricter is None or stricter["epsilon"] >= best["epsilon"]


@pytest.mark.parametrize(
    "options",
    [["--target", "1"], ["--n", "0"], ["--k", "0"], ["--delta", "0.1"], ["--relation", "swap"], ["--d", "x"]],
    ids=" ".join,
)
def test_a_wrong_question_is_refused_in_one_line(capsys, options):
    said = call(capsys, *SIZE, *options)
    assert (said.code, said.err.count("\n")) == (2, 1)
