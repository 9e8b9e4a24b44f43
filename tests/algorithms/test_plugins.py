"""Algorithms of installed packages: found, marked and never released; a broken one is named, and the others stand."""

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest

from dpviz.algorithms import plugins
from dpviz.algorithms.card import Params, always
from dpviz.algorithms.registry import CARDS, find_card, list_private_cards
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.core.accounting import Accounting
from dpviz.core.check import RequestError
from dpviz.core.exact_noise import ExactNoise
from dpviz.runs.one_run import run, run_request
from dpviz.runs.request import Contender, Request
from tests.cases import for_each
from tests.command_line import call
from tests.contract.tables import PUBLIC
from tests.example_packages import Entry, bringing, example

HONEST = example("honest").CARD


def test_what_a_package_brings_stands_in_the_registry_and_is_marked():
    ours = list(CARDS.ours)
    with bringing(HONEST) as found:
        assert not found.left_out
        assert list(CARDS) == [*ours, "random-lloyd"] and len(CARDS) == len(ours) + 1
        card = find_card("random-lloyd")
        assert card is CARDS["random-lloyd"] and card in list_private_cards()
        assert (card.title, card.brought_by) == ("Random Lloyd (not ours)", "some-package 1.2")
        done = run("random-lloyd", PUBLIC.table(), k=3, epsilon=1.0, seed=0)
        assert done.centers.shape == (3, 2) and 0.99 <= done.spent_fraction <= 1
    with bringing():
        assert list(CARDS) == ours and not any(card.brought_by for card in CARDS.values())


def test_it_is_never_released_under_no_name():
    proud = replace(HONEST, release=lambda setting, params: None)
    with bringing(proud):
        assert not CARDS["random-lloyd"].releasable
        for card in ("random-lloyd", proud):
            request = Request(Contender.of(card), 3, 1.0)
            with pytest.raises(RequestError, match=r"cannot be released: .* nobody here has proved .* choose one of"):
                run_request(request, PUBLIC.table(), noise=ExactNoise())


def _unfit(**changed: object) -> object:
    return replace(HONEST, **changed)


def _raising(error: BaseException) -> Entry:
    def load() -> object:
        raise error

    return Entry("broken", load)


@dataclass(frozen=True)
class Needy(Params):
    size: int  # without a default


def _returns(session, k, params, rng):
    return []


BROKEN = {
    "an import that fails": (_raising(ModuleNotFoundError("x", name="numba")), r"ModuleNotFoundError \(numba is not"),
    "an import that leaves": (_raising(SystemExit("secret text")), "ended with SystemExit"),
    "no card": (Entry("broken", lambda: 7), "is of type int; it has to be a Card"),
    "an id that is taken": (_unfit(id="dplloyd"), "its id 'dplloyd' is taken"),
    "an id with a space": (_unfit(id="my algorithm"), "its id is 'my algorithm'; give up to 40"),
    "a title that is taken": (_unfit(title="DPLloyd"), "its title 'DPLloyd' is taken"),
    "a word that nobody knows": (_unfit(does="Magic"), "it does 'Magic'; choose one of Everything, "),
    "no privacy": (_unfit(guarantees=()), "it promises no privacy"),
    "no generator": (_unfit(plan=_returns), "its plan is no generator function"),
    "parameters without defaults": (_unfit(params=Needy), "ended with TypeError"),
    "a sample that is not there": (_unfit(sample="mine"), "there is no sample 'mine'; name one of fifteen"),
    "an accounting of nothing": (_unfit(accounting=always(Accounting.NONE)), "ended with RequestError"),
}


@for_each(("wrong", "said"), BROKEN.values())
def test_a_broken_one_is_named_in_a_sentence_and_leaves_the_rest_standing(wrong, said, capsys):
    another = replace(HONEST, id="another", title="Another")
    with bringing(wrong, another) as found:
        (sentence,) = found.left_out
        assert list(found.cards) == ["another"]
        heard = call(capsys, "algorithms", "--json")
        with pytest.raises(RequestError, match=r"of some-package 1\.2 is left out"):
            find_card("broken")
    assert heard.code == 0 and heard.err == f"dpviz: {sentence}\n"
    assert "secret text" not in sentence and "of some-package 1.2 is left out: " in sentence
    with pytest.raises(AssertionError, match=said):
        raise AssertionError(sentence)


def test_of_two_with_one_id_the_first_by_name_stands():
    late, early = (Entry("x", lambda: HONEST, package) for package in ("zebra", "aardvark"))
    with bringing(late, early) as found:
        assert found.cards["random-lloyd"].brought_by == "aardvark 1.2"
        assert [sentence for sentence in found.left_out if "of zebra 1.2" in sentence and "is taken" in sentence]


class OwnStep(CentersStep):
    """Of a kind that nothing can draw."""


def failing(session, k, params, rng) -> Iterator[Step]:
    yield CentersStep(title="x", centers=np.zeros((k, 2)))
    raise KeyError("a row: 0.123")


def endless(session, k, params, rng) -> Iterator[Step]:
    yield CentersStep(title="x", centers=np.zeros((k + 1, 2)))


def drawing(session, k, params, rng) -> Iterator[Step]:
    yield OwnStep(title="x", centers=np.zeros((k, 2)))


@for_each(
    ("plan", "said"),
    [
        (failing, "Random Lloyd, which some-package 1.2 brings, stopped with KeyError: tell its authors."),
        (endless, "Random Lloyd, which some-package 1.2 brings, ended without 3 centres: its last step has to carry"),
        (drawing, "Random Lloyd, which some-package 1.2 brings, yields a step of its own, which has no picture: use"),
    ],
)
def test_a_run_that_fails_is_told_as_its_own(plan, said):
    with bringing(replace(HONEST, plan=plan)), pytest.raises(RequestError) as caught:
        run("random-lloyd", PUBLIC.table(), k=3, epsilon=1.0)
    assert str(caught.value).startswith(said) and "0.123" not in str(caught.value)


def test_a_room_without_a_guarantee_cannot_be_had_later():
    sly = replace(HONEST, accounting=lambda params, delta: Accounting.NONE if delta == 0 else Accounting.GDP)
    with bringing(sly), pytest.raises(RequestError, match="gives no guarantee"):
        run("random-lloyd", PUBLIC.table(), k=3, epsilon=1.0)


def test_nothing_is_imported_before_it_is_asked_for(capsys, monkeypatch):
    asked = []
    with bringing():
        monkeypatch.setattr(CARDS, "_brought", None)
        monkeypatch.setattr(plugins, "entry_points", lambda group: asked.append(group) or [])
        said = call(capsys, "run", "fifteen", "--algorithm", "dplloyd", "--k", 3, "--epsilon", 1, "--json")
        assert said.code == 0 and "auto" in CARDS and not asked
        Request(Contender("dplloyd"), 3, 1.0).check_releasable(PUBLIC.table())
        assert not asked
        list(CARDS)
        list(CARDS)
    assert asked == [plugins.GROUP]


def test_to_another_process_all_cards_go_by_their_name():
    assert pickle.loads(pickle.dumps(CARDS)) is CARDS
