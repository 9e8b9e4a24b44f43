// A board to paint on. Its points are simulated, so everybody may see them, here too. What is released comes from the
// server: real runs, drawn by their own pictures. What is counted here is exact, is orange, and says so.

const VENDOR = "/vendor/plotly.min.js", STILL = { displayModeBar: false, responsive: false, doubleClick: false, staticPlot: true };
const SIDE = 256, LEFT = 44, TOP = 8, RIGHT = 8, BOTTOM = 40, WIDE = 720;
const MOST_GHOSTS = 24, MOST_UNDONE = 60, LATTICE = 8, LEAP = 32, SPRAYS_EVERY = 70, PATIENCE = 30000;
const KEYS = { b: "brush", s: "spray", e: "erase", m: "me" };
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

let drawing, markup;
const library = () => drawing ??= window.Plotly ? Promise.resolve(window.Plotly) : new Promise((done, failed) => {
  document.head.append(Object.assign(document.createElement("script"), { src: VENDOR, onload: () => done(window.Plotly), onerror: failed }));
});
const beside = (name) => new URL(name + new URL(import.meta.url).search, import.meta.url);
const page = () => markup ??= Promise.all([
  fetch(beside("board.html")).then((answer) => answer.text()),
  new Promise((done) => document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: beside("board.css"), onload: done, onerror: done }))),
]).then(([text]) => text);

export async function mount(component) {
  const box = component.parentElement.querySelector(".board"), told = component.data;
  box.tell = (ask) => component.setStateValue("ask", ask);
  box.newest = told;
  const text = await page();
  if (box.newest !== told || !box.isConnected) return;
  box.board ??= new Board(box, text);
  box.board.hears(told);
}

// ---- arithmetic: exact, on this machine

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const within = (v) => Math.max(0, Math.min(SIDE - 1, Math.round(v)));
const normal = () => Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
const made = (name, look, text) => Object.assign(document.createElement(name), { className: look, textContent: text });
const short = (v) => (v < 10 ? v.toFixed(2) : String(Math.round(v)));
// The same start each time, so that centres do not jump about while somebody paints.
function repeatable(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function nearest(x, y, centers) {
  let least = Infinity, place = 0;
  for (let c = 0; c < centers.length; c++) {
    const far = (x - centers[c][0]) ** 2 + (y - centers[c][1]) ** 2;
    if (far < least) { least = far; place = c; }
  }
  return [least, place];
}

export function lossOf(people, centers) {
  let whole = 0;
  for (const [x, y] of people) whole += nearest(x, y, centers)[0];
  return whole / Math.max(1, people.length);
}

function improved(people, centers, rounds) {
  for (let round = 0; round < rounds; round++) {
    const sums = centers.map(() => [0, 0, 0]);
    for (const [x, y] of people) {
      const sum = sums[nearest(x, y, centers)[1]];
      sum[0] += x; sum[1] += y; sum[2]++;
    }
    const next = centers.map((old, c) => (sums[c][2] ? [sums[c][0] / sums[c][2], sums[c][1] / sums[c][2]] : old));
    const moved = Math.max(...next.map(([x, y], c) => Math.abs(x - centers[c][0]) + Math.abs(y - centers[c][1])));
    centers = next;
    if (moved < 0.01) break;
  }
  return centers;
}

function sown(people, k, chance) {
  const centers = [people[Math.floor(chance() * people.length)]], far = people.map(() => Infinity);
  while (centers.length < k) {
    const [[cx, cy]] = centers.slice(-1);
    let whole = 0, next = 0;
    people.forEach(([x, y], i) => { far[i] = Math.min(far[i], (x - cx) ** 2 + (y - cy) ** 2); whole += far[i]; });
    for (let goal = chance() * whole; next < people.length - 1 && (goal -= far[next]) > 0; next++);
    centers.push(people[next]);
  }
  return centers;
}

// k-means++ with so many starts, and from the centres before, where there are as many.
export function kmeans(people, k, starts, before = []) {
  if (!people.length) return [];
  const chance = repeatable(7), tries = Array.from({ length: starts }, () => sown(people, k, chance));
  if (before.length === k) tries.push(before);
  let best = [], least = Infinity;
  for (const start of tries) {
    const centers = improved(people, start, starts > 1 ? 40 : 8), loss = lossOf(people, centers);
    if (loss < least) [best, least] = [centers, loss];
  }
  return best;
}

const apart = (some, others) => Math.max(0, ...some.map(([x, y]) => Math.min(...others.map(([u, v]) => Math.hypot(x - u, y - v)))));
const moved = (some, others) => (some.length && others.length ? Math.max(apart(some, others), apart(others, some)) : 0);
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

const read = (text) => {
  const raw = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i], raw[2 * i + 1]]);
};
function written(points) {
  let text = "";
  for (const [x, y] of points) text += String.fromCharCode(x, y);
  return btoa(text);
}

