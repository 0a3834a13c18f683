"""Many hands entered by tap on bad networks, with nervous fingers: the record must be what people meant.

    PYTHONPATH=tests:. python tests/trust/taps.py [--runs 500] [--tables 8] [--plays 6] [--seed 0]

Requests take 0 to 3 s, some are lost, some answers too; phones are offline for a while; fingers tap twice or three
times; two phones enter the same play. Ends with 1 if a play is missing, doubled or refused.
"""

import argparse
import asyncio
import contextlib
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from browser.screens import CHROMIUM, PHONE, TWO, app_of
from playwright.async_api import Browser, Page, Route, async_playwright
from serving import running

from companion.match.match import Match
from companion.storage.event_store import Store

LOOK_S = 1.2
"""How long a person looks at a new turn before the next play."""

PATIENCE_S = 90.0
TILE = ".by-tap .taps.use button.tile:not(.faint)"
PLACE_OF = """play => {
  const tile = document.querySelector(`.by-tap .taps.use button[value="${play}"]`);
  tile?.scrollIntoView({ block: "nearest" });
  const box = tile?.getBoundingClientRect();
  return box ? [box.x + box.width / 2, box.y + box.height / 2] : null;
}"""
IS_READY = """whose => !document.body.classList.contains("sends")
  && [...document.querySelectorAll(".taps.use button")].some(one => one.value.startsWith(whose + " "))"""
SAYS = """() => [sessionStorage.getItem("tap waiting"), document.querySelector(".shakes")?.value,
  document.querySelector(".sky")?.innerText].join(" | ")"""


@dataclass(frozen=True)
class Network:
    """A phone's network: longest delay of a request in seconds, and the shares of requests and answers lost."""

    longest_s: float
    lost: float
    unanswered: float

    @classmethod
    def drawn(cls, draw: random.Random) -> "Network":
        return cls(draw.choice([0.05, 0.5, 3.0]), *draw.choice([(0.0, 0.0), (0.0, 0.0), (0.25, 0.25)]))

    async def carry(self, draw: random.Random, route: Route) -> None:
        with contextlib.suppress(Exception):  # the page may have left meanwhile
            await asyncio.sleep(draw.uniform(0, self.longest_s) / 2)
            answer = await route.fetch(max_redirects=0) if draw.random() >= self.lost else None
            await asyncio.sleep(draw.uniform(0, self.longest_s) / 2)
            if answer is None or draw.random() < self.unanswered:
                await route.abort()
            else:
                await route.fulfill(response=answer)


