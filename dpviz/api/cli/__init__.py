"""The command line: the jobs of the dashboard from a shell. ``python -m dpviz`` and ``dpviz`` are the same."""
