"""The pages of mictree fit and mictree data in a real browser."""

import polars as pl
import pytest
from typer.testing import CliRunner

from mictree.cli import app

LONG = "days since the last contact with the customer"
WORD = "neither-nor".replace("-", "") * 6
A4 = 680  # pixels between margins of 1.5 cm


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Both pages about one table with long names, categories and missing values."""
    folder = tmp_path_factory.mktemp("pages")
    labels = ["customers who will most probably renew", "a call within two weeks", WORD]
    rows = [
        (age % 97, state, balance, labels[0 if age % 97 > 40 and state else 1 + (balance is None)])
        for age in range(0, 2000, 11)
        for state, balance in (("North Rhine-Westphalia", 1.5), (None, -2.0), ("Bremen", None))
    ]
    file = folder / "customers.csv"
    pl.DataFrame(rows, schema=[LONG, "state", "balance", "label"], orient="row").write_csv(file)
    for command, options in {
        "fit": ["--max-size", "6"],
        "data": ["--max-size", "3", "--cv", "2", "--learner", "sklearn", "--learner", "topdown"],
    }.items():
        words = [
            command,
            file,
            "--target",
            "label",
            "--report",
            folder / f"{command}.html",
            *options,
        ]
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert result.exit_code == 0, result.output
    return folder


@pytest.mark.parametrize("name", ["fit", "data"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (360, "light")])
def test_fits_every_screen(open_page, pages, name, width, scheme):
    page = open_page(pages / f"{name}.html", width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    loaded = page.locator("main img").evaluate_all(
        "all => all.map(img => [img.naturalWidth > 0, img.alt.length > 20])"
    )
    assert loaded == [[True, True]] * (3 if name == "fit" else 2)
    ink, paper = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    dark = [sum(map(int, each[4:-1].split(","))) < 384 for each in (ink, paper)]
    assert dark == [scheme == "light", scheme == "dark"]


@pytest.mark.parametrize("name", ["fit", "data"])
def test_prints_on_a4(open_page, pages, name):
    page = open_page(pages / f"{name}.html", width=A4, scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    wide = page.locator("main *").evaluate_all(
        f"all => all.filter(e => e.getBoundingClientRect().right > {A4} + 1).map(e => e.outerHTML)"
    )
    assert wide == []
    clipped = page.locator("main *").evaluate_all(
        "all => all.filter(e => e.tagName != 'svg' && e.clientWidth)"
        ".filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.outerHTML)"
    )
    assert clipped == []
    hidden = page.locator("h1, h2, h3, p:not(.hint), td, th, dt, dd, img").evaluate_all(
        "all => all.filter(e => !e.checkVisibility()).length"
    )
    assert hidden == 0
    alone = page.locator("h2, h3, .lead").evaluate_all(
        "all => all.filter(e => getComputedStyle(e).breakAfter != 'avoid').length"
    )
    assert alone == 0
    tall = page.locator("img").evaluate_all("all => Math.max(...all.map(e => e.height))")
    assert tall <= 23.1 / 2.54 * 96  # a picture fits on a page
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"


def test_rules_are_labelled_on_a_phone(open_page, pages):
    page = open_page(pages / "fit.html", width=360)
    assert page.locator(".hint:visible").count() == page.locator(".picture").count() == 3
    cell = page.locator(".rules tbody td").first
    shown = cell.evaluate("e => getComputedStyle(e, '::before').content")
    assert shown == '"if"'
    assert LONG in page.locator(".rules").first.inner_text()


@pytest.mark.parametrize("name", ["fit", "data"])
def test_results_of_classes_are_whole_on_a_phone(open_page, pages, name):
    page = open_page(pages / f"{name}.html", width=320)
    table = page.locator(".classes").first
    assert table.evaluate("e => e.parentElement.scrollWidth <= e.parentElement.clientWidth")
    labels = table.locator("tr:last-child td").evaluate_all(
        "all => all.map(e => getComputedStyle(e, '::before').content)"
    )
    assert labels[:4] == ['"rows"', '"predicted"', '"recall"', '"precision"']
    assert WORD in table.inner_text()


@pytest.mark.parametrize("width", [320, 1280])
def test_a_long_class_name_does_not_stretch_the_confusion_matrix(open_page, pages, width):
    page = open_page(pages / "fit.html", width=width)
    heads = page.locator(".confusion").first.locator("thead th")
    assert WORD in heads.all_inner_texts()
    widths = heads.evaluate_all("all => all.map(e => e.getBoundingClientRect().width)")
    assert max(widths) < 0.7 * width


def test_a_table_with_hidden_columns_has_a_shadow(open_page, pages):
    """One behind the table stays at the edge; a cover that moves with it hides it at the end."""
    page = open_page(pages / "fit.html", width=320)
    frame = page.locator(".scroll:has(> .numbers:not(.classes))").first
    assert frame.evaluate("e => e.scrollWidth > e.clientWidth")
    assert frame.evaluate("e => getComputedStyle(e).backgroundAttachment") == "local, scroll"
