# SPDX-License-Identifier: Apache-2.0
"""What a recipe or the data cannot do is told before time is spent on it, in one line that names file, node and cause."""

import json

import numpy as np
import torch
from harness import by_name, export_model, expect_bad, main, run, run_good, run_json, write_recipe
from models import residual
from torch import nn

ACTIVATION = {"observer": "minmax", "dtype": "quint8", "qscheme": "per_tensor_affine"}
WEIGHT = {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric"}


class Tagger(nn.Module):
    """Words, a recurrent network, a layer."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 6)
        self.cells = nn.LSTM(6, 5, batch_first=True)
        self.tags = nn.Linear(5, 3)

    def forward(self, ids):
        return self.tags(self.cells(self.words(ids))[0])


class Smoothed(nn.Module):
    """Keeps a mean of what it has seen in a buffer."""

    def __init__(self):
        super().__init__()
        self.layer, self.head = nn.Linear(6, 6), nn.Linear(6, 2)
        self.register_buffer("mean", torch.zeros(6))

    def forward(self, x):
        y = self.layer(x).relu()
        self.mean.mul_(0.5).add_(y.mean(0) * 0.5)
        return self.head(y - self.mean)


def test_kernels_and_files_that_are_not_there(folder):
    _, model, npz, _ = residual(folder)
    lowering = {"lowering": {"add": [{"pattern": ["torch.nn.Conv2d"], "to": "quantized::nope"}]}}
    recipe = write_recipe(folder, convert=lowering)
    for words in (("plan", model), ("quantize", model, "--data", npz, "--out", folder / "out")):
        expect_bad(*words, "--recipe", recipe, contains=["recipe.json: convert.lowering.add", "quantized::nope"], out=folder / "out")
    recipe.write_bytes(b"\xff\xfe{}")
    expect_bad("plan", model, "--recipe", recipe, contains=["recipe.json", "not JSON"])


def test_channels_that_a_weight_lacks(folder):
    _, model, npz, _ = residual(folder)
    far = {"activation": ACTIVATION, "weight": {**WEIGHT, "ch_axis": 2}}
    recipe = write_recipe(folder, qconfigs={"far": far}, mapping={"global": "far"})
    nodes = by_name(run_json("plan", model, "--recipe", recipe))
    assert nodes["conv2d"]["quantized"], "a convolution has a third dimension"
    assert not nodes["linear"]["quantized"], "a linear layer has none"
    assert "ch_axis 2" in nodes["linear"]["reason"] and "2 dimensions" in nodes["linear"]["reason"], nodes["linear"]["reason"]
    run_good("quantize", model, "--recipe", recipe, "--data", npz, "--out", folder / "out")


def test_observers_that_choose_nothing_inside_an_lstm(folder):
    torch.manual_seed(3)
    model, ids = folder / "tagger.pt2", torch.randint(0, 20, (16, 7))
    export_model(Tagger(), (ids[:2],), model)
    np.savez(folder / "ids.npz", ids=ids.numpy())
    for observer in ({"observer": "recording"}, {"observer": "reuse_input"}, {"observer": "placeholder", "dtype": "quint8"},
                     {**ACTIVATION, "observer": "per_channel_minmax", "qscheme": "per_channel_affine"}):
        silent = {"activation": observer, "weight": {**WEIGHT, "observer": "minmax", "qscheme": "per_tensor_symmetric"}}
        recipe = write_recipe(folder, qconfigs={"silent": silent},
                              mapping={"global": "x86", "object_type": [["torch.nn.LSTM", "silent"]]})
        lstm = by_name(run_json("plan", model, "--recipe", recipe))["lstm"]
        assert not lstm["quantized"] and "silent" in lstm["reason"], (observer, lstm["reason"])
        run_good("quantize", model, "--recipe", recipe, "--data", folder / "ids.npz", "--out", folder / "out")


def test_an_error_in_a_node_names_the_model(folder):
    torch.manual_seed(3)
    model = folder / "tagger.pt2"
    export_model(Tagger(), (torch.randint(0, 20, (2, 7)),), model)
    np.savez(folder / "ids.npz", ids=np.full((16, 7), 99))
    expect_bad("quantize", model, "--data", folder / "ids.npz", "--device", "cpu", "--out", folder / "out",
               contains=["tagger.pt2: node 'words · embedding' (embedding)"], out=folder / "out")


def test_a_range_from_a_saved_state_alone(folder):
    torch.manual_seed(4)
    model = folder / "smoothed.pt2"
    export_model(Smoothed(), (torch.randn(4, 6),), model)
    np.savez(folder / "x.npz", x=np.random.default_rng(0).standard_normal((64, 6)).astype(np.float32))
    scales = {}
    for sequence in (False, True):
        recipe = write_recipe(folder, calibration={"batch_size": 8, "sequence": sequence})
        done = run("quantize", model, "--recipe", recipe, "--data", folder / "x.npz", "--out", folder / "out")
        assert done.returncode == 0, done.stderr
        told = [line for line in done.stderr.splitlines() if "saved value alone" in line]
        assert len(told) == (0 if sequence else 1) and all("'mean' (b_mean)" in line for line in told), done.stderr
        nodes = by_name(json.loads((folder / "out" / "result.json").read_text()))
        scales[sequence] = nodes["b_mean"]["output"]["scale"][0]
    assert scales[True] > 1000 * scales[False], scales


main(__name__)
