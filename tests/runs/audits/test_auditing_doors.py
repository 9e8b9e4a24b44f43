"""A name behind a door is found at home: in stubs, in the head of the package, and behind a module that hands it on."""

from __future__ import annotations

import ast

import pytest

from dpviz.runs.audits import auditing
from dpviz.runs.audits.auditing import find_home
from tests.house_rules import PACKAGE


@pytest.mark.parametrize(
    ("name", "home"),
    [
        ("dpviz.core.Rows", "dpviz.core.rows.Rows"),
        ("dpviz.releases.Account", "dpviz.releases.account.Account"),
        # Door behind door.
        ("dpviz.PrivateTable", "dpviz.core.private_session.PrivateTable"),
        # Whatever no door hands on is itself.
        *((name, name) for name in ("dpviz.core.rows.Rows", "dpviz.tables.Missing", "dpviz.app.Rows", "dpviz.tables")),
        *((name, name) for name in ("numpy.random.default_rng", "random", "dpviz")),
    ],
)
def test_a_name_is_found_at_home(name, home):
    assert find_home(name) == home


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
    assert find_home("dpviz.core.domain.Region") == "dpviz.core.domain.Region"
    assert auditing.list_handed_on("numpy") == {}
