# SPDX-License-Identifier: Apache-2.0
"""What converts, compares, exports, saves or writes a report is killed at any moment, again and again: each of its files is the
earlier one or the new one, and the run that is let to its end leaves what one without interruption leaves. ROUNDS says how often, each."""

import json
import os
import random
import time

from harness import SOURCE, main, run_good, run_json, write_recipe
from test_kill import check_folder, killed, lasting

SAMPLES = SOURCE / "resources" / "samples"
ROUNDS = int(os.environ.get("ROUNDS", "2"))
MODEL, DATA = SAMPLES / "digits.pt2", SAMPLES / "calib.npz"
CLIP = {"do": "insert", "op": "aten.clamp.default", "at": {"module": "stem.relu", "op": "aten.relu.default"}, "name": "clip", "args": {"max": 3.0}}


def whole(path):
    """What a file holds; nothing where it is not there."""
    return path.read_bytes() if path.exists() else None


def stray(folder):
    return list(folder.rglob(".quantscope-*"))


def span_of(command):
    began = time.monotonic()
    run_good(*command)
    return time.monotonic() - began


def told(name, hits):
    print(f"{name}: {ROUNDS} rounds, {hits} killed before their end", flush=True)


def result(folder, exports="none"):
    """(recipe, folder of a result)"""
    recipe = write_recipe(folder, calibration={"batch_size": 16, "batches": 2}, edits=[CLIP])
    run_good("quantize", MODEL, "--recipe", recipe, "--data", DATA, "--device", "cpu", "--export", exports, "--out", folder / "out")
    return recipe, folder / "out"


def check_writer(folder, command, names, place):
    """Kills a verb that writes these files into `place`."""
    span = span_of(command)
    wanted = {name: whole(place / name) for name in names}
    chance, hits = random.Random(" ".join(map(str, command[:1]))), 0
    for _ in range(ROUNDS):
        for name in names:
            if chance.random() < 0.5:
                (place / name).unlink(missing_ok=True)
        before = {name: whole(place / name) for name in names}
        hits += killed(command, chance.uniform(0.05, 1.05) * span)
        for name in names:
            assert whole(place / name) in (before[name], wanted[name]), (command, name)
    run_good(*command)
    assert {name: whole(place / name) for name in names} == wanted, command
    assert not stray(folder), stray(folder)
    told(command[0], hits)


def test_edit(folder):
    recipe, _ = result(folder)
    made = folder / "made"
    made.mkdir()
    check_writer(folder, ("edit", MODEL, "--recipe", recipe, "--out", made / "edited.pt2"), ("edited.pt2",), made)


def test_report(folder):
    _, out = result(folder)
    made = folder / "made"
    made.mkdir()
    check_writer(folder, ("report", out, "--html", made / "report.html", "--csv", made / "report.csv"), ("report.html", "report.csv"), made)


def test_look(folder):
    _, out = result(folder)
    made = folder / "made"
    made.mkdir()
    check_writer(folder, ("look", MODEL, "--result", out, "--data", DATA, "--node", "relu_2", "--sample", "3", "--npz", made / "values.npz"), ("values.npz",), made)


def test_compare(folder):
    """It writes nothing: the result that it reads stays as it is."""
    _, out = result(folder)
    check_writer(folder, ("compare", MODEL, "--result", out, "--data", DATA), (), out)
    check_folder(out)


def test_verify(folder):
    """The certificate is whole, of this result, or not there."""
    _, out = result(folder, "torchscript")
    files = {path.name: path.read_bytes() for path in out.iterdir()}
    command = ("verify", out, "--data", DATA)
    span = span_of(command)
    chance, hits = random.Random("verify"), 0
    for _ in range(ROUNDS):
        hits += killed(command, chance.uniform(0.05, 1.05) * span)
        if (out / "certificate.json").exists():
            json.loads((out / "certificate.json").read_text())
        assert {name: whole(out / name) for name in files} == files
    run_good(*command)
    assert not stray(folder), stray(folder)
    told("verify", hits)


def test_conversion_and_export(folder):
    """Hardly any calibration: what is killed is converting, comparing and the writing of every form."""
    recipe = write_recipe(folder, calibration={"batch_size": 16, "batches": 1})
    words = ("quantize", MODEL, "--recipe", recipe, "--data", DATA, "--device", "cpu", "--export", "torchscript,pt2,pt2-reference,onnx", "--out")
    wanted = run_json(*words, folder / "reference")
    names = {path.name for path in (folder / "reference").iterdir()}
    out = folder / "killed"
    span = span_of((*words, out))
    chance, hits = random.Random("export"), 0
    for _ in range(ROUNDS):
        hits += killed((*words, out), chance.uniform(0.1, 1.05) * span)
        check_folder(out)
    document = run_json(*words, out)
    assert lasting(document) == lasting(wanted)
    assert {path.name for path in out.iterdir()} == names, os.listdir(out)
    assert not stray(folder), stray(folder)
    told("quantize --export", hits)


def test_kept_runs(folder):
    """A project's runs are each whole or not there; the project itself is only read."""
    recipe, _ = result(folder)
    project = folder / "work.project.json"
    project.write_text(json.dumps({"format": "quantscope.project", "version": 1, "model": str(MODEL), "data": str(DATA), "device": "cpu", "result": "out",
                                   "recipe": json.loads(recipe.read_text())}))
    before = project.read_bytes()
    span = span_of(("runs", project, "keep", "the first"))
    chance, hits = random.Random("runs"), 0
    for number in range(ROUNDS):
        hits += killed(("runs", project, "keep", f"kept {number}"), chance.uniform(0.05, 1.05) * span)
        listed = run_json("runs", project, "list")
        assert not [kept for kept in listed["runs"] if kept.get("problem")], listed
        assert project.read_bytes() == before
    run_good("runs", project, "keep", "the last")
    assert not stray(folder), stray(folder)
    told("runs keep", hits)


if __name__ == "__main__":
    main(__name__)
