// The arrow keys step through a hand: left and right a play, Home and End all the way.

const KEYS = { ArrowLeft: "to-prev", ArrowRight: "to-next", Home: "to-first", End: "to-last" };

// Where the list of the plays scrolls by itself, the play that is shown is in sight.
function follow() {
  const here = document.querySelector(".log .here");
  const list = here?.closest(".log");
  if (list && list.scrollHeight > list.clientHeight + 1) list.scrollTop = here.offsetTop - list.offsetTop - list.clientHeight / 2;
}
follow();
document.body.addEventListener("htmx:afterSwap", follow);

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || !(event.key in KEYS)) return;
  const link = document.getElementById(KEYS[event.key]);
  if (!link?.hasAttribute("href")) return;
  event.preventDefault();
  link.click();
});
