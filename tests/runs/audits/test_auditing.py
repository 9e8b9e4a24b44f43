"""An audit passes what keeps the contract, and names what does not: every mistake by the checks that are for it."""

import ast
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from dpviz.algorithms.registry import CARDS, list_private_cards
from dpviz.core.check import Broken
from dpviz.core.private_session import PrivateTable
from dpviz.runs.audits import auditing, contract
from dpviz.runs.audits.auditing import CHECKS, CheckResult, audit
from dpviz.runs.audits.contract import K, Subject
from dpviz.runs.audits.neighboring_tables import BOUGHT, REPLACE
from tests.command_line import call
from tests.contract.tables import named
from tests.example_packages import bringing, example
from tests.runs.audits.peeking import HONEST, MISTAKES

FEW = 40
# Of the checks that take a while an audit has one run; of a mistake only those that are for it.
QUICK = ("source", "replay", "session", "neighbours", "seed", "global state")


@pytest.mark.parametrize("check", [pytest.param(c, marks=() if c in QUICK else pytest.mark.slow) for c in CHECKS])
def test_an_honest_algorithm_of_a_package_passes(check):
    with bringing(example("honest").CARD):
        said = CHECKS[check](Subject(CARDS["random-lloyd"], FEW))
    assert said and (check != "neighbours" or " of 48 pairs" in said)


@pytest.mark.parametrize(
    ("card", "check"), [(card, check) for card, checks in MISTAKES.items() for check in checks], ids=named
)
def test_a_mistake_is_named(card, check):
    with pytest.raises(Broken) as caught:
        CHECKS[check](Subject(card, FEW))
    assert str(caught.value)


def test_a_transcript_that_is_too_likely_is_named_whoever_attacks(monkeypatch):
    monkeypatch.setattr(auditing, "collect_scores", lambda trials, of: np.array([[0.5, 1.2], [0.5, 1.0]]))
    with pytest.raises(Broken, match=r"e\^1\.2000 times as likely, at ε = 1"):
        CHECKS["attack"](Subject(HONEST, FEW))


def test_hard_tables_are_tried_as_often_as_is_told_with_k_above_n_and_parameters_at_both_ends(monkeypatch):
    asked = []
    monkeypatch.setattr(Subject, "run", lambda self, table, **how: how)
    monkeypatch.setattr(contract, "check_centers", lambda how, k: asked.append((how["k"], k, how["params"])))
    said = CHECKS["hard tables"](Subject(example("honest").CARD, FEW))
    assert f" {len(asked)} runs" in said and {params.get("rounds") for _, _, params in asked} == {None, 1, 20}
    assert [values.shape[1] for values in auditing.TABLES.values()] == [2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 9]
    # With a δ and without; where one row is exchanged there is one, and no more clusters than rows.
    often = 2 * (2 * len(auditing.TABLES) - 2)
    assert Counter((ran, k) for ran, k, _ in asked) == {(1, 1): often + 2, (K, K): often, (12, 12): often, (2, 2): 4}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        # By its home, whatever hands it on.
        ("from dpviz.core import Rows", "imports dpviz.core.rows"),
        ("from dpviz.runs.one_run import PrivateTable", "imports dpviz.core.private_session.PrivateTable"),
        ("from dpviz.core import Revealed", "imports dpviz.core.revealed_rows"),
        ("def f():\n    from dpviz import PrivateTable", "imports dpviz.core.private_session.PrivateTable"),
        # As a whole, so that nobody sees what is used of it.
        ("import dpviz", "imports dpviz as a whole"),
        ("import dpviz.core", "imports dpviz.core as a whole"),
        ("from dpviz import core", "imports dpviz.core as a whole"),
        ("from dpviz import runs as r", "imports dpviz.runs as a whole"),
        ("from dpviz.core import private_session", "imports dpviz.core.private_session as a whole"),
        ("from dpviz.core.private_session import *", "imports all names of dpviz.core.private_session"),
        ("from dpviz.runs import one_run", "imports dpviz.runs.one_run as a whole"),
        # What looks through memory, and whose coins no seed repeats.
        ("import gc", "imports gc"),
        ("import numpy.random\n\nnumpy.random.uniform()", "numpy.random.uniform draws from a global state"),
        ("from random import choice", "imports random"),
    ],
)
def test_what_is_hidden_is_found_behind_a_door(text, said):
    tree = ast.parse(text)
    found = [words for _, words in (*auditing.list_ways_round(tree), *auditing.list_global_draws(tree))]
    assert any(words.split(":")[0].startswith(said) for words in found), found


