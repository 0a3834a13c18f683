// Score page: keep details open across updates, and show the print button. The share button needs https and browser
// support; otherwise the picture can be downloaded.

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
  const sample = new File([], "sheet.png", { type: "image/png" });
  for (const button of document.querySelectorAll("button.share")) button.hidden = !navigator.canShare?.({ files: [sample] });
}
offerPrint();
async function send(address) {
  const picture = await (await fetch(address)).blob();
  await navigator.share({ files: [new File([picture], "mille-bornes.png", { type: "image/png" })] });
}
document.body.addEventListener("click", (event) => {
  if (event.target.closest("button.print")) window.print();
  const share = event.target.closest("button.share");
  if (share) send(share.dataset.picture).catch(() => {});
});
