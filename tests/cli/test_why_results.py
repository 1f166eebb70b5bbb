# SPDX-License-Identifier: Apache-2.0
"""Causes that `quantize --why` keeps in a result: those of `why`, shown again without a run as long as they are of the same decisions, data and
probes; in the report with the cures of the recipe."""

import json
import math
import re

from edits import op
from harness import SOURCE, expect_bad, main, run, run_good, run_json, write_recipe

SAMPLES = SOURCE / "resources" / "samples"
MODEL, CALIBRATION, OTHER = (SAMPLES / name for name in ("digits.pt2", "calib.npz", "test.npz"))
PLANTED = "a line that no run says"


def kept(folder, *words, **recipe):
    """(path of a result with its causes, its document)."""
    words = [*words, "--recipe", write_recipe(folder, backend="x86", **recipe)]
    run_good("quantize", MODEL, "--data", CALIBRATION, "--device", "cpu", "--why", "--export", "none", "--out", folder / "out", *words)
    return folder / "out", json.loads((folder / "out" / "result.json").read_text())


def planted(folder):
    """A result whose causes have a line that shows where they come from."""
    out, document = kept(folder)
    document["why"]["left_out"] = [PLANTED]
    (out / "result.json").write_text(json.dumps(document))
    return out


def test_the_result_has_what_why_says(folder):
    out, document = kept(folder)
    told = run_json("why", MODEL, "--data", CALIBRATION, "--device", "cpu")
    differ = [key for key in told if key != "model" and told[key] != document["why"][key]]
    assert list(told) == list(document["why"]) and not differ, differ
    shown = run_json("why", out)
    assert {**shown, "model": document["why"]["model"]} == document["why"]
    assert run_good("why", out, "--top", 3) == run_good("why", MODEL, "--data", CALIBRATION, "--device", "cpu", "--top", 3)
    assert document["timing_s"]["why"] > 0
    run_good("quantize", MODEL, "--data", CALIBRATION, "--export", "none", "--out", folder / "plain")
    plain = json.loads((folder / "plain" / "result.json").read_text())
    assert "why" not in plain and "why" not in plain["timing_s"]
    assert [node["error"] for node in plain["nodes"]] == [node["error"] for node in document["nodes"]]


def test_parts_add_up(folder):
    _, document = kept(folder)
    why = document["why"]
    assert math.isclose(sum(site["part"] for site in why["sites"]), 1, rel_tol=1e-12)
    unit_of = {node["name"]: node.get("unit", node["name"]) for node in document["nodes"]}
    titles = {node["name"]: node["title"] for node in document["nodes"]}
    for unit in why["units"]:
        own = [site for site in why["sites"] if unit_of[site["node"]] == unit["node"]]
        assert math.isclose(unit["part"], sum(site["part"] for site in own), rel_tol=1e-9), unit
        assert math.isclose(unit["part_error"], math.hypot(*(site["part_error"] for site in own)), rel_tol=1e-9), unit
        assert unit["title"] == titles[unit["node"]], unit
    parts = [unit["part"] for unit in why["units"]]
    assert parts == sorted(parts, reverse=True) and math.isclose(sum(parts), 1, rel_tol=1e-9)


def test_no_run_where_nothing_changed(folder):
    out = planted(folder)
    told = lambda *words: PLANTED in run_good("why", out, *words)  # noqa: E731
    assert told() and told("--data", CALIBRATION) and told("--data", CALIBRATION, "--device", "cpu")
    for words in (["--data", OTHER], ["--data", CALIBRATION, "--seed", 5], ["--data", CALIBRATION, "--samples", 24],
                  ["--data", CALIBRATION, "--exact", 2]):
        assert not told(*words), words
    recipe = json.loads((out / "recipe.json").read_text())
    recipe["mapping"]["object_type"] = [["torch.nn.Linear", None]]
    (out / "recipe.json").write_text(json.dumps(recipe, indent=3))
    done = run("why", out)
    assert PLANTED in done.stdout and "recipe.json was changed since" in done.stderr, done.stderr
    assert not told("--data", CALIBRATION)


def test_bad_sections(folder):
    out, document = kept(folder)
    expect_bad("why", out, "--seed", 3, contains=["--data is required", "--seed"], code=2)
    why = document["why"]
    for wrong, words in (({"version": 2}, []), ({"sites": [{**why["sites"][0], "node": "never"}]}, ["never"]),
                         ({"sites": [{**why["sites"][0], "kind": "guess"}]}, ["guess"]), ({"causes": [{**why["causes"][0], "site": 999}]}, ["999"]),
                         ({"causes": [{**why["causes"][0], "cause": "magic"}]}, ["magic"]), ({"samples": "many"}, [])):
        (out / "result.json").write_text(json.dumps({**document, "why": {**why, **wrong}}))
        expect_bad("why", out, contains=["result.json", "not what 'quantscope why --json' writes", *words])
    (out / "result.json").write_text(json.dumps({**document, "why": None}))
    expect_bad("why", out, contains=["--data", "quantize --why"], code=2)


def test_the_report_tells_causes_and_cures(folder):
    cures = [{"cure": "float", "at": op("head", "linear.default"), "gain_db": 1.5, "by": "tune 1f3a"},
             {"cure": "float", "at": op("neck", "linear.default")}]
    out, document = kept(folder, cures=cures)
    run_good("report", out, "--html", folder / "page.html")
    page = (folder / "page.html").read_text()
    section = page.split("<h2>Causes and cures</h2>")[1].split("<h2>")[0]
    why = document["why"]
    assert f"{why['measured_db']:.2f} dB measured" in section
    rows = re.findall(r"<tr><td class=\"n\">([\d.]+ %)</td><td>(.*?)</td><td>(.*?)</td>", section)
    assert rows == [(f"{100 * cause['share']:.1f} %", cause["title"], cause["words"]) for cause in why["causes"]], rows
    for cause in why["causes"]:
        for line in cause["evidence"]:
            assert line.replace("'", "&#39;") in section or line in section, line
    mended = section.split("Cures in the recipe")[1]
    assert "keep head · linear float" in mended and "+1.5 dB" in mended and "tune 1f3a" in mended and "in effect" in mended, mended
    assert "left out: " in mended and "neck" in mended, mended
    table = page.split("<h2>Layer by layer")[1].split("</table>")[0]
    assert "<th>Share of the output's noise</th>" in table
    for unit in why["units"]:
        row = next(row for row in table.split("<tr")[1:] if f"<td>{unit['node']}</td>" in row)
        error = f" ± {100 * unit['part_error']:.1f}" if unit["part_error"] > 0 else ""
        assert f">{100 * unit['part']:.1f}{error} %<" in row, (unit, row)
    assert not re.search(r"(src|href)=\"(?!#)", page), "the page fetches nothing"


def test_a_report_without_causes_has_no_section(folder):
    run_good("quantize", MODEL, "--data", CALIBRATION, "--export", "none", "--out", folder / "plain")
    run_good("report", folder / "plain", "--html", folder / "page.html")
    page = (folder / "page.html").read_text()
    assert "Causes and cures" not in page and "Share of the output" not in page


main(__name__)
