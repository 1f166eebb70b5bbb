# SPDX-License-Identifier: Apache-2.0
"""`check` is a gate over a result, or over a model with its recipe."""

import json
import sys
import xml.etree.ElementTree as xml

import numpy
import torch
from harness import expect_bad, export_model, main, run, run_good
from test_verify import DATA, MODEL, quantized


def test_the_gate(folder):
    out = quantized(folder)
    result = json.loads((out / "result.json").read_text())
    db = result["outputs"][0]["lowered"]["sqnr_db"]
    head = next(n for n in result["nodes"] if n["module"] == "head")["error"]["cumulative"]["sqnr_db"]
    run_good("check", out, "--min-sqnr", db - 0.1, "--min-cosine", 0.9, "--min-coverage", 50, "--node", f"head: {head - 0.1}")
    junit, sarif = folder / "junit.xml", folder / "misses.sarif"
    done = run("check", out, "--min-sqnr", db + 0.1, "--node", f"head:{head + 0.1}", "--min-coverage", 1, "--junit", junit, "--sarif", sarif)
    assert done.returncode == 1 and done.stdout.count("MISSED") == 2 and done.stdout.count("ok  ") == 1, done.stdout
    assert len(done.stderr.splitlines()) == 1 and "2 limits of 3" in done.stderr, done.stderr
    suite = xml.fromstring(junit.read_text())
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    assert [case.get("name") for case in suite if case.find("failure") is not None] == ["min-sqnr linear", "node head"]
    misses = json.loads(sarif.read_text())["runs"][0]["results"]
    assert [miss["ruleId"] for miss in misses] == ["min-sqnr", "node"], misses
    assert "linear" in misses[0]["message"]["text"]
    # A drop of the metric; without labels what the two models disagree on bounds it.
    run_good("check", out, "--preset", "classification")
    run_good("quantize", MODEL, "--data", DATA, "--device", "cpu", "--export", "none", "--out", folder / "eval",
             "--eval", f"{sys.executable} -c 'import sys; print(3.5 if \"float\" in sys.argv[1] else 3.0)'")
    evaluation = json.loads((folder / "eval" / "result.json").read_text())["evaluation"]
    drop = evaluation["float"] - evaluation["int8"]
    assert run("check", folder / "eval", "--max-drop", drop + 0.01).returncode == 0
    assert run("check", folder / "eval", "--max-drop", drop - 0.01).returncode == 1
    expect_bad("check", out, contains=["--min-sqnr"], code=2)
    expect_bad("check", out, "--min-sqnr", 1, "--data", DATA, contains=["--data", "is a result"], code=2)
    expect_bad("check", out, "--preset", "vision", contains=["classification"], code=2)
    expect_bad("check", out, "--node", "head", contains=["head: 35"], code=2)
    expect_bad("check", out, "--node", "hed: 3", contains=["'hed'", "'head'"], code=2)


def test_a_drop_that_nothing_measures(folder):
    """An output of which neither labels nor the model say that it holds scores of classes has no agreement; the miss says what to do."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    model = folder / "plain.pt2"
    export_model(net, (torch.randn(4, 8),), model)
    x = numpy.random.default_rng(0).normal(size=(64, 8)).astype(numpy.float32)
    with torch.no_grad():
        labels = net(torch.from_numpy(x)).argmax(1).numpy()
    numpy.savez(folder / "bare.npz", x=x)
    numpy.savez(folder / "labelled.npz", x=x, labels=labels)
    done = run("check", model, "--data", folder / "bare.npz", "--device", "cpu", "--max-drop", 50)
    assert done.returncode == 1 and "MISSED  top-1 at worst was not measured: neither labels nor the model say" in done.stdout, (done.stdout, done.stderr)
    assert "'labels'" in done.stdout and "--eval" in done.stdout, done.stdout
    told = run_good("check", model, "--data", folder / "labelled.npz", "--device", "cpu", "--max-drop", 50)
    assert "ok      top-1 falls by" in told, told


def test_nodes_and_modules(folder):
    """A module names what leaves it: of a fusion the fusion's value, of a container that of its last measured node."""
    out = quantized(folder)
    result = json.loads((out / "result.json").read_text())
    nodes = {node["name"]: node for node in result["nodes"]}
    conv, relu = (next(n for n in result["nodes"] if n["module"] == name) for name in ("stem.conv", "stem.relu"))
    assert conv["error"] is None and conv["unit"] == relu["name"] and "unit" not in relu
    block = [n for n in result["nodes"] if n["module"].startswith("block1.") or n["module"] == "block1"]
    db = {name: nodes[measured]["error"]["cumulative"]["sqnr_db"] for name, measured in (
        ("stem.conv", relu["name"]), ("stem", relu["name"]), (conv["name"], relu["name"]), ("block1", block[-1]["name"]))}
    for name, found in db.items():
        assert run("check", out, "--node", f"{name}: {found - 0.01}").returncode == 0, name
        done = run("check", out, "--node", f"{name}: {found + 0.01}")
        assert done.returncode == 1 and "MISSED" in done.stdout and f"the SQNR of '{name}', measured at '" in done.stdout, (name, done.stdout, done.stderr)
    # What was not measured is a miss among the others, and the reports are written.
    for node in result["nodes"]:
        node["error"] = node["error"] if node["module"] == "head" else None
    (out / "result.json").write_text(json.dumps(result))
    junit, sarif = folder / "junit.xml", folder / "misses.sarif"
    done = run("check", out, "--node", "stem: 10", "--node", "head: 1", "--junit", junit, "--sarif", sarif)
    assert done.returncode == 1 and "'stem' is not measured" in done.stdout and "1 limit of 2" in done.stderr, (done.stdout, done.stderr)
    assert xml.fromstring(junit.read_text()).get("failures") == "1" and len(json.loads(sarif.read_text())["runs"][0]["results"]) == 1
    expect_bad("check", out, "--node", "ste: 3", contains=["'ste'", "'stem'"], code=2)


