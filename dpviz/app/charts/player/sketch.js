// Pictures before there is a drawing library, which weighs more than all else that the first one needs: lines, areas, marks,
// numbers and bars over one pair of straight axes, from the same figure. What it does not know of a figure it leaves alone.

const SPACE = "http://www.w3.org/2000/svg";
const NUMBERS = { f4: Float32Array, f8: Float64Array, i1: Int8Array, u1: Uint8Array, i2: Int16Array, u2: Uint16Array, i4: Int32Array, u4: Uint32Array };
const TOLD = "type name meta uid hoverinfo hovertemplate customdata showlegend cliponaxis";
const KNOWN = {
  scatter: `${TOLD} x y mode line fill fillcolor marker text textposition textfont`,
  bar: `${TOLD} x y width marker orientation text textposition error_x`,
  marker: "color opacity symbol size line angleref standoff",
  axis: "range title tickfont tickvals ticktext ticksuffix nticks showgrid zeroline visible fixedrange automargin gridcolor zerolinecolor linecolor constrain scaleanchor scaleratio constraintoward",
  shape: "type x0 x1 y0 y1 layer fillcolor line yref",
  annotation: "name text x y xref yref xanchor yanchor xshift yshift showarrow font",
};
const DASHES = { dash: "6 4", dot: "3 3", solid: "" };
const MARKS = { circle: (r) => `M${r} 0a${r} ${r} 0 1 1 ${-2 * r} 0a${r} ${r} 0 1 1 ${2 * r} 0`, diamond: (r) => `M${1.3 * r} 0L0 ${1.3 * r}L${-1.3 * r} 0L0 ${-1.3 * r}Z`, square: (r) => `M${-r} ${-r}h${2 * r}v${2 * r}h${-2 * r}Z`, arrow: (r) => `M0 0L${-r} ${2 * r}H${r}Z` };
let sketched = 0;
const RULER = typeof document === "undefined" ? null : document.createElement("canvas").getContext("2d");

// Numbers as they were sent: a list, or an array in base64.
function numbers(sent) {
  if (!sent?.bdata) return sent ?? [];
  const raw = Uint8Array.from(atob(sent.bdata), (letter) => letter.charCodeAt(0));
  return new NUMBERS[sent.dtype](raw.buffer);
}

const knows = (what, part) => Object.keys(part ?? {}).every((name) => ` ${KNOWN[what]} `.includes(` ${name} `));
const each = (value, place) => (Array.isArray(value) || value?.bdata ? numbers(value)[place] : value);
const plain = (text) => !/[<&]/.test(text ?? "");

// Whether all of a figure is drawn here as the library would draw it.
function isSimple({ data, layout }) {
  const { xaxis, yaxis, shapes = [], annotations = [] } = layout, bases = ["circle", "diamond", "square", "arrow"];
  const straight = [xaxis, yaxis].every((axis) => axis?.range && knows("axis", axis) && (axis.ticktext || Math.max(...axis.range.map(Math.abs)) < 10_000));
  return straight && !layout.xaxis2 && shapes.every((shape) => knows("shape", shape)) &&
    annotations.every((note) => knows("annotation", note) && plain(note.text)) &&
    data.every((trace) => KNOWN[trace.type] && knows(trace.type, trace) && knows("marker", trace.marker) && [undefined, "toself"].includes(trace.fill) &&
      [trace.marker?.symbol ?? "circle"].flat().every((symbol) => bases.includes(symbol.replace("-open", ""))) &&
      [trace.marker?.color ?? ""].flat().every((color) => typeof color === "string"));
}

// Ticks as the library sets them: a fifth of the axis or so, at 1, 2 or 5 times a power of ten.
function findTicks(axis, pixels, least) {
  if (axis.tickvals) return Array.from(numbers(axis.tickvals), (at, place) => [at, axis.ticktext?.[place] ?? String(at)]);
  const [low, high] = [Math.min(...axis.range), Math.max(...axis.range)];
  const rough = (high - low) / (axis.nticks ?? Math.max(4, Math.min(9, pixels / least)) + 1), unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * ([1, 2, 5].find((times) => rough <= times * unit * 1.000001) ?? 10), first = Math.ceil(low / step - 1e-9);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return Array.from({ length: Math.max(0, Math.floor(high / step + 1e-9) - first + 1) }, (_, place) => {
    const at = (first + place) * step;
    return [at, at.toFixed(digits).replace("-", "−") + (axis.ticksuffix ?? "")];
  });
}

