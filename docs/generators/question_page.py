"""The questions about a release as a page: the same that Read answers."""

from __future__ import annotations

from pathlib import Path

from dpviz.words.questions import read_questions


def make_pages(root: Path) -> dict[str, str]:
    """One page, a heading for each question."""
    lines = ["# Questions about a release", "", "Owners and recipients ask them; Read answers in the same words."]
    for one in read_questions():
        lines += ["", f"## {one.asks}", "", one.says, "", f"*From: {one.source}.*"]
    return {"reference/questions.md": "\n".join(lines) + "\n"}
