"""The command line as a module: ``python -m dpviz``."""

from __future__ import annotations

import sys

from dpviz.api.console import COMMANDS, main, read_arguments

__all__ = ["COMMANDS", "main", "read_arguments"]

if __name__ == "__main__":
    sys.exit(main())
