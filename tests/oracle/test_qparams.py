# SPDX-License-Identifier: Apache-2.0
"""Scales and zero points of every scheme on ranges of every kind, on a backend of the test's own, against torch.ao's observers: one layer
for each scheme and range, all in one model. Also: fusing before the export changes nothing, and no file but the output is written.
"""
import copy
import hashlib
import itertools
import json
import subprocess
import warnings

import numpy as np
import torch
from torch import nn
from torch.ao.quantization import MinMaxObserver, PerChannelMinMaxObserver, get_default_qconfig_mapping
from torch.ao.quantization.quantize_fx import convert_fx, fuse_fx, prepare_fx

import checks

warnings.simplefilter("ignore")
AFFINE, SYMMETRIC = torch.per_tensor_affine, torch.per_tensor_symmetric
# Ends of a value; where the scale is 1, zero points fall on halves.
RANGES = {"normal": (-1.3, 2.7), "positive": (2.0, 5.0), "negative": (-5.0, -2.0), "zeros": (0.0, 0.0), "constant": (3.0, 3.0),
          "constant-negative": (-1e-9, -1e-9), "tiny": (-1e-30, 2e-30), "huge": (-1e30, 3e30), "denormal": (0.0, 1e-40),
          "lopsided": (-1e-3, 1000.0), "half-even": (-2.5, 252.5), "half-odd": (-1.5, 253.5), "half-seven": (-62.5, 64.5)}
ACTIVATIONS = {
    "quint8": dict(dtype="quint8", qscheme=AFFINE), "quint8-7": dict(dtype="quint8", qscheme=AFFINE, quant_min=0, quant_max=127),
    "quint8-symmetric": dict(dtype="quint8", qscheme=SYMMETRIC),
    "quint8-symmetric-7": dict(dtype="quint8", qscheme=SYMMETRIC, quant_min=0, quant_max=127),
    "quint8-symmetric-odd": dict(dtype="quint8", qscheme=SYMMETRIC, quant_min=0, quant_max=201),
    "qint8": dict(dtype="qint8", qscheme=AFFINE), "qint8-symmetric": dict(dtype="qint8", qscheme=SYMMETRIC),
    "qint8-symmetric-7": dict(dtype="qint8", qscheme=SYMMETRIC, quant_min=-64, quant_max=63),
    "eps": dict(dtype="quint8", qscheme=AFFINE, eps=2**-12), "four-bits": dict(dtype="qint8", qscheme=AFFINE, quant_min=-8, quant_max=7),
    "wide-eps": dict(dtype="quint8", qscheme=AFFINE, quant_min=0, quant_max=15, eps=1.0),
    "reduced": dict(dtype="quint8", qscheme=AFFINE, reduce_range=True)}
CHANNELS = torch.per_channel_affine, torch.per_channel_symmetric
WEIGHTS = {
    "tensor": dict(dtype="qint8", qscheme=SYMMETRIC), "tensor-affine": dict(dtype="quint8", qscheme=AFFINE),
    "channels": dict(dtype="qint8", qscheme=CHANNELS[1]), "channels-affine": dict(dtype="qint8", qscheme=CHANNELS[0]),
    "channels-unsigned": dict(dtype="quint8", qscheme=CHANNELS[0]),
    "channels-127": dict(dtype="qint8", qscheme=CHANNELS[1], quant_min=-127, quant_max=127),
    "channels-7": dict(dtype="qint8", qscheme=CHANNELS[1], quant_min=-64, quant_max=63, eps=2**-12)}


def backend():
    dtypes = [{"input_dtype": a, "output_dtype": a, "weight_dtype": w, "bias_dtype": "float32"} for a, w in
              itertools.product(("quint8", "qint8"), ("qint8", "quint8"))]
    return {"format": "quantscope.backend", "version": 1, "name": "any", "patterns": [
        {"pattern": ["torch.nn.Linear"], "observation_type": "output_use_different_observer_as_input", "dtype_configs": dtypes,
         "root_module": "torch.nn.Linear", "reference_quantized_module": "torch.ao.nn.quantized.reference.Linear"}]}


