"""Documents as models: each key says what it holds, and a fault is one sentence that names it and quotes no value."""

from typing import Any

from docs.generators.key_pages import DOCUMENTS, list_models
from dpviz.core.check import RequestError
from dpviz.words.documents import Document, read_document
from tests.cases import about

_SECRET = "4711-secret"


class _Refused(RequestError):
    pass


def test_every_key_says_what_it_holds_and_what_it_means() -> None:
    for document in DOCUMENTS.values():
        for model in list_models(document):
            with about(model.__name__):
                assert model.__doc__ and all(one.title and one.description for one in model.model_fields.values())


def test_a_value_that_is_none_is_refused_by_its_key_and_is_not_quoted() -> None:
    for document in DOCUMENTS.values():
        for name in document.list_keys():
            wrong = ({_SECRET: {_SECRET: [_SECRET]}}, [[_SECRET]], [{_SECRET: True}])
            messages = [_refuse(document, {name: one}) for one in wrong]
            with about(document.__name__, name, messages):
                assert any(f'"{name}"' in message for message in messages), "some of them are none of any key"
                for message in messages:
                    assert ". " not in message and _SECRET not in message.replace(f'"{_SECRET}"', "")


def _refuse(model: type[Document], said: Any) -> str:
    """The refusal; "" where there is none: some objects hold anything."""
    try:
        read_document(model, said, _Refused)
    except _Refused as refused:
        return str(refused)
    return ""
