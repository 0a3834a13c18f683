"""Text for the terminal: score sheets, verdicts, and what a camera sees."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from companion.app.usage import here, terminal_language
from companion.common import text
from companion.common.terminal import plain, typed
from companion.common.text import Said, say, say_many, sentences
from companion.rules import reasons, scoring
from companion.rules.cards import Card
from companion.rules.editions.edition import Edition, load_edition
from companion.rules.record.judge import ILLEGAL, LEGAL, UNREADABLE, HandResult, JudgedLine
from companion.rules.scoring import Item
from companion.rules.table import HowEnded
from companion.tabletop.drawn_zones import ZONE_NAMES

MOST_BESIDE = 8  # if more cards are in no zone, they share a line
MOST_OF_A_LINE = 400  # characters shown of a record's line or of a sentence with names
MOST_OF_A_NAME = 40  # characters shown of a name
_VERDICTS = {LEGAL: say("legal"), ILLEGAL: say("illegal"), UNREADABLE: say("unreadable")}
_ITEM_NAMES = {
    Item.DISTANCE: say("Distance"),
    Item.SAFETIES: say("Safeties"),
    Item.ALL_SAFETIES: say("All safeties"),
    Item.COUPS_FOURRES: say("Coups fourrés"),
    Item.TRIP_COMPLETED: say("Trip completed"),
    Item.DELAYED_ACTION: say("Delayed action"),
    Item.SAFE_TRIP: say("Safe trip"),
    Item.EXTENSION: say("Extension"),
    Item.SHUT_OUT: say("Shut-out"),
}


def judged_line(judged: JudgedLine, file: str) -> str:
    """Return a line of `companion replay`: place, text, verdict and reasons."""
    edition = judged.table.edition if judged.table else load_edition("classic")
    language = terminal_language()
    said = [f"{_said(why, edition)} [{reasons.rule(why, edition, language)}]" for why in judged.reasons]
    said += [_cut(here(judged.unreadable), MOST_OF_A_LINE)] if judged.unreadable else []
    said += [_remark(why, edition) for why in judged.remarks]
    text, verdict = printable(_cut(judged.line.text, MOST_OF_A_LINE)), here(_VERDICTS[judged.verdict])
    return f"{printable(file)}:{judged.line.number}: {text}: {verdict}" + "".join(f" – {one}" for one in said)


def _said(why: reasons.Reason, edition: Edition) -> str:
    return _cut(reasons.say(why, terminal_language(), edition.name), MOST_OF_A_LINE)


def _remark(why: reasons.Reason, edition: Edition) -> str:
    return here(say("remark: %(remark)s", remark=_said(why, edition)))


def _cut(text: str, most: int) -> str:
    return text[:most] + "…" * (len(text) > most)


def printable(text: str) -> str:
    """Make untrusted text safe for the terminal: a tab becomes a space, other control characters a dot."""
    return plain(text.replace("\t", " ").replace("\n", "·"))


def closing(lines: Sequence[JudgedLine], *, as_lies: bool = False) -> Iterator[Said]:
    """Yield the sentences after a file with lines that were left out: the cause and what helps."""
    left_out = [judged for judged in lines if judged.verdict != LEGAL and not judged.applied]
    if not as_lies and any(judged.verdict == ILLEGAL for judged in left_out):
        way_out = say(
            "`%(command)s` counts every card as it was played; `anyway` at the end of a line counts that line.",
            command=typed("replay --as-lies"),
        )
        yield sentences(_what_was_left_out(left_out), way_out)
    for name in dict.fromkeys(judged.look_up for judged in left_out if judged.look_up):
        yield say("`%(command)s` lists the cards and the house rules.", command=typed(f"editions show {name}"))


def _what_was_left_out(left_out: Sequence[JudgedLine]) -> Said:
    first = left_out[0].line.number
    if any(judged.verdict == UNREADABLE for judged in left_out):
        return say_many(
            "Line %(line)d was illegal or unreadable and left out.",
            "%(count)d lines were illegal or unreadable and left out, the first is line %(line)d; "
            "what follows may be illegal only because of it.",
            len(left_out),
            line=first,
        )
    return say_many(
        "Line %(line)d was illegal and left out.",
        "%(count)d lines were illegal and left out, the first is line %(line)d; "
        "what follows may be illegal only because of it.",
        len(left_out),
        line=first,
    )


def _how_it_ended(result: HandResult) -> Said:
    ways = {
        HowEnded.COMPLETED: say(
            "Hand %(number)d: %(who)s completed %(km)d km",
            number=result.number,
            who=_name(result.by),
            km=result.table.target,
        ),
        HowEnded.EXHAUSTED: say("Hand %(number)d: all cards played out", number=result.number),
        HowEnded.AGREED: say("Hand %(number)d: ended by agreement", number=result.number),
        HowEnded.OPEN: say("Hand %(number)d: still open", number=result.number),
    }
    return ways[result.how]


def score_sheet(result: HandResult) -> list[str]:
    """Return the score sheet of a hand as lines of a table."""
    said = partial(here, edition=result.table.edition.name)
    sides = [side.name for side in result.table.sides]
    rows = [["", *map(_name, sides)]]
    for item in Item:
        points = [dict(result.sheets[side].lines).get(item, 0) for side in sides]
        if any(points):
            rows.append([said(_ITEM_NAMES[item]), *(str(p) if p else "–" for p in points)])
    rows.append([said(say("Total")), *(str(result.sheets[side].total) for side in sides)])
    if not result.table.edition.is_race:
        rows.append([said(say("Match")), *(str(result.match.get(side, 0)) for side in sides)])
        won = [result.won.get(side, 0) for side in sides]
        rows += [[said(say("Matches won")), *map(str, won)]] if any(won) else []
    remarks = [_remark(why, result.table.edition) for why in result.remarks]
    return [said(_how_it_ended(result)), *table(rows), *map(said, _what_it_decides(result)), *remarks]


def _name(name: str | None) -> str:
    return text.plain(name or "", MOST_OF_A_NAME)


def _what_it_decides(result: HandResult) -> Iterator[Said]:
    """Yield the winner of the race or match, or that a level match starts again."""
    edition = result.table.edition
    if result.how is HowEnded.OPEN:
        return
    if edition.is_race:
        won = say_many("%(who)s wins the race!", "%(who)s win the race!", 1, who=_name(result.winner))
        yield won if result.winner else say("Nobody wins the race.")
    elif result.winner:
        yield say_many("%(who)s wins the match!", "%(who)s win the match!", 1, who=_name(result.winner))
    elif scoring.starts_again(edition, result.match, None):
        yield say("Level at the end of the match: nobody wins it, and the next hand starts from zero.")


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows with aligned columns: the first left, the others right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]


def in_order(cards: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort the cards from `companion read` by zone, face and ID; those in no zone come last."""
    zones, faces = [*ZONE_NAMES, None], list(map(str, Card))
    return sorted(
        cards, key=lambda card: (zones.index(card["zone"]), faces.index(str(card["face"])), card["card"] or "")
    )


