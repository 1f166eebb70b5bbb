# SPDX-License-Identifier: Apache-2.0
"""Small models and data for the command-line tests, made with fixed seeds."""

import shutil
from pathlib import Path

import numpy as np
import torch
from harness import export_model, kept
from torch import nn


class Residual(nn.Module):
    """Convolutions, a shared-observer pooling, an addition, a linear layer and a float operator."""

    def __init__(self, channels=8, size=8):
        super().__init__()
        self.conv1 = nn.Conv2d(3, channels, 3, padding=1)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.fc = nn.Linear(channels * (size // 2) ** 2, 5)

    def forward(self, x):
        a = self.pool(self.relu(self.conv1(x)))
        return torch.cos(self.fc(torch.flatten(a + self.conv2(a), 1)))


class LogOfInput(nn.Module):
    """NaN at the node `log` for negative inputs."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(torch.log(x))


def residual(folder, samples=32, labels=False, channels=8, size=8):
    """(model, path of its .pt2, path of an .npz with `samples` inputs of size x size, the inputs)."""
    torch.manual_seed(7)
    model = Residual(channels, size)
    path = folder / "residual.pt2"
    data = torch.randn(samples, 3, size, size)
    key = (Path(__file__).read_bytes(), torch.__version__, samples, channels, size)
    shutil.copyfile(kept(path.name, key, lambda made: export_model(model, (data[:2],), made)), path)
    arrays = {"x": data.numpy()}
    if labels:
        arrays["labels"] = model(data).argmax(1).numpy().astype(np.int64)
    npz = folder / "data.npz"
    np.savez(npz, **arrays)
    return model, path, npz, data
