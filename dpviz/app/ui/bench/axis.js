// The handle moves at once, here; the server is told when it rests, or is let go.
const REST = 180, LEFT = 50, RIGHT = 44, TALL = 78, LOW = 46, TOP = 18, STEP = 0.05, BIG_STEP = 6;
const SVG = "http://www.w3.org/2000/svg";
const STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: BIG_STEP, PageDown: -BIG_STEP };

export default function (component) {
  const box = component.parentElement.querySelector(".epsilon");
  const axis = box.axis ??= new Axis(box);
  axis.tell = (value) => component.setStateValue("epsilon", value);
  axis.takes(component.data);
  return () => axis.observer.disconnect();
}

function round(value) { return Number(value.toPrecision(2)); }

// What a loss over that of k-means++ says; beyond ten times it nothing is left to tell apart.
function looser(loss) { return loss > 10 ? "more than 10 times as loose" : `${Math.max(0, Math.round((loss - 1) * 100))} % looser`; }

class Axis {
  timer = 0;
  told = []; // what the server has not answered yet

  constructor(box) {
    this.box = box;
    this.svg = box.querySelector("svg");
    this.knob = box.querySelector(".knob");
    this.read = box.querySelector(".read");
    this.observer = new ResizeObserver(() => this.draws());
    for (const part of [this.svg, this.knob]) {
      part.onpointerdown = (event) => {
        this.held = true;
        part.setPointerCapture(event.pointerId);
        this.goes(this.at(event));
        this.knob.focus({ preventScroll: true });
        event.preventDefault();
      };
      part.onpointermove = (event) => this.held && this.goes(this.at(event));
      part.onpointerup = part.onpointercancel = () => { if (this.held) { this.held = false; this.says(0); } };
    }
    this.knob.onkeydown = (event) => {
      const [first, last] = this.ends();
      if (event.key === "Home") this.goes(first);
      else if (event.key === "End") this.goes(last);
      else if (STEPS[event.key]) this.steps(STEPS[event.key]);
      else return;
      event.preventDefault();
    };
    // What is let go is meant; a key that is held may go on.
    this.knob.onkeyup = () => this.timer && this.says(0);
    box.querySelector(".less").onclick = () => { this.steps(-1); this.says(0); };
    box.querySelector(".more").onclick = () => { this.steps(1); this.says(0); };
  }

  takes(data) {
    const place = this.told.indexOf(data.epsilon), ofItsOwn = place < 0 && data.epsilon !== this.data?.epsilon;
    this.told = ofItsOwn ? [] : this.told.slice(place + 1);
    this.data = data;
    // What the server says back is older than a hand that moves on.
    if (!this.held && !this.timer && !this.told.length) this.epsilon = data.epsilon;
    this.observer.observe(this.box);
    this.draws();
  }

  // The window's ends where there is one, else those of the axis.
  ends() {
    const { window: band, low, high } = this.data;
    return band ? [Math.max(low, band[0]), Math.min(high, band[1])] : [low, high];
  }

  at(event) {
    const { low, high } = this.data, room = this.box.getBoundingClientRect();
    const share = (event.clientX - room.left - LEFT) / (room.width - LEFT - RIGHT);
    return round(low * (high / low) ** Math.max(0, Math.min(1, share)));
  }

  steps(by) {
    const next = round(this.epsilon * Math.exp(by * STEP));
    this.goes(next === round(this.epsilon) ? round(this.epsilon * (1 + Math.sign(by) * 0.1)) : next);
  }

  goes(value) {
    this.epsilon = Math.max(this.data.low, Math.min(this.data.high, value));
    this.marks();
    this.says(REST);
  }

