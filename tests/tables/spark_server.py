"""A server of Spark Connect on this machine, of two workers with the Python of the tests; it needs Java."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def connected() -> Iterator[Any]:
    """A session with a new server; skips where there is no Java, and fails where a browser is required, as in CI."""
    if shutil.which("java") is None and "REQUIRE_BROWSER" not in os.environ:
        pytest.skip("there is no Java: apt-get install openjdk-17-jre-headless")
    from pyspark.sql import SparkSession

    # Workers begin with these: nothing is installed beside the checkout. A testing server takes a free port, so that
    # two processes of tests have a server each. Java keeps the token that it began with: a later server has it, too.
    workers = {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT), "SPARK_TESTING": "1"}
    workers["SPARK_CONNECT_AUTHENTICATE_TOKEN"] = "tests"
    # In a short life a compiler that takes its time does not pay: two thirds of the processor.
    workers["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    # A server writes into the folder that it is started in.
    with patch.dict(os.environ, workers), TemporaryDirectory() as folder, chdir(folder):
        settings = {"spark.sql.shuffle.partitions": "2", "spark.default.parallelism": "2", "spark.ui.enabled": "false"}
        settings["spark.python.daemon.module"] = "tests.tables.spark_daemon"
        builder = SparkSession.builder.remote("local[2]")
        session = builder.config(map=settings).getOrCreate()
        try:
            yield session
        finally:
            with suppress(Exception):  # a test may have ended it
                session.stop()
