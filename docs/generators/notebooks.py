"""Notebooks as pages: each is run from its first cell to its last, and what came out stands below each cell.

    python -m docs.generators.notebooks

renews ``examples/``: the same notebooks as they ran, for readers of notebooks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

_FRAME = re.compile(r'<iframe title="([^"]*)"[^>]*srcdoc="([^"]*)"[^>]*></iframe>', re.DOTALL)
PATIENCE = 300
"""Seconds that one cell may take before the build gives up on it."""


def make_pages(root: Path) -> dict[str, str | bytes]:
    """A page for each notebook; what plays in a frame is a file beside it."""
    made: dict[str, str | bytes] = {}
    for path in sorted((root / "docs" / "tutorials").glob("*.ipynb")):
        made |= run_notebook(nbformat.read(path, as_version=4), path.stem, root)
        made[f"tutorials/{path.name}"] = path.read_bytes()
    return made


def run_notebook(notebook: nbformat.NotebookNode, name: str, root: Path) -> dict[str, str | bytes]:
    """One notebook, run in the root of the checkout.

    Raises
    ------
    CellExecutionError
        If a cell fails.
    """
    execute(notebook, root)
    made: dict[str, str | bytes] = {}
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for html in _show_outputs(cell):
            framed = _FRAME.search(html)
            if framed:
                place = f"tutorials/players/{name}-{len(made) + 1}.html"
                made[place] = unescape(framed[2]).encode()
                source = place.removeprefix("tutorials/")
                html = f'<iframe class="player" loading="lazy" title="{framed[1]}" src="{source}"></iframe>'
            parts.append(f'<div class="output">{html}</div>')
    parts.append(f'<p><a href="{name}.ipynb" download>Take this notebook away</a> and run it in a checkout.</p>')
    return {f"tutorials/{name}.md": "\n\n".join(parts), **made}


def execute(notebook: nbformat.NotebookNode, root: Path) -> None:
    """Run all cells in the root of the checkout; what comes out is in the notebook then."""
    # Sockets of this machine's files rather than ports: nobody else can connect to them.
    config = Config({"ConnectionFileMixin": {"transport": "ipc"}})
    client = NotebookClient(
        notebook, config=config, timeout=PATIENCE, record_timing=False, resources={"metadata": {"path": str(root)}}
    )
    client.execute()


def fit_for_examples(notebook: nbformat.NotebookNode) -> None:
    """Leave the players out, megabytes each, of which words stay; links lead from ``examples/`` to the same pages."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = cell.source.replace("](../", "](../docs/")
        for output in cell.get("outputs", ()):
            if _FRAME.search(output.get("data", {}).get("text/html", "")):
                del output["data"]["text/html"]


def write_examples(root: Path) -> None:
    """Renew the notebooks of ``examples/``."""
    for path in sorted((root / "docs" / "tutorials").glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        execute(notebook, root)
        fit_for_examples(notebook)
        nbformat.write(notebook, root / "examples" / path.name)


def _show_outputs(cell: nbformat.NotebookNode) -> Iterator[str]:
    """What a cell showed, as HTML without blank lines, which would end a block of it."""
    for output in cell.outputs:
        data = output.get("data", {})
        if "text/html" in data:
            html = re.sub(r"<style scoped>.*?</style>", "", data["text/html"], flags=re.DOTALL)
            html = html.replace('<table border="1" class="dataframe">', '<table class="docutils">')
            yield re.sub(r"\n\s*\n", "\n", html)
        else:
            text = output.get("text") or data.get("text/plain", "")
            lines = escape(text).rstrip().replace("\n\n", "\n&#8203;\n")
            yield f"<pre><code>{lines}</code></pre>"


if __name__ == "__main__":
    write_examples(Path(__file__).resolve().parents[2])
