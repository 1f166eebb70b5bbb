# SPDX-License-Identifier: Apache-2.0
"""The page of `report`: the window's colours, light and dark; the worst longest and yellow; nodes by their modules' paths."""
import html
import json
import re
from html.parser import HTMLParser

from harness import SOURCE, main, run_good
from tune_searches import best, sick, tuned

SAMPLES = SOURCE / "resources" / "samples"
GOOD, WORST = "#00224e", "#fee838"  # the ends of cividis, as in ui/style/theme.cpp


def report(folder):
    out = folder / "out"
    run_good("quantize", SAMPLES / "shapes.pt2", "--data", SAMPLES / "shapes.calib.npz", "--device", "cpu", "--out", out)
    run_good("report", out, "--html", folder / "page.html")
    return json.loads((out / "result.json").read_text()), (folder / "page.html").read_text()


class Tags(HTMLParser):
    """Every tag is closed where it should be."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.open, self.getpos())


def fills(page):
    """{class: colour} by theme."""
    light, dark = re.search(r"<style>(.*?)</style>", page, re.S).group(1).split("@media(prefers-color-scheme:dark)")
    return [dict(re.findall(r"\.(s\d+)\{fill:(#[0-9a-f]{6})", css)) for css in (light, dark)]


def test_the_page(folder):
    result, page = report(folder)
    # Complete without scripts and without a network.
    assert "<script" not in page and "{{" not in page and not re.search(r"\b(?:src|href)=|url\(|@import", page)
    tags = Tags()
    tags.feed(page)
    assert not tags.open, tags.open

    light, dark = fills(page)
    last = f"s{len(light) - 1}"
    assert light["s0"] == GOOD and light[last] == WORST == dark[last] and dark["s0"] != GOOD and len(light) == len(dark)

    # Worst first, and the worse the longer.
    chart = page.split("Worst layers by the error born there")[1].split("<h2>")[0].split("</p>")[-1]
    bars = [(name, float(width), float(db)) for name, width, db in
            re.findall(r'<rect class="(s\d+)" [^>]* width="([\d.]+)" [^>]*/><text [^>]*>([\d.]+) dB', chart)]
    assert len(bars) > 5 and bars[0][0] == last, bars
    assert [bar[2] for bar in bars] == sorted(bar[2] for bar in bars)
    assert [bar[1] for bar in bars] == sorted((bar[1] for bar in bars), reverse=True) and bars[0][1] > 3 * bars[-1][1], bars
    assert re.search(r"good \d+ dB .*? worst \d+ dB", page, re.S), "the scale has no ends"

    # A box of the tree has the colour of its number.
    tree = page.split("<h2>Module tree")[1].split("<h2>")[0]
    boxes = re.findall(r'worst layer ([\d.]+) dB</title><rect [^>]*class="s(\d+)"', tree)
    ordered = sorted((float(db), -int(step)) for db, step in boxes)
    assert len(boxes) > 5 and [step for _, step in ordered] == sorted(step for _, step in ordered), boxes

    # Each operator by its module's path.
    table = page.split("<h2>Layer by layer")[1].split("</table>")[0]
    for node in result["nodes"]:
        if node["module"] and node["op"] not in ("input", "parameter", "constant"):
            row = next(row for row in table.split("<tr")[1:] if f"<td>{node['name']}</td>" in row)
            assert node["module"].split(".")[0] in re.search(r"<td>(.*?)</td>", row).group(1), row



def quantized(folder, words, recipe):
    """The result's document and its page, with this recipe in place of the words' own."""
    out, page = folder / "result", folder / "result.html"
    given = [recipe if word == words[2] else word for word in words]
    run_good("quantize", *given, "--export", "none", "--out", out)
    run_good("report", out, "--html", page)
    tags = Tags()
    tags.feed(page.read_text())
    assert not tags.open, tags.open
    return json.loads((out / "result.json").read_text()), page.read_text()


def section(page):
    """The cells of the two tables of the search's section, row by row."""
    text = page.split("<h2>What was wrong and what fixed it</h2>")[1].split("<h2>")[0]
    return text, [[re.findall("<td[^>]*>(.*?)</td>", row) for row in table.split("<tr>")[2:]] for table in text.split("<table")[1:]]


