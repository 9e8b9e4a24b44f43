"""Files of kinds that people bring, each as public trackers report it: what a proposal reads of it, and what it says.

``kinds.txt`` tells it file by file, as it was found to be right; nothing in the files is anybody's data.
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path

from dpviz.tables.csv_intake import open_csv
from dpviz.tables.declarations import NOTHING_DECLARED, apply_declaration, to_json
from dpviz.tables.loaded_table import IntakeError
from dpviz.tables.proposal import propose
from tests.stored import compare_texts

HERE = Path(__file__).parent
_MOST = 12  # columns of a file, and cells of a column


def tell(path: Path) -> Iterator[str]:
    """Each column with its kind and first numbers, whether it is chosen, and every note; or why it is refused."""
    file = open_csv(path)
    try:
        proposal = propose(file)
    except IntakeError as refused:
        yield f"refused: {refused}"
        return
    declared = proposal.join_to(NOTHING_DECLARED)
    assert apply_declaration(to_json(declared)) == declared.validate()
    numbers = file.read(declared.file, numbers=proposal.numbers).frame
    written = json.loads(to_json(declared)).get("file", {})
    yield f"{json.dumps(written, ensure_ascii=False)[:400]}; names: {proposal.names[:_MOST]}"
    if proposal.other is not None:
        again = propose(file, reading=proposal.other)
        assert (again.file, again.other) == (proposal.other, proposal.file)
        yield f"another reading: a header is {again.file.header}, {again.names[:_MOST]}"
    others = {"units": proposal.units, "missing": proposal.missing, "whose": proposal.whose}
    yield from (f"{what}: {found}" for what, found in others.items() if found)
    yield from (f"form of {name}: {form}" for name, form in proposal.list_forms(NOTHING_DECLARED).items())
    for name in proposal.names[:_MOST]:
        kind, chosen = proposal.kinds[name], ", chosen" if name in declared.columns else ""
        cells = numbers[name][:_MOST].tolist() if name in proposal.numbers else []
        read = " ".join("none" if math.isnan(cell) else f"{cell:.12g}" for cell in cells)
        yield f"{name}: {kind.kind}{', repeats' if kind.repeats else ''}{chosen} {read}".rstrip()
    yield from proposal.notes


def test_each_kind_of_file_that_people_bring_is_read_as_it_was_found_to_be_right() -> None:
    paths = [*sorted((HERE / "cases").glob("*.csv")), *sorted((HERE / "kinds").glob("*.csv"))]
    compare_texts(HERE / "kinds.txt", ((f"{path.parent.name}/{path.name}", "\n".join(tell(path))) for path in paths))
