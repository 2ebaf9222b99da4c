"""The explorer's page in a real browser: every control, the link, the keyboard, hostile text."""

import re
import xml.etree.ElementTree as ET
from importlib.resources import files
from urllib.parse import parse_qs, urlencode

import pytest

from mictree.report.explorer.render import EXAMPLES, render

EVIL = "</script><img src=x onerror=alert(1)>"
READY = '#results[aria-busy="false"]'


@pytest.fixture
def open_explorer(open_page, tmp_path):
    """Open the page, with any state in its link, and wait for the first answer."""

    def open_with(start=None, **settings):
        fields = settings.pop("link", None)
        path = tmp_path / "explorer.html"
        path.write_text(render(start), encoding="utf-8")
        page = open_page(
            path, fragment=f"#{urlencode(fields, doseq=True)}" if fields else "", **settings
        )
        until(page, READY)
        return page

    return open_with


def until(page, selector, text=""):
    """Wait for an element with this text, at every frame: a locator looks twice a second."""
    page.wait_for_function(
        """([selector, text]) => document.querySelector(selector)?.textContent.includes(text)""",
        arg=[selector, text],
    )


def settled(page, act):
    """Do something and wait for the answer that it asks for."""
    before = page.url
    act()
    page.wait_for_url(lambda url: url != before)
    until(page, READY)


def fill(page, selector, text):
    """Type a text and leave the field: the page reads it at once, without the pause of typing."""
    field = page.locator(selector)
    field.fill(text)
    field.blur()


def verdict(page):
    return page.locator("#verdict").inner_text()


def errors(page):
    return [page.locator(f"#{kind}-error").inner_text() for kind in ("greedy", "optimal")]


def names_in(page, tree):
    return page.locator(f"#{tree}-tree text.name").all_text_contents()


def test_it_opens_with_the_paper_s_example(open_explorer):
    page = open_explorer()
    assert errors(page) == ["error 1/16 = 0.0625", "error 1/32 = 0.03125"]
    assert "MIC(8)" in verdict(page)
    assert "3/256 = 0.01172" in verdict(page)
    assert page.locator("#chart .excess").count() == 2
    assert page.locator("#open-leaves tbody tr").count() == 1
    assert "however few inputs reach it: leaf 1, 0.1379" in page.locator("#why").inner_text()


def test_every_example_is_shown(open_explorer):
    page = open_explorer()
    for place, example in list(enumerate(EXAMPLES))[::-1]:
        settled(page, lambda place=place: page.locator("#example").select_option(str(place)))
        assert page.locator("#example-text").inner_text() == example.text
        size = example.state["size"]
        assert page.locator("#size-shown").inner_text().startswith(f"{size} of ")
        assert page.locator("#greedy-tree rect.box").count() == size


def test_typing_a_formula_changes_the_link_and_the_link_brings_it_back(open_explorer):
    page = open_explorer()
    settled(page, lambda: page.locator("#formula").fill("(a | b) & ~c ^ a"))
    settled(page, lambda: page.locator("#extra").fill("z, w"))
    settled(page, lambda: page.locator("#rule").select_option("id3"))
    settled(page, lambda: page.locator("#criterion").select_option("gini"))
    settled(page, lambda: page.locator("#max-size").fill("11"))
    settled(page, lambda: page.locator("#larger").click())
    assert page.locator("#example").input_value() == ""
    again = open_explorer(link=parse_qs(page.url.split("#")[1]))
    assert again.locator("#formula").input_value() == "(a | b) & ~c ^ a"
    assert again.locator("#extra").input_value() == "z, w"
    assert (verdict(again), errors(again)) == (verdict(page), errors(page))
    assert again.locator("#rule").input_value() == "id3"
    assert again.locator("#size-shown").inner_text() == page.locator("#size-shown").inner_text()


def test_a_formula_that_cannot_be_read_is_refused_where_it_is_wrong(open_explorer):
    page = open_explorer()
    settled(page, lambda: fill(page, "#formula", "a & (b | "))
    assert "a literal is missing, at position 10" in page.locator("#refused").inner_text()
    assert page.locator("#stale").is_visible()
    settled(page, lambda: fill(page, "#formula", "a & b"))
    assert page.locator("#refused").inner_text() == ""
    assert not page.locator("#stale").is_visible()
    assert errors(page)[0].startswith("error")


