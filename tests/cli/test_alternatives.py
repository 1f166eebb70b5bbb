# SPDX-License-Identifier: Apache-2.0
"""What `quantize --alternatives` tells of other ways to quantize, against values quantized so in PyTorch."""

import torch
from harness import by_name, fake_quantize, main, run_json, sqnr, write_recipe
from models import residual

CALIBRATION = {"batch_size": 8, "batches": 4}


def named(quantization):
    return {one["name"]: one for one in quantization["alternatives"]}


def quantized(folder, path, npz, *words, **keys):
    recipe = write_recipe(folder, backend="x86", calibration=CALIBRATION, **keys)
    return by_name(run_json("quantize", path, "--recipe", recipe, "--data", npz, "--export", "none",
                            "--out", folder / "out", *words))


def test_values_and_weights(folder):
    model, path, npz, data = residual(folder)
    nodes = quantized(folder, path, npz, "--alternatives")
    told = nodes["x"]["output"]
    ways = named(told)
    assert told["alternatives"][0]["current"] and ways["histogram"]["scale"] == told["scale"], told
    assert ways["float"]["sqnr_db"] is None and ways["float"]["scale"] == []
    compared = 0
    for way in told["alternatives"]:
        if way["dtype"] != "quint8":
            continue
        wanted = sqnr(data, fake_quantize(data, way))
        assert abs(wanted - way["sqnr_db"]) < 0.15, (way["name"], wanted, way["sqnr_db"])
        assert not way["exact_error"]
        compared += 1
    assert compared >= 6, list(ways)
    # The weight of the linear layer: from the weight itself.
    told = nodes["linear"]["weight"]
    weight = model.fc.weight.detach()
    for way in told["alternatives"]:
        if way["dtype"] == "qint8":
            wanted = sqnr(weight, fake_quantize(weight, {**way, "axis": 0}))
            assert abs(wanted - way["sqnr_db"]) < 1e-3, (way["name"], wanted, way["sqnr_db"])
            assert way["exact_error"] and way["exact_parameters"]
    assert {"per tensor", "affine", "7 bits", "16 bits", "float"} <= set(named(told)), list(named(told))


def test_exact_parameters_are_what_a_calibration_chooses(folder):
    """Each way that is told as exact, asked for by an edge rule and calibrated: the same parameters, to the bit."""
    _, path, npz, _ = residual(folder)
    ways = named(quantized(folder, path, npz, "--alternatives")["x"]["output"])
    activation = {"dtype": "quint8", "qscheme": "per_tensor_affine", "reduce_range": True}
    weight = {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric"}
    asked = {"histogram, mse": {"observer": "histogram", "range": "mse"},
             "histogram, entropy": {"observer": "histogram", "range": "entropy"},
             "minmax": {"observer": "minmax"}, "moving_average_minmax": {"observer": "moving_average_minmax"}}
    for name, keys in asked.items():
        assert ways[name]["exact_parameters"], name
        nodes = quantized(folder, path, npz, qconfigs={"tried": {"activation": {**activation, **keys}, "weight": weight}},
                          mapping={"global": "x86", "edge": [["x", "conv2d", 0, "tried"]]})
        got = nodes["x"]["output"]
        assert got["rule"]["kind"] == "edge" and got["rule"]["qconfig"] == "tried", got["rule"]
        assert (got["scale"], got["zero_point"]) == (ways[name]["scale"], ways[name]["zero_point"]), (name, got, ways[name])
    assert "alternatives" not in nodes["x"]["output"], "nobody asked for them"


def test_float_values_have_none(folder):
    _, path, npz, _ = residual(folder)
    nodes = quantized(folder, path, npz, "--alternatives", mapping={"global": "x86", "object_type": [["torch.nn.Linear", None]]})
    assert nodes["linear"]["weight"] is None and nodes["linear"]["output"] is None
    assert torch.tensor([node["output"] is None or "alternatives" in node["output"] for node in nodes.values()]).all()


main(__name__)
