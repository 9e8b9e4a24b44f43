"""Builds the documentation site, and refuses one with a warning or with a link that leads nowhere.

    python -m docs.build [--out build/site]

Written pages and generated ones meet in a folder beside the site, so that the checkout stays as it is.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from sphinx.cmd.build import main as build_with_sphinx

from docs.generators import (
    algorithm_pages,
    api_pages,
    command_pages,
    documents,
    glossary_page,
    key_pages,
    notebooks,
    question_page,
    recorded_pages,
)
from docs.generators.links import list_broken_links

ROOT = Path(__file__).resolve().parents[1]
GENERATORS = (
    *(documents, command_pages, glossary_page, question_page, key_pages, api_pages, algorithm_pages, notebooks),
    recorded_pages,
)
"""Each has ``make_pages(root)``: by their places, text as a page of the site, and bytes as a file that it keeps."""
_EXTRA = "extra"


def write_sources(folder: Path) -> None:
    """Write everything that Sphinx reads into ``folder``: the pages of ``docs/`` and those that are generated."""
    leave_out = shutil.ignore_patterns("__pycache__", "generators", "build.py", "*.ipynb")
    shutil.copytree(ROOT / "docs", folder, ignore=leave_out)
    for generator in GENERATORS:
        for place, content in generator.make_pages(ROOT).items():
            path = folder / place if isinstance(content, str) else folder / _EXTRA / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)


def build_site(out: Path) -> int:
    """Build the site into ``out`` and return an exit code: 1 where something is wrong, which stderr names."""
    sources = out.with_name(f"{out.name}-sources")
    for folder in (sources, out):
        shutil.rmtree(folder, ignore_errors=True)
    write_sources(sources)
    code = build_with_sphinx(
        ["-q", "-W", "--keep-going", "-b", "html", "-d", str(sources / ".doctrees"), str(sources), str(out)]
    )
    broken = list_broken_links(out)
    for line in broken:
        print(line, file=sys.stderr)
    return 1 if code or broken else 0


def main(argv: Sequence[str] | None = None) -> int:
    """Serve the command line."""
    parser = argparse.ArgumentParser(prog="python -m docs.build", description="Builds the documentation site.")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", help="folder of the site")
    return build_site(parser.parse_args(argv).out.resolve())


if __name__ == "__main__":
    sys.exit(main())
