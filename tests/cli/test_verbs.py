# SPDX-License-Identifier: Apache-2.0
"""Every verb of the command line: exit codes, what goes to stdout, the keys of each document."""

import csv
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import torch
from harness import PROGRAM, SOURCE, expect_bad, interrupted, main, run, run_good, run_json, write_recipe
from models import residual

SAMPLES = SOURCE / "resources" / "samples"
NODE_KEYS = {"name", "op", "module", "call_index", "module_class", "quantized", "reason", "reason_code", "pattern", "qconfig", "rule",
             "output", "inputs", "weight"}
QPARAM_KEYS = {"dtype", "qscheme", "scale", "zero_point", "quant_min", "quant_max", "min", "max", "observer",
               "shared_with", "rule"}
METRIC_KEYS = {"sqnr_db", "cosine", "mse", "max_abs"}
RESULT_KEYS = {"format", "version", "device", "threads", "model", "recipe_sha256", "versions", "timing_s",
               "peak_rss_bytes", "coverage", "labels", "agreement", "outputs", "nodes", "convergence"}


def check_quantization(entry, extra=()):
    assert set(entry) == QPARAM_KEYS | set(extra), set(entry)
    assert len(entry["scale"]) == len(entry["zero_point"]) == len(entry["min"]) == len(entry["max"])
    for scale in entry["scale"]:
        assert float(np.float32(scale)) == scale, "a scale is a float32"


def check_nodes(document):
    """What holds for the nodes of every result document."""
    names = [node["name"] for node in document["nodes"]]
    assert len(names) == len(set(names))
    for node in document["nodes"]:
        assert NODE_KEYS | {"error"} <= set(node), NODE_KEYS - set(node)
        assert node["quantized"] or node["reason"], f"{node['name']}: float without a reason"
        assert {"kind", "key", "qconfig", "overrides"} == set(node["rule"])
        for entry in [node["output"], *node["inputs"]]:
            if entry is not None:
                check_quantization(entry)
                assert entry["shared_with"] is None or entry["shared_with"] in names
        if node["weight"] is not None:
            check_quantization(node["weight"], extra=["axis"])
        if node["error"] is not None:
            assert set(node["error"]) == {"isolated", "inherited", "born_here", "cumulative"}
            for name, term in node["error"].items():
                keys = METRIC_KEYS | ({"kl"} if name == "cumulative" else set())
                if name != "cumulative" and term and "samples" in term:  # of a part of them
                    keys = keys | {"samples", "standard_error_db"}
                assert term is None or (set(term) == keys and -200 <= term["sqnr_db"] <= 200)


def check_result(document):
    assert RESULT_KEYS <= set(document), RESULT_KEYS - set(document)
    assert (document["format"], document["version"]) == ("quantscope.result", 1)
    assert set(document["model"]) == {"path", "sha256"} and len(document["model"]["sha256"]) == 64
    assert set(document["coverage"]) == {"quantized", "eligible", "total"}
    assert document["peak_rss_bytes"] > 1e6 and document["threads"] >= 1
    for output in document["outputs"]:
        assert set(output["cumulative"]) == METRIC_KEYS and set(output["lowered"]) == METRIC_KEYS
    check_nodes(document)


def test_help_and_usage(folder):
    done = run("--help")
    assert done.returncode == 0 and "quantize" in done.stdout and done.stderr == ""
    for words in ([], ["fly"], ["inspect"], ["inspect", "a", "b"], ["inspect", "m.pt2", "--bogus"],
                  ["quantize", "m.pt2"], ["quantize", "m", "--data", "d", "--out", "o", "--device", "tpu"],
                  ["quantize", "m", "--data", "d", "--out", "o", "--export", "tflite"], ["backends", "show"]):
        expect_bad(*words, code=2)
    expect_bad("inspct", "m.pt2", code=2, contains=["inspct", "did you mean 'inspect'?"])


def test_data_that_is_not_what_it_seems(folder):
    """Names that do not match are told, weights are no data, and a cut to the recipe's batches is said."""
    _, path, npz, data = residual(folder)
    array = data.numpy() if hasattr(data, "numpy") else np.asarray(data)
    np.savez(folder / "other.npz", picture=np.concatenate([array] * 40)[:160])
    done = run("quantize", path, "--data", folder / "other.npz", "--device", "cpu", "--export", "none", "--out", folder / "out")
    assert done.returncode == 0 and "in the file's order, not by name: 'picture' as 'x'" in done.stderr, done.stderr
    assert "of 160 samples the first 128 are used: 16 batches of 8" in done.stderr, done.stderr
    named = run("quantize", path, "--data", npz, "--device", "cpu", "--export", "none", "--out", folder / "named")
    assert "order" not in named.stderr and "samples" not in named.stderr, named.stderr
    torch.save(torch.nn.Linear(2, 2).state_dict(), folder / "weights.pt")
    expect_bad("quantize", path, "--data", folder / "weights.pt", "--out", folder / "bad", out=folder / "bad",
               contains=["weights.pt", "something other than tensors", "state_dict is not data"])


