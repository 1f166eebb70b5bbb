# SPDX-License-Identifier: Apache-2.0
"""Edits of the converted forms ("form" in an edit): the new target is executed in the exported file, the other form and the
scales stay as they are, and leaving the edit out again gives the files of before, to the bit."""

import json

import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from torch import nn

from edits import op, same
from harness import expect_bad, main, run, run_good, run_json, write_recipe
from models import export_model, residual

QUANTIZE = "quantized_decomposed.quantize_per_tensor.default"
FIRST = {"module": "", "op": QUANTIZE}
FORMS = "torchscript,pt2-reference,pt2"


def quantized(folder, path, data, edits, *words, name="out", forms=FORMS):
    """The result folder of the model with these edits, and what was said on stderr."""
    recipe = write_recipe(folder, edits=edits)
    done = run("quantize", path, "--recipe", recipe, "--data", data, "--export", forms, "--out", folder / name, *words)
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


class TwoOutputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.relu, self.fc = nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Linear(8, 5)

    def forward(self, x):
        y = self.relu(self.conv(x))
        return y, self.fc(y.mean((2, 3)))


def two_outputs(folder):
    torch.manual_seed(11)
    data = torch.randn(16, 3, 8, 8)
    export_model(TwoOutputs().eval(), (data[:2],), folder / "two.pt2")
    np.savez(folder / "data.npz", x=data.numpy())
    return folder / "two.pt2", folder / "data.npz", data


def verified(result, data, *runtimes):
    told = run_json("verify", result, "--data", data, *(word for name in runtimes for word in ("--runtime", name)))
    assert told["passed"], told
    return {row["runtime"]: row for row in told["verdicts"] if row.get("runtime")}


def test_outputs_are_added_and_dropped_in_one_form(folder):
    path, data, x = two_outputs(folder)
    plain, _ = quantized(folder, path, data, [])
    edits = [{"do": "add_output", "form": "reference", "at": op("fc", "linear.default")},
             {"do": "rename", "form": "reference", "at": op("fc", "linear.default"), "name": "scores"},
             {"do": "add_output", "form": "reference", "at": op("conv", "conv2d.default")},
             {"do": "drop_output", "form": "reference", "output": 0},
             {"do": "add_output", "form": "lowered", "at": {"module": "", "op": "aten.quantize_per_tensor.default"}}]
    edited, said = quantized(folder, path, data, edits, "--strict", name="edited", forms=FORMS + ",onnx")
    assert "left out" not in said, said
    first, now = outputs(plain, x[:4]), outputs(edited, x[:4])
    assert len(now[0]) == 3 and len(now[1]) == 3, now
    same(now[0][0], first[0][1])  # what stays is what it was
    assert now[0][2].shape == (4, 8, 8, 8)
    module = torch.export.load(plain / "model.reference.pt2").module()
    seen = {}

    class Keep(torch.fx.Interpreter):
        def run_node(self, node):
            seen[node.name] = super().run_node(node)
            return seen[node.name]

    with torch.no_grad():
        Keep(torch.export.load(plain / "model.reference.pt2").graph_module).run(*call_of(plain / "model.reference.pt2", x[:4]))
    same(now[0][2], seen["conv2d"])
    same(now[0][1], seen["linear"])
    same(now[1][:2], first[1])
    assert now[1][2].is_quantized and now[1][2].shape == x[:4].shape
    result = json.loads((edited / "result.json").read_text())
    before = json.loads((plain / "result.json").read_text())
    # The form's figures are of the outputs that it returns, in the model's order; the others are named.
    assert result["outputs"][1] == before["outputs"][1] and result["outputs"][0]["cumulative"] is None, result["outputs"]
    assert result["outputs"][0]["lowered"] == before["outputs"][0]["lowered"], result["outputs"]
    assert sum("'scores'" in line or "'conv2d'" in line for line in result["unpaired"]) == 2, result["unpaired"]
    assert any("not measured in the reference form" in line for line in result["unpaired"]), result["unpaired"]
    rows = verified(edited, data, "torch.export", "torch.jit", "onnxruntime")
    for name in ("torch.export", "torch.jit", "onnxruntime"):
        assert len(rows[name]["outputs"]) == 3, rows[name]


def call_of(file, x):
    """What the file's own graph takes: its tensors, then the input."""
    program = torch.export.load(file)
    held = {**program.state_dict, **program.constants}
    return [held[spec.target] if spec.target is not None else x for spec in program.graph_signature.input_specs]


