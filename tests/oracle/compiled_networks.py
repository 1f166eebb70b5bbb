# SPDX-License-Identifier: Apache-2.0
"""Small networks, one for each thing that a compiler's int8 patterns ask for, and torchao's PT2E conversion of them."""
import copy
import json
import pathlib

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import models


class Residual(nn.Module):
    """A sum of two convolutions, with or without a ReLU behind it, whose result two operators read."""

    def __init__(self, relu):
        super().__init__()
        self.a, self.b, self.c = (nn.Conv2d(8, 8, 3, padding=1) for _ in range(3))
        self.relu = relu

    def forward(self, x):
        y = self.a(x) + self.b(x)
        y = F.relu(y) if self.relu else y
        return self.c(y) + y


class Joined(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Conv2d(8, 8, 1), nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(16, 4, 1)

    def forward(self, x):
        return self.c(F.max_pool2d(torch.cat([F.relu(self.a(x)), F.relu(self.b(x))], 1), 2))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.fc = nn.Conv2d(8, 16, 3, stride=2), nn.Linear(16 * 4, 10)

    def forward(self, x):
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(F.relu(self.conv(x)), 2), 1))


class Block(nn.Module):
    """An encoder block with its attention written out."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (layer(x).view(batch, length, self.heads, -1).transpose(1, 2) for layer in (self.q, self.k, self.v))
        weights = torch.softmax(q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5, -1)
        x = self.first(x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width)))
        return self.second(x + self.down(F.gelu(self.up(x))))


def image(*layers):
    return nn.Sequential(*layers), (8, 12, 12)


def vector(*layers):
    return nn.Sequential(*layers), (32,)


NETWORKS = {
    "conv_bn_relu": lambda: image(nn.Conv2d(8, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 4, 1)),
    "conv_relu6": lambda: image(nn.Conv2d(8, 16, 1), nn.ReLU6(), nn.Conv2d(16, 16, 3, groups=16), nn.ReLU6(), nn.Conv2d(16, 8, 1)),
    "conv_hardtanh": lambda: image(nn.Conv2d(8, 8, 3), nn.Hardtanh(), nn.Conv2d(8, 8, 1)),
    "conv_hardswish": lambda: image(nn.Conv2d(8, 8, 3), nn.Hardswish(), nn.Conv2d(8, 8, 1)),
    "residual_relu": lambda: (Residual(True), (8, 12, 12)),
    "residual": lambda: (Residual(False), (8, 12, 12)),
    "cat_pool": lambda: (Joined(), (8, 12, 12)),
    "flatten_linear": lambda: (Classifier(), (8, 12, 12)),
    "mlp_relu": lambda: vector(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 16)),
    "mlp_gelu": lambda: vector(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 16)),
    "linear_without_bias": lambda: vector(nn.Linear(32, 64, bias=False), nn.ReLU(), nn.Linear(64, 16, bias=False)),
    "sequence_linear": lambda: (nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 16)), (6, 32)),
    "encoder_block": lambda: (Block(), (6, 32)),
}
LARGE = ("digits", "resnet18", "mobilenet_v2")


def case_of(name):
    """A case of models.py: the network with data like its input."""
    if name in LARGE:
        return models.CASES[name]()
    torch.manual_seed(len(name))
    model, shape = NETWORKS[name]()
    data = np.random.default_rng(4).standard_normal((32, *shape)).astype(np.float32)
    return models.Case(name, models.warmed(model, data), data[:24], data[24:])


def example_of(case):
    return torch.from_numpy(case.calib[:8].copy())


def converted_by_torchao(case, quantizer, path):
    """Writes what `prepare_pt2e` and `convert_pt2e` make of the network, calibrated, as a .pt2."""
    from torchao.quantization.pt2e import move_exported_model_to_eval
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    example = (example_of(case),)
    prepared = prepare_pt2e(torch.export.export(copy.deepcopy(case.model), example, strict=True).module(), quantizer)
    with torch.no_grad():
        for start in range(0, len(case.calib) - 7, 8):
            prepared(torch.from_numpy(case.calib[start:start + 8].copy()))
    converted = convert_pt2e(prepared)
    move_exported_model_to_eval(converted)
    torch.export.save(torch.export.export(converted, example), path)
    return path


def converted_by_us(case, folder, quantscope, recipe):
    """model.pt2 of `quantize` with the recipe's keys, at the batch size of the example."""
    folder = pathlib.Path(folder)
    example = example_of(case)
    model = folder / "static.pt2"
    torch.export.save(torch.export.export(case.model, (example,)), model)
    name = torch.export.load(model).graph_signature.user_inputs[0]
    np.savez(folder / "calib.npz", **{name: case.calib[:len(case.calib) // 8 * 8]})
    (folder / "recipe.json").write_text(json.dumps({"format": "quantscope.recipe", "version": 1, **recipe}))
    code, _, error = quantscope("quantize", model, "--recipe", folder / "recipe.json", "--data", folder / "calib.npz", "--device", "cpu",
                                "--export", "pt2", "--out", folder / "out")
    if code != 0:
        raise RuntimeError(error)
    return folder / "out" / "model.int8.pt2"