def colours(page, *parts):
    return [
        page.locator(part).first.evaluate(
            "e => [getComputedStyle(e).color, getComputedStyle(e).filter]"
        )
        for part in parts
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_after_an_error_the_old_result_is_grey(open_explorer, scheme):
    parts = ("#verdict", "#greedy-error", "#open-leaves td", "#chart svg", "#greedy-tree svg")
    page = open_explorer(scheme=scheme)
    before, shown = colours(page, *parts), verdict(page)
    settled(page, lambda: fill(page, "#formula", "x1 & (x2 | "))
    after = colours(page, *parts)
    assert verdict(page) == shown
    assert len({colour for colour, _ in after[:3]}) == 1
    assert all(one[0] != other[0] for one, other in zip(before[:3], after[:3], strict=True))
    assert [effect for _, effect in after[3:]] == ["grayscale(1)"] * 2
    assert all(page.locator(f"#{name}").is_disabled() for name in ("smaller", "larger", "size"))
    page.set_viewport_size({"width": 1200, "height": 600})  # draws it again
    page.wait_for_timeout(50)
    assert verdict(page) == shown
    settled(page, lambda: fill(page, "#formula", EXAMPLES[0].state["formula"]))
    assert colours(page, *parts) == before  # it comes back, where it was
    assert verdict(page) == shown
    assert page.locator("#size").is_enabled()


def test_a_new_target_starts_at_size_0(open_explorer):
    page = open_explorer()
    assert page.locator("#size-shown").inner_text() == "5 of 8 splits"
    settled(page, lambda: fill(page, "#formula", "(a xor b) implies c"))
    assert page.locator("#size-shown").inner_text() == "0 of 8 splits"
    assert page.locator("#greedy-tree rect.box").count() == 0
    page.locator("#larger").click()
    settled(page, lambda: page.locator("#rule").select_option("id3"))
    assert page.locator("#size-shown").inner_text() == "1 of 8 splits"  # the same formula
    settled(page, lambda: page.locator("#kind-data").check())
    page.locator("#larger").click()
    settled(page, lambda: page.locator("#target").select_option("wind"))
    assert page.locator("#size-shown").inner_text() == "0 of 6 splits"
    page.locator("#larger").click()
    settled(page, lambda: fill(page, "#csv", DATA))
    assert page.locator("#size-shown").inner_text() == "0 of 6 splits"
    settled(page, lambda: page.locator("#undo").click())
    assert page.locator("#size-shown").inner_text() == "1 of 6 splits"
    settled(page, lambda: page.locator("#kind-formula").check())
    assert page.locator("#size-shown").inner_text() == "0 of 6 splits"


def test_a_problem_that_is_too_large_names_the_command_that_solves_it(open_explorer):
    page = open_explorer()
    text = " | ".join(f"x{i}" for i in range(11))
    settled(page, lambda: fill(page, "#formula", text))
    refused = page.locator("#refused").inner_text()
    assert "at most 10 variables" in refused
    assert f"mictree mic '{text}'" in refused
    settled(page, lambda: fill(page, "#formula", "a"))
    settled(page, lambda: fill(page, "#max-size", "101"))
    assert "from 1 to 100; got 101" in page.locator("#refused").inner_text()


def test_the_slider_the_buttons_and_the_chart_move_the_size(open_explorer):
    page = open_explorer()
    page.locator("#size").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#size-shown").inner_text() == "6 of 8 splits"
    page.keyboard.press("Home")
    assert page.locator("#greedy-tree rect.box").count() == 0
    assert page.locator("#smaller").is_disabled()
    page.keyboard.press("End")
    assert page.locator("#larger").is_disabled()
    assert errors(page) == ["error 0", "error 0"]
    assert "growth has ended" in page.locator("#why").inner_text()
    page.locator("#smaller").click()
    assert page.locator("#size-shown").inner_text() == "7 of 8 splits"
    box = page.locator("#chart svg").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 100)
    assert page.locator("#size-shown").inner_text() == "4 of 8 splits"
    page.locator("#play").click()
    assert page.locator("#play").inner_text() == "Pause"
    page.locator("#play").click()
    assert page.locator("#play").inner_text() == "Play"


def test_ties_are_explained_and_random_ones_drawn_again(open_explorer):
    page = open_explorer(link={"formula": "a ^ b", "extra": "z", "maxSize": 7})
    assert "a, b and z gain the same" in page.locator("#why").inner_text()
    assert "the last of them, z" in page.locator("#why").inner_text()
    assert not page.locator("#seed").is_visible()
    settled(page, lambda: page.locator("#ties").select_option("random"))
    page.locator("#larger").click()
    roots = set()
    for _ in range(12):
        settled(page, lambda: page.locator("#draw-again").click())
        roots.add(names_in(page, "greedy")[0])
    assert roots == {"a", "b", "z"}
    assert page.locator("#seed").input_value() == "12"
    page.locator("#ties-part summary").click()
    until(page, "#all-ties tbody tr")
    assert page.locator("#all-ties tbody tr").count() == 5
    assert page.locator("#all-ties td.chosen").count() == 1


