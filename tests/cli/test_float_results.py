# SPDX-License-Identifier: Apache-2.0
"""Layers that are quantized and give their result as float: by the key "result" of a qconfig, and by "needless_outputs" wherever
only float operators read them. What the plan says, the reference form's numbers against PyTorch's own operators, kernels, exports."""

import json
import sys

import numpy as np
import onnx
import onnxruntime
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from harness import by_name, expect_bad, export_model, fake_quantize, main, run, run_good, run_json, sqnr, write_recipe
from torch import nn
from torch.nn import functional as F

EIGHT = {"activation": {"observer": "minmax", "dtype": "quint8"},
         "weight": {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric"}}
SEVEN = {**EIGHT, "activation": {"observer": "minmax", "dtype": "quint8", "quant_min": 0, "quant_max": 127}}


class Block(nn.Module):
    """A convolution with norm and relu whose result an integer layer reads, one that only float operators read, a linear whose result is
    moved before a float operator reads it, and one whose result is the model's."""

    def __init__(self):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.body, self.front, self.last = nn.Conv2d(8, 8, 3, padding=1), nn.Linear(8, 12), nn.Linear(12, 5)

    def forward(self, x):
        y = F.relu(self.norm(self.stem(x)))
        y = F.gelu(self.body(y)).mean((2, 3))
        y = torch.softmax(F.dropout(self.front(y), training=self.training).reshape(-1, 3, 4), -1).flatten(1)
        return self.last(y)


class Moved(nn.Module):
    """A result that is moved before an integer layer and a float operator read it, and one that is added."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 8)

    def forward(self, x):
        y = self.first(x).reshape(-1, 2, 8).transpose(1, 2).reshape(-1, 16)
        z = self.second(y)
        return self.third(z + z), torch.cos(y)


def saved(folder, model, *shape, samples=32):
    """(path, data) of the model with its norms' statistics seen."""
    torch.manual_seed(3)
    path, data = folder / "model.pt2", folder / "data.npz"
    x = torch.randn(samples, *shape)
    np.savez(data, x=x.numpy())
    export_model(model.eval(), (x[:2],), path)
    return path, data, x


def planned(path, recipe):
    return by_name(run_json("plan", path, "--recipe", recipe))


def gives_float(nodes):
    return {name for name, node in nodes.items() if node.get("result") == "float"}


def test_needless_outputs_of_a_plan(folder):
    path, _, _ = saved(folder, Block(), 3, 8, 8)
    usual = planned(path, write_recipe(folder, backend="x86"))
    assert gives_float(usual) == set()
    assert usual["linear"]["output"] and usual["linear_1"]["output"]
    nodes = planned(path, write_recipe(folder, backend="x86", needless_outputs="float"))
    assert gives_float(nodes) == {"conv2d_1", "linear", "linear_1"}, gives_float(nodes)
    for name in ("conv2d_1", "linear", "linear_1"):
        assert nodes[name]["quantized"] and nodes[name]["output"] is None and nodes[name]["weight"], nodes[name]
        assert nodes[name]["note"] == "its result stays float: only float operators read it", nodes[name]
    # The convolution's reader multiplies integers: it gives them as before.
    assert nodes["relu"]["output"] == usual["relu"]["output"]
    for name, moved in (("dropout", "linear"), ("reshape", "dropout")):
        assert nodes[name]["reason_code"] == "moves_float_result" and moved in nodes[name]["reason"], nodes[name]


def test_results_that_a_qconfig_asks_for(folder):
    path, _, _ = saved(folder, Moved(), 16)
    recipe = write_recipe(folder, backend="x86", qconfigs={"floats": {**SEVEN, "result": "float"}}, mapping={"global": "x86", "module_name": [["first", "floats"], ["second", "floats"]]})
    nodes = planned(path, recipe)
    assert gives_float(nodes) == {"linear", "linear_1"}, gives_float(nodes)
    assert {name for name, node in nodes.items() if node["reason_code"] == "moves_float_result"} == {"reshape", "transpose", "reshape_1"}
    # The second layer multiplies integers: it quantizes what was moved for itself; so does the addition of the second's result.
    assert nodes["linear_1"]["quantized"] and nodes["linear_1"]["output"] is None
    assert nodes["reshape_1"]["output"]["quant_max"] == 127, nodes["reshape_1"]
    assert nodes["add"]["quantized"] and nodes["add"]["inputs"][0]["dtype"] == "quint8", nodes["add"]
    assert nodes["add"]["inputs"][0] == nodes["add"]["inputs"][1]
    assert "not" not in nodes["linear"]["note"] and "as its qconfig says" in nodes["linear"]["note"]


def test_only_layers_give_float(folder):
    """What has no weight and is asked for a float result stays float, with the reason; dynamic layers give float anyway."""
    path, _, _ = saved(folder, Moved(), 16)
    nodes = planned(path, write_recipe(folder, backend="x86", qconfigs={"floats": {**EIGHT, "result": "float"}}, mapping={"global": "floats"}))
    assert gives_float(nodes) == {"linear", "linear_1", "linear_2"}
    assert not nodes["add"]["quantized"] and nodes["add"]["reason_code"] == "gives_no_float_result", nodes["add"]
    assert nodes["add"]["reason"] == "its qconfig 'floats' asks for a float result, which only linears and convolutions give"
    dynamic = {**EIGHT, "activation": {"observer": "placeholder", "dtype": "quint8", "is_dynamic": True}, "result": "float"}
    nodes = planned(path, write_recipe(folder, backend="x86", qconfigs={"floats": dynamic}, mapping={"object_type": [["torch.nn.Linear", "floats"]]}))
    assert nodes["linear"]["quantized"] and gives_float(nodes) == set()


def test_words_that_are_not_float(folder):
    path, _, _ = saved(folder, Moved(), 16)
    expect_bad("plan", path, "--recipe", write_recipe(folder, needless_outputs="int8"), contains=["needless_outputs", "unknown value 'int8'", "\"float\""])
    expect_bad("plan", path, "--recipe", write_recipe(folder, needless_outputs=1), contains=["needless_outputs"])
    expect_bad("plan", path, "--recipe", write_recipe(folder, qconfigs={"own": {**EIGHT, "result": "quint8"}}), contains=["qconfigs.own.result", "unknown value 'quint8'"])
    nodes = planned(path, write_recipe(folder, needless_outputs=None, qconfigs={"own": {**EIGHT, "result": None}}, mapping={"global": "own"}))
    assert gives_float(nodes) == set()


def test_recipes_keep_the_keys(folder):
    """A run's own recipe holds them, and a difference of two runs names them."""
    path, data, _ = saved(folder, Moved(), 16)
    plain = {"backend": "x86", "qconfigs": {"own": EIGHT}, "mapping": {"global": "own"}, "calibration": {"batch_size": 16}}
    run_good("quantize", path, "--data", data, "--recipe", write_recipe(folder, **plain), "--export", "none", "--out", folder / "before")
    floats = {**plain, "qconfigs": {"own": {**EIGHT, "result": "float"}}, "needless_outputs": "float"}
    run_good("quantize", path, "--data", data, "--recipe", write_recipe(folder, **floats), "--export", "none", "--out", folder / "after")
    written = json.loads((folder / "after" / "recipe.json").read_text())
    assert written["needless_outputs"] == "float" and written["qconfigs"]["own"]["result"] == "float", written
    assert "needless_outputs" not in json.loads((folder / "before" / "recipe.json").read_text())
    told = run_good("diff", folder / "before", folder / "after")
    assert "needless outputs: quantized ► float" in told and "float result" in told, told


def references(nodes, model, x):
    """The Block's reference form, by PyTorch's operators and the document's parameters: only what is quantized in the document is."""
    conv = {name: fake_quantize(model.get_parameter(weight), nodes[node]["weight"])
            for name, weight, node in (("body", "body.weight", "conv2d_1"), ("front", "front.weight", "linear"), ("last", "last.weight", "linear_1"))}
    scale = model.norm.weight / torch.sqrt(model.norm.running_var + model.norm.eps)
    stem = fake_quantize(model.stem.weight * scale.reshape(-1, 1, 1, 1), nodes["conv2d"]["weight"])
    bias = (model.stem.bias - model.norm.running_mean) * scale + model.norm.bias
    y = F.relu(F.conv2d(fake_quantize(x, nodes["x"]["output"]), stem, bias, padding=1))
    y = F.conv2d(fake_quantize(y, nodes["relu"]["output"]), conv["body"], model.body.bias, padding=1)
    y = fake_quantize(F.gelu(y), nodes["gelu"]["output"]).mean((2, 3))
    y = F.linear(fake_quantize(y, nodes["mean"]["output"]), conv["front"], model.front.bias)
    y = torch.softmax(y.reshape(-1, 3, 4), -1).flatten(1)
    return F.linear(fake_quantize(y, nodes["flatten"]["output"]), conv["last"], model.last.bias)


def quantized(folder, model, path, data, exports, recipe):
    return run_json("quantize", path, "--data", data, "--recipe", recipe, "--export", exports, "--device", "cpu", "--out", folder / "out")


def test_the_reference_form(folder):
    """Input and weight are quantized and dequantized, the result is not."""
    model = Block()
    path, data, x = saved(folder, model, 3, 8, 8)
    recipe = write_recipe(folder, backend="x86", needless_outputs="float", calibration={"batch_size": 32})
    result = quantized(folder, model, path, data, "pt2-reference", recipe)
    program = torch.export.load(folder / "out" / "model.reference.pt2")
    quantizes = [node for node in program.graph.nodes if "quantized_decomposed.quantize_per_tensor" in str(node.target)]
    assert [node.args[0].name for node in quantizes] == ["x", "relu", "gelu", "mean", "flatten"]
    with torch.no_grad():
        got = program.module()(x)
        wanted = references(by_name(result), model, x)
    assert sqnr(wanted, got) > 100, sqnr(wanted, got)
    # With the results quantized the same model loses more.
    plain = quantized(folder, model, path, data, "none", write_recipe(folder, backend="x86", calibration={"batch_size": 32}))
    assert result["outputs"][0]["cumulative"]["sqnr_db"] > plain["outputs"][0]["cumulative"]["sqnr_db"] + 0.5, (result["outputs"], plain["outputs"])


KERNELS = {"conv2d_1": "onednn.qconv2d_pointwise.default", "linear": "onednn.qlinear_pointwise.default", "linear_1": "onednn.qlinear_pointwise.default"}
SEVEN_RECIPE = {"backend": "x86", "qconfigs": {"seven": SEVEN}, "mapping": {"global": "seven"}, "needless_outputs": "float", "calibration": {"batch_size": 32}}


def test_kernels_and_exports(folder):
    """The lowered form multiplies integers and gives float; every export computes what is told, and `verify` passes."""
    model = Block()
    path, data, x = saved(folder, model, 3, 8, 8)
    result = quantized(folder, model, path, data, "torchscript,pt2,pt2-reference,onnx", write_recipe(folder, **SEVEN_RECIPE))
    nodes = by_name(result)
    for name, kernel in KERNELS.items():
        told = nodes[name]["kernel"]
        assert told["name"] == kernel and told["passed"], told
        assert told["max_lsb"] < 0.01, told  # the same products; float sums in another order
    assert abs(result["outputs"][0]["lowered"]["sqnr_db"] - result["outputs"][0]["cumulative"]["sqnr_db"]) < 0.5, result["outputs"]
    out = folder / "out"
    script = torch.jit.load(str(out / "model.int8.ts.pt"))
    names = {node.kind() for node in script.inlined_graph.nodes()}
    assert {"onednn::qconv2d_pointwise", "onednn::qlinear_pointwise", "onednn::qlinear_prepack"} <= names, names
    assert any(tensor.dtype == torch.int8 for tensor in script.buffers())  # the weights
    session = onnxruntime.InferenceSession(str(out / "model.int8.onnx"))
    with torch.no_grad():
        floating, reference = model(x), torch.export.load(out / "model.reference.pt2").module()(x)
        lowered, packed = script(x), torch.export.load(out / "model.int8.pt2").module()(x)
    assert abs(sqnr(floating, lowered) - result["outputs"][0]["lowered"]["sqnr_db"]) < 0.1
    assert sqnr(reference, packed) > 100 and sqnr(reference, lowered) > 25, (sqnr(reference, packed), sqnr(reference, lowered))
    assert sqnr(reference, torch.from_numpy(session.run(None, {session.get_inputs()[0].name: x.numpy()})[0])) > 60
    dequantized = [node for node in onnx.load(str(out / "model.int8.onnx")).graph.node if node.op_type == "QuantizeLinear"]
    assert len(dequantized) == 5, [node.input[0] for node in dequantized]
    done = run("verify", out, "--data", data, "--python", sys.executable, "--runtime", "torch.jit,torch.export,onnxruntime", "--json")
    certificate = json.loads(done.stdout)
    assert done.returncode == 0 and certificate["passed"], certificate["verdicts"]
    assert {verdict["runtime"] for verdict in certificate["verdicts"] if verdict["outcome"] == "passed"} >= {"torch.jit", "torch.export", "onnxruntime"}


class Layers(nn.Module):
    """Every kind of layer that may give float, each between float operators."""

    def __init__(self):
        super().__init__()
        self.one, self.same = nn.Conv1d(4, 6, 3, stride=2, padding=1), nn.Conv1d(6, 6, 3, padding="same", bias=False)
        self.two, self.grouped = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 4, 3, dilation=2, padding=2, groups=2)
        self.three, self.across = nn.Conv3d(1, 4, 3, padding=1), nn.ConvTranspose2d(4, 4, 2)
        self.bare, self.last = nn.Linear(6, 6, bias=False), nn.Linear(6, 4)

    def forward(self, x):
        y = torch.cos(self.same(torch.cos(self.one(x))))
        z = torch.cos(self.across(torch.cos(self.grouped(torch.cos(F.relu(self.two(y.unsqueeze(1))))))))
        w = torch.cos(F.relu(self.three(torch.cos(z).unsqueeze(1))))
        y = torch.cos(F.relu(self.bare(torch.cos(y.mean(2)))))
        return self.last(torch.cos(self.bare(y))), w


def test_every_kind_of_layer(folder):
    """Biases or none, groups, dilation, words for the padding, relus, one layer called twice, weights of one scale; transposed
    convolutions have no such kernel and are quantized as before."""
    for name, weight in (("channels", SEVEN["weight"]), ("one scale", {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"})):
        place = folder / name
        place.mkdir()
        model = Layers()
        path, data, x = saved(place, model, 4, 16)
        recipe = {**SEVEN_RECIPE, "qconfigs": {"seven": {**SEVEN, "weight": weight}}, "mapping": {"object_type": [
            [f"torch.nn.{kind}", "seven"] for kind in ("Conv1d", "Conv2d", "Conv3d", "Linear", "ReLU")] + [["torch.nn.functional.relu", "seven"]]}}
        result = quantized(place, model, path, data, "torchscript", write_recipe(place, **recipe))
        kernels = {node["name"]: node["kernel"] for node in result["nodes"] if node.get("kernel")}
        assert all(kernel["passed"] and kernel["name"].startswith("onednn.q") for kernel in kernels.values()), kernels
        assert len(kernels) == 8, kernels
        with torch.no_grad():
            wanted, got = model(x), torch.jit.load(str(place / "out" / "model.int8.ts.pt"))(x)
        for told, want, have in zip(result["outputs"], wanted, got, strict=True):
            assert told["lowered"]["sqnr_db"] > 15 and abs(told["lowered"]["sqnr_db"] - sqnr(want, have)) < 0.2, (told, sqnr(want, have))


def test_layers_without_the_row(folder):
    """What the recipe takes out of the lowering table stays in reference form, and says so."""
    model = Block()
    path, data, _ = saved(folder, model, 3, 8, 8)
    recipe = {**SEVEN_RECIPE, "convert": {"lowering": {"remove": [{"pattern": ["torch.nn.Linear"]}]}}}
    result = quantized(folder, model, path, data, "none", write_recipe(folder, **recipe))
    nodes = by_name(result)
    assert nodes["conv2d_1"]["kernel"]["passed"] and not nodes["linear"].get("kernel"), nodes["linear"]
    residue = {entry["node"]: entry["reason"] for entry in result["residue"]}
    assert residue["linear"] == "no row of the lowering table", residue


if __name__ == "__main__":
    main(__name__)
