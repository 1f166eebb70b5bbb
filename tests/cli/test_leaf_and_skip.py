# SPDX-License-Identifier: Apache-2.0
"""Modules left alone, one module quantized alone, a method shown as one node: plan, inspect and both exports."""
import hashlib
import json

import numpy as np
import torch
from harness import by_name, export_model, main, run, run_good, run_json, write_recipe
from torch import nn


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv, self.bn, self.relu = nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU()

    def forward(self, x):
        return self.relu(self.bn(self.conv(x))) + x


class Head(nn.Module):
    """Two branches that depend on the data stay alive inside a method with a module of its own."""

    def __init__(self, branches):
        super().__init__()
        self.cls, self.fc, self.branches = nn.Conv2d(4, 4, 1), nn.Linear(4, 3), branches

    def forward(self, x):
        return self._post_process(self.cls(x))

    def _post_process(self, scores):
        scores = torch.sigmoid(scores).mean((2, 3))
        if self.branches:
            scores = torch.cond(scores.max() > 0.9, lambda s: s * 2, lambda s: s + 1, (scores,))
        return self.fc(scores * 0.5).softmax(1)


class Detector(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.stem, self.encoder, self.head = nn.Conv2d(3, 4, 3), Block(4), Head(branches)

    def forward(self, x):
        return self.head(self.encoder(self.stem(x)))


def detector(folder, branches=False):
    torch.manual_seed(11)
    model = Detector(branches)
    for norm in (m for m in model.modules() if isinstance(m, nn.BatchNorm2d)):
        norm.running_mean.uniform_(-1, 1), norm.running_var.uniform_(0.5, 2)
    data = torch.randn(16, 3, 12, 12)
    export_model(model, (data[:2],), folder / "detector.pt2")
    np.savez(folder / "data.npz", x=data.numpy())
    return model.eval(), folder / "detector.pt2", folder / "data.npz", data


def quantized(folder, model, recipe, data, forms="torchscript,pt2-reference"):
    run_good("quantize", model, "--recipe", recipe, "--data", data, "--device", "cpu", "--export", forms, "--out",
             folder / "out")
    return folder / "out"


def is_within(module, path):
    return module == path or module.startswith(path + ".")


def reference_program(folder):
    import torch.ao.quantization.fx._decomposed  # noqa: F401 registers the operators
    return torch.export.load(folder / "model.reference.pt2")


def module_of(node):
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    return stack[-1][0].removeprefix("L['self'].") if stack else ""


def check_leaf(folder, prepare, leaf):
    """The leaf's operators are float, their weights are the model's to the bit, and the rest is quantized."""
    model, file, data, samples = detector(folder)
    before = hashlib.sha256(file.read_bytes()).hexdigest()
    recipe = write_recipe(folder, prepare=prepare)
    plan = run_json("plan", file, "--recipe", recipe)
    ops = [n for n in plan["nodes"] if n["op"].startswith("aten.")]
    inside = [n for n in ops if is_within(n["module"], leaf)]
    assert inside and all(not n["quantized"] and next(iter(prepare)) in n["reason"] for n in inside), inside
    assert any(n["quantized"] for n in ops if not is_within(n["module"], leaf))
    out = quantized(folder, file, recipe, data)
    assert hashlib.sha256(file.read_bytes()).hexdigest() == before
    program = reference_program(out)
    state, inside = program.state_dict, 0
    for node in program.graph.nodes:
        if node.op == "call_function" and is_within(module_of(node), leaf):
            inside += 1
            if "dequantize" in str(node.target):  # of its result, for those who read it quantized
                assert not [user for user in node.users if is_within(module_of(user), leaf)], node
    assert inside > 3
    originals = {k: v for k, v in model.state_dict().items() if is_within(k, leaf)}
    for key, value in originals.items():
        if not key.endswith("num_batches_tracked"):
            assert key in state and torch.equal(state[key], value), key
    script = torch.jit.load(out / "model.int8.ts.pt")
    assert "aten::batch_norm" in str(script.inlined_graph), "nothing is folded inside a leaf"
    assert "quantized::conv2d" in str(script.inlined_graph)
    error = (script(samples) - model(samples)).norm() / model(samples).norm()
    assert error < 0.05, error


def test_a_leaf_by_name(folder):
    check_leaf(folder, {"non_traceable_module_name": ["encoder"]}, "encoder")


def test_a_leaf_by_class(folder):
    check_leaf(folder, {"non_traceable_module_class": [f"{Block.__module__}.Block"]}, "encoder")


def test_one_module_alone(folder):
    model, file, data, samples = detector(folder)
    recipe = write_recipe(folder, prepare={"only_modules": ["encoder"]})
    plan = run_json("plan", file, "--recipe", recipe)
    for node in plan["nodes"]:
        if node["op"].startswith("aten."):
            assert node["quantized"] == is_within(node["module"], "encoder"), node
            assert node["quantized"] or "prepare.only_modules" in node["reason"], node
    out = quantized(folder, file, recipe, data)
    state = reference_program(out).state_dict
    for key, value in model.state_dict().items():
        if not is_within(key, "encoder"):
            assert torch.equal(state[key], value), key
    script = torch.jit.load(out / "model.int8.ts.pt")
    assert "quantized::conv2d_relu" in str(script.inlined_graph)
    error = (script(samples) - model(samples)).norm() / model(samples).norm()
    assert error < 0.05, error


def test_a_method_as_one_node(folder):
    _, file, data, _ = detector(folder, branches=True)
    recipe = write_recipe(folder, prepare={"wrap": ["head::_post_process"]})
    plan = run_json("plan", file, "--recipe", recipe)
    assert not [w for w in plan["warnings"] if "prepare.wrap" in w], plan["warnings"]
    (wrap,) = plan["wraps"]
    assert (wrap["name"], wrap["module"], wrap["function"]) == ("head::_post_process", "head", "_post_process")
    assert wrap["modules"] == ["head.fc"], wrap
    nodes = by_name(plan)
    assert any(nodes[name]["op"].endswith("cond") for name in wrap["nodes"]), wrap
    for name in wrap["nodes"]:
        assert nodes[name]["wrap"] == wrap["name"] and not nodes[name]["quantized"], nodes[name]
    assert nodes["linear"]["quantized"] and "wrap" not in nodes["linear"]
    assert nodes["conv2d_2"]["quantized"]  # of the same module, outside the method
    text = run_good("plan", file, "--recipe", recipe)
    assert "head::_post_process" in text and "(one node)" in text and "modules inside: head.fc" in text, text
    assert "sigmoid" not in text
    seen = run_json("inspect", file, "--recipe", recipe)
    assert seen["wraps"] == plan["wraps"]
    assert "wrapped  head::_post_process" in run_good("inspect", file, "--recipe", recipe)
    bodies = by_name(seen)["cond"]["bodies"]
    assert [b["title"] for b in bodies] == ["if true", "otherwise"], bodies
    assert [n["op"] for b in bodies for n in b["nodes"] if n["op"].startswith("aten.")] == ["aten.mul.Tensor",
                                                                                       "aten.add.Tensor"], bodies
    code = run_good("inspect", file, "--code")
    assert "    def cond_if_true(" in code and "    def cond_otherwise(" in code, code
    assert "cond_if_true, cond_otherwise, [" in code, code
    out = quantized(folder, file, recipe, data, "pt2-reference")
    result = by_name(json.loads((out / "result.json").read_text()))
    assert result["linear"]["quantized"] and result["cond"]["error"] is not None
    float_rule = write_recipe(folder, prepare={"wrap": ["head::_post_process"]},
                              mapping={"global": "x86", "module_name": [["head.fc", None]]})
    assert not by_name(run_json("plan", file, "--recipe", float_rule))["linear"]["quantized"]


def permute_to_rows(scores):
    return scores.permute(0, 2, 3, 1).reshape(scores.shape[0], -1, 3)


def rearrange_head_out(levels: list[torch.Tensor]):
    """As a detector's head: what it calls, functions call again."""
    return torch.cat([permute_to_rows(level) for level in levels], 1)


class Scale(nn.Module):
    """A module of the user's own, called first in the method."""

    def forward(self, x):
        return x * 2 + 1


class LevelHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.cls, self.scale, self.fc, self.last = nn.Conv2d(4, 6, 1), Scale(), nn.Linear(3, 3), Scale()

    def forward(self, levels: list[torch.Tensor]):
        return self._post_process([self.cls(level) for level in levels])

    def _post_process(self, scores: list[torch.Tensor]):
        rows = rearrange_head_out([self.scale(score) for score in scores])
        return self.last(self.fc(rows.sigmoid()))


class Retina(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.head = nn.Conv2d(3, 4, 3), LevelHead()

    def forward(self, x):
        y = self.stem(x)
        return self.head([y, nn.functional.max_pool2d(y, 2)])


def test_functions_that_a_method_calls(folder):
    """They belong to it, in every kind of file, and so do the user's own modules; torch.nn's modules inside keep their rules."""
    torch.manual_seed(3)
    model, x = Retina().eval(), torch.randn(2, 3, 12, 12)
    export_model(model, (x,), folder / "strict.pt2", dynamic=False)
    torch.jit.save(torch.jit.trace(model, x), folder / "traced.pt")
    torch.jit.save(torch.jit.script(model), folder / "scripted.pt")
    for name in ("strict.pt2", "traced.pt", "scripted.pt"):
        for function in ("_post_process", "rearrange_head_out"):
            recipe = write_recipe(folder, prepare={"wrap": [f"head::{function}"]})
            document = run_json("plan", folder / name, "--recipe", recipe)
            (wrap,) = document["wraps"]
            nodes = by_name(document)
            ops = [nodes[inside]["op"].split(".")[1] for inside in wrap["nodes"]]
            glue = ["permute", "reshape", "permute", "reshape", "cat"]
            assert [op for op in ops if op in glue] == glue, (name, function, ops)
            assert ("sigmoid" in ops, ops.count("mul")) == ((True, 3) if function == "_post_process" else (False, 0)), (name, function, ops)
            assert not {"conv2d", "linear", "max_pool2d"} & set(ops), (name, function, ops)
            assert not [w for w in document["warnings"] if "prepare.wrap" in w], document["warnings"]
            if function == "_post_process":
                assert wrap["modules"] == ["head.fc"], wrap
            assert all(not nodes[inside]["quantized"] for inside in wrap["nodes"]), name
            assert all(nodes[key]["quantized"] for key in nodes if nodes[key]["op"].split(".")[1:2] in (["conv2d"], ["linear"])), (name, nodes)
        wrong = write_recipe(folder, prepare={"wrap": ["head::rearrange"]})
        (warning,) = [w for w in run_json("plan", folder / name, "--recipe", wrong)["warnings"] if "prepare.wrap" in w]
        assert "rearrange_head_out" in warning and "_post_process" in warning, warning
    source = by_name(run_json("inspect", folder / "strict.pt2"))["cat"]["source"]
    assert source["function"] == "rearrange_head_out" and source["callers"][0] == "_post_process", source
    float_rule = write_recipe(folder, prepare={"wrap": ["head::_post_process"]}, mapping={"global": "x86", "module_name": [["head.fc", None]]})
    assert not by_name(run_json("plan", folder / "strict.pt2", "--recipe", float_rule))["linear"]["quantized"]
    np.savez(folder / "data.npz", x=x.numpy())
    recipe = write_recipe(folder, prepare={"wrap": ["head::_post_process"]})
    out = quantized(folder, folder / "strict.pt2", recipe, folder / "data.npz")
    with torch.no_grad():
        error = (torch.jit.load(out / "model.int8.ts.pt")(x) - model(x)).norm() / model(x).norm()
    assert error < 0.05, error


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.block, self.lstm, self.fc = nn.Conv2d(3, 4, 3), Block(4), nn.LSTM(4, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(self.lstm(self.block(self.conv(x)).mean(2).permute(2, 0, 1))[0])


def test_every_approach_in_one_model(folder):
    """Static operators, a leaf, a module quantized from within and a dynamic layer, all at once."""
    torch.manual_seed(5)
    model, samples = Mixed().eval(), torch.randn(4, 3, 10, 10)
    export_model(model, (samples,), folder / "mixed.pt2", dynamic=False)
    np.savez(folder / "data.npz", x=samples.numpy())
    recipe = write_recipe(folder, prepare={"non_traceable_module_name": ["block"]},
                          mapping={"global": "x86", "module_name": [["fc", "default_dynamic"]]})
    nodes = by_name(run_json("plan", folder / "mixed.pt2", "--recipe", recipe))
    assert nodes["conv2d"]["quantized"] and nodes["lstm"]["quantized"] and nodes["linear"]["quantized"], nodes
    assert nodes["linear"]["qconfig"] == "default_dynamic" and nodes["lstm"]["qconfig"] == "x86"
    assert not nodes["conv2d_1"]["quantized"] and "prepare.non_traceable_module_name" in nodes["conv2d_1"]["reason"]
    out = quantized(folder, folder / "mixed.pt2", recipe, folder / "data.npz", "torchscript")
    script = torch.jit.load(out / "model.int8.ts.pt")
    code = str(script.inlined_graph)
    for kernel in ("quantized::conv2d", "quantized::linear_dynamic", "quantized::linear(", "aten::batch_norm"):
        assert kernel in code, (kernel, code[:4000])
    error = (script(samples) - model(samples)).norm() / model(samples).norm()
    assert error < 0.1, error


class Trained(nn.Module):
    def __init__(self):
        super().__init__()
        self.block, self.drop, self.lstm = Block(3), nn.Dropout(0.3), nn.LSTM(3, 4, 2, dropout=0.2)

    def forward(self, x):
        return self.lstm(self.drop(self.block(x)).mean(2).permute(2, 0, 1))[0]


def training_warnings(file):
    return [w for w in run_json("plan", file)["warnings"] if w.startswith("the model is in training mode")]


def test_training_mode_is_warned_of(folder):
    example = (torch.randn(2, 3, 6, 6),)
    program = torch.export.export(Trained().train(), example)
    core = program.run_decompositions()
    torch.export.save(program, folder / "train.pt2")
    torch.export.save(core, folder / "core.pt2")
    export_model(Trained(), example, folder / "eval.pt2", dynamic=False)
    for name, effects in (("train", ("'drop' drops values", "'lstm' drops values between its layers")),
                          ("core", ("'drop'", "'block.bn' normalizes"))):
        (warning,) = training_warnings(folder / f"{name}.pt2")
        assert "'block.bn' normalizes with the statistics of the batch" in warning, warning
        assert all(effect in warning for effect in effects), warning
        assert warning.endswith("call model.eval() before exporting it"), warning
    assert training_warnings(folder / "eval.pt2") == []
    done = run("quantize", folder / "train.pt2", "--data", "sample", "--export", "none", "--device", "cpu", "--out",
               folder / "out")
    assert "the model is in training mode" in done.stderr, done.stderr


def test_a_method_of_a_default_export(folder):
    """It records no methods: the warning says what to do."""
    model, _, _, samples = detector(folder)
    path = folder / "default.pt2"
    torch.export.save(torch.export.export(model, (samples,), strict=False), path)
    warnings = run_json("plan", path, "--recipe", write_recipe(folder, prepare={"wrap": ["head::_post_process"]}))["warnings"]
    assert any("prepare.wrap" in w and w.endswith("the file knows forward: export the model with strict=True") for w in warnings), warnings


class QuantStub(nn.Module):
    """Somebody else's."""

    def forward(self, x):
        return x * 2


class Eager(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.mine = torch.ao.quantization.QuantStub(), QuantStub()
        self.fc, self.sum = nn.Linear(8, 8), torch.ao.nn.quantized.FloatFunctional()
        self.dequant = torch.ao.quantization.DeQuantStub()

    def forward(self, x):
        y = self.mine(self.fc(self.quant(x)))
        return self.dequant(self.sum.add(y, y))


def test_modules_of_eager_mode_are_named(folder):
    """By a traced file; a .pt2 names none, unless they hold observers."""
    model, x = Eager().eval(), torch.randn(2, 8)
    torch.jit.save(torch.jit.trace(model, x), folder / "eager.pt")
    torch.export.save(torch.export.export(model, (x,), strict=False), folder / "eager.pt2")
    model.qconfig = torch.ao.quantization.default_qconfig
    prepared = torch.ao.quantization.prepare(model)
    prepared(x)
    torch.export.save(torch.export.export(prepared, (x,), strict=False), folder / "prepared.pt2")
    found = {name: [w for w in run_json("plan", folder / name)["warnings"] if "eager-mode" in w]
             for name in ("eager.pt", "eager.pt2", "prepared.pt2")}
    assert len(found["eager.pt"]) == 1, found
    for name in ("'quant'", "'sum'", "'dequant'"):
        assert name in found["eager.pt"][0], found
    assert found["eager.pt2"] == [], found
    assert any("'fc.activation_post_process'" in w and "export the float model" in w for w in found["prepared.pt2"]), found
    assert not any("'mine'" in w for told in found.values() for w in told), found


main(__name__)
