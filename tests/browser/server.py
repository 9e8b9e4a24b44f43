"""The app as its users start it, on a free port, for as long as it is needed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError

ROOT = Path(__file__).resolve().parents[2]
_SECONDS_TO_START = 60


@contextmanager
def running_app(log: Path, folder: Path = ROOT) -> Iterator[str]:
    """The address of a freshly started app, in ``folder``; what it prints goes to ``log``; it stops with the block."""
    port = _free_port()
    address = f"http://localhost:{port}"
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    options = ["--server.port", str(port), "--server.headless", "true", "--server.fileWatcherType", "none"]
    with log.open("wb") as printed:
        server = subprocess.Popen(
            [*command, *options], cwd=folder, env=_environment(), stdout=printed, stderr=subprocess.STDOUT
        )
        try:
            _wait_until_healthy(address, server, log)
            yield address
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _environment() -> dict[str, str]:
    """This process's own, without proxies: nothing has to leave the machine."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return kept | {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(ROOT)}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_healthy(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    latest = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < latest and server.poll() is None:
        try:
            with direct.open(f"{address}/_stcore/health", timeout=2) as answer:
                if answer.read() == b"ok":
                    return
        except (URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"the app did not start; it printed:\n{log.read_text(errors='replace')}")
