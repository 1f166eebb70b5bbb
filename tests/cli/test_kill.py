# SPDX-License-Identifier: Apache-2.0
"""`quantize` is killed at any moment, again and again: what stands in its folder is whole or is not there, and the run that is
let to its end gives what one without interruption gives, with nothing left behind. ROUNDS says how often."""

import hashlib
import json
import os
import random
import subprocess
import time
from pathlib import Path

from harness import PROGRAM, SOURCE, main, run_good, run_json, write_recipe

SAMPLES = SOURCE / "resources" / "samples"
ROUNDS = int(os.environ.get("ROUNDS", "8"))
EXPORTS = ("torchscript", "pt2-reference")


def words(recipe, out):
    return ["quantize", SAMPLES / "digits.pt2", "--recipe", recipe, "--data", SAMPLES / "calib.npz", "--device", "cpu", "--export",
            ",".join(EXPORTS), "--out", out]


def lasting(document):
    """What does not tell of the single run."""
    return {key: value for key, value in document.items() if key not in ("timing_s", "peak_rss_bytes")}


def check_folder(out):
    """A result document tells of files that are there with that content; without one nothing is claimed."""
    if not (out / "result.json").exists():
        return
    document = json.loads((out / "result.json").read_text())
    for name in document["exports"].values():
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == document["exports_sha256"][name], name
    json.loads((out / "recipe.json").read_text())


def killed(command, seconds):
    """Runs it for so long, then kills it; whether it still ran."""
    process = subprocess.Popen([PROGRAM, *map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(seconds)
        return False
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return True


def test_a_killed_run_leaves_nothing_half(folder):
    edits = [{"do": "insert", "op": "aten.clamp.default", "at": {"module": "stem.relu", "op": "aten.relu.default"}, "name": "clip",
              "args": {"max": 3.0}}]
    recipe = write_recipe(folder, edits=edits, calibration={"batch_size": 4, "batches": 40})
    began = time.monotonic()
    wanted = run_json(*words(recipe, folder / "reference"))
    span = time.monotonic() - began
    names = {path.name for path in (folder / "reference").iterdir()}
    chance = random.Random(7)
    out = folder / "killed"
    for _ in range(ROUNDS):
        killed(words(recipe, out), chance.uniform(0.1, 1.05) * span)
        check_folder(out)
    document = run_json(*words(recipe, out))
    assert lasting(document) == lasting(wanted)
    left = {path.name for path in out.iterdir()}
    assert left == names, left ^ names
    assert {path.name for path in folder.iterdir()} == {"reference", "killed", "recipe.json"}
    for name in wanted["exports"].values():
        assert (out / name).read_bytes() == (folder / "reference" / name).read_bytes() or name.endswith(".pt"), name


if __name__ == "__main__":
    main(__name__)
