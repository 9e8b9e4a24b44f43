"""Temporary: names that moved."""

from dpviz.runs.open_table import OpenTable, declare
from dpviz.table.declaration import Declaration, FileKind

__all__ = ["Declaration", "FileKind", "OpenTable", "declare"]
