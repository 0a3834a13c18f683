"""Combine several cameras' views of one table into one view.

Only the camera that sees a mat largest, its owner, reports on it. A silent camera's mats are unknown. Positions refer
to the combined picture of all cameras, side by side.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from companion.common.text import Said, say
from companion.tabletop.mat_layout import DRAW_ZONE, ROBOT, all_mats, mat_of
from companion.vision.capture.devices import SIZE_PX, Size
from companion.vision.capture.sources import Frame, Part
from companion.vision.quality.advice import Tip
from companion.vision.quality.live_survey import Lookout, Survey
from companion.vision.quality.verdict import Pace
from companion.vision.view import MatSeen, Point, Quad, Sighting, View

BETTER = 1.25  # minimum ratio of scales for a new owner; prevents alternation
STAYS = 1_000_000  # offset between two cameras' card numbers (`Sighting.stay`)
SILENT = say("No pictures. Plays on its mats are not detected; enter them by hand.")


@dataclass(frozen=True, slots=True)
class _Sight:
    """One camera's view, without mats if silent."""

    number: int
    part: Part
    view: View
    size_px: Size = SIZE_PX
    showing: frozenset[str] = frozenset()  # mats visible now; the eye may remember others
    own: frozenset[str] = frozenset()  # mats this camera owns

    def has(self, zone: str) -> bool:
        return mat_of(zone) in self.own

    def zones(self, named: Iterable[str]) -> frozenset[str]:
        """Return those on its own mats."""
        return frozenset(filter(self.has, named))

    def unknown(self) -> frozenset[str]:
        """Return its own mats' unknown zones, all if blind."""
        is_blind = self.view.trouble is not None or self.part.frame is None or self.part.frame.after_gap
        every = (f"{mat.id}/{zone}" for mat in all_mats() for zone in mat.zones)
        return self.zones(every if is_blind else self.view.unknown_zones)

    def named(self, says: str) -> Said:
        """Return a sentence prefixed with this camera's number."""
        return say("Camera %(number)d: %(says)s", number=self.number + 1, says=says)

    def shifted(self, point: Point) -> Point:
        """Convert a point to the combined picture."""
        return point[0] + self.part.at_px[0], point[1] + self.part.at_px[1]

    def quad(self, corners: Quad) -> Quad:
        a, b, c, d = map(self.shifted, corners)
        return a, b, c, d

    def mats(self) -> Iterator[MatSeen]:
        """Yield its own mats and any robot's, which every camera's picture hides."""
        for mat in self.view.mats:
            if mat.id in self.own or mat.id == ROBOT:
                yield replace(mat, corners_px=self.quad(mat.corners_px))

    def sightings(self) -> Iterator[Sighting]:
        """Yield the cards on its own mats."""
        for seen in self.view.sightings:
            if self.has(seen.zone or ""):
                corners = self.quad(seen.corners_px) if seen.corners_px else None
                stay = None if seen.stay is None else seen.stay + self.number * STAYS
                yield replace(seen, centre_px=self.shifted(seen.centre_px), corners_px=corners, stay=stay)


class CameraGroup:
    """Callable that turns combined frames into views; `make` creates a camera's lookout.

    `survey` is thread-safe; only the reading thread calls the rest.
    """

    def __init__(self, make: Callable[[int], Lookout]) -> None:
        self._make, self.first = make, make(0)
        self._lookouts = [self.first]  # one per camera ever used
        self._sights: tuple[_Sight, ...] = ()  # empty for a single camera
        self._owners: Mapping[str, int] = {}  # camera number per mat
        self._size_px = SIZE_PX

    def begin_afresh(self) -> None:
        for lookout in self._lookouts:
            lookout.begin_afresh()

    def wanted(self, number: int, in_play: Sequence[str]) -> tuple[str, ...]:
        """Return the mats `in_play` that a camera owns, for the first camera also unowned ones."""
        return tuple(mat for mat in in_play if self._owners.get(mat, 0) == number)

    def __call__(self, frame: Frame) -> View:
        cameras = len(frame.parts) or 1
        if cameras != (len(self._sights) or 1):
            # Any camera may have changed: all but the first start over.
            for other in self._lookouts[1:]:
                other.begin_afresh()
            self._lookouts += map(self._make, range(len(self._lookouts), cameras))
            self._owners, self._sights = {}, ()
        if cameras == 1:
            return self.first(frame)
        sights = [_seen(*each, frame.t_s) for each in zip(count(), frame.parts, self._lookouts)]
        self._owners = owners = _owners(self._owners, sights)
        own = [frozenset(mat for mat, number in owners.items() if number == s.number) for s in sights]
        self._sights = tuple(replace(s, own=mats) for s, mats in zip(sights, own, strict=True))
        self._size_px = frame.image.shape[1::-1]
        return _together(frame.t_s, self._sights)

    def survey(self) -> Survey | None:
        """Return the survey of the latest pictures, None if outdated."""
        sights, lookouts = self._sights, self._lookouts
        if not sights:
            return self.first.survey()
        looked = [(s, look.survey()) for s, look in zip(sights, lookouts, strict=False) if s.part.frame]
        surveys = [(s, survey) for s, survey in looked if survey is not None]
        return _surveyed(surveys, sights, self._owners, self._size_px) if surveys else None


