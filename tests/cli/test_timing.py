# SPDX-License-Identifier: Apache-2.0
"""What `quantize --timing` reports of where the time went."""

import json
import math
import re
import time

from harness import SOURCE, by_name, main, run, run_json, write_recipe

SAMPLES = SOURCE / "resources" / "samples"
MODEL, DATA = SAMPLES / "digits.pt2", SAMPLES / "calib.npz"
DATA_SAMPLES = 128
STAGES = ["import", "plan", "calibrate", "convert", "compare", "export", "other"]
LATENCY = ["float_seconds", "int8_seconds", "conversion_seconds"]


def words(folder, *more, batch_size=16):
    """A model with a float island between int8 operators."""
    recipe = write_recipe(folder, backend="x86", calibration={"batch_size": batch_size, "batches": 3},
                          mapping={"global": "x86", "module_name": [["block1.conv2", None]]})
    return ["quantize", MODEL, "--recipe", recipe, "--data", DATA, "--device", "cpu", "--export", "pt2", "--out", folder / "out", *more]


def test_the_document(folder):
    began = time.monotonic()
    document = run_json(*words(folder, "--timing"))
    waited = time.monotonic() - began
    timing = document["timing"]
    assert [stage["stage"] for stage in timing["stages"]] == STAGES
    for key in ("seconds", "processor_seconds"):
        assert all(stage[key] > 0 for stage in timing["stages"] if stage["stage"] != "other"), timing["stages"]
        assert math.isclose(sum(stage[key] for stage in timing["stages"]), timing[key], rel_tol=1e-9), timing
    named = sum(stage["seconds"] for stage in timing["stages"][:-1])
    assert timing["seconds"] / 2 < named <= timing["seconds"] < waited, (timing, waited)
    stages = {stage["stage"]: stage["seconds"] for stage in timing["stages"]}
    for stage in ("import", "plan", "convert", "compare"):
        assert stages[stage] == document["timing_s"][stage], stage  # measured once
    assert stages["calibrate"] >= document["timing_s"]["prepare"] + document["timing_s"]["calibrate"]
    assert stages["export"] >= document["timing_s"]["export"]

    batch, nodes = timing["batch"], by_name(document)
    assert batch["samples"] == 16 and batch["threads"] == document["threads"]
    for key in LATENCY:
        assert math.isclose(sum(layer[key] or 0 for layer in timing["layers"]), batch[key], rel_tol=1e-9), key
        assert batch[key] > 0
    layers = {layer["node"]: layer for layer in timing["layers"]}
    assert set(layers) <= set(nodes) and all(layer["title"] == nodes[name]["title"] for name, layer in layers.items())
    # Every node with an error ran; no float node is counted twice.
    assert {name for name, node in nodes.items() if node["error"]} <= set(layers)
    floats, lowered = timing["slowest"]["float"], timing["slowest"]["lowered"]
    assert len(floats) == len(lowered) == 10
    for listed, key in ((floats, "float_seconds"), (lowered, "seconds")):
        seconds = [entry[key] for entry in listed]
        assert seconds == sorted(seconds, reverse=True) and seconds[-1] > 0
    assert all(entry == layers[entry["node"]] for entry in floats)
    assert floats[0]["float_seconds"] == max(layer["float_seconds"] or 0 for layer in timing["layers"])
    assert any(entry["operator"].startswith("quantized.") for entry in lowered)
    for entry in lowered:
        assert entry["title"] == layers[entry["layer"]]["title"], entry
        assert entry["seconds"] <= sum(layers[entry["layer"]][key] or 0 for key in LATENCY[1:]) * (1 + 1e-9), entry

    sizes = {path.name: path.stat().st_size for path in (folder / "out").iterdir()}
    assert timing["bytes"]["files"] == sizes
    assert timing["bytes"]["peak_memory"] == document["peak_rss_bytes"] > 1e7
    assert timing["bytes"]["float_weights"] == document["weights"]["float_bytes"] > 0


def test_conversions_are_at_the_borders(folder):
    """The input, the value that the float island reads, the one that it makes, and the result."""
    document = run_json(*words(folder, "--timing"))
    converted = [layer["node"] for layer in document["timing"]["layers"] if layer["conversion_seconds"]]
    assert converted == ["image", "relu_1", "batch_norm_2", "linear"], converted
    island = next(layer for layer in document["timing"]["layers"] if layer["node"] == "batch_norm_2")
    assert island["int8_seconds"] > 0 and island["float_seconds"] > 0, island


def test_the_first_batch_warms_up(folder):
    timing = run_json(*words(folder, "--timing", batch_size=DATA_SAMPLES - 10))["timing"]
    assert timing["batch"]["samples"] == 10, timing["batch"]
    timing = run_json(*words(folder, "--timing", batch_size=DATA_SAMPLES))["timing"]
    assert timing["batch"]["samples"] == DATA_SAMPLES, timing["batch"]


def test_nothing_changes_without_the_flag(folder):
    def masked(text):
        return re.sub(r"\([0-9.]+ \w+\)", "(SIZE)", text)  # result.json holds times

    with_flag, without = run(*words(folder, "--timing")), run(*words(folder))
    assert with_flag.returncode == without.returncode == 0
    assert masked(with_flag.stdout) == masked(without.stdout)
    assert without.stderr in with_flag.stderr and "stage" not in without.stderr
    lines = with_flag.stderr.removesuffix(without.stderr).splitlines()
    assert lines[0].split() == ["stage", "seconds", "processor"], lines
    assert [line.split()[0] for line in lines[2:2 + len(STAGES)]] == STAGES, lines
    assert any(line.startswith("one batch of 16 samples on the CPU, ") and "thread" in line for line in lines), lines
    assert any(line.startswith("peak memory ") for line in lines) and any("model.int8.pt2" in line for line in lines)
    written = json.loads((folder / "out" / "result.json").read_text())
    assert "timing" not in written and "timing" not in run_json(*words(folder))


main(__name__)
