// Tells the page when what the browser shows is not what the page was drawn for. Every answer runs the page again: none
// is given twice. And names of widgets, for whoever hears them, are freed of what is there for Markdown alone.
// A place that was not shown before begins at its top.
const NARROW = window.matchMedia("(max-width: 640px)");

// A widget is called by the Markdown of its label: without the backslashes it is heard as it is seen.
const ESCAPED = /\\([!-/:-@[-`{-~])/g;
const unescapesNames = () => {
  for (const part of document.querySelectorAll('[aria-label*="\\\\"]')) {
    const heard = part.ariaLabel.replace(ESCAPED, "$1");
    if (heard !== part.ariaLabel) part.ariaLabel = heard; // what is set is watched: an equal name would be set for ever
  }
};
const watchesNames = () => {
  if (document.documentElement.dataset.namesWatched) return;
  document.documentElement.dataset.namesWatched = "yes";
  const watched = { subtree: true, childList: true, attributes: true, attributeFilter: ["aria-label"] };
  new MutationObserver(unescapesNames).observe(document.body, watched);
  unescapesNames();
};

const isDark = (probe) => {
  const [red, green, blue] = getComputedStyle(probe).backgroundColor.match(/[\d.]+/g).map(Number);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
};

export default function ({ data, parentElement, setStateValue }) {
  const probe = parentElement.querySelector(".probe");
  const tell = () => {
    const seen = { dark: isDark(probe), narrow: NARROW.matches };
    const words = JSON.stringify(seen);
    if (words === JSON.stringify({ dark: data.dark, narrow: data.narrow }) || words === probe.dataset.told) return;
    probe.dataset.told = words;
    setStateValue("seen", seen);
  };
  const main = document.querySelector('[data-testid="stMain"]');
  if (main && (document.documentElement.dataset.place ?? data.place) !== data.place) main.scrollTo(0, 0);
  document.documentElement.dataset.place = data.place;
  probe.ontransitionend = tell;
  NARROW.addEventListener("change", tell);
  tell();
  watchesNames();
  return () => {
    NARROW.removeEventListener("change", tell);
  };
}
