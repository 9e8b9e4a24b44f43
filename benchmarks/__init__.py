"""Side-by-side timings, memory and loss: each module is one command, ``python -m benchmarks.NAME``."""
