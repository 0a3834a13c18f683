"""What a phone has to fetch before it shows the first page."""

import re

import pytest

MOST_BYTES = 60_000
EIGHT = tuple(f"side {name}" for name in ("Ann", "Bob", "Cid", "Dee", "Eve", "Fay", "Gil", "Hal"))


def fetched(page, path: str) -> dict[str, bytes]:
    """A page and everything that it loads, style sheets' fonts too, as it comes over the air."""
    answers = {path: page.get(path, headers={"Accept-Encoding": "gzip"})}
    texts = [page.get(path).text]
    while texts:
        for address in set(re.findall(r'(?:href|src)="(/static/[^"#]+)|url\("?([^")#]+)', texts.pop())):
            asset = address[0] or f"/static/{address[1]}"
            if asset not in answers:
                answers[asset] = page.get(asset, headers={"Accept-Encoding": "gzip"})
                texts += [page.get(asset).text] if ".css" in asset else []
    assert {answer.status_code for answer in answers.values()} == {200}
    return {asset: answer.data for asset, answer in answers.items()}


@pytest.mark.parametrize("path", ["/", "/join", "/wall", "/setup", "/score", "/past/1", "/past/1/1", "/camera", "/try"])
@pytest.mark.parametrize("header", [("side Ann", "side Bob"), ("edition rush", *EIGHT)], ids=["two", "eight"])
def test_the_first_load_is_small_in_the_language_with_the_longest_words(page, match, path, header):
    match.start((*header, "hand first Ann"))
    for play in ("Ann roll", "Bob roll", "Ann 100", "Bob stop > Ann", "Ann roll", "end"):
        match.enter(play, "Ann")
    page.environ_base["HTTP_ACCEPT_LANGUAGE"] = "pl"

    parts = fetched(page, path)

    assert 0 < sum(len(part) for asset, part in parts.items() if asset.endswith(".woff2")) < 25_000
    assert sum(map(len, parts.values())) <= MOST_BYTES, sorted(parts.items(), key=lambda part: -len(part[1]))


def test_a_phone_finds_what_it_needs_to_keep_the_pages_on_its_home_screen(page, match):
    match.start(("edition rush", *EIGHT, "hand first Ann"))
    shown = page.get("/").text
    manifest = page.get(re.search(r'rel="manifest" href="([^"]+)', shown)[1])
    icons = [page.get(f"/static/{icon['src']}").data for icon in manifest.json["icons"]]
    touch = page.get(re.search(r'rel="apple-touch-icon" href="([^"]+)', shown)[1]).data

    assert manifest.content_type.startswith("application/manifest+json")
    assert (manifest.json["start_url"], manifest.json["display"]) == ("/", "standalone")
    sizes = [(int.from_bytes(icon[16:20]), int.from_bytes(icon[20:24])) for icon in (*icons, touch)]
    assert sizes == [*((size, size) for size in (180, 192, 512) for _purpose in range(2)), (180, 180)]
