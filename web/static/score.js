// The score page as it is made anew: what was opened stays open. Printing has a button where there is a script.

let open = [];
document.body.addEventListener("htmx:beforeSwap", () => {
  open = [...document.querySelectorAll("details[open][id]")].map((one) => one.id);
});
document.body.addEventListener("htmx:afterSwap", () => {
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  offerPrint();
});

function offerPrint() {
  for (const button of document.querySelectorAll("button.print")) button.hidden = false;
}
offerPrint();
document.body.addEventListener("click", (event) => {
  if (event.target.closest("button.print")) window.print();
});
