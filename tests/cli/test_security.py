# SPDX-License-Identifier: Apache-2.0
"""What a recipe or project may not do: run a command, or have files read from outside its folder unasked."""
import json
import os
import shutil
from pathlib import Path

import numpy as np
from harness import SOURCE, expect_bad, main, run, run_good, run_json

SAMPLE = SOURCE / "resources" / "samples"


def here(folder, name="inside"):
    """A folder with the sample and its data in it, and settings of its own for the program."""
    os.environ["XDG_CONFIG_HOME"] = str(folder / "config")
    place = folder / name
    place.mkdir()
    shutil.copy(SAMPLE / "digits.pt2", place)
    shutil.copy(SAMPLE / "calib.npz", place)
    return place


def write(path, **content):
    path.write_text(json.dumps(content))
    return path


def recipe(path, **content):
    return write(path, format="quantscope.recipe", version=1, mapping={"global": "x86"}, **content)


def project(path, **content):
    return write(path, format="quantscope.project", version=1, **content)


def test_no_file_holds_a_command(folder):
    place = here(folder)
    mark = folder / "ran"
    command = f"touch {mark}; echo 1 #"
    model = place / "digits.pt2"
    for text in ({"eval": command}, {"calibration": {"eval": command}}, {"convert": {"eval": command}}):
        path = recipe(place / "recipe.json", **text)
        expect_bad("quantize", model, "--recipe", path, "--data", place / "calib.npz", "--out", folder / "out", contains=["eval"],
                   out=folder / "out")
        expect_bad("check", model, "--recipe", path, "--data", place / "calib.npz", "--max-drop", "1", contains=["eval"])
    for text in ({"eval": command}, {"recipe": {"format": "quantscope.recipe", "version": 1, "eval": command}}):
        path = project(place / "work.project.json", model="digits.pt2", data="calib.npz", **text)
        expect_bad("quantize", path, "--out", folder / "out", contains=["eval"], out=folder / "out")
    assert not mark.exists()
    # The command line's own is run.
    run_good("quantize", model, "--data", place / "calib.npz", "--export", "none", "--out", folder / "out", "--eval", command)
    assert mark.exists()


def test_a_recipe_reads_its_own_folder(folder):
    place = here(folder)
    model = place / "digits.pt2"
    backend = json.loads(run_good("backends", "show", "x86", "--json"))
    for name in (place / "own.json", folder / "other.json"):
        shutil.copy(SOURCE / "resources" / "backends" / "x86.json", name)
    link = place / "link.json"
    link.symlink_to(folder / "other.json")
    run_json("plan", model, "--recipe", recipe(place / "recipe.json", backend="own.json"))
    run_json("plan", model, "--recipe", recipe(place / "recipe.json", backend=str(place / "own.json")))
    for outside in ("../other.json", str(folder / "other.json"), "link.json"):
        path = recipe(place / "recipe.json", backend=outside)
        expect_bad("plan", model, "--recipe", path, contains=[path, folder / "other.json", "--outside"])
        run_json("plan", model, "--recipe", path, "--outside")
        expect_bad("plan", model, "--recipe", path, contains=["--outside"])  # for one run alone
    assert backend


def test_a_constant_lies_beside_its_recipe(folder):
    place = here(folder)
    model = place / "digits.pt2"
    values = np.arange(10, dtype=np.float32)
    np.save(place / "bias.npy", values)
    np.save(folder / "bias.npy", values)
    edit = {"do": "constant", "at": {"stored": "head.bias"}}
    away = Path.cwd()
    os.chdir(folder)  # relative to the recipe, wherever the program runs
    try:
        run_good("edit", model, "--recipe", recipe(place / "in.json", edits=[{**edit, "file": "bias.npy"}]), "--strict")
        for outside in ("../bias.npy", str(folder / "bias.npy")):
            path = recipe(place / "out.json", edits=[{**edit, "file": outside}])
            expect_bad("edit", model, "--recipe", path, "--strict", contains=[folder / "bias.npy", "--outside"])
            run_good("edit", model, "--recipe", path, "--strict", "--outside")
    finally:
        os.chdir(away)


def test_a_project_reads_what_was_confirmed(folder):
    place = here(folder)
    far = folder / "far"
    far.mkdir()
    shutil.copy(SAMPLE / "digits.pt2", far)
    shutil.copy(SAMPLE / "calib.npz", far)
    path = place / "work.project.json"
    run_json("plan", project(path, model="digits.pt2", data="calib.npz"))
    for outside in ({"model": "../far/digits.pt2"}, {"model": str(far / "digits.pt2")},
                    {"model": "digits.pt2", "data": str(far / "calib.npz")}):
        project(path, **outside)
        expect_bad("plan", path, contains=[path, far, "--outside"])
        run_json("plan", path, "--outside")
    (place / "s-0.tar").symlink_to(far / "calib.npz")  # a path that names several files is asked for each of them
    for data in ("s-{0..1}.tar", "s-*.tar", str(far / "calib.{npz,tar}"), "../far/calib.{npz,tar}"):
        expect_bad("plan", project(path, model="digits.pt2", data=data), contains=[path, far / "calib.npz", "--outside"])
    run_json("plan", project(path, model=str(far / "digits.pt2")), "--model", far / "digits.pt2")  # the user says where it is
    # The window writes down what the user answered.
    confirmed = folder / "config" / "quantscope" / "confirmed.json"
    confirmed.parent.mkdir(parents=True)
    write(confirmed, **{str(path): [str(far / "digits.pt2")]})
    run_json("plan", path)
    project(path, model=str(far / "digits.pt2"), data=str(far / "calib.npz"))
    done = run("plan", path)
    assert done.returncode == 1 and str(far / "calib.npz") in done.stderr and "digits.pt2" not in done.stderr, done.stderr
    confirmed.write_text("[" * 5000)  # what cannot be read confirms nothing
    expect_bad("plan", path, contains=["--outside"])


main(__name__)
