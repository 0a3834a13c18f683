// Poll each second for changes of the table, and dispatch `live` on the body after one.
// The page then fetches its part again; without this script it must be reloaded by hand.

const PAUSE_MS = 1000;
const HIDDEN_PAUSE_MS = 10000;
const LOST_PAUSE_MS = 2000;
const LOST_AFTER_MS = 3000;
const ANSWER_MS = 5000;
const offline = document.getElementById("offline");
let shown = document.body.dataset.shows;
let asking = null;
let next = 0;
let lostTimer = 0;

function found() {
  clearTimeout(lostTimer);
  lostTimer = 0;
  offline.hidden = true;
}

function lost() {
  lostTimer ||= setTimeout(() => { offline.hidden = false; }, LOST_AFTER_MS);
}

async function version(signal) {
  const answer = await fetch("/version", { headers: { "If-None-Match": `"${shown}"` }, signal });
  if (answer.status === 304) return shown;
  if (!answer.ok) throw new Error(answer.status);
  return answer.headers.get("ETag").replaceAll('"', "");
}

async function ask() {
  clearTimeout(next);
  asking?.abort();
  const mine = asking = new AbortController();
  const patience = setTimeout(() => mine.abort(), ANSWER_MS);
  let pause = document.hidden ? HIDDEN_PAUSE_MS : PAUSE_MS;
  try {
    const now = await version(mine.signal);
    found();
    if (now !== shown) {
      // The demo's label is outside the part that is fetched again.
      if (shown.includes("-demo.") && !now.includes("-demo.")) location.reload();
      shown = now;
      document.body.dispatchEvent(new CustomEvent("live"));
    }
  } catch {
    if (mine !== asking) return;
    lost();
    pause = Math.max(pause, LOST_PAUSE_MS);
  } finally {
    clearTimeout(patience);
  }
  if (mine === asking) next = setTimeout(ask, pause);
}

function rest() {
  clearTimeout(next);
  asking?.abort();
  asking = null;
}

if (shown) {
  next = setTimeout(ask, PAUSE_MS);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });
  window.addEventListener("pageshow", (event) => { if (event.persisted) ask(); });
  window.addEventListener("pagehide", rest);
}

// Do something now, and after each update of the page's part.
function keep(act, event) {
  act();
  document.body.addEventListener(event, act);
}

// An illegal play blinks when it appears, not after each update.
const blinked = new Set();
function blink() {
  for (const play of document.querySelectorAll(".illegal[id]")) {
    if (!blinked.has(play.id)) play.classList.add("alarm");
    blinked.add(play.id);
  }
}
keep(blink, "htmx:afterSettle");

// A new card slides into its place once. `lying` maps a place's id to its last card.
const lying = new Map();
// After settling, which resets the class.
function slide() {
  for (const place of document.querySelectorAll("[data-lies]")) {
    const lies = place.dataset.lies;
    if (lies && lying.has(place.id) && lying.get(place.id) !== lies) place.classList.add("slides");
    lying.set(place.id, lies);
  }
}
keep(slide, "htmx:afterSettle");
document.body.addEventListener("htmx:afterSwap", () => {
  for (const place of document.querySelectorAll(".slides")) place.classList.remove("slides");
});

// The heading is outside the part that is fetched again.
document.body.addEventListener("htmx:afterSwap", () => {
  const heading = document.getElementById("heading");
  const now = document.querySelector("[data-heading]");
  if (heading && now) heading.textContent = now.dataset.heading;
});

// A coup fourré's window shrinks once per attack, across updates. Afterwards the button is smaller but remains: the
// rules decide when it is too late.
const WINDOW_MS = 15000;
const WINDOW = "coup fourré window";
function shrink() {
  for (const chance of document.querySelectorAll(".chance[data-window]")) {
    const [known, began] = JSON.parse(sessionStorage.getItem(WINDOW) ?? "[]");
    const since = known === chance.dataset.window ? Math.max(0, Date.now() - began) : 0;
    if (!since) sessionStorage.setItem(WINDOW, JSON.stringify([chance.dataset.window, Date.now()]));
    if (since >= WINDOW_MS) { chance.classList.add("late"); continue; }
    chance.style.setProperty("--since", `-${since}ms`);
    chance.classList.add("shrinks");
    setTimeout(() => chance.classList.replace("shrinks", "late"), WINDOW_MS - since);
  }
}
keep(shrink, "htmx:afterSwap");

// A full-screen moment shows once, if it happened after this tab was opened. An undo shows none: its line is an earlier
// one.
const MOMENT = "moment shown";
const stillness = matchMedia("(prefers-reduced-motion: reduce)");
function place(key) {
  const [match, line] = key.split(".").map(Number);
  return match * 1e6 + line;
}
// A win that can still be turned by an answer out of turn waits for `data-waits` seconds.
const firstSeen = new Map();
function celebrate() {
  const moment = document.getElementById("moment");
  if (!moment) return;
  const { key, waits } = moment.dataset;
  const now = place(key);
  const before = sessionStorage.getItem(MOMENT);
  if (before !== null && now <= Number(before)) return;
  if (before !== null && waits) {
    if (!firstSeen.has(key)) firstSeen.set(key, Date.now());
    const left = firstSeen.get(key) + 1000 * waits - Date.now();
    if (left > 0) { setTimeout(celebrate, left); return; }
  }
  sessionStorage.setItem(MOMENT, now);
  if (before !== null) document.body.dispatchEvent(new CustomEvent("moment", { detail: moment.dataset.moment }));
  const scene = moment.content.firstElementChild?.cloneNode(true);
  if (!scene || before === null || stillness.matches || "calm" in document.body.dataset) return;
  scene.addEventListener("animationend", (event) => { if (event.target === scene) scene.remove(); });
  document.body.append(scene);
}
keep(celebrate, "htmx:afterSettle");

// Load sounds, speech and vibration only on phones that turned them on.
const { sound, speech, vibrate, soundsAt, signsAt } = document.body.dataset;
if (sound || speech || vibrate) import(soundsAt);
// Explanations of signs can wait until the page is shown.
if (signsAt) window.addEventListener("load", () => import(signsAt).catch(() => {}));

// The next successful tap clears the message about the last one.
document.body.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.successful) document.getElementById("notice").replaceChildren();
});
for (const failure of ["htmx:sendError", "htmx:timeout"]) {
  document.body.addEventListener(failure, () => {
    offline.hidden = false;
    shown = "";
  });
}
document.body.addEventListener("htmx:afterOnLoad", found);

// A dismissed problem stays hidden in this tab until another occurs.
const AWAY = "trouble put away";
function settleTrouble() {
  const banner = document.querySelector("details.trouble");
  if (!banner) return sessionStorage.removeItem(AWAY);
  banner.hidden = sessionStorage.getItem(AWAY) === banner.dataset.says;
  banner.open = !banner.hidden && banner.dataset.says === opened;
  banner.querySelector(".put-away").hidden = false;
}
let opened = "";
document.body.addEventListener("click", (event) => {
  const banner = event.target.closest("details.trouble");
  if (!banner) return;
  if (event.target.closest(".put-away")) {
    sessionStorage.setItem(AWAY, banner.dataset.says);
    settleTrouble();
  } else {
    opened = banner.open ? "" : banner.dataset.says;
  }
});
keep(settleTrouble, "htmx:afterSwap");