def test_looking_ahead_is_explained(open_explorer):
    page = open_explorer(link={"formula": "a ^ b", "extra": "z", "maxSize": 7})
    settled(page, lambda: page.locator("#rule").select_option("lookahead2"))
    assert "plans 2 levels of questions" in page.locator("#rule-help").inner_text()
    why = page.locator("#why").inner_text()
    assert "subtree of 2 levels: leaf 0, 1 × 1 = 1" in why
    assert "a and b gain the same, with and without what follows" in why
    heads = page.locator("#offers th[scope=col]").all_inner_texts()
    assert heads == ["variable", "alone", "gain of 2 levels", "compared"]
    rows = page.locator("#offers tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.children].slice(0, 3).map(cell => cell.textContent))"
    )
    assert rows == [["a", "0", "1"], ["b ← taken", "0", "1"], ["z", "0", "0"]]
    settled(page, lambda: fill(page, "#formula", "a"))
    why = page.locator("#why").inner_text()
    assert "the best subtree begins with a; ones that begin with z gain as much in the end" in why
    settled(page, lambda: page.locator("#rule").select_option("lookahead3"))
    settled(page, lambda: fill(page, "#formula", "a ^ b ^ c ^ d"))
    assert "these levels alone help nothing" in page.locator("#why").inner_text()


def test_biases_for_all_and_for_each(open_explorer):
    page = open_explorer(link={"formula": "a & b"})
    assert page.locator(".bias").count() == 1
    settled(page, lambda: page.locator("#slide-0").press("ArrowRight"))
    assert page.locator("#bias-0").input_value() == "0.51"
    settled(page, lambda: page.locator("#one-bias").uncheck())
    assert page.locator(".bias-name").all_inner_texts() == ["a", "b"]
    settled(page, lambda: fill(page, "#bias-1", "1/3"))
    assert page.locator("#slide-1").input_value() == "33"
    assert errors(page) == ["error 17/100 = 0.17"] * 2
    settled(page, lambda: fill(page, "#bias-1", "4/3"))
    refused = page.locator("#refused").inner_text()
    assert refused == "bias must lie strictly between 0 and 1; b has 4/3"
    settled(page, lambda: fill(page, "#bias-1", "0.25"))
    settled(page, lambda: page.locator("#one-bias").check())
    assert page.locator(".bias").count() == 1


def test_the_truth_table_by_mouse_and_keyboard(open_explorer):
    page = open_explorer(link={"formula": "a & b"})
    page.locator("#truth-part summary").click()
    cells = page.locator("#truth button")
    assert cells.all_inner_texts() == ["0", "0", "0", "1"]
    settled(page, lambda: cells.nth(0).click())
    assert cells.all_inner_texts() == ["1", "0", "0", "1"]
    assert page.locator("#formula").input_value() == ""
    page.keyboard.press("ArrowDown")
    settled(page, lambda: page.keyboard.press("Space"))
    assert cells.all_inner_texts() == ["1", "0", "1", "1"]
    assert page.evaluate("document.activeElement.dataset.row") == "2"
    assert cells.nth(2).get_attribute("aria-pressed") == "true"
    settled(page, lambda: fill(page, "#formula", "a | b"))
    assert cells.all_inner_texts() == ["0", "1", "1", "1"]


def test_undo_and_redo(open_explorer):
    page = open_explorer()
    assert page.locator("#undo").is_disabled()
    first = page.url
    settled(page, lambda: page.locator("#rule").select_option("topdown"))
    settled(page, lambda: fill(page, "#formula", "a ^ b"))
    last = page.url
    settled(page, lambda: page.locator("#undo").click())
    settled(page, lambda: page.locator("#size").press("Control+z"))
    assert page.url == first
    assert page.locator("#formula").input_value() == EXAMPLES[0].state["formula"]
    settled(page, lambda: page.locator("#redo").click())
    settled(page, lambda: page.locator("#size").press("Control+y"))
    assert page.url == last
    assert page.locator("#redo").is_disabled()


def test_a_drag_is_undone_as_one(open_explorer):
    page = open_explorer()
    first = page.url
    box = page.locator("#slide-0").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.8, middle, steps=8)
    page.mouse.up()
    until(page, READY)
    assert float(page.locator("#bias-0").input_value()) > 0.7
    settled(page, lambda: page.locator("#undo").click())
    assert page.url == first


def test_the_tour(open_explorer):
    page = open_explorer()
    page.locator("#start-tour").click()
    titles = []
    for _ in range(5):
        titles.append(page.locator("#tour-title").inner_text())
        assert page.evaluate("document.activeElement.id") == "tour-title"
        assert page.locator(".pointed").count() == 1
        until(page, READY)
        page.locator("#tour-next").click()
    assert [title[:6] for title in titles] == [f"{step} of 5" for step in range(1, 6)]
    assert not page.locator("#tour").is_visible()
    page.locator("#start-tour").click()
    page.locator("#tour-next").click()
    page.locator("#tour-back").click()
    assert page.locator("#tour-title").inner_text() == titles[0]
    page.locator("#tour-end").click()
    assert not page.locator("#tour").is_visible()


