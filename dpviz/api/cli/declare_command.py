"""``dpviz declare``: propose how a file is to be read, as a declaration file to complete: a look at the rows."""

import argparse
from pathlib import Path

from dpviz.api.api_sentences import SENTENCES
from dpviz.api.commands import complete_proposal
from dpviz.api.console import create_out, refuse_taken, say
from dpviz.tables import Declaration, Proposal, declarations
from dpviz.words import foreign, list_names


def serve(arguments: argparse.Namespace) -> str:
    """Serve the request; the text to print."""
    out = None if arguments.out is None else Path(arguments.out)
    if out is not None:
        refuse_taken(out)
    said = {"confirmed": arguments.confirm, "missing": arguments.missing, "every": arguments.all}
    declared, proposal = complete_proposal(arguments.data, **said)
    text = declarations.to_json(declared)
    for note in (
        *((SENTENCES.fill("looked"),) if declared.proposed else ()),
        *proposal.list_open_notes([*arguments.confirm, *arguments.missing]),
        *_list_to_do(declared, proposal),
    ):
        say(note)
    if out is None:
        return text.rstrip("\n")
    create_out(out, text.encode())
    return f"Written to {foreign.format_name(out)}: {'put the bounds in' if _list_unbounded(declared) else 'check it'}."


def _list_unbounded(declared: Declaration) -> list[str]:
    """The columns whose bounds are null."""
    return [name for name in declared.columns if None in declared.bounds[name][:2]]


def _list_to_do(declared: Declaration, proposal: Proposal) -> tuple[str, ...]:
    if not declared.columns:
        return ('Name the columns to cluster, with their bounds, under "bounds".',)
    open_columns = _list_unbounded(declared)
    bounds = [SENTENCES.fill("bounds_wanted", columns=open_columns)] if open_columns else []
    whose = SENTENCES.fill("whose_row", columns=list(proposal.whose))
    public = SENTENCES.fill("become_public", names=list(proposal.list_public(declared)))
    coded = {name for name, style in declared.file.styles.items() if style.missing}
    found = [name for name, form in proposal.list_forms(declared).items() if "dates" not in form]
    confirm = f"--confirm declares {list_names(found)} as they were found, where you know it to be so."
    return (
        *([public] if declared.file.header or declared.file.skip else []),
        *bounds,
        *([whose] if proposal.whose else []),
        *([f"--missing {','.join(proposal.missing)} declares so."] if proposal.missing.keys() - coded else []),
        *([confirm] if found else []),
    )
