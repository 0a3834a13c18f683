"""Hostile texts in codes: `PYTHONPATH=tests:. python tests/trust/fuzz_codes.py --times 10000 --pictures 100`.

What other people's codes say, ours with a sign changed, other forms and copies that nobody prints, signs of other
scripts, terminal escapes, bytes: none becomes a card that it is not. Some of them are drawn as real codes beside mats
and stickers of ours, and read by `companion read`: every code that is not ours is no card, every card of ours is
itself or unknown, and no text of a code is ever shown.
"""

import json
import random
import string
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import cv2
from pictures import Lens, Mat, Scene, Sticker, picture, through
from trust.fuzzing import WORDS, Findings, arguments, faults_of, run_command

from companion.tabletop.card_ids import card_id_of, face_of, payload
from companion.tabletop.mat_layout import side_mat
from companion.tabletop.sticker_codes import CARDS, card_of_text

OURS = {payload(card): card for card in CARDS}
"""What each sticker says that is ever printed, and whose it is: the truth."""

OF_OTHERS = (
    "https://example.org/MB1:ROLL-03", "WIFI:T:WPA;S:home;P:MB1:ROLL-03;;", "BEGIN:VCARD\nFN:Roll\nEND:VCARD",
    "mailto:roll-03@example.org", "00020101021226", "MATMSG:TO:a;SUB:b;BODY:c;;", "HTTPS://AAA.EU/1", "4006381333931",
    "otpauth://totp/x?secret=MB1", "javascript:alert(1)", "\x1b]8;;http://x\x07MB1:ROLL-03\x1b]8;;\x07",
)  # fmt: skip
LOOKALIKES = (
    ("O", "0"), ("0", "O"), ("L", "1"), ("-", "‐"), ("-", "–"), ("-", "_"), ("1", "I"), ("1", "１"), ("0", "٠"),
    ("3", "３"), ("R", "Я"), ("O", "О"), ("B", "В"), ("M", "М"), (":", "："), ("M", "m"), ("L", "ʟ"),
)  # fmt: skip
FORMS = (
    "mb1:{}", "MB2:{}", "MB:{}", "MB01:{}", "MB1{}", "MB1: {}", "MB1:{} ", " MB1:{}", "MB1:{}\n", "MB1:{}\r",
    "MB1:{}\x00", "\ufeffMB1:{}", "MB1:{}-01", "MB1:{}MB1:{}", "MB1:X{}", "MB1;{}", "MB1::{}", "MB1:{}\u200b",
    "MB1:\u202e{}",
)  # fmt: skip

PER_PICTURE = 12
STEP_MM = 62.0
ROOM_MM = 16.0
MOST_DRAWN = 60
LEAST_SHOWN = 11
"""A shorter text may be a word of ours, such as `null` or `side`."""


