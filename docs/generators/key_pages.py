"""The keys of every document that is read or written, as tables: what a key holds, and what it means."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from docs.generators.run_document import RunDocument
from dpviz.app.lessons.lesson_document import LessonDocument
from dpviz.releases.transcript import AskedDocument
from dpviz.runs.study.study_document import StudyDocument, StudyManifest
from dpviz.tables.declaration_document import DeclarationDocument
from dpviz.words.documents import Document
from experiments.claim_folder import ClaimManifest

DOCUMENTS: dict[str, type[Document]] = {
    "Declaration file": DeclarationDocument,
    "Lesson": LessonDocument,
    "Settings of a study": StudyDocument,
    "A run: `dpviz run --json`": RunDocument,
    "The head of a transcript": AskedDocument,
    "Manifest of a study": StudyManifest,
    "Manifest of reproduced claims": ClaimManifest,
}
"""The documents by their headings."""


def make_pages(root: Path) -> dict[str, str]:
    """One page, a table for each document and for each object in it."""
    lines = ["# Keys of documents", "", "Made from the models that read them (`dpviz/words/`, `experiments/`)."]
    for heading, document in DOCUMENTS.items():
        lines += ["", f"## {heading}"]
        for model in list_models(document):
            name = "" if model is document else f"### {model.__name__}: "
            lines += ["", f"{name}{(inspect.getdoc(model) or '').splitlines()[0]}", ""]
            lines += ["| key | value | meaning |", "|---|---|---|"]
            fields = model.model_fields.items()
            lines += [f"| `{one.alias or name}` | {one.title} | {one.description} |" for name, one in fields]
    return {"reference/keys.md": "\n".join(lines) + "\n"}


def list_models(model: type[Document]) -> Iterator[type[Document]]:
    """A model, and those of the objects in it, each once."""
    found = {model: None}
    waiting: list[object] = [field.annotation for field in model.model_fields.values()]
    while waiting:
        part = waiting.pop(0)
        if isinstance(part, type) and issubclass(part, Document):
            if part not in found:
                found[part] = None
                waiting += [field.annotation for field in part.model_fields.values()]
        else:
            waiting += get_args(part)
    yield from found
