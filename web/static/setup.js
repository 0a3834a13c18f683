// A tap on a known name puts it on the next empty seat.

function showKnown() {
  for (const known of document.querySelectorAll(".known")) known.hidden = false;
}

function seats() {
  return [...document.querySelectorAll(".seatline input[name^=name]")].filter((input) => input.offsetParent);
}

document.addEventListener("click", (event) => {
  const chip = event.target.closest("[data-name]");
  if (!chip) return;
  const open = seats().find((input) => !input.value.trim());
  if (!open) return;
  open.value = chip.dataset.name;
  chip.hidden = true;
  const next = chip.parentElement.querySelector("[data-name]:not([hidden])");
  (next || open).focus();
});

showKnown();
document.body.addEventListener("htmx:afterSettle", showKnown);
