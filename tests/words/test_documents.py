"""Documents as models: each key says what it holds, and a fault is one sentence that names it and quotes no value."""

from __future__ import annotations

import json
from typing import Any

import pytest

from docs.generators.key_pages import DOCUMENTS, list_models
from dpviz.core.check import RequestError
from dpviz.words.documents import Document, list_key_meanings, read_document
from tests.cases import about

_SECRET = "4711-secret"


class _Refused(RequestError):
    pass


def _refuse(model: type[Document], said: Any) -> str:
    with pytest.raises(_Refused) as refused:
        read_document(model, said, _Refused)
    return str(refused.value)


def test_every_key_says_what_it_holds_and_what_it_means() -> None:
    for document in DOCUMENTS.values():
        for model in list_models(document):
            with about(model.__name__):
                assert model.__doc__ and all(one.name and one.value and one.meaning for one in list_key_meanings(model))


def test_a_value_that_is_none_is_refused_by_its_key_and_is_not_quoted() -> None:
    for document in DOCUMENTS.values():
        for name in document.list_keys():
            wrong = ({_SECRET: {_SECRET: [_SECRET]}}, [[_SECRET]], [{_SECRET: True}])
            messages = [_refuse_or_read(document, {name: one}) for one in wrong]
            with about(document.__name__, name, messages):
                assert any(f'"{name}"' in message for message in messages), "some of them are none of any key"
                for message in messages:
                    assert ". " not in message and _SECRET not in message.replace(f'"{_SECRET}"', "")


def _refuse_or_read(model: type[Document], said: Any) -> str:
    """The refusal; "" where there is none: some objects hold anything."""
    try:
        read_document(model, said, _Refused)
    except _Refused as refused:
        return str(refused)
    return ""


def test_all_unknown_keys_of_an_object_are_named_with_those_that_are_allowed() -> None:
    for document in DOCUMENTS.values():
        message = _refuse(document, {"one wrong": 1, "another": 2})
        assert '"one wrong", "another"' in message
        assert all(json.dumps(name) in message for name in document.list_keys())


def test_what_is_no_object_is_told_how_one_is_written() -> None:
    for document in DOCUMENTS.values():
        for wrong in ([], "text", 3, None):
            with about(document.__name__, wrong):
                message = _refuse(document, wrong)
                assert document.called in message and document.shown in message
                assert {*json.loads(document.shown)} <= {*document.list_keys()}
