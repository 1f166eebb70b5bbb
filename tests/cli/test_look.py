# SPDX-License-Identifier: Apache-2.0
"""`look` against the comparison of the same result, against numpy over the values that it writes, and against PyTorch."""

import json
import os
import shutil

import numpy as np
import torch
from harness import by_name, expect_bad, export_model, fake_quantize, main, run_good, run_json, write_recipe
from models import residual
from torch import nn

SAMPLES = 10  # two batches of the default recipe's eight, the second one short
BINS = 64


def quantized(folder, path, npz, *more):
    """(folder of the result, the document of a comparison with it)."""
    out = folder / "out"
    run_good("quantize", path, "--data", npz, "--device", "cpu", "--export", "pt2-reference", "--out", out, *more)
    return out, run_json("compare", path, "--result", out, "--data", npz, "--device", "cpu")


def look(path, out, npz, *words):
    return run_json("look", path, "--result", out, "--data", npz, "--device", "cpu", *words)


def values_of(folder, path, out, npz, name, samples=range(SAMPLES)):
    """(float, converted) of these samples, from the files that `look --npz` writes."""
    sides = {"float": [], "converted": []}
    for sample in samples:
        file = folder / "values.npz"
        look(path, out, npz, "--node", name, "--sample", sample, "--npz", file)
        with np.load(file) as arrays:
            assert np.array_equal(arrays["difference"], arrays["converted"] - arrays["float"])
            for side, list_ in sides.items():
                list_.append(arrays[side])
    return np.stack(sides["float"]), np.stack(sides["converted"])


def db(signal, noise):
    return None if signal == 0 else 200.0 if noise == 0 else min(200, max(-200, 10 * np.log10(signal / noise)))


def close(got, wanted, limit=1e-9):
    if wanted is None or got is None:
        return wanted is got
    return abs(got - wanted) <= limit * max(abs(got), abs(wanted), 1e-300)


def kl(y, made, first):
    """The divergence as `ValueCounts` says, in float32 as the kernel counts; the grid is that of the first batch."""
    low, high = first.min(), first.max()
    shares = []
    for x in (y, made):
        position = (x - low) * np.float32(BINS) / np.float32(high - low)
        bins = np.minimum(position, np.float32(BINS - 1)).astype(np.int64)
        counts = np.bincount(np.where((x >= low) & (x <= high), bins, BINS).ravel(), minlength=BINS + 1) + 0.5
        shares.append(counts / counts.sum())
    return float((shares[0] * np.log(shares[0] / shares[1])).sum())


def check_entry(entry, y, made):
    """One channel or sample against its values."""
    apart = np.abs(made - y).max()  # in float32, as the arrays are
    y, noise = y.astype(np.float64), made.astype(np.float64) - y.astype(np.float64)
    assert close(entry["signal"], (y**2).sum()) and close(entry["noise"], (noise**2).sum()), entry
    assert close(entry["sqnr_db"], db((y**2).sum(), (noise**2).sum())), entry
    assert entry["max_abs"] == apart, entry
    if "mse" in entry:
        assert close(entry["mse"], (noise**2).mean()) and entry["count"] == y.size, entry
        assert (entry["min"], entry["max"]) == (y.min(), y.max()), entry
        wanted = np.quantile(y, [0.01, 0.25, 0.5, 0.75, 0.99])
        assert [entry["quantiles"][key] for key in ("p1", "q1", "median", "q3", "p99")] == list(wanted), (entry, wanted)
        assert entry["quantiles"]["error"] == 0, "few values: exact"


def check_sums(document, error):
    """Over channels, and over samples, all adds up to the comparison's cumulative error."""
    assert all(close(document["error"][key], error[key]) for key in ("sqnr_db", "cosine", "mse", "kl")), (document["error"], error)
    assert document["error"]["max_abs"] == error["max_abs"]
    for entries in (document["channels"], document["sample_errors"]):
        signal, noise = (sum(entry[key] for entry in entries) for key in ("signal", "noise"))
        assert close(db(signal, noise), error["sqnr_db"]), (signal, noise, error)
        assert max(entry["max_abs"] for entry in entries) == error["max_abs"]
    count = sum(entry["count"] for entry in document["channels"])
    assert close(sum(entry["noise"] for entry in document["channels"]) / count, error["mse"])


