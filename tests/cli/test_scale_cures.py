# SPDX-License-Identifier: Apache-2.0
"""The cures `equalize` and `smooth` scale channels between layers: the float model stays the same, weights get equal ranges as by torch.ao's
cross-layer equalization, a planted spread of channels is undone, and what cannot be scaled is left out with the reason."""
import copy
import json

import numpy
import torch
from torch import nn
from torch.ao.quantization import _equalize

from harness import expect_bad, export_model, main, run, run_good, run_json, write_recipe

CPU = ("--device", "cpu")


class Chain(nn.Module):
    """Layers in a row with everything between them that channels can be scaled through."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8)
        self.depth, self.slope = nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.PReLU(8)
        self.point, self.pool = nn.Conv2d(8, 12, 1), nn.MaxPool2d(2)
        self.grouped, self.up = nn.Conv2d(12, 6, 1, groups=3), nn.ConvTranspose2d(6, 10, 2, stride=2)
        self.average, self.body, self.head = nn.AdaptiveAvgPool2d(1), nn.Linear(10, 16), nn.Linear(16, 4)
        self.drop = nn.Dropout()

    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        x = self.pool(nn.functional.leaky_relu(self.point(self.slope(self.depth(x))), 0.1))
        x = self.average(torch.relu(self.up(self.grouped(x))))
        return self.head(self.drop(torch.relu(self.body(torch.flatten(x, 1)))))


class Pair(nn.Module):
    """Two layers; the second has many outputs, so all its channels have about the same range."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Conv2d(3, 16, 3), nn.Conv2d(16, 48, 3)

    def forward(self, x):
        return self.two(nn.functional.leaky_relu(self.one(x), 0.1))


LAYERS = ("first", "depth", "point", "grouped", "up", "body")


class Normed(nn.Module):
    """A layer norm that three linears read, and one that an addition reads as well."""

    def __init__(self):
        super().__init__()
        self.norm, self.other = nn.LayerNorm(16), nn.LayerNorm(16)
        self.a, self.b, self.c = (nn.Linear(16, 16) for _ in range(3))

    def forward(self, x):
        y = self.norm(x)
        y = torch.softmax(self.a(y), -1) * torch.tanh(self.b(y)) + self.c(y)
        z = self.other(y)
        return z + self.a(z)


def spread(network, seed=5):
    """The network with batch norm statistics, and channels of very different size between its layers."""
    torch.manual_seed(seed)
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.uniform_(-1, 1)
            module.running_var.uniform_(0.2, 3)
            nn.init.uniform_(module.weight, -2, 2)
            nn.init.uniform_(module.bias, -1, 1)
    return network.eval()


def unequal(network):
    """Multiplies the channels of the first layer by up to 64 and divides those of the second: the same function."""
    factors = 2 ** torch.linspace(0, 6, 16)
    with torch.no_grad():
        network.one.weight.mul_(factors[:, None, None, None])
        network.one.bias.mul_(factors)
        network.two.weight.div_(factors[None, :, None, None])
    return network


def written(folder, network, shape):
    torch.manual_seed(7)
    x = torch.randn(32, *shape)
    export_model(network, (x[:2],), folder / "model.pt2")
    numpy.savez(folder / "data.npz", x=x.numpy())
    return folder / "model.pt2", x


def at(name, op="aten.conv2d.default"):
    return {"module": name, "op": op}


OPS = {"up": "aten.conv_transpose2d.input", "body": "aten.linear.default", "head": "aten.linear.default",
       "a": "aten.linear.default", "b": "aten.linear.default", "norm": "aten.layer_norm.default", "other": "aten.layer_norm.default"}


def cured(folder, model, *cures, name="cured.pt2"):
    """(program, state dict) of the float model with these cures."""
    recipe = write_recipe(folder, backend="x86", cures=list(cures))
    run_good("plan", model, "--recipe", recipe, "--strict")
    run_good("edit", model, "--recipe", recipe, "--out", folder / name)
    program = torch.export.load(folder / name)
    return program.module(), program.state_dict


