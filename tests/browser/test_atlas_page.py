"""The atlas's page in a real browser; complaints and requests fail in ``open_page``."""

import pytest

from tests.quick_atlas import quick_atlas


@pytest.fixture
def page_file():
    return quick_atlas() / "atlas.html"


def test_every_picture_loads(open_page, page_file):
    page = open_page(page_file)
    widths = page.locator("main img").evaluate_all("all => all.map(img => img.naturalWidth)")
    assert len(widths) == 11
    assert all(width > 100 for width in widths)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_sticks_out(open_page, page_file, width, scheme):
    page = open_page(page_file, width, 844, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_mode_is_dark(open_page, page_file):
    page = open_page(page_file, scheme="dark")
    paper = page.locator("body").evaluate("element => getComputedStyle(element).backgroundColor")
    assert paper == "rgb(21, 23, 26)"


def test_it_prints_on_a4(open_page, page_file):
    page = open_page(page_file, 703, 1000, "dark")
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= 703
    assert not page.locator("nav").is_visible()


def test_the_links_lead_to_the_parts(open_page, page_file):
    page = open_page(page_file)
    targets = page.locator("nav a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
    assert len(targets) == 11
    for target in targets:
        assert page.locator(target).count() == 1
