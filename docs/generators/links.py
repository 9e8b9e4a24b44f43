"""Every link of a built site: its page has to be there, and the place in it; nothing is fetched from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_FETCHED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src"}
# Each is a whole program in one file, and has tests of its own.
_PLAYERS = "players"


@dataclass
class _Page(HTMLParser):
    """The places of a page, and where it leads."""

    places: set[str] = field(default_factory=set)
    leads: list[str] = field(default_factory=list)
    fetches: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        self.places.update(said[name] for name in ("id", "name") if name in said)
        if tag == "a" and "href" in said:
            self.leads.append(said["href"])
        if tag in _FETCHED and _FETCHED[tag] in said and said.get("rel") != "canonical":
            self.fetches.append(said[_FETCHED[tag]])


def read_page(text: str) -> _Page:
    """The places and links of a page of HTML."""
    page = _Page()
    page.feed(text)
    return page


def list_broken_links(site: Path) -> list[str]:
    """Each link within the site that leads nowhere, and each file that a page would fetch from elsewhere."""
    pages = {
        path.resolve(): read_page(path.read_text("utf-8"))
        for path in sorted(site.rglob("*.html"))
        if _PLAYERS not in path.parts and path.name != "404.html"
    }
    broken = []
    for path, page in pages.items():
        here = path.relative_to(site.resolve())
        broken += [f"{here}: fetches {link}" for link in page.fetches if urlsplit(link).netloc]
        for link in (*page.leads, *page.fetches):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                broken.append(f"{here}: {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                broken.append(f"{here}: {link} has no such place")
    return broken