def test_the_tour_s_buttons_are_in_view_on_a_phone(open_explorer):
    page = open_explorer(width=390, height=844)
    page.locator("#start-tour").click()
    tour, button = (page.locator(f"#{name}").bounding_box() for name in ("tour", "tour-next"))
    assert button["y"] + button["height"] <= tour["y"] + tour["height"]


def test_the_tour_says_what_is_so(open_explorer):
    """The numbers that its texts name, read from the page."""
    page = open_explorer()
    page.locator("#start-tour").click()
    until(page, READY)
    assert errors(page)[0] == "error 11/32 = 0.3438"
    assert "x1 and x2 gain the same" in page.locator("#why").inner_text()
    page.locator("#tour-next").click()
    settled(page, lambda: page.locator("#tour-next").click())
    assert errors(page) == ["error 1/16 = 0.0625", "error 1/32 = 0.03125"]
    settled(page, lambda: page.locator("#tour-next").click())
    assert errors(page)[1] == "error 0"
    sizes = page.locator("#sizes tbody tr").evaluate_all(
        "rows => rows.map(row => row.children[1].textContent)"
    )
    assert sizes.index("0") == 5
    settled(page, lambda: page.locator("#rule").select_option("lookahead2"))
    assert errors(page)[0] == "error 0"
    assert names_in(page, "greedy")[0] == "s"
    settled(page, lambda: page.locator("#tour-next").click())
    assert names_in(page, "greedy")[0] == "z"
    settled(page, lambda: page.locator("#ties").select_option("first"))
    assert names_in(page, "greedy")[0] == "a"


DATA = """size,colour,age,bought
1.5,red,30,no
2.5,"dark, blue",,yes
3.5,red,50,yes
4.5,green,20,no
5.5,"dark, blue",20,yes
6.5,red,,maybe
"""


def test_pasted_data(open_explorer):
    page = open_explorer()
    settled(page, lambda: page.locator("#rule").select_option("topdown"))
    settled(page, lambda: page.locator("#kind-data").check())
    assert page.locator("#example").input_value() == "5"
    settled(page, lambda: fill(page, "#csv", DATA))
    assert page.locator("#target").input_value() == "bought"
    assert page.locator("#positive").input_value() == "yes"
    tests = page.locator("#tests li").all_inner_texts()
    assert tests[:3] == ["size > 3", "size > 4", "size > 5"]  # near the quartiles
    assert "colour = dark, blue" in tests
    assert "age is missing" in tests
    settled(page, lambda: page.locator("#positive").select_option("no"))
    page.locator("#size").press("Home")
    assert "error 1/3" in errors(page)[0]
    settled(page, lambda: page.locator("#target").select_option("colour"))
    assert page.locator("#positive").input_value() == "red"
    page.reload()
    until(page, READY)
    assert page.locator("#csv").input_value() == DATA
    assert page.locator("#target").input_value() == "colour"


def test_pasted_data_may_have_decimal_commas(open_explorer):
    page = open_explorer({"kind": "data", "csv": "a,b\n0,1\n1,0\n"})
    csv = "size, cm;price;bought\n1,5;1.200,5;no\n2,5;3;yes\n3,5;-;no\n4,5;7,25;yes\n"
    settled(page, lambda: fill(page, "#csv", csv))
    assert page.locator("#refused").inner_text() == ""
    tests = page.locator("#tests li").all_inner_texts()
    assert tests == [
        "size, cm > 2", "size, cm > 3", "size, cm > 4", "price > 5.125", "price is missing",
    ]  # fmt: skip  # price > 603.875 is the first one's negation
    fill(page, "#csv", csv.replace("1.200,5", "1,200.5").replace("7,25", "8"))
    until(page, "#refused", "one meaning; size, cm has '1,5'")


def test_pasted_dates_are_ordered(open_explorer):
    """By time, not by their texts, in which 9 comes after 10."""
    page = open_explorer({"kind": "data", "csv": "a,b\n0,1\n1,0\n"})
    days = [f"{day}.{month}.2012" for month in (2, 9, 10, 12) for day in (3, 17)]
    rows = [f"{day},{'late' if number > 3 else 'early'}" for number, day in enumerate(days)]
    settled(page, lambda: fill(page, "#csv", "\n".join(["day,when", *rows])))
    tests = page.locator("#tests li").all_inner_texts()
    assert tests == ["day > 2012-05-26", "day > 2012-09-25", "day > 2012-11-09"]
    assert "Numbers and dates are compared" in page.locator("#tests-help").inner_text()
    page.locator("#larger").click()
    assert errors(page) == ["error 0", "error 0"]
    assert names_in(page, "greedy") == ["day > 2012-09-25"]
    zones = "when,y\n2012-01-01T10:00Z,0\n2012-01-01T11:30+02:00,1\n2012-01-01T11:00Z,0\n"
    settled(page, lambda: fill(page, "#csv", zones))
    tests = page.locator("#tests li").all_inner_texts()
    assert tests == ["when > 2012-01-01 09:45 UTC", "when > 2012-01-01 10:30 UTC"]
    points = "when,y\n3.4.2012 10:00,0\n3.4.2012 10:30,1\n4.3.2012 09:00,0\n"
    settled(page, lambda: fill(page, "#csv", points))
    tests = page.locator("#tests li").all_inner_texts()
    assert tests == ["when > 2012-03-19", "when > 2012-04-03 10:15"]


