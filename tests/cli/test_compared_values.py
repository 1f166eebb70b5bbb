# SPDX-License-Identifier: Apache-2.0
"""What a comparison takes as one value and as an error: layers kept float whose batch norm is folded, shapes that follow
from values, infinities, the outputs of the exported file and how often its classes are the float model's, held
against PyTorch."""

import json

import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from harness import by_name, fake_quantize, main, run, run_good, run_json, sqnr, write_recipe
from models import residual
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

BATCH = 8


class Block(nn.Module):
    """A residual block: convolution, batch norm and relu; convolution, batch norm and, if asked, relu; a sum."""

    def __init__(self, with_relu=False):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.conv2, self.bn2 = nn.Conv2d(8, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8)
        self.relu = nn.ReLU()
        self.with_relu = with_relu

    def second(self, x):
        x = self.bn2(self.conv2(x))
        return torch.relu(x) if self.with_relu else x

    def forward(self, x):
        first = self.relu(self.bn1(self.conv1(x)))
        return torch.relu(first + self.second(first))


def warm(model, data):
    """In eval mode, with statistics that are not the initial ones."""
    model.train()
    for _ in range(5):
        model(3 * data + 1)
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.2, 3)
            nn.init.uniform_(module.bias, -1, 1)
    return model.eval()


def quantize(folder, model, data, **recipe):
    """(result.json, what was said on stderr) of a run with the reference form's export in `folder`/out."""
    torch.export.save(torch.export.export(model, (data[:BATCH],)), folder / "model.pt2")
    np.savez(folder / "data.npz", x=data.numpy())
    done = run("quantize", folder / "model.pt2", "--data", folder / "data.npz", "--device", "cpu", "--recipe",
               write_recipe(folder, **recipe), "--export", "pt2-reference", "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "out" / "result.json").read_text()), done.stderr


def batched(function, *values):
    return torch.cat([function(*parts) for parts in zip(*(value.split(BATCH) for value in values))])


def check_kept_block(folder, backend, kept, with_relu):
    torch.manual_seed(3)
    data = torch.randn(2 * BATCH, 3, 10, 10)
    model = warm(Block(with_relu), data)
    rules = [[name, None] for name in kept]
    result, _ = quantize(folder, model, data, backend=backend, mapping={"global": backend, "module_name": rules})
    nodes = by_name(result)
    last = "relu_1" if with_relu else "batch_norm_1"
    assert not nodes["conv2d_1"]["quantized"] and not nodes[last]["quantized"] and nodes["relu"]["quantized"]
    assert nodes["conv2d_1"]["error"] is None, nodes["conv2d_1"]["error"]  # its value is not in the converted model

    layer = fuse_conv_bn_eval(model.conv1, model.bn1)
    layer.weight.data = fake_quantize(layer.weight, nodes["conv2d"]["weight"])
    first = batched(lambda x: model.relu(model.bn1(model.conv1(x))), data)
    x = fake_quantize(data, nodes["x"]["output"])
    first_converted = fake_quantize(batched(lambda v: torch.relu(layer(v)), x), nodes["relu"]["output"])
    y, moved = batched(model.second, first), batched(model.second, first_converted)
    error = nodes[last]["error"]
    for term in ("inherited", "cumulative"):
        assert abs(error[term]["sqnr_db"] - sqnr(y, moved)) < 0.01, (backend, kept, term, error[term], sqnr(y, moved))
    for term in ("isolated", "born_here"):
        assert error[term]["sqnr_db"] == 200 and error[term]["max_abs"] == 0, (backend, kept, term, error[term])

    total, fq = [name for name in nodes if name.startswith("relu")][-1], fake_quantize
    out = nodes[total]["output"]
    wanted = torch.relu(first + y)
    alone = fq(torch.relu(fq(first, nodes["relu"]["output"]) + fq(y, nodes[last]["output"])), out)
    whole = fq(torch.relu(first_converted + fq(moved, nodes[last]["output"])), out)
    for term, value in (("isolated", alone), ("cumulative", whole)):
        assert abs(nodes[total]["error"][term]["sqnr_db"] - sqnr(wanted, value)) < 0.01, (backend, kept, term)


@torch.no_grad()
def test_convolutions_with_batch_norm_kept_float(folder):
    """Folded in one form and not in the other: measured at the batch norm, and without an error of their own."""
    for backend in ("x86", "tensorrt"):
        for kept, with_relu in ((["conv2", "bn2"], False), (["conv2"], False), (["conv2", "bn2"], True)):
            check_kept_block(folder, backend, kept, with_relu)


class Chosen(nn.Module):
    """Rows by their values, which quantization may decide otherwise; and a branch of a fixed shape."""

    def __init__(self):
        super().__init__()
        self.first, self.last, self.other = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 4)

    def forward(self, x):
        y = self.first(x)
        return self.last(y[y[:, 0] > 0]), self.other(y)


