"""The words that a page shows at first sight: nothing of closed boxes, unchosen options, tooltips and hidden labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from streamlit.testing.v1 import AppTest

_SIGNS = re.compile(r":material/\w+:|:[\w-]+(?=\[)|[*_\[\]#`\\]")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")


def visible_words(app: AppTest) -> list[str]:
    """All words on the page beside the sidebar, in their order."""
    texts = " ".join(_texts(app.main))
    return _WORD.findall(_SIGNS.sub(" ", texts))


def _texts(block: Any) -> Iterator[str]:
    for node in block.children.values():
        proto = getattr(node, "proto", None)
        if hasattr(node, "children"):
            closed = node.type == "popover" or (node.type == "expander" and not proto.expanded)
            yield proto.popover.label if node.type == "popover" else getattr(proto, "label", "")
            if not closed:
                yield from _texts(node)
        elif proto is not None:
            yield from _said(node, proto)


def _said(node: Any, proto: Any) -> Iterator[str]:
    for part in ("body", "title"):
        text = getattr(proto, part, "")
        yield text if isinstance(text, str) else ""
    hidden = getattr(getattr(proto, "label_visibility", None), "value", 0)
    label = getattr(proto, "label", "")
    yield label if isinstance(label, str) and not hidden else ""
    if node.type in ("button_group", "radio", "segmented_control"):
        for option in proto.options:
            yield option if isinstance(option, str) else getattr(option, "content", "")
    elif node.type == "selectbox":
        yield proto.placeholder if node.index is None else node.options[node.index]
    elif node.type in ("number_input", "text_input", "multiselect"):
        yield proto.placeholder if getattr(node, "value", None) in (None, "", []) else ""