def test_inspect(folder):
    _, path, _, _ = residual(folder)
    document = run_json("inspect", path)
    assert {"format", "version", "inputs", "outputs", "modules", "nodes"} <= set(document)
    assert [(i["name"], i["dtype"]) for i in document["inputs"]] == [("x", "float32")]
    assert isinstance(document["inputs"][0]["shape"][0], str) and document["inputs"][0]["shape"][1:] == [3, 8, 8]
    nodes = {node["name"]: node for node in document["nodes"]}
    conv = nodes["conv2d"]
    assert conv["op"] == "aten.conv2d.default" and conv["module"] == "conv1"
    assert conv["module_class"] == "torch.nn.Conv2d" and conv["inputs"][0] == "x"
    assert conv["outputs"][0]["dtype"] == "float32" and conv["outputs"][0]["shape"][1:] == [8, 8, 8]
    assert "conv1" in [module["path"] for module in document["modules"]]
    text = run_good("inspect", path)
    assert "conv1" in text and "torch.nn.Conv2d" in text
    assert "def forward(self, x" in run_good("inspect", path, "--code")


def test_plan(folder):
    _, path, _, _ = residual(folder)
    document = run_json("plan", path)
    nodes = {node["name"]: node for node in document["nodes"]}
    for node in document["nodes"]:
        assert NODE_KEYS <= set(node) and "error" not in node
        assert node["output"] is None or "scale" not in node["output"]
    assert nodes["relu"]["quantized"] and nodes["conv2d"]["pattern"] == nodes["relu"]["pattern"]
    assert nodes["relu"]["output"]["dtype"] == "quint8" and nodes["conv2d"]["weight"]["dtype"] == "qint8"
    assert nodes["max_pool2d"]["output"]["shared_with"] == "relu"
    assert not nodes["cos"]["quantized"] and nodes["cos"]["reason"]
    text = run_good("plan", path)
    assert "conv2d" in text and "eligible operators quantized" in text


def test_quantize_and_compare(folder):
    _, path, npz, _ = residual(folder, labels=True)
    out = folder / "new" / "out"
    text = run_good("quantize", path, "--data", npz, "--device", "cpu", "--out", out)
    assert "relu" in text and "result.json" in text
    assert {p.name for p in out.iterdir()} == {"result.json", "recipe.json", "observations.npz", "model.int8.ts.pt", "model.int8.pt2",
                                               "model.int8.onnx"}
    document = json.loads((out / "result.json").read_text())
    check_result(document)
    assert document["labels"]["float_top1"] == 1.0 and 0 <= document["labels"]["int8_top1"] <= 1
    assert {"import", "plan", "prepare", "calibrate", "convert", "compare", "export"} <= set(document["timing_s"])
    nodes = {node["name"]: node for node in document["nodes"]}
    assert nodes["x"]["op"] == "input" and nodes["x"]["output"]["zero_point"][0] > 0
    assert nodes["max_pool2d"]["output"]["shared_with"] == "relu"
    assert nodes["conv2d"]["weight"]["axis"] == 0 and len(nodes["conv2d"]["weight"]["scale"]) == 8
    assert nodes["conv2d"]["error"] is None and nodes["relu"]["error"]["isolated"]["sqnr_db"] > 20

    again = run_json("compare", path, "--result", out, "--data", npz)
    check_result(again)
    for node, other in zip(document["nodes"], again["nodes"]):
        assert (node["name"], node["output"], node["weight"]) == (other["name"], other["output"], other["weight"])
        assert (node["error"] is None) == (other["error"] is None)
        for term in node["error"] or {}:
            assert abs(node["error"][term]["sqnr_db"] - other["error"][term]["sqnr_db"]) < 1e-3, node["name"]
    assert "cumulative" in run_good("compare", path, "--result", out / "result.json", "--data", npz)


