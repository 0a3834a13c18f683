// Explain a sign after a long press on it or its button, or after a tap that does nothing else. “How to play” has the
// same explanations for other input devices.

const HELD_MS = 550;
const MOST_MOVED_PX = 10;
let timer = 0;
let from = null;
let told = false;

function signAt(target) {
  const button = target.closest?.("button, a, label, summary");
  return target.closest?.("svg.sign") ?? button?.querySelector("svg.sign");
}

function slugOf(sign) {
  return sign?.querySelector("use")?.getAttribute("href")?.split("#s-")[1];
}

async function tell(slug) {
  const dialog = document.createElement("dialog");
  dialog.className = "sign-means";
  try {
    const answer = await fetch(`/how/card/${slug}`, { headers: { "HX-Request": "true" } });
    if (!answer.ok) return;
    dialog.innerHTML = await answer.text();
  } catch {
    return;
  }
  document.body.append(dialog);
  // Show the dialog only with its styles loaded.
  const style = dialog.querySelector("link");
  await new Promise((done) => { style.onload = style.onerror = done; });
  dialog.setAttribute("aria-label", dialog.querySelector("h1").textContent.trim());
  dialog.addEventListener("click", (event) => { if (!event.target.closest("a")) dialog.close(); });
  dialog.addEventListener("close", () => dialog.remove());
  dialog.showModal();
}

function rest() {
  clearTimeout(timer);
}

document.addEventListener("pointerdown", (event) => {
  rest();
  told = false;
  const slug = slugOf(signAt(event.target));
  if (!slug || event.target.closest("dialog")) return;
  from = [event.clientX, event.clientY];
  timer = setTimeout(() => { told = true; tell(slug); }, HELD_MS);
});
document.addEventListener("pointermove", (event) => {
  if (from && Math.hypot(event.clientX - from[0], event.clientY - from[1]) > MOST_MOVED_PX) rest();
});
for (const end of ["pointerup", "pointercancel", "scroll"]) document.addEventListener(end, rest, true);
// Replace the phone's own menu, which a long press may open before our timer ends.
document.addEventListener("contextmenu", (event) => {
  const slug = slugOf(signAt(event.target));
  if (!slug || event.pointerType === "mouse") return;
  event.preventDefault();
  rest();
  if (!told) tell(slug);
  told = true;
});
document.addEventListener("click", (event) => {
  if (told) {
    told = false;
    event.preventDefault();
    event.stopPropagation();
    return;
  }
  const sign = event.target.closest?.("svg.sign");
  if (sign && slugOf(sign) && !sign.closest("button, a, label, summary, dialog")) tell(slugOf(sign));
}, true);
