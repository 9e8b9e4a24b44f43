// A page that plays animations by itself: the drawing library, the player and what is drawn lie in one block of JSON.

const { library, player, drawn } = JSON.parse(document.getElementById("packed").textContent);
const scenes = [...document.querySelectorAll(".scene")], turns = [...document.querySelectorAll("nav button")];
const dark = matchMedia("(prefers-color-scheme: dark)");
let open = 0;

// A page opened from a disk may not import a file beside it, but a module out of its own memory.
const { default: plays, unzipped } = await import(URL.createObjectURL(new Blob([player], { type: "text/javascript" })));
document.head.append(Object.assign(document.createElement("script"), { textContent: await unzipped(library) }));

const { animations, figures } = JSON.parse(await unzipped(drawn));

// An animation holds its steps once for light and once for dark; rows and long lists are shared.
function draws() {
  const animation = animations[open], theme = dark.matches ? "dark" : "light";
  scenes[open].querySelectorAll(".figure").forEach((place, i) => {
    const { data, layout } = figures[open][i][theme];
    window.Plotly.react(place, data, layout, { displayModeBar: false, showSendToCloud: false, responsive: true });
  });
  if (!animation) return;
  const shown = JSON.stringify({ ...animation, around: null, start: animation.at, steps: animation.steps[theme], colors: animation.colors[theme] });
  plays({ parentElement: scenes[open], data: { animation: shown, around: JSON.stringify(animation.around) } });
}

function turnsTo(place) {
  scenes[open].querySelector(".animation")?.player?.stops();
  open = Math.max(0, Math.min(scenes.length - 1, place));
  scenes.forEach((scene, i) => { scene.hidden = i !== open; });
  turns.forEach((turn, i) => turn.toggleAttribute("aria-current", i === open));
  draws();
}

turns.forEach((turn, i) => { turn.onclick = () => turnsTo(i); });
document.querySelectorAll(".leads").forEach((on) => {
  on.onclick = () => {
    turnsTo(open + 1);
    window.scrollTo(0, 0);
  };
});
dark.onchange = draws;
// Arrow keys walk wherever the reader stands; Page Up and Page Down turn to another scene.
document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented) return;
  const by = { PageDown: 1, PageUp: -1 }[event.key];
  if (by && scenes.length > 1) {
    event.preventDefault();
    turnsTo(open + by);
  } else scenes[open].querySelector(".animation")?.onkeydown?.(event);
});
document.querySelector(".sorry").hidden = true;
turnsTo(0);
