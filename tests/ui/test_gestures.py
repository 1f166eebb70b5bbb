# SPDX-License-Identifier: GPL-3.0-or-later
"""Random gestures, or commands, in the window on networks of other kinds than the sample: after each, what it shows is the command line's.
A network of attention; with --all a recurrent one, one of functions and one with branches as well."""
import inspect
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy
import torch
from torch import nn

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))

from harness import export_model  # noqa: E402

PROGRAM = sys.argv[1]
FUNCTION = {"tst_ui_gestures": "numbersAreTheCommandLines", "tst_ui_actions": "nothingCrashes"}[pathlib.Path(PROGRAM).name]
SAMPLES = 32  # four batches of eight, or two and two


class Functions(nn.Module):
    """Activations without modules, values that some readers take in float, several outputs, tied weights."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 4)
        self.second.weight = self.first.weight

    def forward(self, x):
        y = nn.functional.gelu(self.first(x))
        left, right = (self.second(y) + x).chunk(2, 1)
        gated = torch.tanh(left) * torch.sigmoid(right)
        return self.third(nn.functional.relu(self.first(y))), {"gated": gated, "sums": gated.sum(1)}


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.rnn, self.head = nn.Linear(4, 8), nn.LSTM(8, 8, batch_first=True), nn.Linear(8, 3)

    def forward(self, x):
        made, (last, _) = self.rnn(self.embed(x))
        return self.head(made[:, -1]), last


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.yes, self.no = nn.Conv2d(2, 4, 3), nn.Linear(16, 6), nn.Linear(16, 6)

    def forward(self, x):
        y = nn.functional.hardswish(self.conv(x)).flatten(1)
        return torch.cond(y.mean() > 0.1, lambda v: self.yes(v).relu(), self.no, (y,))


def networks():
    layer = nn.TransformerEncoderLayer(16, 2, 32, 0.0, "gelu", batch_first=True)
    yield "attention", nn.Sequential(nn.Linear(8, 16), layer, nn.Linear(16, 4)), (5, 8)
    if "--all" in sys.argv:
        yield "recurrent", Recurrent(), (6, 4)
        yield "functions", Functions(), (8,)
        yield "branches", Branches(), (2, 4, 4)


def main():
    failed = []
    with tempfile.TemporaryDirectory() as made:
        for seed, (name, network, shape) in enumerate(networks(), 1):
            torch.manual_seed(seed)
            path = pathlib.Path(made, name)
            (read,) = inspect.signature(network.forward).parameters
            export_model(network, (torch.randn(4, *shape),), f"{path}.pt2")
            for part, spread in ("calib", 1.0), ("test", 1.5):
                numpy.savez(f"{path}.{part}.npz", **{read: (spread * torch.randn(SAMPLES, *shape)).numpy()})
            done = subprocess.run([PROGRAM, FUNCTION], capture_output=True, text=True, timeout=900, check=False,
                                  env={**os.environ, "QS_WALK": str(path), "QS_SEED": str(seed)})
            if done.returncode:
                failed.append(name)
                print(f"{name}:\n{done.stdout[-4000:]}{done.stderr[-2000:]}")
    print(f"{len(failed)} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
