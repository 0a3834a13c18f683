"""The words on our cards and mats, in the languages of the pages."""

from __future__ import annotations

from companion.rules.cards import Card, Family

LANGUAGES = ("en", "fr", "pl")

_KILOMETRES = ("kilometres", "kilomètres", "kilometrów")

_FAMILIES: dict[Family, tuple[str, str, str]] = {
    Family.DISTANCE: ("distance", "étape", "dystans"),
    Family.HAZARD: ("hazard", "attaque", "przeszkoda"),
    Family.REMEDY: ("remedy", "parade", "ratunek"),
    Family.SAFETY: ("safety", "botte", "ochrona"),
    Family.SPECIAL: ("special", "spéciale", "specjalna"),
}

_WORDS: dict[Card, tuple[str, str, str]] = {
    Card.ACCIDENT: ("accident", "accident", "wypadek"),
    Card.OUT_OF_GAS: ("out of gas", "panne d’essence", "brak paliwa"),
    Card.FLAT_TIRE: ("flat tire", "crevaison", "przebita opona"),
    Card.OUT_OF_CHARGE: ("out of charge", "batterie à plat", "pusta bateria"),
    Card.POLLUTION: ("pollution", "pollution", "smog"),
    Card.STOP: ("stop", "stop", "stop"),
    Card.SPEED_LIMIT: ("speed limit", "limite de vitesse", "ograniczenie"),
    Card.REPAIRS: ("repairs", "réparations", "naprawa"),
    Card.GASOLINE: ("gasoline", "essence", "paliwo"),
    Card.SPARE_TIRE: ("spare tire", "roue de secours", "koło zapasowe"),
    Card.RECHARGE: ("recharge", "recharge", "ładowanie"),
    Card.END_OF_POLLUTION: ("clean air", "air pur", "czyste powietrze"),
    Card.ROLL: ("roll", "roulez", "jazda"),
    Card.END_OF_LIMIT: ("end of limit", "fin de limite", "koniec ograniczenia"),
    Card.DRIVING_ACE: ("driving ace", "as du volant", "as kierownicy"),
    Card.EXTRA_TANK: ("extra tank", "citerne", "zapas paliwa"),
    Card.PUNCTURE_PROOF: ("puncture proof", "increvable", "pancerna opona"),
    Card.LONG_RANGE: ("long range", "grande autonomie", "duży zasięg"),
    Card.CAR_POOL: ("car pool", "covoiturage", "wspólny przejazd"),
    Card.RIGHT_OF_WAY: ("right of way", "prioritaire", "pierwszeństwo"),
    Card.ACCELERATOR: ("accelerator", "accélérateur", "gaz do dechy"),
    Card.MIRROR: ("mirror", "rétroviseur", "lusterko"),
    Card.U_TURN: ("u-turn", "demi-tour", "zawracanie"),
    Card.CONTROL: ("control", "contrôle", "kontrola"),
    Card.THEFT: ("theft", "vol", "kradzież"),
}

_MAT_WORDS: dict[str, tuple[str, str, str]] = {
    "battle": ("battle", "bataille", "bitwa"),
    "battle-hint": ("hazards, remedies, roll", "attaques, parades, roulez", "przeszkody, ratunek, jazda"),
    "speed": ("speed", "vitesse", "prędkość"),
    "speed-hint": ("limit, end of limit", "limite, fin de limite", "ograniczenie i jego koniec"),
    "safety": ("safety", "bottes", "ochrona"),
    "safety-hint": ("sideways for a coup fourré", "en travers : coup fourré", "w poprzek: coup fourré"),
    "distance": ("distance", "étapes", "dystans"),
    "draw": ("draw", "pioche", "talia"),
    "draw-hint": ("the pile covers the marker", "la pile couvre le repère", "talia zakrywa znak"),
    "discard": ("discard", "défausse", "odrzucone"),
    "discard-hint": ("face up", "faces visibles", "awersem do góry"),
    "side": ("side", "côté", "strona"),
    "table": ("table", "table", "stół"),
    "robot": ("Robo", "Robo", "Robo"),
    "robot-hand": ("Robo’s hand", "main de Robo", "karty Robo"),
    "robot-hint": (
        "draw for Robo without looking, one card a slot",
        "piocher pour Robo sans regarder, une carte par case",
        "dobieraj dla Robo bez patrzenia, po jednej karcie na pole",
    ),
    "people": ("screen, and people", "paravent, et joueurs", "parawan i gracze"),
    "helper": ("helper’s edge", "bord de l’assistant", "brzeg pomocnika"),
    "screen-fold": ("fold back", "plier en arrière", "zagiąć do tyłu"),
    "screen-glue": (
        "fold back, and glue to the far edge: it stands like a tent between Robo’s hand and the people",
        "plier en arrière et coller au bord opposé : une tente entre la main de Robo et les joueurs",
        "zagiąć do tyłu i przykleić do przeciwnego brzegu: namiot między kartami Robo a graczami",
    ),
    "edge": ("player’s edge", "bord du joueur", "brzeg gracza"),
    "up": ("this way up", "ce côté en haut", "tą stroną do góry"),
    "left": ("left half", "moitié gauche", "lewa połowa"),
    "right": ("right half", "moitié droite", "prawa połowa"),
    "join": ("lay edge to edge here", "joindre bord à bord ici", "tu zetknąć brzegi"),
    "print": (
        "print at 100 %, no fitting to the page",
        "imprimer à 100 %, sans ajuster à la page",
        "drukuj w skali 100 %, bez dopasowania",
    ),
    "stickers": ("stickers", "étiquettes", "naklejki"),
    "deck": ("cards", "cartes", "karty"),
    "backs": ("backs", "dos", "rewersy"),
    "scale": ("this line is 50 mm", "ce trait fait 50 mm", "ta linia ma 50 mm"),
    "scale-ask": ("printed true to size?", "imprimé à la bonne taille ?", "wydruk bez skalowania?"),
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
