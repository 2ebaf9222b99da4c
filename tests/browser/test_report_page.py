"""The report's page in a real browser."""

import re

import pytest

from mictree.report.page import render
from tests.quick_report import quick_run
from tests.unit.test_claims import page_of
from tests.unit.test_report import evil_page

TREES = "#learners .learner svg"


@pytest.fixture
def report():
    return quick_run() / "report.html"


def drawn(page):
    return page.locator(TREES).evaluate_all("all => all.map(tree => tree.outerHTML)")


def numbers(page):
    return page.locator("#learners .learner p").all_inner_texts()


def test_keyboard_moves_the_slider(open_page, report):
    page = open_page(report)
    before = drawn(page)
    assert len(before) == 3
    page.locator("#size").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#size-shown").inner_text() == "6"
    assert all(new != old for new, old in zip(drawn(page), before, strict=True))
    page.keyboard.press("Home")
    assert page.locator("#size-shown").inner_text() == "0"
    assert page.locator(f"{TREES} rect.node").count() == 0
    page.keyboard.press("End")
    assert page.locator(f"{TREES} rect.node").count() == 3 * 8
    assert numbers(page) == ["error 0, excess 0"] * 3


def test_mouse_moves_the_slider(open_page, report):
    page = open_page(report)
    page.locator("#size").scroll_into_view_if_needed()
    box = page.locator("#size").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.click(box["x"] + 0.3 * box["width"], middle)
    assert page.locator("#size-shown").inner_text() in ("2", "3")
    page.mouse.move(box["x"] + 0.3 * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"], middle, steps=5)
    page.mouse.up()
    assert page.locator("#size-shown").inner_text() == "8"
    assert page.locator("#larger").is_disabled()
    page.locator("#smaller").click()
    assert page.locator("#size-shown").inner_text() == "7"


def test_shows_the_paper_s_example(open_page, report):
    page = open_page(report)
    assert numbers(page) == [
        "error 0.0313, excess 0", "error 0.0625, excess 0.0313", "error 0.0313, excess 0",
    ]  # fmt: skip
    assert page.locator("#learners h3").all_inner_texts() == ["TopDown", "BestFirst", "optimal"]


def test_other_formulas(open_page, report):
    page = open_page(report)
    page.locator("#case").select_option("1")
    page.locator("#size").press("End")
    assert page.locator("#formula").inner_text().startswith("a1 & a2 & a3 |")
    assert page.locator(f"{TREES} rect.node").count() > 40


def test_every_picture_loads_and_has_a_text(open_page, report):
    page = open_page(report)
    sizes = page.locator("main img").evaluate_all(
        "all => all.map(img => [img.naturalWidth, img.alt.length])"
    )
    assert len(sizes) == 8
    assert all(width > 100 and length > 60 for width, length in sizes)
    unnamed = page.locator("svg:not([aria-label])")
    assert unnamed.count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_sticks_out(open_page, report, width, scheme):
    page = open_page(report, width, 844, scheme)
    page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
    for number in range(3):
        page.locator("#case").select_option(str(number))
        page.locator("#size").press("End")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [320, 1280])
def test_the_key_of_the_curves_is_whole(open_page, report, width):
    page = open_page(report, width)
    edge = page.locator("#chart svg").evaluate("e => e.getBoundingClientRect().right")
    names = page.locator("#chart text").filter(has_text=re.compile("TopDown|BestFirst|optimal"))
    boxes = [each.bounding_box() for each in names.all()]
    assert len(boxes) == 3
    assert all(box["x"] + box["width"] <= edge for box in boxes)
    lines = page.locator("#chart line.curve").all()
    starts = [line.bounding_box()["x"] for line in lines]
    assert all(
        box["x"] + box["width"] < start for box, start in zip(boxes, starts[1:], strict=False)
    )


