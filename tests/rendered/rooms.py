"""Rooms for rendered tables: surface, lamps, window, camera and things, drawn by seed.

Use odd seeds while you develop. Even seeds are closed: only published figures are made of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

SURFACES: dict[str, tuple[str, tuple[float, float, float], float]] = {
    "oak": ("wood", (0.62, 0.43, 0.25), 0.45),
    "walnut": ("wood", (0.30, 0.19, 0.12), 0.35),
    "pale wood": ("wood", (0.80, 0.66, 0.47), 0.5),
    "linen": ("weave", (0.78, 0.74, 0.66), 0.95),
    "dark cloth": ("weave", (0.14, 0.15, 0.20), 0.95),
    "red plaid": ("plaid", (0.62, 0.20, 0.17), 0.95),
    "blue plaid": ("plaid", (0.42, 0.50, 0.66), 0.95),
    "green felt": ("felt", (0.16, 0.34, 0.20), 1.0),
    "marble": ("marble", (0.86, 0.85, 0.83), 0.2),
    "white paint": ("paint", (0.88, 0.88, 0.87), 0.3),
    "black paint": ("paint", (0.06, 0.06, 0.065), 0.25),
}
"""Pattern, color (sRGB) and roughness of each table."""

WIDTH_MM = 1250.0  # of the table in the middle of a usual picture
SKINS = ((0.90, 0.72, 0.60), (0.78, 0.57, 0.44), (0.55, 0.37, 0.27), (0.33, 0.22, 0.16))


@dataclass(frozen=True)
class Room:
    """Everything around the cards. Lengths in mm, angles in radians, colors linear."""

    seed: int
    surface: str
    lamps: tuple[dict[str, Any], ...]
    around: dict[str, Any]  # ambient light and window
    gloss: float  # roughness of the cards
    mat_gloss: float
    bend_mm: float  # most that a card is bent
    tilt_deg: float
    lean_deg: float
    turn_deg: float
    fov_deg: float
    barrel: float  # how much farther the lens shows the picture's corners
    exposure: float = 1.0  # 1: well lit paper just does not burn out
    balance: float = 1.0  # 1: white balance makes paper gray, 0: it is as the lamps
    blur_px: float = 0.5
    noise: float = 0.01
    cast: tuple[float, float, float] = (1.0, 1.0, 1.0)  # of red, green and blue
    sharpen: float = 0.3
    jpeg: int = 88
    things: tuple[str, ...] = ()


def room(seed: int, *, exposure: float | None = None, burnt: bool = False, things: float = 0.3) -> Room:
    """Return the room of a seed.

    `burnt` draws an exposure of 1.2 to 1.5 and at least one lamp that the gloss mirrors. `things` is the probability
    of a cup, a phone and a hand each.
    """
    rng = np.random.default_rng((seed, 31))
    warm = rng.uniform(0, 1)
    tone = (1.0, 0.93 - 0.12 * warm, 0.86 - 0.34 * warm)
    count = int(rng.choice((1, 1, 2, 3)))
    is_day = bool(rng.random() < 0.45)
    tilt, lean, fov = rng.uniform(0, 20), rng.normal(0, 25), rng.uniform(36, 52)
    eye = _camera_mm(tilt, lean, fov) if burnt else None
    lamps = [_lamp(rng, tone, (0.5 if is_day else 1.0) / count, eye) for _ in range(count)]
    from_rad = rng.uniform(0, 2 * math.pi)
    window = None
    if is_day:
        sky = (0.86, 0.95, 1.0)
        window = {"glow": rng.uniform(3, 12), "color": sky, "from": from_rad, "up": rng.uniform(0.5, 2.2)}
        away = np.array([math.cos(from_rad), -math.sin(from_rad)]) * rng.uniform(1500, 2200)
        lamps.append({"kind": "window", "light": rng.uniform(1.0, 2.2), "at": [*away.tolist(), rng.uniform(900, 1500)],
                      "radius": 350, "aim": [0, 0], "color": sky})  # fmt: skip
    surface = str(rng.choice(list(SURFACES)))
    ambient = {"light": rng.uniform(0.25, 0.8) * (0.6 if burnt else 1), "color": (0.95, 0.98, 1) if is_day else tone}
    drawn = Room(
        seed=seed,
        surface=surface,
        lamps=tuple(lamps),
        around={"ambient": ambient, "window": window},
        gloss=rng.uniform(0.2, 0.5),
        mat_gloss=rng.uniform(0.22, 0.4) if rng.random() < 0.25 else rng.uniform(0.7, 0.95),
        bend_mm=rng.uniform(0.3, 3.0),
        tilt_deg=tilt,
        lean_deg=lean,
        turn_deg=rng.normal(0, 3),
        fov_deg=fov,
        barrel=rng.uniform(0, 0.05),
        exposure=rng.uniform(0.6, 1.0),
        balance=rng.uniform(0.6, 1),
        blur_px=rng.uniform(0.35, 0.7),
        noise=rng.uniform(0.004, 0.016),
        cast=(rng.uniform(0.92, 1.08), 1.0, rng.uniform(0.9, 1.1)),
        sharpen=rng.uniform(0, 0.7),
        jpeg=int(rng.integers(78, 95)),
        things=tuple(kind for kind in ("cup", "phone", "hand") if rng.random() < things),
    )
    if burnt:
        mat_gloss = rng.uniform(0.22, 0.4) if rng.random() < 0.4 else drawn.mat_gloss
        drawn = replace(drawn, exposure=rng.uniform(1.2, 1.5), gloss=rng.uniform(0.18, 0.35), mat_gloss=mat_gloss)
    return drawn if exposure is None else replace(drawn, exposure=exposure)


def _camera_mm(tilt_deg: float, lean_deg: float, fov_deg: float) -> np.ndarray:
    tilt, lean = math.radians(tilt_deg), math.radians(lean_deg)
    far = WIDTH_MM / 2 / (math.tan(math.radians(fov_deg) / 2) * 16 / 9)
    return far * np.array([math.sin(tilt) * math.sin(lean), math.sin(tilt) * math.cos(lean), math.cos(tilt)])


def _lamp(rng: np.random.Generator, tone: tuple[float, ...], share: float, eye: np.ndarray | None) -> dict[str, Any]:
    """Return a lamp; with an `eye` it is low, and a flat table would mirror it between the cards."""
    at, height = rng.uniform((-650, -500), (650, 500)), rng.uniform(900, 1700)
    if eye is not None:
        height *= 0.75
        mirrored = at * (0.5, 0.45)
        at = mirrored + (mirrored - eye[:2]) * height / eye[2]
    return {
        "kind": "lamp",
        "at": [*at.tolist(), height],
        "aim": (0.4 * at).tolist(),
        "light": share * rng.uniform(2, 4),
        "radius": float(rng.choice((25, 60, 120))),
        "angle": rng.uniform(0.75, 1.1),
        "color": tone,
    }
