# SPDX-License-Identifier: Apache-2.0
"""What an edited model is good for: measured against the model before its edits, a part with the data that it sees, quantizing and
casts by hand."""

import json

import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from torch import nn

from edits import edited, op, same
from harness import by_name, expect_bad, main, run, run_good, run_json, sqnr, write_recipe
from models import residual


def test_a_part_comes_with_the_data_that_it_sees(folder):
    _, path, npz, data = residual(folder, labels=True)
    kept = [op("", "add.Tensor"), op("", "flatten.using_ints"), op("fc", "linear.default"), op("", "cos.default")]
    recipe = write_recipe(folder, edits=[{"do": "extract", "nodes": kept}], calibration={"batch_size": 8, "batches": 2})
    told = run_json("edit", path, "--recipe", recipe, "--data", npz, "--out", folder / "part.pt2")
    assert told["data"] == str(folder / "part.npz"), told
    made = np.load(folder / "part.npz")
    inputs = torch.export.load(folder / "part.pt2").graph_signature.user_inputs
    assert sorted(made.files) == sorted([*inputs, "labels"]), (made.files, inputs)
    assert all(len(made[name]) == len(data) for name in made.files), {name: made[name].shape for name in made.files}
    assert np.array_equal(made["labels"], np.load(npz)["labels"])
    # The whole, and the part fed with its data, to the bit; as the model was exported, two at a time.
    whole, part = torch.export.load(path).module(), torch.export.load(folder / "part.pt2").module()
    with torch.no_grad():
        for start in range(0, len(data), 2):
            fed = [torch.from_numpy(made[name][start:start + 2]) for name in inputs]
            same(whole(data[start:start + 2]), part(*fed))
    # It is a model with data like any other.
    document = run_json("quantize", folder / "part.pt2", "--data", folder / "part.npz", "--device", "cpu", "--out", folder / "q")
    assert document["data"]["calibration_samples"] == 32 and document["labels"], document["data"]
    assert document["outputs"][0]["lowered"]["sqnr_db"] > 15, document["outputs"]
    # A part of a part; another file for the data.
    twice = write_recipe(folder, edits=[{"do": "extract", "nodes": kept}, {"do": "extract", "nodes": kept[2:]}])
    run_good("edit", path, "--recipe", twice, "--data", npz, "--data-out", folder / "inner.npz", "--out", folder / "inner.pt2")
    inner, x = torch.export.load(folder / "inner.pt2").module(), np.load(folder / "inner.npz")
    with torch.no_grad():
        same(whole(data[:2]), inner(torch.from_numpy(x[x.files[0]][:2])))
    # What goes wrong.
    plain = write_recipe(folder, edits=[{"do": "remove", "at": op("relu", "relu.default")}])
    expect_bad("edit", path, "--recipe", plain, "--data", npz, "--data-out", folder / "no.npz", contains=["extract no part"])
    assert not (folder / "no.npz").exists()
    expect_bad("edit", path, "--recipe", twice, "--data", npz, "--out", folder / "part.pt2", "--data-out", npz,
               contains=["would overwrite an input file"], code=2)
    expect_bad("edit", path, "--recipe", twice, "--data", npz, contains=["--data needs --out"], code=2)
    left = [name for name in folder.iterdir() if name.name.startswith(".quantscope")]
    assert not left, left


