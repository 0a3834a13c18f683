"""Every reason has an example at the table, a sentence in every language, and the place where the rule is written."""

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from records import Hand, record
from sheet import Row, blocks

from companion.common.languages import LANGUAGES
from companion.rules import referee
from companion.rules.cards import Card
from companion.rules.editions.edition import edition_names, load_edition, switches
from companion.rules.reasons import (
    Code,
    Reason,
    as_json,
    catalogue,
    governing_switch,
    in_edition,
    instead,
    reason,
    rule,
    say,
)
from companion.rules.record.judge import HandResult, JudgedLine

CLASSIC = load_edition("classic")
TABLES = {"words", "sources", "miles"}
TO_650 = "Ann roll; Bob roll" + "".join(f"; Ann {km}; Bob 25" for km in (200, 200, 100, 100, 50))


@dataclass(frozen=True)
class Example:
    """The lines before, the line that is refused, and the sentence that says why."""

    before: Hand
    line: str
    sentence: str

    def reasons(self) -> tuple[Reason, ...]:
        return referee.objections(self.before.table, self.before.parsed(self.line))


def refusals(text: str) -> Iterator[tuple[str, Example]]:
    for key, ((written, setting),) in blocks(text):
        before, _, refusal = written.partition("|")
        line, _, sentence = refusal.partition(": ")
        yield key, Example(Row(written, before, setting, "classic").hand(), line, sentence)


