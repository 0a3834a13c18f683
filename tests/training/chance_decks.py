"""Decks drawn by chance, to train with: every one of another style, with the difficulties of real ones.

Those of `decks` are not among them: they are what a trained reader is judged by.
"""

from dataclasses import dataclass, replace

import cv2
import numpy as np
from decks import LIGHTS, LIMITS, limit_sign, octaves

from companion.printing import render
from companion.printing import svg as draw
from companion.printing.pictograms import drawing
from companion.printing.printed_words import card_word
from companion.rules.cards import Card, Family
from companion.rules.editions.edition import load_edition

PX_PER_MM = 3.0
WIDTH_MM, HEIGHT_MM = 57.0, 88.0
SIZE_PX = (round(WIDTH_MM * PX_PER_MM), round(HEIGHT_MM * PX_PER_MM))
FACES = tuple(load_edition("classic").deck)
_GROUNDS = ("white", "tint", "family", "dark", "fade", "painting", "rays", "street")
_HERSHEY = (cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_COMPLEX, cv2.FONT_HERSHEY_TRIPLEX,
            cv2.FONT_HERSHEY_SCRIPT_COMPLEX)  # fmt: skip
_LANGUAGES = ("en", "fr", "pl", "de", "es", "nl", "it")


@dataclass(frozen=True)
class Style:
    """What the faces of a deck have in common."""

    seed: int
    ground: str
    colours: dict[Family, tuple[int, int, int]]  # RGB
    contrast: float  # of the print against its ground: 1 as drawn, 0 none
    shares_drawing: bool  # distances differ in their figure alone
    shares_light: bool  # stop and roll differ by a lamp
    shares_limit: bool  # a limit and its end differ by a stroke
    picture: str  # `sign`, `doodle` or `both`
    picture_at: tuple[float, float, float]  # middle in mm, scale
    tilted: float  # degrees
    figure: tuple[float, float, float]  # of distances: x, y, height in mm
    weight: int
    lettering: int | None  # one of OpenCV's Hershey fonts; None: that of our own deck
    title: tuple[float, float] | None  # y, height in mm
    language: str | None  # None: a word of letters by chance
    corner: tuple[float, float, float] | None  # x, y, height in mm
    frame: tuple[float, float] | None  # inset, line in mm
    outlined: bool
    worn: float


def faces(seed: int) -> list[np.ndarray]:
    """The classic faces of one deck in the order of `FACES`, each `(H, W, 3) uint8 BGR` of `SIZE_PX`."""
    style = _style(seed)
    return [_face(style, card) for card in FACES]


def _style(seed: int) -> Style:
    rng = np.random.default_rng((seed, 4711))
    ground = str(rng.choice(_GROUNDS, p=(0.22, 0.14, 0.12, 0.12, 0.1, 0.12, 0.08, 0.1)))
    one = _colour(rng, ground)
    colours = {family: one if rng.random() < 0.15 else _colour(rng, ground) for family in Family}
    scale = rng.uniform(0.12, 0.3) if rng.random() < 0.25 else rng.uniform(0.3, 0.8)
    figure_mm = rng.uniform(66, 80) if rng.random() < 0.5 else rng.uniform(22, 50)
    title_mm = rng.uniform(70, 82) if rng.random() < 0.5 else rng.uniform(6, 14)
    return Style(
        seed=seed,
        ground=ground,
        colours=colours,
        contrast=float(rng.choice((1.0, rng.uniform(0.4, 1), rng.uniform(0.2, 0.45)), p=(0.55, 0.2, 0.25))),
        shares_drawing=bool(rng.random() < 0.75),
        shares_light=bool(rng.random() < 0.65),
        shares_limit=bool(rng.random() < 0.65),
        picture=str(rng.choice(("sign", "doodle", "both"), p=(0.55, 0.2, 0.25))),
        picture_at=(WIDTH_MM / 2 + rng.normal(0, 2), rng.uniform(28, 52), scale),
        tilted=float(rng.choice((0, 0, 6, 15))),
        figure=(WIDTH_MM / 2 + rng.normal(0, 3), figure_mm, rng.uniform(6, 32)),
        weight=int(rng.choice((600, 800))),
        lettering=int(rng.choice(_HERSHEY)) if rng.random() < 0.5 else None,
        title=(title_mm, rng.uniform(3, 9)) if rng.random() < 0.75 else None,
        language=str(rng.choice(_LANGUAGES)) if rng.random() < 0.75 else None,
        corner=(rng.uniform(5, 10), rng.uniform(5, 10), rng.uniform(3, 8)) if rng.random() < 0.5 else None,
        frame=(rng.uniform(2, 7), rng.uniform(0.3, 1.6)) if rng.random() < 0.5 else None,
        outlined=bool(rng.random() < 0.15),
        worn=float(rng.choice((0, 0, rng.uniform(2, 12)))),
    )  # fmt: skip