def test_compare_refuses_another_model(folder):
    (folder / "a").mkdir()
    _, path, npz, _ = residual(folder)
    run_good("quantize", path, "--data", npz, "--device", "cpu", "--export", "none", "--out", folder / "out")
    words = ("compare", SAMPLES / "digits.pt2", "--result", folder / "out", "--data", npz)
    expect_bad(*words, contains=["result.json", "another model"])
    (folder / "out" / "result.json").write_text("{}")
    expect_bad("compare", path, "--result", folder / "out", "--data", npz, contains=["result.json", "not a result"])
    expect_bad("compare", path, "--result", folder / "nothing", "--data", npz, contains=["nothing"])


def test_report(folder):
    _, path, npz, _ = residual(folder)
    out = folder / "out"
    run_good("quantize", path, "--data", npz, "--device", "cpu", "--out", out)
    page = folder / "report.html"
    path.unlink()  # the report needs the folder alone
    run_good("report", out, "--html", page)
    text = page.read_text()
    tree = ElementTree.fromstring(text.split("\n", 1)[1])
    assert tree.tag == "html" and "max_pool2d" in text
    titles = [figure.find("figcaption").text for figure in tree.iter("figure")]
    assert "x" in titles and all(any(title.startswith(module) for title in titles) for module in ("conv1 + relu", "conv2", "fc")), titles
    pictures = list(tree.iter("{http://www.w3.org/2000/svg}svg"))
    assert len(pictures) == len(titles) + 2, "a histogram each, the module tree, the worst layers"
    headings = [h.text for h in tree.iter("h2")]
    assert {"Module tree", "Worst layers by the error born there", "Certificate"} <= set(headings), headings
    boxes = [title.text for title in pictures[0].iter("{http://www.w3.org/2000/svg}title")]
    assert any(box.startswith("conv2 torch.nn") and "1 of 1 operator quantized, worst layer" in box for box in boxes), boxes
    result = json.loads((out / "result.json").read_text())
    hashes = {result["model"]["sha256"], result["recipe_sha256"],
              *(hashlib.sha256((out / name).read_bytes()).hexdigest() for name in result["exports"].values())}
    assert hashes == {code.text for code in tree.iter("code")}, "every file has its hash in the certificate"
    assert "src=" not in text and "href=" not in text, "the page stands alone"
    expect_bad("report", folder / "none", "--html", folder / "r.html", contains=["none"])
    expect_bad("report", out, contains=["--html", "--csv"], code=2)