REFUSED = dict(
    refusals(f"""
not-your-turn
    | Bob roll: It is Ann's turn, not Bob's.
hand-over
    Ann roll; end | Bob roll: The hand is over.
hand-over/offered
    {TO_650}; Ann 25; Bob 25; Ann 25 | Bob 25:
        Ann has reached the target and must first choose `extend` or `finish`.
unknown-card
    | Ann 300: There is no 300 km in this game.
too-many-copies
    Ann driving-ace | Ann driving-ace:
        The deck has only 1 × Driving Ace. Look at this card again, or correct an earlier line.
own-side
    Ann roll; Bob roll | Ann stop > Ann: This card is played on an opponent: choose one.
needs-target
    Ann roll | Bob stop: Choose who gets Stop.
needs-target/control [edition=rush]
    | Ann control: Choose who has to hand the card over.
needs-target/theft [edition=rush]
    | Ann theft: Choose who loses the card.
not-driving
    | Ann 100: Ann cannot drive yet.
not-driving/remedied
    Ann roll; Bob accident > Ann; Ann repairs; Bob roll | Ann 100:
        Ann cannot drive yet: after the remedy, play Roll.
not-driving/late-safety
    Ann roll; Bob accident > Ann; Ann driving-ace | Ann 100: Ann cannot drive yet: after the safety, play Roll.
under-hazard
    Ann roll; Bob flat-tire > Ann | Ann 100: Ann cannot drive under Flat Tire: fix it first.
under-hazard/roll
    Ann roll; Bob flat-tire > Ann | Ann roll: Roll does not fix Flat Tire on Ann.
speed-limit
    Ann roll; Bob speed-limit > Ann | Ann 100: Speed Limit: only 25 and 50 are allowed.
speed-limit/fifty [edition=rush]
    Ann 50; Bob speed-limit > Ann | Ann 75: Speed Limit: nothing above 50 is allowed.
speed-limit/doubled [edition=rush; limit-on-doubled=doubled]
    Ann 50; Bob speed-limit > Ann | Ann 50*2: Speed Limit: 50 km doubled is above 50.
past-target
    {TO_650} | Ann 75: 75 km would pass the target: 50 km to go.
past-target/discard [edition=parker]
    {TO_650} | Ann 75: 75 km would pass the target: 50 km to go. If played anyway, it goes to the discard pile.
third-200
    Ann roll; Bob roll; Ann 200; Bob 25; Ann 200; Bob 25 | Ann 200:
        A side may play 2 cards of 200 km per hand: Ann already has.
nothing-to-remedy
    | Ann repairs: Ann has no Accident for Repairs to fix.
already-rolling
    Ann roll; Bob roll | Ann roll: Roll would have no effect: Ann can already drive.
not-limited
    | Ann end-of-limit: Ann has no Speed Limit to end.
already-limited
    Ann speed-limit > Bob; Bob roll | Ann speed-limit > Bob: Bob already has Speed Limit.
protected
    Ann roll; Bob roll; Ann right-of-way; Ann 25 | Bob stop > Ann:
        Ann has Right of Way: Stop has no effect.
opponent-not-driving/empty
    | Ann stop > Bob: Bob cannot be stopped yet: that battle pile is empty.
opponent-not-driving/remedied [hazard-on-remedy=forbidden]
    Ann roll; Bob stop > Ann; Ann roll; Bob accident > Ann; Ann repairs | Bob stop > Ann:
        Ann cannot be stopped yet: Roll is not on top of that battle pile.
already-attacked [hazard-on-hazard=forbidden]
    Ann roll; Bob accident > Ann; Ann discard 25 | Bob stop > Ann: Ann already has Accident.
coup-fourre-window-closed
    Ann roll; Bob stop > Ann; Ann discard 25; Bob roll | Ann right-of-way !:
        Too late for a coup fourré: a card was drawn or played after the attack (Stop).
coup-fourre-window-closed/remedy [edition=rush]
    Ann accident > Bob; Bob discard 50 | Bob repairs !:
        Too late for Repairs out of turn: a card was drawn or played after the attack (Accident).
no-attack-to-answer
    | Bob right-of-way !: Right of Way cannot be played out of turn: there is no attack on Bob for it to counter.
no-attack-to-answer/own-turn
    Ann roll; Bob roll; Ann accident > Bob | Bob repairs !: Repairs can only be played on your own turn.
no-attack-to-answer/mirror [edition=rush]
    | Bob mirror !: There is no attack on Bob to send back.
no-attack-to-answer/mirrors [edition=rush]
    Ann stop > Bob; Bob mirror !; Ann mirror ! | Bob mirror !:
        This attack has already been sent back twice, so Mirror cannot return it again.
first-card [first-card=roll-or-right-of-way]
    | Ann driving-ace: Ann's first card must be Roll or Right of Way.
extension-not-offered
    | Ann extend: Ann cannot call the extension now.
safety-discard [discard-safety=forbidden]
    | Ann discard extra-tank: A safety cannot be discarded.
cannot-take-discard
    | Ann take: Draw from the draw pile, not from the discard pile.
cannot-take-discard/drawn [take-discard=allowed]
    Ann discard 25; Bob skip-draw | Bob take: The card for this turn is already drawn.
cannot-take-discard/no-draw [edition=rush]
    Ann stop > Bob; Bob roll ! | Bob take: There is no draw this turn: it follows a play out of turn.
cannot-take-discard/empty [take-discard=allowed]
    | Ann take: The discard pile is empty.
cannot-take-discard/full [edition=rush]
    Ann 50; Bob u-turn !; Bob 50 | Ann take: The hand already has seven cards.
cannot-take-discard/pair
    Ann discard 25 | Bob pair 50 for 25:
        In this game, two equal cards cannot be exchanged for one from the discard pile.
already-doubled [edition=rush]
    | Ann 100*3: Play only one Accelerator on each distance card.
no-such-card-there [edition=rush]
    | Ann theft 100 > Bob: Bob has no 100 km on the table.
no-such-card-there/discards [edition=rush]
    | Ann pair 50 for 100: 100 km is not on the discard pile.
no-such-card-there/request [edition=rush]
    Ann 50 | Bob give stop > Ann: No player has asked Bob for Stop.
no-such-card-there/other [edition=rush]
    Ann control stop > Bob | Bob give stop > Bob: Ann has asked Bob for Stop.
no-such-card-there/unasked [edition=rush]
    Ann control stop > Bob | Bob name roll > Ann: Bob has not asked Ann for a card, so there is none to change.
request-pending [edition=rush]
    Ann control stop > Bob; Bob 50 | Ann control roll > Bob: There is already a request for Bob.
request-pending/owed [edition=rush]
    Ann control stop > Bob | Bob discard stop: Bob has to hand Stop to Ann first.
nothing-to-turn-back [edition=rush]
    | Ann u-turn: There is no distance card to send back.
nothing-to-turn-back/own [edition=rush]
    Ann 50 | Ann u-turn !: U-Turn counters an opponent's card.
nothing-to-turn-back/winning [edition=rush; u-turn-on-winning-card=forbidden; target=200]
    Ann 200 | Bob u-turn !: The winning card cannot be sent back.
safety-demanded [edition=rush]
    | Ann control driving-ace > Bob: A safety cannot be demanded.
needs-distance [edition=rush]
    | Ann accelerator: Play Accelerator together with a distance card.
must-play-it [edition=rush]
    Ann discard 100; Bob 75; Ann pair 50 for 100 | Ann 75: Play 100 km this turn.
must-play-it/handed [edition=rush]
    Ann control stop > Bob; Bob give stop > Ann | Bob 50:
        Ann must first play Stop, or discard it if it cannot be played.
no-passing
    | Ann pass: Passing is not allowed.
no-passing/out-of-turn [edition=rush]
    | Ann pass: You can pass only after your own play out of turn.
no-such-card-there/hand-size [edition=asmodee-2014; exchange=yes]
    Ann skip-draw; Ann discard 25; Bob discard 25 | Ann exchange 25 25 25 50 50 50:
        Ann does not have that many cards in hand (by the record: 5).
no-exchange
    | Ann exchange 25: Cards cannot be exchanged in this game.
no-exchange/drawn [edition=asmodee-2014; exchange=yes]
    Ann discard 25; Bob take | Bob exchange 50: The card for this turn is already drawn.
no-exchange/pile [exchange=yes]
    down to 2 | Ann exchange 25 25 25: There are not that many cards left to draw (by the record: 2).
no-penalty
    | Ann penalty 50: There is no penalty card for a mistake in this game.
""")
)
"""By code and, after a slash, its case."""