def test_dark_mode_is_dark_and_legible(open_page, report):
    page = open_page(report, scheme="dark")
    ink, paper = (
        page.locator("body").evaluate(f"element => getComputedStyle(element).{name}")
        for name in ("color", "backgroundColor")
    )
    assert (ink, paper) == ("rgb(236, 236, 236)", "rgb(21, 23, 26)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fails_looks_like_fails(open_page, tmp_path, scheme):
    verdicts = ("holds", "holds in part", "fails", "unclear as printed")
    colors, marks = [], []
    for verdict in verdicts:
        path = tmp_path / "page.html"
        path.write_text(page_of(verdict), encoding="utf-8")
        shown = open_page(path, scheme=scheme).locator("#claims .verdict")
        assert shown.inner_text() == verdict
        color = shown.evaluate("element => getComputedStyle(element).color")
        colors.append(tuple(map(int, re.findall(r"\d+", color))))
        marks.append(shown.evaluate("element => getComputedStyle(element, '::before').content"))
    (_, green, _), part, (red, *others), unclear = colors
    assert green == max(colors[0])
    assert red > 1.5 * max(others)
    assert len({colors[0], part, colors[2]}) == 3
    assert part == unclear
    assert len(set(marks)) == 4


def test_names_like_markup_inject_nothing(open_page, tmp_path):
    path = tmp_path / "evil.html"
    path.write_text(render(evil_page()), encoding="utf-8")
    page = open_page(path)
    page.locator("#size").press("End")
    page.wait_for_timeout(200)
    assert page.locator("img").count() == 1
    assert page.locator("b").count() == 0
    assert "<img src=x onerror=alert(1)>" in page.locator("#formula").inner_text()
    assert "<img src=x onerror=alert(1)>" in page.locator("h1").inner_text()
    assert page.locator("#learners text.name").all_inner_texts() != []


@pytest.mark.parametrize("width", [390, 1280])
def test_the_filter_keeps_the_statements_with_all_words(open_page, report, width):
    page = open_page(report, width)
    page.locator("#statements summary").first.click()
    rows = page.locator("#statements tbody tr")
    everything = rows.count()
    page.locator("#filter").fill("Theorem bestfirst")
    left = page.locator("#statements tbody tr:visible").all_inner_texts()
    assert 0 < len(left) < everything
    assert all("theorem" in row.lower() and "bestfirst" in row.lower() for row in left)
    assert page.locator("#filtered").inner_text() == f"{len(left)} of {everything}"
    page.locator("#filter").fill("")
    assert page.locator("#statements tbody tr:visible").count() == everything


def test_a_link_opens_its_statement_and_leads_to_its_check(open_page, report):
    page = open_page(report, fragment="#statement-3")
    row = page.locator("#statement-3")
    assert row.is_visible()
    assert row.locator("a").first.get_attribute("href") == "#statement-3"
    names = re.findall(r"mictree\.statements\.\w+\.(\w+)", row.inner_text())
    assert names
    assert not page.locator("#check-3").is_visible()
    row.get_by_role("link", name="Its check").click()
    page.locator("#check-3").wait_for()
    assert page.locator("#check-3").inner_text() == row.locator("a").first.inner_text()
    code = page.locator("#check-3 ~ pre").first.inner_text()
    assert f"def {names[0]}(" in code
    page.locator("#check-3 + p a").click()
    assert page.url.endswith("#statement-3")


def test_printing_opens_what_is_closed(open_page, report):
    page = open_page(report, 703, 1000, "dark")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("details:not([open])").count() == 0
    assert not page.locator("#filter").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 703
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() > 0


def test_it_begins_with_the_question_and_shows_biases(open_page, report):
    page = open_page(report)
    assert page.locator("h1").inner_text().endswith("?")
    words = page.locator("header").inner_text()
    assert all(
        word in words for word in ("TopDown splits", "BestFirst splits", "Found in this run")
    )
    assert page.locator("main > section").first.locator("img").count() == 1
    assert page.locator("#biases").inner_text() == "every bias 0.5"
    page.locator("#case").select_option("2")
    assert page.locator("#biases").inner_text().startswith("biases: a1 0.3, a2 0.7, b1 0.3")