def reads(node):
    return json.dumps(node.get("inputs", node.get("args")))


def address(nodes, node):
    alike = [one["name"] for one in nodes if (one["module"], one["op"]) == (node["module"], node["op"])]
    return {"module": node["module"], "op": node["op"], "index": alike.index(node["name"])}


def test_a_part_of_a_form_is_written_compared_and_verified(folder):
    _, path, data, x = residual(folder)
    plain, _ = quantized(folder, path, data, [])
    names = {node["name"]: node for node in run_json("inspect", plain / "model.reference.pt2")["nodes"]}
    conv = next(name for name, node in names.items() if node["module"] == "conv2" and node["op"] == "aten.conv2d.default")
    quantize = next(node for node in names.values() if node["op"] == QUANTIZE and conv in reads(node))
    dequantize = next(node for node in names.values() if ".dequantize_per_tensor" in node["op"] and quantize["name"] in reads(node))
    kept = [op("conv2", "conv2d.default"), address(names.values(), quantize), address(names.values(), dequantize)]
    for form, file, nodes in (("reference", "model.reference.pt2", kept), ("lowered", "model.int8.ts.pt", None)):
        if nodes is None:
            told = run_json("inspect", plain / file)
            kernel = next(node for node in told["nodes"] if node["op"].startswith("quantized.conv2d"))
            nodes = [{"module": kernel["module"], "op": kernel["op"]}]
        edited, said = quantized(folder, path, data, [{"do": "extract", "form": form, "nodes": nodes}], "--strict", name=form)
        assert "left out" not in said, (form, said)
        inspected = run_json("inspect", edited / file)
        whole = run_json("inspect", plain / file)
        assert len(inspected["nodes"]) < len(whole["nodes"]) / 2, (form, len(inspected["nodes"]))
        # What is measured is what the same nodes had before.
        figures = [json.loads((one / "result.json").read_text()) for one in (plain, edited)]
        cumulative = [{node["name"]: node["error"]["cumulative"] for node in one["nodes"] if node.get("error")} for one in figures]
        if form == "reference":
            assert cumulative[1] and set(cumulative[1]) < set(cumulative[0]), cumulative
            for name, figure in cumulative[1].items():
                assert figure == cumulative[0][name], (name, figure, cumulative[0][name])
        else:
            assert cumulative[1] == cumulative[0]
        runtime = "torch.export" if form == "reference" else "torch.jit"
        verified(edited, data, runtime)
        run_json("compare", path, "--result", edited, "--data", data)
    taken = run_json("inspect", folder / "reference" / "model.reference.pt2")
    assert [node["op"] for node in taken["nodes"] if node["op"].startswith("aten.")].count("aten.conv2d.default") == 1


class Half(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 4)

    def forward(self, x):
        return self.fc(x.float())


def test_casts_to_half_precision_leave_a_form(folder):
    torch.manual_seed(3)
    data = torch.randn(8, 6)
    np.savez(folder / "data.npz", x=data.numpy())
    export_model(Half().eval(), (data[:2],), folder / "half.pt2")
    edit = {"do": "as_float32", "form": "reference"}
    recipe = {"mapping": {"global": "float16_dynamic"}}
    results = {}
    for name, edits in (("plain", []), ("edited", [edit])):
        file = write_recipe(folder, edits=edits, **recipe)
        done = run("quantize", folder / "half.pt2", "--recipe", file, "--data", folder / "data.npz", "--export", "pt2-reference", "--out", folder / name)
        assert done.returncode == 0, done.stderr
        program = torch.export.load(folder / name / "model.reference.pt2")
        results[name] = "float16" in str(program.graph)
    assert results == {"plain": True, "edited": False}, results
    # Inputs of half precision are the model's, whatever the form.
    export_model(Half().eval(), (data[:2].half(),), folder / "half.pt2")
    _, said = quantized(folder, folder / "half.pt2", folder / "data.npz", [edit], name="no")
    assert "left out" in said and "leave out 'form'" in said and "half precision" in said, said
    _, path, data, _ = residual(folder)
    _, said = quantized(folder, path, data, [edit], name="nothing")
    assert "nothing" in said and "is float16 or bfloat16" in said, said


def test_what_does_not_fit_a_form_says_what_to_do(folder):
    _, path, data, _ = residual(folder)
    relu = op("relu", "relu.default")
    _, said = quantized(folder, path, data, [{"do": "drop_output", "output": 0, "form": "reference"}])
    assert "left out" in said and "computes nothing" in said, said
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
