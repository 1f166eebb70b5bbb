# SPDX-License-Identifier: Apache-2.0
"""One linear layer of a gigabyte of float weights: a run peaks at no more than three times its size, and its exports are read back."""

import json

import numpy as np
import torch
from torch import nn

from harness import export_model, main, run, run_json

PROGRAM_BYTES = 256 << 20  # of the program itself, and of the values of small batches


def test_a_linear_of_a_gigabyte(folder):
    layer = nn.Linear(16_384, 16_384)
    size = layer.weight.numel() * 4
    export_model(nn.Sequential(layer), (torch.randn(2, 16_384),), folder / "large.pt2")
    np.savez(folder / "large.npz", input=np.random.default_rng(0).normal(size=(16, 16_384)).astype(np.float32))
    del layer
    told = run_json("plan", folder / "large.pt2")["memory"]["peak"]
    done = run("quantize", folder / "large.pt2", "--data", folder / "large.npz", "--device", "cpu", "--export", "torchscript,pt2-reference", "--out", folder / "out", timeout=1800)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr, done.stderr  # both files were read back
    peak = json.loads((folder / "out" / "result.json").read_text())["peak_rss_bytes"]
    print(f"{peak / size:.2f} times the layer; {told / size:.2f} were predicted", flush=True)
    assert peak <= 3 * size + PROGRAM_BYTES, (peak, size)


if __name__ == "__main__":
    main(__name__)