def _seen(number: int, part: Part, lookout: Lookout, t_s: float) -> _Sight:
    if part.frame is None:
        return _Sight(number, part, View(t_s, (), (), trouble=SILENT))
    return _Sight(number, part, lookout(part.frame), part.frame.image.shape[1::-1], lookout.showing)


def _owners(before: Mapping[str, int], sights: Sequence[_Sight]) -> Mapping[str, int]:
    """Return the camera number per mat; only a camera that sees a mat whole takes it over."""
    owners = {mat: number for mat, number in before.items() if number < len(sights)}
    whole: dict[str, dict[int, float]] = defaultdict(dict)
    for sight in sights:
        width, height = sight.size_px
        for mat in sight.view.mats:
            owners.setdefault(mat.id, sight.number)
            if mat.id in sight.showing and all(-1 <= x <= width and -1 <= y <= height for x, y in mat.corners_px):
                whole[mat.id][sight.number] = mat.px_per_mm
    for mat_id, by in whole.items():
        best = max(by, key=by.__getitem__)
        if by[best] > BETTER * by.get(owners[mat_id], 0.0):
            owners[mat_id] = best
    return owners


def _together(t_s: float, sights: Sequence[_Sight]) -> View:
    """Combine views; `trouble` is set only if every camera has trouble."""
    troubles = [sight.named(sight.view.trouble) for sight in sights if sight.view.trouble]
    unknown = frozenset[str]().union(*(sight.unknown() for sight in sights))
    piles = [sight.view.draw_pile_empty for sight in sights if sight.has(DRAW_ZONE)]
    return View(
        t_s,
        tuple(mat for sight in sights for mat in sight.mats()),
        tuple(seen for sight in sights for seen in sight.sightings()),
        unknown_zones=unknown,
        draw_pile_empty=piles[0] if piles and DRAW_ZONE not in unknown else None,
        trouble=troubles[0] if len(troubles) == len(sights) else None,
        things=frozenset[str]().union(*(sight.zones(sight.view.things) for sight in sights)),
        hidden={mat: hidden for sight in sights for mat, hidden in sight.view.hidden.items() if mat in sight.own},
        blind={zone: why for sight in sights for zone, why in sight.view.blind.items() if sight.has(zone)},
        note=troubles[0] if troubles else None,
    )


def _surveyed(
    surveys: Sequence[tuple[_Sight, Survey]], sights: Sequence[_Sight], owners: Mapping[str, int], size_px: Size
) -> Survey:
    """Combine surveys, each limited to its camera's mats."""

    def outlines(of: Callable[[Survey], Mapping[str, Quad]]) -> Mapping[str, Quad]:
        return {zone: s.quad(quad) for s, survey in surveys for zone, quad in of(survey).items() if s.has(zone)}

    hints = [
        replace(hint, say=sight.named(hint.say))
        for sight, survey in surveys
        for hint in survey.advice.hints
        if not hint.zones or any(owners.get(mat_of(zone), sight.number) == sight.number for zone in hint.zones)
    ]
    hints += [Tip("silent", sight.named(SILENT), needed=True) for sight in sights if sight.part.frame is None]
    first, paces = surveys[0][1], [survey.pace for _, survey in surveys if survey.pace]
    advice = replace(
        first.advice,
        size_px=size_px,
        zones=tuple(zone for sight, survey in surveys for zone in survey.advice.zones if sight.has(zone.zone)),
        hints=tuple(sorted(hints, key=lambda hint: not hint.needed)),
        distance_cm=None,
        cards=sum(survey.advice.cards for _, survey in surveys),
    )
    pace = Pace(min(p.looks for p in paces), sum(p.busy for p in paces)) if paces else None
    return Survey(advice, outlines(lambda s: s.printed), outlines(lambda s: s.drawn), first.is_last, pace)
