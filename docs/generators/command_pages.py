"""The command line as a page, from its own parsers."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from html import escape
from pathlib import Path

from dpviz.api.console import COMMANDS, Parser, add_command
from experiments.__main__ import make_parser


def make_pages(root: Path) -> dict[str, str]:
    """One page, a heading for each command."""
    lines = [
        "# Command line",
        "",
        "`python -m dpviz` and, once installed, `dpviz`. Exit codes: 0 done; 1 a defect of ours, or what a check",
        "found; 2 the request or the file is wrong, and a sentence on stderr says what to do. No output holds a value",
        "of the data.",
    ]
    for parser in (*map(_make_parser, COMMANDS), make_parser()):
        for one in _list_with_subcommands(parser):
            lines += _write_section(one)
    return {"reference/command-line.md": "\n".join(lines)}


def _make_parser(name: str) -> Parser:
    parser = Parser(prog=f"dpviz {name}", allow_abbrev=False)
    add_command(parser, name)
    return parser


def _list_with_subcommands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()


def _write_section(parser: argparse.ArgumentParser) -> list[str]:
    usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
    lines = ["", f"## {parser.prog}", "", f'<pre class="plain signature">{escape(usage)}</pre>', ""]
    if parser.description:
        lines += [f"<p>{escape(parser.description)}</p>", ""]
    rows = [
        f"<tr><td><code>{escape(_spell(action))}</code></td><td>{escape(_explain(action))}</td></tr>"
        for action in parser._actions
        if action.dest != "help" and action.help != argparse.SUPPRESS
        if not isinstance(action, argparse._SubParsersAction)
    ]
    if not rows:
        return lines
    return [*lines, '<table class="docutils">', "<tr><th>option</th><th>meaning</th></tr>", *rows, "</table>", ""]


def _spell(action: argparse.Action) -> str:
    value = action.metavar or ("" if action.nargs == 0 else action.dest.upper())
    value = " ".join(value) if isinstance(value, tuple) else value
    if action.choices is not None and action.metavar is None:
        value = "|".join(map(str, action.choices))
    return " ".join(part for part in (", ".join(action.option_strings), value) if part)


def _explain(action: argparse.Action) -> str:
    text = action.help or ""
    return text.replace("%(default)s", str(action.default)).replace("%%", "%")
