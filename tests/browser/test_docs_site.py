"""The site of docs/, opened as files."""

from pathlib import Path

STAND_IN = Path(__file__).parents[2] / "deploy/docs-theme/assets/iframe-worker.js"


def test_the_search_works_on_a_page_opened_as_a_file(browser, tmp_path):
    (tmp_path / "worker.js").write_text("addEventListener('message', asked => postMessage(asked.data + 1));")
    (tmp_path / "index.html").write_text(f"<body><script src='{STAND_IN.as_uri()}'></script>")
    page = browser.new_page()
    page.goto((tmp_path / "index.html").as_uri())

    answer = page.evaluate("""() => new Promise(answered => {
        const worker = new Worker('worker.js');
        worker.addEventListener('message', message => answered(message.data));
        worker.postMessage(41);
    })""")

    assert answer == 42
    page.close()
