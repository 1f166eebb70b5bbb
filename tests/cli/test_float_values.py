# SPDX-License-Identifier: Apache-2.0
"""What `tune` makes float at high goals includes values that cost no multiplication: sums that are moved before a layer reads them."""
import json

import numpy
import torch
from torch import nn

from harness import export_model, main
from tune_searches import best, tuned

BLOCKS = 3
CPU = ("--device", "cpu")


class Stream(nn.Module):
    """Residual sums that are reshaped to rows before norms and sums read them, as in OPT's decoder."""

    def __init__(self):
        super().__init__()
        self.up = nn.ModuleList(nn.Linear(16, 32) for _ in range(BLOCKS))
        self.down = nn.ModuleList(nn.Linear(32, 16) for _ in range(BLOCKS))
        self.norm = nn.ModuleList(nn.LayerNorm(16) for _ in range(BLOCKS))

    def forward(self, x):
        for up, down, norm in zip(self.up, self.down, self.norm):
            rows = x.reshape(-1, 16)
            x = (rows + down(torch.relu(up(norm(rows))))).view(x.shape[0], 6, 16)
        return x


def test_moved_sums_become_float(folder):
    torch.manual_seed(5)
    network, x = Stream().eval(), torch.randn(64, 6, 16)
    export_model(network, (x[:2],), folder / "model.pt2")
    numpy.savez(folder / "data.npz", x=x.numpy())
    search = tuned([folder / "model.pt2", "--data", folder / "data.npz", *CPU], folder / "tuned.json", "--goal", "sqnr 45", "--keep-int8", 100)
    assert search["reached"] and best(search)["int8_macs"] == 1, search["stopped"]
    floats = {cure["at"]["op"] for cure in json.loads((folder / "tuned.json").read_text())["cures"] if cure["cure"] == "float"}
    assert "aten.reshape.default" in floats or "aten.view.default" in floats, floats


if __name__ == "__main__":
    main(__name__)
