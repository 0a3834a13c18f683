// The arrow keys step through a hand: left and right a play, Home and End all the way.

const KEYS = { ArrowLeft: "to-prev", ArrowRight: "to-next", Home: "to-first", End: "to-last" };
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || !(event.key in KEYS)) return;
  const link = document.getElementById(KEYS[event.key]);
  if (!link?.hasAttribute("href")) return;
  event.preventDefault();
  link.click();
});