def spec(observer, keys):
    """A recipe's observer from torch.ao's arguments."""
    return {"observer": observer, **keys, "qscheme": str(keys["qscheme"]).removeprefix("torch.")}


def theirs(kind, keys, values):
    """(scales, zero points) of torch.ao's observer that saw the values."""
    seen = kind(**{**keys, "dtype": getattr(torch, keys["dtype"])})
    for value in values:
        seen(value)
    scale, zero_point = seen.calculate_qparams()
    return scale.float().numpy().reshape(-1), zero_point.numpy().astype(np.int64).reshape(-1)


def weight_for(ends, seed):
    """Two rows: one reaches both ends, one half of them."""
    return torch.tensor([[ends[0], ends[1]], [ends[0] / 2, ends[1] / 3]], dtype=torch.float32) if seed % 3 else torch.tensor(
        [[ends[0], ends[0]], [ends[1], ends[1]]], dtype=torch.float32)


class Many(nn.Module):
    """One linear layer an input, each with a range of its own."""

    def __init__(self, weights):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2, bias=False) for _ in weights])
        with torch.no_grad():
            for layer, weight in zip(self.layers, weights):
                layer.weight.copy_(weight)

    def forward(self, *xs):
        return tuple(layer(x) for layer, x in zip(self.layers, xs))


def run(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-600:])
    return done


def check_schemes(program, folder):
    cases = list(itertools.product(ACTIVATIONS, RANGES))
    ways = [list(WEIGHTS)[i % len(WEIGHTS)] for i in range(len(cases))]
    names = list(RANGES)  # an input that is huge gets a weight that is not
    weights = [weight_for(RANGES[names[(names.index(name) + 3) % len(names)]], i) for i, (_, name) in enumerate(cases)]
    inputs = [torch.tensor([[RANGES[name][0], RANGES[name][1]]], dtype=torch.float32) for _, name in cases]
    torch.export.save(torch.export.export(Many(weights).eval(), tuple(inputs)), folder / "model.pt2")
    torch.save([tuple(inputs)], folder / "data.pt")
    (folder / "backend.json").write_text(json.dumps(backend()))
    qconfigs = {f"q{i}": {"activation": spec("minmax", ACTIVATIONS[way]), "weight": spec(
        "per_channel_minmax" if WEIGHTS[ways[i]]["qscheme"] in CHANNELS else "minmax", WEIGHTS[ways[i]])} for i, (way, _) in enumerate(cases)}
    (folder / "recipe.json").write_text(json.dumps({
        "format": "quantscope.recipe", "version": 1, "backend": "backend.json", "qconfigs": qconfigs,
        "mapping": {"global": None, "module_name": [[f"layers.{i}", f"q{i}"] for i in range(len(cases))]}}))
    done = run(program, "quantize", folder / "model.pt2", "--data", folder / "data.pt", "--recipe", folder / "recipe.json", "--device", "cpu",
               "--export", "none", "--out", folder / "out", "--json")
    nodes = json.loads(done.stdout)["nodes"]
    values = [node for node in nodes if node["kind"] == "input"] if "kind" in nodes[0] else nodes[:len(cases)]
    layers = {node["module"]: node for node in nodes if node["op"].startswith("aten.linear")}
    problems = []
    for i, (way, name) in enumerate(cases):
        kind = PerChannelMinMaxObserver if WEIGHTS[ways[i]]["qscheme"] in CHANNELS else MinMaxObserver
        for what, got, wanted in (("activation", values[i]["output"], theirs(MinMaxObserver, ACTIVATIONS[way], [inputs[i]])),
                                  ("weight", layers[f"layers.{i}"]["weight"], theirs(kind, WEIGHTS[ways[i]], [weights[i]]))):
            if not got or not checks.near(got["scale"], wanted[0]) or list(got["zero_point"]) != list(wanted[1]):
                problems.append(f"{what} {way if what == 'activation' else ways[i]} on {name}: {got and (got['scale'], got['zero_point'])} instead of {wanted}")
    print(f"schemes: {len(cases)} activations, {len(cases)} weights, {len(problems)} differ")
    return problems