@dataclass
class Evening:
    """A table, its phones, and what was meant."""

    match: Match
    url: str
    browser: Browser
    draw: random.Random
    counts: Counter[str]

    async def play(self, plays: int) -> str:
        """Enter `plays` plays; return what went wrong, if anything."""
        meant: list[str] = []
        network = Network.drawn(self.draw)
        async with self._phone(network) as first, self._phone(network) as second:
            for _ in range(plays):
                try:
                    meant.append(await self._enter(first, second))
                    await self._arrived(first, meant)
                except AssertionError as error:
                    says = [await page.evaluate(SAYS) for page in (first, second)]
                    return f"{network}: {says} meant {meant}, recorded {self._recorded()}: {error!r}"[:900]
            await asyncio.sleep(2 * network.longest_s + 3)
        if self._recorded() != meant or self.match.state.past.claims:
            return f"{network}: meant {meant}, recorded {self._recorded()}, {self.match.state.past.claims}"
        return ""

    @contextlib.asynccontextmanager
    async def _phone(self, network: Network) -> AsyncIterator[Page]:
        context = await self.browser.new_context(viewport=PHONE, reduced_motion="reduce")
        page = await context.new_page()
        await page.goto(self.url)
        await page.locator(TILE).first.wait_for()
        await context.route("**/*", lambda route: network.carry(self.draw, route))
        yield page
        await context.unroute_all(behavior="ignoreErrors")
        await context.close()

    async def _enter(self, first: Page, second: Page) -> str:
        """Tap a play that is legal now, with what goes wrong; return it."""
        await self._turn_shows(first)
        await asyncio.sleep(LOOK_S + self.draw.random())
        tiles = first.locator(TILE)
        assert await tiles.count(), await first.inner_text("main")
        tile = tiles.nth(self.draw.randrange(await tiles.count()))
        play = str(await tile.get_attribute("value"))
        taps = self.draw.choice([1, 1, 2, 3])
        fault = self.draw.choice(["", "", "offline", "two phones"])
        self.counts[f"{taps} taps"] += 1
        self.counts[fault or "one phone"] += 1
        both = [self._tap(first, play, taps, fault == "offline")]
        if fault == "two phones":
            await self._turn_shows(second)
            both.append(self._tap(second, play, 1, is_offline=False, after_s=self.draw.uniform(0, 0.8)))
        await asyncio.gather(*both)
        return play

    async def _tap(self, page: Page, play: str, taps: int, is_offline: bool, after_s: float = 0.0) -> None:
        await asyncio.sleep(after_s)
        place = await page.evaluate(PLACE_OF, play)
        if place is None:
            return  # the other phone was quicker: the picker has gone on
        if is_offline:
            await page.context.set_offline(True)
        for tap in range(taps):
            await asyncio.sleep(self.draw.uniform(0.1, 1.5) if tap else 0)
            await page.mouse.click(*place)
        if is_offline:
            await asyncio.sleep(self.draw.choice([1, 4, 30 if self.draw.random() < 0.1 else 8]))
            await page.context.set_offline(False)

    async def _turn_shows(self, page: Page) -> None:
        """Wait until the phone shows the current turn's tiles and nothing is on its way."""
        table = self.match.state.game.table
        whose = table.player_up if table is not None else ""
        until_s = time.monotonic() + PATIENCE_S
        while not await page.evaluate(IS_READY, whose):
            assert time.monotonic() < until_s, f"no cards of {whose} to tap"
            await asyncio.sleep(0.2)

    async def _arrived(self, page: Page, meant: list[str]) -> None:
        """Wait for the last play. People tap again if nothing happens."""
        until_s = time.monotonic() + PATIENCE_S
        while len(self._recorded()) < len(meant):
            assert time.monotonic() < until_s, "the play does not arrive"
            await asyncio.sleep(LOOK_S)
            is_idle = await page.evaluate(IS_READY, meant[-1].split()[0])
            if is_idle and len(self._recorded()) < len(meant):
                self.counts["tapped again"] += 1
                await asyncio.sleep(LOOK_S)
                await self._tap(page, meant[-1], 1, is_offline=False)

    def _recorded(self) -> list[str]:
        return [str(entry.play) for entry in self.match.state.hand_entries]


async def evenings(first: int, runs: int, tables: int, plays: int, seed: int) -> int:
    """Play all runs, a few tables at a time; return the number that went wrong."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    numbers = iter(range(first, first + runs))

    async def one(browser: Browser) -> None:
        for number in numbers:
            with tempfile.TemporaryDirectory() as folder:
                store = Store.open(Path(folder) / "log.sqlite3")
                match = Match(store)
                match.start(TWO)
                with running(app_of(match)) as url:
                    said = await Evening(match, url, browser, random.Random(f"{seed} {number}"), counts).play(plays)
                store.close()
            if said:
                wrong.append(said)
                print(f"run {number}: {said}", flush=True)

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        await asyncio.gather(*(one(browser) for _ in range(tables)))
        await browser.close()
    print(f"{runs} runs of {plays} plays, {len(wrong)} wrong; {dict(sorted(counts.items()))}")
    return len(wrong)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="number of the first run")
    parser.add_argument("--tables", type=int, default=8, help="how many tables play at once")
    parser.add_argument("--plays", type=int, default=6, help="plays of a run")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    return 1 if asyncio.run(evenings(asked.first, asked.runs, asked.tables, asked.plays, asked.seed)) else 0


if __name__ == "__main__":
    sys.exit(main())