def test_the_gate_of_a_recipe(folder):
    """A model and a recipe are run as `quantize` runs them, and no export is written."""
    block = folder / "block.json"
    block.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86",
                                 "mapping": {"global": "x86", "module_name": [["block1", None]]}}))
    out = quantized(folder, "out", block)
    result = json.loads((out / "result.json").read_text())
    db = result["outputs"][0]["lowered"]["sqnr_db"]
    coverage = 100 * result["coverage"]["quantized"] / result["coverage"]["eligible"]
    job = ["check", MODEL, "--recipe", block, "--data", DATA, "--device", "cpu"]
    before = sorted(folder.iterdir())
    run_good(*job, "--min-sqnr", db - 0.01, "--min-coverage", coverage - 0.1)
    done = run(*job, "--min-sqnr", db + 0.01, "--min-coverage", coverage + 0.1, "--node", "head: 1", "--junit", folder / "junit.xml")
    assert done.returncode == 1 and done.stdout.count("MISSED") == 2 and "2 limits of 3" in done.stderr, (done.stdout, done.stderr)
    assert xml.fromstring((folder / "junit.xml").read_text())[0].get("classname") == str(MODEL)
    (folder / "junit.xml").unlink()
    assert sorted(folder.iterdir()) == before, "it left files"
    # The user's own metric: here the mean of the outputs' absolute values.
    script = folder / "metric.py"
    script.write_text("import sys, numpy\nprint(float(numpy.abs(numpy.load(sys.argv[1])['linear']).mean()))\n")
    metric = f"{sys.executable} {script}"
    run_good("quantize", MODEL, "--recipe", block, "--data", DATA, "--device", "cpu", "--export", "none", "--out", folder / "eval", "--eval", metric)
    own = json.loads((folder / "eval" / "result.json").read_text())["evaluation"]
    drop = own["float"] - own["int8"]
    missed = run(*job, "--max-drop", drop - 1e-4, "--eval", metric)
    assert missed.returncode == 1 and "MISSED  the metric" in missed.stdout, (missed.stdout, missed.stderr)
    assert "ok      the metric" in run(*job, "--max-drop", drop + 1e-4, "--eval", metric).stdout
    expect_bad(*job, "--max-drop", 1, "--eval", "false", contains=["your metric 'false' failed"])
    expect_bad("check", MODEL, "--min-sqnr", 1, contains=["--data is required"], code=2)
    expect_bad("check", MODEL, "--data", DATA, contains=["no limit is given"], code=2)


def test_the_limits_of_a_recipe(folder):
    """They hold with and without options, which win; they change nothing that is computed."""
    plain = quantized(folder, "plain")
    db = json.loads((plain / "result.json").read_text())["outputs"][0]["lowered"]["sqnr_db"]

    def limited(name, limits):
        recipe = folder / f"{name}.json"
        recipe.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86", "mapping": {"global": "x86"}, "limits": limits}))
        return recipe

    out = quantized(folder, "limited", limited("high", {"min_sqnr": db + 1, "nodes": {"head": 1}}))
    assert json.loads((out / "recipe.json").read_text())["limits"] == {"min_sqnr": db + 1, "nodes": {"head": 1}}
    assert json.loads((out / "result.json").read_text())["outputs"] == json.loads((plain / "result.json").read_text())["outputs"]
    done = run("check", out)
    assert done.returncode == 1 and done.stdout.count("MISSED") == 1 and done.stdout.count("ok  ") == 1 and "1 limit of 2" in done.stderr, done.stdout
    done = run("check", out, "--min-sqnr", db - 1, "--min-coverage", 1)
    assert done.returncode == 0 and done.stdout.count("ok  ") == 3, done.stdout
    fresh = run("check", MODEL, "--recipe", folder / "high.json", "--data", DATA, "--device", "cpu")
    assert fresh.returncode == 1 and "1 limit of 2" in fresh.stderr, fresh.stderr
    out = quantized(folder, "named", limited("preset", {"preset": "classification", "nodes": {"hed": 3}}))
    expect_bad("check", out, contains=["'hed'", "'head'"], code=2)
    for limits, words in (({"min_snr": 3}, ["min_snr", "min_sqnr"]), ({"preset": "classifcation"}, ["classifcation", "classification"]),
                          ({"min_sqnr": "30"}, ["min_sqnr"]), ({"nodes": ["head"]}, ["nodes"])):
        expect_bad("plan", MODEL, "--recipe", limited("bad", limits), contains=words)


if __name__ == "__main__":
    main(__name__)
