"""The words on our cards and mats, in the languages of the pages."""

from __future__ import annotations

from companion.common.languages import LANGUAGES
from companion.rules.cards import Card, Family

_KILOMETRES = ("kilometres", "kilomètres", "kilometrów", "Kilometer", "kilómetros")

_FAMILIES: dict[Family, tuple[str, ...]] = {
    Family.DISTANCE: ("distance", "étape", "dystans", "Strecke", "distancia"),
    Family.HAZARD: ("hazard", "attaque", "przeszkoda", "Hindernis", "ataque"),
    Family.REMEDY: ("remedy", "parade", "ratunek", "Hilfe", "defensa"),
    Family.SAFETY: ("safety", "botte", "ochrona", "Trumpf", "comodín"),
    Family.SPECIAL: ("special", "spéciale", "specjalna", "Sonderkarte", "especial"),
}

_WORDS: dict[Card, tuple[str, ...]] = {
    Card.ACCIDENT: ("accident", "accident", "wypadek", "Unfall", "accidente"),
    Card.OUT_OF_GAS: ("out of gas", "panne d’essence", "brak paliwa", "Tank leer", "sin gasolina"),
    Card.FLAT_TIRE: ("flat tire", "crevaison", "przebita opona", "Reifenpanne", "pinchazo"),
    Card.OUT_OF_CHARGE: ("out of charge", "batterie à plat", "pusta bateria", "Akku leer", "sin batería"),
    Card.POLLUTION: ("pollution", "pollution", "smog", "Smog", "polución"),
    Card.STOP: ("stop", "stop", "stop", "Rote Ampel", "semáforo rojo"),
    Card.SPEED_LIMIT: ("speed limit", "limite de vitesse", "ograniczenie", "Tempolimit", "límite de velocidad"),
    Card.REPAIRS: ("repairs", "réparations", "naprawa", "Reparatur", "reparación"),
    Card.GASOLINE: ("gasoline", "essence", "paliwo", "Benzin", "gasolina"),
    Card.SPARE_TIRE: ("spare tire", "roue de secours", "koło zapasowe", "Ersatzrad", "rueda de repuesto"),
    Card.RECHARGE: ("recharge", "recharge", "ładowanie", "Ladesäule", "recarga"),
    Card.END_OF_POLLUTION: ("clean air", "air pur", "czyste powietrze", "Smog-Ende", "aire limpio"),
    Card.ROLL: ("roll", "roulez", "jazda", "Grüne Ampel", "semáforo verde"),
    Card.END_OF_LIMIT: ("end of limit", "fin de limite", "koniec ograniczenia", "Ende des Limits", "fin de límite"),
    Card.DRIVING_ACE: ("driving ace", "as du volant", "as kierownicy", "Ass am Steuer", "as del volante"),
    Card.EXTRA_TANK: ("extra tank", "citerne", "zapas paliwa", "Tankwagen", "cisterna"),
    Card.PUNCTURE_PROOF: ("puncture proof", "increvable", "pancerna opona", "Pannenschutz", "rueda maciza"),
    Card.LONG_RANGE: ("long range", "grande autonomie", "duży zasięg", "große Reichweite", "gran autonomía"),
    Card.CAR_POOL: ("car pool", "covoiturage", "wspólny przejazd", "Mitfahrer", "coche compartido"),
    Card.RIGHT_OF_WAY: ("right of way", "prioritaire", "pierwszeństwo", "Vorfahrt", "prioridad de paso"),
    Card.ACCELERATOR: ("accelerator", "accélérateur", "gaz do dechy", "Turbo", "acelerador"),
    Card.MIRROR: ("mirror", "rétroviseur", "lusterko", "Rückspiegel", "retrovisor"),
    Card.U_TURN: ("u-turn", "demi-tour", "zawracanie", "Kehrtwende", "cambio de sentido"),
    Card.CONTROL: ("control", "contrôle", "kontrola", "Kontrolle", "control policial"),
    Card.THEFT: ("theft", "vol", "kradzież", "Diebstahl", "hurto"),
}

