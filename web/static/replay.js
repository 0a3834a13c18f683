// Replay of a hand. Left and right arrow: one play; Home and End: first and last; space: start and stop autoplay.
// Autoplay also stops on a manual step, when the page is hidden, and at the hand's end.

const KEYS = { ArrowLeft: "to-prev", ArrowRight: "to-next", Home: "to-first", End: "to-last" };
const PACES_MS = { slow: 4000, normal: 2000, fast: 900 };

const at = (id) => document.getElementById(id);
const leads = (id) => Boolean(at(id)?.hasAttribute("href"));
let pace = matchMedia("(prefers-reduced-motion: reduce)").matches ? "slow" : "normal";
let running = false;
let timer = 0;

// After each step, restore the controls' state and scroll the list of plays to the current one.
function show() {
  clearTimeout(timer);
  running &&= leads("to-next");
  at("player").hidden = false;
  at("pace").value = pace;
  at("run").textContent = running ? at("run").dataset.pause : at("run").dataset.play;
  if (running) timer = setTimeout(() => at("to-next").click(), PACES_MS[pace]);
  const here = document.querySelector(".log .here");
  const list = here?.closest(".log");
  if (list && list.scrollHeight > list.clientHeight + 1) list.scrollTop = here.offsetTop - list.offsetTop - list.clientHeight / 2;
}

function pause() {
  running = false;
  show();
}

function toggle() {
  if (running) return pause();
  running = true;
  at(leads("to-next") ? "to-next" : "to-first").click();
}

// The clipboard API needs https; a selection can be copied without it.
function copy(text) {
  const field = document.createElement("textarea");
  field.className = "hidden";
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

document.body.addEventListener("htmx:afterSwap", show);
document.body.addEventListener("htmx:sendError", pause);
document.body.addEventListener("htmx:responseError", pause);
document.addEventListener("visibilitychange", () => document.hidden && pause());
document.addEventListener("change", (event) => {
  if (event.target.id !== "pace") return;
  pace = event.target.value;
  show();
});

document.addEventListener("click", (event) => {
  if (event.target.id === "run") toggle();
  if (event.isTrusted && event.target.closest(".steps nav a")) running = false;
  if (event.target.id !== "link") return;
  event.preventDefault();
  copy(event.target.href);
  event.target.textContent = event.target.dataset.copied;
  event.target.focus();
});

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target.matches("select, summary")) return;
  if (event.key === " " && !event.target.closest("a, button")) {
    event.preventDefault();
    toggle();
  }
  if (!leads(KEYS[event.key])) return;
  event.preventDefault();
  running = false;
  at(KEYS[event.key]).click();
});

show();
