"""Hook of the documentation site: languages of the pages, links between them, and a note on outdated translations."""

import hashlib
import posixpath
from pathlib import Path
from typing import Any

NAMES = {"en": "English", "de": "Deutsch", "fr": "Français"}
OUTDATED = {"de": "Die englische Seite ist neuer.", "fr": "La page anglaise est plus récente."}


def _language(uri: str) -> str:
    """Return the language of a page by its folder."""
    folder = uri.partition("/")[0]
    return folder if folder in NAMES else "en"


def _outdated(meta: dict[str, Any], docs: Path) -> bool:
    """Return True if the English page has changed since the page was translated."""
    if "translates" not in meta:
        return False
    english = docs.parent / meta["translates"]
    return not hashlib.sha256(english.read_bytes()).hexdigest().startswith(str(meta["of"]))


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Add below the title: links to the same page in other languages, and a note if the English page is newer."""
    uri, own = page.file.src_uri, _language(page.file.src_uri)
    name = posixpath.basename(uri) if own != "en" else uri
    pages = {language: name if language == "en" else f"{language}/{name}" for language in NAMES}
    there = [language for language in NAMES if language != own and files.get_file_from_path(pages[language])]
    links = [f"[{NAMES[one]}]({posixpath.relpath(pages[one], posixpath.dirname(uri) or '.')})" for one in there]
    note = [f"**{OUTDATED[own]}**"] if own in OUTDATED and _outdated(page.meta, Path(config["docs_dir"])) else []
    title, _, rest = markdown.partition("\n")
    return "\n\n".join(part for part in (title, " · ".join([*note, *links]), rest) if part)


def on_page_context(context: Any, page: Any, config: Any, **_: Any) -> Any:
    """Show the theme's own words, and the page's language for screen readers, in the language of the page."""
    config.theme["language"] = _language(page.file.src_uri)
    return context