def equalize(*names):
    first, *others = ({"module": name, "op": OPS.get(name, "aten.conv2d.default")} for name in names)
    return {"cure": "equalize", "at": first, **({"nodes": others} if others else {})}


def near(a, b, tolerance=2e-5):
    return (a - b).abs().max() <= tolerance * b.abs().max()


def test_the_float_model_stays(folder):
    network = spread(Chain())
    model, x = written(folder, network, (3, 8, 8))
    with torch.no_grad():
        wanted = network(x)
        for names in (*([name] for name in LAYERS), LAYERS):
            now, _ = cured(folder, model, equalize(*names))
            assert near(now(x), wanted), names


def test_ranges_are_equal(folder):
    """After it both layers have the same range in every channel, batch norm folded."""
    network = spread(Chain())
    model, _ = written(folder, network, (3, 8, 8))

    def ranges(weights):
        first = weights["first.weight"].abs().amax((1, 2, 3)) * (weights["norm.weight"] / (weights["norm.running_var"] + 1e-5).sqrt()).abs()
        point, grouped = weights["point.weight"].abs().amax((1, 2, 3)), weights["grouped.weight"].abs().reshape(3, 2, 4).amax(1).flatten()
        return [(first, weights["depth.weight"].abs().amax((1, 2, 3))), (point, grouped),
                (weights["up.weight"].abs().amax((0, 2, 3)), weights["body.weight"].abs().amax(0))]

    _, weights = cured(folder, model, equalize("first"), equalize("point"), equalize("up"))
    for (first, second), (before, after) in zip(ranges(weights), ranges(network.state_dict())):
        assert near(first, second) and not near(before, after)
    _, chain = cured(folder, model, equalize(*LAYERS))
    for first, second in ranges(chain):
        assert near(first, second, 1e-3), (first, second)


def test_as_torch_equalizes(folder):
    """torch.ao's cross-layer equalization, whose ranges run from the least to the greatest weight: of symmetric weights the same."""
    torch.manual_seed(3)
    network = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 6, 3), nn.ReLU(), nn.Conv2d(6, 4, 1)).eval()
    with torch.no_grad():
        for layer, axis in ((network[0], (1, 2, 3)), (network[2], (1, 2, 3)), (network[4], (1, 2, 3))):
            layer.weight.mul_(torch.rand(layer.weight.shape[0], layer.weight.shape[1], 1, 1) * 4 + 0.1)
            flat = layer.weight.flatten(2)  # a weight and its negative in every pair of channels
            if flat.shape[2] > 1:
                flat[:, :, 1] = -flat[:, :, 0] * 1.0
                flat[:, :, :2] *= flat.abs().amax(2, keepdim=True) / flat[:, :, :1].abs()
    network[4].weight.data = torch.cat([network[4].weight[:2], -network[4].weight[:2]])
    model, x = written(folder, network, (3, 9, 9))
    wanted = _equalize.equalize(copy.deepcopy(network), [["0", "2"], ["2", "4"]], threshold=1e-6, inplace=False)
    _, weights = cured(folder, model, equalize("0", "2"))
    for name, weight in wanted.state_dict().items():
        assert near(weights[name], weight, 1e-3), (name, weights[name] / weight)


def test_given_scales(folder):
    network = spread(Normed())
    model, x = written(folder, network, (5, 16))
    scales = [float(2 ** ((i % 7) - 3)) for i in range(16)]
    with torch.no_grad():
        wanted = network(x)
        now, weights = cured(folder, model, {"cure": "smooth", "at": {"module": "norm", "op": OPS["norm"]}, "scales": scales})
        assert near(now(x), wanted)
    by = torch.tensor(scales)
    was = network.state_dict()
    assert torch.equal(weights["norm.weight"], was["norm.weight"] / by) and torch.equal(weights["norm.bias"], was["norm.bias"] / by)
    assert torch.equal(weights["b.weight"], was["b.weight"] * by) and torch.equal(weights["c.weight"], was["c.weight"] * by)
    assert torch.equal(weights["a.weight"], was["a.weight"]), "the second call of the layer reads the weight as it was"
    with torch.no_grad():  # an addition reads the norm too: a multiplication divides its channels for the linear
        now, weights = cured(folder, model, {"cure": "smooth", "at": {"module": "other", "op": OPS["other"]}, "scales": scales})
        assert near(now(x), wanted)
    assert torch.equal(weights["other.weight"], was["other.weight"]) and torch.equal(weights["a.weight"], was["a.weight"])


