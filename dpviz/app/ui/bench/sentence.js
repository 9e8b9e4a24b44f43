// Real text with words in it that are buttons, or boxes to type into. A word that stays keeps its element, and its focus.

// Of all paragraphs: when to go on by itself, and the word that a person pressed and whose form has not come yet.
let goingOn = 0, pressed = "";
// The word whose form came by itself, and when. Whoever presses it at that moment wants the form, not to close it.
let came = { id: "", at: 0 };
const AT_THAT_MOMENT = 800; // milliseconds

export default function (component) {
  const box = component.parentElement.querySelector(".sentence"), { pieces, open, table, go, heard } = component.data;
  if (box.table !== table) Object.assign(box, { table, words: new Map(), typed: [] });
  // What was typed travels until the page has heard it: of two messages in a queue the later one alone is read.
  box.heard = Math.max(box.heard ?? 0, heard);
  box.typed = box.typed.filter((one) => one.number > heard);
  const { words } = box, held = document.activeElement, parts = [];
  const waits = held?.value === "" && box.contains(held);
  for (const piece of pieces) {
    if (typeof piece === "string") {
      parts.push(spaced(parts, piece) + keeps(parts, piece));
    } else {
      parts.push(spaced(parts, piece.text), word(component, box, piece, open));
      if (piece.refusal) parts.push(Object.assign(made("span", "why", ` (${piece.refusal})`), { id: `why-${name(piece)}` }));
    }
  }
  box.replaceChildren(...parts);
  if (pressed === open || (words.has(pressed) && !pieces.some((piece) => piece.id === pressed))) pressed = "";
  if (open && open === came.id) came.at ||= performance.now();
  // A form was answered: on to the next gap, unless a word is pressed meanwhile.
  if (go && go !== box.go && box.go !== undefined && !pressed) goingOn = setTimeout(() => goesOn(box), 60);
  box.go = go;
  if (held && box.contains(held)) held.focus({ preventScroll: true });
  if (waits && held.value) goesOn(held); // what was typed elsewhere has said this, too
}

function spaced(parts, text) { return !parts.length || /^[,.:;%]/.test(text) ? "" : " "; }

// No line begins with a stop: it stays with the word before it. What is left of the text is returned.
function keeps(parts, text) {
  const [stop] = /^[,.:;%]*/.exec(text), last = parts.at(-1);
  if (!stop || !(last instanceof Element)) return text;
  const kept = made("span", "kept");
  kept.append(last, stop);
  parts.splice(-1, 1, kept);
  return text.slice(stop.length);
}

function name(piece) { return [...piece.id].map((letter) => (/\w/.test(letter) ? letter : letter.codePointAt(0))).join(""); }

function made(tag, look, text = "") { return Object.assign(document.createElement(tag), { className: look, textContent: text }); }

function word(component, box, piece, open) {
  const { words } = box;
  const part = words.get(piece.id) ?? made(piece.is_box ? "input" : "button", "");
  words.set(piece.id, part);
  part.className = piece.refusal ? "refused" : piece.gap ? "gap" : "";
  part.dataset.word = piece.id;
  part.setAttribute("aria-label", piece.name + (piece.is_box ? "" : ": " + (piece.gap ? "still to be said" : piece.text)));
  part.setAttribute("aria-invalid", String(Boolean(piece.refusal)));
  if (piece.refusal) part.setAttribute("aria-describedby", `why-${name(piece)}`);
  else part.removeAttribute("aria-describedby");
  if (piece.is_box) {
    // What was typed into a box is of whoever types until it is sent; what was refused stays to be mended.
    const kept = part === document.activeElement && ![part.sent, part.shown].includes(part.value);
    const unheard = box.typed.some((one) => one.id === piece.id);
    if (!kept && !unheard && !piece.refusal) [part.value, part.shown, part.sent] = [piece.text, piece.text, undefined];
    part.autocomplete = "off";
    part.placeholder = "__";
    const fits = () => { part.style.width = `${Math.max(2, part.value.length * 0.6 + 0.9)}em`; };
    const sends = () => {
      if (part.value === (part.sent ?? piece.text)) return;
      part.sent = part.value;
      box.typed.push({ id: piece.id, text: part.value, number: (box.heard += 1) });
      component.setStateValue("typed", [...box.typed]);
    };
    part.oninput = fits;
    part.onchange = sends;
    part.onkeydown = (event) => { if (event.key === "Enter") { event.preventDefault(); sends(); goesOn(part); } };
    part.onfocus = () => part.select();
    part.onpaste = (event) => {
      const cells = event.clipboardData.getData("text").trim();
      if (!/[\t\n]/.test(cells)) return;
      event.preventDefault(); // cells of a spreadsheet: a range a line
      part.value = cells.replace(/\s*\n\s*/g, "; ").replace(/\t/g, " to ");
      fits();
    };
    fits();
  } else {
    part.type = "button";
    part.textContent = piece.text;
    part.setAttribute("aria-expanded", String(piece.id === open));
    part.onclick = () => {
      clearTimeout(goingOn);
      const opened = piece.id === came.id && performance.now() - came.at < AT_THAT_MOMENT;
      pressed = piece.id === open && !opened ? "" : piece.id;
      component.setTriggerValue("word", { id: pressed });
    };
  }
  return part;
}

// Enter goes on to the next thing that is missing, in whichever paragraph; a form that asks is opened on the way.
function goesOn(from) {
  const gaps = [...document.querySelectorAll(".sentence .gap")].filter((one) => one !== from && !one.value);
  const next = gaps.find((one) => from.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING) ?? gaps[0];
  next?.focus();
  if (next?.tagName !== "BUTTON" || next.getAttribute("aria-expanded") === "true") return;
  came = { id: next.dataset.word, at: 0 };
  next.click();
}
