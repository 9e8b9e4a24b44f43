"""When a page has come to rest: what it asked the server for has been answered, and what it shows no longer moves.

Nothing here counts time. A script in the page reads what it says to the server and what it hears: each question runs
Streamlit's script, whose end is told. Whatever a click asks for is on its way before the click is over.

Every wait ends: a browser that draws no frames any more, or an animation that never finishes, is waited for no longer
than patience lasts, and then the test fails and says which of them it was.
"""

from playwright.sync_api import Page
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.waiting import MILLISECONDS

_BETWEEN = 50  # milliseconds between two looks
# Numbers of fields in the page library's protocol, and what the end of a run is called that makes way for the next.
_ASKS, _HEARS = BackMsg.DESCRIPTOR.fields_by_name, ForwardMsg.DESCRIPTOR.fields_by_name
_ASKED = _ASKS["rerun_script"].message_type.fields_by_name
_RUN = _HEARS["metadata"].message_type.fields_by_name["run"]
NUMBERS = {
    **{"RERUN_SCRIPT": _ASKS["rerun_script"].number, "FRAGMENT_ID": _ASKED["fragment_id"].number},
    **{"IS_AUTO_RERUN": _ASKED["is_auto_rerun"].number, "METADATA": _HEARS["metadata"].number, "RUN": _RUN.number},
    **{"FRAGMENT_IDS": _RUN.message_type.fields_by_name["fragment_ids"].number},
    **{"NEW_SESSION": _HEARS["new_session"].number, "SCRIPT_FINISHED": _HEARS["script_finished"].number},
    **{"EARLY_FOR_RERUN": ForwardMsg.FINISHED_EARLY_FOR_RERUN},
}
WATCHES = """
  const heard = { asked: 0, open: false, begun: false, of: "", largest: 0, tells: [] };
  window.__heard = heard;
  const news = () => heard.tells.splice(0).forEach((tell) => tell());
  heard.next = () => new Promise((tell) => heard.tells.push(tell));

  // The fields of a message of Protocol Buffers: name by number, with a number or the bytes that it holds.
  function* fields(bytes) {
    let at = 0;
    const number = () => {
      let value = 0;
      for (let place = 1; at < bytes.length; place *= 128) {
        const byte = bytes[at++];
        value += (byte & 127) * place;
        if (byte < 128) break;
      }
      return value;
    };
    while (at < bytes.length) {
      const tag = number(), kind = tag & 7, name = Math.floor(tag / 8);
      if (kind === 0) yield [name, number()];
      else if (kind === 2) {
        const length = number();
        yield [name, bytes.subarray(at, at + length)];
        at += length;
      } else at += kind === 1 ? 8 : 4;
    }
  }
  const all = (messages, wanted) => messages.flatMap((bytes) => [...fields(bytes)])
    .filter(([name]) => name === wanted).map(([, value]) => value);
  const text = (bytes) => new TextDecoder().decode(bytes);

  // A run of the script that begins after a question answers it, unless it is that of another piece of the page.
  const hears = ({ data }) => {
    if (!(data instanceof ArrayBuffer)) return;
    heard.largest = Math.max(heard.largest, data.byteLength);
    const message = [new Uint8Array(data)];
    if (all(message, NEW_SESSION).length) {
      const pieces = all(all(all(message, METADATA), RUN), FRAGMENT_IDS).map(text);
      heard.begun ||= !pieces.length || pieces.includes(heard.of);
    }
    const ends = all(message, SCRIPT_FINISHED);
    if (ends.length && ends[0] !== EARLY_FOR_RERUN && heard.begun) heard.open = false;
    news();
  };
  const known = new WeakSet(), send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    if (!known.has(this)) this.addEventListener("message", hears);
    known.add(this);
    for (const question of data instanceof Uint8Array ? all([data], RERUN_SCRIPT) : []) {
      if (all([question], IS_AUTO_RERUN)[0]) continue; // what polls asks again and again
      const of = all([question], FRAGMENT_ID).map(text)[0] ?? "";
      Object.assign(heard, { asked: heard.asked + 1, open: true, begun: false, of });
    }
    return send.call(this, data);
  };
  new MutationObserver(news).observe(document, { subtree: true, attributeFilter: ["data-test-script-state"] });
"""
_CONSTANTS = ", ".join(f"{name} = {number}" for name, number in NUMBERS.items())
WATCHES = f"(() => {{ const {_CONSTANTS};{WATCHES}}})();"

# The next two frames, before the second of which the page's own library draws what it heard; and a wait that ends.
_PATIENT = """
  const draws = () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))));
  const within = (patience, promise) => {
    let clock;
    const late = new Promise((tell) => { clock = setTimeout(tell, patience, false); });
    return Promise.race([promise, late]).finally(() => clearTimeout(clock));
  };
"""
# What has not happened when patience ends, or nothing.
_ANSWERED = """
  const heard = window.__heard;
  const app = () => document.querySelector('[data-testid="stApp"]');
  const answered = () => heard.asked > 0 && !heard.open && app()?.dataset.testScriptState === "notRunning";
  let late = false, drawing = false;
  const drawn = async () => { drawing = true; await draws(); drawing = false; };
  const rests = async () => {
    await drawn();
    while (!late) {
      if (!answered()) await heard.next();
      else { await drawn(); if (answered()) break; }
    }
  };
  await within(patience, rests());
  late = true;
  heard.tells.splice(0).forEach((tell) => tell());
  if (drawing) return "the browser draws no frames";
  return answered() ? "" : `asked ${heard.asked}, open ${heard.open}, script ${app()?.dataset.testScriptState}`;
"""
# What moves for ever, as a sign of work under way does, is not waited for.
_STILL = """
  const moves = () => document.getAnimations().filter((one) => one.playState === "running"
    && Number.isFinite(one.effect?.getComputedTiming().endTime ?? Infinity));
  // Looked at frame by frame: what an animation says of its end is not to be had of one whose element has left.
  const rests = async () => {
    do await draws(); while (!late && moves().length);
    return true;
  };
  let late = false;
  if (await within(patience, rests())) return "";
  late = true;
  if (!moves().length) return "the browser draws no frames";
  return moves().map((one) => `${one.animationName ?? one.transitionProperty} of ${one.effect.target?.outerHTML}`)
    .join(", ").slice(0, 500);
"""
_ANSWERED, _STILL = (f"async (patience) => {{{_PATIENT}{script}}}" for script in (_ANSWERED, _STILL))


def answers(page: Page) -> None:
    """Wait until everything that the page has asked for is answered and drawn."""
    missing = page.evaluate(_ANSWERED, MILLISECONDS)
    assert not missing, f"the page has not come to rest: {page.url}: {missing}"


def still(page: Page) -> None:
    """Wait until nothing on the page fades or glides any more."""
    missing = page.evaluate(_STILL, MILLISECONDS)
    assert not missing, f"the page is not still: {page.url}: {missing}"


def becomes(page: Page, true: str, arg: object = None) -> None:
    """Wait until a function of the page returns true, whether or not the browser draws frames meanwhile."""
    page.wait_for_function(true, arg=arg, polling=_BETWEEN)


def asked(page: Page) -> int:
    """How often the page has asked the server something, without what a clock of its own asks again and again."""
    return int(page.evaluate("window.__heard.asked"))


def largest(page: Page) -> int:
    """How many bytes the largest message had that the page has heard."""
    return int(page.evaluate("window.__heard.largest"))
