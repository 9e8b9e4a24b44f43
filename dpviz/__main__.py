"""The command line as a module: ``python -m dpviz``."""

import sys

from dpviz.api.console import main

if __name__ == "__main__":
    sys.exit(main())
