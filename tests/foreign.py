"""Things that are none of ours, drawn here: codes of others, and what lies about or is mistaken for a code."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
import qrcode
import zxingcpp

CODE_PX = 300


# --- Codes ----------------------------------------------------------------------------------------------------


def code(kind: str, text: str) -> np.ndarray:
    """A code of others, `(CODE_PX, CODE_PX) uint8`: `qr` (as small as it fits), `qr-1-0` … `qr-1-7` (version 1 with a
    mask), or the name of one of zxing-cpp's formats.
    """
    if kind.startswith("qr"):
        return _square(_qr(kind, text))
    return _square(_barcode(kind, text))


def _qr(kind: str, text: str) -> np.ndarray:
    mask = int(kind.rpartition("-")[2]) if kind.startswith("qr-") else None
    made = qrcode.QRCode(version=1 if mask is not None else None, border=2, mask_pattern=mask,
                         error_correction=qrcode.ERROR_CORRECT_L)  # fmt: skip
    made.add_data(text)
    made.make(fit=mask is None)
    return np.where(np.array(made.get_matrix(), bool), 0, 255).astype(np.uint8)


def _barcode(kind: str, text: str) -> np.ndarray:
    made = zxingcpp.create_barcode(text, zxingcpp.barcode_format_from_str(kind))
    return np.pad(np.array(made.to_image(scale=1, add_quiet_zones=False)), 2, constant_values=255)


def _square(image: np.ndarray) -> np.ndarray:
    """Blown up without a blur, white above and below what is wider than high."""
    side = max(image.shape)
    top, left = (side - image.shape[0]) // 2, (side - image.shape[1]) // 2
    image = cv2.copyMakeBorder(
        image, top, side - image.shape[0] - top, left, side - image.shape[1] - left, cv2.BORDER_CONSTANT, value=255
    )
    return cv2.resize(image, (CODE_PX, CODE_PX), interpolation=cv2.INTER_NEAREST_EXACT)


# --- Things ---------------------------------------------------------------------------------------------------


def thing(name: str) -> np.ndarray:
    """A thing of `THINGS`, `(H, W, 3) uint8 BGR`; a word after the name (`page 2`) makes another of them."""
    kind, _, which = name.partition(" ")
    return THINGS[kind](np.random.default_rng(int(which or 0)))


def _chessboard(rng: np.random.Generator) -> np.ndarray:
    y, x = np.mgrid[0:480, 0:480] // 60
    return np.where(((x + y) % 2)[..., None], (45, 60, 110), (190, 215, 235)).astype(np.uint8)


THINGS: dict[str, Callable[[np.random.Generator], np.ndarray]] = {"chessboard": _chessboard}
