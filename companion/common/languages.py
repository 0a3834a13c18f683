"""The languages that pages, referee, terminal and printed sheets speak."""

from __future__ import annotations

from collections.abc import Mapping

OWN_NAMES: Mapping[str, str] = {
    "en": "English",
    "fr": "Français",
    "pl": "Polski",
    "de": "Deutsch",
    "es": "Español",
    "nl": "Nederlands",
    "it": "Italiano",
}
"""By code: how each language calls itself. English is the one the texts are written in."""

OWN_WORDS: Mapping[str, str] = {
    "en": "Language",
    "fr": "Langue",
    "pl": "Język",
    "de": "Sprache",
    "es": "Idioma",
    "nl": "Taal",
    "it": "Lingua",
}
"""By code: what “language” is called in each, for whoever looks for his own."""

LANGUAGES = tuple(OWN_NAMES)
