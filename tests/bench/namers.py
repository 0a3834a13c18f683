"""The compared ways to name a card by its face. Each gets the pictures of a deck, then cut-out cards.

Every way returns its best face, a score and the lead over the next face. A `Rule` decides from when on an answer is
sure. It was set on other pictures, so that two of a thousand answers are wrong. Ours has its own rule.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import cv2
import decks
import numpy as np

from companion.rules.cards import Card
from companion.vision.faces import face_detector as reading
from companion.vision.faces.face_templates import FINE_PX_PER_MM, lab, templates_of
from companion.vision.faces.matching import Closely
from companion.vision.faces.pose_search import COARSE_PX_PER_MM, poses

PX_PER_MM = 4.0
MARGIN_MM = 8.0  # cut out around a card, because corners are never exact


@dataclass(frozen=True, eq=False)
class Crop:
    """A card from straight above, or something that was taken for one."""

    image: np.ndarray
    """`(H, W, 3) uint8 BGR`, `PX_PER_MM`, `MARGIN_MM` wider than the card on every side; maybe upside down."""

    size_mm: tuple[float, float]
    seen: np.ndarray | None = None
    """`(H, W) float32`, 0 where another card is known to lie on it; None: nothing lies on it."""

    @cached_property
    def card(self) -> np.ndarray:
        """The card without margin; covered parts have the mean color of the rest."""
        rim = round(MARGIN_MM * PX_PER_MM)
        card = self.image[rim:-rim, rim:-rim].copy()
        if self.seen is not None:
            bare = self.seen[rim:-rim, rim:-rim] > 0.5
            card[~bare] = card[bare].mean(0) if bare.any() else 128
        return card


@dataclass(frozen=True, slots=True)
class Answer:
    """A guess. `face` may be `decks.BACK`; None: nothing at all."""

    face: str | None
    score: float = 0.0
    lead: float = 0.0
    sure: bool | None = None  # the decision of the way itself; None: a `Rule` decides
    offered: tuple[str, ...] = ()  # if not sure: the two faces offered first


Pictures = Mapping[str, np.ndarray]  # the faces of a deck and its back by their slugs, `(H, W, 3) uint8 BGR`
Namer = Callable[[Crop], Answer]


@dataclass(frozen=True, slots=True)
class Rule:
    """Sure above a minimum score and lead; a back is never a face."""

    score: float = 0.0
    lead: float = 0.0

    def accepts(self, answer: Answer) -> bool:
        if answer.face in (None, decks.BACK):
            return False
        return answer.sure if answer.sure is not None else answer.score >= self.score and answer.lead >= self.lead


@dataclass(frozen=True, slots=True)
class Way:
    """A name, and the function that makes a namer for a deck."""

    name: str
    made: Callable[[Pictures, tuple[float, float]], Namer]
    rule: Rule = Rule()


# --- Ours -----------------------------------------------------------------------------------------------------


def ours(pictures: Pictures, size_mm: tuple[float, float], asks: bool = True) -> Namer:
    """What the eye does with a place where it expects one card, roughly upright."""
    faces = [(None if slug == decks.BACK else Card(slug), image) for slug, image in pictures.items()]
    templates = templates_of(faces, size_mm)

    def named(crop: Crop) -> Answer:
        fine = lab(_scaled(crop.image, FINE_PX_PER_MM))
        coarse = cv2.resize(fine, _size(crop.image, COARSE_PX_PER_MM), interpolation=cv2.INTER_AREA)
        shown = [
            None if crop.seen is None else _scaled(crop.seen, scale) for scale in (COARSE_PX_PER_MM, FINE_PX_PER_MM)
        ]
        closely = Closely(fine, templates)
        pose = next(iter(poses(coarse, templates.turned, shown[0], [0.0])), None)
        best = closely.named(pose, shown[1]) if pose else None
        if best is None:
            return Answer(None, sure=False)
        if asks and reading._is_doubtful(best):
            best = closely.seconded(best, shown[1])
        is_there = reading._is_there(best)
        offered = tuple(map(_slug, (face for face, _ in best.ranking[:2]))) if is_there else ()
        return Answer(_slug(best.face), best.score, best.margin, is_there and reading._is_sure(best), offered)

    return named


def _slug(face: Card | None) -> str:
    return decks.BACK if face is None else face.value


def _scaled(image: np.ndarray, px_per_mm: float) -> np.ndarray:
    return cv2.resize(image, _size(image, px_per_mm), interpolation=cv2.INTER_AREA)


def _size(image: np.ndarray, px_per_mm: float) -> tuple[int, int]:
    return tuple(round(side / PX_PER_MM * px_per_mm) for side in image.shape[1::-1])


# --- The other ------------------------------------------------------------------------------------------------

_SMALL = (32, 46)


def colour(pictures: Pictures, size_mm: tuple[float, float]) -> Namer:
    """Correlate small Lab pictures without the mean of each channel, shifted by up to one pixel."""
    both_ways = [*pictures.values(), *(image[::-1, ::-1] for image in pictures.values())]
    rows = np.array([_row(_even(_small(image))) for image in both_ways])

    def named(crop: Crop) -> Answer:
        wide = cv2.resize(crop.card, (_SMALL[0] + 2, _SMALL[1] + 2), interpolation=cv2.INTER_AREA)
        shifted = [wide[y : y + _SMALL[1], x : x + _SMALL[0]] for y in range(3) for x in range(3)]
        crops = np.array([_row(_even(part)) for part in [_small(crop.card), *shifted]])
        return _best(pictures, (rows @ crops.T).max(1))

    return named


def _best(pictures: Pictures, scores: np.ndarray) -> Answer:
    """Return the best face and its lead. Scores are of one orientation, or of both one after the other."""
    each = scores.reshape(-1, len(pictures)).max(0)
    order = np.argsort(-each)
    return Answer(list(pictures)[order[0]], float(each[order[0]]), float(each[order[0]] - each[order[1]]))


def _small(image: np.ndarray) -> np.ndarray:
    return cv2.resize(image, _SMALL, interpolation=cv2.INTER_AREA)


def _even(image: np.ndarray) -> np.ndarray:
    in_lab = lab(image)
    return in_lab - in_lab.mean((0, 1))


def _row(image: np.ndarray) -> np.ndarray:
    flat = image.astype(np.float32).ravel()
    flat = flat - flat.mean()
    return flat / max(float(np.linalg.norm(flat)), 1e-3)


WAYS = (
    Way("ours", ours),
    Way("without the second opinion", partial(ours, asks=False)),
    Way("color correlation", colour, Rule(0.487, 0.0594)),
)
