"""In a browser: no name is executed as code, and no other server is contacted."""

import pytest
from house import furnished, looked_at
from serving import running

EVIL = "\"'></title><img src=//evil.example/x onerror=alert(1)><script>alert(1)</script>{{7*7}}"
WATCH = """() => { window.broken = [];
document.addEventListener("securitypolicyviolation", found => window.broken.push(found.violatedDirective)); }"""


@pytest.mark.long
def test_no_page_runs_injected_code_or_contacts_other_servers(opened, tmp_path):
    said: list[str] = []
    with furnished(tmp_path, EVIL) as house, running(house.app) as url:
        machine = house.machine()
        paths = [path for _endpoint, path in looked_at(house) if machine.get(path).mimetype == "text/html"]
        page = opened(f"{url}/wall")
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        page.add_init_script(f"({WATCH})()")
        for path in paths:
            page.goto(url + path, wait_until="domcontentloaded")
            page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")

            assert page.evaluate("window.broken") == [], path
            assert page.locator("img[src*=evil]").count() == 0, path

    assert len(paths) > 20
    assert said == []
