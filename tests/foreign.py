"""Draw things that are not ours: foreign codes, and objects on a table that may be mistaken for codes."""

from collections.abc import Callable

import cv2
import numpy as np
import qrcode
import zxingcpp

CODE_PX = 300


# --- Codes ----------------------------------------------------------------------------------------------------


def code(kind: str, text: str) -> np.ndarray:
    """Return a foreign code, `(CODE_PX, CODE_PX) uint8`.

    `kind` is `qr` (the smallest version) or `qr-0` … `qr-7` (version 1 with this mask). `chance` has three finder
    patterns and random modules. Other kinds are `tag-4x4` and the like, and format names of zxing-cpp.
    """
    if kind == "chance":
        return _square(_by_chance(int(text)))
    if kind.startswith("tag-"):
        return _square(_tag_of_others(kind, int(text)))
    if kind.startswith("qr"):
        return _square(_qr(kind, text))
    return _square(_barcode(kind, text))


def _by_chance(seed: int) -> np.ndarray:
    """Return modules that resemble a version 1 code without content."""
    modules = np.random.default_rng(seed).integers(0, 2, (21, 21)).astype(bool)
    finder = np.zeros((8, 8), bool)
    finder[:7, :7] = True
    finder[1:6, 1:6] = False
    finder[2:5, 2:5] = True
    modules[:8, :8], modules[:8, 13:], modules[13:, :8] = finder, finder[:, ::-1], finder[::-1]
    return np.where(np.pad(modules, 2), 0, 255).astype(np.uint8)


def _tag_of_others(kind: str, number: int) -> np.ndarray:
    names = {"tag-4x4": cv2.aruco.DICT_4X4_250, "tag-6x6": cv2.aruco.DICT_6X6_250,
             "tag-april": cv2.aruco.DICT_APRILTAG_36H11}  # fmt: skip
    dictionary = cv2.aruco.getPredefinedDictionary(names[kind])
    return np.pad(cv2.aruco.generateImageMarker(dictionary, number, dictionary.markerSize + 2), 1, constant_values=255)


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
    """Return the image enlarged without blur, padded with white to a square."""
    side = max(image.shape)
    top, left = (side - image.shape[0]) // 2, (side - image.shape[1]) // 2
    image = cv2.copyMakeBorder(
        image, top, side - image.shape[0] - top, left, side - image.shape[1] - left, cv2.BORDER_CONSTANT, value=255
    )
    return cv2.resize(image, (CODE_PX, CODE_PX), interpolation=cv2.INTER_NEAREST_EXACT)


# --- Things ---------------------------------------------------------------------------------------------------


def thing(name: str) -> np.ndarray:
    """Return an object of `THINGS`, `(H, W, 3) uint8 BGR`; a number after the name (`page 2`) is its variant."""
    kind, _, which = name.partition(" ")
    return THINGS[kind](np.random.default_rng(int(which or 0)))


def _chessboard(rng: np.random.Generator) -> np.ndarray:
    y, x = np.mgrid[0:480, 0:480] // 60
    return np.where(((x + y) % 2)[..., None], (45, 60, 110), (190, 215, 235)).astype(np.uint8)


def _page(rng: np.random.Generator) -> np.ndarray:
    """Draw a book page: lines of words, a heading, some paragraph ends."""
    image = np.full((900, 640, 3), 236, np.uint8)
    _write(image, "CHAPTER " + str(int(rng.integers(1, 20))), (190, 70), 1.0, 2)
    for y in range(130, 860, 26):
        x = 50
        while x < 540 and rng.random() > 0.03:
            word = "".join(rng.choice(list("aeioumnrstlpdv"), int(rng.integers(2, 9))))
            _write(image, word, (x, y), 0.55, 1)
            x += 12 * len(word) + 14
    return image


def _newspaper(rng: np.random.Generator) -> np.ndarray:
    """Draw narrow columns of small print, and a halftone photograph."""
    image = np.full((800, 1000, 3), 222, np.uint8)
    _write(image, "THE EVENING POST", (120, 80), 2.0, 4)
    for left in range(30, 960, 160):
        for y in range(130, 780, 14):
            _write(image, "".join(rng.choice(list("abcdefgh nopqrst "), 17)), (left, y), 0.34, 1)
    y, x = np.mgrid[0:300, 0:300]
    dots = (np.sin(x / 2.2) + np.sin(y / 2.2)) > np.cos(x / 60 + y / 90)
    image[250:550, 350:650] = np.where(dots[..., None], 40, 220)
    return image


