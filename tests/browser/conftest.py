"""A real browser for the tests of pages."""

import shutil
import subprocess
from contextlib import contextmanager

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


class Screens:
    """Pages in one browser; those that a test leaves serve the next, as a new one takes long."""

    def __init__(self, browser):
        self.contexts = {touch: browser.new_context(has_touch=touch) for touch in (False, True)}
        self.idle = {touch: [] for touch in self.contexts}

    def take(self, touch):
        return self.idle[touch].pop() if self.idle[touch] else self.contexts[touch].new_page()

    @contextmanager
    def opener(self):
        """Open files; complaints and requests that leave a file are errors at the end."""
        taken, complaints = [], []

        def open_file(path, width=1280, height=900, scheme="light", fragment="", touch=False):
            allowed = (path.as_uri(), "data:", "blob:null/")  # a blob of the page becomes a worker
            page = self.take(touch)
            listeners = {
                "console": lambda message: complaints.append(message.text),
                "pageerror": lambda error: complaints.append(str(error)),
                "dialog": lambda dialog: (complaints.append(dialog.message), dialog.dismiss()),
                "request": lambda request: (
                    request.url.startswith(allowed) or complaints.append(request.url)
                ),
            }
            taken.append((page, touch, listeners))
            page.bring_to_front()  # timers of a page behind another one are slow
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(media="screen", color_scheme=scheme, reduced_motion="reduce")
            page.set_default_timeout(10_000)
            for event, listener in listeners.items():
                page.on(event, listener)
            page.goto(path.as_uri() + fragment)
            return page

        yield open_file
        for page, touch, listeners in taken:
            for event, listener in listeners.items():
                page.remove_listener(event, listener)
            page.mouse.move(0, 0)
            page.goto("about:blank")  # a page that differs in its fragment only is not loaded anew
            self.idle[touch].append(page)
        assert complaints == []


@pytest.fixture(scope="package")
def screens(browser):
    return Screens(browser)


@pytest.fixture
def open_page(screens):
    with screens.opener() as open_file:
        yield open_file
