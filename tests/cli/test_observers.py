# SPDX-License-Identifier: Apache-2.0
"""What each observer and each choice of range makes of known data, through the whole job."""

import json

import numpy as np
import torch
from harness import by_name, expect_bad, export_model, main, run, run_good, sqnr, write_recipe
from torch import nn

WEIGHT = {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric", "ch_axis": 0}
BATCHES, BATCH = 4, 64


def activation(observer, **keys):
    return {"observer": observer, "dtype": "quint8", "qscheme": "per_tensor_affine", **keys}


def data(seed=5):
    """Normal values, one of a thousand forty times as far; the last channel is ten times as wide."""
    x = np.random.default_rng(seed).normal(size=(BATCHES * BATCH, 3, 8, 8)).astype(np.float32)
    x.reshape(-1)[::1000] *= 40
    x[:, 2] *= 10
    return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, x):
        return self.conv(x)


def quantize(folder, observer, x, export="none"):
    """The result document, the result's folder, the model."""
    torch.manual_seed(2)
    model = Net()
    path = folder / "net.pt2"
    export_model(model, (torch.randn(2, 3, 8, 8),), path)
    np.savez(folder / "data.npz", x=x)
    recipe = write_recipe(folder, backend="x86", qconfigs={"mine": {"activation": observer, "weight": WEIGHT}}, mapping={"global": "mine"},
                          calibration={"batch_size": BATCH, "batches": BATCHES})
    out = folder / f"out{len(list(folder.glob('out*')))}"
    run_good("quantize", path, "--recipe", recipe, "--data", folder / "data.npz", "--device", "cpu", "--export", export, "--out", out)
    return json.loads((out / "result.json").read_text()), out, model


def input_quantization(folder, observer, x):
    return by_name(quantize(folder, observer, x)[0])["x"]["output"]


def reach(entry):
    """The ends of the quantized range."""
    scale, zero = entry["scale"][0], entry["zero_point"][0]
    return scale * (entry["quant_min"] - zero), scale * (entry["quant_max"] - zero)


def close(got, wanted, slack):
    assert all(abs(a - b) <= slack for a, b in zip(got, wanted)), (got, wanted, slack)


def test_ranges_of_a_histogram(folder):
    x = data()
    low, high = float(x.min()), float(x.max())
    step = (high - low) / 255
    close(reach(input_quantization(folder, activation("histogram", range="minmax"), x)), (low, high), step)
    for percent in (99.0, 99.9):
        wanted = np.percentile(x, [(100 - percent) / 2, (100 + percent) / 2])
        got = reach(input_quantization(folder, activation("histogram", range="percentile", percentile=percent), x))
        close(got, wanted, 0.5 * (wanted[1] - wanted[0]) / 255 + (high - low) / 2048)

    def squared(entry):
        scale, zero = entry["scale"][0], entry["zero_point"][0]
        q = np.clip(np.rint(x / scale) + zero, entry["quant_min"], entry["quant_max"])
        return float(np.mean(((q - zero) * scale - x) ** 2))

    errors = {name: squared(input_quantization(folder, activation("histogram", range=name), x)) for name in ("minmax", "search", "mse", "entropy")}
    assert errors["mse"] <= 1.02 * min(errors.values()), errors
    assert reach(input_quantization(folder, activation("histogram", range="entropy"), x))[1] < 0.5 * high


def test_moving_averages(folder):
    x = data()
    batches = x.reshape(BATCHES, BATCH, 3, 8, 8)
    low, high = np.float32(batches[0].min()), np.float32(batches[0].max())
    for batch in batches[1:]:
        low = np.float32(low + np.float32(0.25) * np.float32(batch.min() - low))
        high = np.float32(high + np.float32(0.25) * np.float32(batch.max() - high))
    entry = input_quantization(folder, activation("moving_average_minmax", averaging_constant=0.25), x)
    assert (entry["min"], entry["max"]) == ([float(low)], [float(high)]), (entry, low, high)


def test_activations_per_channel(folder):
    x = data()
    for observer in ("per_channel_minmax", "moving_average_per_channel_minmax"):
        keys = {"averaging_constant": 1.0} if observer.startswith("moving") else {}
        seen = x if observer == "per_channel_minmax" else x[-BATCH:]
        spec = {"observer": observer, "dtype": "quint8", "qscheme": "per_channel_affine", "ch_axis": 1, **keys}
        result, out, model = quantize(folder, spec, x, export="pt2-reference")
        entry = by_name(result)["x"]["output"]
        low, high = np.minimum(seen.min((0, 2, 3)), 0), np.maximum(seen.max((0, 2, 3)), 0)
        assert np.allclose(entry["scale"], (high - low) / 255, rtol=1e-6), (entry["scale"], (high - low) / 255)
        assert entry["scale"][2] > 3 * entry["scale"][0], "channels have ranges of their own"
        # The exported file computes what was told.
        import torch.ao.quantization.fx._decomposed  # noqa: F401
        loaded = torch.export.load(out / "model.reference.pt2").module()
        wanted, got = model(torch.from_numpy(x)).double(), loaded(torch.from_numpy(x)).double()
        measured = sqnr(wanted, got)
        assert abs(measured - result["outputs"][0]["cumulative"]["sqnr_db"]) < 0.1, (measured, result["outputs"])


def test_values_that_fixed_parameters_cut_off(folder):
    """A sigmoid gives its fixed 0 to 1 to a float layer before it, as in torch.ao: told where values lie outside."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 8), nn.Sigmoid(), nn.Linear(8, 4))
    x = torch.randn(64, 8) * 3
    export_model(model, (x[:8],), folder / "gate.pt2")
    np.savez(folder / "x.npz", x=x.numpy())
    for rules, told in (([["0", None]], 1), ([], 0)):
        recipe = write_recipe(folder, mapping={"global": "x86", "module_name": rules})
        done = run("quantize", folder / "gate.pt2", "--recipe", recipe, "--data", folder / "x.npz", "--device", "cpu", "--out", folder / f"gate{told}")
        assert done.returncode == 0, done.stderr
        lines = [line for line in done.stderr.splitlines() if "fixed parameters hold 0 to 0.99609375" in line]
        assert len(lines) == told and all("'0 · linear' (linear)" in line for line in lines), done.stderr


def test_ranges_that_make_no_sense(folder):
    path = folder / "net.pt2"
    export_model(Net(), (torch.randn(2, 3, 8, 8),), path)
    for keys, words in (({"range": "percentil"}, ["percentile"]), ({"percentile": 99}, ["range"]), ({"range": "percentile", "percentile": 0}, ["percentile"])):
        recipe = write_recipe(folder, qconfigs={"mine": {"activation": activation("histogram", **keys), "weight": WEIGHT}}, mapping={"global": "mine"})
        expect_bad("plan", path, "--recipe", recipe, contains=["qconfigs.mine.activation", *words])
    recipe = write_recipe(folder, qconfigs={"mine": {"activation": activation("minmax", range="mse"), "weight": WEIGHT}}, mapping={"global": "mine"})
    expect_bad("plan", path, "--recipe", recipe, contains=["range"])


main(__name__)