_MAT_WORDS: dict[str, tuple[str, ...]] = {
    "battle": ("battle", "bataille", "bitwa", "Kampf", "batalla"),
    "battle-hint": (
        "hazards, remedies, roll",
        "attaques, parades, roulez",
        "przeszkody, ratunek, jazda",
        "Hindernisse, Hilfen, Grüne Ampel",
        "ataques, defensas, semáforo",
    ),
    "speed": ("speed", "vitesse", "prędkość", "Tempo", "velocidad"),
    "speed-hint": (
        "limit, end of limit",
        "limite, fin de limite",
        "ograniczenie i jego koniec",
        "Limit, Ende des Limits",
        "límite, fin de límite",
    ),
    "safety": ("safety", "bottes", "ochrona", "Trümpfe", "comodines"),
    "safety-hint": (
        "sideways for a coup fourré",
        "en travers : coup fourré",
        "w poprzek: coup fourré",
        "quer: Coup fourré",
        "atravesado: coup fourré",
    ),
    "distance": ("distance", "étapes", "dystans", "Kilometer", "distancia"),
    "draw": ("draw", "pioche", "talia", "Nachziehstapel", "mazo"),
    "draw-hint": (
        "the pile covers the marker",
        "la pile couvre le repère",
        "talia zakrywa znak",
        "der Stapel verdeckt die Marke",
        "el mazo tapa la marca",
    ),
    "discard": ("discard", "défausse", "odrzucone", "Ablage", "descartes"),
    "discard-hint": ("face up", "faces visibles", "awersem do góry", "offen", "boca arriba"),
    "side": ("side", "côté", "strona", "Team", "bando"),
    "table": ("table", "table", "stół", "Tisch", "mesa"),
    "robot": ("Robo", "Robo", "Robo", "Robo", "Robot"),
    "robot-hand": ("Robo’s hand", "main de Robo", "karty Robo", "Hand von Robo", "mano del robot"),
    "robot-hint": (
        "draw for Robo without looking, one card a slot",
        "piocher pour Robo sans regarder, une carte par case",
        "dobieraj dla Robo bez patrzenia, po jednej karcie na pole",
        "für Robo ziehen, ohne hinzusehen, in jedes Fach eine Karte",
        "roba por el robot sin mirar, una carta por casilla",
    ),
    "people": (
        "screen, and people",
        "paravent, et joueurs",
        "parawan i gracze",
        "Sichtschutz und Spieler",
        "biombo y jugadores",
    ),
    "helper": ("helper’s edge", "bord de l’assistant", "brzeg pomocnika", "Rand des Helfers", "borde del ayudante"),
    "screen-fold": ("fold back", "plier en arrière", "zagiąć do tyłu", "nach hinten falten", "doblar hacia atrás"),
    "screen-glue": (
        "fold back, and glue to the far edge: it stands like a tent between Robo’s hand and the people",
        "plier en arrière et coller au bord opposé : une tente entre la main de Robo et les joueurs",
        "zagiąć do tyłu i przykleić do przeciwnego brzegu: namiot między kartami Robo a graczami",
        "nach hinten falten und am anderen Rand ankleben: wie ein Zelt zwischen Robos Hand und den Spielern",
        "doblar hacia atrás y pegar al borde opuesto: una tienda entre la mano del robot y los jugadores",
    ),
    "edge": ("player’s edge", "bord du joueur", "brzeg gracza", "Rand des Spielers", "borde del jugador"),
    "up": ("this way up", "ce côté en haut", "tą stroną do góry", "diese Seite oben", "este lado arriba"),
    "left": ("left half", "moitié gauche", "lewa połowa", "linke Hälfte", "mitad izquierda"),
    "right": ("right half", "moitié droite", "prawa połowa", "rechte Hälfte", "mitad derecha"),
    "join": (
        "lay edge to edge here",
        "joindre bord à bord ici",
        "tu zetknąć brzegi",
        "hier Kante an Kante legen",
        "juntar aquí borde con borde",
    ),
    "print": (
        "print at 100 %, no fitting to the page",
        "imprimer à 100 %, sans ajuster à la page",
        "drukuj w skali 100 %, bez dopasowania",
        "mit 100 % drucken, nicht an die Seite anpassen",
        "imprimir al 100 %, sin ajustar a la página",
    ),
    "stickers": ("stickers", "étiquettes", "naklejki", "Aufkleber", "pegatinas"),
    "sleeve": (
        "on the sleeve, not on the card",
        "sur le protège-carte, pas sur la carte",
        "na koszulkę, nie na kartę",
        "auf die Hülle, nicht auf die Karte",
        "en la funda, no en la carta",
    ),
    "deck": ("cards", "cartes", "karty", "Karten", "cartas"),
    "backs": ("backs", "dos", "rewersy", "Rückseiten", "dorsos"),
    "scale": (
        "this line is 50 mm",
        "ce trait fait 50 mm",
        "ta linia ma 50 mm",
        "diese Linie ist 50 mm lang",
        "esta línea mide 50 mm",
    ),
    "scale-ask": (
        "printed true to size?",
        "imprimé à la bonne taille ?",
        "wydruk bez skalowania?",
        "maßstäblich gedruckt?",
        "¿impreso a tamaño real?",
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
