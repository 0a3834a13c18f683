// A phone as the camera: the page shows the picture and sends it repeatedly while it is open.

const WIDTH = 1920;
const HEIGHT = 1080;
const QUALITY = 0.85;
const TRY_AGAIN_MS = 1000;
const MOST_WAIT_MS = 8000;
const LOW_BATTERY = 0.2;
const MOST_TILT_DEG = 25;

const video = document.getElementById("own");
const button = document.getElementById("begin");
const said = document.getElementById("said");
const canvas = document.createElement("canvas");
let pauseMs = 0;
let battery = null;
let isTilted = false;

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

function tell(what) {
  said.hidden = !what;
  said.textContent = what ? said.dataset[what] : "";
}

function isLive() {
  const [track] = video.srcObject?.getVideoTracks() ?? [];
  return track?.readyState === "live" && !track.muted;
}

async function openCamera() {
  video.srcObject?.getTracks().forEach((track) => track.stop());
  const wanted = { facingMode: { ideal: "environment" }, width: { ideal: WIDTH }, height: { ideal: HEIGHT }, frameRate: { ideal: 15 } };
  video.srcObject = await navigator.mediaDevices.getUserMedia({ audio: false, video: wanted });
  await video.play();
  const [track] = video.srcObject.getVideoTracks();
  if (track.getCapabilities?.().focusMode?.includes("continuous")) {
    await track.applyConstraints({ advanced: [{ focusMode: "continuous" }] }).catch(() => {});
  }
}

async function stayAwake() {
  await navigator.wakeLock?.request("screen").catch(() => {});
}

function photograph() {
  canvas.width = video.videoWidth;
  canvas.height = video.videoHeight;
  canvas.getContext("2d").drawImage(video, 0, 0);
  return new Promise((done) => canvas.toBlob(done, "image/jpeg", QUALITY));
}

function charge() {
  return battery && !battery.charging ? Math.round(100 * battery.level) : null;
}

// Send one picture; return false if this phone is no longer the camera.
async function send() {
  const percent = charge();
  const picture = await photograph();
  const url = "/camera/phone/frame" + (percent === null ? "" : `?battery=${percent}`);
  const answer = await fetch(url, { method: "POST", body: picture, signal: AbortSignal.timeout(MOST_WAIT_MS) });
  if (answer.status === 409) return false;
  if (!answer.ok) throw new Error(answer.statusText);
  pauseMs = (await answer.json()).wait_ms;
  return true;
}

function hint() {
  if (battery && !battery.charging && battery.level <= LOW_BATTERY) return "battery";
  return isTilted ? "tilted" : null;
}

async function follow() {
  for (;;) {
    const beganMs = performance.now();
    if (document.hidden) {
      await new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
      await stayAwake();
    }
    try {
      if (!isLive()) {
        tell("asleep");
        await openCamera();
      }
    } catch {
      await sleep(TRY_AGAIN_MS);
      continue;
    }
    try {
      if (!(await send())) break;
      tell(hint());
    } catch {
      tell("silent");
      await sleep(TRY_AGAIN_MS);
    }
    await sleep(Math.max(0, pauseMs - (performance.now() - beganMs)));
  }
  video.srcObject.getTracks().forEach((track) => track.stop());
  tell("other");
  button.hidden = false;
}

// With the screen up, the back camera looks down and both angles are small.
function watchTilt() {
  addEventListener("deviceorientation", ({ beta, gamma }) => {
    if (beta === null || gamma === null) return;
    const radians = Math.PI / 180;
    isTilted = Math.cos(beta * radians) * Math.cos(gamma * radians) < Math.cos(MOST_TILT_DEG * radians);
  });
}

async function begin() {
  button.hidden = true;
  try {
    await globalThis.DeviceOrientationEvent?.requestPermission?.().catch(() => {});
    await openCamera();
    await fetch("/camera/phone/begin", { method: "POST" });
  } catch {
    tell("refused");
    button.hidden = false;
    return;
  }
  battery = (await navigator.getBattery?.()) ?? null;
  pauseMs = Number(button.dataset.pace);
  watchTilt();
  await stayAwake();
  await follow();
}

if (button) {
  button.addEventListener("click", begin);
  if ("again" in button.dataset) begin();
}
