// Live updates of the text version: the log announces each new play in one sentence; the rest is updated silently.

const said = document.getElementById("said");
const waits = () => [...document.querySelectorAll("[data-waits]")];
const lines = () => [...document.querySelectorAll("#hand [data-key]")].filter((line) => !("void" in line.dataset));
const matchNow = () => document.getElementById("hand").dataset.match;

let match = matchNow();
let latest = newest();
const asked = new Set(waits().map((one) => one.dataset.waits));

// Ignore the forms' request ids, which change each time.
const shape = (part) => part.innerHTML.replaceAll(/name="request" value="\w*"/g, "");

function newest() {
  return Math.max(0, ...lines().map((line) => Number(line.dataset.key)));
}

function say(sentence) {
  const line = document.createElement("p");
  line.textContent = sentence;
  said.append(line);
  while (said.childElementCount > 20) said.firstElementChild.remove();
}

function tell(before) {
  const now = newest();
  if (matchNow() === match && now < before) say(said.dataset.back);
  if (matchNow() !== match) latest = 0;
  match = matchNow();
  const fresh = lines().filter((line) => Number(line.dataset.key) > latest).reverse();
  for (const line of fresh) say(line.firstElementChild.textContent.trim());
  latest = Math.max(latest, now);
  for (const one of waits()) {
    if (!asked.has(one.dataset.waits)) say(one.textContent.trim());
    asked.add(one.dataset.waits);
  }
}

async function refresh() {
  const answer = await fetch("/plain");
  if (!answer.ok || new URL(answer.url).pathname !== "/plain") return location.reload();
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const [now, fresh] = [document.getElementById("now"), page.getElementById("now")];
  if (shape(now) === shape(fresh)) return;
  const before = newest();
  const focused = now.contains(document.activeElement) ? document.activeElement.id : "";
  now.replaceChildren(...fresh.childNodes);
  if (focused) document.getElementById(focused)?.focus();
  tell(before);
}

// One at a time, and once more for changes meanwhile.
let running = null;
let again = false;
document.body.addEventListener("live", () => {
  again = true;
  running ??= (async () => {
    while (again) { again = false; await refresh().catch(() => {}); }
    running = null;
  })();
});
