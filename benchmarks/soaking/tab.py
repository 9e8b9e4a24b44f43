"""A browser tab as the server sees it: a websocket, widgets with values, elements that come and go.

A tab draws nothing, so that twenty of them leave the processor to the server that is measured.
"""

from __future__ import annotations

import asyncio
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

_PATIENCE = 120.0
_COOKIE = "_streamlit_xsrf"
_LARGEST_MESSAGE = 200_000_000


class TabFailed(Exception):
    """The page did what no page may do, in words."""


@dataclass
class _Shown:
    """An element on the page, and the run of the script that drew it."""

    element: Any
    run: int
    fragment: str


@dataclass
class Tab:
    """One visit.

    Parameters
    ----------
    address : str
        Of the server.
    reads : function of bytes
        Is given everything that the server sends.
    """

    address: str
    reads: Callable[[bytes], None]
    pages: dict[str, str] = field(default_factory=dict)
    _values: dict[str, WidgetState] = field(default_factory=dict)
    _shown: dict[tuple[int, ...], _Shown] = field(default_factory=dict)
    _timers: dict[str, float] = field(default_factory=dict)
    _page: str = ""
    _session: str = ""
    _run: int = 0
    _finished: int = 0
    _urls: dict[str, Any] = field(default_factory=dict)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _socket: ClientConnection | None = None
    _cookie: str = ""

    async def __aenter__(self) -> Tab:
        """Open the front page."""
        self._cookie = await asyncio.to_thread(self._fetch_cookie)
        self._socket = await connect(
            self.address.replace("http", "ws", 1) + "/_stcore/stream",
            subprotocols=[Subprotocol("streamlit"), Subprotocol(self._cookie.replace("|", "%7C"))],
            additional_headers={"Cookie": f"{_COOKIE}={self._cookie}"},
            max_size=_LARGEST_MESSAGE,
            open_timeout=_PATIENCE,
            ping_interval=None,
            proxy=None,
        )
        self._tasks = [asyncio.create_task(self._listens()), asyncio.create_task(self._keeps_time())]
        await self._runs()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the tab."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._socket is not None:
            with suppress(ConnectionClosed):
                await self._socket.close()

    async def turns_to(self, title: str) -> float:
        """Change the page; seconds until it is there."""
        began = time.perf_counter()
        self._page = self.pages[title]
        await self._runs()
        return time.perf_counter() - began

    async def presses(self, key: str, *, label: str = "") -> float:
        """Press a button; seconds until the script has run."""
        began = time.perf_counter()
        found = self.find(key, label=label)
        state = WidgetState(id=found.element.id, trigger_value=True)
        await self._runs(state, fragment=found.fragment)
        return time.perf_counter() - began

    async def sets(self, key: str, **value: Any) -> None:
        """Give a widget a value, in the field of its kind."""
        found = self.find(key)
        self._values[found.element.id] = WidgetState(id=found.element.id, **value)
        await self._runs(fragment=found.fragment)

    def fills_in(self, key: str, text: str) -> None:
        """Write into a box of a form, which waits for its button."""
        identity = self.find(key).element.id
        self._values[identity] = WidgetState(id=identity, string_value=text)

    async def uploads(self, key: str, name: str, content: bytes) -> None:
        """Drop a file."""
        asked = uuid.uuid4().hex
        message = BackMsg()
        message.file_urls_request.request_id = asked
        message.file_urls_request.file_names.append(name)
        message.file_urls_request.session_id = self._session
        await self._sends(message)
        await self._until(lambda: asked in self._urls)
        urls = self._urls.pop(asked)
        await asyncio.to_thread(self._put, urls.upload_url, name, content)
        widget = self.find(key).element.id
        state = WidgetState(id=widget)
        info = state.file_uploader_state_value.uploaded_file_info.add()
        info.name, info.size, info.file_id = name, len(content), urls.file_id
        info.file_urls.CopyFrom(urls)
        self._values[widget] = state
        await self._runs()

    async def settles(self, seconds: float) -> bool:
        """Whether what polls on this page (a job) has ended before so many seconds."""
        with suppress(TimeoutError):
            await self._until(lambda: not self._timers, seconds)
            return True
        return False

    def find(self, key: str, *, label: str = "") -> _Shown:
        """The widget with that key of the script, or the button with that label.

        Raises
        ------
        TabFailed
            If it is not on the page.
        """
        for shown in self._shown.values():
            element = shown.element
            if key and getattr(element, "id", "").endswith(f"-{key}"):
                return shown
            if label and getattr(element, "label", "") == label and getattr(element, "id", ""):
                return shown
        raise TabFailed(f"there is no {key or label!r} on the page")

    def has(self, key: str) -> bool:
        """Whether the widget is on the page."""
        return any(getattr(shown.element, "id", "").endswith(f"-{key}") for shown in self._shown.values())

    def shows(self, kind: str) -> Iterator[Any]:
        """The elements of a kind, by their name in the protocol."""
        return (shown.element for shown in self._shown.values() if shown.element.DESCRIPTOR.name == kind)

    async def _runs(self, trigger: WidgetState | None = None, *, fragment: str = "") -> None:
        """Have the script run, and wait until it has."""
        before = self._finished
        await self._sends(self._rerun(trigger, fragment=fragment))
        await self._until(lambda: self._finished > before)
        failed = next(self.shows("Exception"), None)
        if failed is not None:
            raise TabFailed(f"a traceback on the page: {failed.type}")

    def _rerun(self, trigger: WidgetState | None = None, *, fragment: str = "", by_itself: bool = False) -> BackMsg:
        message = BackMsg()
        state: ClientState = message.rerun_script
        state.page_script_hash, state.fragment_id, state.is_auto_rerun = self._page, fragment, by_itself
        here = {getattr(shown.element, "id", "") for shown in self._shown.values()}
        state.widget_states.widgets.extend(value for name, value in self._values.items() if name in here)
        if trigger is not None:
            state.widget_states.widgets.append(trigger)
        return message

    async def _sends(self, message: BackMsg) -> None:
        assert self._socket is not None
        await self._socket.send(message.SerializeToString())

    async def _until(self, happened: Callable[[], bool], seconds: float = _PATIENCE) -> None:
        async with asyncio.timeout(seconds):
            while not happened():
                for task in self._tasks:
                    if task.done():
                        task.result()
                        raise TabFailed("the server closed the connection")
                self._news.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), 1.0)

    async def _listens(self) -> None:
        assert self._socket is not None
        async for raw in self._socket:
            assert isinstance(raw, bytes)
            self.reads(raw)
            message = ForwardMsg.FromString(raw)
            kind = message.WhichOneof("type")
            if kind is not None and (take := getattr(self, f"_take_{kind}", None)) is not None:
                take(message)
                self._news.set()

    def _take_new_session(self, message: ForwardMsg) -> None:
        new = message.new_session
        self._session = new.initialize.session_id or self._session
        self._page = new.page_script_hash or self._page
        self._run += 1

    def _take_navigation(self, message: ForwardMsg) -> None:
        self.pages = {page.page_name: page.page_script_hash for page in message.navigation.app_pages}
        self._page = message.navigation.page_script_hash or self._page

    def _take_delta(self, message: ForwardMsg) -> None:
        path, delta = tuple(message.metadata.delta_path), message.delta
        if delta.WhichOneof("type") != "new_element":
            self._shown.pop(path, None)
            return
        kind = delta.new_element.WhichOneof("type")
        element = getattr(delta.new_element, kind) if kind else delta.new_element
        self._shown[path] = _Shown(element, self._run, delta.fragment_id)

    def _take_script_finished(self, message: ForwardMsg) -> None:
        status = message.script_finished
        if status == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            return
        if status == ForwardMsg.FINISHED_SUCCESSFULLY:  # what this run did not draw is gone
            self._shown = {path: shown for path, shown in self._shown.items() if shown.run == self._run}
            here = {shown.fragment for shown in self._shown.values()}
            self._timers = {name: every for name, every in self._timers.items() if name in here}
        else:
            drawn = {shown.fragment for shown in self._shown.values() if shown.run == self._run and shown.fragment}
            self._shown = {
                path: shown
                for path, shown in self._shown.items()
                if shown.run == self._run or shown.fragment not in drawn
            }
            for shown in self._shown.values():
                shown.run = self._run
        self._finished += 1

    def _take_auto_rerun(self, message: ForwardMsg) -> None:
        self._timers[message.auto_rerun.fragment_id] = message.auto_rerun.interval

    def _take_stop_auto_rerun(self, message: ForwardMsg) -> None:
        for name in message.stop_auto_rerun.fragment_ids:
            self._timers.pop(name, None)

    def _take_file_urls_response(self, message: ForwardMsg) -> None:
        answer = message.file_urls_response
        self._urls[answer.response_id] = answer.file_urls[0]

    async def _keeps_time(self) -> None:
        """Ask for fragments that want to run every so often."""
        due: dict[str, float] = {}
        while True:
            await asyncio.sleep(0.1)
            now = time.monotonic()
            for name, every in list(self._timers.items()):
                if now >= due.setdefault(name, now + every):
                    due[name] = now + every
                    await self._sends(self._rerun(fragment=name, by_itself=True))

    def _fetch_cookie(self) -> str:
        with _direct().open(f"{self.address}/_stcore/health", timeout=_PATIENCE) as answer:
            for header in answer.headers.get_all("Set-Cookie") or ():
                if header.startswith(f"{_COOKIE}="):
                    return str(header.partition("=")[2].partition(";")[0])
        return ""

    def _put(self, url: str, name: str, content: bytes) -> None:
        border = uuid.uuid4().hex
        head = f'--{border}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        body = head.encode() + content + f"\r\n--{border}--\r\n".encode()
        request = urllib.request.Request(self.address + url, body, method="PUT")
        request.add_header("Content-Type", f"multipart/form-data; boundary={border}")
        request.add_header("X-Xsrftoken", self._cookie)
        request.add_header("Cookie", f"{_COOKIE}={self._cookie}")
        with _direct().open(request, timeout=_PATIENCE) as answer:
            if answer.status >= 300:
                raise TabFailed(f"the upload was answered with {answer.status}")


def _direct() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))