// ---- the board

class Board {
  points = []; me = null;
  tool = "brush"; size = 14; view = "run";
  token = 0; draw = 0; waiting = 0; unsaid = false;
  past = []; future = []; ghosts = []; pictures = new Map();
  step = null; at = 0; exact = []; exactAlone = [];
  cursor = [128, 128]; pointer = null; keys = false; pressed = false;

  constructor(box, text) {
    box.innerHTML = text;
    box.style.minHeight = ""; // it kept the room until now
    this.box = box;
    this.part = (name) => box.querySelector("." + name);
    Object.assign(this, { ink: this.part("ink"), map: this.part("map"), pen: this.part("ink").getContext("2d") });
    const on = (name, event, act) => this.part(name).addEventListener(event, act);
    box.querySelectorAll("[data-tool]").forEach((button) => (button.onclick = () => this.takes(button.dataset.tool)));
    on("size", "input", (e) => { this.size = +e.target.value; this.soon(); });
    on("preset", "change", (e) => { if (e.target.value) this.begins(e.target.value); e.target.value = ""; });
    on("undo", "click", () => this.goesBack(this.past, this.future));
    on("redo", "click", () => this.goesBack(this.future, this.past));
    on("clear", "click", () => { this.keeps(); Object.assign(this, { points: [], me: null }); this.changed("The board is empty."); });
    on("epsilon", "input", (e) => { this.epsilon = this.limits.epsilons[e.target.value]; this.dresses(); });
    on("k", "input", (e) => { this.k = +e.target.value; this.reckons(); this.dresses(); });
    for (const name of ["epsilon", "k"]) on(name, "change", () => this.drawsAnew());
    on("draw", "click", () => this.drawsAgain());
    on("loop", "click", () => this.loops(!this.looping));
    for (const name of ["worlds", "crowd"]) on(name, "click", () => this.looks(this.view === name ? "run" : name));
    on("back", "click", () => this.turns(this.at - 1));
    on("next", "click", () => this.turns(this.at + 1));
    on("reel", "change", (e) => this.turns(+e.target.value));
    on("exact", "change", () => this.soon());
    on("link", "click", () => this.copies());
    on("ink", "pointerdown", (e) => this.presses(e));
    on("ink", "pointermove", (e) => this.strokes(e));
    for (const end of ["pointerup", "pointercancel"]) on("ink", end, (e) => this.lifts(e));
    on("ink", "pointerleave", () => { this.pointer = null; this.soon(); });
    on("ink", "keydown", (e) => this.types(e));
    on("ink", "focus", () => { this.keys = this.ink.matches(":focus-visible"); this.soon(); });
    on("ink", "blur", () => { this.keys = false; this.soon(); });
    this.observer = new ResizeObserver(() => this.fits());
    this.observer.observe(box);
    addEventListener("resize", () => box.isConnected && this.fits());
  }

  // What the server says: at first, or on a page drawn anew, how the board stands; then answers.
  hears({ start, answer, colors, dress }) {
    this.colors = colors;
    for (const [name, color] of Object.entries(colors)) this.box.style.setProperty("--" + name, color);
    this.dress = dress;
    if (start) this.stands(JSON.parse(start));
    this.box.classList.toggle("locked", dress.locked);
    this.part("title").setAttribute("aria-level", dress.level);
    this.fits();
    if (answer && answer !== this.text) this.takesIn(answer, JSON.parse(answer));
    else this.dresses();
    this.soon();
  }

