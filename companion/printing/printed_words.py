"""The words on our cards and mats, in the languages of the pages."""

from __future__ import annotations

from companion.common.languages import LANGUAGES
from companion.rules.cards import Card, Family

_KILOMETRES = ("kilometres", "kilomètres", "kilometrów", "Kilometer")

_FAMILIES: dict[Family, tuple[str, ...]] = {
    Family.DISTANCE: ("distance", "étape", "dystans", "Strecke"),
    Family.HAZARD: ("hazard", "attaque", "przeszkoda", "Hindernis"),
    Family.REMEDY: ("remedy", "parade", "ratunek", "Hilfe"),
    Family.SAFETY: ("safety", "botte", "ochrona", "Trumpf"),
    Family.SPECIAL: ("special", "spéciale", "specjalna", "Sonderkarte"),
}

_WORDS: dict[Card, tuple[str, ...]] = {
    Card.ACCIDENT: ("accident", "accident", "wypadek", "Unfall"),
    Card.OUT_OF_GAS: ("out of gas", "panne d’essence", "brak paliwa", "Tank leer"),
    Card.FLAT_TIRE: ("flat tire", "crevaison", "przebita opona", "Reifenpanne"),
    Card.OUT_OF_CHARGE: ("out of charge", "batterie à plat", "pusta bateria", "Akku leer"),
    Card.POLLUTION: ("pollution", "pollution", "smog", "Smog"),
    Card.STOP: ("stop", "stop", "stop", "Stopp"),
    Card.SPEED_LIMIT: ("speed limit", "limite de vitesse", "ograniczenie", "Tempolimit"),
    Card.REPAIRS: ("repairs", "réparations", "naprawa", "Reparatur"),
    Card.GASOLINE: ("gasoline", "essence", "paliwo", "Benzin"),
    Card.SPARE_TIRE: ("spare tire", "roue de secours", "koło zapasowe", "Ersatzrad"),
    Card.RECHARGE: ("recharge", "recharge", "ładowanie", "Ladesäule"),
    Card.END_OF_POLLUTION: ("clean air", "air pur", "czyste powietrze", "Smog-Ende"),
    Card.ROLL: ("roll", "roulez", "jazda", "freie Fahrt"),
    Card.END_OF_LIMIT: ("end of limit", "fin de limite", "koniec ograniczenia", "Ende des Limits"),
    Card.DRIVING_ACE: ("driving ace", "as du volant", "as kierownicy", "Ass am Steuer"),
    Card.EXTRA_TANK: ("extra tank", "citerne", "zapas paliwa", "Tankwagen"),
    Card.PUNCTURE_PROOF: ("puncture proof", "increvable", "pancerna opona", "Pannenschutz"),
    Card.LONG_RANGE: ("long range", "grande autonomie", "duży zasięg", "große Reichweite"),
    Card.CAR_POOL: ("car pool", "covoiturage", "wspólny przejazd", "Mitfahrer"),
    Card.RIGHT_OF_WAY: ("right of way", "prioritaire", "pierwszeństwo", "Vorfahrt"),
    Card.ACCELERATOR: ("accelerator", "accélérateur", "gaz do dechy", "Turbo"),
    Card.MIRROR: ("mirror", "rétroviseur", "lusterko", "Rückspiegel"),
    Card.U_TURN: ("u-turn", "demi-tour", "zawracanie", "Kehrtwende"),
    Card.CONTROL: ("control", "contrôle", "kontrola", "Kontrolle"),
    Card.THEFT: ("theft", "vol", "kradzież", "Diebstahl"),
}

