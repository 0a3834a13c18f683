// The camera pages: a picture that follows the table, and zones drawn on it by finger, mouse or keys.
// The numbers of the form are what counts; the drawing shows them and changes them.

const PAUSE_MS = 500;
const picture = document.getElementById("picture");

function follow() {
  if (document.hidden) document.addEventListener("visibilitychange", follow, { once: true });
  else picture.src = "/camera.jpg?" + Date.now();
}

if (picture) {
  const again = () => setTimeout(follow, PAUSE_MS);
  picture.addEventListener("load", again);
  picture.addEventListener("error", again);
  if (picture.complete) again();
}

const GRIP_PX = 22;
const LEAST = 1.6;
const board = document.getElementById("drawing");

function draw() {
  const grips = document.getElementById("grips");
  const where = document.getElementById("where");
  const rows = [...document.querySelectorAll("[data-zone]")];
  const zones = rows.map((row) => ({
    row,
    radio: row.querySelector("[type=radio]"),
    inputs: [...row.querySelectorAll("[type=number]")],
    shape: board.querySelector(`[data-of="${row.dataset.zone}"]`),
  }));
  const chosen = () => zones.find((zone) => zone.radio.checked);
  let drag = null;
  let isNew = false;

  const box = ({ inputs }) => (inputs.some((input) => input.value === "") ? null : inputs.map((input) => +input.value));
  const within = (value, most) => Math.min(Math.max(value, 0), most);
  const span = ([ax, ay], [bx, by]) => [Math.min(ax, bx), Math.min(ay, by), Math.abs(ax - bx), Math.abs(ay - by)];
  const corners = ([x, y, w, h]) => [[x, y], [x + w, y], [x + w, y + h], [x, y + h]];
  const holds = ([x, y, w, h], [px, py]) => px >= x && px <= x + w && py >= y && py <= y + h;

  function show() {
    for (const zone of zones) {
      const it = box(zone);
      zone.shape.toggleAttribute("hidden", !it);
      zone.shape.classList.toggle("chosen", zone === chosen());
      zone.row.classList.toggle("is-drawn", !!it);
      if (it) ["x", "y", "width", "height"].forEach((name, i) => zone.shape.firstElementChild.setAttribute(name, it[i] + "%"));
    }
    const it = box(chosen());
    grips.toggleAttribute("hidden", !it);
    if (!it) return;
    corners(it).forEach(([x, y], i) => {
      grips.children[i].setAttribute("cx", x + "%");
      grips.children[i].setAttribute("cy", y + "%");
    });
  }

  function put(zone, it) {
    zone.inputs.forEach((input, i) => { input.value = it ? +it[i].toFixed(1) : ""; });
    show();
  }

  function choose(zone) {
    zone.radio.checked = true;
    tell();
    show();
  }

  function tell() {
    const it = box(chosen());
    where.textContent = chosen().row.dataset.name + (it ? `: ${it.map((n) => Math.round(n)).join(" · ")}` : "");
  }

  function point(event) {
    const frame = board.getBoundingClientRect();
    const share = (at, from, size) => within((100 * (at - from)) / size, 100);
    return [share(event.clientX, frame.left, frame.width), share(event.clientY, frame.top, frame.height)];
  }

  // The grip under a finger: 44 px wide, but of a small zone the middle third is left to move it by.
  function gripped(it, [px, py]) {
    const { width, height } = board.getBoundingClientRect();
    const reach = holds(it, [px, py]) ? Math.min(GRIP_PX, (it[2] * width) / 300, (it[3] * height) / 300) : GRIP_PX;
    const far = corners(it).map(([x, y]) => Math.hypot(((x - px) * width) / 100, ((y - py) * height) / 100));
    const nearest = far.indexOf(Math.min(...far));
    return far[nearest] <= Math.max(reach, 4) ? nearest : -1;
  }

  function begin(event) {
    const at = point(event);
    const it = box(chosen());
    const grip = it ? gripped(it, at) : -1;
    const under = it && holds(it, at) ? chosen() : zones.find((zone) => box(zone) && holds(box(zone), at));
    isNew = false;
    if (grip >= 0) {
      const fixed = corners(it)[(grip + 2) % 4];
      drag = (to) => span(fixed, to);
    } else if (under) {
      choose(under);
      const [x, y, w, h] = box(under);
      drag = (to) => [within(x + to[0] - at[0], 100 - w), within(y + to[1] - at[1], 100 - h), w, h];
    } else if (!it) {
      isNew = true;
      drag = (to) => span(at, to);
    } else return;
    event.preventDefault();
    board.setPointerCapture(event.pointerId);
    board.focus({ preventScroll: true });
  }

  function end() {
    if (!drag) return;
    drag = null;
    const zone = chosen();
    const it = box(zone);
    if (isNew && it && Math.min(it[2], it[3]) < LEAST) put(zone, null);
    else if (isNew && it) choose(zones.slice(zones.indexOf(zone)).find((one) => !box(one)) || zone);
    tell();
  }

  const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  function step(event) {
    const by = STEPS[event.key];
    if (!by) return;
    event.preventDefault();
    const [x, y, w, h] = box(chosen()) || [45, 40, 10, 20];
    const size = event.shiftKey ? [w + by[0], h + by[1]] : [w, h];
    const from = event.shiftKey ? [x, y] : [x + by[0], y + by[1]];
    const [wide, high] = [Math.max(size[0], LEAST), Math.max(size[1], LEAST)].map((n, i) => Math.min(n, 100 - from[i] * event.shiftKey));
    put(chosen(), [within(from[0], 100 - wide), within(from[1], 100 - high), wide, high]);
    tell();
  }

  board.tabIndex = 0;
  board.addEventListener("pointerdown", begin);
  board.addEventListener("pointermove", (event) => { if (drag) put(chosen(), drag(point(event))); });
  board.addEventListener("pointerup", end);
  board.addEventListener("pointercancel", end);
  board.addEventListener("keydown", step);
  for (const zone of zones) {
    zone.radio.addEventListener("change", () => choose(zone));
    zone.row.addEventListener("input", show);
    zone.row.querySelector("[name=clear]").addEventListener("click", (event) => {
      event.preventDefault();
      put(zone, null);
      tell();
    });
  }
  show();
}

if (board && !("fixed" in board.dataset)) draw();
