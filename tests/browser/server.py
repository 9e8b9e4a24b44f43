"""The app as its users start it, on a free port, for as long as it is needed."""

import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import URLError

from tests.waiting import SECONDS, eventually

ROOT = Path(__file__).resolve().parents[2]
HELD, STEPS = 101, "DPVIZ_TEST_STEPS"  # for ``tests/browser/small_app.py``


@contextmanager
def running_app(log: Path, folder: Path = ROOT, *, program: str = "streamlit") -> Iterator[str]:
    """The address of a freshly started app, in ``folder``; what it prints goes to ``log``; it stops with the block."""
    command = [sys.executable, "-m", program, "run", "app.py", "--server.headless", "true"]
    options = ["--server.fileWatcherType", "none", "--server.port"]
    with served([*command, *options], log, folder, {**own_environment(), "PYTHONPATH": str(ROOT)}) as address:
        yield address


@contextmanager
def served(command: Sequence[str], log: Path, folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """The address of the app that ``command``, to which a free port is added, starts in ``folder``."""
    port = _free_port()
    address = f"http://localhost:{port}"
    with log.open("wb") as printed:
        server = subprocess.Popen(
            [*command, str(port)], cwd=folder, env=environment, stdout=printed, stderr=subprocess.STDOUT
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


def own_environment() -> dict[str, str]:
    """This process's own, without proxies: nothing has to leave the machine; and without other places of packages."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    kept.pop("PYTHONPATH", None)
    return kept | {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_healthy(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def answers() -> bool:
        with suppress(URLError, OSError), direct.open(f"{address}/_stcore/health", timeout=SECONDS) as answer:
            return bool(answer.read() == b"ok")
        return False

    if not eventually(lambda: server.poll() is not None or answers()) or server.poll() is not None:
        raise RuntimeError(f"the app did not start; it printed:\n{log.read_text(errors='replace')}")