def picture(found: dict[str, Any]) -> Iterator[str]:
    """Yield what `companion read` found on a picture: a line for each card; many cards in no zone share one."""
    mats = ", ".join(mat["id"] for mat in found["mats"]) or "no mats"
    cards = found["cards"]
    mirrored = ", mirrored left to right" if found.get("mirrored") else ""
    yield f"{found['image']}: {found['width']} × {found['height']}{mirrored}, {mats}, {_counted(len(cards), 'card')}"
    beside = [card for card in cards if not card["zone"]]
    together = len(beside) > MOST_BESIDE
    yield from (f"  {_card(card)}" for card in cards if card["zone"] or not together)
    if together:
        yield f"  in no zone: {_counted(len(beside), 'card')}, {_by_face(beside)}; --json has the place of each"
    if found["mats"] and not cards:
        yield f"  `{typed('doctor --source ' + shlex.quote(found['image']))}` says whether stickers can be read there."
        yield "  Cards without stickers are told by their faces: `--deck own` for the printed deck, or your own."


def nothing_seen(deck: str | None) -> str:
    """Return advice for `companion watch` without any play."""
    look = f"`{typed('read PICTURE --setup FILE')}` says whether cards are large and sharp enough"
    if deck is not None:
        return f"No play was seen: {look}, with --deck {deck} which are told."
    return f"No play was seen: {look}. Cards without stickers need --deck own, for the printed deck, or your own."