def test_pasted_nanoseconds_are_told_apart(open_explorer):
    page = open_explorer({"kind": "data", "csv": "a,b\n0,1\n1,0\n"})
    rows = [f"2024-01-01 00:00:00.{part:09},{int(part > 500)}" for part in (250, 500, 750)]
    settled(page, lambda: fill(page, "#csv", "\n".join(["when,y", *rows])))
    tests = page.locator("#tests li").all_inner_texts()
    start = "when > 2024-01-01 00:00:00.000000"
    assert tests == [f"{start}375", f"{start}625"]


def test_dates_without_a_clear_day_are_texts_and_the_page_says_so(open_explorer):
    csv = "day,y\n3/4/2012,0\n4/5/2012,1\n5/6/2012,0\n"
    page = open_explorer({"kind": "data", "csv": csv})
    assert page.locator("#tests li").all_inner_texts() == [
        "day = 3/4/2012", "day = 4/5/2012", "day = 5/6/2012",
    ]  # fmt: skip
    said = page.locator("#tests-help").inner_text()
    assert "Dates in day are texts: nothing tells which number of 3/4/2012 is the day" in said
    settled(page, lambda: fill(page, "#csv", csv.replace("5/6", "5/16")))
    assert "Dates in day" not in page.locator("#tests-help").inner_text()
    for old, new, said in (
        ("5/6/", "31/2/", "there is no 31/2/2012; correct it"),
        ("5/6/2012,0", "5/16/2012,0\n16/5/2012,1", "some begin with the day, as 16/5/2012, and"),
        ("2012,", "2012 10:00,", "nothing tells which number of 3/4/2012 10:00 is the day"),
    ):
        settled(page, lambda old=old, new=new: fill(page, "#csv", csv.replace(old, new)))
        assert f"Dates in day are texts: {said}" in page.locator("#tests-help").inner_text()
    zones = "day,y\n5/6/2012 10:00Z,0\n5/6/2012 10:00,1\n"
    settled(page, lambda: fill(page, "#csv", zones))
    said = "some have a zone, as 5/6/2012 10:00Z, and some have none, as 5/6/2012 10:00;"
    assert said in page.locator("#tests-help").inner_text()
    for days in (("12 Jul 2001", "31 Aug 2001", "1 Sep 2001"), ("31.08.20", "01.09.20", "2.9.20")):
        rows = [f"{day},{number % 2}\n" for number, day in enumerate(days)]
        settled(page, lambda rows=rows: fill(page, "#csv", "".join(["day,y\n", *rows])))
        said = f"Dates in day are texts: cells such as {days[0]} are not read as dates; write 2024-"
        assert said in page.locator("#tests-help").inner_text()
    fill(page, "#csv", csv + "2012-01-01,1\n")
    until(page, "#refused", "dates of one form; day has 3 such as '3/4/2012' and 1 other")


def test_the_rule_and_the_formula_stay_when_data_is_chosen(open_explorer):
    page = open_explorer()
    settled(page, lambda: fill(page, "#formula", "a ^ b ^ c"))
    chosen = {"rule": "id3", "criterion": "gini", "ties": "random"}
    for name, value in chosen.items():
        settled(page, lambda name=name, value=value: page.locator(f"#{name}").select_option(value))
    settled(page, lambda: fill(page, "#seed", "7"))
    for kind in ("data", "formula"):
        settled(page, lambda kind=kind: page.locator(f"#kind-{kind}").check())
        assert {name: page.locator(f"#{name}").input_value() for name in chosen} == chosen
        assert page.locator("#seed").input_value() == "7"
    assert page.locator("#formula").input_value() == "a ^ b ^ c"
    page = open_explorer(link={"kind": "data", "csv": DATA, **chosen})
    settled(page, lambda: page.locator("#kind-formula").check())
    assert page.locator("#formula").input_value() == EXAMPLES[0].state["formula"]
    assert {name: page.locator(f"#{name}").input_value() for name in chosen} == chosen