REMARKED = {
    "late-safety": ("hand first Ann\nAnn roll\nBob stop > Ann\nAnn right-of-way\n",
        "Played on the player's own turn, so not a coup fourré. Played at once, it would have been one."),
    "discard-only-when-stuck": ("option discard=when-stuck\nhand first Ann\nAnn discard 25\n",
        "You may discard only when you cannot play a card."),
    "ended-as-agreed": ("hand first Ann\nAnn roll\nhand first Bob\n",
        "The previous hand was still open: it counts as ended by agreement."),
    "no-effect": ("option extension=yes\ntarget 1000\nhand first Ann\nAnn roll\n",
        "The house rule extension=yes has no effect in this game: it needs target 700."),
    "look-alike": ("side \u0410nn\nhand first Ann\nAnn roll\n",
        "The names \u0410nn and Ann look the same but have different letters: they count as two names."),
    "no-effect/card": ("edition classic\noption limit-on-doubled=doubled\nhand first Ann\nAnn roll\n",
        "The house rule limit-on-doubled=doubled has no effect in this game: there is no Accelerator."),
    "no-effect/points": ("edition rush\noption shut-out=once\nhand first Ann\nAnn 100\n",
        "The house rule shut-out=once has no effect in this game: it gives no points for that."),
    "no-effect/few-players": ("side Cid\nside Dee\nedition dujardin-2014\noption five-hazards-removed=yes\n"
        "hand first Ann\nAnn roll\n",
        "The house rule five-hazards-removed=yes has no effect in this game: it is for up to 3 players."),
    "no-effect/more-opponents": ("option shut-out=once\nhand first Ann\nAnn roll\n",
        "The house rule shut-out=once has no effect in this game: it is for 2 opponents or more."),
    "hand-began-by-itself": ("Ann roll\n", "No hand had been started: Ann counts as its first player."),
    "too-many-copies/unverified": ("edition rush\nhand first Ann\nAnn 300\nBob 300\n",
        "300 km: more than the 1 counted in this deck. You can correct the counts."),
}  # fmt: skip