@pytest.mark.parametrize(
    "text",
    [
        "from dpviz.core import Count, PrivateSession",
        "from dpviz.core import queries",
        "import dpviz.core.queries as q",
        "from numpy import *",
    ],
)
def test_what_an_algorithm_may_import_it_may_import_through_a_door(text):
    assert not list(auditing.list_ways_round(ast.parse(text)))


def test_tables_that_others_left_in_memory_hide_no_mistake():
    """Whole ones, and one that was refused before it had a value."""
    left = [BOUGHT.table(), REPLACE.table(), PrivateTable.__new__(PrivateTable)]
    card = next(card for card in MISTAKES if card.id == "found-in-memory")
    with pytest.raises(Broken, match="holds other numbers"):
        CHECKS["replay"](Subject(card, FEW))
    assert all(type(table) is PrivateTable for table in left)


def test_of_a_package_the_same_is_found_behind_the_front_of_the_registry():
    with bringing(*(card for card in MISTAKES if card.id.startswith("peeking"))):
        for name, check, said in (
            ("peeking-start", "replay", r"n bought: without the rows, step 1 \('Starts'\) holds other numbers"),
            ("peeking-start", "session", r"__init__\.py:\d+ reads _rows of the session"),
            ("peeking-start", "source", r"__init__\.py:\d+ reaches for _rows"),
            ("peeking-scale", "neighbours", "the noise itself depends on rows"),
        ):
            with pytest.raises(Broken, match=said):
                CHECKS[check](Subject(CARDS[name], FEW))


@pytest.mark.slow
@pytest.mark.parametrize("card", list_private_cards(), ids=named)
def test_what_the_contract_tests_do_not_ask_of_ours_holds_of_them(card):
    for check in ("session", "global state"):
        assert CHECKS[check](Subject(card, FEW))


@pytest.mark.slow
def test_a_whole_audit_of_ours_holds():
    findings = list(audit(CARDS["lsh-local"], runs=FEW))
    assert [finding.check for finding in findings] == list(CHECKS)
    assert all(finding.held is not False for finding in findings), findings
    # In the local model the loss is that of one message.
    assert {each.check for each in findings if each.held is None} == {"neighbours", "planted neighbours"}


def test_code_that_fails_is_a_finding_and_its_text_is_not_quoted(monkeypatch):
    def failing(session, k, params, rng):
        yield from ()
        raise KeyError("a row: 0.123")

    monkeypatch.setattr(auditing, "CHECKS", {"replay": CHECKS["replay"]})
    assert list(audit(replace(HONEST, plan=failing))) == [CheckResult("replay", False, "the check ended with KeyError")]


def test_the_command_names_what_did_not_hold_and_ends_with_1(capsys, monkeypatch):
    monkeypatch.setattr(auditing, "CHECKS", {name: CHECKS[name] for name in ("source", "ledger", "session")})
    with bringing(example("peeking").START):
        said = call(capsys, "audit", "peeking-start")
        as_json = call(capsys, "audit", "peeking-start", "--json").json
    assert said.code == 1 and "Did not hold (2): source, session." in said.out
    assert re.search(r"^held +ledger ", said.out, re.MULTILINE)
    assert (as_json["holds"], as_json["brought_by"]) == (False, "some-package 1.2")
    assert [finding["held"] for finding in as_json["findings"]] == [False, True, False]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("nothing",), "There is no algorithm 'nothing'"),
        (("kmeans++",), "promises no privacy"),
        (("eugkm", "--runs", "3"), "runs is 3: give a number from 40"),
    ],
)
def test_the_command_refuses_with_2(capsys, asked, said):
    heard = call(capsys, "audit", *asked)
    assert heard.code == 2 and said in heard.err and not heard.out
