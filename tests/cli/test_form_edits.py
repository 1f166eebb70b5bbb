# SPDX-License-Identifier: Apache-2.0
"""Edits of the converted forms ("form" in an edit): the new target is executed in the exported file, the other form and the
scales stay as they are, and leaving the edit out again gives the files of before, to the bit."""

import json

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed

from edits import op, same
from harness import expect_bad, main, run, run_good, run_json, write_recipe
from models import residual

QUANTIZE = "quantized_decomposed.quantize_per_tensor.default"
FIRST = {"module": "", "op": QUANTIZE}
FORMS = "torchscript,pt2-reference,pt2"


def quantized(folder, path, data, edits, *words, name="out"):
    """The result folder of the model with these edits, and what was said on stderr."""
    recipe = write_recipe(folder, edits=edits)
    done = run("quantize", path, "--recipe", recipe, "--data", data, "--export", FORMS, "--out", folder / name, *words)
    assert done.returncode == 0, done.stderr
    return folder / name, done.stderr


def outputs(result, x):
    """What the reference form and the lowered form give, reloaded in Python."""
    with torch.no_grad():
        return (torch.export.load(result / "model.reference.pt2").module()(x), torch.jit.load(result / "model.int8.ts.pt")(x))


def with_target(result, x, before, after):
    """The reference form's output with another target for every such node, changed and recompiled in Python."""
    module = torch.export.load(result / "model.reference.pt2").module()
    for node in module.graph.nodes:
        if node.target == before:
            node.target = after
    module.graph.lint()
    module.recompile()
    with torch.no_grad():
        return module(x)


def test_replacing_every_target_calls_the_new_one(folder):
    _, path, data, x = residual(folder)
    x = x[:2]
    plain, _ = quantized(folder, path, data, [])
    first = outputs(plain, x)
    every = {"do": "replace_every", "form": "reference", "every": "aten.relu.default", "op": "aten.sigmoid.default"}
    edited, said = quantized(folder, path, data, [every], name="edited")
    assert "left out" not in said, said
    now = outputs(edited, x)
    same(now[0], with_target(plain, x, torch.ops.aten.relu.default, torch.ops.aten.sigmoid.default))
    assert not torch.equal(now[0], first[0])
    same(now[1], first[1])  # each form is edited by itself
    scales = [[node["output"] for node in json.loads((one / "result.json").read_text())["nodes"]] for one in (plain, edited)]
    assert scales[0] == scales[1]
    again, _ = quantized(folder, path, data, [], name="again")
    for before, after in zip(first, outputs(again, x)):
        same(before, after)


def test_the_lowered_forms_quantize_is_replaced_graph_wide(folder):
    _, path, data, x = residual(folder)
    plain, _ = quantized(folder, path, data, [])
    every = {"do": "replace_every", "form": "lowered", "every": "aten.quantize_per_tensor.default",
             "op": "aten.quantize_per_tensor_dynamic.default", "args": {"reduce_range": False}}
    edited, said = quantized(folder, path, data, [every], name="edited")
    assert "left out" not in said, said
    graph = str(torch.jit.load(edited / "model.int8.ts.pt").inlined_graph)
    assert "aten::quantize_per_tensor_dynamic" in graph and "aten::quantize_per_tensor(" not in graph, graph
    # The new target follows the range of what comes, where the one before saturates.
    wide = 50 * x[:2]
    before, after = outputs(plain, wide), outputs(edited, wide)
    same(before[0], after[0])
    assert not torch.allclose(before[1], after[1])
    code = run_good("inspect", path, "--recipe", edited / "recipe.json", "--form", "lowered", "--code")
    assert "quantize_per_tensor_dynamic" in code, code