class Images(nn.Module):
    """Convolutions with batch norm, with relu, with both, a sum with relu; a linear layer with relu."""

    def __init__(self):
        super().__init__()
        self.a, self.bn_a, self.relu = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()
        self.b, self.bn_b = nn.Conv2d(8, 8, 3, padding=1, bias=False, groups=2), nn.BatchNorm2d(8)
        self.c, self.relu_c, self.fc, self.relu_fc = nn.Conv2d(8, 4, 1), nn.ReLU(), nn.Linear(64, 5), nn.ReLU()

    def forward(self, x):
        y = self.relu(self.bn_a(self.a(x)))
        z = torch.relu(self.bn_b(self.b(y)) + y)
        return self.relu_fc(self.fc(self.relu_c(self.c(z)).flatten(1)))


class Signals(nn.Module):
    """One-dimensional convolutions, a linear layer with batch norm."""

    def __init__(self):
        super().__init__()
        self.a, self.bn_a, self.relu = nn.Conv1d(3, 6, 3), nn.BatchNorm1d(6), nn.ReLU()
        self.fc, self.bn_fc, self.last = nn.Linear(36, 8), nn.BatchNorm1d(8), nn.Linear(8, 3)

    def forward(self, x):
        return self.last(self.bn_fc(self.fc(self.relu(self.bn_a(self.a(x))).flatten(1))))


class Tied(nn.Module):
    """Two convolutions with one weight, folded into batch norms that differ."""

    def __init__(self):
        super().__init__()
        self.a, self.bn_a = nn.Conv2d(3, 3, 3, padding=1), nn.BatchNorm2d(3)
        self.b, self.bn_b, self.relu = nn.Conv2d(3, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU()
        self.b.weight = self.a.weight

    def forward(self, x):
        return self.relu(self.bn_b(self.b(self.bn_a(self.a(x)))))


NETWORKS = {"images": (Images, (8, 3, 4, 4)), "signals": (Signals, (8, 3, 8)), "tied": (Tied, (8, 3, 6, 6))}


def network(name):
    """The model with statistics and scales that are not the first ones, and data."""
    torch.manual_seed(len(name))
    kind, shape = NETWORKS[name]
    model = kind()
    for module in model.modules():
        if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
            nn.init.uniform_(module.weight, 0.5, 2)
            nn.init.uniform_(module.bias, -0.5, 0.5)
            nn.init.uniform_(module.running_mean, -0.5, 0.5)
            nn.init.uniform_(module.running_var, 0.5, 2)
    return model.eval(), torch.randn(shape)


def quantize(program, model, example, engine, folder):
    """(result.json, outputs of the lowered model)"""
    folder.mkdir()
    torch.export.save(torch.export.export(copy.deepcopy(model), (example,)), folder / "model.pt2")
    torch.save(example, folder / "data.pt")
    (folder / "recipe.json").write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": engine, "mapping": {
        "global": engine}, "calibration": {"batch_size": len(example), "batches": 1}}))
    run(program, "quantize", folder / "model.pt2", "--data", folder / "data.pt", "--recipe", folder / "recipe.json", "--device", "cpu",
        "--export", "torchscript", "--out", folder / "out")
    with torch.no_grad():
        return json.loads((folder / "out" / "result.json").read_text()), torch.jit.load(folder / "out" / "model.int8.ts.pt")(example)


def parameters(result):
    """(scales and zero points of the values, those of the weights); a value shared by several counts once."""
    nodes = result["nodes"]
    values = sorted({(node["output"]["scale"][0], node["output"]["zero_point"][0]) for node in nodes
                     if node["output"] and node["output"]["scale"] and not node["output"]["shared_with"]})
    return values, [scale for node in nodes if node["weight"] for scale in node["weight"]["scale"]]


