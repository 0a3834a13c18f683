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
"""Own names of the supported languages, by code."""

OWN_WORDS: Mapping[str, str] = {
    "en": "Language",
    "fr": "Langue",
    "pl": "Język",
    "de": "Sprache",
    "es": "Idioma",
    "nl": "Taal",
    "it": "Lingua",
}
"""Each language's word for “language”, by code."""

LANGUAGES = tuple(OWN_NAMES)
