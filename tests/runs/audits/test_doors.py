"""A name behind a door is found at home: in stubs, in the head of the package, and behind a module that hands it on."""

from __future__ import annotations

import ast

import pytest

from dpviz.runs.audits import doors
from dpviz.runs.audits.doors import find_home, is_door
from tests.house_rules import PACKAGE
from tests.made_doors import made_doors


@pytest.mark.parametrize(
    ("name", "home"),
    [
        ("dpviz.tables.Rows", "dpviz.core.rows.Rows"),
        ("dpviz.tables.Account", "dpviz.releases.account.Account"),
        # Door behind door.
        ("dpviz.PrivateTable", "dpviz.core.private_session.PrivateTable"),
        ("dpviz.core.Recording", "dpviz.core.replay.Recording"),
        ("dpviz.core.compute_log_ratio", "dpviz.core.transcripts.compute_log_ratio"),
        # Whatever no door hands on is itself.
        *(
            (name, name)
            for name in ("dpviz.core.rows.Rows", "dpviz.tables.Missing", "dpviz.app.charts.Rows", "dpviz.tables")
        ),
        *((name, name) for name in ("numpy.random.default_rng", "random", "dpviz")),
    ],
)
def test_a_name_is_found_at_home(tmp_path, name, home):
    with made_doors(tmp_path):
        assert find_home(name) == home


def test_doors_that_hand_on_in_a_circle_have_an_end(tmp_path):
    with made_doors(tmp_path):
        (tmp_path / "dpviz/tables/__init__.pyi").write_text("from . import rows as rows\nfrom ..runs import x as x\n")
        (tmp_path / "dpviz/runs/__init__.pyi").write_text("from dpviz.tables import x as x\n")
        assert find_home("dpviz.core.rows") == "dpviz.core.rows"
        assert find_home("dpviz.tables.x") in ("dpviz.tables.x", "dpviz.runs.x")


def test_a_door_is_a_stub_or_the_head(tmp_path):
    with made_doors(tmp_path):
        assert [is_door(name) for name in ("dpviz", "dpviz.core", "dpviz.core.weighing")] == [True] * 3
        assert not any(is_door(name) for name in ("dpviz.core.queries", "dpviz.app.charts", "numpy"))


def test_what_the_package_exports_is_found_where_it_is_made():
    made = {
        f"{source.module}.{name}"
        for source in PACKAGE
        for node in source.tree.body
        for name in (getattr(node, "name", ""), *map(ast.unparse, getattr(node, "targets", ())))
    }
    import dpviz

    homes = {find_home(f"dpviz.{name}") for name in dpviz.__all__}
    assert homes <= made, homes - made
    assert find_home("dpviz.core.domain.Region") == "dpviz.core.region.Region"
    assert doors.list_handed_on("numpy") == {}
