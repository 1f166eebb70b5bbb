# SPDX-License-Identifier: Apache-2.0
"""The four error terms of every layer, against the same terms worked out by hand in PyTorch from the scales in
result.json: y = f(x), cumulative y^ - y, inherited f(x^) - y, born here y^ - f(x^), isolated f_q(x) - y."""

import json

import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from harness import fake_quantize, main, run, run_good
from models import residual

BATCH = 8  # the default recipe's: convolutions of other batch sizes differ in the last bit, and a tie then rounds over
TERMS = ("isolated", "inherited", "born_here", "cumulative")


def sqnr(signal, noise):
    noise = noise.double().square().sum()
    return 200.0 if noise == 0 else (10 * torch.log10(signal.double().square().sum() / noise)).item()


def expected_terms(model, data, nodes):
    """{node name: {term: dB}} by hand. Units are (node, inputs, float function, quantized function)."""
    fq = fake_quantize
    conv1, conv2, fc = model.conv1, model.conv2, model.fc
    functional = torch.nn.functional

    def batched(function):
        return lambda *x: torch.cat([function(*part) for part in zip(*(v.split(BATCH) for v in x))])

    def conv(layer, weight):
        return batched(lambda x: functional.conv2d(x, weight, layer.bias, padding=1))

    weight = {name: fq(layer.weight, nodes[name]["weight"]) for name, layer in
              (("conv2d", conv1), ("conv2d_1", conv2), ("linear", fc))}
    units = [
        ("relu", ["x"], lambda x: torch.relu(conv(conv1, conv1.weight)(x)),
         lambda x: torch.relu(conv(conv1, weight["conv2d"])(x))),
        ("max_pool2d", ["relu"], model.pool, model.pool),
        ("conv2d_1", ["max_pool2d"], conv(conv2, conv2.weight), conv(conv2, weight["conv2d_1"])),
        ("add", ["max_pool2d", "conv2d_1"], torch.add, torch.add),
        ("flatten", ["add"], lambda x: torch.flatten(x, 1), lambda x: torch.flatten(x, 1)),
        ("linear", ["flatten"], batched(lambda x: functional.linear(x, fc.weight, fc.bias)),
         batched(lambda x: functional.linear(x, weight["linear"], fc.bias))),
    ]
    def observed(name, value):
        return fq(value, nodes[name]["output"])

    plain, converted, terms = {"x": data}, {"x": observed("x", data)}, {}
    for name, inputs, function, quantized in units:
        x = [plain[i] for i in inputs]
        converted_x = [converted[i] for i in inputs]
        y, moved = function(*x), function(*converted_x)
        result = observed(name, quantized(*converted_x))
        alone = observed(name, quantized(*[observed(i, v) for i, v in zip(inputs, x)]))
        terms[name] = {"isolated": sqnr(y, alone - y), "inherited": sqnr(y, moved - y),
                       "born_here": sqnr(y, result - moved), "cumulative": sqnr(y, result - y)}
        plain[name], converted[name] = y, result
    y, moved = torch.cos(plain["linear"]), torch.cos(converted["linear"])
    terms["cos"] = {"isolated": 200.0, "inherited": sqnr(y, moved - y), "born_here": 200.0,
                    "cumulative": sqnr(y, moved - y)}
    return terms


def check_terms(folder, model, path, npz, data):
    run_good("quantize", path, "--data", npz, "--device", "cpu", "--local-terms", "all", "--export", "pt2-reference", "--out", folder / "out")
    result = json.loads((folder / "out" / "result.json").read_text())
    nodes = {node["name"]: node for node in result["nodes"]}
    expected = expected_terms(model, data, nodes)
    for name, terms in expected.items():
        for term in TERMS:
            given = nodes[name]["error"][term]["sqnr_db"]
            assert abs(given - terms[term]) < 0.01, f"{name} {term}: {given} instead of {terms[term]}"
    inner = nodes["conv2d"]
    assert inner["quantized"] and inner["error"] is None and inner["output"] is None and inner["weight"]
    assert abs(result["outputs"][0]["cumulative"]["sqnr_db"] - expected["cos"]["cumulative"]) < 0.01


@torch.no_grad()
def test_four_terms_of_every_layer(folder):
    check_terms(folder, *residual(folder))


@torch.no_grad()
def test_wide_layers(folder):
    """Wide enough that the second convolution is worth the processor's byte instructions."""
    check_terms(folder, *residual(folder, samples=16, channels=64, size=32))


@torch.no_grad()
def test_other_metrics(folder):
    model, path, npz, data = residual(folder)
    run_good("quantize", path, "--data", npz, "--device", "cpu", "--local-terms", "all", "--export", "pt2-reference", "--out", folder / "out")
    result = json.loads((folder / "out" / "result.json").read_text())
    nodes = {node["name"]: node for node in result["nodes"]}
    y = torch.relu(model.conv1(data))
    weight = fake_quantize(model.conv1.weight, nodes["conv2d"]["weight"])
    converted = torch.nn.functional.conv2d(fake_quantize(data, nodes["x"]["output"]), weight, model.conv1.bias, padding=1)
    converted = fake_quantize(torch.relu(converted), nodes["relu"]["output"])
    noise = (converted - y).double()
    given = nodes["relu"]["error"]["cumulative"]
    cosine = torch.nn.functional.cosine_similarity(y.double().flatten(), converted.double().flatten(), dim=0)
    assert abs(given["mse"] / noise.square().mean().item() - 1) < 1e-3
    assert abs(given["max_abs"] / noise.abs().max().item() - 1) < 1e-3
    assert abs(given["cosine"] - cosine.item()) < 1e-6


