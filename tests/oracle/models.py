# SPDX-License-Identifier: Apache-2.0
"""The networks on which Quantscope and torch.ao must agree: seeded, so that both sides see the same weights and data."""
import dataclasses
import os
import pathlib
import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

ROOT = pathlib.Path(os.environ.get("QUANTSCOPE_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
SAMPLES = ROOT / "resources" / "samples"


@dataclasses.dataclass
class Case:
    """A network in eval mode with the data to calibrate and to judge it by."""

    name: str
    model: nn.Module
    calib: np.ndarray  # [samples, ...]
    test: np.ndarray
    labels: np.ndarray | None = None  # of `test`
    pt2: pathlib.Path | None = None  # where the file is given rather than exported here


class Tutorial(nn.Module):
    """The network of PyTorch's BackendConfig tutorial, as the requirements describe it."""

    def __init__(self, use_bn):
        super().__init__()
        self.linear = nn.Linear(10, 3)
        self.conv = nn.Conv2d(3, 3, 3)
        self.bn = nn.BatchNorm2d(3) if use_bn else None
        self.relu = nn.ReLU()
        self.sigmoid = nn.Sigmoid()

    def forward(self, x):
        x = self.conv(self.linear(x))
        if self.bn is not None:
            x = self.bn(x)
        return self.sigmoid(self.relu(x))


class Branch(nn.Module):
    """A branch whose activation is a function rather than a module."""

    def __init__(self, channels_in, channels_out, kernel):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, kernel, padding=kernel // 2)
        self.bn = nn.BatchNorm2d(channels_out)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)))


class Mixed(nn.Module):
    """Branches joined by cat, average and max pooling, functional and in-place operators, a ReLU module called twice, an
    add without and one with ReLU, a value read by two operators."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 12, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(12), nn.ReLU6())
        self.left = Branch(12, 8, 1)
        self.right = Branch(12, 16, 3)
        self.pool = nn.AvgPool2d(2)
        self.first = nn.Conv2d(24, 24, 3, padding=1, groups=24)
        self.second = nn.Conv2d(24, 24, 3, padding=1, groups=24)
        self.shrink = nn.Conv2d(24, 12, 1)
        self.act = nn.ReLU(inplace=True)
        self.hidden = nn.Linear(12 * 4, 20)
        self.head = nn.Linear(20, 7)

    def forward(self, x):
        x = self.stem(x)
        y = self.pool(torch.cat([self.left(x), self.right(x)], dim=1))
        y = self.act(self.first(y) + y)
        y = self.second(y) + y
        y = F.max_pool2d(self.act(self.shrink(y)), 2)
        y = F.adaptive_avg_pool2d(y, (2, 2))
        y = torch.flatten(y, 1)
        y = F.dropout(F.relu(self.hidden(y)), training=self.training)
        return self.head(y) * torch.sigmoid(y.mean(dim=1, keepdim=True))


def warmed(model, data):
    """The model in eval mode, its batch norms having seen data: fresh ones would be the identity."""
    generator = torch.Generator().manual_seed(1)
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d) and module.affine:
            with torch.no_grad():
                module.weight.uniform_(0.5, 1.5, generator=generator)
                module.bias.uniform_(-0.3, 0.3, generator=generator)
    model.train()
    for dropout in (m for m in model.modules() if isinstance(m, nn.Dropout)):
        dropout.eval()
    with torch.no_grad():
        for start in range(0, len(data), 8):
            model(torch.from_numpy(data[start:start + 8]))
    return model.eval()


def images(count, shape, seed):
    """Smooth-ish noise: low frequencies beside high ones, so that pooling leaves something."""
    rng = np.random.default_rng(seed)
    coarse = rng.standard_normal((count, shape[0], max(shape[1] // 8, 1), max(shape[2] // 8, 1)))
    tiled = np.kron(coarse, np.ones((1, 1, 8, 8)))[:, :, :shape[1], :shape[2]]
    if tiled.shape[1:] != shape:
        tiled = np.zeros((count, *shape))
    return (tiled + 0.5 * rng.standard_normal((count, *shape))).astype(np.float32)


def tutorial(use_bn):
    torch.manual_seed(3)
    data = images(48, (3, 10, 10), 3)
    model = warmed(Tutorial(use_bn), data[:32])
    return Case("tutorial_bn" if use_bn else "tutorial", model, data[:32], data[32:])


def digits():
    """The shipped sample: its class from the training script, its weights from the shipped file."""
    sys.path.insert(0, str(SAMPLES))
    import train_digits

    model = train_digits.DigitsNet()
    model.load_state_dict(torch.export.load(SAMPLES / "digits.pt2").state_dict)
    test = np.load(SAMPLES / "test.npz")
    calib = np.load(SAMPLES / "calib.npz")["image"]
    return Case("digits", model.eval(), calib, test["image"], test["labels"], SAMPLES / "digits.pt2")


def from_torchvision(name, calls):
    import torchvision

    torch.manual_seed(5)
    data = images(8 * calls + 8, (3, 64, 64), 5)
    model = warmed(getattr(torchvision.models, name)(weights=None), data[:16])
    return Case(name, model, data[:8 * calls], data[8 * calls:])


def from_family(name):
    """A network of families.py with data like its example."""
    import families

    model, example = families.make(name)
    generator = torch.Generator().manual_seed(9)
    data = torch.randn(24, *example.shape[1:], generator=generator).numpy()
    return Case(name, model, data[:16], data[16:])


def mixed():
    torch.manual_seed(7)
    data = images(48, (3, 32, 32), 7)
    model = warmed(Mixed(), data[:32])
    return Case("mixed", model, data[:32], data[32:])


CASES = {
    "tutorial": lambda: tutorial(False),
    "tutorial_bn": lambda: tutorial(True),
    "digits": digits,
    "resnet18": lambda: from_torchvision("resnet18", 3),
    "mobilenet_v2": lambda: from_torchvision("mobilenet_v2", 3),
    "mixed": mixed,
}


def write(case, folder):
    """Writes the case as Quantscope reads it; returns (model, calibration data, test data) paths."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    pt2 = case.pt2
    if pt2 is None:
        pt2 = folder / f"{case.name}.pt2"
        example = torch.from_numpy(case.calib[:8].copy())
        program = torch.export.export(case.model, (example,), dynamic_shapes=({0: torch.export.Dim("batch")},))
        torch.export.save(program, pt2)
    name = torch.export.load(pt2).graph_signature.user_inputs[0]
    calib, test = folder / "calib.npz", folder / "test.npz"
    np.savez(calib, **{name: case.calib})
    np.savez(test, **{name: case.test}, **({} if case.labels is None else {"labels": case.labels}))
    return pt2, calib, test