def differs(ours, theirs):
    return [point for _, point in ours] != [point for _, point in theirs] or not checks.near([s for s, _ in ours], [s for s, _ in theirs])


def check_fused(program, folder):
    """fuse_fx before the export, once or twice, gives the decisions and the results of none; those are prepare_fx's and convert_fx's."""
    problems = []
    for name, engine in itertools.product(NETWORKS, ("x86", "qnnpack")):
        torch.backends.quantized.engine = engine
        model, example = network(name)
        plain, outputs = quantize(program, model, example, engine, folder / f"{name}-{engine}")
        values, weights = parameters(plain)
        last = plain["nodes"][-1]["output"]["scale"][0]
        once = fuse_fx(copy.deepcopy(model))
        for times, fused in (("once", once), ("twice", fuse_fx(copy.deepcopy(once)))):
            result, again = quantize(program, fused, example, engine, folder / f"{name}-{engine}-{times}")
            ours, our_weights = parameters(result)
            if differs(ours, values) or not checks.near(our_weights, weights) or (again - outputs).abs().max() > 1.01 * last:
                problems.append(f"{name} for {engine}, fused {times}: {ours} instead of {values}, outputs {(again - outputs).abs().max()} apart")
            floats = [node["name"] for node in result["nodes"] if node["op"].startswith("aten") and not node["quantized"]]
            if floats != [node["name"] for node in plain["nodes"] if node["op"].startswith("aten") and not node["quantized"]]:
                problems.append(f"{name} for {engine}, fused {times}: {floats} stay float")
        for fused in (model, once):
            prepared = prepare_fx(copy.deepcopy(fused), get_default_qconfig_mapping(engine), (example,))
            with torch.no_grad():
                prepared(example)
                seen = [module.calculate_qparams() for path, module in prepared.named_modules() if path.startswith("activation_post_process")]
                theirs = sorted({(float(scale), int(point)) for scale, point in seen})
                apart = (convert_fx(prepared)(example) - outputs).abs().max() / last
            if differs(values, theirs) or apart > 1.01:
                problems.append(f"{name} for {engine}: {values} instead of {theirs}, {apart:.2f} steps apart")
        print(f"fused: {name} for {engine}: {len(values)} values, {len(weights)} weight scales, {apart:.2f} steps from convert_fx")
    torch.backends.quantized.engine = "x86"
    return problems


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check_source(program, folder):
    """No verb writes to the model or the data; the result outlives the source."""
    model, example = network("images")
    _, before = quantize(program, model, example, "x86", folder / "run")
    model_file, data = folder / "run" / "model.pt2", folder / "run" / "data.pt"
    kept = digest(model_file), digest(data)
    edited = folder / "edited.json"
    edited.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86", "mapping": {"global": "x86"}, "edits": [
        {"do": "remove", "at": {"module": "relu_c", "op": "aten.relu.default"}}]}))
    for words in (("plan", model_file), ("quantize", model_file, "--data", data, "--recipe", edited, "--out", folder / "other"),
                  ("edit", model_file, "--recipe", edited, "--out", folder / "edited.pt2"), ("inspect", model_file, "--code"),
                  ("verify", folder / "run" / "out", "--data", data, "--runtime", "torch.jit")):
        run(program, *words)
        if (digest(model_file), digest(data)) != kept:
            return [f"{words[0]} changed its input"]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(0.25)
        torch.export.save(torch.export.export(model, (example,)), model_file)
        after = torch.jit.load(folder / "run" / "out" / "model.int8.ts.pt")(example)
    print(f"source: {'the same' if torch.equal(before, after) else 'another'} result after its source was changed")
    return [] if torch.equal(before, after) else ["the result follows its source"]


if __name__ == "__main__":
    checks.main({"schemes": check_schemes, "fused": check_fused, "source": check_source})
