"""Test a source briefly, and judge what can be read."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from companion.common.addresses import shown
from companion.common.errors import Problem
from companion.common.text import Said, say
from companion.tabletop.drawn_zones import Drawing, DrawnZones
from companion.tabletop.mat_layout import MatLayout
from companion.vision.boxes import Image
from companion.vision.capture.capture_thread import TRIAL_S, guarded, is_picture
from companion.vision.capture.devices import FIRST_PICTURE_S, Device, is_stream, opener_of, slow
from companion.vision.capture.image_io import SUFFIXES, read_picture
from companion.vision.capture.sources import LIVE_FPS, Frame, frames, is_device, not_there
from companion.vision.capture.steadiness import SETTLED_S
from companion.vision.eye import Eye
from companion.vision.mats.localization import Mats, look
from companion.vision.mirrored import flipped, is_mirrored
from companion.vision.quality.advice import of_reading
from companion.vision.quality.verdict import Pace, Verdict, verdict_on
from companion.vision.read import gray_of, read, refuse_proportions

PICTURES = 3  # examined; the median counts
PACE_LOOKS = 8  # the first finds the mats, the rest read cards
MEASURED_FRAMES = 20  # to measure a camera's rate
MEASURED_S = 6.0  # then fewer are enough: a stream may be slow


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """Pictures of a source, `(H, W, 3) uint8 BGR`."""

    name: str
    pictures: tuple[Image, ...]
    fps: float | None = None  # None if not a camera
    kind: str | None = None  # format (`MJPG`), if known


def tried(source: str, tell: Callable[[Said], None] = lambda _said: None) -> Trial:
    """Return a few pictures of a camera, stream, film, folder or picture file. Raise Problem if there are none.

    A slow stream gets more time per try; `tell` announces that.
    """
    if is_stream(source):
        return _stream_trial(source, tell)
    if is_device(source):
        return guarded(opener_of(source), shown(source), partial(_device_trial, shown(source)))
    if Path(source).suffix.lower() in SUFFIXES:
        if not Path(source).exists():
            raise not_there(source)
        return Trial(say("The picture %(source)s", source=source), (read_picture(source),))
    pictures = tuple(frame.image for frame in islice(frames(source), PICTURES))
    if not pictures:
        raise Problem("%(source)s has no readable picture: name a picture, film, folder or camera.", source=source)
    return Trial(say("The source %(source)s", source=source), pictures)


def verdict_of(trial: Trial, layouts: Sequence[MatLayout] | None = None, drawing: Drawing | None = None) -> Verdict:
    """Return a verdict on the pictures, and on this computer's rate with a camera.

    `layouts` are the mats that should be visible, `drawing` the zones drawn instead. Raise Problem if the drawing is
    needed but has other proportions.
    """
    pictures = trial.pictures
    if is_mirrored(pictures[-1]):
        pictures = tuple(map(flipped, pictures))
    image = pictures[-1]
    mats = look(gray_of(image), Mats(drawing=drawing), 0.0, layouts)
    refuse_proportions(trial.name, image, mats)
    view = read(Frame(image, 0.0), mats)
    advice = of_reading(pictures, mats, view, layouts)
    if trial.fps is None:
        return verdict_on(advice)
    eye, begun_s = Eye(drawn=DrawnZones(given=drawing)), time.monotonic()
    for number in range(PACE_LOOKS):
        eye(Frame(image, number / LIVE_FPS))
    took_s = max(time.monotonic() - begun_s, 1e-3) / PACE_LOOKS
    looks = min(trial.fps, LIVE_FPS, 1 / took_s)
    return verdict_on(advice, Pace(looks, looks * took_s))


def _stream_trial(source: str, tell: Callable[[Said], None]) -> Trial:
    name = shown(source)
    for limit_s, next_s in zip(FIRST_PICTURE_S, (*FIRST_PICTURE_S[1:], None), strict=True):
        opener, begun_s = opener_of(source, first_picture_s=partial(float, limit_s)), time.monotonic()
        try:
            return guarded(opener, name, partial(_device_trial, name), limit_s + TRIAL_S)
        except Problem:
            if next_s is None or time.monotonic() - begun_s < limit_s:
                raise
            tell(slow(name, next_s))
    raise AssertionError


def _device_trial(name: str, device: Device) -> Trial:
    """Take pictures once the camera has adjusted, and measure its rate."""
    opened_s, is_mute = time.monotonic(), False
    while not is_mute and time.monotonic() - opened_s < SETTLED_S:
        is_mute = not device.grab()
    first_s, count = time.monotonic(), 0
    pictures: list[Image] = []
    while not is_mute and len(pictures) < PICTURES and count < 2 * MEASURED_FRAMES:
        is_mute, count = not device.grab(), count + 1
        is_late = count > MEASURED_FRAMES - PICTURES or time.monotonic() - first_s > MEASURED_S
        image = device.retrieve() if is_late and not is_mute else None
        pictures += [image] if is_picture(image) else []
    if is_mute or not pictures:
        if is_stream(name):
            raise Problem("The camera %(name)s opens but sends no pictures: restart what sends it.", name=name)
        raise Problem("The camera %(name)s opens but sends no pictures: unplug it and plug it in again.", name=name)
    passed_s = max(time.monotonic() - first_s, 1e-6)
    return Trial(say("The camera %(source)s", source=name), tuple(pictures), count / passed_s, device.kind())