def _card(card: dict[str, Any]) -> str:
    where = card["zone"] or "in no zone"
    turned = ", sideways" if card["sideways"] else ""
    if "foreign" in card:
        return f"{card['foreign']}: {where}{turned}, a card of another edition: it does not count"
    if "twice" in card and card["face"] == Card.UNKNOWN:
        return f"unknown: {where}{turned}, one of several stickers {card['twice']}"
    if not card["card"] and card["face"] == Card.UNKNOWN:
        what = "a card" if card.get("by") == "face" else "a sticker"
        return f"unknown: {where}{turned}, {what} that cannot be told"
    return f"{card['card'] or card['face']}: {where}{turned} ({card['confidence']:.2f})"


def _by_face(cards: Sequence[dict[str, Any]]) -> str:
    """Return `3 × 100, 2 × roll`, in the order of the deck."""
    faces = Counter(str(card["face"]) for card in cards if "foreign" not in card)
    strangers = sum("foreign" in card for card in cards)
    counted = [f"{faces[face]} × {face}" for face in map(str, Card) if faces[face]]
    return ", ".join([*counted, *([f"{strangers} of another edition"] if strangers else [])])


def _counted(count: int, what: str) -> str:
    return f"{count or 'no'} {what}" + ("" if count == 1 else "s")


def allowed_by_camera(setup: dict[str, Any]) -> Iterator[str]:
    """Yield what `companion read --setup` reports about the camera: a table of zones, and advice."""
    rows = [["zone", "px/mm", "edge px", "paper", "contrast", "grain", "glare", "dark", "sticker"]]
    rows += [_zone_row(zone) for zone in setup["zones"]]
    yield from (f"  {row}" for row in (table(rows) if setup["zones"] else []))
    if setup["distance_cm"] is not None:
        yield f"  The camera is about {setup['distance_cm']} cm away and looks at a slant of {setup['tilt_deg']}°."
    for hint in setup["hints"]:
        yield f"  {'→' if hint['needed'] else '·'} {hint['say']}"
    if setup["verdict"]:
        yield f"  {setup['verdict']}"
    if setup["faces"]:
        yield f"  {setup['faces']}"


def _zone_row(zone: dict[str, Any]) -> list[str]:
    scale = "~" * zone["guessed"] + "–".join(f"{scale:.2f}" for scale in dict.fromkeys(zone["px_per_mm"] or ()))
    blur = "" if zone["blur_px"] is None else f"{zone['blur_px']:.1f}"
    smallest = "" if zone["smallest_mm"] is None else f"{zone['smallest_mm']:g} mm"
    shares = [f"{zone[share]:.0%}" for share in ("glare", "dark")]
    return [zone["zone"], scale, blur, str(zone["white"]), str(zone["contrast"]), str(zone["grain"]), *shares, smallest]


_TOLD = {
    "withdrawn": "taken back",
    "counted": "counted after all",
    "missed": "not seen, but played",
    "question": "asked",
}


def watched(item: dict[str, Any]) -> str:
    """Return an item of `companion watch` as text."""
    if "proposal" in item:
        why = "".join(f" – {reason['say']}" for reason in item["reasons"])
        confirmed = ", confirmed" if item["confirmed"] else ""
        return f"{item['t_s']:8.1f} s  {item['proposal']}: {item['verdict']}{confirmed}{why}"
    for key, what in _TOLD.items():
        if key in item:
            return f"{item['t_s']:8.1f} s  {what}: {item[key]}"
    totals = ", ".join(f"{name} {side['total']}" for name, side in item["sides"].items())
    return f"Hand {item['hand']} {item['ended']}: {totals}"
