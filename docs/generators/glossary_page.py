"""The glossary as a page: the same words that tooltips and the page Learn read."""

from __future__ import annotations

from pathlib import Path

import yaml


def make_pages(root: Path) -> dict[str, str]:
    """One page, a heading for each group of words."""
    groups = yaml.safe_load((root / "dpviz" / "words" / "glossary.yaml").read_text("utf-8"))
    lines = ["# Glossary", "", "Each word in two sentences, as the dashboard explains it."]
    for group, terms in groups.items():
        lines += ["", f"## {group}", ""]
        for place, term in terms.items():
            lines += [f"**[{term['name']}]{{#{place}}}** {term['says'].strip()} {term.get('number', '')}".rstrip(), ""]
    return {"reference/glossary.md": "\n".join(lines)}