  stands({ points, me, k, epsilon, algorithm, view, step, token, draw, limits, presets }) {
    Object.assign(this, { points: read(points), me, k, epsilon, algorithm, view, step, limits, presets, token, draw, waiting: 0, unsaid: false, past: [], future: [] });
    this.part("epsilon").max = limits.epsilons.length - 1;
    this.part("preset").replaceChildren(new Option("Begin with …", ""), ...Object.entries(presets).map(([id, { title }]) => new Option(title, id)));
    this.part("plans").replaceChildren(...Object.entries(limits.algorithms).map(([id, word]) => Object.assign(made("button", "", word), {
      type: "button", title: limits.titles[id], onclick: () => { this.algorithm = id; this.step = null; this.drawsAnew(); },
    })));
    [...this.part("plans").children].forEach((button, i) => (button.dataset.algorithm = Object.keys(limits.algorithms)[i]));
    const tools = this.dress.tools;
    this.box.querySelectorAll("[data-tool]").forEach((button) => (button.hidden = !tools.includes(button.dataset.tool)));
    if (!tools.includes(this.tool)) this.tool = tools[0] ?? "none";
    this.part("tools").hidden = !tools.length;
    this.part("pre").checked = this.dress.preview;
    this.part("pre").parentElement.hidden = !this.dress.preview;
    this.part("link").hidden = !this.dress.linked;
    this.reckons();
  }

  async takesIn(text, answer) {
    this.text = text;
    if (answer.token < this.waiting) return;
    clearTimeout(this.timer);
    this.waiting = 0;
    if (answer.refused) {
      this.part("title").textContent = answer.refused;
      this.part("plane").classList.remove("stale");
    } else {
      if (answer.draw !== this.answer?.draw) {
        this.pictures.clear();
        this.ghosts = answer.fresh ? [...this.ghosts, answer.final].slice(-MOST_GHOSTS) : [answer.final];
      }
      this.answer = answer;
      this.pictures.set(answer.at, { picture: answer.picture, centers: answer.centers });
      await this.shows(answer.at);
      if (answer.link) this.addresses(answer.link);
    }
    this.part("fine").textContent = answer.fine;
    this.box.dataset.drawn = Number(this.box.dataset.drawn ?? 0) + 1;
    if (this.unsaid) this.asks();
    else if (this.looping) this.again = setTimeout(() => this.looping && this.drawsAgain(), calm() ? 2000 : 900);
  }

  // -- painting

  takes(tool) { this.tool = tool; this.dresses(); this.soon(); }
  keeps() { this.past = [...this.past, this.standing()].slice(-MOST_UNDONE); this.future = []; }
  standing() { return { points: this.points.slice(), me: this.me }; }
  goesBack(from, to) {
    if (!from.length) return;
    to.push(this.standing());
    Object.assign(this, from.pop());
    this.changed("Undone or redone.");
  }

  begins(id) {
    this.keeps();
    const { points, me, k, title } = this.presets[id];
    Object.assign(this, { points: read(points), me, k, step: null });
    this.changed(`${title}.`);
  }

  uses([x, y]) {
    const r = this.size, free = this.limits.most - this.points.length;
    if (this.tool === "brush") this.adds(Math.min(free, 6), () => { const turn = 2 * Math.PI * Math.random(), far = r * Math.sqrt(Math.random()); return [x + far * Math.cos(turn), y + far * Math.sin(turn)]; });
    else if (this.tool === "spray") this.adds(Math.min(free, 4), () => [x + r * normal(), y + r * normal()]);
    else if (this.tool === "me") this.me = [within(x), within(y)];
    else if (this.tool === "erase") {
      const stays = ([px, py]) => Math.hypot(px - x, py - y) > r;
      this.points = this.points.filter(stays);
      if (this.me && !stays(this.me)) this.me = null;
    }
  }
  adds(number, place) {
    for (let i = 0; i < number; i++) {
      const [x, y] = place().map(Math.round);
      if (x >= 0 && y >= 0 && x < SIDE && y < SIDE) this.points.push([x, y]);
    }
  }