_MAT_WORDS: dict[str, tuple[str, ...]] = {
    "battle": ("battle", "bataille", "bitwa", "Kampf"),
    "battle-hint": (
        "hazards, remedies, roll",
        "attaques, parades, roulez",
        "przeszkody, ratunek, jazda",
        "Hindernisse, Hilfen, Grüne Ampel",
    ),
    "speed": ("speed", "vitesse", "prędkość", "Tempo"),
    "speed-hint": (
        "limit, end of limit",
        "limite, fin de limite",
        "ograniczenie i jego koniec",
        "Limit und Limit-Ende",
    ),
    "safety": ("safety", "bottes", "ochrona", "Trümpfe"),
    "safety-hint": (
        "sideways for a coup fourré",
        "en travers : coup fourré",
        "w poprzek: coup fourré",
        "quer: Coup fourré",
    ),
    "distance": ("distance", "étapes", "dystans", "Kilometer"),
    "draw": ("draw", "pioche", "talia", "Nachziehstapel"),
    "draw-hint": (
        "the pile covers the marker",
        "la pile couvre le repère",
        "talia zakrywa znak",
        "der Stapel verdeckt die Marke",
    ),
    "discard": ("discard", "défausse", "odrzucone", "Ablage"),
    "discard-hint": ("face up", "faces visibles", "awersem do góry", "offen"),
    "side": ("side", "côté", "strona", "Team"),
    "table": ("table", "table", "stół", "Tisch"),
    "robot": ("Robo", "Robo", "Robo", "Robo"),
    "robot-hand": ("Robo’s hand", "main de Robo", "karty Robo", "Hand von Robo"),
    "robot-hint": (
        "draw for Robo without looking, one card a slot",
        "piocher pour Robo sans regarder, une carte par case",
        "dobieraj dla Robo bez patrzenia, po jednej karcie na pole",
        "für Robo ziehen, ohne hinzusehen, je Fach eine Karte",
    ),
    "people": ("screen, and people", "paravent, et joueurs", "parawan i gracze", "Sichtschutz und Spieler"),
    "helper": ("helper’s edge", "bord de l’assistant", "brzeg pomocnika", "Rand des Helfers"),
    "screen-fold": ("fold back", "plier en arrière", "zagiąć do tyłu", "nach hinten falten"),
    "screen-glue": (
        "fold back, and glue to the far edge: it stands like a tent between Robo’s hand and the people",
        "plier en arrière et coller au bord opposé : une tente entre la main de Robo et les joueurs",
        "zagiąć do tyłu i przykleić do przeciwnego brzegu: namiot między kartami Robo a graczami",
        "nach hinten falten und am anderen Rand ankleben: wie ein Zelt zwischen Robos Hand und den Spielern",
    ),
    "edge": ("player’s edge", "bord du joueur", "brzeg gracza", "Rand des Spielers"),
    "up": ("this way up", "ce côté en haut", "tą stroną do góry", "diese Seite oben"),
    "left": ("left half", "moitié gauche", "lewa połowa", "linke Hälfte"),
    "right": ("right half", "moitié droite", "prawa połowa", "rechte Hälfte"),
    "join": ("lay edge to edge here", "joindre bord à bord ici", "tu zetknąć brzegi", "hier Kante an Kante legen"),
    "print": (
        "print at 100 %, no fitting to the page",
        "imprimer à 100 %, sans ajuster à la page",
        "drukuj w skali 100 %, bez dopasowania",
        "bei 100 % drucken, nicht an die Seite anpassen",
    ),
    "stickers": ("stickers", "étiquettes", "naklejki", "Aufkleber"),
    "deck": ("cards", "cartes", "karty", "Karten"),
    "backs": ("backs", "dos", "rewersy", "Rückseiten"),
    "scale": ("this line is 50 mm", "ce trait fait 50 mm", "ta linia ma 50 mm", "diese Linie ist 50 mm lang"),
    "scale-ask": (
        "printed true to size?",
        "imprimé à la bonne taille ?",
        "wydruk bez skalowania?",
        "Maßstab richtig gedruckt?",
    ),
}


def card_word(card: Card, language: str = "en") -> str:
    """Return the word below a card's picture, in small letters. Raises ValueError for an unknown language."""
    words = _KILOMETRES if card.family is Family.DISTANCE else _WORDS[card]
    return words[LANGUAGES.index(language)]


def family_word(family: Family, language: str = "en") -> str:
    """Return the family's name, in small letters. Raises ValueError for an unknown language."""
    return _FAMILIES[family][LANGUAGES.index(language)]


def mat_word(key: str, language: str = "en") -> str:
    """Return a word or short phrase on a mat or sheet. Raises ValueError for an unknown language."""
    return _MAT_WORDS[key][LANGUAGES.index(language)]
