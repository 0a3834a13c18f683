"""Which face of a deck a card shows whose place is roughly known.

Each picture of the deck is moved and turned a little until it fits the card best. The card is identified when it is
like one face, and clearly more so than like any other. The lead over the next face is measured against how much those
two faces differ at all, so that figures decide in a deck whose distances share one drawing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from companion.rules.cards import Card
from companion.vision.boxes import Pixels, shrunk
from companion.vision.faces.face_templates import FINE_PX_PER_MM, MIDDLE_PX_PER_MM, Pictures, Templates, details
from companion.vision.faces.pose_search import COARSE_PX_PER_MM, Lie
from companion.vision.faces.second_opinion import same_face
from companion.vision.opencv import cv2

WORTH_A_LOOK = 0.45  # likeness on the middle picture below which there is no card of the deck
ROUGHLY, NEARLY = 0.36, 0.4
"""The same as a pose is found, and turned as it fits best: 1,568 poses of 2,039 on two films come to no more than 0.45,
half of those to 0.36 at first; of cards none was below 0.51, and 0.53 when turned."""

DRAWN_ALIKE = 0.36
"""The same on the fine picture as a pose is found, in colours and drawing, by the face that it is most like: of 1,681
places of five films that come so far and are no cards 57 in 100 have less; of 630 cards none had less than 0.43."""

_MORE_TURNS = (-6.0, -3.0, 3.0, 6.0)
_MOST_TURNED = 8  # pictures tried in more turns: those most like the card as it is found
_ABOUT_SIGN = range(10, 360, 10)  # degrees
_FINE_TURNS = (-1.5, -0.75, 0.0, 0.75, 1.5)  # degrees; tried on the middle picture, then on the fine one
_FINE_SCALES = (0.97, 1.03)
SAME_TURN_DEG = 1.5  # two poses no further turned than this are one: the fine picture is tried in these turns
_REACH_PX, _LAID_REACH_PX = 2, 1  # shifts tried to each side, and on the fine picture while turns are tried
BETTER = 0.01  # minimum gain in likeness for another size: cards of a deck are all alike
MOST_ASKED = 4  # faces about which the second opinion is asked
OPINION_WEIGHT = 0.015  # gain in likeness of a face by the second opinion's odds of e : 1, where people are asked
LEAD_LESS = 1.0  # by so much more must one face lead than be sure: the logarithm of the odds
ALL_SHOWN = 0.97  # visible share from which a card is compared whole


@dataclass(frozen=True, slots=True)
class Named:
    """A card compared with every face."""

    face: Card | None  # the most similar face; None for a back
    score: float  # its likeness, -1 … 1
    margin: float  # its lead over any other face: 1 as much as the two faces differ, 0 none
    ranking: tuple[tuple[Card | None, float], ...]  # the faces with their scores, the best first
    lie: Lie  # on the fine picture
    shown: float  # the share of it that is visible
    detail: float  # the likeness of its drawing alone: a plain surface half in shadow is like a plain card
    telling: float  # the variation of the visible part against the whole: a blank strip says nothing
    print_contrast: float  # the variation of the print on that face, in steps of Lab
    upon: Card | None = None  # the face of the card that lies on it in a column or a fan
    agreement: float | None = None  # of the second opinion, `Closely.seconded`; None: it was not asked


class Closely:
    """A part of the table from straight above, on which cards are identified."""

    def __init__(self, fine: Pixels, templates: Templates) -> None:
        """`fine` is `(h, w, 3) float32` Lab, `FINE_PX_PER_MM`."""
        self._fine, self._templates = fine, templates
        self._middle, self._details = shrunk(fine, MIDDLE_PX_PER_MM / FINE_PX_PER_MM), details(fine)

    def named(self, pose: Lie, shown: Pixels | None = None) -> Named | None:
        """Return what the card at a pose on the coarse picture shows, None where there is no card.

        `shown` `(h, w) float32` of the fine picture is 0 where other cards lie over it.
        """
        near = self.near(pose, shown)
        return None if near is None else self.exactly(near, shown)

    def near(self, pose: Lie, shown: Pixels | None = None) -> PictureFit | None:
        """Return the picture that fits best near a pose on the coarse picture, on the middle one; None for no card."""
        start = pose.on(MIDDLE_PX_PER_MM / COARSE_PX_PER_MM)
        middle = self._templates.middle
        rough = _best_fit(self._middle, middle, [start], _REACH_PX, shown)
        if rough.score < ROUGHLY:
            return None
        likely = middle.only(*np.argsort(-rough.likeness)[:_MOST_TURNED])
        turned = _best_fit(self._middle, likely, [*map(start.turned, _MORE_TURNS)], _REACH_PX, shown)
        rough = max(rough, turned, key=lambda fit: fit.score)
        if rough.score < NEARLY:
            return None
        near = _best_fit(self._middle, middle, [rough.lie], _REACH_PX, shown)
        return near if near.score >= WORTH_A_LOOK else None

    def exactly(self, near: PictureFit, shown: Pixels | None = None) -> Named | None:
        """Return what the card shows that lies near there, laid on it by the one picture that it is most like."""
        near = self._about_its_sign(near, shown)
        number, start = self._templates.numbered(near.number), near.lie.on(FINE_PX_PER_MM / MIDDLE_PX_PER_MM)
        face, drawn = self._templates.fine.only(number), self._templates.details.only(number)
        likeness, _ = self._likenesses(start, _shown(face, start, shown)[0], _shown(drawn, start, shown)[0])
        if likeness.max() < DRAWN_ALIKE:
            return None
        fit = _best_fit(self._fine, face, [*map(start.turned, _FINE_TURNS)], _LAID_REACH_PX, shown)
        if abs(fit.lie.turn_deg - start.turn_deg) > _FINE_TURNS[-2]:
            # At the end of those tried it may be turned by more.
            fit = _best_fit(self._fine, face, [*map(fit.lie.turned, _FINE_TURNS)], _LAID_REACH_PX, shown)
        sizes = [replace(fit.lie, scale=fit.lie.scale * scale) for scale in _FINE_SCALES]
        other = _best_fit(self._fine, face, sizes, _LAID_REACH_PX, shown)
        return self.compared(other.lie if other.score > fit.score + BETTER else fit.lie, shown)

    def _about_its_sign(self, near: PictureFit, shown: Pixels | None) -> PictureFit:
        """Return a card as it fits best when turned about its sign: a round one is found in any turn at first."""
        sign = self._templates.signs.get(near.number)
        if sign is None:
            return near
        right, down = sign
        picture = self._templates.middle.only(near.number)
        on_sign = near.lie.shifted(right, down)
        ways = [on_sign.turned(turn).shifted(-right, -down) for turn in _ABOUT_SIGN]
        turned = _best_fit(self._middle, picture, ways, 1, shown)
        if turned.score <= near.score:
            return near
        exact = _best_fit(self._middle, picture, [*map(turned.lie.turned, _MORE_TURNS)], 1, shown)
        return max(turned, exact, key=lambda fit: fit.score)._replace(number=near.number)

    def compared(self, lie: Lie, shown: Pixels | None = None) -> Named:
        """Return the card of that pose, or very nearly, compared with every face."""
        pictures, share = _shown(self._templates.fine, lie, shown)
        drawn, _ = _shown(self._templates.details, lie, shown)
        both, by_detail = self._likenesses(lie, pictures, drawn)
        scores = both.max(axis=1)
        faces = self._templates.faces * 2
        first = int(scores.argmax())
        others = [number for number, face in enumerate(faces) if face is not faces[first]]
        likeness = (pictures.likeness_to(first) + drawn.likeness_to(first)) / 2
        apart = np.maximum(scores[first] * (1 - likeness[others]), 1e-3)
        is_turned = first >= len(self._templates.faces)
        return Named(
            face=faces[first],
            score=float(scores[first]),
            margin=float(((scores[first] - scores[others]) / apart).min(initial=1.0)),
            ranking=_ranking(faces, scores),
            lie=lie.shifted(*_peak(both[first])).turned(180.0 * is_turned),
            shown=share,
            detail=float(by_detail[first].max()),
            telling=float(pictures.contrast[first] / max(self._templates.fine.contrast[first], 1e-3)),
            print_contrast=float(self._templates.details.contrast[first]),
        )

    def _likenesses(self, lie: Lie, pictures: Pictures, drawn: Pictures) -> tuple[Pixels, Pixels]:
        """Return how like pictures a card of that pose and its surroundings are, and how like alone their drawings."""
        by_colour = pictures.compared(cropped(self._fine, lie, pictures.size_px, _REACH_PX))
        by_detail = drawn.compared(cropped(self._details, lie, pictures.size_px, _REACH_PX)[..., None])
        return (by_colour + by_detail) / 2, by_detail

    def seconded(self, card: Named, shown: Pixels | None = None) -> Named:
        """Return a card with what the second opinion says of it: asked about the faces that it is most like."""
        templates = self._templates
        faces = [face for face, _ in card.ranking[:MOST_ASKED]]
        pictures = templates.fine.upright([templates.faces.index(face) for face in faces])
        size = templates.fine.size_px
        mask = None if shown is None else cropped(shown, card.lie, size, 0) > 0.5
        logits = same_face(cropped(self._fine, card.lie, size, 0), pictures, mask)
        lead = float((logits[0] - logits[1:]).min(initial=math.inf))
        weights = OPINION_WEIGHT * np.pad(logits, (0, len(card.ranking) - len(logits)), constant_values=logits.min())
        ranking = [(face, score + more) for (face, score), more in zip(card.ranking, weights.tolist(), strict=True)]
        ranking.sort(key=lambda likely: -likely[1])
        return replace(card, agreement=min(float(logits[0]), lead - LEAD_LESS), ranking=tuple(ranking))


def _peak(scores: Pixels) -> tuple[float, float]:
    """Return the shift of greatest likeness, between pixels: to the right and down from the middle."""
    across = 2 * _REACH_PX + 1
    table = scores.reshape(across, across)
    down, right = divmod(int(table.argmax()), across)
    return (
        right - _REACH_PX + _top(table[down], right),
        down - _REACH_PX + _top(table[:, right], down),
    )


def _top(row: Pixels, at: int) -> float:
    """Return the offset of the top of a parabola through three values from the middle one."""
    if not 0 < at < len(row) - 1:
        return 0.0
    before, here, after = (float(value) for value in row[at - 1 : at + 2])
    bend = before - 2 * here + after
    return 0.0 if bend >= 0 else min(0.5, max(-0.5, 0.5 * (before - after) / bend))


def _ranking(faces: Sequence[Card | None], scores: Pixels) -> tuple[tuple[Card | None, float], ...]:
    best: dict[Card | None, float] = {}
    for number in np.argsort(-scores):
        best.setdefault(faces[number], float(scores[number]))
    return tuple(best.items())


class PictureFit(NamedTuple):
    """A picture of the deck where it fits best."""

    score: float
    number: int  # the index of the picture
    lie: Lie
    likeness: Pixels  # of each picture there, `(n,)`

    def is_like(self, other: PictureFit) -> bool:
        """True if both are of one picture in the same place, which is then found exactly but once."""
        is_near = self.lie.distance_px(other.lie) <= 1 and abs(self.lie.turn_deg - other.lie.turn_deg) <= SAME_TURN_DEG
        return self.number == other.number and is_near


def _best_fit(picture: Pixels, pictures: Pictures, ways: Sequence[Lie], reach: int, shown: Pixels | None) -> PictureFit:
    """Return the picture that fits best at one of several poses, or up to `reach` pixels beside.

    `shown` may be of a larger picture.
    """
    across = 2 * reach + 1
    larger = 1 if shown is None else round(shown.shape[1] / picture.shape[1])
    best = PictureFit(-2.0, 0, ways[0], np.empty(0, np.float32))
    for way in ways:
        scores = _shown(pictures, way, shown, larger)[0].compared(cropped(picture, way, pictures.size_px, reach))
        number, place = divmod(int(scores.argmax()), across * across)
        if scores[number, place] > best.score:
            down, right = divmod(place, across)
            lie = way.shifted(right - reach, down - reach)
            best = PictureFit(float(scores[number, place]), number, lie, scores.max(axis=1))
    return best


def _shown(pictures: Pictures, lie: Lie, shown: Pixels | None, larger: int = 1) -> tuple[Pictures, float]:
    """Return the deck's pictures masked to the visible part of a card of that pose, and the share of it.

    `shown` is that many times as large as the picture on which the card lies.
    """
    if shown is None:
        return pictures, 1.0
    there = replace(lie.on(larger), scale=lie.scale * larger)
    mask = cropped(shown, there, pictures.size_px, 0) > 0.5
    share = float(mask.mean())
    return (pictures, share) if share > ALL_SHOWN or not mask.any() else (pictures.shown(mask), share)


def cropped(picture: Pixels, lie: Lie, size: tuple[int, int], reach: int) -> Pixels:
    """Return a card cut out upright, as large as its template and `reach` pixels more on every side."""
    width, height = size[0] + 2 * reach, size[1] + 2 * reach
    turn = math.radians(lie.turn_deg)
    cos, sin, x, y = lie.scale * math.cos(turn), lie.scale * math.sin(turn), (width - 1) / 2, (height - 1) / 2
    from_crop = np.array([[cos, -sin, lie.x_px - cos * x + sin * y], [sin, cos, lie.y_px - sin * x - cos * y]])
    how = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(picture, from_crop, (width, height), flags=how, borderMode=cv2.BORDER_REPLICATE)