def _colour(rng: np.random.Generator, ground: str) -> tuple[int, int, int]:
    hue, rich, light = rng.uniform(0, 180), rng.uniform(60, 255), rng.uniform(40, 200)
    if rng.random() < 0.3:
        rich, light = rng.uniform(0, 40), rng.uniform(10, 90)
    if ground == "dark":
        light = rng.uniform(170, 255)
    rgb = cv2.cvtColor(np.uint8([[[hue, rich, light]]]), cv2.COLOR_HSV2RGB)[0, 0]
    return int(rgb[0]), int(rgb[1]), int(rgb[2])


def _hex(rgb: tuple[int, int, int]) -> str:
    return "#{:02X}{:02X}{:02X}".format(*rgb)


def _face(style: Style, card: Card) -> np.ndarray:
    distance = card.family is Family.DISTANCE
    shared = distance and style.shares_drawing
    drawn = _seeded(style, card.family.value if shared else card.value)
    ground = _ground(style, card, drawn)
    ink = style.colours[card.family]
    body = [*_frame(style, ink), *_picture(style, card, drawn, ink)]
    print_ = render.to_image(draw.document(WIDTH_MM, HEIGHT_MM, body), PX_PER_MM).astype(np.float32)
    print_ = cv2.resize(print_, SIZE_PX)
    for text in _words(style, card):
        print_ = _written(style, print_, text, ink)
    if style.outlined:
        edge = cv2.morphologyEx(print_, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8))
        print_ = 255 - edge
    # What is drawn covers its ground, whether it is darker or lighter.
    cover = np.clip((255 - print_.min(axis=2, keepdims=True)) / 40, 0, 1) * style.contrast
    tone = np.float32(ink[::-1]) if style.outlined or style.ground == "dark" else print_
    image = ground * (1 - cover) + tone * cover
    if style.worn:
        image = image + octaves(_seeded(style, card.value, "worn"), SIZE_PX, 4, 8, 1.0) * style.worn
    return np.clip(image, 0, 255).astype(np.uint8)


def _seeded(style: Style, *words: str) -> np.random.Generator:
    return np.random.default_rng([style.seed, *(sum(word.encode()) + 7 * len(word) for word in words)])


def _ground(style: Style, card: Card, rng: np.random.Generator) -> np.ndarray:
    colour = np.float32(style.colours[card.family][::-1])
    common = np.random.default_rng((style.seed, 3))
    paper = np.float32(common.uniform(225, 255, 3))
    plain = np.ones((SIZE_PX[1], SIZE_PX[0], 3), np.float32)
    down = np.linspace(0, 1, SIZE_PX[1], dtype=np.float32)[:, None, None]
    match style.ground:
        case "tint":
            return plain * (0.75 * paper + 0.25 * colour)
        case "family":
            return plain * (0.25 * paper + 0.75 * colour * 0.9 + 20)
        case "dark":
            return plain * np.float32(common.uniform(5, 50, 3))
        case "fade":
            return plain * paper * (1 - down) + plain * (0.5 * paper + 0.5 * colour) * down
        case "painting":
            field = 0.3 * octaves(rng, SIZE_PX, 1, 7, 0.75) + octaves(rng, SIZE_PX, 1, 7, 0.75).mean(2, keepdims=True)
            image = (0.5 * colour + 0.5 * rng.uniform(40, 220, 3).astype(np.float32)) + 30 * field
            return np.asarray(cv2.medianBlur(np.clip(image, 0, 255).astype(np.uint8), 3), np.float32)
        case "rays":
            return _rays(paper, 0.6 * paper + 0.4 * colour, rng)
        case "street":
            return _street(paper, rng)
    return plain * paper