AS_VALUES = {
    "too-many-copies/laid": (
        {"card": Card.KM_75, "laid": 13, "count": 10},
        "13 × 75 km is too many: the deck has only 10. Count these cards again.",
    ),
    "third-200/lies": ({"side": "Ann", "count": 2}, "Ann has more than 2 cards of 200 km."),
    "past-target/sum": ({"side": "Ann", "km": 725, "target": 700}, "Ann has 725 km, but the target is 700 km."),
    "missing-cards": ({"card": Card.STOP, "count": 2}, "Missing: 2 × Stop."),
    "missing-cards/unverified": (
        {"card": Card.STOP, "count": 2}, "Missing: 2 × Stop, if the counts of this deck are right.",
    ),
    "unknown-card/unread": ({"count": 3}, "Unrecognized cards: 3."),
    "no-such-card-there/hand": ({"player": "Ann", "card": Card.ROLL}, "Ann does not have Roll in hand."),
}  # fmt: skip
"""Reasons given as values: the finer cases of some codes, and what a count of the cards finds."""


def refused(key: str) -> Reason:
    return next(why for why in REFUSED[key].reasons() if why.code == key.partition("/")[0])


def remarked(key: str) -> Reason:
    (why,) = (why for item in record(f"side Ann\nside Bob\n{REMARKED[key][0]}") for why in item.remarks)
    return why


def example(key: str) -> Reason:
    """A reason of that code and case, from a table where there is one."""
    if key in AS_VALUES:
        code, _, case = key.partition("/")
        return reason(Code(code), case=case or None, **AS_VALUES[key][0])
    return refused(key) if key in REFUSED else remarked(key)


EXAMPLES = [*REFUSED, *AS_VALUES, *REMARKED]


def gaps(text: str) -> set[str]:
    return {field for _, field, _, _ in string.Formatter().parse(text) if field}


def kind_of(key: str) -> str:
    """`say`, `instead` or `section`, of whatever case."""
    return key.partition("-")[0]


# At the table


def test_every_case_of_every_code_has_an_example_here():
    cases = {(code, key) for code in Code for key in catalogue()[code] if kind_of(key) == "say"}

    assert {f"{code}{key.removeprefix('say').replace('-', '/', 1)}" for code, key in cases} == set(EXAMPLES)
    assert {code for code, _ in cases} == set(Code)


@pytest.mark.parametrize("key", EXAMPLES)
def test_each_reason_says_why(key):
    sentence = REFUSED[key].sentence if key in REFUSED else (REMARKED | AS_VALUES)[key][1]

    assert say(example(key)) == sentence


@pytest.mark.parametrize("key", REMARKED)
def test_each_remark_is_made_about_a_legal_play(key):
    items = record(f"side Ann\nside Bob\n{REMARKED[key][0]}")

    assert remarked(key).code == key.partition("/")[0]
    assert {item.verdict for item in items if isinstance(item, JudgedLine)} == {"legal"}
    assert any(isinstance(item, HandResult) for item in items)


# The catalogues


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("key", EXAMPLES)
def test_every_example_has_a_whole_sentence_in_each_language(key, language):
    sentence = say(example(key), language)

    assert sentence.endswith(".")
    assert not sentence[0].islower()
    assert not re.search(r"[{}]|None", sentence)


@pytest.mark.parametrize("key", EXAMPLES)
def test_a_way_out_is_short_in_each_language(key):
    ways_out = [instead(example(key), language) for language in LANGUAGES]

    assert ways_out == [None] * len(LANGUAGES) or all(0 < len(way_out) <= 60 for way_out in ways_out)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_catalogue_speaks_of_every_code_and_of_nothing_else(language):
    assert set(catalogue(language)) == TABLES | {code.value for code in Code}
    for code in Code:
        assert {kind_of(key) for key in catalogue(language)[code]} <= {"say", "instead", "section"}


@pytest.mark.parametrize("name", edition_names())
def test_every_section_that_is_named_is_one_of_the_sheet(name):
    edition = load_edition(name)
    sections = {*edition.sources.values(), "The cards"} | ({"Specials"} if Card.MIRROR in edition.deck else set())
    named = {rule(example(key), edition).removeprefix(f"{edition.sheet} – ") for key in EXAMPLES}
    as_said = {said: text for text, said in catalogue()["sources"].items()}

    assert {as_said.get(text, text) for text in named} <= sections


@pytest.mark.parametrize("code", Code)
def test_every_code_has_a_section_that_each_language_has_a_word_for(code):
    sections = {text for key, text in catalogue()[code].items() if kind_of(key) == "section"}

    assert "section" in catalogue()[code]
    assert all(sections <= catalogue(language)["sources"].keys() for language in LANGUAGES[1:])


