// Sounds, speech and vibration for phones that turned them on: once per new play, not for earlier ones. All sounds are
// made from oscillators and noise.

const { sound, speech, vibrate } = document.body.dataset;
let audio = null;

// Browsers allow sounds only after the first tap.
function unlock() {
  audio ??= new AudioContext();
  if (audio.state === "suspended") audio.resume();
}
if (sound) for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, unlock);

function tone({ type = "sawtooth", from, to = from, at = 0, lasts, loud = 0.2 }) {
  const begins = audio.currentTime + at;
  const oscillator = audio.createOscillator();
  const gain = audio.createGain();
  oscillator.type = type;
  oscillator.frequency.setValueAtTime(from, begins);
  oscillator.frequency.exponentialRampToValueAtTime(to, begins + lasts);
  gain.gain.setValueAtTime(0.0001, begins);
  gain.gain.exponentialRampToValueAtTime(loud, begins + 0.02);
  gain.gain.exponentialRampToValueAtTime(0.0001, begins + lasts);
  oscillator.connect(gain).connect(audio.destination);
  oscillator.start(begins);
  oscillator.stop(begins + lasts);
}

const horn = () => { for (const at of [0, 0.22]) for (const from of [415, 523]) tone({ type: "square", from, at, lasts: at ? 0.45 : 0.16, loud: 0.1 }); };
const brake = () => { for (const from of [2400, 2750]) tone({ from, to: from * 0.45, lasts: 0.6, loud: 0.06 }); };
const whistle = () => { for (const at of [0, 0.24]) for (const from of [2650, 2720]) tone({ type: "sine", from, at, lasts: 0.2, loud: 0.14 }); };
const engine = () => { for (const from of [42, 63]) tone({ from, to: from * 2.6, lasts: 0.8, loud: 0.16 }); };
const wheels = () => tone({ type: "triangle", from: 150, to: 260, lasts: 0.22, loud: 0.16 });
const bell = () => tone({ type: "triangle", from: 880, to: 660, lasts: 0.3, loud: 0.14 });

const knock = () => { for (const [at, from] of [[0, 523], [0.12, 784]]) tone({ type: "triangle", from, at, lasts: 0.3, loud: 0.14 }); };
const fanfare = () => { for (const [at, from] of [[0, 523], [0.16, 659], [0.32, 784], [0.48, 1047]]) tone({ type: "square", from, at, lasts: at === 0.48 ? 0.8 : 0.15, loud: 0.08 }); };

const anthem = () => { for (const [at, from, lasts] of [[0, 392, 0.14], [0.15, 392, 0.14], [0.3, 523, 0.3], [0.62, 659, 0.14], [0.77, 659, 0.14], [0.92, 784, 0.3], [1.24, 1047, 1.2]]) for (const chord of [1, 1.5]) tone({ type: "square", from: from * chord, at, lasts, loud: 0.06 }); };

const SOUNDS = { join: knock, arrival: fanfare, victory: anthem, "coup-fourre": horn, attack: brake, illegal: whistle, roll: engine, distance: wheels, remedy: bell, safety: bell };

function say(sentence) {
  if (!speech || !window.speechSynthesis || !sentence) return;
  const saying = new SpeechSynthesisUtterance(sentence);
  saying.lang = document.documentElement.lang;
  window.speechSynthesis.speak(saying);
}

function tell(kind, sentence) {
  if (sound && audio?.state === "running") SOUNDS[kind]?.();
  if (vibrate && kind === "illegal") navigator.vibrate?.([120, 80, 120]);
  say(sentence);
}

// A play is new if its number is the highest in its match, so an undo announces nothing.
function isLater(key, than) {
  const [match, seq] = key.split(".").map(Number);
  const [wasMatch, wasSeq] = than.split(".").map(Number);
  return match !== wasMatch || seq > wasSeq;
}

const last = () => document.querySelector("[data-kind][data-key]");
const illegal = () => document.querySelector(".proposal.illegal[data-say], .wallplay.illegal[data-say]");
const isMyTurn = () => Boolean(document.querySelector(".plate[data-my-turn]"));

let latest = last()?.dataset.key ?? "0.0";
let wasMyTurn = isMyTurn();
const here = () => document.querySelectorAll(".guest.here").length;
let wereHere = here();
const whistled = new Set([illegal()?.id]);

function listen() {
  const play = last();
  if (play && isLater(play.dataset.key, latest)) {
    tell(play.dataset.kind, play.dataset.say);
    latest = play.dataset.key;
  }
  const wrong = illegal();
  if (wrong && !whistled.has(wrong.id)) {
    whistled.add(wrong.id);
    tell("illegal", wrong.dataset.say);
  }
  if (here() > wereHere) tell("join");
  wereHere = here();
  const myTurn = isMyTurn();
  if (vibrate && myTurn && !wasMyTurn) navigator.vibrate?.(60);
  wasMyTurn = myTurn;
}
document.body.addEventListener("htmx:afterSettle", listen);
// The others sound with their play.
document.body.addEventListener("moment", ({ detail }) => { if (["arrival", "victory"].includes(detail)) tell(detail); });