def test_every_number_is_that_of_the_values(folder):
    _, path, npz, _ = residual(folder, samples=SAMPLES)
    out, compared = quantized(folder, path, npz)
    nodes = by_name(compared)
    for name, places in (("relu", range(SAMPLES)), ("linear", (0, SAMPLES - 1))):
        document = look(path, out, npz, "--node", name, "--worst", 3)
        assert (document["node"], document["output"], document["samples"]) == (name, None, SAMPLES)
        check_sums(document, nodes[name]["error"]["cumulative"])
        y, made = values_of(folder, path, out, npz, name, places)
        assert document["results"][0]["channel_axis"] == 1 and document["results"][0]["shape"] == [8, *y.shape[1:]]
        assert len(document["channels"]) == y.shape[1] and len(document["sample_errors"]) == SAMPLES
        assert [entry["sample"] for entry in document["sample_errors"]] == list(range(SAMPLES))
        for at, sample in enumerate(places):
            check_entry(document["sample_errors"][sample], y[at], made[at])
        worst = sorted(document["sample_errors"], key=lambda entry: entry["sqnr_db"])[:3]
        assert document["worst_samples"] == worst
        if len(places) < SAMPLES:
            continue
        for channel, entry in enumerate(document["channels"]):
            check_entry(entry, y[:, channel], made[:, channel])
        assert close(document["error"]["kl"], kl(y, made, y[:8])) and document["error"]["kl"] > 0, document["error"]


@torch.no_grad()
def test_values_are_the_models(folder):
    model, path, npz, data = residual(folder, samples=SAMPLES)
    out, compared = quantized(folder, path, npz)
    nodes = by_name(compared)
    places = [0, 8, 9]  # of both batches
    y, made = values_of(folder, path, out, npz, "relu", places)
    wanted = torch.relu(model.conv1(data))
    weight = fake_quantize(model.conv1.weight, nodes["conv2d"]["weight"])
    x = fake_quantize(data, nodes["x"]["output"])
    converted = fake_quantize(torch.relu(torch.nn.functional.conv2d(x, weight, model.conv1.bias, padding=1)),
                              nodes["relu"]["output"])
    assert np.abs(y - wanted.numpy()[places]).max() < 1e-5
    step = nodes["relu"]["output"]["scale"][0]
    apart = np.abs(made - converted.numpy()[places]) / step
    assert apart.max() < 1.01 and (apart > 0.01).mean() < 1e-3  # sums differ in their last bits: a tie may turn
    told = look(path, out, npz, "--node", "conv2d")  # a member stands for its fusion
    assert told["node"] == "relu" and len(told["weights"]) == 1
    weights = told["weights"][0]
    assert (weights["node"], weights["name"], weights["channel_axis"]) == ("conv2d", "conv1.weight", 0)
    for channel, entry in enumerate(weights["channels"]):
        check_entry(entry, model.conv1.weight[channel].numpy(), weight[channel].numpy())
        assert entry["scale"] == nodes["conv2d"]["weight"]["scale"][channel]
    noise = (weight - model.conv1.weight).double()
    assert close(weights["error"]["mse"], noise.square().mean().item())
    assert close(weights["error"]["sqnr_db"], db(model.conv1.weight.double().square().sum().item(), noise.square().sum().item()))


def test_an_output(folder):
    _, path, npz, _ = residual(folder, samples=SAMPLES)
    out, compared = quantized(folder, path, npz)
    output = compared["outputs"][0]
    document = look(path, out, npz, "--output", output["name"], "--sample", 9, "--npz", folder / "y.npz")
    check_sums(document, {**output["cumulative"], "kl": document["error"]["kl"]})
    assert document["node"] is None and document["output"] == output["name"] and document["weights"] == []
    with np.load(folder / "y.npz") as arrays:
        check_entry(document["sample_errors"][9], arrays["float"], arrays["converted"])


def test_nothing_is_lost_where_nothing_is_quantized(folder):
    _, path, npz, _ = residual(folder, samples=SAMPLES)
    recipe = write_recipe(folder, mapping={"global": "x86", "module_name": [["conv1", None], ["relu", None]]})
    out, compared = quantized(folder, path, npz, "--recipe", recipe)
    document = look(path, out, npz, "--node", "relu")
    check_sums(document, by_name(compared)["relu"]["error"]["cumulative"])
    assert document["error"]["kl"] == 0 and document["error"]["sqnr_db"] == 200 and document["weights"] == []
    assert not any(entry["wide"] and entry["noisy"] for entry in document["channels"])