  place({ clientX, clientY }) {
    const frame = this.ink.getBoundingClientRect();
    return [((clientX - frame.left - 1) / (frame.width - 2)) * SIDE - 0.5, (1 - (clientY - frame.top - 1) / (frame.height - 2)) * SIDE - 0.5];
  }
  presses(event) {
    if (event.button > 0 || !event.isPrimary || this.dress.locked || this.tool === "none") return;
    this.ink.setPointerCapture(event.pointerId);
    Object.assign(this, { keys: false, pressed: true, before: this.count, pointer: this.place(event), trail: this.place(event) });
    this.keeps();
    this.loops(false);
    this.uses(this.pointer);
    if (this.tool === "spray") this.spraying = setInterval(() => { this.uses(this.pointer ?? this.trail); this.previews(); }, SPRAYS_EVERY);
    this.previews();
  }
  strokes(event) {
    this.pointer = this.place(event);
    if (!this.pressed) { this.soon(); return; }
    for (const one of event.getCoalescedEvents?.() ?? [event]) {
      // By the way that the brush goes: how many events a device sends is no density.
      const to = this.place(one), far = Math.hypot(to[0] - this.trail[0], to[1] - this.trail[1]);
      if (this.tool === "brush" && far < this.size / 4) continue;
      if (this.tool !== "spray") this.uses(to);
      this.trail = to;
    }
    this.previews();
  }
  lifts(event) {
    if (!this.pressed) return;
    clearInterval(this.spraying);
    this.pressed = false;
    if (event.pointerType === "touch") this.pointer = null;
    this.changed(this.difference());
  }

  types(event) {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key, way = WAYS[key];
    if (event.altKey || this.dress.locked) return;
    if (event.ctrlKey || event.metaKey) {
      if (key === "z" && !event.shiftKey) this.goesBack(this.past, this.future);
      else if (key === "y" || key === "z") this.goesBack(this.future, this.past);
      else return;
    } else if (way) {
      const by = event.shiftKey ? LEAP : LATTICE;
      this.cursor = this.cursor.map((at, axis) => within(Math.round(at / LATTICE) * LATTICE + by * way[axis]));
      this.says(this.around());
    } else if (key === " " || key === "Enter") {
      if (this.tool === "none") return;
      this.before = this.count;
      this.keeps();
      for (let touch = 0; touch < (this.tool === "spray" ? 3 : 1); touch++) this.uses(this.cursor);
      this.changed(this.difference());
    } else if (KEYS[key] && this.dress.tools.includes(KEYS[key])) {
      this.takes(KEYS[key]);
      this.says(`${this.tool}.`);
    } else if (key === "+" || key === "-") this.part("size").value = this.size = Math.max(4, Math.min(48, this.size + (key === "+" ? 4 : -4)));
    else return;
    this.keys = true;
    event.preventDefault();
    event.stopPropagation();
    this.soon();
  }

  // -- asking: one question at a time; what changed meanwhile is the next one

  changed(said) {
    if (!this.me && this.view !== "run") this.view = "run";
    this.says(`${said} ${this.count} in all.`);
    this.drawsAnew();
  }
  drawsAnew() { this.ghosts = []; this.fresh = false; this.draw++; this.dresses(); this.asks(); }
  drawsAgain() { this.fresh = true; this.draw++; this.asks(); }
  looks(view) { this.view = view; this.dresses(); this.asks(); }
  turns(place) {
    if (!this.answer || place < 0 || place >= this.answer.steps.length) return;
    this.step = place === this.answer.steps.length - 1 ? null : place;
    if (this.pictures.has(place)) this.shows(place);
    else this.asks();
  }
  asks() {
    if (this.waiting) { this.unsaid = true; return; }
    this.waiting = ++this.token;
    this.unsaid = false;
    const { token, draw, me, k, epsilon, algorithm, step, view } = this;
    this.tell({ token, draw, points: written(this.points), me, k, epsilon, algorithm, step, view, fresh: Boolean(this.fresh) });
    clearTimeout(this.slow);
    this.slow = setTimeout(() => this.waiting && (this.part("fine").textContent = this.view === "worlds" ? "24 draws are under way." : "A draw is under way."), 700);
    clearTimeout(this.timer); // a server that has gone must not hold the board for ever
    this.timer = setTimeout(() => { this.waiting = 0; if (this.unsaid) this.asks(); }, PATIENCE);
    setTimeout(() => { this.reckons(); this.dresses(); this.soon(); }); // while the answer is on its way
  }
  tell(ask) { this.box.tell(ask); }
  loops(on) {
    if (!on && !this.looping) return;
    this.looping = on;
    clearTimeout(this.again);
    this.part("loop").setAttribute("aria-pressed", String(on));
    this.part("loop").textContent = on ? "‖ Stop" : "Again and again";
    if (on) this.drawsAgain();
  }

  // -- showing

