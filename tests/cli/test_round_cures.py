# SPDX-License-Identifier: Apache-2.0
"""The cures `round` and `bias`: how weights are rounded and what is added to biases is chosen on data, kept beside the recipe, applied in every converted
form and left out with the reason where it does not fit."""
import copy
import hashlib
import itertools
import json
import shutil

import numpy
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers the operators of exported files
from torch import nn

from harness import SOURCE, expect_bad, export_model, main, run, run_good, run_json, write_recipe

CPU = ("--device", "cpu")
SAMPLES = SOURCE / "resources" / "samples"
MODEL, DATA, OTHER = SAMPLES / "digits.pt2", SAMPLES / "calib.npz", SAMPLES / "test.npz"
WEIGHT = {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric", "quant_min": -8, "quant_max": 7}
FOUR_BITS = {"backend": "x86", "mapping": {"global": "w4"}, "qconfigs": {"w4": {"activation": {"observer": "histogram", "reduce_range": True}, "weight": WEIGHT}}}
WEIGHT_ONLY = {"backend": "x86", "mapping": {"global": "w4"}, "qconfigs": {"w4": {"activation": {"observer": "placeholder", "dtype": "float32"},
               "weight": WEIGHT | {"group_size": 8}}}}


class Kinds(nn.Module):
    """Each kind of layer that is rounded, and those that are not."""

    def __init__(self):
        super().__init__()
        self.line = nn.Conv1d(4, 8, 3, stride=2, padding=1)
        self.plain, self.norm = nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.depth, self.groups = nn.Conv2d(8, 8, 3, groups=8, padding="same", dilation=2), nn.Conv2d(8, 4, 1, groups=2)
        self.up, self.head = nn.ConvTranspose2d(4, 3, 2, stride=2), nn.Linear(3, 5)

    def forward(self, x):
        x = torch.relu(self.line(x)).unsqueeze(1)
        x = torch.relu(self.norm(self.plain(x)))
        x = torch.relu(self.up(torch.relu(self.groups(torch.relu(self.depth(x))))))
        return self.head(x.mean((2, 3)))


class Linears(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(8, 16), nn.Linear(16, 6, bias=False)

    def forward(self, x):
        return self.two(torch.relu(self.one(x)))


def made(kind, seed=3):
    torch.manual_seed(seed)
    network = kind()
    for module in network.modules():
        if isinstance(module, (nn.Linear, nn.modules.conv._ConvNd)):
            nn.init.kaiming_normal_(module.weight)
    return network


def written(folder, network, *shape, samples=64):
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.uniform_(-1, 1)
            module.running_var.uniform_(0.3, 2)
    network.eval()
    x = torch.randn(samples, *shape) @ torch.randn(shape[-1], shape[-1])
    export_model(network, (x[:2],), folder / "model.pt2")
    numpy.savez(folder / "data.npz", x=x.numpy())
    return x


def tuned(folder, *options, recipe=FOUR_BITS, model=None, data=None, goal="sqnr 70"):
    """(recipe, its path, trials) of a search that cannot reach its goal."""
    out = folder / "tuned.json"
    start = write_recipe(folder, **recipe)
    run("tune", model or folder / "model.pt2", "--data", data or folder / "data.npz", "--recipe", start, "--goal", goal, "--out", out, "--no-guard", *CPU, *options)
    return json.loads(out.read_text()), out, json.loads(out.with_suffix(".tune.json").read_text())["trials"]


def numbers(recipe, folder, kind="round"):
    """{module: {part: array}} of the recipe's cure of this kind."""
    cure = next(one for one in recipe["cures"] if one["cure"] == kind)
    layers = {}
    for name, array in numpy.load(folder / cure["file"]).items():
        layers.setdefault(name.split(" ")[0], {})[name.rsplit("/", 1)[1]] = torch.from_numpy(array)
    return layers


def result(folder, recipe, model=None, data=None, name="result", *options):
    out = folder / name
    shutil.rmtree(out, ignore_errors=True)
    run_good("quantize", model or folder / "model.pt2", "--recipe", recipe, "--data", data or folder / "data.npz", *CPU, "--strict", "--out", out, *options)
    return json.loads((out / "result.json").read_text()), out


def noise(wanted, got):
    return float((wanted - got).square().sum() / wanted.square().sum())


def decibels(wanted, got):
    return -10 * numpy.log10(noise(wanted, got))


def test_digits_gain(folder):
    """Both cures bring four-bit weights up on other data; the numbers of the report are those of the exported file, which PyTorch runs."""
    recipe, path, trials = tuned(folder, "--allow", "round,bias", model=MODEL, data=DATA)
    assert [trial["stage"] for trial in trials] == ["start", "round"] and [cure["cure"] for cure in recipe["cures"]] == ["round", "bias"]
    assert len({cure["file"] for cure in recipe["cures"]}) == 1 and trials[1]["int8_macs"] == 1
    other = ("--compare-on", OTHER, "--export", "pt2-reference,pt2,onnx,torchscript")
    before, _ = result(folder, write_recipe(folder, **FOUR_BITS), MODEL, DATA, "before", *other)
    after, out = result(folder, path, MODEL, DATA, "after", *other)
    was, now = (document["outputs"][0]["cumulative"]["sqnr_db"] for document in (before, after))
    assert now > was + 6, (was, now)
    arrays = numpy.load(OTHER)
    x = torch.from_numpy(next(arrays[name] for name in arrays.files if name != "labels"))
    with torch.no_grad():
        wanted = torch.export.load(MODEL).module()(x)
        for form in ("model.reference.pt2", "model.int8.pt2"):
            assert abs(decibels(wanted, torch.export.load(out / form).module()(x)) - now) < 0.05, form
    assert any(name.name.endswith(".cure.npz") for name in out.iterdir())
    moved = folder / "moved"  # the result needs nothing else
    shutil.copytree(out, moved)
    shutil.rmtree(path.with_suffix(".cures"))
    found = run_json("why", moved, "--data", OTHER, *CPU)
    assert abs(found["measured_db"] - now) < 1.5, found["measured_db"]
    next(moved.glob("*.cure.npz")).unlink()
    expect_bad("why", moved, "--data", OTHER, *CPU, contains=[".cure.npz"])


def test_every_kind_of_layer(folder):
    """Steps are less than one from the weight, on the scales of its observer; the form holds exactly these integers; every layer gets nearer."""
    network = made(Kinds)
    written(folder, network, 4, 12)
    recipe, path, _ = tuned(folder, "--allow", "round")
    layers = numbers(recipe, folder)
    assert {"line", "plain", "depth", "head"} <= set(layers) <= {"line", "plain", "depth", "groups", "head"}, layers.keys()
    document, out = result(folder, path, None, None, "result", "--export", "pt2-reference")
    program = torch.export.load(out / "model.reference.pt2")
    stored = [value for value in (*program.state_dict.values(), *program.constants.values()) if torch.is_tensor(value) and value.is_floating_point()]
    factor = (network.norm.weight / (network.norm.running_var + network.norm.eps).sqrt()).detach()
    for name, arrays in layers.items():
        weight = dict(network.named_modules())[name].weight.detach()
        if name == "plain":
            weight = weight * factor.reshape(-1, 1, 1, 1)
        scale = arrays["scales"].reshape([-1] + [1] * (weight.dim() - 1))
        steps = arrays["steps"].float()
        assert arrays["steps"].dtype == torch.int8 and steps.shape == weight.shape
        assert (weight / scale - steps).abs().max() < 1.01 and steps.min() >= -8 and steps.max() <= 7, name
        assert ((weight / scale).round() - steps).abs().sum() > 0, f"{name}: the nearest integers"
        assert any(value.shape == weight.shape and torch.equal((value / scale).round(), steps) for value in stored), name
    left = {line for line in run("plan", folder / "model.pt2", "--recipe", path).stderr.splitlines() if "left out" in line}
    assert not left, left


def test_nearly_the_best(folder):
    """Of all ways to round a small linear, by every row: within 5 % of the least error over the data, on average."""
    class One(nn.Module):
        def __init__(self):
            super().__init__()
            self.only = nn.Linear(8, 12)

        def forward(self, x):
            return self.only(x)

    network = made(One)
    x = written(folder, network, 8, samples=256)
    recipe, _, _ = tuned(folder, "--allow", "round", "--samples", 256, recipe=WEIGHT_ONLY)
    arrays = numbers(recipe, folder)["only"]
    weight, scale = network.only.weight.detach(), arrays["scales"].reshape(12, 1)
    gram = x.T @ x
    low = (weight / scale).floor().clamp(-8, 7)
    choices = torch.tensor(list(itertools.product((0.0, 1.0), repeat=8)))

    def error(steps):
        off = steps * scale - weight
        return ((off @ gram) * off).sum(1)

    best, nearest = torch.full((12,), torch.inf), error((weight / scale).round().clamp(-8, 7))
    for choice in choices:
        best = torch.minimum(best, error((low + choice).clamp(-8, 7)))
    got = error(arrays["steps"].float())
    assert (got / best).mean() < 1.6 and (nearest / best).mean() > 1.5 * (got / best).mean(), (got / best, nearest / best)


def test_group_weights(folder):
    """Weights alone, in groups: the error of the outputs falls."""
    network = made(Linears)
    written(folder, network, 8)
    before, _ = result(folder, write_recipe(folder, **WEIGHT_ONLY))
    recipe, path, _ = tuned(folder, "--allow", "round", recipe=WEIGHT_ONLY)
    after, _ = result(folder, path)
    assert numbers(recipe, folder)["two"]["scales"].shape == (12,)
    gained = after["outputs"][0]["cumulative"]["sqnr_db"] - before["outputs"][0]["cumulative"]["sqnr_db"]
    assert gained > 2, gained


def test_the_mean_error_goes(folder):
    """After `bias` no channel of any layer's result has a mean error on these data, a layer without a bias gets one."""
    network = made(Linears)
    x = written(folder, network, 8)
    recipe, path, _ = tuned(folder, "--allow", "bias", "--samples", 64)
    assert [cure["cure"] for cure in recipe["cures"]] == ["bias"] and set(numbers(recipe, folder, "bias")) == {"one", "two"}

    def means(recipe_path):
        _, out = result(folder, recipe_path, None, None, "result", "--export", "pt2-reference")
        with torch.no_grad():
            off = torch.export.load(out / "model.reference.pt2").module()(x) - network(x)
        return off.mean(0).abs() / off.std(0)

    assert means(write_recipe(folder, **FOUR_BITS)).max() > 0.2
    searched = means(path)  # three quarters of the samples were searched on
    assert searched.max() < 0.35, searched


def test_off_is_absent(folder):
    written(folder, made(Linears), 8)
    recipe, path, _ = tuned(folder, "--allow", "round,bias")
    for cure in recipe["cures"]:
        cure["off"] = True
    off = folder / "off.json"
    off.write_text(json.dumps(recipe))
    plain, _ = result(folder, write_recipe(folder, **FOUR_BITS), None, None, "plain")
    same, _ = result(folder, off, None, None, "off")
    cured, _ = result(folder, path, None, None, "cured")
    assert plain["outputs"] == same["outputs"] != cured["outputs"]


def test_the_search(folder):
    """The same search writes the same bytes; a forbidden layer keeps its integers; nothing is left of numbers that no recipe needs."""
    written(folder, made(Linears), 8)
    recipe, path, trials = tuned(folder, "--allow", "round,bias")
    first = {file.name: file.read_bytes() for file in path.with_suffix(".cures").iterdir()}
    again, _, same = tuned(folder, "--allow", "round,bias")
    resumed, _, _ = tuned(folder, "--allow", "round,bias", "--resume")
    assert again == recipe == resumed and [one["key"] for one in trials] == [one["key"] for one in same]
    assert first == {file.name: file.read_bytes() for file in path.with_suffix(".cures").iterdir()} and len(first) == 1
    recipe, _, _ = tuned(folder, "--allow", "round", "--forbid", "round@linear")
    assert set(numbers(recipe, folder)) == {"two"}
    assert len(list(path.with_suffix(".cures").iterdir())) <= 2
    tuned(folder, "--allow", "float")
    assert "round" not in path.read_text()


def test_a_sequence(folder):
    """Batches that depend on each other are not rounded over; the search says so and goes on."""
    written(folder, made(Linears), 8)
    _, path, trials = tuned(folder, recipe=FOUR_BITS | {"calibration": {"sequence": True}})
    notes = json.loads(path.with_suffix(".tune.json").read_text())["notes"]
    assert any(note.startswith("weights are not rounded: ") for note in notes) and "round" not in [trial["stage"] for trial in trials], notes


def test_bad_input(folder):
    """What does not fit is left out with its reason; --strict fails."""
    network = made(Linears)
    written(folder, network, 8)
    recipe, path, _ = tuned(folder, "--allow", "round,bias")
    model, data = folder / "model.pt2", ("--data", folder / "data.npz", *CPU)

    def bad(change, *contains, at=model):
        wrong = copy.deepcopy(recipe)
        change(wrong["cures"])
        (folder / "wrong.json").write_text(json.dumps(wrong))
        said = run("quantize", at, "--recipe", folder / "wrong.json", *data, "--out", folder / "wrong").stderr
        assert all(word in said for word in contains), (contains, said)
        expect_bad("quantize", at, "--recipe", folder / "wrong.json", *data, "--out", folder / "wrong", "--strict", contains=contains)

    def forged(change, *contains):
        kept = dict(numpy.load(folder / recipe["cures"][0]["file"]).items())
        change(kept)
        forgery = folder / "tuned.cures" / "forged.npz"
        numpy.savez(forgery, **kept)
        digest = hashlib.sha256(forgery.read_bytes()).hexdigest()
        bad(lambda cures: [cure.update(file="tuned.cures/forged.npz", sha256=digest) for cure in cures], *contains)

    bad(lambda cures: cures[0].update(file="gone.npz"), "gone.npz", "left out")
    bad(lambda cures: cures[0].update(sha256="0" * 64), "left out", "differs")
    bad(lambda cures: cures[0].update(at={"module": "three", "op": "aten.linear.default"}), "three", "left out")
    first = next(name[: -len("/steps")] for name in numpy.load(folder / recipe["cures"][0]["file"]) if name.endswith("/steps"))
    forged(lambda kept: kept.pop(f"{first}/steps"), "no numbers", first)
    forged(lambda kept: kept.update({f"{first}/steps": kept[f"{first}/steps"].astype("float32")}), "float32", "int8")
    forged(lambda kept: kept.update({f"{first}/shift": kept[f"{first}/shift"] * numpy.nan}), "NaN")
    forged(lambda kept: kept.update({f"{first}/steps": kept[f"{first}/steps"][:4]}), "has changed since")
    forged(lambda kept: kept.update({f"{first}/scales": kept[f"{first}/scales"] * 2}), "other scales")
    forged(lambda kept: kept.update({f"{first}/shift": kept[f"{first}/shift"][:3]}), "number of channels")
    eight = copy.deepcopy(recipe)
    eight["qconfigs"]["w4"]["weight"].update(quant_min=-128, quant_max=127)
    (folder / "eight.json").write_text(json.dumps(eight))
    expect_bad("quantize", model, "--recipe", folder / "eight.json", *data, "--out", folder / "wrong", "--strict", contains=["other scales"])
    with torch.no_grad():
        network.one.weight.add_(0.5)
    export_model(network, (torch.randn(2, 8),), folder / "other.pt2")
    bad(lambda cures: None, "cannot be rounded as given", at=folder / "other.pt2")
    expect_bad("plan", model, "--recipe", write_recipe(folder, **FOUR_BITS, cures=[{"cure": "round", "at": {"module": "one", "op": "aten.linear.default"}}]),
               contains=["'file' is missing"])


if __name__ == "__main__":
    main(__name__)