def main() -> int:
    options = arguments(__doc__, "times", 2000, pictures=10, width=0)
    findings = Findings("codes")
    run(findings, options.times, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        run_pictures(findings, options.pictures, options.seed, Path(folder), options.width)
    return findings.close()


# --- Texts ----------------------------------------------------------------------------------------------------


def run(findings: Findings, times: int, seed: int) -> None:
    """So many texts: each means the card that its sticker was printed for, and every other text means none."""
    for number in range(times):
        text = hostile_text(random.Random(f"{seed}:{number}"))
        with findings.trying("texts", text, within_s=5):
            if card_of_text(text) != OURS.get(text):
                findings.found(f"is read as {card_of_text(text)}", text)
            named = card_id_of(text)
            if named is not None and payload(named) != text:
                findings.found(f"names {named}", text)
            if named is not None:
                face_of(named)


def hostile_text(chance: random.Random) -> str:
    """A text that a code on somebody's table may say."""
    return chance.choice(_WAYS)(chance)


def _near_miss(chance: random.Random) -> str:
    """One of ours with one sign taken out, put in, or in another's place."""
    text = chance.choice(tuple(OURS))
    at = chance.randrange(len(text))
    sign = chance.choice(string.ascii_letters + string.digits + "-:_ \n\x00\x1béЖ０")
    return chance.choice((text[:at] + text[at + 1 :], text[:at] + sign + text[at:], text[:at] + sign + text[at + 1 :]))


def _other_copy(chance: random.Random) -> str:
    """A face of ours with a number that no sticker has, or a face that there is not."""
    face = chance.choice((chance.choice(CARDS).rpartition("-")[0], "unknown", "back", "roll-roll", "0", "", "table"))
    return f"MB1:{face.upper()}-{chance.choice((0, 17, 33, 77, 99, chance.randrange(100))):02d}"


def _noise(chance: random.Random) -> str:
    signs = ((chance.randrange(32), chance.randrange(256), chance.randrange(0x11000)) for _ in iter(int, 1))
    return "".join(chr(chance.choice(next(signs))) for _ in range(chance.choice((1, 3, 11, 20, 200, 3000))))


_WAYS: tuple[Callable[[random.Random], str], ...] = (
    _near_miss, _near_miss, _near_miss, _other_copy, _other_copy, _noise,
    lambda chance: chance.choice((*OF_OTHERS, *WORDS)),
    lambda chance: chance.choice(FORMS).replace("{}", chance.choice(CARDS).upper()),
    lambda chance: chance.choice(tuple(OURS)).replace(*chance.choice(LOOKALIKES)),
    lambda chance: chance.randbytes(chance.randint(0, 60)).decode("utf-8", "replace"),
    lambda chance: chance.choice(tuple(OURS)),
)  # fmt: skip


# --- Pictures -------------------------------------------------------------------------------------------------


def run_pictures(findings: Findings, pictures: int, seed: int, folder: Path, width_mm: float = 0) -> None:
    """So many pictures of a table on which ours and others' codes lie, `width_mm` of it across the picture.

    From further away than usual no general reader can read the codes, and ours must tell alone.
    """
    wrong = right = foreign = 0
    for number in range(pictures):
        chance = random.Random(f"{seed}:picture {number}")
        scene, lens = table_of(chance)
        lens = replace(lens, width_mm=width_mm) if width_mm else lens
        path = folder / "table.png"
        cv2.imwrite(str(path), picture(scene, lens, seed=number))
        with findings.trying("pictures", f"picture {number} of seed {seed}", within_s=120):
            ran = run_command("read", str(path), "--json", "--data", str(folder))
            for fault in faults_of(ran):
                findings.found(fault, f"picture {number} of seed {seed}")
            for shown in faults_of_cards(json.loads(ran.out), scene, lens):
                findings.found(f"wrong card: {shown}", f"picture {number} of seed {seed}")
                wrong += 1
            said = ran.out + ran.err
            for sticker in scene.stickers:
                if sticker.text not in OURS and len(sticker.text) >= LEAST_SHOWN and sticker.text in said:
                    findings.found("shows what a code says", sticker.text)
        right += sum(card["card"] is not None for card in json.loads(ran.out)["cards"])
        foreign += sum(sticker.text not in OURS for sticker in scene.stickers)
    findings.figures |= {"codes of others drawn": foreign, "cards read": right, "wrong cards": wrong}


def table_of(chance: random.Random) -> tuple[Scene, Lens]:
    """A table with one mat, and codes of ours and of others round it."""
    texts: list[str] = []
    while len(texts) < PER_PICTURE:
        text = hostile_text(chance)
        if can_be_drawn(text) and text not in texts:
            texts.append(text)
    places = [((column - 2.5) * STEP_MM + 30, row * STEP_MM + 20) for row in (0, 1) for column in range(6)]
    stickers = tuple(
        Sticker(text, x, y, chance.uniform(0, 360), size_of(text, chance))
        for text, (x, y) in zip(texts, places, strict=True)
    )
    lens = Lens(
        width_mm=chance.choice((520.0, 600.0)), tilt_deg=chance.uniform(0, 15), blur_px=chance.choice((0.4, 0.8))
    )
    return Scene((Mat(side_mat(1), -240, -190, 0.0),), stickers), lens


def can_be_drawn(text: str) -> bool:
    """Whether a code can say a text."""
    return 0 < len(text) <= MOST_DRAWN and not any("\ud800" <= sign <= "\udfff" for sign in text)


def size_of(text: str, chance: random.Random) -> float:
    """A code of more modules is larger, so that every reader can read it."""
    return chance.choice((20.0, 28.0)) if len(text) < 18 else 44.0


def faults_of_cards(found: dict, scene: Scene, lens: Lens) -> Iterator[str]:
    """Every card that was read and does not lie there."""
    to_px = lens.matrix()
    middles = through(to_px, [(sticker.x_mm, sticker.y_mm) for sticker in scene.stickers])
    near_px = ROOM_MM * lens.size_px[0] / lens.width_mm
    for card in found["cards"]:
        if card["card"] is None:
            continue
        x, y = card["centre_px"]
        apart = [((mx - x) ** 2 + (my - y) ** 2) ** 0.5 for mx, my in middles]
        at = apart.index(min(apart))
        if apart[at] > near_px:
            yield f"{card['card']} where nothing lies"
        elif OURS.get(scene.stickers[at].text) != card["card"]:
            yield f"{card['card']} ({card['confidence']}) for a code that says {scene.stickers[at].text!r}"


if __name__ == "__main__":
    sys.exit(main())