  async shows(place) {
    const { picture, centers } = this.pictures.get(place), { answer } = this;
    Object.assign(this, { at: place, shown: picture, centers });
    let plotly;
    try { plotly = await library(); } catch { this.part("title").textContent = "The pictures cannot be drawn: start the app with app.py, which serves the drawing library."; return; }
    if (answer !== this.answer || !this.side) return;
    const { xaxis, yaxis } = picture.layout, side = (axis) => axis?.range?.[1] - axis?.range?.[0];
    this.flat = side(xaxis) > SIDE - 1 && side(yaxis) > SIDE - 1 && side(xaxis) < 2 * SIDE;
    const ruled = (axis) => ({ ...axis, range: [0, SIDE], scaleanchor: null, constrain: "range", automargin: false, ticks: "", tickvals: [0, 50, 100, 150, 200, 250], title: { ...axis.title, standoff: 4 } });
    const plane = this.flat ? { xaxis: ruled(xaxis), yaxis: ruled(yaxis) } : {};
    const room = { width: this.side + LEFT + RIGHT, height: this.side + TOP + BOTTOM, margin: { l: LEFT, r: RIGHT, t: TOP, b: BOTTOM, pad: 0 } };
    await plotly.react(this.map, picture.data.map((trace, i) => ({ uid: "at" + i, ...trace })), { ...picture.layout, ...plane, ...room }, STILL);
    this.map.setAttribute("aria-label", picture.alt);
    this.dresses();
    this.draws();
  }

  fits() {
    const whole = this.box.clientWidth;
    if (!whole || !this.dress) return;
    const narrow = whole < WIDE, scrolled = document.querySelector('[data-testid="stMain"]')?.scrollTop ?? scrollY;
    this.box.classList.toggle("narrow", narrow);
    const top = this.part("stage").getBoundingClientRect().top + scrolled;
    const most = 0.6 * whole - LEFT;
    const side = Math.floor(narrow ? Math.min(whole - LEFT - RIGHT, 420) : Math.max(340, Math.min(760, innerHeight - top - TOP - BOTTOM - this.dress.below, most)));
    if (side === this.side) return;
    this.side = side;
    const dots = Math.min(2, devicePixelRatio || 1);
    Object.assign(this.ink, { width: side * dots, height: side * dots });
    Object.assign(this.ink.style, { width: side + "px", height: side + "px", left: LEFT + "px", top: TOP + "px" });
    Object.assign(this.map.style, { width: side + LEFT + RIGHT + "px", height: side + TOP + BOTTOM + "px" });
    this.pen.setTransform(dots, 0, 0, dots, 0, 0);
    if (this.answer && this.pictures.has(this.at)) this.shows(this.at);
    this.soon();
  }

  soon() { this.frame ??= requestAnimationFrame(() => { this.frame = undefined; this.draws(); }); }
  previews() {
    this.part("plane").classList.add("stale");
    if (this.part("pre").checked) this.reckons(true);
    this.soon();
  }
  reckons(quick = false) {
    const all = this.people(), alone = this.people(false);
    this.exact = kmeans(all, this.k, quick ? 1 : 8, this.exact);
    this.best = lossOf(all, this.exact);
    if (!quick) this.exactAlone = this.me ? kmeans(alone, this.k, 8, this.exact) : [];
  }
  people(withMe = true) { return [...this.points, ...(withMe && this.me ? [this.me] : [])].map(([x, y]) => [x + 0.5, y + 0.5]); }
  get count() { return this.points.length + (this.me ? 1 : 0); }