def _playing_card(rng: np.random.Generator) -> np.ndarray:
    """Draw a card of another game: two columns of pips, and the index in two corners."""
    image = np.full((528, 342, 3), 242, np.uint8)
    red = bool(rng.integers(2))
    ink = (40, 30, 190) if red else (35, 30, 30)
    for y in np.linspace(80, 448, int(rng.integers(2, 5))):
        for x in (110, 232):
            if red:
                cv2.fillPoly(image, [np.int32([(x, y - 38), (x + 28, y), (x, y + 38), (x - 28, y)])], ink)
            else:
                for dx, dy in ((-17, 6), (17, 6), (0, -20)):
                    cv2.circle(image, (int(x + dx), int(y + dy)), 18, ink, -1, cv2.LINE_AA)
                cv2.rectangle(image, (x - 5, int(y)), (x + 5, int(y + 36)), ink, -1)
    _write(image, str(int(rng.integers(2, 11))), (14, 54), 1.5, 4, ink)
    image[264:] = image[:264][::-1, ::-1]
    return image


def _card_back(rng: np.random.Generator) -> np.ndarray:
    """Draw a card back of small nested squares."""
    image = np.full((528, 342, 3), 235, np.uint8)
    size = int(rng.choice((14, 21, 28, 38)))
    for top in range(24, 500 - size, int(size * 1.5)):
        for left in range(22, 318 - size, int(size * 1.5)):
            _nested(image, (left, top), size, (110, 40, 30))
    return image


def _nested(image: np.ndarray, corner: tuple[int, int], size: int, ink: tuple[int, int, int]) -> None:
    """Draw a square in a ring, with the proportions of a finder pattern."""
    for share, colour in ((0, ink), (1 / 7, (235, 235, 235)), (2 / 7, ink)):
        inset = round(size * share)
        low = (corner[0] + inset, corner[1] + inset)
        cv2.rectangle(image, low, (corner[0] + size - 1 - inset, corner[1] + size - 1 - inset), colour, -1)


def _rug(rng: np.random.Generator) -> np.ndarray:
    """Draw a carpet of near-codes: three nested squares at right angles around a busy pattern."""
    image = np.full((840, 840, 3), 225, np.uint8)
    for top in range(20, 800, 160):
        for left in range(20, 800, 160):
            grid = np.kron(rng.integers(0, 2, (18, 18)), np.ones((7, 7))) > 0
            image[top : top + 126, left : left + 126][grid] = (50, 40, 90)
            for dx, dy in ((0, 0), (84, 0), (0, 84)):
                cv2.rectangle(image, (left + dx - 7, top + dy - 7), (left + dx + 49, top + dy + 49), (225,) * 3, -1)
                _nested(image, (left + dx, top + dy), 42, (60, 30, 80))
    return image


def _crossword(rng: np.random.Generator) -> np.ndarray:
    """Draw black and white squares, some with letters."""
    cells = int(rng.choice((13, 15, 21)))
    image = np.full((cells * 36, cells * 36, 3), 240, np.uint8)
    for y in range(cells):
        for x in range(cells):
            left, top = x * 36, y * 36
            if rng.random() < 0.25:
                cv2.rectangle(image, (left, top), (left + 35, top + 35), (25, 25, 25), -1)
            elif rng.random() < 0.5:
                _write(image, chr(65 + int(rng.integers(26))), (left + 9, top + 27), 0.8, 2)
            cv2.rectangle(image, (left, top), (left + 35, top + 35), (25, 25, 25), 1)
    return image


def _keyboard(rng: np.random.Generator) -> np.ndarray:
    image = np.full((300, 860, 3), (48, 46, 45), np.uint8)
    for row, keys in enumerate(("1234567890-=", "QWERTYUIOP[]", "ASDFGHJKL;'#", "ZXCVBNM,./<>")):
        for at, key in enumerate(keys):
            left, top = 20 + at * 66 + row * 14, 16 + row * 70
            cv2.rectangle(image, (left, top), (left + 56, top + 58), (30, 28, 28), -1)
            cv2.rectangle(image, (left + 4, top + 2), (left + 52, top + 48), (62, 60, 60), -1)
            _write(image, key, (left + 18, top + 34), 0.8, 2, (225, 225, 225))
    return image


