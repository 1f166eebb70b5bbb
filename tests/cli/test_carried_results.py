# SPDX-License-Identifier: Apache-2.0
"""Results that are moved or opened elsewhere: what a recipe and a result folder name, what changed since, what never ran."""

import json
import os
import shutil

import numpy as np
import torch

from harness import PROGRAM, SOURCE, by_name, expect_bad, main, run, run_good, run_json, write_recipe
from models import residual
from scenario_models import Idle


def own_backend(folder, name="mine.json"):
    """A copy of a shipped backend under another name."""
    backend = json.loads((SOURCE / "resources" / "backends" / "x86.json").read_text())
    backend["name"] = "mine"
    (folder / name).write_text(json.dumps(backend))
    return folder / name


def test_a_backend_is_named_from_its_recipe(folder):
    """A recipe names its backend file relative to itself; every verb then works from any directory."""
    _, path, npz, _ = residual(folder)
    (folder / "recipes").mkdir()
    own_backend(folder / "recipes")
    recipe = write_recipe(folder / "recipes", backend="mine.json", mapping={"global": "x86"})
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    before = os.getcwd()
    os.chdir(elsewhere)
    try:
        assert run_json("plan", path, "--recipe", recipe)["backend"] == "mine"
        run_good("quantize", path, "--recipe", recipe, "--data", npz, "--out", folder / "out")
        carried = json.loads((folder / "out" / "recipe.json").read_text())
        assert carried["backend"] == "backend.json" and (folder / "out" / "backend.json").exists()
        # The folder carries all it needs: it may be moved, and the backend changed at home.
        (folder / "recipes" / "mine.json").write_text("{}")
        shutil.move(folder / "out", folder / "moved")
        told = run("compare", path, "--result", folder / "moved", "--data", npz)
        assert told.returncode == 0 and "changed" not in told.stderr, told.stderr
    finally:
        os.chdir(before)


def test_changes_since_are_told(folder):
    """`compare` says that the backend, the recipe or the calibration data are no longer those of the result."""
    _, path, npz, _ = residual(folder)
    recipe = write_recipe(folder, backend=str(own_backend(folder)), mapping={"global": "x86"})
    out = folder / "out"
    run_good("quantize", path, "--recipe", recipe, "--data", npz, "--out", out)
    words = ["compare", path, "--result", out, "--data", npz]
    assert "changed" not in run(*words).stderr
    arrays = dict(np.load(npz))
    np.savez(npz, **{name: array[::-1].copy() for name, array in arrays.items()})
    assert f"{npz} was changed since" in run(*words).stderr
    backend = json.loads((out / "backend.json").read_text())
    backend["description"] = "another one"
    (out / "backend.json").write_text(json.dumps(backend))
    assert "backend.json was changed since" in run(*words).stderr


def test_observers_that_never_ran_are_refused(folder):
    torch.manual_seed(0)
    path, data, out = folder / "idle.pt2", folder / "data.pt", folder / "out"
    inputs = (torch.randn(8, 4), torch.randn(8, 0, 4))
    torch.export.save(torch.export.export(Idle().eval(), inputs), path)
    torch.save([inputs] * 3, data)
    words = ["quantize", path, "--data", data, "--device", "cpu", "--export", "none", "--out", out]
    expect_bad(*words, contains=["never saw a value", "'second · linear' (linear_1)", "uncalibrated"], out=out)
    names = [node["name"] for node in run_json("plan", path)["nodes"]]
    recipe = write_recipe(folder, convert={"uncalibrated": names})
    told = run(*words, "--recipe", recipe)
    assert told.returncode == 0 and "as the recipe allows" in told.stderr, told.stderr
    node = by_name(json.loads((out / "result.json").read_text()))["linear_1"]
    assert node["quantized"]
    assert json.loads((out / "recipe.json").read_text())["convert"]["uncalibrated"] == names


def test_strict_names_every_finding(folder):
    _, path, npz, _ = residual(folder)
    recipe = write_recipe(folder, mapping={"global": "x86", "node": [["nowhere", None], ["neither", None]]})
    expect_bad("quantize", path, "--recipe", recipe, "--data", npz, "--out", folder / "out", "--strict",
               contains=["2 findings", "'nowhere'", "'neither'"], out=folder / "out")


def test_written_files_are_read_back(folder):
    """Every export is opened again and run before it is published; none of these is left unchecked."""
    _, path, npz, _ = residual(folder)
    told = run("quantize", path, "--data", npz, "--export", "torchscript,pt2,pt2-reference", "--out", folder / "out")
    assert told.returncode == 0 and "could not be checked" not in told.stderr, told.stderr


if __name__ == "__main__":
    main(__name__)