def decibels(folder, model, *cures):
    recipe = write_recipe(folder, backend="x86", cures=list(cures))
    run_good("quantize", model, "--recipe", recipe, "--data", folder / "data.npz", *CPU, "--export", "pt2,onnx", "--out", folder / "result", "--strict")
    return json.loads((folder / "result" / "result.json").read_text())["outputs"][0]["cumulative"]["sqnr_db"]


def test_a_planted_spread_is_undone(folder):
    """Where channels between two layers differ 64 times, either cure brings the loss back; `why` proposes both, `tune` takes one."""
    healthy, sick = folder / "healthy", folder / "sick"
    for place, change in ((healthy, lambda network: network), (sick, unequal)):
        place.mkdir()
        written(place, change(spread(Pair())), (3, 10, 10))
    model, data = sick / "model.pt2", ("--data", sick / "data.npz", *CPU)
    good, bad = decibels(healthy, healthy / "model.pt2"), decibels(sick, model)
    found = run_json("why", model, *data)
    spreads = [cause for cause in found["causes"] if cause["cause"] == "channel_spread"]
    proposed = {cure["cure"]: cure for cause in spreads for cure in cause["cures"]}
    assert set(proposed) == {"smooth", "equalize"} and len(proposed["smooth"]["scales"]) == 16, found["causes"]
    assert not [cause for cause in run_json("why", healthy / "model.pt2", "--data", healthy / "data.npz", *CPU)["causes"] if cause["cause"] == "channel_spread"]
    for cure in proposed.values():
        mended = decibels(sick, model, cure)
        assert good - bad > 5 and mended > good - 0.1 * (good - bad), (cure["cure"], good, bad, mended)
    out = folder / "tuned.json"
    run_good("tune", model, *data, "--goal", f"sqnr {good - 1:.1f}", "--keep-int8", 100, "--out", out, "--no-guard")
    assert "smooth" in {cure["cure"] for cure in json.loads(out.read_text())["cures"]}, out.read_text()
    run_good("tune", model, *data, "--goal", f"sqnr {(good + bad) / 2:.1f}", "--allow", "equalize", "--out", out, "--no-guard")
    assert [cure["cure"] for cure in json.loads(out.read_text())["cures"]] == ["equalize"], out.read_text()


def test_bad_input(folder):
    """What does not fit is left out with its reason; --strict fails."""
    chain, normed = folder / "chain", folder / "normed"
    for place, network, shape in ((chain, Chain(), (3, 8, 8)), (normed, Normed(), (5, 16))):
        place.mkdir()
        written(place, spread(network), shape)

    def bad(place, cure, *contains):
        recipe = write_recipe(folder, backend="x86", cures=[cure])
        expect_bad("plan", place / "model.pt2", "--recipe", recipe, "--strict", contains=contains)
        assert "was left out" in run("plan", place / "model.pt2", "--recipe", recipe).stderr

    bad(chain, equalize("head"), "the model returns")
    bad(normed, equalize("norm"), "smooth")
    bad(normed, {"cure": "smooth", "at": {"module": "norm", "op": OPS["norm"]}, "scales": [1, 2]}, "16 channels", "2 scales")
    bad(normed, equalize("b"), "tanh")
    for scales, word in (([1, 0], "above 0"), ([1, -2], "above 0"), ([], "empty"), (["a"], "number")):
        recipe = write_recipe(folder, backend="x86", cures=[{"cure": "smooth", "at": at("head"), "scales": scales}])
        expect_bad("plan", chain / "model.pt2", "--recipe", recipe, contains=["scales", word])
    expect_bad("plan", chain / "model.pt2", "--recipe", write_recipe(folder, backend="x86", cures=[{"cure": "smooth", "at": at("head")}]), contains=["'scales' is missing"])


if __name__ == "__main__":
    main(__name__)