@pytest.mark.parametrize("language", LANGUAGES[1:])
@pytest.mark.parametrize("code", Code)
def test_a_translation_has_the_same_cases_with_the_same_gaps(code, language):
    english = {key: text for key, text in catalogue()[code].items() if kind_of(key) != "section"}
    other = catalogue(language)[code]

    assert set(other) == set(english)
    assert {key: gaps(text) for key, text in other.items()} == {key: gaps(text) for key, text in english.items()}


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_no_english_is_left_in_a_translation(language):
    english = catalogue()
    same = {
        (name, key)
        for name, entry in catalogue(language).items()
        for key, text in entry.items()
        if text == english[name].get(key) and not text.endswith((" km", "Coup fourré"))
    }

    assert same <= {("words", "rule"), ("miles", "km"), ("speed-limit", "instead-doubled")}


def test_miles_stand_for_kilometres_in_words_and_never_in_the_place_of_a_value():
    assert in_edition("%(km)d km of {km} km", "en", "asmodee-2014") == "%(km)d miles of {km} miles"


def test_french_signs_are_not_parted_from_their_word():
    texts = [text for entry in catalogue("fr").values() for text in entry.values()]

    assert not [text for text in texts if re.search(r"(?<!\u00a0)[:;!?»]|«(?!\u00a0)", text)]


def test_a_sentence_names_cards_in_its_language():
    stopped = reason(Code.UNDER_HAZARD, side="Zoé", hazard=Card.FLAT_TIRE, remedy=Card.SPARE_TIRE, safety="roll")

    assert say(stopped, "fr") == "Crevaison chez Zoé\u00a0: impossible d'avancer sans parade."
    assert instead(stopped, "fr") == "Roue de secours, ou Feu vert"
    assert say(stopped, "pl") == "Przebita opona (Zoé): bez ratunku ani rusz."
    assert say(stopped, "de") == "Reifenpanne bei Zoé: ohne Hilfe geht es nicht weiter."


def test_names_in_a_sentence_are_never_taken_for_its_gaps_or_for_cards():
    why = reason(Code.NOT_YOUR_TURN, player="{turn}", turn="roll")
    away = reason(Code.NEEDS_TARGET, card=Card.OUT_OF_GAS)
    small = reason(Code.NOT_DRIVING, side="bob")

    assert say(why) == "It is roll's turn, not {turn}'s."
    assert say(away) == "Choose who gets Out of Gas."
    assert say(small) == "bob cannot drive yet."


# The way out and the rule


def test_the_way_out_is_given_where_it_is_short():
    assert instead(refused("under-hazard")) == "Spare Tire, or Puncture Proof"
    assert instead(refused("past-target")) is None


GOVERNED = {
    "already-attacked": "hazard-on-hazard", "opponent-not-driving/empty": "hazard-on-empty-pile",
    "opponent-not-driving/remedied": "hazard-on-remedy", "third-200": "two-hundreds", "past-target": "overshoot",
    "past-target/discard": "past-target-card", "not-driving": "roll-to-start",
    "not-driving/remedied": "roll-after-remedy", "not-driving/late-safety": "roll-after-late-safety",
    "first-card": "first-card", "safety-discard": "discard-safety", "cannot-take-discard": "take-discard",
    "cannot-take-discard/full": "draw", "cannot-take-discard/pair": "pair-for-discard",
    "coup-fourre-window-closed": "coup-fourre-window", "discard-only-when-stuck": "discard",
    "nothing-to-turn-back/winning": "u-turn-on-winning-card", "no-exchange": "exchange",
    "no-penalty": "mistake-penalty", "no-attack-to-answer/own-turn": "fast-remedy", "hand-over/offered": "extension",
}  # fmt: skip


@pytest.mark.parametrize(("key", "switch"), GOVERNED.items())
def test_the_rule_is_where_the_sheet_writes_of_its_switch(key, switch):
    edition = load_edition(REFUSED[key].before.table.edition.name if key in REFUSED else "classic")
    section = edition.sources[switch].replace("chosen: the sheet does not say", "silent here, our reading")

    assert governing_switch(example(key), edition) == switch
    assert rule(example(key), edition) == f"{edition.sheet} – {section}"


