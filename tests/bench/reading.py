"""What one settled frame and one idle frame cost, against pyzbar and zxing-cpp on the same frames in one run.

python -m tests.bench.reading [--rounds 15] [--stickers 30] [--tilt 12]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import zxingcpp
from pyzbar import pyzbar

from companion.tabletop.mat_layout import side_mat, table_mat
from companion.vision.capture.sources import Frame
from companion.vision.eye import Eye
from companion.vision.opencv import cv2
from companion.vision.read import gray_of

sys.path.insert(0, str(Path(__file__).parent.parent))

from pictures import DECK, Lens, Mat, Scene, Sticker, grainy, lit, on_mat, payload
from pictures import clean as clean_picture

SIDE, TABLE = Mat(side_mat(1), -385, -150), Mat(table_mat(), 75, -100)


def table_with(count: int) -> tuple[Sticker, ...]:
    """So many cards of 28 mm stickers in the zones of two mats, the first of them in the battle zone."""
    places = [("battle", 0, -20), ("speed", 0, -20), *(("safety", dx, -20) for dx in (-55, -20, 20, 55))]
    places += [("distance", dx, dy) for dx in range(-140, 141, 56) for dy in (-48, -16, 16, 48)]
    return tuple(
        on_mat(SIDE, zone, payload(card), dx_mm=dx, dy_mm=dy)
        for (zone, dx, dy), card in zip(places[:count], DECK[::3], strict=False)
    )


def milliseconds(call: Callable[[int], object], rounds: int) -> float:
    """The median time of a call, each with its own argument."""
    spent = []
    for number in range(rounds):
        start = time.process_time()
        call(number)
        spent.append(time.process_time() - start)
    return 1000 * statistics.median(spent)


def zxing_twice(image: object) -> object:
    """zxing-cpp at its best: on the grey picture at twice its size."""
    double = cv2.resize(gray_of(image), None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
    return zxingcpp.read_barcodes(
        double, formats=zxingcpp.BarcodeFormat.QRCode, try_rotate=False, try_downscale=False, try_invert=False
    )


def zbar(image: object) -> list[object]:
    """The whole grey picture to pyzbar, QR codes alone."""
    return pyzbar.decode(gray_of(image), symbols=[pyzbar.ZBarSymbol.QRCODE])


class Watched:
    """An eye that has watched the table long enough for it to be idle, and what happens to it next."""

    def __init__(self, images: list[object], without: list[object]) -> None:
        self._images, self._without = images, without
        self._t_s = 0.0
        self.eye = Eye(layouts=(SIDE.layout, TABLE.layout))
        for number in range(12):
            self.see(images[number % len(images)])

    def see(self, image: object) -> None:
        self._t_s += 0.1
        self.eye(Frame(image, self._t_s))

    def idle_ms(self, frames: int) -> float:
        """What a frame of a table on which nothing happens costs on average, the markers' checks included."""
        start = time.process_time()
        for number in range(frames):
            self.see(self._images[number % len(self._images)])
        return 1000 * (time.process_time() - start) / frames

    def settled(self, rounds: int) -> list[float]:
        """The first frame that is read after a card was taken, and after it was laid again, in milliseconds."""
        spent = []
        for number in range(rounds):
            scene = self._without if number % 2 else self._images
            self.see(scene[0])
            for image in scene[1:8]:
                start = time.process_time()
                self.see(image)
                if self.eye.sight.view and self.eye.sight.view.read_zones:
                    spent.append(1000 * (time.process_time() - start))
                    break
            for image in scene[:8]:
                self.see(image)
        return spent


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--stickers", type=int, default=30)
    parser.add_argument("--tilt", type=float, default=12.0)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    cv2.setNumThreads(given.threads)
    lens = Lens(width_mm=850, tilt_deg=given.tilt)
    stickers = table_with(given.stickers)
    images, without = (
        [grainy(lit(clean_picture(Scene((SIDE, TABLE), laid), lens), lens), lens.noise, seed) for seed in range(8)]
        for laid in (stickers, stickers[1:])
    )
    watched = Watched(images, without)
    seen = len(watched.eye.sight.view.sightings) if watched.eye.sight.view else 0
    pyzbar_ms = milliseconds(lambda n: pyzbar.decode(images[n % 8]), given.rounds)
    zbar_ms = milliseconds(lambda n: zbar(images[n % 8]), given.rounds)
    zxing_ms = milliseconds(lambda n: zxing_twice(images[n % 8]), given.rounds)
    idle_ms = watched.idle_ms(given.rounds * 20)
    settled_ms = statistics.median(watched.settled(given.rounds))
    everything_ms = milliseconds(lambda n: first_look(images, n), given.rounds)
    rows = [
        ("pyzbar.decode", pyzbar_ms, f"{len(pyzbar.decode(images[0]))} of {len(stickers)} read"),
        ("pyzbar, grey, QR alone", zbar_ms, f"{len(zbar(images[0]))} of {len(stickers)} read"),
        ("zxing-cpp on the 2x frame", zxing_ms, f"{len(zxing_twice(images[0]))} of {len(stickers)} read"),
        ("ours, idle frame", idle_ms, "nothing moves"),
        ("ours, settled frame", settled_ms, f"a card came or went; {seen} of {len(stickers)} known"),
        ("ours, every zone read again", everything_ms, "after the camera or the light has moved"),
    ]
    for name, ms, remark in rows:
        print(f"{name:30} {ms:8.2f} ms   {ms / pyzbar_ms:7.4f} of pyzbar   {ms / zxing_ms:7.3f} of zxing   {remark}")


def first_look(images: list[object], number: int) -> object:
    """All zones read from scratch, second reader included, the mats being known."""
    from companion.vision.mats.localization import Mats, search
    from companion.vision.read import read

    if not KNOWN:
        KNOWN.append(search(gray_of(images[0]), Mats(), (SIDE.layout, TABLE.layout), 0.0))
    return read(Frame(images[number % len(images)], 0.0), KNOWN[0])


KNOWN: list = []

if __name__ == "__main__":
    main()