// Draws a figure into its place; whether it did.
function sketches(place, { data, layout }, { width, height }) {
  if (!isSimple({ data, layout })) return false;
  const { xaxis, yaxis, margin, font } = layout;
  RULER.font = `${font.size}px ${font.family}`;
  const wide = (text, size = font.size) => (RULER.measureText(text).width * size) / font.size;
  const room = { top: margin.t, bottom: margin.b + 1, left: margin.l, right: margin.r };
  const ups = yaxis.visible === false ? [] : findTicks(yaxis, height - room.top - room.bottom, 40);
  const label = Math.max(0, ...ups.map(([, text]) => wide(text, yaxis.tickfont.size)));
  room.left = Math.max(room.left, label + 20);
  const acrossAll = findTicks(xaxis, width - room.left - room.right, 80);
  if (yaxis.scaleanchor) room.right = Math.max(room.right, wide(acrossAll.at(-1)?.[1] ?? "") / 2 - 2);
  let [long, high] = [width - room.left - room.right, height - room.top - room.bottom];
  const [[x0, x1], [y0, y1]] = [xaxis.range, yaxis.range], paper = { left: room.left, long };
  if (yaxis.scaleanchor) {
    const scale = Math.min(long / (x1 - x0), high / ((y1 - y0) * yaxis.scaleratio));
    room.left += (long - scale * (x1 - x0)) / 2;
    [long, high] = [scale * (x1 - x0), scale * yaxis.scaleratio * (y1 - y0)];
  }
  const across = (x) => room.left + ((x - x0) / (x1 - x0)) * long, up = (y) => room.top + ((y1 - y) / (y1 - y0)) * high;
  const right = room.left + long, foot = room.top + high;

  const svg = document.createElementNS(SPACE, "svg");
  const draw = (name, told, into = svg) => {
    const part = document.createElementNS(SPACE, name);
    for (const [key, value] of Object.entries(told)) if (value != null && value !== "") part.setAttribute(key, value);
    into.append(part);
    return part;
  };
  const write = (text, x, y, { size, color, weight, shadow } = {}, anchor = "middle", into = svg, turn = "") =>
    Object.assign(draw("text", { x, y, "text-anchor": anchor, "font-size": size ?? font.size, fill: color ?? font.color, "font-weight": weight, transform: turn, style: shadow ? `text-shadow: ${shadow}` : "" }, into), { textContent: text });
  for (const [name, value] of Object.entries({ width, height, "font-family": font.family, "aria-hidden": "true" })) svg.setAttribute(name, value);
  const cut = `sketched-${(sketched += 1)}`;
  draw("rect", { x: room.left, y: room.top, width: long, height: high }, draw("clipPath", { id: cut }, draw("defs", {})));

  const rule = (x, y, end, bottom, color) => draw("path", { d: `M${Math.round(x) + 0.5} ${Math.round(y) + 0.5}L${Math.round(end) + 0.5} ${Math.round(bottom) + 0.5}`, stroke: color });
  for (const [at, text] of xaxis.visible === false ? [] : findTicks(xaxis, long, 80)) {
    if (xaxis.showgrid !== false) rule(across(at), room.top, across(at), foot, xaxis.gridcolor);
    if (across(at) + wide(text) / 2 < width + 2) write(text, across(at), foot + 16.5, { color: xaxis.tickfont.color, size: xaxis.tickfont.size });
  }
  for (const [at, text] of ups) {
    if (yaxis.showgrid !== false) rule(room.left, up(at), right, up(at), yaxis.gridcolor);
    write(text, room.left - 3.6, up(at) + 0.35 * (yaxis.tickfont.size ?? font.size), { color: yaxis.tickfont.color, size: yaxis.tickfont.size }, "end");
  }
  if (xaxis.visible !== false) rule(room.left - 1, foot, right, foot, xaxis.linecolor);
  if (yaxis.visible !== false) rule(room.left - 1, room.top, room.left - 1, foot, yaxis.linecolor);
  if (xaxis.title?.text && xaxis.visible !== false) write(xaxis.title.text, room.left + long / 2, foot + 36, xaxis.title.font);
  const beside = room.left - label - 15.6, middle = room.top + high / 2;
  if (yaxis.title?.text && yaxis.visible !== false) write(yaxis.title.text, beside, middle, yaxis.title.font, "middle", svg, `rotate(-90 ${beside} ${middle})`);

  const inside = draw("g", { "clip-path": `url(#${cut})` });
  for (const image of layout.images ?? []) draw("image", { href: image.source, x: across(image.x), y: up(image.y), width: (image.sizex / (x1 - x0)) * long, height: (image.sizey / (y1 - y0)) * high, preserveAspectRatio: "none" }, inside);
  const stroke = (line = {}) => ({ stroke: line.color, "stroke-width": line.width, "stroke-dasharray": DASHES[line.dash ?? "solid"] });
  const shape = ({ type, x0: a, x1: b, y0: c, y1: d, yref, line, fillcolor }, into) => {
    const [left, end] = [across(a), across(b)], [top, bottom] = yref === "y domain" ? [foot - d * high, foot - c * high] : [up(d), up(c)];
    const look = { fill: fillcolor ?? "none", ...stroke(line) };
    if (type === "circle") draw("ellipse", { cx: (left + end) / 2, cy: (top + bottom) / 2, rx: (end - left) / 2, ry: (bottom - top) / 2, ...look }, into);
    else if (type === "line") draw("path", { d: `M${left} ${top}L${end} ${bottom}`, ...look }, into);
    else draw("rect", { x: left, y: top, width: end - left, height: bottom - top, ...look }, into);
  };
  for (const one of layout.shapes ?? []) if (one.layer === "below") shape(one, inside);
  for (const trace of data) {
    const xs = Array.from(numbers(trace.x)), ys = Array.from(numbers(trace.y)), { marker = {}, mode = "markers" } = trace;
    const group = draw("g", { class: `trace${trace.uid ?? ""}` }, trace.cliponaxis === false ? svg : inside), lies = trace.orientation === "h";
    if (trace.type === "bar") xs.forEach((x, i) => {
      const thick = each(trace.width, i), [left, end] = (lies ? [0, x] : [x - thick / 2, x + thick / 2]).map(across), [top, bottom] = (lies ? [ys[i] + thick / 2, ys[i] - thick / 2] : [ys[i], 0]).map(up);
      draw("rect", { x: Math.min(left, end), y: Math.min(top, bottom), width: Math.abs(end - left), height: Math.abs(bottom - top), fill: each(marker.color, i), ...(marker.line?.width ? stroke(marker.line) : {}) }, group);
      const reach = trace.error_x && each(trace.error_x.array, i), { color, thickness, width: cap } = trace.error_x ?? {};
      if (reach) draw("path", { d: `M${across(x - reach)} ${up(ys[i])}H${across(x + reach)}M${across(x - reach)} ${up(ys[i]) - cap}v${2 * cap}M${across(x + reach)} ${up(ys[i]) - cap}v${2 * cap}`, stroke: color, "stroke-width": thickness }, group);
    });
    if (mode.includes("lines")) {
      const seen = (i) => Number.isFinite(xs[i]) && Number.isFinite(ys[i]);
      const path = xs.map((x, i) => (seen(i) ? `${seen(i - 1) ? "L" : "M"}${across(x).toFixed(2)} ${up(ys[i]).toFixed(2)}` : "")).join("");
      draw("path", { d: path, fill: trace.fill ? trace.fillcolor : "none", "fill-rule": "evenodd", ...stroke(trace.line) }, group);
    }
    if (trace.type !== "bar" && mode.includes("markers")) xs.forEach((x, i) => {
      const symbol = each(marker.symbol ?? "circle", i), radius = each(marker.size, i) / 2, open = symbol.endsWith("-open"), color = each(marker.color, i);
      const turn = marker.angleref && i ? (180 / Math.PI) * Math.atan2(across(x) - across(xs[i - 1]), up(ys[i - 1]) - up(ys[i])) : 0;
      if (!radius || !Number.isFinite(x)) return;
      const where = `translate(${across(x).toFixed(2)} ${up(ys[i]).toFixed(2)}) rotate(${turn}) translate(0 ${each(marker.standoff, i) ?? 0})`;
      draw("path", { class: "point", d: MARKS[symbol.replace("-open", "")](radius), transform: where, opacity: each(marker.opacity, i), fill: open ? "none" : color, stroke: open ? color : each(marker.line?.color, i), "stroke-width": marker.line?.width }, group);
    });
    if (mode.includes("text")) xs.forEach((x, i) => {
      const [height, side] = each(trace.textposition, i).split(" "), { size, color, ...look } = trace.textfont, free = (each(marker.size, i) ?? 0) / 2 + 3;
      const aside = { left: -free, center: 0, right: free }[side], lifts = { top: -free, middle: 0.35 * size, bottom: free + 0.75 * size }[height];
      write(each(trace.text, i), across(x) + aside, up(ys[i]) + lifts, { size, color: each(color, i), ...look }, { left: "end", center: "middle", right: "start" }[side], draw("g", { class: "textpoint" }, group));
    });
  }
  for (const one of layout.shapes ?? []) if (one.layer !== "below") shape(one, inside);
  for (const { text, x, y, xref, yref, xanchor, yanchor, xshift = 0, yshift = 0, font: look } of layout.annotations ?? []) {
    const size = look?.size ?? font.size, from = xref === "paper" ? paper.left + x * paper.long : across(x), base = yref === "paper" ? foot - y * high : up(y);
    write(text, from + xshift + (xanchor === "right" ? -3 : 1), base - yshift + { bottom: -0.3, top: 1, middle: 0.35 }[yanchor ?? "middle"] * size, { ...look, size }, { left: "start", right: "end" }[xanchor] ?? "middle");
  }
  place.replaceChildren(svg);
  return true;
}