def test_compare_and_verify_follow_the_edit(folder):
    _, path, data, _ = residual(folder)
    edit = {"do": "set", "form": "reference", "at": FIRST, "args": {"scale": 0.5}}
    plain, _ = quantized(folder, path, data, [])
    edited, _ = quantized(folder, path, data, [edit], name="edited")
    figures = [json.loads((one / "result.json").read_text()) for one in (plain, edited)]
    db = [one["outputs"][0]["cumulative"]["sqnr_db"] for one in figures]
    assert db[1] < db[0] - 3, db
    compared = run_json("compare", path, "--result", edited, "--data", data)
    assert compared["outputs"] == figures[1]["outputs"]
    assert run_json("verify", edited, "--data", data, "--runtime", "torch.export")["passed"]


def test_every_kind_works_on_a_converted_form(folder):
    _, path, data, x = residual(folder)
    conv = op("conv2", "conv2d.default")
    add = op("", "add.Tensor")
    kinds = [
        {"do": "insert", "op": "aten.clamp.default", "at": op("relu", "relu.default"), "name": "clip", "args": {"min": 0.25}},
        {"do": "remove", "at": op("", "cos.default")},
        {"do": "replace", "at": op("relu", "relu.default"), "op": "aten.tanh.default"},
        {"do": "replace_every", "every": QUANTIZE, "op": QUANTIZE, "args": {"quant_max": 63}},
        {"do": "set", "at": FIRST, "args": {"zero_point": 3}},
        {"do": "rewire", "at": add, "argument": "self", "to": conv},
        {"do": "duplicate", "at": op("", "cos.default"), "name": "copy", "readers": [{"model_output": 0}]},
        {"do": "rename", "at": conv, "name": "second"},
        {"do": "constant", "at": {"stored": "fc.bias"}, "values": [0.5] * 5},
        {"do": "fold"},
    ]
    plain, _ = quantized(folder, path, data, [])
    file = plain / "model.reference.pt2"
    before = torch.export.load(file).module()(x[:2])
    for kind in kinds:
        name = kind["do"]
        # The exported file, opened by itself, takes the edit as the form of the model does.
        recipe = write_recipe(folder, edits=[kind])
        run_good("edit", file, "--recipe", recipe, "--out", folder / "own.pt2", "--strict")
        result, said = quantized(folder, path, data, [{**kind, "form": "reference"}], "--strict", name=name)
        assert "left out" not in said, (name, said)
        with torch.no_grad():
            after = torch.export.load(result / "model.reference.pt2").module()(x[:2])
            own = torch.export.load(folder / "own.pt2").module()(x[:2])
        same(after, own)
        changes = name not in ("duplicate", "rename", "fold")
        assert torch.equal(before, after) != changes, name


def test_what_makes_no_sense_in_a_form_is_refused_with_what_to_do(folder):
    _, path, data, _ = residual(folder)
    relu = op("relu", "relu.default")
    for kind in ({"do": "add_output", "at": relu}, {"do": "drop_output", "output": 0}, {"do": "extract", "nodes": [relu]},
                 {"do": "as_float32"}):
        _, said = quantized(folder, path, data, [{**kind, "form": "reference"}])
        assert "left out" in said and "leave out 'form'" in said, said
    wrong = {"do": "remove", "form": "lowered", "at": relu}
    _, said = quantized(folder, path, data, [wrong])
    assert "has no operator aten.relu.default" in said and "in the lowered form" in said, said
    recipe = write_recipe(folder, edits=[wrong])
    expect_strict = run("quantize", path, "--recipe", recipe, "--data", data, "--out", folder / "no", "--strict")
    assert expect_strict.returncode == 1 and "--strict" in expect_strict.stderr, expect_strict.stderr
    spelled = write_recipe(folder, edits=[{**wrong, "form": "refrence"}])
    expect_bad("plan", path, "--recipe", spelled, contains=("refrence", "did you mean 'reference'"))
    recipe = write_recipe(folder, edits=[wrong])
    # A float model is not in that form: nothing is written in its place.
    expect_bad("edit", path, "--recipe", recipe, "--out", folder / "none.pt2", contains=("converted forms", "quantize"))
    listed = run_json("edit", path, "--recipe", recipe)["edits"][0]
    assert (listed["form"], listed["done"], listed["problem"]) == ("lowered", False, None), listed


if __name__ == "__main__":
    main(__name__)
