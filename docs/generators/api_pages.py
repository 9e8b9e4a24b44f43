"""The Python reference: a page for each folder of the package, a section for each module, read from the source."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from textwrap import dedent

import griffe

_CODE = re.compile(r"``(.+?)``|`([^`]+?)`")
_BOLD = re.compile(r"\*\*([^*]+)\*\*")
# What a function promises stands between its sections; a parser of sections would take it for a part of one.
_GUARANTEE = re.compile(r"^\*\*Guarantee\.\*\*.*?(?=^\w[^\n]*\n-{4,}$|\Z)", re.MULTILINE | re.DOTALL)
_PUBLIC_KINDS = {"function", "class", "attribute"}

_HEAD = """# Python

A page for each folder of the package, read from the source. What other programs rely on is `dpviz.__all__`;
everything else may move.
"""


def make_pages(root: Path) -> dict[str, str]:
    """Each folder's page by its place in the site."""
    logging.getLogger("griffe").setLevel(logging.ERROR)
    package = griffe.load("dpviz", search_paths=[root], docstring_parser="numpy", allow_inspection=False)
    made = {f"reference/python/{folder.path}.md": _write_page(folder) for folder in _list_folders(package)}
    folders = [f"* [{Path(place).stem}]({Path(place).name})" for place in made]
    toctree = ["```{toctree}", ":hidden:", ":glob:", "", "*", "```"]
    made["reference/python/index.md"] = "\n".join([_HEAD, *folders, "", *toctree])
    return made


def _list_folders(package: griffe.Module) -> Iterator[griffe.Module]:
    yield package
    for module in package.modules.values():
        if module.is_package or module.is_subpackage:
            yield from _list_folders(module)


def _write_page(folder: griffe.Module) -> str:
    modules = [
        module
        for module in (folder, *folder.modules.values())
        if module is folder or not (module.is_package or module.is_subpackage)
    ]
    lines = [f"# {folder.path}", ""]
    for module in sorted(modules, key=lambda one: (one is not folder, one.path)):
        if module is not folder:
            lines += [f"## {module.path}", ""]
        if module.docstring is not None:
            lines += ['<div class="api">', *_write_docstring(module), "</div>", ""]
        for member in _list_members(module):
            lines += [*_write_object(member), ""]
    return "\n".join(lines)


def _list_members(parent: griffe.Module | griffe.Class) -> list[griffe.Object]:
    """What is public, and defined here rather than imported, in the order of the file."""
    found = [
        member
        for name, member in parent.members.items()
        if not name.startswith("_")
        and not member.is_alias
        and member.kind.value in _PUBLIC_KINDS
        and (member.kind.value != "attribute" or member.docstring is not None or "property" in member.labels)
    ]
    return sorted(found, key=lambda one: one.lineno or 0)


def _write_object(member: griffe.Object) -> list[str]:
    lines = [
        '<div class="api">',
        f'<h3 id="{member.path}">{member.kind.value} {escape(member.name)}</h3>',
        f'<pre class="plain signature">{escape(_write_signature(member))}</pre>',
        *_write_docstring(member),
    ]
    if isinstance(member, griffe.Class):
        for below in _list_members(member):
            lines += _write_object(below)
    return [*lines, "</div>"]


def _write_signature(member: griffe.Object) -> str:
    if isinstance(member, griffe.Class):
        return f"class {member.name}({', '.join(map(str, member.bases))})".replace("()", "")
    if isinstance(member, griffe.Attribute):
        annotated = f"{member.name}: {member.annotation}" if member.annotation is not None else member.name
        value = str(member.value) if member.value is not None else ""
        return f"{annotated} = {value}" if value and len(value) < 80 else annotated
    assert isinstance(member, griffe.Function)
    arguments = [_write_argument(one) for one in member.parameters]
    marks = _find_star(member)
    for at in sorted(marks, reverse=True):
        arguments.insert(at, marks[at])
    decorated = "".join(f"@{mark}\n" for mark in ("classmethod", "staticmethod", "property") if mark in member.labels)
    returned = f" -> {member.returns}" if member.returns is not None else ""
    return f"{decorated}{member.name}({', '.join(arguments)}){returned}"


def _write_argument(one: griffe.Parameter) -> str:
    star = {"variadic positional": "*", "variadic keyword": "**"}.get(one.kind.value if one.kind else "", "")
    annotated = f": {one.annotation}" if one.annotation is not None else ""
    default = f" = {one.default}" if one.default is not None and not star else ""
    return f"{star}{one.name}{annotated}{default}"


def _find_star(member: griffe.Function) -> dict[int, str]:
    """Where a bare star stands: before the first argument that goes by its name only."""
    kinds = [one.kind.value if one.kind else "" for one in member.parameters]
    if "keyword-only" in kinds and "variadic positional" not in kinds:
        return {kinds.index("keyword-only"): "*"}
    return {}


def _write_docstring(member: griffe.Object) -> list[str]:
    if member.docstring is None:
        return []
    promised = _GUARANTEE.search(member.docstring.value)
    text = _GUARANTEE.sub("", member.docstring.value)
    lines: list[str] = _write_paragraphs(promised[0]) if promised else []
    for place, section in enumerate(griffe.Docstring(text, parent=member).parse("numpy")):
        kind = section.kind.value
        if kind == "text":
            at = len(lines) if place else 0  # what it promises comes after what it does
            lines[at:at] = _write_paragraphs(section.value)
        elif kind == "admonition":
            lines += [
                f"<p><strong>{escape(section.title or '')}</strong></p>",
                *_write_paragraphs(section.value.description),
            ]
        elif isinstance(section.value, list):
            lines += [f"<p><strong>{kind.capitalize()}</strong></p>", "<dl>"]
            for one in section.value:
                lines += _write_item(one)
            lines.append("</dl>")
        else:
            lines += _write_paragraphs(str(section.value))
    return lines


def _write_item(one: object) -> list[str]:
    name, annotation = getattr(one, "name", ""), getattr(one, "annotation", None)
    if isinstance(one, tuple):  # an example: (kind, text)
        return [f"<dd><pre><code>{escape(str(one[1]))}</code></pre></dd>"]
    spelled = " : ".join(escape(str(part)) for part in (name, annotation) if part)
    return [f"<dt>{spelled}</dt>", f"<dd>{_mark_up(getattr(one, 'description', ''))}</dd>"]


def _write_paragraphs(text: str) -> list[str]:
    return [
        f'<pre class="plain">{escape(dedent(part))}</pre>'
        if part.startswith((">>>", "    "))
        else f"<p>{_mark_up(part)}</p>"
        for part in re.split(r"\n[^\S\n]*\n+", text.strip("\n"))
        if part.strip()
    ]


def _mark_up(text: str) -> str:
    """Words with code in backticks, on one line: a blank line would end a block of HTML."""
    line = " ".join(escape(text, quote=False).split())
    return _BOLD.sub(r"<strong>\1</strong>", _CODE.sub(lambda code: f"<code>{code[1] or code[2]}</code>", line))