@pytest.mark.parametrize(("key", "switch"), GOVERNED.items())
def test_a_house_rule_is_named_as_the_rule(key, switch):
    value = CLASSIC.switch(switch)
    edition = CLASSIC.with_options([(switch, value)])

    assert rule(example(key), edition) == f"the house rule {switch}={value}"
    assert rule(example(key), edition, "fr") == f"la règle maison {switch}={value}"
    assert rule(example(key), edition, "pl") == f"zasada domowa: {switch}={value}"


def test_where_all_sheets_agree_the_rule_is_in_the_section_of_the_catalogue():
    assert rule(refused("under-hazard"), CLASSIC) == "the classic rules (106 cards) – Playing hazards"
    assert rule(refused("no-attack-to-answer/mirror"), load_edition("rush")).endswith("– Specials")
    assert rule(refused("extension-not-offered"), CLASSIC) == "the classic rules (106 cards) – Extension"
    assert rule(refused("extension-not-offered"), load_edition("rush")).endswith("– End of the race")


@pytest.mark.parametrize(
    ("setting", "before", "line", "found"),
    [
        (
            "roll-with-right-of-way=forbidden", "Ann right-of-way", "Ann roll",
            "the house rule roll-with-right-of-way=forbidden",
        ),
        (
            "edition=rush", "Ann 50; Bob 50", "Ann theft 50 > Ann", "the French sheet of Mille Bornes Rush – Specials",
        ),
        (
            "edition=rush", "Ann 50; Bob stop > Ann", "Ann repairs !",
            "the French sheet of Mille Bornes Rush – Remedies",
        ),
        ("", "Ann roll", "Bob give stop > Ann", "the classic rules (106 cards) – A turn"),
        (
            "five-hazards-removed=yes", "Ann discard accident; Bob discard accident", "Ann discard accident",
            "the house rule five-hazards-removed=yes",
        ),
    ],
    ids=["a roll that Right of Way forbids is a matter of its switch", "a theft from the own side is of the specials",
         "a wrong remedy at once is of the remedies", "where there are no specials it is of the turn",
         "a card taken out is a matter of the house rule"],
)  # fmt: skip
def test_a_rule_depends_on_the_table(setting, before, line, found):
    refusal = Example(Row("", before, setting, "classic").hand(), line, "")
    (why,) = refusal.reasons()

    assert rule(why, refusal.before.table.edition) == found
    assert governing_switch(refused("already-rolling"), refusal.before.table.edition) is None


def test_a_roll_on_a_remedy_is_a_matter_of_its_switch_and_other_remedies_are_not():
    edition = load_edition("asmodee-2014")
    roll = reason(Code.NOTHING_TO_REMEDY, card=Card.ROLL, hazard=Card.STOP, side="Ann")

    assert governing_switch(roll, edition) == "roll-on-remedy"
    assert governing_switch(refused("nothing-to-remedy"), edition) is None


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", edition_names())
def test_the_rules_of_a_sheet_are_named_in_each_language(name, language):
    edition = load_edition(name)
    governing = {governing_switch(example(key), edition) for key in EXAMPLES} - {None}
    without_card = {"limit-on-doubled", "u-turn-on-winning-card"} if edition.name != "rush" else set()
    english = {edition.sheet, *(edition.sources[switch] for switch in governing - without_card)}

    assert governing <= set(switches())
    assert language == "en" or english <= set(catalogue(language)["sources"])


def test_the_json_of_a_reason_counts_as_its_sheet_does():
    says = {name: as_json(refused("past-target"), load_edition(name))["say"] for name in ("bsd-mille", "parker")}

    assert says["bsd-mille"] == "75 miles would pass the target: 50 miles to go."
    assert says["parker"] == "75 km would pass the target: 50 km to go."


def test_the_json_of_a_reason_gives_code_sentence_rule_and_way_out():
    assert as_json(refused("no-passing"), CLASSIC) == {
        "code": "no-passing",
        "say": "Passing is not allowed.",
        "rule": "the classic rules (106 cards) – A turn",
        "instead": "play or discard a card",
    }
