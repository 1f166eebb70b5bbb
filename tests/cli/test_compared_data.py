# SPDX-License-Identifier: Apache-2.0
"""`--compare-on` of `quantize` and `check`: the loss, labels and the user's own metric are measured on those data, whole; the scales
are the calibration's. A project's own data to compare on count likewise."""

import json
import os
import shutil
import sys

from harness import SOURCE, expect_bad, main, run, run_good, run_json

MODEL, CALIBRATION, OTHER = (SOURCE / "resources" / "samples" / name for name in ("digits.pt2", "calib.npz", "test.npz"))
COMPARED = ("outputs", "labels", "agreement")


def quantized(out, model, *words):
    return run_json("quantize", model, "--device", "cpu", "--export", "none", "--out", out, *words)


def errors(document):
    return {node["name"]: node["error"] for node in document["nodes"]}


def project(folder, **members):
    """A folder with a project of the sample."""
    folder.mkdir()
    for file in (MODEL, CALIBRATION, OTHER):
        shutil.copy(file, folder)
    path = folder / "digits.project.json"
    path.write_text(json.dumps({"format": "quantscope.project", "version": 1, "model": MODEL.name, "data": CALIBRATION.name, **members}))
    return path


def test_it_is_what_compare_measures(folder):
    inside = quantized(folder / "a", MODEL, "--data", CALIBRATION)
    outside = run_json("compare", MODEL, "--result", folder / "a", "--data", OTHER, "--device", "cpu")
    at_once = quantized(folder / "b", MODEL, "--data", CALIBRATION, "--compare-on", OTHER)
    assert errors(at_once) == errors(outside) != errors(inside)
    assert [at_once[key] for key in COMPARED] == [outside[key] for key in COMPARED]
    scales = [[node.get("output") for node in document["nodes"]] for document in (inside, at_once)]
    assert scales[0] == scales[1] and at_once["data"]["calibration_samples"] == inside["data"]["calibration_samples"]
    told = at_once["data"]
    assert told["comparison"] == str(OTHER) == outside["data"]["comparison"] and told["compared_samples"] == 360, told
    assert inside["data"]["comparison"] == "" and inside["data"]["compared_samples"] == inside["data"]["calibration_samples"]
    relative = run_json("compare", MODEL, "--result", folder / "a", "--data", os.path.relpath(OTHER), "--device", "cpu")
    place = relative["data"]["comparison"]
    assert os.path.isabs(place) and os.path.samefile(place, OTHER), place
    text = run_good("quantize", MODEL, "--data", CALIBRATION, "--compare-on", OTHER, "--device", "cpu", "--export", "none", "--out", folder / "b")
    assert f"compared on: {OTHER}, 360 samples" in text, text


def test_of_a_project(folder):
    alone = quantized(folder / "alone", project(folder / "p"))
    both = quantized(folder / "both", project(folder / "q", comparison=OTHER.name))
    expected = quantized(folder / "words", MODEL, "--data", CALIBRATION, "--compare-on", OTHER)
    assert errors(both) == errors(expected) != errors(alone) and alone["data"]["comparison"] == ""
    # The command line's word goes before the project's; data that were moved are found.
    path = project(folder / "r", comparison=OTHER.name)
    assert errors(quantized(folder / "back", path, "--compare-on", CALIBRATION)) != errors(both)
    (folder / "r" / "data").mkdir()
    (folder / "r" / OTHER.name).rename(folder / "r" / "data" / OTHER.name)
    done = run("quantize", path, "--device", "cpu", "--export", "none", "--out", folder / "moved", "--json")
    assert done.returncode == 0 and "its data were moved" in done.stderr and OTHER.name in done.stderr, done.stderr
    assert errors(json.loads(done.stdout)) == errors(both)


def test_compare_takes_a_projects_data_and_result(folder):
    result = folder / "result"
    document = quantized(result, MODEL, "--data", CALIBRATION)
    project = {"format": "quantscope.project", "version": 1, "model": str(MODEL.resolve()), "data": str(CALIBRATION.resolve()),
               "result": str(result),
               "recipe": json.loads((result / "recipe.json").read_text())}
    path = folder / "work.project.json"
    for given, compared in (({}, CALIBRATION), ({"comparison": str(OTHER.resolve())}, OTHER)):
        path.write_text(json.dumps({**project, **given}))
        wanted = run("compare", MODEL, "--result", result, "--data", compared, "--device", "cpu", "--json")
        done = run("compare", path, "--device", "cpu", "--outside", "--json")
        assert done.returncode == 0, done.stderr
        assert errors(json.loads(done.stdout)) == errors(json.loads(wanted.stdout)), given
    assert document["format"] == "quantscope.result"
    path.write_text(json.dumps({key: value for key, value in project.items() if key != "result"}))
    expect_bad("compare", path, "--outside", contains=["no current result"])
    expect_bad("compare", MODEL, "--data", OTHER, contains=["--result is required"], code=2)
    expect_bad("compare", MODEL, "--result", result, contains=["--data is required"], code=2)


def test_gate_and_metric(folder):
    words = ("--data", CALIBRATION, "--compare-on", OTHER)
    counting = f"{sys.executable} -c \"import numpy, sys; print(len(list(numpy.load(sys.argv[1]).values())[0]))\""
    document = quantized(folder / "a", MODEL, *words, "--eval", counting)
    assert document["evaluation"] == {"float": 360, "int8": 360}, document["evaluation"]
    db = document["outputs"][0]["lowered"]["sqnr_db"]
    assert run("check", MODEL, *words, "--device", "cpu", "--min-sqnr", db - 0.001).returncode == 0
    assert run("check", MODEL, *words, "--device", "cpu", "--min-sqnr", db + 0.001).returncode == 1
    expect_bad("check", folder / "a", "--min-sqnr", 1, "--compare-on", OTHER, contains=["--compare-on", "is a result"], code=2)


def test_bad_data_are_told_before_the_run(folder):
    out = folder / "out"
    words = ("quantize", MODEL, "--data", CALIBRATION, "--device", "cpu", "--out", out)
    expect_bad(*words, "--compare-on", folder / "none.npz", contains=["none.npz"], out=out)
    (folder / "text.npz").write_text("no archive")
    expect_bad(*words, "--compare-on", folder / "text.npz", contains=["text.npz"], out=out)
    # A file inside the results' folder that they would take the place of.
    out.mkdir()
    shutil.copy(OTHER, out / "observations.npz")
    before = (out / "observations.npz").read_bytes()
    expect_bad(*words, "--compare-on", out / "observations.npz", contains=["observations.npz"])
    assert (out / "observations.npz").read_bytes() == before


if __name__ == "__main__":
    main(__name__)
