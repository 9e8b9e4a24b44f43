"""The owner's words: what is missing is named before anything is spent, and what is declared comes back."""

from __future__ import annotations

from dataclasses import replace

from dpviz.tables.declarations import OWNER_WORDS, Declaration, apply_declaration, find_words, to_json
from tests.releases.made_played import words


def test_all_words_are_there_or_named() -> None:
    assert words().list_missing() == ()
    for name in ("name", "description", "intended_use", "region", "justification"):
        (said,) = words(**{name: " "}).list_missing()
        assert said.startswith(f"{name} is empty: ")
    for name in ("curators", "authors"):
        for none in ((), ("",)):
            (said,) = words(**{name: none}).list_missing()
            assert said.startswith(f"{name} is empty: ")
    assert words(sector="Fishing").list_missing()[0].startswith("sector is not one that the registry knows: ")
    assert words(publication_date="1 July").list_missing() == ("publication_date is no day: write it as YYYY-MM-DD.",)
    assert words(chosen_after_looking="").list_missing() == ()


def test_every_word_can_be_declared_and_comes_back() -> None:
    answered = {
        name: ("A", "<b>") if word.several else f"So says the owner of {name}." for name, word in OWNER_WORDS.items()
    }
    said = apply_declaration(to_json(replace(Declaration(columns=("a",), lower=(0.0,), upper=(1.0,)), words=answered)))
    assert {name: getattr(find_words(said, today="2026-07-20"), name) for name in answered} == answered