def test_what_a_search_found_and_measured(folder):
    words, recipe = sick(folder), folder / "tuned.json"
    search = tuned(words, recipe, "--goal", "sqnr 20")
    result, page = quantized(folder, words, recipe)
    text, (found, fixed) = section(page)
    assert "goal sqnr 20, which was reached" in text and "measured on 16 samples that the search did not see" in text, text[:500]
    # The causes of the first recipe, with their evidence.
    assert [row[0] for row in found] == [f"{100 * cause['share']:.1f} %" for cause in search["causes"]] and len(found) > 1, found
    for row, cause in zip(found, search["causes"]):
        assert row[3].count("<li>") == len(cause["evidence"]) and all(line in html.unescape(row[3]) for line in cause["evidence"]), (row, cause)
    # The steps from the first trial to the best, each with what it added; their gains add up.
    chain, at = [], search["best"]
    while search["trials"][at]["base"] is not None:
        chain.insert(0, at)
        at = search["trials"][at]["base"]
    assert at == 0 and [row[0] for row in fixed] == [str(trial + 1) for trial in chain], (fixed, chain)
    for row, trial in zip(fixed, chain):
        base = search["trials"][search["trials"][trial]["base"]]
        before, after = base["guard"]["sqnr_db"], search["trials"][trial]["guard"]["sqnr_db"]
        assert row[2:] == [f"{before:.1f}", f"{after:.1f}", f"{after - before:+.1f} dB"], row
        added = [cure for cure in search["trials"][trial]["cures"] if cure not in base["cures"]]
        needless = search["trials"][trial]["needless_outputs"] != base["needless_outputs"]
        assert row[1].count("<li>") == len(added) + needless > 0, row
    assert result["search"]["steps"][-1]["after_db"] == best(search)["guard"]["sqnr_db"]


def test_nothing_is_made_up(folder):
    """Without a search, cures or the decisions that were measured there is no such section."""
    words, recipe = sick(folder), folder / "tuned.json"
    tuned(words, recipe, "--goal", "sqnr 20")
    state, text = recipe.with_suffix(".tune.json"), recipe.read_text()

    def check_none(file=recipe):
        result, page = quantized(folder, words, file)
        assert "search" not in result and "What was wrong" not in page

    check_none(words[2])
    changed = json.loads(text)
    changed["cures"][0]["off"] = True
    recipe.write_text(json.dumps(changed))
    check_none()
    recipe.write_text(text)
    whole = state.read_text()
    for broken in ("{", "[" * 100_000, '{"format": "quantscope.tune", "version": 1}', whole.replace('"base": 0', '"base": 7'), whole.replace('"seed": "0"', '"seed": "x"')):
        state.write_text(broken)
        check_none()
    state.write_text(whole)
    (folder / "named.json").write_text(text)  # no search is beside it under this name
    check_none(folder / "named.json")
    assert "search" in quantized(folder, words, recipe)[0]
    tuned(words, recipe, "--goal", "sqnr 0.1")  # the first trial is the best: nothing was fixed
    check_none()


def test_names_are_escaped(folder):
    words, recipe = sick(folder), folder / "tuned.json"
    tuned(words, recipe, "--goal", "sqnr 20")
    result, _ = quantized(folder, words, recipe)
    odd = "<script>alert(1)</script> & \"x\""
    result["search"]["goal"] = odd
    result["search"]["causes"][0].update(title=odd, words=odd, evidence=[odd])
    result["search"]["steps"][0].update(trial=odd, cures=[odd])
    (folder / "result" / "result.json").write_text(json.dumps(result))
    run_good("report", folder / "result", "--html", folder / "odd.html")
    page = (folder / "odd.html").read_text()
    assert "<script" not in page and page.count("&lt;script&gt;alert(1)&lt;/script&gt; &amp; ") == 6, page.count("&lt;script")


main(__name__)
