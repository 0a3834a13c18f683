from __future__ import annotations

import struct
import zlib

import cv2
import numpy as np
import numpy.typing as npt
import resvg_py

from companion.printing import svg as draw

MM_PER_INCH = 25.4


def to_image(svg: str, px_per_mm: float) -> npt.NDArray[np.uint8]:
    """Render one of our drawings as `(H, W, 3) uint8 BGR`, rounded to whole pixels."""
    png = np.frombuffer(_png(svg, px_per_mm), np.uint8)
    return cv2.imdecode(png, cv2.IMREAD_COLOR)


def to_png(svg: str, dpi: float) -> bytes:
    """Render one of our drawings as a PNG file that states its resolution."""
    png = _png(svg, dpi / MM_PER_INCH)
    # The pHYs chunk follows the signature and header of 33 bytes.
    per_metre = round(dpi * 1000 / MM_PER_INCH)
    body = b"pHYs" + struct.pack(">IIB", per_metre, per_metre, 1)
    return png[:33] + struct.pack(">I", 9) + body + struct.pack(">I", zlib.crc32(body)) + png[33:]


def _png(svg: str, px_per_mm: float) -> bytes:
    width_mm, height_mm = draw.size_mm(svg)
    width, height = (max(1, round(side * px_per_mm)) for side in (width_mm, height_mm))
    sized = svg.replace(
        f'width="{draw.num(width_mm)}mm" height="{draw.num(height_mm)}mm"',
        f'width="{width}" height="{height}" preserveAspectRatio="none"',
        1,
    )
    return bytes(resvg_py.svg_to_bytes(svg_string=sized, background=draw.WHITE, skip_system_fonts=True))