def _rays(one: np.ndarray, other: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    y, x = np.mgrid[0 : SIZE_PX[1], 0 : SIZE_PX[0]].astype(np.float32)
    angle = np.arctan2(y - SIZE_PX[1] * rng.uniform(0.3, 0.6), x - SIZE_PX[0] / 2)
    stripe = (np.sin(angle * rng.integers(5, 16) + rng.uniform(0, 6)) > 0)[..., None]
    return np.where(stripe, one, other).astype(np.float32)


def _street(paper: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rectangles, triangles and discs of many colours, from the far to the near."""
    image = np.ones((SIZE_PX[1], SIZE_PX[0], 3), np.uint8)
    image[:] = np.uint8(paper * rng.uniform(0.6, 1, 3))
    for _ in range(int(rng.integers(15, 70))):
        colour = tuple(int(level) for level in rng.integers(20, 250, 3))
        x, y = int(rng.integers(0, SIZE_PX[0])), int(rng.integers(0, SIZE_PX[1]))
        wide, high = (int(rng.integers(4, 45)) for _ in range(2))
        match rng.integers(3):
            case 0:
                cv2.rectangle(image, (x, y), (x + wide, y + high), colour, -1)
            case 1:
                cv2.circle(image, (x, y), wide // 2, colour, -1, cv2.LINE_AA)
            case _:
                points = np.int32([(x, y), (x + wide, y), (x + wide // 2, y - high)])
                cv2.fillPoly(image, [points], colour, cv2.LINE_AA)
    return image.astype(np.float32)


def _frame(style: Style, ink: tuple[int, int, int]) -> list[str]:
    if style.frame is None:
        return []
    inset, line = style.frame
    look = draw.paint("none", _hex(ink), line)
    return [draw.rect(inset, inset, WIDTH_MM - 2 * inset, HEIGHT_MM - 2 * inset, look, radius=2)]


def _picture(style: Style, card: Card, rng: np.random.Generator, ink: tuple[int, int, int]) -> list[str]:
    x, y, scale = style.picture_at
    turn = rng.uniform(-style.tilted, style.tilted) if style.tilted else 0.0
    colour, ground = _hex(ink), "#FFFFFF" if style.ground != "dark" else "#FEFEFE"
    body = _doodle(rng) if style.picture != "sign" else []
    if card in LIGHTS and style.shares_light:
        return [*body, draw.group(_lamps(card), x=x, y=y, scale=scale)]
    if card in LIMITS and style.shares_limit:
        return [*body, limit_sign(card, ring=colour, paper="#FEFEFE", ink="#202020", x=x, y=y, scale=scale)]
    if style.picture != "doodle" and card.family is not Family.DISTANCE:
        sign = draw.group(drawing(card, colour, ground), x=x, y=y, scale=scale, turn=turn)
        return [*body, sign.replace(draw.YELLOW, ground)]
    return body or _doodle(rng)


def _doodle(rng: np.random.Generator) -> list[str]:
    shapes = []
    for _ in range(int(rng.integers(2, 9))):
        colour = _hex(tuple(int(level) for level in rng.integers(0, 235, 3)))
        x, y, size = rng.uniform(6, 51), rng.uniform(12, 76), rng.uniform(2, 14)
        match rng.integers(4):
            case 0:
                shapes.append(draw.circle(x, y, size / 1.5, draw.paint(colour)))
            case 1:
                shapes.append(
                    draw.rect(x - size / 2, y - size / 2, size, size * rng.uniform(0.3, 2), draw.paint(colour))
                )
            case 2:
                points = [(x + a, y + b) for a, b in rng.normal(0, size / 1.5, (int(rng.integers(3, 7)), 2))]
                shapes.append(draw.polygon(points, draw.paint(colour)))
            case _:
                a, b = rng.normal(0, size, 2)
                shapes.append(draw.line(x - a, y - b, x + a, y + b, draw.paint("none", colour, rng.uniform(0.4, 2))))
    return shapes


def _lamps(card: Card) -> list[str]:
    red, green = ("#D22B1F", "#3A3A3A") if card is Card.STOP else ("#3A3A3A", "#1E9B4B")
    box = draw.rect(-15, -34, 30, 62, draw.paint("#202020"), radius=6)
    return [box, draw.circle(0, -17, 11, draw.paint(red)), draw.circle(0, 11, 11, draw.paint(green))]


@dataclass(frozen=True)
class Text:
    """Words on a card, their middle and height in mm."""

    words: str
    x_mm: float
    y_mm: float
    size_mm: float
    upside_down: bool = False


def _words(style: Style, card: Card) -> list[Text]:
    distance = card.family is Family.DISTANCE
    words = []
    if distance:
        words.append(Text(card.value, *style.figure))
    elif style.title is not None:
        words.append(Text(_word(style, card), WIDTH_MM / 2, *style.title))
    if style.corner is not None:
        mark = Text(card.value if distance else _word(style, card)[:1], *style.corner)
        words += [mark, replace(mark, upside_down=True)]
    return words


def _written(style: Style, image: np.ndarray, text: Text, ink: tuple[int, int, int]) -> np.ndarray:
    """The words upon what is printed; a Hershey font is drawn four times as large, and reduced."""
    room_mm = 2 * min(text.x_mm, WIDTH_MM - text.x_mm) - 1
    if style.lettering is None:
        body = draw.fitted(text.words, text.x_mm, text.y_mm, text.size_mm, room_mm, weight=style.weight, fill="#000")
        black = cv2.resize(render.to_image(draw.document(WIDTH_MM, HEIGHT_MM, [body]), PX_PER_MM), SIZE_PX)
    else:
        thick = 6 if style.weight > 600 else 3
        (wide, high), _ = cv2.getTextSize(text.words, style.lettering, 2.0, thick)
        large = np.full((high + 24, wide + 24), 255, np.uint8)
        cv2.putText(large, text.words, (12, high + 12), style.lettering, 2.0, 0, thick, cv2.LINE_AA)
        scale = min(text.size_mm * PX_PER_MM / large.shape[0], room_mm * PX_PER_MM / large.shape[1])
        onto = np.float32([(scale, 0, text.x_mm * PX_PER_MM - scale * large.shape[1] / 2),
                           (0, scale, text.y_mm * PX_PER_MM - scale * large.shape[0] / 2)])  # fmt: skip
        soft = cv2.GaussianBlur(large, (0, 0), max(0.3, 0.4 / scale))
        black = cv2.warpAffine(soft, onto, SIZE_PX, flags=cv2.INTER_LINEAR, borderValue=255)
        black = cv2.cvtColor(black, cv2.COLOR_GRAY2BGR)
    cover = 1 - black.astype(np.float32) / 255
    cover = cover[::-1, ::-1] if text.upside_down else cover
    return image * (1 - cover) + np.float32(ink[::-1]) * cover


def _word(style: Style, card: Card) -> str:
    if style.language is not None:
        return card_word(card, style.language).upper()
    rng = _seeded(style, card.value, "word")
    return "".join(rng.choice(list("ABCDEFGHIJKLMNOPRSTUVWYZ"), int(rng.integers(3, 11))))
