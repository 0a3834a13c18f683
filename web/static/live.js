// Keeps a page in step with the table: one stream of changes, and `live` on the body for each.
// The page fetches its own part anew; without this script it is as good as a page that is reloaded by hand.

const LOST_AFTER_MS = 3000;
const offline = document.getElementById("offline");
let stream = null;
let lostTimer = 0;
let shown = document.body.dataset.shows;

function changed(event) {
  if (event.lastEventId === shown) return;
  shown = event.lastEventId;
  document.body.dispatchEvent(new CustomEvent("live"));
}

function found() {
  clearTimeout(lostTimer);
  lostTimer = 0;
  offline.hidden = true;
}

function lost() {
  lostTimer ||= setTimeout(() => { offline.hidden = false; }, LOST_AFTER_MS);
  if (stream.readyState === EventSource.CLOSED) setTimeout(connect, 2000);
}

function connect() {
  if (stream && stream.readyState !== EventSource.CLOSED) return;
  stream = new EventSource("/events");
  stream.addEventListener("state", changed);
  stream.addEventListener("open", found);
  stream.addEventListener("error", lost);
}

// A phone that slept has a dead stream and an old page.
function woken() {
  if (document.visibilityState !== "visible") return;
  stream?.close();
  connect();
  document.body.dispatchEvent(new CustomEvent("live"));
}

if (shown) {
  connect();
  document.addEventListener("visibilitychange", woken);
  window.addEventListener("pageshow", (event) => { if (event.persisted) woken(); });
  window.addEventListener("pagehide", () => stream?.close());
}

// An illegal play blinks when it appears, not each time the page is refreshed.
const blinked = new Set();
function blink() {
  for (const play of document.querySelectorAll(".illegal[id]")) {
    if (!blinked.has(play.id)) play.classList.add("alarm");
    blinked.add(play.id);
  }
}
blink();
document.body.addEventListener("htmx:afterSettle", blink);

// A card that has come to lie somewhere slides into its place, once. What lay there is known by the place's id.
const lying = new Map();
// After settling, which sets the class anew.
function slide() {
  for (const place of document.querySelectorAll("[data-lies]")) {
    const lies = place.dataset.lies;
    if (lies && lying.has(place.id) && lying.get(place.id) !== lies) place.classList.add("slides");
    lying.set(place.id, lies);
  }
}
slide();
document.body.addEventListener("htmx:afterSettle", slide);
document.body.addEventListener("htmx:afterSwap", () => {
  for (const place of document.querySelectorAll(".slides")) place.classList.remove("slides");
});

// The heading stands above the part that is fetched anew.
document.body.addEventListener("htmx:afterSwap", () => {
  const heading = document.getElementById("heading");
  const now = document.querySelector("[data-heading]");
  if (heading && now) heading.textContent = now.dataset.heading;
});

// The window of a coup fourré shrinks once for each attack, however often the page is fetched anew; when it has
// closed, the button is smaller and still there: the rules say when it is too late.
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
shrink();
document.body.addEventListener("htmx:afterSwap", shrink);

// Phones that have asked for it get sounds, speech and vibration; the others do not load them.
const { sound, speech, vibrate, soundsAt } = document.body.dataset;
if (sound || speech || vibrate) import(soundsAt);

// What was said about the last tap is gone with the next one that works.
document.body.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.successful) document.getElementById("notice").replaceChildren();
});
document.body.addEventListener("htmx:sendError", () => { offline.hidden = false; });
document.body.addEventListener("htmx:afterOnLoad", found);

// A trouble that was put away stays away in this tab until it is another one.
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
settleTrouble();
document.body.addEventListener("htmx:afterSwap", settleTrouble);
