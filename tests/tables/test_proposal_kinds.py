"""Files of kinds that people bring, each with what is right of it: a proposal reads it so, or says why not."""

import json
import math
from pathlib import Path

import pytest

from dpviz.tables.csv_intake import open_csv
from dpviz.tables.declarations import NOTHING_DECLARED, apply_declaration, to_json
from dpviz.tables.loaded_table import IntakeError
from dpviz.tables.proposal import propose

FILES = Path(__file__).parent / "kinds"
RIGHT = json.loads((FILES / "right.json").read_text())


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_a_file_of_each_kind_is_read_right_or_what_is_not_is_said(name):
    right = RIGHT[name]
    file, proposal, refusal = open_csv(FILES / name), None, ""
    try:
        proposal = propose(file)
    except IntakeError as error:
        refusal = str(error)
    if proposal is None:
        assert "or_refuse" in right or any(word in refusal for word in right.get("or_say_any", [])), refusal
        return
    declared = proposal.join_to(NOTHING_DECLARED)
    assert apply_declaration(to_json(declared)) == declared.validate()
    kinds = {column: one.kind for column, one in proposal.kinds.items()}
    said = " ".join(proposal.notes)

    def is_said_of(column):
        return any(f'"{column}"' in note for note in proposal.notes)

    for column, cells in right.get("values", {}).items():
        assert column in proposal.names, proposal.names
        if any(word in said for word in right.get("or_say_any", [])):
            continue
        if right.get("or_say") == column and column not in proposal.numbers:
            assert is_said_of(column), proposal.notes
            continue
        read = file.read(declared.file, numbers=[column]).frame[column][: len(cells)].tolist()
        assert [None if math.isnan(one) else one for one in read] == cells
        assert column in proposal.numbers
    for column, allowed in right.get("kind", {}).items():
        assert kinds[column] in allowed
    for column in [right["say_col"]] if "say_col" in right else []:
        assert is_said_of(column), proposal.notes
    for column in [right["say_mixed"]] if "say_mixed" in right else []:
        assert any(f'"{column}"' in note for note in proposal.notes if note.startswith("Doubtful")), proposal.notes
    if "say_any" in right:
        assert any(word in said for word in right["say_any"]), proposal.notes
    assert declared.columns == tuple(right.get("chosen", declared.columns))
    assert {*right.get("chosen_has", [])} <= {*declared.columns}
    assert not {*right.get("not_chosen", [])} & {*declared.columns}
    assert {right.get("numbers_has", proposal.numbers[0])} <= {*proposal.numbers} if proposal.numbers else True
    assert right.get("not_number") not in proposal.numbers
    assert "not_date" not in right or kinds[right["not_date"]] != "date"
    if right.get("first_is_row"):
        assert proposal.file.header is False or proposal.other is not None
    if "repeats" in right:
        assert proposal.kinds[right["repeats"]].repeats
