from __future__ import annotations

from pathlib import Path


def shipped(name: str) -> Path:
    """Return the folder `web` or `card_templates`, of a checkout or installed package."""
    package = Path(__file__).parent.parent
    installed = package / "_shipped" / name
    return installed if installed.is_dir() else package.parent / name
