// An animation of a run: all steps are here, so stepping, playing, pointing and resizing never ask the server. In a page of its
// own (alone.js) there is none: the library is there before, and nobody to tell another ε to.

const VENDOR = "/vendor/plotly.min.js";
const CONFIG = { displayModeBar: false, showSendToCloud: false, responsive: false, doubleClick: "reset" };
const SECONDS_A_STEP = 1.1, GLIDE = 500, LEAST_NARROW = 150, WIDE = 700;
const LETTER = 6.6, FEW = 500; // pixels of a letter of a note; rows

let loading;
function library() {
  return loading ??= window.Plotly ? Promise.resolve(window.Plotly) : new Promise((done, failed) => {
    const script = Object.assign(document.createElement("script"), { src: VENDOR, onload: () => done(window.Plotly), onerror: failed });
    document.head.append(script);
  });
}

export default function (component) {
  const box = component.parentElement.querySelector(".animation");
  const player = box.player ??= new Player(box);
  const { animation, around } = component.data;
  player.shows(animation, JSON.parse(around));
  return () => player.rests();
}

export async function unzipped(base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

function made(name, look = "", text = null) {
  const part = document.createElement(name);
  if (look) part.className = look;
  if (text != null) part.textContent = text;
  return part;
}

// Of named ticks as many as stand below each other without touching.
function thinned(axis, height) {
  const step = axis?.ticktext ? Math.ceil((axis.ticktext.length * 1.1 * (axis.tickfont?.size ?? 12)) / (height - 60)) : 1;
  const some = (values) => numbers(values).filter((_, place) => place % step === 0);
  return step > 1 ? { ...axis, tickvals: some(axis.tickvals), ticktext: axis.ticktext.filter((_, place) => place % step === 0) } : axis;
}

class Player {
  at = null;
  companion = null; // the name of what stands beside the pictures, where it can be chosen
  timer = 0;
  layers = new Map();

  constructor(box) {
    this.box = box;
    this.part = (name) => box.querySelector("." + name);
    this.map = this.part("map");
    this.side = this.part("sideplot");
    this.part("back").onclick = () => this.walks(-1);
    this.part("next").onclick = () => this.walks(1);
    this.part("play").onclick = () => (this.timer ? this.stops() : this.plays());
    box.onkeydown = (event) => this.hears(event);
    for (const sign of ["pointerenter", "focusin"]) box.addEventListener(sign, () => this.wakes());
    this.drags(this.part("reel"));
    this.observer = new ResizeObserver(() => this.fits() && this.draws(true));
    this.resized = () => this.fits() && this.draws(true);
  }

  // A new run, or the same one in other colours: the walk goes on where it stood if the steps are of the same kinds.
  async shows(sent, around) {
    this.tellsAround(around);
    const same = sent === this.sent;
    this.sent = sent;
    if (!same) {
      const text = sent.startsWith("{") ? sent : await unzipped(sent);
      if (this.sent !== sent) return; // another one has come
      this.takes(JSON.parse(text));
    }
    // What stands above may grow, too, and leave less room: the page is then longer.
    for (const place of [this.box, this.box.closest('[data-testid="stMainBlockContainer"]')]) if (place) this.observer.observe(place);
    addEventListener("resize", this.resized);
    const fitted = this.fits();
    if (!same || fitted) await this.draws(this.jumps);
    this.jumps = false;
  }

  takes(animation) {
    const kinds = animation.steps.map((step) => step.name).join("|"), last = animation.steps.length - 1;
    this.jumps = kinds !== this.kinds;
    this.at = Math.min(this.jumps || this.at === null ? animation.start ?? last : this.at, last);
    for (const picture of animation.steps.flatMap((step) => [step, ...step.sides])) {
      for (const trace of picture.data) for (const name in trace) if (trace[name]?.same) trace[name] = animation.shared[trace[name].same];
    }
    Object.assign(this, { animation, kinds });
    this.layers.clear();
    this.dresses();
  }

  // The page takes the player away, or runs again.
  rests() {
    this.stops();
    this.observer.disconnect();
    removeEventListener("resize", this.resized);
  }

  // What a sketch cannot do, tell what is pointed at, the library can: it comes when somebody does.
  async wakes() {
    if (window.Plotly || loading) return;
    await library().then(() => this.draws(true), () => {});
  }

  says(sentence) {
    Object.assign(this.part("said"), { textContent: sentence ?? "", title: sentence ?? "" });
    this.part("said").classList.toggle("shown", Boolean(sentence));
  }

  // What stands around the pictures, whichever step is shown.
  tellsAround({ numbers, said, below = 62, narrow = below, least = 400, small = false }) {
    Object.assign(this, { below, narrow, least });
    this.box.classList.toggle("small", small);
    this.part("title").ariaLevel = small ? "2" : "1"; // a small one stands below the title of its page
    this.says(said);
    this.part("numbers").replaceChildren(...numbers.map(({ kind, value, of, about }) => {
      const pair = Object.assign(made("div", kind), { title: about });
      pair.append(made("dt", "", of), made("dd", "", value));
      return pair;
    }));
  }

  // Colours and the reel: what does not change from step to step.
  dresses() {
    const { animation } = this;
    for (const [name, color] of Object.entries(animation.colors)) this.box.style.setProperty("--" + name, color);
    const whole = animation.steps.reduce((sum, step) => sum + step.cost, 0) || 1;
    this.part("reel").replaceChildren(...animation.steps.map((step, place) => {
      const share = step.cost / whole, free = share < 5e-4, cut = made("button", free ? "cut free" : "cut");
      cut.type = "button";
      if (!free) cut.style.flexGrow = String(Math.max(1, 100 * share));
      cut.title = `${step.told} (${free ? "free" : "ε " + step.cost.toPrecision(2)})`;
      cut.setAttribute("aria-label", `Step ${place + 1}, ${cut.title}`);
      cut.onclick = () => this.goes(place);
      return cut;
    }));
  }

  walks(by) { this.goes(this.at + by); }

  goes(place) {
    this.stops();
    this.turns(place);
  }

  turns(place, jumps = false) {
    const last = this.animation.steps.length - 1, next = Math.max(0, Math.min(last, place));
    if (next === this.at && !jumps) return;
    this.at = next;
    this.draws(jumps);
  }

  hears(event) {
    if (event.target.matches("input")) return;
    const by = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    if (by === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation(); // the page around may have these keys, too
    this.walks(by);
  }

  drags(reel) {
    reel.onpointermove = (event) => {
      if (!(event.buttons & 1)) return;
      const under = document.elementFromPoint(event.clientX, reel.getBoundingClientRect().top + 17);
      const place = [...reel.children].indexOf(under);
      if (place >= 0) this.goes(place);
    };
  }

  plays() {
    if (this.at >= this.animation.steps.length - 1) this.turns(0, true);
    this.timer = setInterval(() => (this.at >= this.animation.steps.length - 1 ? this.stops() : this.turns(this.at + 1)), 1000 * SECONDS_A_STEP);
    this.playing(true);
  }

  stops() {
    clearInterval(this.timer);
    this.timer = 0;
    this.playing(false);
  }

  playing(on) {
    const play = this.part("play");
    play.textContent = on ? "‖" : "►";
    play.setAttribute("aria-label", on ? "Pause" : "Play all steps");
  }

  // The picture takes what the window leaves: only the browser knows how much that is.
  fits() {
    const whole = this.box.clientWidth, wide = whole >= WIDE;
    if (!whole || !this.animation) return false;
    this.box.classList.toggle("narrow", !wide);
    // Where one line would cut the note of a step, all steps have two: none is cut, and nothing jumps.
    const note = this.part("note"), longest = Math.max(...this.animation.steps.map((step) => (step.note ?? "").length));
    note.classList.toggle("two", longest * LETTER > note.clientWidth);
    const scrolled = document.querySelector('[data-testid="stMain"]')?.scrollTop ?? scrollY;
    const top = this.part("stage").getBoundingClientRect().top + scrolled;
    const left = innerHeight - top - (wide ? this.below : this.narrow), small = this.box.classList.contains("small");
    const most = wide ? 1100 : Math.min(whole, 520);
    const height = Math.round(wide || small ? Math.max(wide ? this.least : LEAST_NARROW, Math.min(most, left)) : most);
    const width = wide ? Math.round(Math.min(1.06 * height, 0.62 * whole)) : whole;
    const size = [whole, width, height].join();
    if (size === this.size) return false;
    this.size = size;
    this.room = { width, height };
    this.beside = { width: wide ? whole - width - 28 : whole, height: wide ? height - 84 : 320 };
    Object.assign(this.map.style, { width: width + "px", height: height + "px" });
    this.part("side").style.width = this.beside.width + "px";
    return true;
  }

  async draws(jumps) {
    if (!this.room) return; // not on the page yet, or not any more: it is drawn when it has a width
    const { animation, at } = this, step = animation.steps[at], began = performance.now();
    this.tells(step);
    const chosen = step.sides.find((side) => side.name === this.companion) ?? step.sides[0];
    this.offers(step, chosen);
    this.lit = null;
    await this.paints(this.map, step, this.room, jumps);
    Object.assign(this.box.dataset, { at, drawn: Number(this.box.dataset.drawn ?? 0) + 1, milliseconds: Math.round(performance.now() - began) });
    Object.assign(this.part("sidetitle"), { textContent: chosen?.title ?? "", title: chosen?.about ?? "" });
    this.part("sidenote").textContent = chosen?.note ?? "";
    // What stands beside it comes a moment later, if nobody has gone on by then.
    await new Promise((next) => setTimeout(next));
    if (this.at !== at || this.animation !== animation) return;
    this.side.hidden = !chosen; // a picture of nothing would be one without words
    if (chosen) await this.paints(this.side, chosen, this.beside, true);
    else clears(this.side);
    this.links(step, chosen);
    this.box.dataset.whole = this.box.dataset.drawn;
  }

  tells(step) {
    const { animation, at } = this, last = animation.steps.length - 1;
    Object.assign(this.part("title"), { textContent: step.title, title: step.about });
    Object.assign(this.part("note"), { textContent: step.note, title: [step.note, step.about].filter(Boolean).join("\n\n") });
    this.part("legend").replaceChildren(...this.explains(step.legend));
    this.part("where").textContent = `${at + 1}/${last + 1} ${step.name}`;
    this.hints(this.part("where"), step.name);
    this.part("spent").textContent = step.spent;
    [...this.part("reel").children].forEach((cut, place) => {
      cut.classList.toggle("done", place < at);
      cut.classList.toggle("now", place === at);
      cut.tabIndex = place === at ? 0 : -1;
      cut.toggleAttribute("aria-current", place === at);
      if (place === at && document.activeElement?.classList.contains("cut")) cut.focus();
    });
    this.part("back").disabled = at === 0;
    this.part("next").disabled = at === last;
  }

  // What the words of a part mean, for whoever points at it.
  hints(part, text) {
    part.title = this.animation.words[text] ?? "";
    return part;
  }

  // The marks of each kind of value behind its word, in its colour.
  explains(legend) {
    return ["public", "released", "revealed"].flatMap((kind) => {
      const marks = legend.filter((entry) => entry.kind === kind).map((entry) => {
        const span = made("span");
        span.append(sign(entry), entry.word);
        return this.hints(span, entry.word);
      });
      const word = made("b", "", kind);
      word.style.color = this.animation.colors[kind];
      return marks.length ? [this.hints(word, kind), ...marks] : [];
    });
  }

  offers(step, chosen) {
    const buttons = step.sides.length < 2 ? [] : step.sides.map((side) => {
      const button = made("button", "", side.name);
      button.type = "button";
      button.setAttribute("aria-pressed", String(side === chosen));
      button.onclick = () => { this.companion = side.name; this.draws(true); };
      return this.hints(button, side.name);
    });
    this.part("tabs").replaceChildren(...buttons);
  }

  async paints(plot, picture, { width, height }, jumps) {
    plot.setAttribute("aria-label", picture.alt);
    // An axis without a range would stay where the library has none, after a picture that had one.
    for (const axis of [picture.layout.xaxis, picture.layout.yaxis]) if (axis && !axis.range) axis.autorange ??= true;
    const layout = { ...picture.layout, width, height, images: this.rows(picture), yaxis: thinned(picture.layout.yaxis, height) };
    // A name of its own for each trace: without, one takes the name, and the marks, of what stood in its place before.
    const data = picture.data.map((trace, place) => ({ uid: "at" + place, ...trace }));
    const before = this.seen(plot);
    if (window.Plotly || loading || !sketches(plot, { data, layout }, layout)) {
      try {
        if (!window.Plotly) await library();
      } catch {
        this.says("The pictures cannot be drawn: start the app with app.py, which serves the drawing library.");
        return;
      }
      if (!plot._fullLayout) plot.replaceChildren();
      await window.Plotly.react(plot, data, layout, CONFIG);
    }
    if (plot === this.map && !jumps && !calm()) this.glides(before);
  }

  // Where the centres and their numbers are seen, which may be halfway to their places; there they stop.
  seen(plot) {
    const frame = plot.getBoundingClientRect(), centres = [...plot.querySelectorAll(".tracecentres .point")];
    const marks = [...centres, ...plot.querySelectorAll(".tracecentres .textpoint text")];
    const places = marks.map((mark, i) => {
      const { x, y, width, height } = mark.getBoundingClientRect();
      mark.getAnimations().forEach((glide) => glide.cancel());
      return [i < centres.length ? i : "number " + mark.textContent, { mark, x: x + width / 2 - frame.x, y: y + height / 2 - frame.y, shown: width > 0 }];
    });
    return { count: centres.length, places: new Map(places) };
  }

  // What is the same in two steps moves from its old place to its new one. The picture is drawn as it is before that: an
  // animation of the library would hold its numbers back, and could give them to another step.
  glides(before) {
    const now = this.seen(this.map);
    if (now.count !== before.count) return;
    for (const [which, { mark, x, y, shown }] of now.places) {
      const from = before.places.get(which);
      if (!shown || !from?.shown) continue;
      mark.animate({ translate: [`${from.x - x}px ${from.y - y}px`, "0px 0px"] }, { duration: GLIDE, easing: "ease-in-out" });
    }
  }

  // Rows are one image under the marks: thousands of circles would cost each step a tenth of a second.
  rows({ rows, layout }) {
    if (!rows) return [];
    const [x0, x1] = layout.xaxis.range, [y0, y1] = layout.yaxis.range;
    if (!this.layers.has(rows)) {
      const side = 1400, canvas = Object.assign(document.createElement("canvas"), { width: side, height: side });
      const pen = canvas.getContext("2d"), [x, y] = [numbers(this.animation.rows[rows].x), numbers(this.animation.rows[rows].y)];
      pen.fillStyle = this.animation.colors.revealed;
      const few = x.length <= FEW; // of so few each is to be seen, the one that is far out above all
      pen.globalAlpha = few ? 0.8 : 0.45;
      for (let i = 0; i < x.length; i++) {
        pen.beginPath();
        pen.arc(((x[i] - x0) / (x1 - x0)) * side, side - ((y[i] - y0) / (y1 - y0)) * side, few ? 6 : 2.7, 0, 7);
        pen.fill();
      }
      this.layers.set(rows, canvas.toDataURL());
    }
    return [{ source: this.layers.get(rows), xref: "x", yref: "y", x: x0, y: y1, sizex: x1 - x0, sizey: y1 - y0, sizing: "stretch", layer: "below" }];
  }

  // Pointing at a bar of a companion that knows its box lights the box up on the map; and the other way.
  links(step, chosen) {
    const trace = chosen?.data.findIndex((one) => one.uid === "linked") ?? -1;
    this.side.removeAllListeners?.("plotly_hover");
    this.side.removeAllListeners?.("plotly_unhover");
    this.side.removeAllListeners?.("plotly_click");
    this.map.onpointermove = this.map.onpointerleave = null;
    if (trace < 0 || !this.side.on) return;
    const bars = chosen.data[trace], flat = numbers(bars.customdata), count = flat.length / 4;
    const boxes = Array.from({ length: count }, (_, i) => Array.from(flat.slice(4 * i, 4 * i + 4)));
    const light = (i) => this.lights(step, chosen, boxes[i], bars.text?.[i]);
    this.side.on("plotly_hover", (event) => event.points[0].curveNumber === trace && light(event.points[0].pointNumber));
    this.side.on("plotly_click", (event) => event.points[0].curveNumber === trace && light(event.points[0].pointNumber));
    this.side.on("plotly_unhover", () => light(-1));
    let asked = 0;
    const answers = (x, y) => {
      const inside = boxes.map(([x0, y0, x1, y1]) => x >= x0 && x < x1 && y >= y0 && y < y1), key = inside.map(Number).join("");
      if (key === this.lit) return;
      this.lit = key;
      const some = inside.includes(true);
      window.Plotly.restyle(this.side, { "marker.opacity": [some ? inside.map((yes) => (yes ? 1 : 0.25)) : 1] }, [trace]);
      light(inside.lastIndexOf(true));
    };
    this.map.onpointermove = (event) => {
      cancelAnimationFrame(asked);
      asked = requestAnimationFrame(() => {
        const { xaxis, yaxis } = this.map._fullLayout, frame = this.map.getBoundingClientRect();
        answers(xaxis.p2d(event.clientX - frame.left - xaxis._offset), yaxis.p2d(event.clientY - frame.top - yaxis._offset));
      });
    };
    this.map.onpointerleave = () => answers(NaN, NaN);
  }

  lights(step, chosen, box, words) {
    const shape = box && { type: "rect", x0: box[0], y0: box[1], x1: box[2], y1: box[3], line: { color: this.animation.colors.text, width: 3 }, fillcolor: "rgba(255,214,10,.3)", layer: "above" };
    window.Plotly.relayout(this.map, { shapes: [...(step.layout.shapes ?? []), ...(shape ? [shape] : [])] });
    this.part("sidenote").textContent = (box && words) || chosen.note;
  }
}

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

function clears(plot) {
  window.Plotly?.purge(plot);
  plot.replaceChildren();
}

// The sign of a mark in the legend, drawn as the mark is.
function sign({ mark, color }) {
  const svg = document.createElementNS(SPACE, "svg");
  svg.setAttribute("viewBox", "0 0 16 12");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(SPACE, "path");
  shape.setAttribute("d", SIGNS[mark] ?? SIGNS.circle);
  const open = mark.endsWith("-open") || mark.startsWith("line") || mark === "cross";
  shape.setAttribute("fill", open ? "none" : color);
  shape.setAttribute("stroke", color);
  shape.setAttribute("stroke-width", open ? "1.8" : "0");
  if (mark === "line-dash") shape.setAttribute("stroke-dasharray", "3 2");
  svg.append(shape);
  return svg;
}
const SIGNS = {
  "circle": "M3 6a5 5 0 1 0 10 0a5 5 0 1 0 -10 0",
  "circle-open": "M3 6a5 5 0 1 0 10 0a5 5 0 1 0 -10 0",
  "dot": "M6 6a2 2 0 1 0 4 0a2 2 0 1 0 -4 0",
  "square": "M2 1h12v10h-12z",
  "square-open": "M3 2h10v8h-10z",
  "diamond-open": "M8 0.5L14 6L8 11.5L2 6z",
  "cross": "M3 1L13 11M13 1L3 11",
  "line": "M0 6H16",
  "line-dash": "M0 6H16",
};