class Gated(torch.nn.Module):
    """Readers with quantizers of their own behind values that stay float: fixed ranges, and one that two layers share."""

    def __init__(self):
        super().__init__()
        self.front, self.left, self.right = torch.nn.Linear(8, 16), torch.nn.Linear(8, 4), torch.nn.Linear(8, 4)

    def forward(self, x):
        a, b = self.front(x).chunk(2, 1)
        y = torch.cos(torch.tanh(a) * torch.sigmoid(b))
        return self.left(y), self.right(y)


@torch.no_grad()
def test_quantizers_of_readers(folder):
    """Where a value stays float, what its readers' quantizers lose is born at the readers, and comes in at none."""
    torch.manual_seed(0)
    model, data = Gated().eval(), 3 * torch.randn(4 * BATCH, 8)
    torch.export.save(torch.export.export(model, (data[:BATCH],)), folder / "model.pt2")
    np.savez(folder / "data.npz", x=data.numpy())
    done = run("quantize", folder / "model.pt2", "--data", folder / "data.npz", "--local-terms", "all", "--export", "none", "--out", folder / "out", "--json")
    assert done.returncode == 0, done.stderr
    nodes = {node["name"]: node for node in json.loads(done.stdout)["nodes"]}
    assert not nodes["chunk"]["quantized"] and not nodes["cos"]["quantized"]
    fq = fake_quantize

    def linear(layer, name):
        weight = fq(layer.weight, nodes[name]["weight"])
        return lambda x: torch.nn.functional.linear(x, weight, layer.bias)

    front = model.front(data)
    front_converted = fq(linear(model.front, "linear")(fq(data, nodes["x"]["output"])), nodes["linear"]["output"])
    plain, converted = {}, {}
    plain["a"], plain["b"] = front.chunk(2, 1)
    converted["a"], converted["b"] = front_converted.chunk(2, 1)

    def check(name, source, own, function, quantized):
        """`own`: the quantizer between the float value `source` and the unit."""
        y, moved = function(plain[source]), function(converted[source])
        made = lambda x: fq(quantized(fq(x, own)), nodes[name]["output"])  # noqa: E731
        plain[name], converted[name] = y, made(converted[source])
        wanted = {"isolated": made(plain[source]) - y, "inherited": moved - y, "born_here": converted[name] - moved,
                  "cumulative": converted[name] - y}
        for term, noise in wanted.items():
            given = nodes[name]["error"][term]["sqnr_db"]
            assert abs(given - sqnr(y, noise)) < 0.01, f"{name} {term}: {given} instead of {sqnr(y, noise)}"

    for name, source, function in (("tanh", "a", torch.tanh), ("sigmoid", "b", torch.sigmoid)):
        check(name, source, nodes["chunk"]["outputs"]["ab".index(source)], function, function)
    product = plain["tanh"] * plain["sigmoid"]
    plain["y"] = torch.cos(product)
    converted["y"] = torch.cos(fq(converted["tanh"] * converted["sigmoid"], nodes["mul"]["output"]))
    for name, layer in (("linear_1", model.left), ("linear_2", model.right)):
        check(name, "y", nodes["cos"]["output"], layer, linear(layer, name))
    worst = min((node for node in nodes.values() if node.get("error")), key=lambda node: node["error"]["born_here"]["sqnr_db"])
    assert worst["name"] in ("tanh", "sigmoid") and worst["error"]["born_here"]["sqnr_db"] < 20, worst


class Shares(torch.nn.Module):
    """Rows as shares of their sum, as linear attention has them: where quantization leaves all of a row at 0, 0 / 0."""

    def __init__(self):
        super().__init__()
        self.first, self.last = torch.nn.Linear(8, 8, bias=False), torch.nn.Linear(8, 4)

    def forward(self, x):
        y = torch.relu(self.first(x))
        return self.last(y / (y.sum(-1, keepdim=True) + 1e-15))


@torch.no_grad()
def test_nan_of_the_converted_model_alone(folder):
    """It is told, and what reads its integers is measured with the numbers that the exported file has."""
    torch.manual_seed(0)
    model, data = Shares().eval(), torch.randn(32, 8)
    data[21] *= 1e-3
    torch.export.save(torch.export.export(model, (data[:BATCH],)), folder / "model.pt2")
    np.savez(folder / "data.npz", x=data.numpy())
    out = folder / "out"
    done = run("quantize", folder / "model.pt2", "--data", folder / "data.npz", "--local-terms", "all", "--export", "pt2-reference", "--out", out)
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if "NaN or Inf in the converted model" in line]
    assert len(told) == 1 and "node 'div'" in told[0] and "batch 3" in told[0], done.stderr
    result = json.loads((out / "result.json").read_text())
    reference = torch.export.load(out / "model.reference.pt2").module()
    y = model(data)
    measured = sqnr(y, torch.cat([reference(part) for part in data.split(BATCH)]) - y)
    assert abs(result["outputs"][0]["cumulative"]["sqnr_db"] - measured) < 0.01, (result["outputs"], measured)
    errors = {node["name"]: node["error"] for node in result["nodes"]}
    assert errors["div"]["inherited"]["sqnr_db"] == -200
    assert errors["linear_1"]["born_here"]["sqnr_db"] > 20, errors["linear_1"]


main(__name__)