def test_report_as_a_table(folder):
    _, path, npz, _ = residual(folder)
    out = folder / "out"
    run_good("quantize", path, "--data", npz, "--device", "cpu", "--export", "none", "--out", out)
    document = json.loads((out / "result.json").read_text())
    document["nodes"][0]["reason"] = 'commas, "quotes"\nand lines'
    (out / "result.json").write_text(json.dumps(document))
    run_good("report", out, "--csv", folder / "r.csv")
    with open(folder / "r.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    nodes = json.loads((out / "result.json").read_text())["nodes"]
    assert [row["name"] for row in rows] == [node["name"] for node in nodes]
    channels = []
    for row, node in zip(rows, nodes):
        assert None not in row, "as many cells as titles"
        assert row["reason"] == (node["reason"] or "") and row["reason_code"] == (node["reason_code"] or "")
        assert row["verdict"] == node["verdict"], (row, node)
        error = (node.get("error") or {}).get("isolated")
        assert row["isolated_sqnr_db"] == "" if not error else float(row["isolated_sqnr_db"]) == error["sqnr_db"]
        assert row["cumulative_kl"] == "" if not error else float(row["cumulative_kl"]) == node["error"]["cumulative"]["kl"]
        for place in ("output", "weight"):
            entry = node.get(place)
            assert row[f"{place}_dtype"] == (entry["dtype"] if entry else "")
            if not entry:
                assert row[f"{place}_scale_min"] == row[f"{place}_min"] == ""
                continue
            scales = entry["scale"]
            assert [float(row[f"{place}_scale_{end}"]) for end in ("min", "max")] == [min(scales), max(scales)], row
            assert [float(row[f"{place}_{end}"]) for end in ("min", "max")] == [min(entry["min"]), max(entry["max"])], row
            if len(scales) == 1:
                assert float(row[f"{place}_scale"]) == scales[0] and row[f"{place}_channels"] == ""
            else:
                assert int(row[f"{place}_channels"]) == len(scales) and row[f"{place}_scale"] == ""
                assert row[f"{place}_zero_point"] == "0", row
                channels.append(len(scales))
    assert channels, "no weight per channel was looked at"
    expect_bad("report", folder, "--csv", folder / "s.csv", contains=["result.json"])


def test_backends(folder):
    assert "x86" in run_good("backends") and "symmetric_qnnpack" in run_good("backends", "list")
    shown = run_good("backends", "show", "qnnpack")
    assert "torch.nn.Conv2d" in shown and "fuses to torch.ao.nn.intrinsic.ConvReLU2d" in shown
    assert "static: quint8 -> quint8, weight qint8" in shown and "presets qnnpack" in shown
    shown = run_good("backends", "show", "x86", "--json")
    document = json.loads(shown)
    file = folder / "mine.json"
    file.write_text(shown)
    assert "good, nothing to report" in run_good("backends", "check", file)
    lone = {"pattern": ["torch.sub"], "dtype_configs": [
        {"input_dtype": {"dtype": "quint8", "quant_min_lower_bound": 0}}]}
    file.write_text(json.dumps({**document, "patterns": document["patterns"] + [lone]}))
    text = run_good("backends", "check", file)
    assert "0 errors, 1 warning\n" in text and "is set without its partner" in text
    wrong = {"pattern": ["torch.nn.Conv2D"], "dtype_configs": [{}]}
    file.write_text(json.dumps({**document, "patterns": document["patterns"] + [lone, wrong]}))
    done = run("backends", "check", file)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr
    assert "mine.json" in done.stderr and "did you mean 'torch.nn.Conv2d'?" in done.stderr
    assert "1 error, 1 warning\n" in done.stdout and "is set without its partner" in done.stdout
    file.write_text("{}")
    expect_bad("backends", "check", file, contains=["mine.json"])
    expect_bad("backends", "show", "tpu9", contains=["tpu9"])


def test_doctor(folder):
    text = run_good("doctor", "--device", "cpu")
    assert "LibTorch" in text and "histogram" in text and "good" in text and "BAD" not in text


def test_own_metric(folder):
    _, path, npz, data = residual(folder, labels=True)
    script = folder / "metric.py"
    script.write_text("import sys, numpy as np\na = np.load(sys.argv[1])\nk = [n for n in a if n != 'labels'][0]\n"
                      "print((a[k].argmax(1) == a['labels']).mean() + a[k].shape[0])\n")
    words = ("quantize", path, "--data", npz, "--device", "cpu", "--export", "none", "--out", folder / "out")
    run_good(*words, "--eval", f"{sys.executable} {script}")
    document = json.loads((folder / "out" / "result.json").read_text())
    assert document["evaluation"]["float"] == 1 + len(data)
    assert abs(document["evaluation"]["int8"] - len(data) - document["labels"]["int8_top1"]) < 1e-9
    assert not (folder / "out" / "outputs.npz").exists()
    # A metric that fails costs nothing but the metric.
    done = run(*words[:-1], folder / "bad", "--eval", "false")
    assert done.returncode == 1 and "your metric 'false' failed" in done.stderr.splitlines()[-1], done.stderr
    for printed, said in (("nothing", "printed no number"), ("nan", "printed no finite number"), ("0.71 of 1", "printed more than a number: '0.71 of 1'")):
        script.write_text(f"print({printed!r})\n")
        done = run(*words[:-1], folder / "bad", "--eval", f"{sys.executable} {script}")
        assert done.returncode == 1 and said in done.stderr.splitlines()[-1], done.stderr
    assert json.loads((folder / "bad" / "result.json").read_text()).get("evaluation") in ({}, None)


def test_full_disk(folder):
    """A file that cannot be written whole ends in one line and leaves nothing."""
    _, path, npz, _ = residual(folder)
    for form in ("torchscript", "pt2", "pt2-reference"):
        out = folder / f"full_{form}"
        words = [PROGRAM, "quantize", path, "--data", npz, "--device", "cpu", "--export", form, "--out", out]
        # No file may grow beyond some kilobytes; without the signal's default the write fails as on a full disk.
        done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=300, check=False, restore_signals=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000)))
        lines = done.stderr.splitlines()
        assert done.returncode == 1 and "could not be written whole: File too large" in lines[-1], (form, done.returncode, done.stderr)
        assert not out.exists(), list(out.rglob("*"))