  draws() {
    const { pen, side, colors } = this, unit = side / SIDE;
    if (!side || !this.k) return;
    const at = ([x, y]) => [x * unit, side - y * unit], told = this.pressed && this.part("pre").checked;
    pen.clearRect(0, 0, side, side);
    this.badges(told);
    if (told && (this.algorithm === "eugkm" || this.algorithm === "auto")) this.counts(unit);
    if (!this.answer || this.flat !== false || this.pressed) this.plane(at, unit, told); // some steps are no map
    const brush = this.keys ? this.cursor : this.pointer;
    if (brush && !this.dress.locked && this.tool !== "me" && this.tool !== "none") {
      pen.setLineDash(this.tool === "erase" ? [4, 3] : this.tool === "spray" ? [1, 3] : []);
      this.ring(at(brush.map((v) => v + 0.5)), this.size * unit, colors.text, 1.3);
      pen.setLineDash([]);
    }
    if (this.keys) { const [x, y] = at(this.cursor.map((v) => v + 0.5)); pen.fillStyle = colors.text; pen.fillRect(x - 8, y - 1, 16, 2); pen.fillRect(x - 1, y - 8, 2, 16); }
  }
  plane(at, unit, told) {
    const { pen, colors } = this, r = Math.max(1.4, 0.72 * unit), two = this.view === "worlds" && this.answer?.worlds && !this.pressed;
    const dots = (grown) => { for (const [x, y] of this.points) { const [u, v] = at([x + 0.5, y + 0.5]); pen.fillRect(u - r - grown, v - r - grown, 2 * (r + grown), 2 * (r + grown)); } };
    Object.assign(pen, { fillStyle: colors.surface, globalAlpha: 0.55 });
    dots(0.9); // a rim: some cells under the points are dark
    Object.assign(pen, { fillStyle: colors.public, globalAlpha: this.points.length > 1200 ? 0.5 : 0.65 });
    dots(0);
    pen.globalAlpha = 1;
    this.part("plane").classList.toggle("two", Boolean(two));
    if (two) this.both(at, this.answer.worlds);
    else if (!this.pressed && !this.dress.locked) {
      this.ghosts.slice(0, -1).forEach((ghost, age) => { pen.globalAlpha = 0.25 + (0.4 * age) / MOST_GHOSTS; ghost.forEach((c) => this.disc(at(c), 3.5, colors.released)); });
      pen.globalAlpha = 1;
      (this.centers ?? []).forEach((c) => this.disc(at(c), 7, colors.released, colors.surface));
    }
    const crowd = this.view === "crowd" && !this.pressed && this.answer?.crowd;
    if (crowd) { const [[x0, y1], [x1, y0]] = crowd.box.map((corner) => at(corner.map((v) => Math.max(0.8, Math.min(SIDE - 0.8, v))))); Object.assign(pen, { strokeStyle: colors.revealed, lineWidth: 2 }); pen.setLineDash([6, 4]); pen.strokeRect(x0, y0, x1 - x0, y1 - y0); pen.setLineDash([]); }
    if ((this.part("exact").checked && !this.dress.locked) || told) for (const c of this.exact) this.diamond(at(c), this.me && Math.hypot(c[0] - this.me[0], c[1] - this.me[1]) * unit < 9 ? 17 : 8);
    if (this.me) this.person(at(this.me.map((v) => v + 0.5)), two);
  }
  badges(told) {
    const badge = this.part("badge"), narrow = this.box.classList.contains("narrow"), counted = this.algorithm === "eugkm" || this.algorithm === "auto";
    badge.classList.toggle("shown", Boolean(told));
    if (told) badge.textContent = "Preview without privacy" + (narrow ? "" : `: ${counted ? "exact counts and " : ""}k-means of ${this.count} points`);
  }
  // As many cells as EUGkM would take for so many people, nε/10, with exact counts.
  counts(unit) {
    const { pen } = this, m = Math.max(2, Math.min(64, Math.round(Math.sqrt((this.count * this.epsilon) / 10)))), cells = new Int32Array(m * m);
    for (const [x, y] of this.points) cells[Math.floor((x * m) / SIDE) + m * Math.floor((y * m) / SIDE)]++;
    const most = Math.max(1, ...cells), w = (SIDE / m) * unit;
    pen.fillStyle = this.colors.revealed;
    cells.forEach((count, i) => { if (count) { pen.globalAlpha = 0.08 + (0.42 * count) / most; pen.fillRect((i % m) * w, this.side - (Math.floor(i / m) + 1) * w, w - 0.5, w - 0.5); } });
    pen.globalAlpha = 1;
  }
  both(at, [withMe, without]) {
    const { pen, colors } = this;
    pen.globalAlpha = 0.85;
    without.flat().forEach((c) => this.ring(at(c), 4.6, colors.released, 1.6));
    withMe.flat().forEach((c) => this.disc(at(c), 3.4, colors.released));
    pen.globalAlpha = 1;
    pen.setLineDash([3, 2]);
    this.exactAlone.forEach((c) => this.diamond(at(c), 8));
    pen.setLineDash([]);
  }
  disc([x, y], r, fill, rim) { const { pen } = this; pen.beginPath(); pen.arc(x, y, r, 0, 7); pen.fillStyle = fill; pen.fill(); if (rim) this.ring([x, y], r, rim, 1.8); }
  ring([x, y], r, color, width) { const { pen } = this; pen.beginPath(); pen.arc(x, y, r, 0, 7); Object.assign(pen, { strokeStyle: color, lineWidth: width }); pen.stroke(); }
  diamond([x, y], r) {
    const { pen, colors } = this;
    pen.beginPath(); pen.moveTo(x, y - r); pen.lineTo(x + r, y); pen.lineTo(x, y + r); pen.lineTo(x - r, y); pen.closePath();
    for (const [color, width] of [[colors.surface, 4.5], [colors.revealed, 2.2]]) { Object.assign(pen, { strokeStyle: color, lineWidth: width }); pen.stroke(); }
  }
  person([x, y], pale) {
    const { pen, colors } = this, right = x > this.side - 44;
    pen.globalAlpha = pale ? 0.6 : 1;
    this.disc([x, y], 10, colors.surface, colors.text);
    this.disc([x, y - 3], 3, colors.text);
    pen.beginPath(); pen.arc(x, y + 6.5, 5, Math.PI, 0); pen.fillStyle = colors.text; pen.fill();
    Object.assign(pen, { globalAlpha: 1, font: "600 12px system-ui, sans-serif", textAlign: right ? "right" : "left", lineWidth: 3, strokeStyle: colors.surface });
    for (const write of ["strokeText", "fillText"]) pen[write]("me", x + (right ? -14 : 14), y + 4);
  }

