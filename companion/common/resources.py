from __future__ import annotations

from pathlib import Path


def shipped(name: str) -> Path:
    """Return the folder `web` or `card_templates`: beside the package in a checkout, inside it once installed."""
    package = Path(__file__).parent.parent
    installed = package / "_shipped" / name
    return installed if installed.is_dir() else package.parent / name
