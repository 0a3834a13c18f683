"""What every test in a browser starts from."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright
from serving import running

from browser.screens import CHROMIUM, SMALL, app_of

PATIENCE_MS = 30_000
"""A busy machine is slow; how quick a page is no test asks."""

LOOKS_MS = 2_100
"""How long people look at the table before the next tap; sooner ones are not meant."""

expect.set_options(timeout=PATIENCE_MS)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker("browser")


@pytest.fixture
def app(match, request):
    """The pages of the match as they are at home, with what a test's parameter says; its own file may serve others."""
    return app_of(match, **getattr(request, "param", {}))


@pytest.fixture
def url(app):
    """Where the pages are served."""
    with running(app) as address:
        yield address


@pytest.fixture(scope="package")
def launched():
    """Starts a browser with arguments of its own."""
    with sync_playwright() as playwright:
        path = CHROMIUM or playwright.chromium.executable_path
        if not Path(path).exists():
            pytest.skip("no Chromium: install the system's package `chromium`, or run `playwright install chromium`")
        yield lambda *arguments: playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu", "--font-render-hinting=none", *arguments]
        )


@pytest.fixture(scope="package")
def browser(launched):
    started = launched()
    yield started
    started.close()


@pytest.fixture
def opened(browser):
    """Opens pages that fail the test when a script of theirs fails or something from outside is asked for."""
    contexts, wrong = [], []

    def open_page(url: str, size=SMALL, **options) -> Page:
        context = browser.new_context(viewport=size, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if _is_wrong(said) else None)
        page.on("request", lambda asked: None if "127.0.0.1" in asked.url else wrong.append(asked.url))
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


def _is_wrong(said) -> bool:
    """A script's own complaint; that a page, a network or what was asked for is not there belongs to some tests."""
    return said.type == "error" and not re.search("ERR_|400|404|htmx:", said.text)