  // -- words

  dresses() {
    if (!this.limits) return;
    const { answer, shown } = this, part = this.part, pressed = (button, on) => button.setAttribute("aria-pressed", String(on));
    this.box.querySelectorAll("[data-tool]").forEach((button) => pressed(button, button.dataset.tool === this.tool));
    this.box.querySelectorAll("[data-algorithm]").forEach((button) => pressed(button, button.dataset.algorithm === this.algorithm));
    for (const [name, value, text] of [["epsilon", this.limits.epsilons.indexOf(this.epsilon), this.epsilon], ["k", this.k, this.k]]) {
      part(name).value = value;
      part(name).setAttribute("aria-valuetext", String(text));
      part(name + "-is").textContent = text;
    }
    part("undo").disabled = !this.past.length;
    part("redo").disabled = !this.future.length;
    for (const [name, why] of [["worlds", "12 draws with me beside 12 without"], ["crowd", "From how many people on the tree notices my place"]]) {
      Object.assign(part(name), { disabled: !this.me, title: this.me ? why : "Put me on the board first" });
      pressed(part(name), this.view === name);
    }
    this.ink.setAttribute("aria-label", this.dress.locked ? `A painted town. ${this.painted()}` : "Drawing board. Arrow keys move a cursor, Space uses the tool, B brush, S spray, E erase, M me, Control Z undoes.");
    part("painted").textContent = this.painted();
    if (!answer || !shown) { part("title").textContent = this.dress.locked ? "" : "The first draw is under way"; return; }
    const { worlds, crowd } = answer;
    const [title, note] = this.view === "worlds" && worlds ? [this.worldsTitle(), `${worlds[0].length} private draws of each table; under them, one with me`] : this.view === "crowd" && crowd ? [crowd.title, "hidden: in the tree, the cube over them stays asleep in more than half of the draws"] : [shown.title, shown.note];
    if (part("title").textContent !== title) part("title").textContent = title;
    Object.assign(part("note"), { textContent: note, title: shown.about });
    part("where").textContent = `${this.at + 1}/${answer.steps.length} ${shown.name}`;
    Object.assign(part("reel"), { max: answer.steps.length - 1, value: this.at });
    part("reel").setAttribute("aria-valuetext", `${this.at + 1} of ${answer.steps.length}, ${shown.name}`);
    part("back").disabled = !this.at;
    part("next").disabled = this.at === answer.steps.length - 1;
    part("plane").classList.toggle("stale", this.pressed);
    this.numbers();
    this.legend();
    part("verdict").textContent = this.verdict();
  }
  numbers() {
    const { answer, shown } = this, ratio = this.best > 0 && !this.waiting ? lossOf(this.people(), answer.final) / this.best : null;
    const all = [["public", String(this.count), "painted points"], ["revealed", ratio === null ? "–" : short(ratio) + "×", "the loss of k-means++"], ["released", `ε ${answer.epsilon}`, shown.spent]];
    this.part("numbers").replaceChildren(...all.map(([kind, value, of]) => { const pair = made("div", kind, ""); pair.append(made("dt", "", of), made("dd", "", value)); return pair; }));
  }
  legend() {
    const two = this.view === "worlds" && this.answer.worlds, exact = this.part("exact").checked ? ["◇ k-means++, exact"] : [];
    const words = {
      public: ["points: painted, simulated", ...(two ? [] : this.shown.legend.filter((one) => one.kind === "public").map((one) => one.word))],
      released: two ? ["● centres with me", "○ without me"] : [...this.shown.legend.filter((one) => one.kind === "released").map((one) => one.word), ...(this.ghosts.length > 1 ? ["pale: earlier draws"] : [])],
      revealed: two ? ["◇ k-means++ with me, dashed without"] : [...exact, ...(this.view === "crowd" ? ["dashed: the cube over me"] : [])],
    };
    this.part("legend").replaceChildren(...Object.entries(words).filter(([, some]) => some.length).flatMap(([kind, some]) => { const word = made("b", "", kind + " "); word.style.color = this.colors[kind]; return [word, some.join(" · ") + "  "]; }));
  }
  worldsTitle() { return `Without me, a k-means++ centre moves by ${Math.round(moved(this.exact, this.exactAlone))}`; }
  verdict() {
    const { answer } = this;
    if (this.view === "crowd" && answer.crowd) return answer.crowd.says;
    if (this.view === "worlds" && answer.worlds) {
      const [withMe, without] = answer.worlds, next = (i) => withMe[(i + 1) % withMe.length];
      const same = median(withMe.map((one, i) => moved(one, next(i)))), other = median(withMe.map((one, i) => moved(one, without[i])));
      return `Private: two draws with me differ by ${Math.round(same)}, one with and one without me by ${Math.round(other)} (medians of ${withMe.length}, the board is ${SIDE} wide; they wobble). Only simulated points may be asked ${2 * withMe.length} times: with real rows that would cost ε ${+(2 * withMe.length * answer.epsilon).toPrecision(3)}.`;
    }
    if (this.ghosts.length > 1) return `${this.ghosts.length} draws of the same picture. With real rows they would cost their sum, ε ${+(this.ghosts.length * answer.epsilon).toPrecision(3)}.`;
    return this.me ? "I am on the board: draw again, or take me out." : "Paint more, erase, or put yourself far out with ☻ Me.";
  }
  says(words) { this.part("heard").textContent = words; }
  around() {
    const here = this.points.filter(([x, y]) => Math.hypot(x - this.cursor[0], y - this.cursor[1]) <= this.size).length;
    return `x ${this.cursor[0]}, y ${this.cursor[1]}: ${here} points within the brush${this.me && Math.hypot(this.me[0] - this.cursor[0], this.me[1] - this.cursor[1]) <= this.size ? ", and me" : ""}.`;
  }
  difference() { const by = this.count - this.before; const points = Math.abs(by) === 1 ? "point" : "points"; return by > 0 ? `${by} ${points} more.` : by < 0 ? `${-by} ${points} fewer.` : this.tool === "me" ? `I am at x ${this.me[0]}, y ${this.me[1]}.` : "Nothing changed."; }
  painted() {
    const rows = ["bottom", "middle", "top"], columns = ["left", "centre", "right"], ninths = new Map();
    for (const [x, y] of this.points) { const name = `${rows[Math.floor((3 * y) / SIDE)]} ${columns[Math.floor((3 * x) / SIDE)]}`; ninths.set(name, (ninths.get(name) ?? 0) + 1); }
    const most = [...ninths].sort((a, b) => b[1] - a[1]).slice(0, 3).map(([name, count]) => `${count} at the ${name}`).join(", ");
    const found = this.answer && !this.dress.locked ? ` Found: ${this.answer.found}` : "";
    return `Painted: ${this.points.length} points${most ? `, ${most}` : ""}.${this.me ? ` I am at x ${this.me[0]}, y ${this.me[1]}.` : ""}${found}`;
  }

  // -- away from here

  addresses(link) {
    const url = new URL(location.href);
    for (const [name, value] of Object.entries(link)) url.searchParams.set(name, value);
    history.replaceState(history.state, "", url);
  }
  async copies() {
    const url = new URL(location.href);
    url.search = new URLSearchParams(this.answer?.link ?? {});
    try { await navigator.clipboard.writeText(url.href); this.part("fine").textContent = `Copied, ${url.href.length} letters: the link opens this drawing.`; }
    catch { this.part("fine").textContent = "Copy the address of this page: it opens this drawing."; }
  }
}
