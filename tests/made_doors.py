"""Doors that are made up: stubs in a folder, from which names are found at home as behind those of the package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dpviz.runs.audits import doors

STUBS = {
    "dpviz/table": "from .rows import Rows as Rows\nfrom .loaded_table import LoadedTable as LoadedTable\n"
    "from ..releases.account import Account as Account\n",
    "dpviz/privacy": "from .private_session import PrivateSession as PrivateSession, PrivateTable as PrivateTable\n"
    "from .queries import Count as Count\nfrom .ledger import Ledger as Ledger\n"
    "from ..releases.account import Account as Account\n"
    "from .revealed_rows import Revealed as Revealed\nfrom .weighing import Recording as Recording\n"
    "from .weighing import compute_log_ratio as compute_log_ratio\n",
    # A room inside a room has a door of its own.
    "dpviz/core/weighing": "from ..replay import Recording as Recording\n"
    "from dpviz.core.transcripts import compute_log_ratio as compute_log_ratio\n",
    "dpviz/audit": "from .audited import Check as Check\n",
    "dpviz/runs": "from .evaluation import evaluate as evaluate\n"
    "from dpviz.core import PrivateTable as PrivateTable\n"
    "from .open_table import OpenTable as OpenTable, declare as declare\n",
}


@contextmanager
def made_doors(folder: Path) -> Iterator[None]:
    """As if these were the doors of the package, all of which lies in ``folder``, but for its head."""
    for place, stub in STUBS.items():
        (folder / place).mkdir(parents=True, exist_ok=True)
        (folder / place / "__init__.pyi").write_text(stub, encoding="utf-8")
    head = "from dpviz.core import PrivateTable as PrivateTable\n"
    (folder / "dpviz" / "__init__.pyi").write_text(head, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(doors, "_ROOT", folder)
        doors.list_handed_on.cache_clear()
        yield
    doors.list_handed_on.cache_clear()
