"""A second opinion on cards of which correlation is unsure: whether two pictures show the same face.

A small network compares them, whatever is drawn on them. It has seen only decks drawn by chance, in all sorts of light,
covers and sizes: `tests/training/second_opinion.py` trains it, `docs/how-well-it-reads.md` says what it adds.
"""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path

import numpy as np

from companion.vision.boxes import Mask, Pixels
from companion.vision.opencv import cv2

WEIGHTS = Path(__file__).with_name("second_opinion.onnx")
SIZE_PX = (65, 102)  # width and height of the pictures that it compares: a card of 57 × 88 mm without its rim
LEAST_SPREAD = 1.0  # variation in steps of Lab to which that of a picture is raised: less is noise

_LOCK = threading.Lock()  # a network of OpenCV answers one thread at a time


def same_face(seen: Pixels, enrolled: Pixels, shown: Mask | None) -> Pixels:
    """Return for each enrolled picture how surely it shows what is seen: the logarithm of the odds, `(n,)`.

    Pictures are Lab `(h, w, 3) float32` and `(n, h, w, 3)`; of the card only `shown` `(h, w)` is visible, None for all.
    """
    visible = np.ones(SIZE_PX[::-1], np.float32)
    if shown is not None:
        visible = cv2.resize(shown.astype(np.float32), SIZE_PX, interpolation=cv2.INTER_NEAREST)
    blobs = [_blob(picture, visible) for picture in (seen, *enrolled)]
    with _LOCK:
        network = _network()
        network.setInput(np.stack([blobs[0]] * len(enrolled)), "seen")
        network.setInput(np.stack(blobs[1:]), "enrolled")
        logits: Pixels = network.forward()[:, 0].copy()
    return logits


@cache
def _network() -> cv2.dnn.Net:
    return cv2.dnn.readNetFromONNX(str(WEIGHTS))


def _blob(picture: Pixels, visible: Pixels) -> Pixels:
    """Return the visible part of a picture, 0 on average and of spread 1, and what is visible: `(4, h, w)`."""
    small = cv2.resize(picture, SIZE_PX) if picture.shape[1::-1] != SIZE_PX else picture
    weights = visible[..., None]
    count = max(1.0, float(weights.sum()))
    even = (small - (small * weights).sum(axis=(0, 1)) / count) * weights
    spread = max(LEAST_SPREAD, float(np.sqrt((even**2).sum() / (3 * count))))
    blob: Pixels = np.concatenate((even / spread, weights), axis=2).transpose(2, 0, 1)
    return blob