def test_a_clicked_truth_table_stays_when_data_is_chosen(open_explorer):
    page = open_explorer()
    page.locator("#truth-part summary").click()
    settled(page, lambda: page.locator('#truth [data-row="0"]').click())
    clicked, link = page.locator("#truth").inner_text(), page.url
    for kind in ("data", "formula"):
        settled(page, lambda kind=kind: page.locator(f"#kind-{kind}").check())
    assert page.locator("#truth").inner_text() == clicked
    assert (
        parse_qs(page.url.partition("#")[2])["table"] == parse_qs(link.partition("#")[2])["table"]
    )
    assert page.locator("#formula").input_value() == ""
    settled(page, lambda: fill(page, "#formula", "a ^ b"))  # it replaces the table
    for kind in ("data", "formula"):
        settled(page, lambda kind=kind: page.locator(f"#kind-{kind}").check())
    assert page.locator("#formula").input_value() == "a ^ b"


BAD_DATA = [
    ("a;b\n1,234;0\n5,678;1\n", "commas in numbers must have one meaning; a has '1,234'"),
    ("a,b\n1,0\n2,1\nx,1\n", "a has 2 numbers and 1 other: 'x'"),
    ("a,b\n" + "0,1\n" * 201, "at most 200 rows here; this one has 201"),
    ("a,b\n1\n", "every row must have 2 cells; row 1 has 1"),
    ("a,a\n1,2\n", "'a' occurs twice"),
    ("a,b\n", "a row beside its header"),
    ("a\n1\n", "two columns"),
    ('a,b\n"1,2\n', "must end with a quote"),
    ("a,b\n1,2\n1,3\n", "two different values"),
    ("a,b\n1,\n2,3\n", "b is missing in 1 of 2 rows"),
    ("x" * 60_001, "at most 60000 characters"),
    ("", "header and two columns"),
]


def test_bad_data_is_refused(open_explorer):
    page = open_explorer({"kind": "data", "csv": "a,b\n0,1\n1,0\n"})
    for text, message in BAD_DATA:
        fill(page, "#csv", text)
        until(page, "#refused", message)


def test_the_picture_is_an_svg_that_stands_alone(open_explorer, tmp_path):
    page = open_explorer()
    with page.expect_download() as waiting:
        page.locator("#save-picture").click()
    path = tmp_path / "tree.svg"
    waiting.value.save_as(path)
    root = ET.parse(path).getroot()
    texts = ["".join(element.itertext()) for element in root.iter() if element.tag.endswith("text")]
    assert {"x1", "y3", "BestFirst's tree", "number of splits"} <= set(texts)
    fills = {element.get("fill") for element in root.iter()}
    assert any(fill and fill.startswith("rgb") for fill in fills)
    assert not any(element.get("class") for element in root.iter())


def test_the_link_is_copied_or_shown(open_explorer):
    page = open_explorer()
    page.locator("#copy-link").click()
    until(page, "#done:not(:empty)")
    shown = page.locator("#done input")
    if shown.count():
        assert shown.input_value() == page.url


def test_printing_opens_what_is_closed(open_explorer):
    page = open_explorer(scheme="dark")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.emulate_media(media="print")
    assert not page.locator(".toolbar").is_visible()
    ink, paper = (
        page.locator("body").evaluate(f"element => getComputedStyle(element).{name}")
        for name in ("color", "backgroundColor")
    )
    assert (ink, paper) == ("rgb(0, 0, 0)", "rgb(255, 255, 255)")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() == 3


def test_a_pasted_table_is_printed_whole(open_explorer):
    """A field on paper shows its first lines only."""
    rows = "".join(f"{number},{number % 2}\n" for number in range(200))
    page = open_explorer(link={"kind": "data", "csv": f"a,b\n{rows}"}, width=680)
    assert not page.locator("#printed-csv").is_visible()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert not page.locator("#csv").is_visible()
    printed = page.locator("#printed-csv")
    assert printed.text_content() == f"a,b\n{rows}"
    assert printed.evaluate(
        "e => e.scrollHeight <= e.clientHeight && e.scrollWidth <= e.clientWidth"
    )
    assert page.locator(".screen:visible").count() == 0
    page.emulate_media(media="screen")
    settled(page, lambda: page.locator("#kind-formula").check())
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert not page.locator("#printed-part").is_visible()


@pytest.mark.parametrize(("width", "scheme"), [(320, "light"), (390, "dark"), (1280, "light")])
def test_nothing_sticks_out(open_explorer, width, scheme):
    page = open_explorer(width=width, height=844, scheme=scheme)
    page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
    for place in range(len(EXAMPLES)):
        page.locator("#example").select_option(str(place))
        until(page, READY)
        page.locator("#size").press("End")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#start-tour").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [320, 375])