  says(after) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = 0;
      if (this.epsilon === (this.told.at(-1) ?? this.data.epsilon)) return;
      this.told.push(this.epsilon);
      this.tell(this.epsilon);
    }, after);
  }

  x(value) {
    const { low, high } = this.data;
    return LEFT + Math.log(value / low) / Math.log(high / low) * (this.width - LEFT - RIGHT);
  }

  part(tag, look, give, text) {
    const made = document.createElementNS(SVG, tag);
    if (look) made.setAttribute("class", look);
    for (const [key, value] of Object.entries(give)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    this.svg.append(made);
    return made;
  }

  draws() {
    const { loss, belief, window: band, low, high, target, prior } = this.data;
    this.width = this.box.clientWidth;
    if (!this.width) return;
    this.svg.replaceChildren();
    const base = innerHeight > 800 ? TALL : LOW;
    this.svg.style.height = base + 38 + "px";
    // Each curve has a scale of its own: what groups lose at the left, what a guess becomes at the right.
    const narrow = this.width < 500, top = Math.max(1.5, 1 + 3 * (target - 1)), rise = base - TOP;
    const yl = (v) => base - Math.min(1, (v - 1) / (top - 1)) * rise, yb = (v) => base - v * rise;
    const path = (points) => "M" + points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L");
    const [first, last] = this.ends();
    if (band) this.part("rect", "band", { x: this.x(first), y: 4, width: Math.max(2, this.x(last) - this.x(first)), height: base + 14 });
    const inside = loss.filter(([e]) => e >= low && e <= high);
    if (inside.length > 1) {
      const over = inside.map(([e, , h]) => [this.x(e), yl(h)]), under = inside.map(([e, l]) => [this.x(e), yl(l)]).reverse();
      this.part("path", "spread", { d: path([...over, ...under]) + "Z" });
      this.part("path", "loss", { d: path(inside.map(([e, , , r]) => [this.x(e), yl(r)])) });
      this.part("text", "lossword", { x: LEFT + 4, y: 14 }, narrow ? "looser by" : "looser than without privacy");
      this.part("text", "lossword", { x: LEFT - 6, y: base + 4, "text-anchor": "end" }, "0 %");
      this.part("text", "lossword", { x: LEFT - 6, y: TOP + 4, "text-anchor": "end" }, `≥ ${Math.round((top - 1) * 100)} %`);
    }
    if (belief.length) {
      this.part("path", "belief", { d: path(belief.map(([e, b]) => [this.x(e), yb(b)])) });
      const said = narrow ? "a guess becomes" : `what a guess of ${Math.round(prior * 100)} % can become`;
      this.part("text", "beliefword", { x: this.width - RIGHT - 4, y: 14, "text-anchor": "end" }, said);
      this.part("text", "beliefword", { x: this.width - RIGHT + 6, y: base + 4 }, "0 %");
      this.part("text", "beliefword", { x: this.width - RIGHT + 6, y: TOP + 4 }, "100 %");
    }
    this.part("line", "rail", { x1: LEFT, x2: this.width - RIGHT, y1: base + 12, y2: base + 12 });
    if (band) this.part("line", "rail on", { x1: this.x(first), x2: this.x(last), y1: base + 12, y2: base + 12 });
    for (const tick of narrow ? [0.01, 0.1, 1, 10] : [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30]) {
      this.part("text", "", { x: this.x(tick), y: base + 36, "text-anchor": "middle" }, String(tick));
    }
    this.line = this.part("line", "line", { y1: 4, y2: base + 12 });
    this.knob.style.top = base + 12 + "px";
    this.marks();
  }

  value(rows, e, column) {
    let i = 0;
    while (i < rows.length - 2 && rows[i + 1][0] < e) i++;
    const a = rows[i], b = rows[i + 1], u = Math.max(0, Math.min(1, Math.log(e / a[0]) / Math.log(b[0] / a[0])));
    return a[column] * (1 - u) + b[column] * u;
  }

  marks() {
    const { loss, belief, low, high, prior } = this.data, e = this.epsilon, x = this.x(e);
    this.line?.setAttribute("x1", x);
    this.line?.setAttribute("x2", x);
    this.knob.style.left = x + "px";
    let words = `ε ${e}`;
    if (loss.length > 1 && e >= loss[0][0]) words += ` · ${this.data.groups} ${looser(this.value(loss, e, 3))}`;
    // Not read off the curve: between two of its places it lies too high, and could say a percent too much.
    const odds = prior / (1 - prior) * Math.exp(e);
    if (belief.length) words += ` · a guess becomes ${Math.ceil(odds / (1 + odds) * 100 - 1e-6)} % at most`;
    this.read.textContent = words.replaceAll(" %", "\u00a0%");
    for (const [name, value] of [["valuemin", low], ["valuemax", high], ["valuenow", e], ["valuetext", words]]) {
      this.knob.setAttribute("aria-" + name, value);
    }
  }
}
