# SPDX-License-Identifier: Apache-2.0
"""The page of `report`: the window's colours, light and dark; the worst longest and yellow; nodes by their modules' paths."""
import json
import re
from html.parser import HTMLParser

from harness import SOURCE, main, run_good

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


main(__name__)