def test_on_a_phone_the_target_comes_first_then_the_result(open_explorer, width):
    page = open_explorer(width=width, height=800)
    names = ("example", "formula", "rule-shown", "size", "verdict", "chart", "open-leaves")
    places = [page.locator(f"#{name}").bounding_box()["y"] for name in names]
    assert places == sorted(places)
    assert not page.locator("#rule").is_visible()  # folded up, so that the result is near
    shown = "BestFirst, entropy, ties last, up to 8 splits"
    assert page.locator("#rule-shown").inner_text() == shown
    page.locator("#rule-part summary").click()
    settled(page, lambda: page.locator("#rule").select_option("topdown"))
    page.set_viewport_size({"width": 1280, "height": 900})
    page.wait_for_timeout(50)
    assert page.locator("#rule").is_visible()
    assert not page.locator("#rule-shown").is_visible()


CUT = """all => all.filter(table => {
  const frame = table.closest(".scroll");
  return frame.scrollWidth > frame.clientWidth || table.getBoundingClientRect().right > innerWidth;
}).map(table => table.id || table.className)"""
LONG = "a column with a long name"
LONG_DATA = f"{LONG},day,y\n" + "".join(
    f"a value with a long name {n % 7},2012-{n % 12 + 1:02}-03,{n % 3 == 1}\n" for n in range(40)
)


@pytest.mark.parametrize("width", [320, 375])
def test_no_table_is_cut_on_a_phone(open_explorer, width):
    """Only a large truth table is wider; it says that it moves, and it does."""
    links = [{"formula": "a ^ b ^ c & d", "rule": "lookahead3", "bias": "0.123456", "maxSize": 15},
             {"kind": "data", "csv": LONG_DATA, "maxSize": 12}]  # fmt: skip
    for link in links:
        page = open_explorer(width=width, height=800, link=link)
        page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
        until(page, "#all-ties td")
        for _ in range(4):
            assert page.locator("table.numbers").evaluate_all(CUT) == []
            page.locator("#larger").click()
    labels = page.locator("#open-leaves td").first.evaluate(
        "e => getComputedStyle(e, 'before').content"
    )
    assert labels == '"where"'
    settled(page, lambda: page.locator("#kind-formula").check())
    settled(page, lambda: fill(page, "#formula", " ^ ".join("abcdefghij")))
    frame = page.locator("#truth-part .scroll")
    page.wait_for_timeout(50)
    assert "move sideways" in frame.evaluate("e => getComputedStyle(e, 'before').content")
    page.locator("#truth button").last.scroll_into_view_if_needed()
    box = page.locator("#truth button").last.bounding_box()
    assert 0 < box["x"] < box["x"] + box["width"] <= width
    settled(page, lambda: fill(page, "#formula", "a"))
    page.wait_for_timeout(50)
    assert frame.evaluate("e => getComputedStyle(e, 'before').content") == "none"


WORD = "Kapitänsmützenabzeichen" * 3
WORD_DATA = f"{WORD},{WORD}2,y\n" + "".join(
    f"{WORD}{n % 5},{WORD}{n % 3},{n % 2}\n" for n in range(30)
)


@pytest.mark.parametrize("width", [320, 768, 1280])
def test_no_table_is_cut_by_a_long_word(open_explorer, width):
    for link in ({"kind": "data", "csv": WORD_DATA}, {"formula": f"{WORD}1 & ({WORD}2 xor b)"}):
        page = open_explorer(width=width, height=800, link=link | {"size": 2})
        page.wait_for_timeout(50)
        assert page.locator("table.numbers:visible").count() > 1
        assert page.locator("table.numbers:visible").evaluate_all(CUT) == []


def test_the_truth_table_of_the_paper_s_example_fits_a_phone(open_explorer):
    page = open_explorer(width=320, height=800)
    page.locator("#truth-part summary").click()
    assert page.locator("#truth").evaluate_all(CUT) == []


def test_names_in_trees_keep_their_end(open_explorer):
    csv = "a column with a long name,y\n" + "".join(f"{n},{n > 4}\n" for n in range(9))
    page = open_explorer(link={"kind": "data", "csv": csv, "size": 1})
    assert names_in(page, "greedy") == ["a column wi…g name > 4.5"]


def test_a_link_that_is_refused_shows_its_bias(open_explorer):
    page = open_explorer(link={"formula": "a & (", "bias": "1/3"})
    assert page.locator("#one-bias").is_checked()
    assert page.locator("#bias-0").input_value() == "1/3"
    page.locator("#one-bias").click()
    settled(page, lambda: fill(page, "#formula", "a & b"))
    assert errors(page)[0] == "error 1/9 = 0.1111"


def test_a_wide_tree_begins_at_its_root_on_a_phone(open_explorer):
    link = {"formula": "a & (b ^ c ^ d ^ e ^ f)", "maxSize": 31, "size": 31}
    page = open_explorer(width=390, height=844, link=link)
    frame = page.locator("#greedy-tree")
    assert frame.evaluate("frame => frame.scrollWidth > frame.clientWidth + 50")
    boxes = frame.bounding_box(), frame.locator("rect.box").first.bounding_box()
    middle, root = (box["x"] + box["width"] / 2 for box in boxes)
    assert abs(middle - root) < 2
    frame.evaluate("frame => { frame.scrollLeft = 0; }")
    page.set_viewport_size({"width": 390, "height": 700})  # as when the address bar goes away
    page.wait_for_timeout(50)
    assert frame.evaluate("frame => frame.scrollLeft") == 0
    page.locator("#smaller").click()
    assert frame.evaluate("frame => frame.scrollLeft") > 0


