// Count a round's clock down between updates from the club.
setInterval(() => {
  for (const clock of document.querySelectorAll("[data-runs]")) {
    clock.from ??= {left: Number(clock.dataset.left), at: performance.now()};
    const left = Math.max(0, Math.round(clock.from.left - (performance.now() - clock.from.at) / 1000));
    clock.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  }
}, 500);
