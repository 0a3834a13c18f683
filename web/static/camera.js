// Camera pages: a live picture, and zones drawn on it by finger, mouse or keys.
// The form's numbers are submitted; the drawing shows and changes them.

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
const TAP_PX = 6;
const LEAST = 1.6;
const board = document.getElementById("drawing");

function draw() {
  const grips = document.getElementById("grips");
  const where = document.getElementById("where");
  const missing = document.getElementById("missing");
  const rows = [...document.querySelectorAll("[data-zone]")];
  const zones = rows.map((row) => ({
    row,
    radio: row.querySelector("[type=radio]"),
    side: row.closest("fieldset"),
    inputs: [...row.querySelectorAll("[type=number]")],
    shape: board.querySelector(`[data-of="${row.dataset.zone}"]`),
  }));
  const chosen = () => zones.find((zone) => zone.radio.checked);
  let drag = null;

  const box = ({ inputs }) => (inputs.some((input) => input.value === "") ? null : inputs.map((input) => +input.value));
  const within = (value, most) => Math.min(Math.max(value, 0), most);
  const span = ([ax, ay], [bx, by]) => [Math.min(ax, bx), Math.min(ay, by), Math.abs(ax - bx), Math.abs(ay - by)];
  const corners = ([x, y, w, h]) => [[x, y], [x + w, y], [x + w, y + h], [x, y + h]];
  const holds = ([x, y, w, h], [px, py]) => px >= x && px <= x + w && py >= y && py <= y + h;

  // Zones that move together: all of a side, if its box is checked.
  function together(zone) {
    const all = zone.side.querySelector("[data-together]").checked;
    return zones.filter((one) => box(one) && (one === zone || (all && one.side === zone.side)));
  }

  function tellMissing() {
    const sides = zones.filter((zone) => !zone.row.dataset.zone.startsWith("table/"));
    const isOnMats = !sides.some(box) && zones.some(box);
    const lacking = isOnMats ? [] : sides.filter((zone) => "needed" in zone.row.dataset && !box(zone));
    missing.hidden = !lacking.length;
    const most = Number(missing.dataset.most);
    const named = lacking.slice(0, most).map(({ row }) => `${row.dataset.number} ${row.dataset.name}`);
    if (lacking.length > most) named.push("…");
    missing.textContent = missing.dataset.say.replace("{zones}", () => named.join(" · ")).replace("….", "…");
  }

  // Offer that only for two drawn zones or more.
  function offerTogether() {
    for (const label of document.querySelectorAll(".together")) {
      label.hidden = zones.filter((zone) => zone.side.contains(label) && box(zone)).length < 2;
    }
  }

  function show() {
    tellMissing();
    offerTogether();
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
    const { row } = chosen();
    const it = box(chosen());
    const number = document.createElement("b");
    number.className = "number";
    number.textContent = row.dataset.number;
    const told = { "{zone}": row.dataset.name, "{numbers}": it ? it.map((n) => Math.round(n)).join(" · ") : "" };
    where.replaceChildren(number, (it ? where.dataset.drawn : where.dataset.draw).replace(/\{\w+\}/g, (key) => told[key]));
  }

  function point(event) {
    const frame = board.getBoundingClientRect();
    const share = (at, from, size) => within((100 * (at - from)) / size, 100);
    return [share(event.clientX, frame.left, frame.width), share(event.clientY, frame.top, frame.height)];
  }

  // The corner grip under the pointer, or -1. A small zone's middle third remains for moving it.
  function gripped(it, [px, py]) {
    const { width, height } = board.getBoundingClientRect();
    const reach = holds(it, [px, py]) ? Math.min(GRIP_PX, (it[2] * width) / 300, (it[3] * height) / 300) : GRIP_PX;
    const far = corners(it).map(([x, y]) => Math.hypot(((x - px) * width) / 100, ((y - py) * height) / 100));
    const nearest = far.indexOf(Math.min(...far));
    return far[nearest] <= Math.max(reach, 4) ? nearest : -1;
  }

  function shift(group, [dx, dy]) {
    const least = (i) => Math.min(...group.map(([, it]) => it[i]));
    const most = (i) => Math.max(...group.map(([, it]) => it[i] + it[i + 2]));
    const by = [dx, dy].map((n, i) => Math.min(Math.max(n, -least(i)), 100 - most(i)));
    for (const [zone, [x, y, w, h]] of group) put(zone, [x + by[0], y + by[1], w, h]);
  }

  // Return what moving the pointer does: resize, move or redraw the chosen zone.
  function change(zone, it, at) {
    const grip = it ? gripped(it, at) : -1;
    if (grip >= 0) {
      const fixed = corners(it)[(grip + 2) % 4];
      return (to) => put(zone, span(fixed, to));
    }
    const group = it ? together(zone).map((one) => [one, box(one)]) : [];
    if (group.some(([, own]) => holds(own, at))) return (to) => shift(group, [to[0] - at[0], to[1] - at[1]]);
    return (to) => put(zone, span(at, to));
  }

  function begin(event) {
    const at = point(event);
    const zone = chosen();
    drag = { zone, at, before: box(zone), from: [event.clientX, event.clientY], to: change(zone, box(zone), at), moved: false };
    event.preventDefault();
    board.setPointerCapture(event.pointerId);
    board.focus({ preventScroll: true });
  }

  function move(event) {
    if (!drag) return;
    drag.moved ||= Math.hypot(event.clientX - drag.from[0], event.clientY - drag.from[1]) >= TAP_PX;
    if (drag.moved) drag.to(point(event));
  }

  function end() {
    if (!drag) return;
    const { zone, at, before, moved } = drag;
    drag = null;
    const it = box(zone);
    const under = zones.filter((one) => box(one) && holds(box(one), at));
    if (!moved) {
      if (under.length && !under.includes(zone)) choose(under[0]);
    } else if (it && Math.min(it[2], it[3]) < LEAST) put(zone, before);
    else if (it && !before) choose(zones.slice(zones.indexOf(zone)).find((one) => !box(one)) || zone);
    tell();
  }

  const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  function step(event) {
    const by = STEPS[event.key];
    if (!by) return;
    event.preventDefault();
    const [x, y, w, h] = box(chosen()) || [45, 40, 10, 20];
    const group = together(chosen());
    if (!event.shiftKey && group.length > 1) {
      shift(group.map((one) => [one, box(one)]), by);
      tell();
      return;
    }
    const size = event.shiftKey ? [w + by[0], h + by[1]] : [w, h];
    const from = event.shiftKey ? [x, y] : [x + by[0], y + by[1]];
    const [wide, high] = [Math.max(size[0], LEAST), Math.max(size[1], LEAST)].map((n, i) => Math.min(n, 100 - from[i] * event.shiftKey));
    put(chosen(), [within(from[0], 100 - wide), within(from[1], 100 - high), wide, high]);
    tell();
  }

  board.tabIndex = 0;
  board.addEventListener("pointerdown", begin);
  board.addEventListener("pointermove", move);
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
  tell();
}

if (board && !("fixed" in board.dataset)) draw();