def test_quantizing_and_casts_by_hand(folder):
    model, path, npz, data = residual(folder)
    F, Q = nn.functional, torch.ops.quantized_decomposed
    settings = {"scale": 0.02, "zero_point": 3, "quant_min": 0, "quant_max": 255, "dtype": "uint8"}
    there, back = (f"quantized_decomposed.{word}_per_tensor.default" for word in ("quantize", "dequantize"))
    relu, pool = op("relu", "relu.default"), op("pool", "max_pool2d.default")
    edits = [{"do": "insert", "op": there, "at": relu, "name": "q", "args": settings, "readers": []},
             {"do": "insert", "op": back, "at": {"added": "q"}, "name": "dq", "args": settings, "readers": []},
             {"do": "rewire", "at": pool, "argument": "self", "to": {"added": "dq"}},
             {"do": "insert", "op": "aten._to_copy.default", "at": op("conv2", "conv2d.default"), "name": "half", "readers": [],
              "args": {"dtype": "float16"}},
             {"do": "insert", "op": "aten.to.dtype", "at": {"added": "half"}, "name": "full", "readers": [],
              "args": {"dtype": "float32"}},
             {"do": "rewire", "at": op("", "add.Tensor"), "argument": "other", "to": {"added": "full"}}]
    made, _ = edited(folder, path, edits)
    values = (0.02, 3, 0, 255, torch.uint8)

    def python(x):
        a = model.pool(Q.dequantize_per_tensor(Q.quantize_per_tensor(model.relu(model.conv1(x)), *values), *values))
        return torch.cos(model.fc(torch.flatten(a + model.conv2(a).to(torch.float16).to(torch.float32), 1)))

    with torch.no_grad():
        same(python(data[:2]), made(data[:2]))
    types = {node["name"]: node["outputs"][0]["dtype"]
             for node in run_json("inspect", folder / "edited.pt2")["nodes"] if node["outputs"]}
    assert types["q"] == "uint8" and types["half"] == "float16" and types["dq"] == types["full"] == "float32", types
    # Alone, the readers could not take it: said so, and nothing is done.
    alone = run_json("edit", path, "--recipe", write_recipe(folder, edits=[
        {"do": "insert", "op": there, "at": op("pool", "max_pool2d.default"), "name": "q", "args": settings}]))
    assert alone["edits"][0]["problem"] and "\n" not in alone["edits"][0]["problem"], alone
    # Measured and exported like any other operator.
    recipe = write_recipe(folder, edits=edits)
    document = run_json("quantize", path, "--recipe", recipe, "--data", npz, "--device", "cpu", "--out", folder / "q")
    nodes = by_name(document)
    assert nodes["half"]["error"] is None or nodes["half"]["error"]["cumulative"], nodes["half"]
    assert nodes["full"]["error"]["cumulative"]["sqnr_db"] > 10, nodes["full"]
    torch.jit.load(folder / "q" / document["exports"]["torchscript"])(data[:2])
    # Every quantize at once by another operator.
    swap = [*edits[:3], {"do": "replace_every", "every": there, "op": there, "args": {**settings, "scale": 0.05}},
            {"do": "replace_every", "every": back, "op": back, "args": {**settings, "scale": 0.05}}]
    coarse, _ = edited(folder, path, swap)
    values = (0.05, 3, 0, 255, torch.uint8)
    with torch.no_grad():
        a = model.pool(Q.dequantize_per_tensor(Q.quantize_per_tensor(model.relu(model.conv1(data[:2])), *values), *values))
        same(torch.cos(model.fc(torch.flatten(a + model.conv2(a), 1))), coarse(data[:2]))


