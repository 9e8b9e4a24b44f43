"""Whatever word of the glossary stands on a page is explained there, in the glossary's own sentence."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.algorithms import CARDS
from dpviz.tables import FileKind
from dpviz.words.glossary import find_term, find_terms
from tests.pages.site import open_ledger, sample_table
from tests.pages.tables import app_on, computed, open_blobs, open_pairs, players, read_animation

ROOT = Path(__file__).resolve().parents[2]
_SIGNS = re.compile(r":material/\w+:|:[\w-]+(?=\[)|\[[^\]]*\]\([^)]*\)|[*_`]")
# Names of samples and files, and what stands in a link, are no words of ours.
_NO_WORDS = {"page_link", "text_input"}
_TITLES = re.compile("|".join(re.escape(card.title) for card in CARDS.values()))  # names of algorithms
# What opens and closes has no tooltip.
_NO_TOOLTIP = {"tab", "expander", "popover"}


def _nodes(block: Any) -> Iterator[Any]:
    for node in block.children.values():
        if getattr(node, "proto", None) is not None:
            yield node
        if hasattr(node, "children"):
            yield from _nodes(node)


def _labels_and_helps(app: AppTest) -> Iterator[tuple[str, str, str]]:
    """Of every widget and text: what kind it is, what is written on it, and what its tooltip says."""
    for node in (*_nodes(app.main), *_nodes(app.sidebar)):
        proto = node.proto
        written = next((t for name in ("label", "body") if isinstance(t := getattr(proto, name, ""), str) and t), "")
        yield node.type, _SIGNS.sub(" ", _TITLES.sub(" ", written)).strip(), getattr(proto, "help", "") or ""
        if node.type == "arrow_data_frame":
            for column in json.loads(proto.columns or "{}").values():
                yield "column", str(column.get("label") or ""), str(column.get("help") or "")


PAGES = {
    "home": lambda: app_on("home.py", None),
    "data": lambda: app_on("data.py", sample_table("people")),
    "data of a private file": lambda: app_on("data.py", sample_table("people", FileKind.PRIVATE)),
    "explore": lambda: app_on("home.py", open_blobs(labelled=True)),
    "explore, a tree": lambda: app_on("home.py", open_blobs(), algorithm="balcan"),
    "explore, pairs": lambda: app_on("home.py", open_pairs(300)),
    "explore, a private file": lambda: app_on("home.py", open_blobs(FileKind.PRIVATE)),
    "compare": lambda: computed(app_on("compare.py", open_blobs()), "compare"),
    "a sweep": lambda: app_on("compare.py", open_blobs(), drawer="sweep"),
    "a sweep of a private file": lambda: app_on("compare.py", open_blobs(FileKind.PRIVATE), drawer="sweep"),
    "papers": lambda: app_on("papers.py", None),
    "what ε means": lambda: app_on("meaning.py", None),
    "ledger": lambda: open_ledger(app_on("home.py", open_blobs())),
    "release": lambda: app_on("release.py", sample_table("people")),
    "release of a private file": lambda: app_on("release.py", open_blobs(FileKind.PRIVATE)),
}


@pytest.mark.some(6)
@pytest.mark.parametrize("page", PAGES)
def test_a_word_on_a_page_is_explained_there(page: str) -> None:
    app = PAGES[page]()
    parts = list(_labels_and_helps(app))
    unexplained = [
        f"{label}: {term.id}"
        for kind, label, help in parts
        if (term := find_term(label)) is not None
        if kind not in _NO_WORDS | _NO_TOOLTIP and term.first not in help
    ]
    said = "\n".join(help for _, _, help in parts)
    texts = [label for kind, label, _ in parts if kind not in _NO_WORDS | _NO_TOOLTIP]
    if players(app):
        animation = read_animation(app)
        shots = [shot for step in animation["steps"] for shot in (step, *step["sides"])]
        said += "\n".join([*animation["words"].values(), *(shot.get("about", "") for shot in shots)])
        said += "\n".join(number["about"] for number in animation["numbers"])
        texts += [shot[part] for shot in shots for part in ("title", "note", "name")]
        texts += [entry["word"] for shot in shots for entry in shot["legend"]]
        texts += [number["of"] for number in animation["numbers"]]
    words = {term: label[:90] for label in texts for term in find_terms(label)}
    nowhere = {term.id: label for term, label in words.items() if term.first not in said}
    assert not unexplained and not nowhere, "words on labels, and words on the page, that nothing explains"