def test_result_folder_is_of_one_run(folder):
    """A second run into the same folder leaves no export of the first, and nothing of the user's is touched."""
    _, path, npz, _ = residual(folder)
    out = folder / "out"
    run_good("quantize", path, "--data", npz, "--device", "cpu", "--export", "torchscript,pt2", "--out", out)
    (out / "mine.txt").write_text("kept")
    model = out / "model.int8.pt2"  # the export as the next run's model: it is not removed under its feet
    text = run("quantize", path, "--data", npz, "--device", "cpu", "--export", "pt2-reference", "--out", out)
    assert text.returncode == 0 and "model.int8.ts.pt" in text.stderr, text.stderr
    assert not model.exists() and not (out / "model.int8.ts.pt").exists()
    assert (out / "model.reference.pt2").exists() and (out / "mine.txt").read_text() == "kept"
    source = out / "model.reference.pt2"
    source.write_bytes(path.read_bytes() if hasattr(path, "read_bytes") else open(path, "rb").read())
    run_good("quantize", source, "--data", npz, "--device", "cpu", "--export", "none", "--out", out)
    before = source.read_bytes()
    expect_bad("quantize", source, "--data", npz, "--device", "cpu", "--export", "pt2-reference", "--out", out,
               contains=[source, "the results would replace it, as model.reference.pt2"])
    assert source.read_bytes() == before


def test_strict(folder):
    _, path, npz, _ = residual(folder)
    recipe = folder / "recipe.json"
    recipe.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86",
                                  "mapping": {"global": "x86", "module_name": [["nowhere", None]]}}))
    words = ["quantize", path, "--recipe", recipe, "--data", npz, "--device", "cpu", "--export", "none"]
    done = run(*words, "--out", folder / "out")
    assert done.returncode == 0 and "nowhere" in done.stderr, done.stderr
    expect_bad(*words, "--strict", "--out", folder / "strict", contains=["nowhere"], out=folder / "strict")


def test_interrupted_calibration_goes_on(folder):
    _, path, _, _ = residual(folder)
    big = folder / "big.npz"
    np.savez(big, x=np.random.default_rng(1).normal(size=(20000, 3, 8, 8)).astype(np.float32))

    def words(out, batches):
        place = folder / f"of_{batches}"
        place.mkdir(exist_ok=True)
        recipe = write_recipe(place, backend="x86", calibration={"batch_size": 1, "batches": batches})
        return ["quantize", path, "--recipe", recipe, "--data", big, "--device", "cpu", "--export", "none", "--out", out]

    reached = []
    for progress in (r"calibrate: batch \d{3,} of", r"calibrate: batch ([5-9]\d{2}|\d{4,}) of"):
        code, line = interrupted(words(folder / "out", 20000), progress)
        found = re.fullmatch(r"quantscope: cancelled after batch (\d+) of 20000; repeat the command to resume", line)
        assert code == 1 and found, (code, line)
        reached.append(int(found[1]))
        assert os.listdir(folder / "out") == ["calibration.partial.npz"], os.listdir(folder / "out")
    assert 0 < reached[0] < reached[1], reached

    done = run(*words(folder / "out", reached[1]))
    assert done.returncode == 0 and f"after batch {reached[1]}" in done.stderr, done.stderr
    assert "calibration.partial.npz" not in os.listdir(folder / "out")
    run_good(*words(folder / "whole", reached[1]))
    resumed, whole = (json.loads((folder / name / "result.json").read_text()) for name in ("out", "whole"))
    assert resumed["nodes"] == whole["nodes"]


def test_cancel_leaves_nothing(folder):
    _, path, npz, _ = residual(folder)
    big = folder / "big.npz"
    np.savez(big, x=np.zeros((20000, 3, 8, 8), np.float32))
    recipe = folder / "recipe.json"
    recipe.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86",
                                  "calibration": {"batch_size": 1, "batches": 20000}}))
    words = ["quantize", path, "--recipe", recipe, "--data", big, "--device", "cpu", "--out", folder / "out"]
    assert interrupted(words, "%") == (1, "quantscope: cancelled")
    assert not os.path.exists(folder / "out")


def test_ui_starts_the_window_beside_it(folder):
    beside = folder / "quantscope"
    beside.write_bytes(open(PROGRAM, "rb").read())
    beside.chmod(0o755)
    done = subprocess.run([beside, "ui", "m.pt2"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "quantscope-ui" in done.stderr
    window = folder / "quantscope-ui"
    window.write_text('#!/bin/sh\necho "window $1"\n')
    window.chmod(0o755)
    done = subprocess.run([beside, "ui", "m.pt2"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "window m.pt2\n"), done.stderr


main(__name__)