class Tokens(nn.Module):
    """Channels last, one of them far wider than the others, and a split into two results."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(16, 12), nn.Linear(6, 4)
        with torch.no_grad():
            self.first.weight[5] *= 40

    def forward(self, x):
        left, right = torch.split(torch.relu(self.first(x)), [6, 6], dim=-1)
        return self.last(left) + self.last(right)


def test_outliers_and_channels_of_tokens(folder):
    torch.manual_seed(3)
    data = torch.randn(SAMPLES, 7, 16)
    path, npz = folder / "tokens.pt2", folder / "tokens.npz"
    export_model(Tokens(), (data[:2],), path)
    np.savez(npz, x=data.numpy())
    out, compared = quantized(folder, path, npz)
    document = look(path, out, npz, "--node", "relu")
    assert document["results"][0]["channel_axis"] == 2 and len(document["channels"]) == 12
    assert [entry["channel"] for entry in document["channels"] if entry["wide"]] == [5]
    weights = look(path, out, npz, "--node", "linear")["weights"][0]
    assert [entry["channel"] for entry in weights["channels"] if entry["wide"]] == [5]
    check_sums(document, by_name(compared)["relu"]["error"]["cumulative"])
    text = run_good("look", path, "--result", out, "--data", npz, "--node", "relu")
    assert "outlier channels: 5 (wide" in text, text
    parts = look(path, out, npz, "--node", "split_with_sizes", "--sample", 9, "--part", 1, "--npz", folder / "part.npz")
    assert [result["channels"] for result in parts["results"]] == [6, 6]
    check_sums(parts, by_name(compared)["split_with_sizes"]["error"]["cumulative"])
    whole = values_of(folder, path, out, npz, "relu", [9])
    with np.load(folder / "part.npz") as arrays:
        assert np.array_equal(arrays["float"], whole[0][0][:, 6:]) and parts["sample"]["shape"] == [7, 6]


class Turned(nn.Module):
    """Steps come before samples inside: which row belongs to which sample cannot be told there."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        return self.last(torch.relu(self.first(x).transpose(0, 1))).transpose(0, 1)


def test_values_without_samples(folder):
    data = torch.randn(8, 3, 4)
    path, npz = folder / "turned.pt2", folder / "turned.npz"
    export_model(Turned(), (data,), path, dynamic=False)
    np.savez(npz, x=data.numpy())
    out, compared = quantized(folder, path, npz)
    document = look(path, out, npz, "--node", "relu", "--sample", 2)
    assert document["sample_errors"] == [] and document["samples"] == 8
    assert document["sample"]["of_batch"] and document["sample"]["shape"] == [3, 8, 4]
    signal, noise = (sum(entry[key] for entry in document["channels"]) for key in ("signal", "noise"))
    assert close(db(signal, noise), by_name(compared)["relu"]["error"]["cumulative"]["sqnr_db"])


def test_the_python_it_came_from(folder):
    _, path, npz, _ = residual(folder, samples=8)
    out, _ = quantized(folder, path, npz)
    source = look(path, out, npz, "--node", "conv2d_1")["source"]
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models.py")
    assert source["found"] == own and source["same"], source
    at = source["line"] - source["first_line"]
    assert source["lines"][at].strip() == source["code"] and "self.conv2" in source["code"]
    text = run_good("look", path, "--result", out, "--data", npz, "--node", "conv2d_1")
    assert f"from {own}:{source['line']}" in text and f"> {source['line']}  " in text, text
    recorded = json.dumps(own)
    assert recorded in run_good("inspect", path, "--json")
    moved = folder / "elsewhere" / "cli"
    moved.mkdir(parents=True)
    shutil.copy(own, moved / "models.py")
    (moved / "models.py").write_text("# one line more\n" + (moved / "models.py").read_text())
    # Where the recorded file is still there it is preferred: its line reads as recorded.
    assert look(path, out, npz, "--node", "conv2d_1", "--sources", moved.parent)["source"]["found"] == own


def test_a_project_stands_for_its_model(folder):
    _, path, npz, _ = residual(folder, samples=8)
    out, _ = quantized(folder, path, npz)
    project = folder / "work.project.json"
    project.write_text(json.dumps({"format": "quantscope.project", "version": 1, "model": path.name, "data": npz.name,
                                   "recipe": json.loads((out / "recipe.json").read_text())}))
    assert look(project, out, npz, "--node", "relu") == look(path, out, npz, "--node", "relu")


def test_wrong_words(folder):
    _, path, npz, _ = residual(folder, samples=8)
    out, _ = quantized(folder, path, npz)
    base = ("look", path, "--result", out, "--data", npz)
    expect_bad(*base, contains=["--node", "--output"], code=2)
    expect_bad(*base, "--node", "rel", contains=["'rel'", "'conv1 + relu' (relu)"], code=2)
    expect_bad(*base, "--output", "cosine", contains=["'cosine'", "cos"], code=2)
    expect_bad(*base, "--node", "relu", "--npz", folder / "a.npz", contains=["--sample"], code=2)
    expect_bad(*base, "--node", "x", contains=["node 'x'", "not an operator"])
    expect_bad(*base, "--node", "relu", "--sample", 8, contains=["no sample 8", "0 to 7"])
    expect_bad(*base, "--node", "relu", "--sample", 0, "--part", 1, contains=["no result 1"])
    expect_bad(*base, "--node", "relu", "--sample", 0, "--npz", folder / "none" / "a.npz", contains=["a.npz"])


main(__name__)
