// Taps that change the record: shown at once, sent until answered, and each counted once.
// Without this script the forms work as forms.

const ANSWER_AFTER_MS = 2000; // the next try
const MOVED_MS = 1000; // nobody has yet seen what came under the finger
const AGAIN_MS = 2000; // a finger that taps twice without looking
const AGAIN_PX = 30;
const GUARDED = /^\/(play|question|line|undo|redo|waive|hand)\b/;
const WAITING = "tap waiting";
const TAPPED = "last tap";
const RETURNS = "focus returns";
const stored = (key) => JSON.parse(sessionStorage.getItem(key) ?? "null");
const store = (key, value) => sessionStorage.setItem(key, JSON.stringify(value));

let waiting = stored(WAITING);
let next = 0;

// What a tap there means: its fields, but not the one that differs in each drawing of the page.
function meaning(control) {
  if (!control.form) return control.getAttribute("href");
  const fields = [...new FormData(control.form, control)].filter(([name]) => name !== "request");
  return [action(control), ...fields.flat()].join(" ");
}
const action = (button) => button.getAttribute("hx-post") ?? button.form.getAttribute("hx-post") ?? "";

// --- Taps that are not meant ------------------------------------------------------------------------------------

const CONTROLS = "main :is(form[hx-post] button, a[href])";
const changes = (control) => control.form && GUARDED.test(action(control));
let drawn = []; // earlier drawings of the page: when they ended, and where which buttons were
function remember() {
  const now = Date.now();
  const buttons = [...document.querySelectorAll(CONTROLS)].filter(changes);
  const places = buttons.map((one) => [one.getBoundingClientRect(), meaning(one)]);
  drawn = [...drawn.filter(([ended]) => now - ended < MOVED_MS), [now, places]];
}

function isMeant(control, x, y) {
  const now = Date.now(), means = meaning(control), last = stored(TAPPED);
  store(TAPPED, [now, x, y]);
  if (last && now - last[0] < AGAIN_MS && Math.hypot(x - last[1], y - last[2]) < AGAIN_PX) return false;
  const there = ({ left, right, top, bottom }) => left <= x && x < right && top <= y && y < bottom;
  return !drawn.some(([ended, places]) => now - ended < MOVED_MS
    && places.some(([box, meant]) => there(box) && meant !== means));
}

function shake(control) {
  control.classList.remove("shakes");
  control.offsetWidth; // restarts the animation
  control.classList.add("shakes");
}

// --- Sending ----------------------------------------------------------------------------------------------------

const board = document.body;
const template = document.getElementById("sending");

function show() {
  board.classList.toggle("sends", Boolean(waiting));
  document.querySelector("p.sending")?.remove();
  const last = document.querySelector(".sky .last");
  if (last) last.hidden = Boolean(waiting);
  if (!waiting || !template) return;
  const line = template.content.firstElementChild.cloneNode(true);
  line.querySelector("span").textContent = waiting.say;
  line.querySelector("use").setAttribute("href", waiting.sign);
  line.querySelector("svg").hidden = !waiting.sign;
  line.classList.toggle("late", waiting.tries > 0);
  line.querySelector("button").addEventListener("click", forget);
  if (last) last.after(line);
  else document.querySelector("main h1")?.after(line);
}

function done() {
  waiting = null;
  sessionStorage.removeItem(WAITING);
  clearTimeout(next);
  show();
  if (missed) board.dispatchEvent(new CustomEvent("live"));
  missed = false;
}

function forget() {
  window.htmx.trigger(board, "htmx:abort");
  missed = true;
  done();
}

// A page asked for before the tap may arrive after its answer, and would show the table as it was.
let missed = false;
board.addEventListener("htmx:beforeRequest", (event) => {
  if (!waiting || event.target.id !== "live") return;
  event.preventDefault();
  missed = true;
});

async function send() {
  clearTimeout(next);
  const mine = waiting;
  if (!mine) return;
  try {
    const way = { source: board, target: "#live", swap: "innerHTML settle:40ms", values: Object.fromEntries(mine.body) };
    await window.htmx.ajax("POST", mine.path, way);
    if (mine === waiting) done();
  } catch {
    if (mine !== waiting) return;
    mine.tries += 1;
    store(WAITING, mine);
    show();
    next = setTimeout(send, ANSWER_AFTER_MS);
  }
}

document.addEventListener("submit", (event) => {
  const button = event.submitter;
  const path = button && action(button);
  if (!path) return;
  event.preventDefault();
  event.stopPropagation();
  if (waiting) return shake(button);
  const form = event.target;
  const body = [...new FormData(form, button)].map(([name, value]) => [name, String(value)]);
  const chosen = document.getElementById("chosen-after");
  if (chosen) body.push(["after", chosen.value]);
  const label = button.querySelector("span:not(.hidden)") ?? button;
  const said = [form.dataset.who, label.textContent.trim().replace(/\s+/g, " ")].filter(Boolean).join(": ");
  waiting = { path, body, say: said, sign: button.querySelector(".sign use")?.getAttribute("href") ?? "", tries: 0 };
  store(WAITING, waiting);
  if (button.matches(":focus-visible")) sessionStorage.setItem(RETURNS, "yes");
  missed = document.getElementById("live").classList.contains("htmx-request");
  window.htmx.trigger("#live", "htmx:abort");
  show();
  send();
}, true);

document.addEventListener("click", (event) => {
  const control = event.target.closest(CONTROLS);
  if (!control || (control.form && !changes(control))) return;
  const box = control.getBoundingClientRect();
  const isPointed = event.detail > 0; // not by keyboard
  const [x, y] = isPointed ? [event.clientX, event.clientY] : [box.left + box.width / 2, box.top + box.height / 2];
  if (isMeant(control, x, y)) return;
  event.preventDefault();
  event.stopPropagation();
  shake(control);
}, true);

board.addEventListener("htmx:beforeSwap", remember);
board.addEventListener("htmx:afterSwap", show);
window.addEventListener("online", send);
document.addEventListener("visibilitychange", () => { if (!document.hidden) send(); });
show();
send();

// --- Focus ------------------------------------------------------------------------------------------------------

// It stays on the control with the same id, else it goes to the heading.
let wasInside = false;
function toHeading() {
  const heading = document.querySelector("main h1");
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}
board.addEventListener("htmx:beforeSwap", () => {
  wasInside = document.getElementById("live").contains(document.activeElement);
});
board.addEventListener("htmx:afterSettle", () => {
  if (wasInside && document.activeElement === board) toHeading();
  sessionStorage.removeItem(RETURNS);
});
if (sessionStorage.getItem(RETURNS) && !waiting) {
  sessionStorage.removeItem(RETURNS);
  toHeading();
}
