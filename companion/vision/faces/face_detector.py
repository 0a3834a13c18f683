"""Cards without stickers: which faces of a deck lie on a picture, and where.

The table is rectified to a view from straight above. Cards on top are identified first; then the visible parts of those
below, with everything that covers them masked out. A card that is like one face, but not clearly more than like
another, is unknown, with its candidates.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from companion.rules.cards import Card, Family
from companion.tabletop.card_ids import any_copy
from companion.vision.boxes import Box, Floats, Image, Mask, Pixels, around, boxes_within, lab, shrunk, whole
from companion.vision.faces.border_profile import LEAST_STEP, share_that_ends, smoothed, steps_across
from companion.vision.faces.face_templates import FINE_PX_PER_MM, Templates
from companion.vision.faces.keypoints import level_by_faces
from companion.vision.faces.matching import ALL_SHOWN, Closely, Named, PictureFit
from companion.vision.faces.pose_search import APART_MM, COARSE_PX_PER_MM, LEAST_SHOWN, Lie, poses
from companion.vision.mats import plane
from companion.vision.mats.homography import as_quad, lies_sideways
from companion.vision.mats.localization import Mats
from companion.vision.mats.plane import Flat
from companion.vision.opencv import cv2
from companion.vision.view import FACE, Quad, Sighting

# Likenesses are correlations. A margin is the lead over any other face: 1 as much as the two differ, 0 none.
SURE_SCORE, SURE_MARGIN = 0.7, 0.28  # least of a card that shows whole and is identified
LIKELY_SCORE, LIKELY_MARGIN = 0.62, 0.08  # least of a card of the deck to be there; people are asked which
PLAIN_SCORE = 0.8  # likeness that only a card of the deck reaches, even if several faces are as like it
CLEAR_MARGIN = 0.5  # least of what looks little like any face: of pale print, and of the narrowest strip
LEAST_DETAIL = 0.5  # least likeness of what is drawn on a card: colours alone may be like those of any cloth
PALE_SCORE, PALE_DETAIL = 0.56, LEAST_DETAIL / 2  # least of pale print: they drown in noise, its lead does not
PALE_CONTRAST, USUAL_CONTRAST = 4.0, 10.0  # variation in steps of Lab of pale print, and where the usual minimums hold
PARTLY_MARGIN = 0.4  # least of a card slightly covered: what is hidden may be the figure that distances differ in
STRIP_SCORE = 0.78  # `SURE_SCORE` of the narrowest strip of a card
WHOLE_FROM = 0.8  # visible share from which a card counts as whole
BENEATH_SHARE = 0.75  # least visible share of a card after those found above it; one with less waits for the next round
LEAST_LEAD = 0.03  # least lead in likeness of the narrowest strip over any other face
LEAST_TELLING = 0.55  # least variation of the visible part of a card, as a share of the whole card's
LEAST_ENDING = 0.6  # least share of a strip's visible borders across which the picture changes; else no card ends there
AGREES = 1.0  # least agreement of the second opinion that identifies a card: the logarithm of the odds
DISAGREES = -2.0  # agreement below which a card is asked about, however like a face it is
BARELY_MARGIN = 0.6  # lead below which a card that is identified is asked about too: three wrong ones had 0.28 to 0.52
AGREES_ALONE, DOUBTS_ALONE = 2.0, -1.0
"""Least agreement that makes a card of what is too little like any face: of what shows whole, and of what other cards
cover in part. An arrow printed on a mat had 3.1 in dim light; beneath other cards there is little else than cards."""

ASKED, ASKED_PART = (0.5, 0.3, 0.45), (0.45, 0.1, 0.3)
"""Least score, margin and detail of the same to ask for a second opinion. Of 1,300 partly covered places without a card
one was told then, a card of another deck, and five were asked about."""

ASIDE_MM = 14.0  # two readings this near are of one place: a round sign read askew lay 13 mm beside its card
NEWS_SHARE = 0.03  # least share of a place over which the last round found a card, if it is worth another look
MOST_ROUNDS, MOST_LIKELY, MOST_RIVALS, MOST_CONFIDENCE = 5, 4, 3, 0.99
LEAST_CONFIDENCE, BY_SCORE, BY_MARGIN = 0.92, 0.2, 0.1  # of what is just sure; added by more likeness, and by more lead
NATS_PER_SCORE = 20.0  # how much likelier a likeness of 1 more makes a face, as a logarithm: 0.05 by a factor of e
RIVALS_CONFIDENCE = 0.85  # what the likeliest faces of a card that is asked about have together: it may be another

# Of columns and fans:
FAN_MM, FAN_STEP_MM = (10, 46), 3  # range of what shows of a card beside the edge of the one on it, and steps tried
FAN_SHOWN, FAN_FREE = 0.08, 0.8  # least visible share of such a card, and of what lies between those edges
FAN_SCORE, FAN_CLEAR_SCORE = 0.6, 0.84  # least likeness of a strip of which all visible borders show, or all but one
FAN_TELLING = 0.3  # least variation of a strip: its borders tell that a card lies there
EDGE_MM, EDGE_STEP = 2, 2.0  # distance from an edge at which the picture is compared, and least change, in steps of Lab
EDGE_POINTS, EDGE_PARTS = 24, 4
ASKEW_DEG = 4.0  # turn of a card against its mat from which those below it are sought along the mat too, up to twice it
SAME_AGAIN = 8.0  # times as likely as another face is that of the card upon it: columns are of one distance
_WAYS = ((0, -1), (0, 1), (-1, 0), (1, 0))


def read_faces(
    image: Image,
    templates: Templates,
    mats: Mats,
    *,
    where: Sequence[Box] | None = None,
    beneath: bool = True,
    fans: bool = False,
    outlines: Sequence[Quad] = (),
) -> tuple[Sighting, ...]:
    """Return the cards of a deck on a picture `(H, W, 3) uint8 BGR`, from the top down.

    `where` limits the search to boxes; without `beneath` it finds only cards on top. With `fans` it follows columns and
    fans to cards of which a strip shows that may be any of several faces. Within `outlines` a card is looked for even
    where the small picture, on which fine lines are lost, shows none, and beneath others one turned as they are.
    """
    found: list[Sighting] = []
    for box in boxes_within(image, where):
        fit = plane.plane_of(image, box, mats) or level_by_faces(image, templates.points, templates.size_mm)
        flat = plane.flattened(image, fit, box, FINE_PX_PER_MM) if fit is not None else None
        if flat is not None:
            layers = _Layers(flat, templates, mats, [quad for quad in outlines if box.holds(quad)])
            for number in range(MOST_ROUNDS if beneath else 1):
                if not layers.add_round(number > 0):
                    break
            if fans:
                layers.add_fans()
            found += layers.seen()
    return tuple(found)


def face_at(image: Image, templates: Templates, mats: Mats, quad: Quad, *, is_card: bool = False) -> Sighting | None:
    """Return what a card known to lie in full sight with these corners shows; None where nothing of the deck does.

    What `is_card` of the deck for sure, but not like it, is unknown.
    """
    box = around(quad).within(image.shape[1], image.shape[0])
    fit = plane.plane_of(image, box, mats) if box.area_px else None
    flat = plane.flattened(image, fit, box, FINE_PX_PER_MM) if fit is not None else None
    if flat is None:
        return None
    corners = flat.from_picture(quad)
    (x, y), (right, down) = corners.mean(axis=0).tolist(), (corners[1] - corners[0]).tolist()
    scale = math.hypot(right, down) / (templates.size_mm[0] * FINE_PX_PER_MM)
    closely = Closely(lab(flat.image), templates)
    card = closely.compared(Lie(x, y, math.degrees(math.atan2(down, right)), scale))
    card = closely.seconded(card) if _is_doubtful(card) else card
    if is_card and not _is_there(card):
        return _sighted(replace(card, agreement=DISAGREES), quad, templates, mats)
    return _sighted(card, quad, templates, mats) if card.face is not None and _is_there(card) else None


class _Layers:
    """The cards on a part of the table, identified from the top down."""

    def __init__(self, flat: Flat, templates: Templates, mats: Mats, outlines: Sequence[Quad]) -> None:
        self._flat, self._templates, self._mats = flat, templates, mats
        self._outlined = [_lie_in(flat.from_picture(quad)).on(COARSE_PX_PER_MM / FINE_PX_PER_MM) for quad in outlines]
        fine = lab(flat.image)
        self._coarse = shrunk(fine, COARSE_PX_PER_MM / FINE_PX_PER_MM)
        self._closely, self._smooth = Closely(fine, templates), smoothed(fine)
        self._shown = np.ones(fine.shape[:2], np.float32)
        self._fresh = np.zeros(fine.shape[:2], np.float32)  # 1 where the last round found a card that hides more
        self._cards: list[Named] = []

    def seen(self) -> Iterator[Sighting]:
        """Yield the cards found, from the top down; a back is no face."""
        for card in self._cards:
            if card.face is not None:
                quad = as_quad(self._flat.to_picture(self._corners(card)))
                yield _sighted(card, quad, self._templates, self._mats)

    def add_round(self, is_beneath: bool) -> bool:
        """Add the cards visible below those found so far; true if there are any."""
        shown = self._shown if is_beneath else None
        found = self._beneath() if is_beneath else self._on_top()
        for unsure in [card for card in found if not _is_sure(card)]:
            # Two readings so near are of the same card, or of two of which one hides most of the other.
            near = (card for card in found if card.lie.distance_px(unsure.lie) <= ASIDE_MM * FINE_PX_PER_MM)
            if not any(map(_is_sure, near)):
                found += self._along_the_mat(unsure, shown)
        self._fresh = np.zeros(self._shown.shape, np.float32)
        told = sorted(found, key=lambda card: -card.score)
        return sum(self._taken(card) for card in told) > 0

    def _on_top(self) -> list[Named]:
        """Return the cards in full sight, found in the outlines' turns alone if every one of these is a sure card."""
        for turns_deg in ([lie.turn_deg for lie in self._outlined] or None, None):
            here = self._poses(whole(self._coarse), None, turns_deg)
            found = self._there([*here, *self._outlined], None)
            if turns_deg is None or all(self._is_of_one(outline, found) for outline in self._outlined):
                break
        return found

    def _is_of_one(self, outline: Lie, found: Sequence[Named]) -> bool:
        """True if an outline on the coarse picture is that of a card which is sure."""
        lie = outline.on(FINE_PX_PER_MM / COARSE_PX_PER_MM)
        return any(_is_sure(card) and card.lie.distance_px(lie) <= ASIDE_MM * FINE_PX_PER_MM for card in found)

    def _beneath(self) -> list[Named]:
        """Return the cards below those that the last round found."""
        turns_deg = [lie.turn_deg for lie in (*(card.lie for card in self._cards), *self._outlined)]
        left, top, width, height = cv2.boundingRect(self._fresh.astype(np.uint8))
        fresh = around(np.array([(left, top), (left + width, top + height)]) * COARSE_PX_PER_MM / FINE_PX_PER_MM)
        # A card that reaches into it, and what is to be no better place than its own.
        reach_mm = math.hypot(*self._templates.size_mm) + APART_MM
        near = fresh.padded(math.ceil(reach_mm * COARSE_PX_PER_MM)).within(*self._coarse.shape[1::-1])
        here = self._poses(near, self._shown, turns_deg or None)
        return self._there([pose for pose in here if self._is_news(pose)], self._shown)

    def add_fans(self) -> None:
        """Add the cards of which a column or a fan shows a strip: each beside an edge of the one that lies on it."""
        self._cards = [replace(card, upon=self._face_on(at)) for at, card in enumerate(self._cards)]
        todo = [(card, _WAYS) for card in self._cards]
        for upper, ways in todo:
            for way in ways:
                below = self._below(upper, *way)
                if below is not None and self._taken(below, FAN_SHOWN):
                    todo.append((below, (way,)))

    def _face_on(self, at: int) -> Card | None:
        """Return the face of the nearest card upon one of which only a part shows."""
        card = self._cards[at]
        apart = {upper.lie.distance_px(card.lie): upper.face for upper in self._cards[:at]}
        nearest = min(apart, default=math.inf)
        return apart[nearest] if card.shown < WHOLE_FROM and nearest <= FAN_MM[1] * FINE_PX_PER_MM else None

    def _below(self, upper: Named, across: int, down: int) -> Named | None:
        """Return the card of which a strip shows on one side of another; `across` and `down` are -1, 0 or 1."""
        near: list[PictureFit] = []
        askew_deg = (upper.lie.turn_deg - self._mat_deg + 45) % 90 - 45
        turns_deg = (0.0, -askew_deg) if ASKEW_DEG <= abs(askew_deg) <= 2 * ASKEW_DEG else (0.0,)
        for step_mm, turn_deg in itertools.product(self._edges_mm(upper, across, down), turns_deg):
            step = step_mm * FINE_PX_PER_MM
            lie = upper.lie.shifted(across * step, down * step).turned(turn_deg)
            fit = self._closely.near(lie.on(COARSE_PX_PER_MM / FINE_PX_PER_MM), self._shown)
            if fit is not None and not any(map(fit.is_like, near)):
                near.append(fit)
        cards = (self._closely.exactly(fit, self._shown) for fit in near)
        here = [card for card in cards if card is not None and self._is_in_a_fan(card)]
        return replace(max(here, key=lambda card: card.score), upon=upper.face) if here else None

    def _edges_mm(self, upper: Named, across: int, down: int) -> Iterator[float]:
        """Yield how far beyond a card's edge the picture changes along a line of the card's width."""
        steps, free = self._changes_beyond(upper, across, down)
        last = 0
        for at in range(FAN_MM[0] - EDGE_MM, len(steps) - 1):
            mm = at + EDGE_MM
            is_edge = steps[at - 1 : at + 2].max() >= EDGE_STEP and free[: mm + 1].mean() >= FAN_FREE
            if is_edge and mm >= last + FAN_STEP_MM:
                last = mm
                yield float(mm)

    def _changes_beyond(self, upper: Named, across: int, down: int) -> tuple[Pixels, Mask]:
        """Return how much the picture changes at each millimetre beyond a card's edge, and what is visible there.

        The changes, in steps of Lab, are those around `EDGE_MM`, `EDGE_MM` + 1, … `(n,)`; visible is `(m, points)`.
        """
        width, height = self._templates.size_mm
        half_mm, along_mm = (width / 2, height / 2) if across else (height / 2, width / 2)
        out = np.arange(0.0, FAN_MM[1] + 2 * EDGE_MM, 1.0)
        side = np.linspace(-0.8, 0.8, EDGE_POINTS) * along_mm
        px = FINE_PX_PER_MM * upper.lie.scale
        turn = math.radians(upper.lie.turn_deg)
        right, below = np.array([math.cos(turn), math.sin(turn)]), np.array([-math.sin(turn), math.cos(turn)])
        outwards, beside = (right * across, below) if across else (below * down, right)
        points = (half_mm + out)[:, None, None] * outwards * px + side[None, :, None] * beside * px
        points += (upper.lie.x_px, upper.lie.y_px)
        x, y = points[..., 0].astype(np.float32), points[..., 1].astype(np.float32)
        seen = cv2.remap(self._smooth, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        free = cv2.remap(self._shown, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT) > 0.5
        parts = np.stack([part.mean(axis=1) for part in np.array_split(seen, EDGE_PARTS, axis=1)], axis=1)
        beyond, before = parts[2 * EDGE_MM :], parts[: -2 * EDGE_MM]
        return np.linalg.norm(beyond - before, axis=2).mean(axis=1), free

    def _along_the_mat(self, unsure: Named, shown: Pixels | None) -> list[Named]:
        """Return what an unsure card is if it lies along its mat: on the small picture a round sign has no turn."""
        lie = unsure.lie.on(COARSE_PX_PER_MM / FINE_PX_PER_MM)
        reach_mm = math.hypot(*self._templates.size_mm) / 2 + ASIDE_MM
        near = around([(lie.x_px, lie.y_px)]).padded(round(reach_mm * COARSE_PX_PER_MM))
        return self._there(self._poses(near.within(*self._coarse.shape[1::-1]), shown, [self._mat_deg]), shown)

    @property
    def _mat_deg(self) -> float:
        """How far the mat is turned clockwise on the fine picture."""
        right, down = self._flat.to_mm[:2, 0]
        return -math.degrees(math.atan2(down, right))

    def _poses(self, box: Box, shown: Pixels | None, turns_deg: Sequence[float] | None) -> list[Lie]:
        """Return where cards may lie in a box of the coarse picture."""
        size = self._coarse.shape[1::-1]
        free = None if shown is None else box.of(cv2.resize(shown, size, interpolation=cv2.INTER_AREA))
        found = poses(box.of(self._coarse), self._templates.turned, free, turns_deg)
        return [replace(pose, x_px=pose.x_px + box.left, y_px=pose.y_px + box.top) for pose in found]

    def _there(self, here: Sequence[Lie], shown: Pixels | None) -> list[Named]:
        """Return the cards at some poses."""
        named = (self._closely.named(pose, shown) for pose in here)
        told = (
            self._closely.seconded(card, shown) if _is_doubtful(card) else card for card in named if card is not None
        )
        return [card for card in told if _is_there(card) and self._ends(card)]

    def _ends(self, card: Named) -> bool:
        """True if what shows of a card ends where the card does."""
        borders = self._smooth, self._shown, self._corners(card), FINE_PX_PER_MM * card.lie.scale
        return card.shown >= WHOLE_FROM or share_that_ends(*borders) >= LEAST_ENDING

    def _is_in_a_fan(self, card: Named) -> bool:
        """True if a strip is like that of some face, whichever it is, and ends where the card does but for one side."""
        if not FAN_SHOWN <= card.shown < WHOLE_FROM or card.detail < LEAST_DETAIL or card.telling < FAN_TELLING:
            return False
        px_per_mm = FINE_PX_PER_MM * card.lie.scale
        steps = steps_across(self._smooth, self._shown, self._corners(card), px_per_mm)
        if len(steps) < 2 or steps[1] < LEAST_STEP:
            return False
        return card.score >= (FAN_SCORE if steps[0] >= LEAST_STEP else FAN_CLEAR_SCORE)

    def _is_news(self, pose: Lie) -> bool:
        """True if the last round found a card over this place."""
        lie = pose.on(FINE_PX_PER_MM / COARSE_PX_PER_MM)
        mask = self._mask(lie.placed(self._templates.corners_mm[0] * FINE_PX_PER_MM))
        return float((self._fresh * mask).sum()) >= NEWS_SHARE * float(mask.sum())

    def _taken(self, card: Named, least: float = LEAST_SHOWN) -> bool:
        """Add a card unless too much of it is covered; true if it was added."""
        mask = self._mask(self._corners(card))
        free = float((self._shown * mask).sum() / max(mask.sum(), 1))
        if free < max(least, min(BENEATH_SHARE, 0.9 * card.shown)):
            return False
        self._cards.append(card)
        self._fresh = np.maximum(self._fresh, self._shown * mask)
        self._shown[mask > 0] = 0
        return True

    def _mask(self, corners: Floats) -> Pixels:
        mask = np.zeros(self._shown.shape, np.float32)
        cv2.fillConvexPoly(mask, np.int32(np.round(corners * 16)), 1.0, shift=4)
        return mask

    def _corners(self, card: Named) -> Floats:
        """Return a card's corners on the fine picture, `(4, 2)`."""
        return card.lie.placed(self._templates.corners_of(card.face) * FINE_PX_PER_MM)


def _lie_in(corners: Floats) -> Lie:
    """Return the pose of a card upright or upside down between corners `(4, 2)` in order around it."""
    x, y = corners.mean(axis=0).tolist()
    right, down = max(corners[1] - corners[0], corners[2] - corners[1], key=np.linalg.norm).tolist()
    return Lie(x, y, math.degrees(math.atan2(down, right)) - 90.0)


def _is_doubtful(card: Named) -> bool:
    """True if a second opinion is asked: a card lies there, or may, and correlation hardly tells which."""
    if _is_there(card):
        return card.margin < BARELY_MARGIN or not _is_sure(card)
    score, margin, detail = ASKED if card.shown >= WHOLE_FROM else ASKED_PART
    return card.score >= score and card.margin >= margin and card.detail >= detail


def _is_there(card: Named) -> bool:
    least = AGREES_ALONE if card.shown >= WHOLE_FROM else DOUBTS_ALONE
    is_seconded = card.agreement is not None and card.agreement >= least
    return card.shown >= LEAST_SHOWN and (is_seconded or _is_like_a_face(card))


def _is_like_a_face(card: Named) -> bool:
    """True if it is enough like a card of the deck to be one, as correlation goes."""
    if _is_pale(card):
        return True
    is_drawn = card.detail >= LEAST_DETAIL and card.telling >= LEAST_TELLING
    is_plain = card.score >= PLAIN_SCORE and card.shown >= WHOLE_FROM
    return is_drawn and card.score >= LIKELY_SCORE and (is_plain or card.margin >= LIKELY_MARGIN)


def _is_pale(card: Named) -> bool:
    """True if a card in full sight is one face and no other, though as pale print not very like it."""
    strong = min(1.0, max(0.0, (card.print_contrast - PALE_CONTRAST) / (USUAL_CONTRAST - PALE_CONTRAST)))
    is_like = card.score >= PALE_SCORE + (SURE_SCORE - PALE_SCORE) * strong
    is_drawn = card.detail >= PALE_DETAIL + (LEAST_DETAIL - PALE_DETAIL) * strong
    return is_like and is_drawn and card.margin >= CLEAR_MARGIN and card.shown >= WHOLE_FROM


def _is_sure(card: Named) -> bool:
    """True if a card is identified; the less of it shows, the more it takes."""
    if card.agreement is not None and not DISAGREES < card.agreement < AGREES:
        return card.agreement > 0
    if _is_pale(card):
        return True
    hidden = min(1.0, max(0.0, (WHOLE_FROM - card.shown) / WHOLE_FROM))
    score = SURE_SCORE + (STRIP_SCORE - SURE_SCORE) * hidden
    least = SURE_MARGIN if card.shown > ALL_SHOWN else PARTLY_MARGIN
    margin = least + (CLEAR_MARGIN - least) * hidden
    lead = card.ranking[0][1] - card.ranking[1][1] if len(card.ranking) > 1 else 1.0
    is_clear = card.score >= score and card.margin >= margin and lead >= LEAST_LEAD * hidden
    return is_clear and _is_like_a_face(card)


def is_identified(card: Named, templates: Templates) -> bool:
    """True if a card compared with all faces, or the back, is one of them and no other."""
    return _is_there(card) and _is_sure(card) and card.face not in templates.doubtful


def _sighted(card: Named, quad: Quad, templates: Templates, mats: Mats) -> Sighting:
    """Return a card as a sighting: with its zone, and whether it lies sideways on its mat, or else on the picture."""
    xs, ys = zip(*quad, strict=True)
    centre = (sum(xs) / 4, sum(ys) / 4)
    fit = mats.at(centre)
    seen = Sighting(
        face=Card.UNKNOWN,
        card=None,
        centre_px=centre,
        corners_px=quad,
        zone=fit.zone_at(centre) if fit else None,
        sideways=lies_sideways(quad, fit),
        confidence=0.0,
        by=FACE,
    )
    are_distances = all(face is not None and face.family is Family.DISTANCE for face in (card.face, card.upon))
    is_odd = are_distances and card.face is not card.upon
    if _is_sure(card) and card.face is not None and card.face not in templates.doubtful and not is_odd:
        return replace(seen, face=card.face, confidence=_confidence(card))
    likely = [(face, score) for at, (face, score) in enumerate(card.ranking) if at < MOST_LIKELY or face is card.upon]
    odds = {face: math.exp(NATS_PER_SCORE * score) for face, score in likely if face is not None}
    if card.upon in odds:
        odds[card.upon] *= SAME_AGAIN
    total = sum(odds.values())
    rivals = sorted(odds.items(), key=lambda rival: -rival[1])[:MOST_RIVALS]
    shares = ((face, RIVALS_CONFIDENCE * weight / total) for face, weight in rivals)
    return replace(seen, rivals=tuple((any_copy(face), round(share, 3)) for face, share in shares))


def _confidence(card: Named) -> float:
    """Return the confidence of a sure reading, which rises with its lead."""
    more = BY_SCORE * max(0.0, card.score - SURE_SCORE) + BY_MARGIN * max(0.0, card.margin - SURE_MARGIN)
    return min(MOST_CONFIDENCE, LEAST_CONFIDENCE + more)
