"""A name behind a door is found at home: in stubs, in the head of the package, and behind a module that hands it on."""

from __future__ import annotations

import ast

import pytest

from dpviz.audit import doors
from dpviz.audit.doors import find_home, is_door
from tests.house_rules import PACKAGE
from tests.made_doors import made_doors


@pytest.mark.parametrize(
    ("name", "home"),
    [
        ("dpviz.table.Rows", "dpviz.table.rows.Rows"),
        ("dpviz.table.Account", "dpviz.releases.account.Account"),
        # Door behind door.
        ("dpviz.PrivateTable", "dpviz.privacy.private_session.PrivateTable"),
        ("dpviz.privacy.Recording", "dpviz.privacy.replay.Recording"),
        ("dpviz.privacy.compute_log_ratio", "dpviz.privacy.transcripts.compute_log_ratio"),
        # Whatever no door hands on is itself.
        *(
            (name, name)
            for name in ("dpviz.table.rows.Rows", "dpviz.table.Missing", "dpviz.charts.Rows", "dpviz.table")
        ),
        *((name, name) for name in ("numpy.random.default_rng", "random", "dpviz")),
    ],
)
def test_a_name_is_found_at_home(tmp_path, name, home):
    with made_doors(tmp_path):
        assert find_home(name) == home


def test_doors_that_hand_on_in_a_circle_have_an_end(tmp_path):
    with made_doors(tmp_path):
        (tmp_path / "dpviz/table/__init__.pyi").write_text("from . import rows as rows\nfrom ..runs import x as x\n")
        (tmp_path / "dpviz/runs/__init__.pyi").write_text("from dpviz.table import x as x\n")
        assert find_home("dpviz.table.rows") == "dpviz.table.rows"
        assert find_home("dpviz.table.x") in ("dpviz.table.x", "dpviz.runs.x")


def test_a_door_is_a_stub_or_the_head(tmp_path):
    with made_doors(tmp_path):
        assert [is_door(name) for name in ("dpviz", "dpviz.privacy", "dpviz.privacy.weighing")] == [True] * 3
        assert not any(is_door(name) for name in ("dpviz.privacy.queries", "dpviz.charts", "numpy"))


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
    assert find_home("dpviz.table.domain.Region") == "dpviz.table.region.Region"
    assert doors.list_handed_on("numpy") == {}
