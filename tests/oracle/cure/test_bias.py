# SPDX-License-Identifier: Apache-2.0
"""The cure `bias` against torch.ao's bias correction (`torch.ao.quantization._correct_bias`): from the same weights of four bits and the same data, the
outputs lose no more than 2 % more.

    python test_bias.py
"""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy
import torch
from torch import nn
from torch.ao.quantization import DeQuantStub, QConfig, QuantStub, _correct_bias, convert, fuse_modules, prepare
from torch.ao.quantization.observer import HistogramObserver, PerChannelMinMaxObserver

MOST = 1.02  # of torch.ao's noise
PROGRAM = os.environ["QUANTSCOPE"]
WEIGHT = {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric", "quant_min": -8, "quant_max": 7}
RECIPE = {"format": "quantscope.recipe", "version": 1, "backend": "x86", "mapping": {"global": "w4"},
          "qconfigs": {"w4": {"activation": {"observer": "histogram", "reduce_range": True}, "weight": WEIGHT}}}


class Network(nn.Module):
    """Layers whose rounding moves the means; the stubs are torch.ao's eager mode's."""

    def __init__(self, width=16):
        super().__init__()
        self.quant, self.dequant = QuantStub(), DeQuantStub()
        self.one, self.relu = nn.Conv2d(3, width, 3), nn.ReLU()
        self.two, self.relu2 = nn.Conv2d(width, width, 3, groups=4), nn.ReLU()
        self.head = nn.Linear(width * 16, 10)

    def forward(self, x):
        x = self.relu2(self.two(self.relu(self.one(self.quant(x)))))
        return self.dequant(self.head(torch.flatten(x, 1)))


def noise(wanted, got):
    return float((wanted - got).square().sum() / wanted.square().sum())


def corrected_by_torch(network, data):
    """(noise before, noise after) of the model that eager mode converts and `_correct_bias` corrects."""
    network = fuse_modules(copy.deepcopy(network), [["one", "relu"], ["two", "relu2"]])
    network.qconfig = QConfig(
        activation=HistogramObserver.with_args(reduce_range=True),
        weight=PerChannelMinMaxObserver.with_args(dtype=torch.qint8, qscheme=torch.per_channel_symmetric, quant_min=-8, quant_max=7))
    prepared = prepare(network)
    for batch in data.split(8):
        prepared(batch)
    quantized = convert(prepared)
    with torch.no_grad():
        wanted, before = network(data), quantized(data)
        _correct_bias.bias_correction(network, quantized, [(data, None)])
        return noise(wanted, before), noise(wanted, quantized(data))


def corrected_by_us(network, data, folder):
    torch.export.save(torch.export.export(network, (data[:2],), dynamic_shapes=({0: torch.export.Dim("batch", min=1, max=1024)},), strict=True),
                      folder / "model.pt2")
    numpy.savez(folder / "data.npz", x=data.numpy())
    (folder / "start.json").write_text(json.dumps(RECIPE))
    words = [PROGRAM, "tune", folder / "model.pt2", "--data", folder / "data.npz", "--compare-on", folder / "data.npz", "--recipe", folder / "start.json",
             "--allow", "bias", "--goal", "sqnr 70", "--samples", 4 * len(data), "--no-guard", "--device", "cpu", "--out", folder / "tuned.json", "--json"]
    told = json.loads(subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False).stdout)

    def measured(recipe):
        out = folder / "out"
        subprocess.run([PROGRAM, "quantize", folder / "model.pt2", "--data", folder / "data.npz", "--recipe", recipe, "--device", "cpu", "--strict",
                        "--export", "none", "--out", out], check=True, capture_output=True)
        return 10 ** (-json.loads((out / "result.json").read_text())["outputs"][0]["lowered"]["sqnr_db"] / 10)

    assert [cure["cure"] for cure in told["cures"]] == ["bias"], told["cures"]
    return measured(folder / "start.json"), measured(folder / "tuned.json")


def main():
    warnings.filterwarnings("ignore")
    failed = 0
    for seed in range(4):
        torch.manual_seed(seed)
        network = Network().eval()
        data = torch.rand(64, 3, 8, 8)
        theirs = corrected_by_torch(network, data)
        with tempfile.TemporaryDirectory() as folder:
            ours = corrected_by_us(network, data, pathlib.Path(folder))
        good = ours[1] <= MOST * theirs[1] and ours[1] < ours[0]
        failed += not good
        print(f"{'ok  ' if good else 'FAIL'} network {seed}: torch.ao {theirs[0]:.5f} to {theirs[1]:.5f}, ours {ours[0]:.5f} to {ours[1]:.5f}")
    print(f"bias: 4 networks, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
