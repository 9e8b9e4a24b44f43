"""dpviz declare: what it proposes is what the page proposes, and reads as it should."""

import json
from pathlib import Path

import pandas as pd
import yaml

from dpviz.tables.csv_intake import open_csv
from dpviz.tables.declarations import NOTHING_DECLARED, read_declaration
from dpviz.tables.proposal import propose
from tests.cases import about
from tests.command_line import call

CASES = Path(__file__).parents[2] / "tables" / "cases"
RIGHT = yaml.safe_load((CASES / "right.yaml").read_text())


def test_each_kind_of_file_is_declared_as_its_notes_say_and_runs(capsys, tmp_path):
    """What a note calls not proposed is not chosen; cells that are no numbers are counted when it runs."""
    for name, right in RIGHT.items():
        data = tmp_path / f"{name}.csv"
        data.write_bytes((CASES / f"{name}.csv").read_bytes())
        out = data.with_suffix(".json")
        said = call(capsys, "declare", data, "--out", out)
        with about(name, said.err):
            if "refused" in right:
                assert said.code == 2 and right["refused"] in said.err and not out.exists()
                continue
            assert said.code == 0 and all(note in said.err for note in right.get("said", []))
            chosen = right["chosen"] or {}
            declared = read_declaration(out)
            assert declared == propose(open_csv(data)).join_to(NOTHING_DECLARED) and declared.columns == tuple(chosen)
            if not chosen:
                continue
            bounded = json.loads(out.read_text()) | {"bounds": {column: [-1e8, 1e8] for column in chosen}}
            out.write_text(json.dumps(bounded))
            ran = call(capsys, "run", data, "--k", "1", "--epsilon", "1", "--algorithm", "dplloyd", "--json")
            lost = any(cell is None for cells in chosen.values() for cell in cells)
            assert ran.code == 0 and lost == ("dropped" in ran.err), ran.err
            assert ran.json["columns"] == list(chosen)


def test_what_the_owner_confirms_is_declared_as_found(capsys, tmp_path):
    data = tmp_path / "d.csv"
    data.write_text("x,place,joined\n" + "".join(f"{i}.5,{'NS'[i % 2]},2021-01-{1 + i % 28}\n" for i in range(40)))
    said = call(capsys, "declare", data)
    assert said.json["bounds"] == {"x": [None, None]} and "--confirm declares" in said.err
    confirmed = call(capsys, "declare", data, "--confirm", "place").json
    assert confirmed["bounds"]["place"] == {"categories": ["N", "S"]} and confirmed["proposed"]
    for name, why in (("joined", "between which ones"), ("x", "Nothing but bounds")):
        refused = call(capsys, "declare", data, "--confirm", name)
        assert refused.code == 2 and why in refused.err


def test_of_parquet_names_and_types_are_enough(capsys, tmp_path):
    """No row is looked at, and nobody is sent to write a CSV."""
    path = tmp_path / "people.parquet"
    pd.DataFrame({"person_id": [1, 2], "age": [31.0, 44.0], "city": ["a", "b"]}).to_parquet(path)
    said = call(capsys, "declare", path)
    declared = said.json
    assert said.code == 0 and declared["bounds"] == {"age": [None, None]} and "proposed" not in declared
    assert "no row was looked at" in said.err
    (tmp_path / "misnamed.csv").write_bytes(path.read_bytes())
    said = call(capsys, "declare", tmp_path / "misnamed.csv")
    assert said.code == 2 and "ending .parquet" in said.err