def test_measured_against_the_original(folder):
    _, path, data, tensor = residual(folder)
    edits = [{"do": "insert", "op": "aten.hardtanh.default", "at": op("", "add.Tensor"), "name": "clip",
              "args": {"min_val": -0.5, "max_val": 0.5}},
             {"do": "add_output", "at": op("pool", "max_pool2d.default")}]
    recipe = write_recipe(folder, edits=edits, calibration={"batch_size": 8, "batches": 3})
    words = ["--recipe", recipe, "--data", data, "--device", "cpu"]
    against = run_json("quantize", path, *words, "--against", "original", "--export", "pt2-reference", "--out", folder / "original")
    plain = run_json("quantize", path, *words, "--out", folder / "edited")
    assert against["against"] == "original" and plain["against"] == "edited"
    mine, theirs = by_name(against), by_name(plain)
    # Before the edit nothing differs, to the bit; behind it the edit's own error is in.
    assert mine["max_pool2d"]["error"]["cumulative"] == theirs["max_pool2d"]["error"]["cumulative"]
    assert mine["clip"]["error"] is None and theirs["clip"]["error"]["cumulative"]
    behind = mine["linear"]["error"]
    assert behind["cumulative"]["sqnr_db"] < theirs["linear"]["error"]["cumulative"]["sqnr_db"] - 3, (behind, theirs["linear"])
    assert behind["isolated"] is None and behind["inherited"] is None and behind["born_here"] is None
    # The outputs that both have, as PyTorch measures them.
    whole = torch.export.load(path).module()
    converted = torch.export.load(folder / "original" / "model.reference.pt2").module()
    parts = [tensor[start:start + 2] for start in range(0, 24, 2)]
    with torch.no_grad():
        wanted, got = torch.cat([whole(x) for x in parts]), torch.cat([converted(x)[0] for x in parts])
    told = against["outputs"][0]["cumulative"]["sqnr_db"]
    assert abs(sqnr(wanted, got) - told) < 0.01, (sqnr(wanted, got), told)
    assert against["outputs"][1]["cumulative"] is None and plain["outputs"][1]["cumulative"]
    assert len(against["unpaired"]) == 1 and "'max_pool2d' is not measured" in against["unpaired"][0], against["unpaired"]
    assert "unpaired" not in plain
    # Another run and the report say what is measured.
    again = run_json("compare", path, "--result", folder / "edited", "--data", data, "--device", "cpu", "--against", "original")
    assert again["against"] == "original" and by_name(again)["linear"]["error"]["isolated"] is None
    # A look has the comparison's number, at a node and at an output; what the original has not is refused.
    at = ["look", path, "--result", folder / "original", "--data", data, "--device", "cpu"]
    compared = by_name(again)
    for name in ("linear", "max_pool2d"):
        seen = run_json(*at, "--node", name, "--against", "original")
        assert seen["against"] == "original"
        told, wanted = seen["error"]["sqnr_db"], compared[name]["error"]["cumulative"]["sqnr_db"]
        assert abs(told - wanted) < 1e-6, (name, told, wanted)
    plainly = run_json(*at, "--node", "linear")
    assert plainly["against"] == "edited" and plainly["error"]["sqnr_db"] > behind["cumulative"]["sqnr_db"] + 3
    first = [output["name"] for output in again["outputs"]]
    out = run_json(*at, "--output", first[0], "--against", "original", "--sample", 1)
    assert abs(out["error"]["sqnr_db"] - again["outputs"][0]["cumulative"]["sqnr_db"]) < 1e-6
    assert out["sample"]["sample"] == 1
    expect_bad(*at, "--output", first[1], "--against", "original", contains=["the original model does not return it"])
    expect_bad(*at, "--node", "clip", "--against", "original", contains=["clip", "the original model does not have it"])
    assert "against the original model" in run_good(*at, "--node", "linear", "--against", "original")
    # A gate holds the same number.
    run_good("check", path, *words, "--against", "original", "--node", f"linear: {behind['cumulative']['sqnr_db'] - 0.01}")
    done = run("check", path, *words, "--against", "original", "--node", f"linear: {behind['cumulative']['sqnr_db'] + 0.01}")
    assert done.returncode == 1 and "MISSED" in done.stdout, done.stdout
    run_good("check", path, *words, "--node", f"linear: {behind['cumulative']['sqnr_db'] + 3}")
    expect_bad("check", folder / "original", "--against", "original", "--min-sqnr", "1", contains=["--against"], code=2)
    run_good("report", folder / "original", "--html", folder / "report.html")
    assert "original model, before the edits" in (folder / "report.html").read_text()
    dropped = write_recipe(folder, edits=[*edits, {"do": "drop_output", "output": 0}])
    text = run_good("quantize", path, "--recipe", dropped, "--data", data, "--device", "cpu", "--against", "original", "--out",
                    folder / "text")
    assert "against the original model" in text and "of the original model is not measured" in text, text
    # A project's choice; what is asked for counts more.
    (folder / "work.project.json").write_text(json.dumps({
        "format": "quantscope.project", "version": 1, "model": "residual.pt2", "data": "data.npz", "against": "original",
        "recipe": json.loads(recipe.read_text())}))
    project = folder / "work.project.json"
    assert run_json("quantize", project, "--device", "cpu", "--out", folder / "p1")["against"] == "original"
    asked = run_json("quantize", project, "--device", "cpu", "--against", "edited", "--out", folder / "p2")
    assert asked["against"] == "edited"


def test_without_edits_both_measures_are_the_same(folder):
    _, path, data, _ = residual(folder)
    words = ["--data", data, "--device", "cpu"]
    plain = run_json("quantize", path, *words, "--out", folder / "plain")
    against = run_json("quantize", path, *words, "--against", "original", "--out", folder / "against")
    assert against["outputs"] == plain["outputs"] and against["agreement"] == plain["agreement"]
    for name, node in by_name(plain).items():
        assert by_name(against)[name]["error"] == node["error"], name  # one model: all four terms
    assert any(node["error"] and node["error"]["born_here"] for node in against["nodes"])
    # A part has inputs of its own: the whole cannot run on its data.
    part = write_recipe(folder, edits=[{"do": "extract", "nodes": [op("fc", "linear.default"), op("", "cos.default")]}])
    np.savez(folder / "part.npz", flatten=np.random.default_rng(0).normal(size=(16, 128)).astype(np.float32))
    expect_bad("quantize", path, "--recipe", part, "--data", folder / "part.npz", "--device", "cpu", "--against", "original",
               "--out", folder / "no", contains=["x", "compare with the edited model"])


if __name__ == "__main__":
    main(__name__)
