"""A real browser for the tests of pages."""

import shutil
import subprocess

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def find_browser():
    for path in filter(None, map(shutil.which, NAMES)):
        asked = subprocess.run([path, "--version"], capture_output=True, check=False)
        if asked.returncode == 0:
            return path
    return None


@pytest.fixture(scope="package")
def browser():
    path = find_browser()
    if path is None:
        pytest.skip("no chromium on this machine; 'make browser' installs it where it can")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(OPTIONS))
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def contexts(browser):
    """One for each kind of screen: a page in a context of its own takes twice the time to open."""
    return {
        (scheme, touch): browser.new_context(color_scheme=scheme, has_touch=touch)
        for scheme in ("light", "dark")
        for touch in (False, True)
    }


@pytest.fixture
def open_page(contexts):
    """Open a file; complaints and requests that leave the file are errors at the end."""
    pages, complaints = [], []

    def open_file(path, width=1280, height=900, scheme="light", fragment="", touch=False):
        page = contexts[scheme, touch].new_page()
        pages.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.set_default_timeout(10_000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        allowed = (path.as_uri(), "data:", "blob:null/")  # a blob of the page becomes a worker
        page.on(
            "request",
            lambda request: request.url.startswith(allowed) or complaints.append(request.url),
        )
        page.goto(path.as_uri() + fragment)
        return page

    yield open_file
    for page in pages:
        page.close()
    assert complaints == []