def _screen(rng: np.random.Generator) -> np.ndarray:
    """Draw a phone or monitor: a bar, rows of icons, a table of numbers, a foreign code."""
    image = np.full((700, 420, 3), (250, 246, 240), np.uint8)
    cv2.rectangle(image, (0, 0), (420, 60), (150, 80, 30), -1)
    for at in range(16):
        left, top = 24 + at % 4 * 98, 84 + at // 4 * 92
        colour = tuple(int(v) for v in rng.integers(30, 230, 3))
        cv2.rectangle(image, (left, top), (left + 66, top + 66), colour, -1)
        cv2.rectangle(image, (left + 16, top + 16), (left + 50, top + 50), (250, 250, 250), 7)
    made = cv2.resize(code("qr", f"https://example.com/t/{int(rng.integers(1e6))}"), (190, 190))
    image[480:670, 20:210] = made[..., None]
    for y in range(500, 670, 26):
        _write(image, f"{rng.integers(1e5):6d} {rng.integers(1e4):5d}", (224, y), 0.55, 1)
    return image


def _packaging(rng: np.random.Generator) -> np.ndarray:
    """Draw a box: a large name, rings, small print, a bar code."""
    ground = tuple(int(v) for v in rng.integers(20, 220, 3))
    image = np.full((640, 480, 3), ground, np.uint8)
    for radius in (110, 84, 56, 30):
        cv2.circle(image, (240, 190), radius, tuple(int(v) for v in rng.integers(0, 255, 3)), -1, cv2.LINE_AA)
    _write(image, "CRUNCHY", (60, 370), 2.2, 8, (255, 255, 255))
    cv2.rectangle(image, (30, 410), (230, 620), (240, 240, 240), -1)
    for y in range(430, 620, 16):
        _write(image, "energy 1520 kJ  fat 3 g", (38, y), 0.38, 1)
    bars = cv2.resize(code("EAN13", "4006381333931"), (200, 200), interpolation=cv2.INTER_AREA)
    image[420:620, 260:460] = bars[..., None]
    return image


def _flag(rng: np.random.Generator) -> np.ndarray:
    side = int(rng.choice((6, 8, 11)))
    y, x = np.mgrid[0:480, 0:480] // side
    return np.where(((x + y) % 2)[..., None], 30, 235).astype(np.uint8).repeat(3, 2)


def _dominoes(rng: np.random.Generator) -> np.ndarray:
    image = np.full((480, 480, 3), (70, 120, 60), np.uint8)
    for at in range(9):
        left, top = 20 + at % 3 * 155, 20 + at // 3 * 155
        cv2.rectangle(image, (left, top), (left + 130, top + 130), (232, 238, 240), -1)
        for _ in range(int(rng.integers(1, 7))):
            middle = (left + 25 + 40 * int(rng.integers(3)), top + 25 + 40 * int(rng.integers(3)))
            cv2.circle(image, middle, 13, (30, 25, 25), -1, cv2.LINE_AA)
    return image


def _write(
    image: np.ndarray, text: str, at: tuple[int, int], scale: float, thick: int, ink: tuple[int, ...] = (40, 38, 38)
) -> None:
    cv2.putText(image, text, at, cv2.FONT_HERSHEY_SIMPLEX, scale, ink, thick, cv2.LINE_AA)


THINGS: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "chessboard": _chessboard, "page": _page, "newspaper": _newspaper, "playing-card": _playing_card,
    "card-back": _card_back, "rug": _rug, "crossword": _crossword, "keyboard": _keyboard, "screen": _screen,
    "packaging": _packaging, "flag": _flag, "dominoes": _dominoes,
}  # fmt: skip
SIZES_MM = {
    "chessboard": (360, 360), "page": (120, 169), "newspaper": (280, 224), "playing-card": (57, 88),
    "card-back": (57, 88), "rug": (200, 200), "crossword": (110, 110), "keyboard": (430, 150), "screen": (72, 120),
    "packaging": (150, 200), "flag": (160, 160), "dominoes": (120, 120),
}  # fmt: skip
"""Width and height of each object."""

CODES = (
    ("qr", "https://example.org/rules?page=12"), ("qr", "WIFI:T:WPA;S:home;P:secret;;"), ("qr-0", "HELLO"),
    ("qr-1", "MB1:FOO-01"), ("qr-2", "MB2:ROLL-03"), ("qr-3", "mb1:roll-03"), ("qr-4", "PIECE 12"),
    ("qr-5", "MB1:HACK-01"), ("qr-6", "MB1:ROLL-3"), ("qr-7", "TOKEN-0007"), ("chance", "1"), ("chance", "2"),
    ("chance", "3"), ("MicroQRCode", "A123"), ("RMQRCode", "hello"), ("DataMatrix", "MB1:ROLL-03"),
    ("Aztec", "ticket 5"), ("EAN13", "4006381333931"), ("Code128", "X-100-200"), ("PDF417", "boarding"),
    ("tag-4x4", "7"), ("tag-6x6", "11"), ("tag-april", "40"),
)  # fmt: skip
"""Codes of the web, other games and parcels; near misses of ours; and random modules."""