def test_the_page_answers_fingers(open_explorer):
    page = open_explorer(width=390, height=844, touch=True)
    page.locator("#larger").tap()
    assert page.locator("#size-shown").inner_text() == "6 of 8 splits"
    page.locator("#truth-part summary").tap()
    settled(page, lambda: page.locator("#truth button").nth(0).tap())
    assert page.locator("#truth button").nth(0).inner_text() == "1"
    heights = page.locator("button:visible, select:visible").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().height)"
    )
    assert min(heights) >= 24  # WCAG 2.2, target size


HOSTILE_LINKS = [
    {"formula": EVIL},
    {"formula": "a", "extra": EVIL},
    {"kind": EVIL, "rule": EVIL, "ties": EVIL, "criterion": EVIL, "seed": "1e999"},
    {"kind": "constructor", "formula": "a"},
    {"kind": "table", "names": EVIL, "table": "01"},
    {"kind": "table", "names": ",".join("abcdefghijklmnop"), "table": "0" * 70_000},
    {"formula": "a", "biases": f"a:{EVIL}", "bias": EVIL},
    {"formula": "a", "biases": "__proto__:1,constructor:2"},
    {"__proto__": "1", "toString": "2", "formula": "constructor & toString | valueOf"},
    {"formula": "a", "maxSize": "-1"},
    {"formula": "a", "maxSize": "1e9", "size": "1e9"},
    {"formula": "a", "size": "-5"},
    {"formula": "a", "size": "2.5"},
    {"formula": "(" * 4000},
    {"formula": "x" * 50_000},
    {"kind": "data", "csv": f"{EVIL},b\n{EVIL},1\n2,{EVIL}\n", "target": "b"},
    {"kind": "data", "csv": "a,b\n1,2\n3,4\n", "target": EVIL, "positive": EVIL},
]


def check_unharmed(page):
    assert page.locator("img, b, iframe").count() == 1  # the one of the introduction
    page.locator("#start-tour").click()
    settled(page, lambda: page.locator("#rule").select_option("id3"))
    assert errors(page)[0].startswith("error ")
    assert page.locator("#refused").inner_text() == ""
    page.locator("#tour-end").click()


@pytest.mark.parametrize("link", [HOSTILE_LINKS[0], HOSTILE_LINKS[8], HOSTILE_LINKS[-2]])
def test_a_hostile_link_does_nothing(open_explorer, link):
    check_unharmed(open_explorer(link=link))


def test_a_hostile_link_in_an_open_page_does_nothing(open_explorer):
    page = open_explorer()
    for link in HOSTILE_LINKS:
        page.evaluate("link => { location.hash = link; }", urlencode(link))
        page.wait_for_timeout(30)
        until(page, READY)
        check_unharmed(page)


def test_hostile_names_are_shown_as_text(open_explorer):
    csv = f'"{EVIL}",<b>label</b>\n"{EVIL}",<i>yes\nother,no\n'
    page = open_explorer({"kind": "data", "csv": csv, "target": "<b>label</b>", "maxSize": 2})
    assert EVIL in page.locator("#tests").inner_text()
    page.locator("#larger").click()
    assert page.locator("img, i").count() == 0
    with page.expect_download() as waiting:
        page.locator("#save-picture").click()
    assert ET.parse(waiting.value.path()).getroot() is not None


def test_the_policy_allows_no_other_script(open_explorer):
    page = open_explorer()
    policy = page.locator("meta[http-equiv]").get_attribute("content")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert re.findall(r"[a-z-]+-src", policy) == [
        "default-src", "img-src", "style-src", "script-src", "worker-src",
    ]  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_has_no_finding(open_explorer, scheme):
    axe = pytest.importorskip("axe_playwright_python")
    source = files(axe).joinpath("axe.min.js").read_text("utf-8")
    page = open_explorer(scheme=scheme)
    page.locator("#start-tour").click()
    settled(page, lambda: page.locator("#ties").select_option("random"))
    page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
    until(page, "#all-ties td")
    page.evaluate(source)
    check_accessible(page)
    settled(page, lambda: page.locator("#kind-data").check())
    check_accessible(page)
    settled(page, lambda: fill(page, "#csv", "a,b\n1"))
    assert page.locator("#refused").inner_text()
    check_accessible(page)


def check_accessible(page):
    found = page.evaluate("axe.run()")
    assert len(found["passes"]) > 30
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