@torch.no_grad()
def test_shapes_that_follow_from_values(folder):
    torch.manual_seed(0)
    model, data = Chosen().eval(), torch.randn(64, 8)
    margin = model.first.weight[0] / model.first.weight[0].norm() ** 2  # a few rows as near to 0 as can be
    data[:40] -= torch.outer(model.first(data[:40])[:, 0] - 1e-4 * torch.randn(40), margin)
    result, said = quantize(folder, model, data)
    nodes = by_name(result)
    notes = [line for line in said.splitlines() if "not measured" in line]
    assert len(notes) == 1 and "node 'index'" in notes[0], said
    assert nodes["index"]["error"] is None and nodes["linear_1"]["error"] is None
    assert nodes["linear"]["error"]["cumulative"]["sqnr_db"] > 20 and nodes["linear_2"]["error"]["cumulative"]
    chosen, other = result["outputs"]
    assert chosen["cumulative"] is None and chosen["lowered"] is None, chosen
    assert other["cumulative"]["sqnr_db"] > 20 and other["lowered"]["sqnr_db"] > 20, other


class Logs(nn.Module):
    """The logarithm of a relu: -Inf wherever that is 0, and masked afterwards."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 4)

    def forward(self, x):
        y = torch.relu(self.first(x))
        logs = torch.log(y)
        return self.last(torch.where(y > 0, logs, torch.zeros_like(logs)))


@torch.no_grad()
def test_infinities(folder):
    """Equal ones are no error. One that only one model has is an infinite error, which is told."""
    torch.manual_seed(0)
    model = Logs().eval()
    values = model.first(torch.randn(32, 8))

    def inputs(values):
        return torch.linalg.solve(model.first.weight, (values - model.first.bias).T).T

    good = inputs(torch.where(values > 0, values + 0.3, values - 0.3))  # nothing within a step of 0
    result, said = quantize(folder, model, good)
    assert "NaN or Inf" not in said, said
    assert by_name(result)["log"]["error"]["cumulative"]["sqnr_db"] > 10, by_name(result)["log"]["error"]
    for side, other, near in (("converted", "float", 1e-4), ("float", "converted", -1e-4)):
        result, said = quantize(folder, model, torch.cat([good, inputs(torch.where(values > 0, near, values - 0.3))]))
        told = [line for line in said.splitlines() if "NaN or Inf" in line]
        assert len(told) == 1 and "node 'log'" in told[0] and "batch 5" in told[0], said
        assert f"in the {side} model" in told[0] and f"where the {other} model has numbers" in told[0], told
        error = by_name(result)["log"]["error"]["cumulative"]
        assert error["sqnr_db"] == -200 and error["mse"] is None and error["max_abs"] is None, error


class Few(nn.Module):
    """Convolutions before an output of few values, where a tie that falls the other way is a part of the error."""

    def __init__(self, channels=24):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, channels, 3, padding=1), nn.Conv2d(channels, channels, 3, padding=1)
        self.c, self.f = nn.Conv2d(channels, channels, 3, padding=1, stride=2), nn.Linear(channels, 4)

    def forward(self, x):
        x = torch.relu(self.c(torch.relu(self.b(torch.relu(self.a(x))))))
        return self.f(x.mean((2, 3)))


@torch.no_grad()
def test_outputs_are_those_of_the_exported_file(folder):
    """The told error of the reference form is what PyTorch measures on its file, called as users call it."""
    for seed in (0, 12, 13, 15):
        torch.manual_seed(seed)
        model, data = Few().eval(), torch.randn(BATCH, 3, 32, 32)
        result, _ = quantize(folder, model, data)
        reference = torch.export.load(folder / "out" / "model.reference.pt2").module()
        torch.set_num_threads(result["threads"])
        told, measured = result["outputs"][0]["cumulative"]["sqnr_db"], sqnr(model(data), reference(data))
        assert abs(told - measured) < 0.1, f"seed {seed}: {told} told, {measured} measured"


def test_agreement_needs_no_labels(folder):
    """Held against PyTorch on the exported file; the same number from every verb."""
    torch.manual_seed(11)
    net, path, npz, data = residual(folder, samples=128)
    out = folder / "out"
    document = run_json("quantize", path, "--data", npz, "--device", "cpu", "--out", out, "--export", "torchscript")
    torch.backends.quantized.engine = "x86"
    with torch.no_grad():
        same = (net(data).argmax(1) == torch.jit.load(out / "model.int8.ts.pt")(data).argmax(1)).double().mean().item()
    assert 0.5 < same < 1, f"{same}: the test wants samples that do not agree"
    assert document["labels"] is None and document["agreement"]["top1"] == same, (document["agreement"], same)
    assert document["agreement"]["output"] == document["outputs"][0]["name"]
    for result in (out, out / "model.int8.ts.pt"):
        compared = run_json("compare", path, "--result", result, "--data", npz, "--device", "cpu")
        assert compared["agreement"] == document["agreement"], (result, compared["agreement"])
        text = run_good("compare", path, "--result", result, "--data", npz, "--device", "cpu")
        assert f"in both models for {100 * same:.2f} % of 128 samples" in text, text
    run_good("report", out, "--html", folder / "report.html")
    assert f"{100 * same:.2f} % of the samples" in (folder / "report.html").read_text()


main(__name__)
