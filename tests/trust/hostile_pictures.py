"""Sends spoilt pictures to the darkroom: none may cost more than a sentence, and the service's memory stays as it was.

PYTHONPATH=tests:. python tests/trust/hostile_pictures.py --times 5000 --seed 1
"""

from __future__ import annotations

import random
import resource
import struct
import sys
import time
from collections import Counter
from collections.abc import Iterator

import cv2
import numpy as np
from trust.fuzzing import arguments

from companion.common.errors import Problem
from companion.vision import MAX_PICTURE_PX
from companion.vision.capture.sandbox import Darkroom

SIDES = (1, 255, 7999, 8000, 65535)
KINDS = (".jpg", ".png", ".webp", ".bmp")


def whole(chance: random.Random, kind: str) -> bytearray:
    """A picture in order, of any small size."""
    height, width = chance.randint(1, 300), chance.randint(1, 300)
    image = np.random.default_rng(chance.randrange(2**32)).integers(0, 256, (height, width, 3), np.uint8)
    progressive = [cv2.IMWRITE_JPEG_PROGRESSIVE, chance.randint(0, 1)] if kind == ".jpg" else []
    return bytearray(cv2.imencode(kind, image, progressive)[1].tobytes())


def spoilt(chance: random.Random) -> bytes:
    """A picture with bytes changed, parts missing, twice or mixed, or another size in its head."""
    kind = chance.choice(KINDS)
    data = whole(chance, kind)
    how = chance.randrange(6)
    if how == 0:
        for _each in range(chance.randint(1, 40)):
            data[chance.randrange(len(data))] = chance.randrange(256)
    elif how == 1:
        del data[chance.randrange(len(data)) :]
        data += b"\xff\xd9IEND\xaeB`\x82"
    elif how == 2:
        at = chance.randrange(len(data))
        data[at:at] = data[: chance.randrange(len(data))]
    elif how == 3:
        data = data[: len(data) // 2] + whole(chance, chance.choice(KINDS))[len(data) // 2 :]
    elif how == 4:
        data = resized(data, kind, chance.choice(SIDES), chance.choice(SIDES))
    else:
        data = data[:12] + bytes(chance.randrange(256) for _ in range(chance.randint(0, 3000)))
    return bytes(data)


def resized(data: bytearray, kind: str, width: int, height: int) -> bytearray:
    """The same picture, said to be of another size."""
    if kind == ".png":
        data[16:24] = struct.pack(">II", width, height)
    elif kind == ".bmp":
        data[18:26] = struct.pack("<ii", width, height)
    elif kind == ".jpg":
        at = max(data.find(b"\xff\xc0"), data.find(b"\xff\xc2"), 0)
        data[at + 5 : at + 9] = struct.pack(">HH", height & 0xFFFF, width & 0xFFFF)
    return data


def outcomes(times: int, seed: int) -> Iterator[str]:
    """What came of each picture. Raises whatever is no sentence."""
    room, chance = Darkroom(), random.Random(seed)
    try:
        for number in range(times):
            data = spoilt(chance)
            try:
                image = room.decode(data, f"number {number}")
                assert 0 < image.shape[0] * image.shape[1] <= MAX_PICTURE_PX
                yield "read"
            except Problem as problem:
                yield "refused" if problem.__cause__ is None else "broke the darkroom"
    finally:
        room.close()


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    asked = arguments(__doc__, "times", 1000)
    began_s, counted = time.monotonic(), Counter[str]()
    for outcome in outcomes(asked.times, asked.seed):
        counted[outcome] += 1
    each = ", ".join(f"{count} {outcome}" for outcome, count in counted.most_common())
    took = time.monotonic() - began_s
    print(f"{asked.times} spoilt pictures in {took:.0f} s: {each}; no other error; the service took {peak_mb():.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
