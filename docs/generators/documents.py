"""Documents of the root as pages of the site: the changelog, how to contribute, security, support and conduct."""

from __future__ import annotations

import re
from pathlib import Path

PLACES = {
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "SUPPORT.md": "support.md",
}


def make_pages(root: Path) -> dict[str, str]:
    """The documents, whose links to each other and into ``docs/`` lead to pages."""
    return {place: with_links_of_the_site((root / name).read_text("utf-8")) for name, place in PLACES.items()}


def with_links_of_the_site(text: str) -> str:
    """A document with its links as they are in the site: of another file of the checkout only the words stay."""

    def relink(link: re.Match[str]) -> str:
        words, target = link.groups()
        if target.startswith(("http", "#", "mailto:")):
            return link[0]
        if target in PLACES:
            return f"[{words}]({PLACES[target]})"
        return f"[{words}]({target.removeprefix('docs/')})" if target.startswith("docs/") else words

    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)]+)\)", relink, text)
