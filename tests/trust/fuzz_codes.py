"""Hostile texts in codes: `PYTHONPATH=tests:. python tests/trust/fuzz_codes.py --times 10000`.

What other people's codes say, ours with a sign changed, other forms and copies that nobody prints, signs of other
scripts, terminal escapes, bytes: none becomes a card that it is not.
"""

import random
import string
import sys
from collections.abc import Callable

from trust.fuzzing import WORDS, Findings, arguments

from companion.tabletop.card_ids import card_id_of, face_of, payload
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


def main() -> int:
    options = arguments(__doc__, "times", 2000)
    findings = Findings("codes")
    run(findings, options.times, options.seed)
    return findings.close()


def run(findings: Findings, times: int, seed: int) -> None:
    """So many texts: each means the card that its sticker was printed for, and every other text means none."""
    for number in range(times):
        chance = random.Random(f"{seed}:{number}")
        text = chance.choice(_WAYS)(chance)
        with findings.trying("texts", text, within_s=5):
            if card_of_text(text) != OURS.get(text):
                findings.found(f"is read as {card_of_text(text)}", text)
            named = card_id_of(text)
            if named is not None and payload(named) != text:
                findings.found(f"names {named}", text)
            if named is not None:
                face_of(named)


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


if __name__ == "__main__":
    sys.exit(main())
