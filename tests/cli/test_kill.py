# SPDX-License-Identifier: Apache-2.0
"""`quantize` is killed at any moment, again and again: what stands in its folder is whole or is not there, and the run that is
let to its end gives what one without interruption gives, with nothing left behind. So are the verbs that write a file.
ROUNDS says how often."""

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
    """Runs it for so long, then kills it."""
    process = subprocess.Popen([PROGRAM, *map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


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


def whole(path):
    """What a file holds; nothing where it is not there."""
    return path.read_bytes() if path.exists() else None


def test_killed_writers_leave_nothing_half(folder):
    """What writes a file or keeps a run: killed, its file is the earlier one or the new one; the next run ends as one
    without interruption does, and takes away what the killed ones left."""
    data, out = SAMPLES / "calib.npz", folder / "out"
    recipe = write_recipe(folder, calibration={"batch_size": 16, "batches": 2},
                          edits=[{"do": "insert", "op": "aten.clamp.default", "at": {"module": "stem.relu", "op": "aten.relu.default"}, "name": "clip", "args": {"max": 3.0}}])
    run_good(*words(recipe, out))
    project = folder / "work.project.json"
    project.write_text(json.dumps({"format": "quantscope.project", "version": 1, "model": str(SAMPLES / "digits.pt2"), "data": str(data), "device": "cpu", "result": "out",
                                   "recipe": json.loads(recipe.read_text())}))
    made = folder / "made"
    made.mkdir()
    writers = (
        (("edit", SAMPLES / "digits.pt2", "--recipe", recipe, "--out", made / "edited.pt2"), ("edited.pt2",)),
        (("report", out, "--html", made / "report.html", "--csv", made / "report.csv"), ("report.html", "report.csv")),
        (("look", SAMPLES / "digits.pt2", "--result", out, "--data", data, "--node", "relu_2", "--sample", "3", "--npz", made / "values.npz"), ("values.npz",)),
        (("compare", SAMPLES / "digits.pt2", "--result", out, "--data", data), ()),
    )
    chance = random.Random(11)
    for command, names in writers:
        began = time.monotonic()
        run_good(*command)
        span = time.monotonic() - began
        wanted = {name: whole(made / name) for name in names}
        for _ in range(max(1, ROUNDS // 5)):
            for name in names:
                if chance.random() < 0.5:
                    (made / name).unlink(missing_ok=True)
            before = {name: whole(made / name) for name in names}
            killed(command, chance.uniform(0.05, 1.05) * span)
            for name in names:
                assert whole(made / name) in (before[name], wanted[name]), (command, name)
        run_good(*command)
        assert {name: whole(made / name) for name in names} == wanted, command
        assert not list(folder.rglob(".quantscope-*")), list(folder.rglob(".quantscope-*"))
    for number in range(max(1, ROUNDS // 5)):
        killed(("runs", project, "keep", f"kept {number}"), chance.uniform(0.02, 0.3))
        listed = run_json("runs", project, "list")
        assert not [kept for kept in listed["runs"] if kept.get("problem")], listed
    run_good("runs", project, "keep", "the last")
    assert not list(folder.rglob(".quantscope-*")), list(folder.rglob(".quantscope-*"))


if __name__ == "__main__":
    main(__name__)
