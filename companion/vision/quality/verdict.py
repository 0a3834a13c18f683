"""Judge a camera for `doctor` and the camera pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from companion.common.text import Said, say, say_many
from companion.tabletop.mat_layout import mat_of
from companion.vision.capture.devices import LARGE_PX, SIZE_PX, Size
from companion.vision.quality import measure
from companion.vision.quality.advice import TOLD_PX, Advice
from companion.vision.quality.measure import ZoneSight

LEAST_LOOKS = 2.0
"""Minimum looks per second, or a card waits too long to be proposed.

On films, at 5 looks per second, half of the cards took four to six looks: here up to 3 s.
"""

BUSY = 0.8  # minimum share of time spent reading if the computer is slow, not the camera
BLURRED_PX = 2 * measure.MOST_BLUR_MODULES  # blur (σ) for which only large stickers are readable


@dataclass(frozen=True, slots=True)
class Pace:
    """Rate at which the table is read."""

    looks: float  # per second
    busy: float = 0.0  # share of time spent reading

    @property
    def is_enough(self) -> bool:
        return self.looks >= LEAST_LOOKS

    def says(self, size_px: tuple[int, int]) -> Said:
        """Return rate and picture size in words."""
        width, height = size_px
        if round(self.looks) < 1:
            return say(
                "checked every %(seconds)d seconds, %(width)d × %(height)d",
                seconds=max(2, round(1 / max(self.looks, 0.01))),
                width=width,
                height=height,
            )
        return say_many(
            "checked once a second, %(width)d × %(height)d",
            "checked %(count)d times a second, %(width)d × %(height)d",
            round(self.looks),
            width=width,
            height=height,
        )

    @property
    def remedy(self) -> Said:
        if self.busy >= BUSY:
            return say("This computer is slow: close other programs, and keep it from getting hot.")
        return say("The camera sends few pictures: add light, or use another USB port.")


READY = say("Leave the camera where it is, and set up the game.")


def size_wanted(now_px: Size, pace: Pace | None, advice: Advice | None = None) -> Size:
    """Return the wanted picture size: larger if cards look too small and this computer is fast enough.

    It is never below the usual one: fewer pixels make stickers unreadable, fewer looks only delay them. `advice` is
    needed to enlarge.
    """
    if pace is None:
        return now_px
    if now_px == LARGE_PX:
        return SIZE_PX if pace.busy >= BUSY and not pace.is_enough else LARGE_PX
    if advice is None or advice.card_px is None or advice.smallest_mm is None:
        return now_px
    is_small = advice.smallest_mm > advice.sticker_mm or advice.card_px < TOLD_PX
    larger = LARGE_PX[0] * LARGE_PX[1] / (SIZE_PX[0] * SIZE_PX[1])
    look_s = pace.busy / pace.looks
    return LARGE_PX if is_small and larger * look_s * LEAST_LOOKS <= 1 else now_px


class Aspect(StrEnum):
    """What is judged, in the order to fix it."""

    PICTURE = "picture"
    MATS = "mats"
    GLARE = "glare"
    FOCUS = "focus"
    LIGHT = "light"
    STICKERS = "stickers"
    FACES = "faces"
    PACE = "pace"


@dataclass(frozen=True, slots=True)
class Finding:
    """Judgment of one aspect."""

    aspect: Aspect
    says: Said
    is_good: bool | None = True  # None: unknown, or optional


@dataclass(frozen=True, slots=True)
class Verdict:
    """All findings and the conclusion."""

    says: Said
    findings: tuple[Finding, ...]
    steps: tuple[str, ...]  # most important first
    is_good: bool  # stickers are readable, and nothing needed is missing

    @property
    def next_step(self) -> str:
        return self.steps[0] if self.steps else READY


_OF_HINTS: Mapping[str, Aspect] = {
    **dict.fromkeys(("no-mats", "mat-missing", "mat-cut-off", "marks-covered"), Aspect.MATS),
    **dict.fromkeys(("too-bright", "dark", "pale", "uneven"), Aspect.LIGHT),
    **dict.fromkeys(("closer", "larger-stickers", "tilted", "no-scale"), Aspect.STICKERS),
    **dict.fromkeys(("shaken", "blurred"), Aspect.FOCUS),
    "glare": Aspect.GLARE,
    **dict.fromkeys(("smaller-picture", "silent", "mirrored"), Aspect.PICTURE),
}


def verdict_on(advice: Advice, pace: Pace | None = None) -> Verdict:
    """Judge a camera; without `pace`, only its pictures."""
    wrong = {_OF_HINTS[hint.code] for hint in advice.hints}
    findings = [finding for find in _FINDERS for finding in find(advice, wrong)]
    if pace is not None:
        findings.append(Finding(Aspect.PACE, pace.says(advice.size_px), pace.is_enough))
    steps: list[str] = [hint.say for hint in advice.hints if hint.needed]
    steps += [pace.remedy] if pace is not None and not pace.is_enough else []
    steps += [hint.say for hint in advice.hints if not hint.needed]
    return Verdict(_summary(advice, has_steps=bool(steps)), tuple(findings), tuple(steps), advice.good)


def _summary(advice: Advice, *, has_steps: bool) -> Said:
    if any(hint.needed for hint in advice.hints):
        return say("Not yet: cards would go unread.")
    if not advice.good:
        return say("It is not yet clear whether stickers can be read.")
    return say("Good enough to play; one thing would help.") if has_steps else say("All good: you can play.")


def _picture(advice: Advice, wrong: set[Aspect]) -> list[Finding]:
    width, height = advice.size_px
    is_large = width >= SIZE_PX[0] and Aspect.PICTURE not in wrong
    return [Finding(Aspect.PICTURE, say("%(width)d × %(height)d pixels", width=width, height=height), is_large or None)]


def _mats(advice: Advice, wrong: set[Aspect]) -> list[Finding]:
    mats = {mat_of(zone.zone) for zone in advice.zones}
    if not mats:
        return [Finding(Aspect.MATS, say("none found"), False)]
    found = (
        say_many("drawn zones of one mat", "drawn zones of %(count)d mats", len(mats))
        if advice.is_drawn
        else say_many("one mat found", "%(count)d mats found", len(mats))
    )
    return [Finding(Aspect.MATS, found, Aspect.MATS not in wrong)]


def _stickers(advice: Advice, wrong: set[Aspect]) -> list[Finding]:
    smallest_mm = advice.smallest_mm
    if smallest_mm is None:
        return [Finding(Aspect.STICKERS, say("not known yet"), None)] if advice.zones else []
    said = say(
        "readable from %(smallest)s mm; yours are %(mm)s mm", smallest=f"{smallest_mm:g}", mm=f"{advice.sticker_mm:g}"
    )
    if not advice.is_sticker_measured:
        said = say(
            "readable from %(smallest)s mm; the usual size is %(mm)s mm",
            smallest=f"{smallest_mm:g}",
            mm=f"{advice.sticker_mm:g}",
        )
    return [Finding(Aspect.STICKERS, said, smallest_mm <= advice.sticker_mm and Aspect.STICKERS not in wrong)]


def _faces(advice: Advice, _wrong: set[Aspect]) -> list[Finding]:
    """Judge the size of cards without stickers."""
    if advice.card_px is None:
        return []
    if advice.card_px >= TOLD_PX:
        return [Finding(Aspect.FACES, say("readable without stickers"))]
    return [Finding(Aspect.FACES, say("too small without stickers"), None)]


def _glare(advice: Advice, wrong: set[Aspect]) -> list[Finding]:
    worst = max(advice.zones, key=lambda zone: zone.glare, default=None)
    return [Finding(Aspect.GLARE, glare(worst) or say("none"), Aspect.GLARE not in wrong)] if worst else []


def _focus(advice: Advice, wrong: set[Aspect]) -> list[Finding]:
    worst = max(advice.zones, key=lambda zone: zone.blur_px or 0.0, default=None)
    said = sharpness(worst) if worst else None
    return [Finding(Aspect.FOCUS, said, Aspect.FOCUS not in wrong)] if said else []


def _light(advice: Advice, wrong: set[Aspect]) -> list[Finding]:
    darkest = min((zone for zone in advice.zones if zone.shows_paper), key=lambda zone: zone.white, default=None)
    said = brightness(darkest) if darkest else None
    if said == GOOD_LIGHT and Aspect.LIGHT in wrong:
        return [Finding(Aspect.LIGHT, say("too bright, or uneven"), False)]
    return [Finding(Aspect.LIGHT, said, Aspect.LIGHT not in wrong)] if said else []


_FINDERS = (_picture, _mats, _glare, _focus, _light, _stickers, _faces)


# --- A zone in words ------------------------------------------------------------------------------------------

GOOD_LIGHT = say("good light")


def sharpness(zone: ZoneSight) -> Said | None:
    """Describe sharpness; None without edges."""
    if zone.blur_px is None:
        return None
    if zone.blur_px <= measure.SOFT_PX:
        return say("sharp")
    said = say("a little soft") if zone.blur_px < BLURRED_PX else say("blurred")
    return say("%(soft)s (%(px)s px)", soft=said, px=round(zone.blur_px, 1))


def light(zone: ZoneSight) -> Said | None:
    """Describe light; None without paper."""
    return glare(zone) or brightness(zone)


def glare(zone: ZoneSight) -> Said | None:
    """Describe the share under a reflection; None if small."""
    if zone.glare < measure.GLARE_SHARE:
        return None
    return say("glare on %(share)d%%", share=round(100 * zone.glare))


def brightness(zone: ZoneSight) -> Said | None:
    """Describe brightness; None without paper."""
    if not zone.shows_paper:
        return None
    if zone.white < measure.DARK_WHITE:
        return say("too dark")
    return say("little contrast") if zone.contrast < measure.DIM_CONTRAST else GOOD_LIGHT
