// Counting only: − and + buttons, live results, and progress while a photograph is read. Without this script the
// numbers are typed; everything else works the same.

function step(input, by) {
  const value = Math.min(Math.max((Number(input.value) || 0) + by, Number(input.min)), Number(input.max));
  input.value = value;
  input.dispatchEvent(new Event("input", { bubbles: true }));
}

function stepButton(input, by) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = by < 0 ? "−" : "+";
  button.setAttribute("aria-label", input.parentElement.dataset.says.replace("{step}", `${button.textContent} 1`));
  button.addEventListener("click", () => step(input, by));
  return button;
}

for (const stepper of document.querySelectorAll(".stepper")) {
  const input = stepper.querySelector("input");
  stepper.prepend(stepButton(input, -1));
  stepper.append(stepButton(input, 1));
}

// The server derives the results from the cards: kilometers, errors, how the hand went, and required questions.
const lines = document.querySelector("form[data-follows]");
let waits, latest;
async function follow() {
  const form = new FormData(lines);
  form.delete("photo");
  form.set("change", "1");
  const mine = (latest = fetch(lines.action, { method: "POST", body: form }));
  const page = new DOMParser().parseFromString(await (await mine).text(), "text/html");
  if (mine !== latest) return;
  const fresh = page.querySelectorAll("[data-live]");
  document.querySelectorAll("[data-live]").forEach((old, at) => fresh[at] && (old.textContent = fresh[at].textContent));
  const asked = page.querySelectorAll("[data-asked]");
  document.querySelectorAll("[data-asked]").forEach((old, at) => asked[at] && (old.required = asked[at].required));
  explain();
}
// Replace the browser's message, which would only say to tick the box, in the browser's language.
function explain() {
  for (const box of document.querySelectorAll("[data-say]"))
    box.setCustomValidity(box.required && !box.checked ? box.dataset.say : "");
}
explain();
lines?.addEventListener("input", () => {
  explain();
  clearTimeout(waits);
  waits = setTimeout(() => follow().catch(() => {}), 100);
});
// After going back, the typed values are still there.
if (lines && performance.getEntriesByType("navigation")[0]?.type !== "navigate") addEventListener("load", follow);

for (const select of document.querySelectorAll(".other select")) {
  const other = select.closest(".other").querySelector("input");
  select.addEventListener("change", () => {
    other.checked = true;
    other.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

// Show the chosen name below a card's picture.
for (const piece of document.querySelectorAll(".piece")) {
  const select = piece.querySelector("select");
  piece.addEventListener("input", ({ target }) => {
    if (target === select) return;
    const isListed = target.value === "other";
    if (!isListed) select.value = "";
    const name = isListed ? select.value && select.selectedOptions[0].text : target.closest("label").textContent.trim();
    if (name) piece.querySelector("summary b").textContent = name;
  });
}

// Giving a card another's name swaps the two names, so one tap corrects both.
const pieces = [...document.querySelectorAll(".names fieldset.card")];
const names = new Map();
function nameOf(piece) {
  const { value } = piece.querySelector("input:checked") ?? {};
  return value === "other" ? piece.querySelector("select").value : value;
}
function giveName(piece, name) {
  const radios = [...piece.querySelectorAll("input")];
  const radio = radios.find(({ value }) => value === (name ?? "")) ?? radios.at(-1);
  for (const each of radios) each.checked = each === radio && Boolean(name);
  piece.querySelector("select").value = radio.value === "other" ? name ?? "" : "";
  names.set(piece, name);
  const said = piece.closest("details")?.querySelector("summary b");
  if (said) said.textContent = piece.querySelector(`option[value="${name ?? ""}"]`).text;
}
function swapNames() {
  for (const piece of pieces) {
    const [now, before] = [nameOf(piece), names.get(piece)];
    if (now === before) continue;
    names.set(piece, now);
    const other = now && now !== "none" && pieces.find((each) => each !== piece && names.get(each) === now);
    if (other) giveName(other, before === "none" ? undefined : before);
    break;
  }
}
if (pieces.length) {
  addEventListener("load", () => pieces.forEach((piece) => names.set(piece, nameOf(piece))));
  addEventListener("input", () => setTimeout(swapNames));
}

// Send photographs one by one if the form says so, however large they are together. The server reports unusable ones;
// one that is too large is sent without its file. Retry while the server is busy or unreachable.
async function sendEach(input, files, button) {
  files.sort((one, other) => one.name.length - other.name.length || (one.name > other.name) - (one.name < other.name));
  const body = new FormData(input.form);
  button.hidden = false;
  button.disabled = input.disabled = true;
  for (let number = 1; number <= files.length; number++) {
    const says = input.dataset.each.replace("{number}", number).replace("{count}", files.length);
    button.querySelector("span").textContent = says;
    body.delete("photo");
    body.set("number", number);
    const file = files[number - 1];
    if (file.size <= Number(input.dataset.most)) body.set("photo", file);
    const asked = { method: "POST", body, headers: { "HX-Request": "true" } };
    let answer;
    while (!(answer = await fetch(input.form.action, asked).catch(() => null)) || [429, 503].includes(answer.status)) {
      await new Promise((again) => setTimeout(again, 2000));
    }
    if (number === files.length || !answer.ok) location = answer.headers.get("HX-Redirect") || location.href;
    if (!answer.ok) return;
  }
}

// Report a file that is too large before sending; typed values stay. In forms that send at once, the button only shows
// progress.
for (const input of document.querySelectorAll("[data-most]")) {
  const sends = "sends" in input.dataset && input.form.querySelector("[data-busy]");
  if (sends) sends.hidden = true;
  input.addEventListener("change", () => {
    if ("each" in input.dataset && input.files.length > 1) return sendEach(input, [...input.files], sends);
    const isTooLarge = [...input.files].some((file) => file.size > Number(input.dataset.most));
    if (isTooLarge) input.value = "";
    input.form.querySelector("[data-too-large]").hidden = !isTooLarge;
    if (sends && input.files.length) input.form.requestSubmit(sends);
  });
}

for (const form of document.querySelectorAll("form")) {
  form.addEventListener("submit", ({ submitter }) => {
    const words = submitter?.dataset.busy;
    if (!words) return;
    submitter.hidden = false;
    submitter.querySelector("span").textContent = words;
    setTimeout(() => (submitter.disabled = true));
  });
}

for (const hidden of document.querySelectorAll("[data-needs-script]")) hidden.hidden = false;

// A page restored from the browser's cache is no longer busy.
addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
