# SPDX-License-Identifier: Apache-2.0
"""Writes the TorchScript models the tests open into a folder: NAME.traced.pt or NAME.scripted.pt and an .npz of the
same name beside it, with the inputs (in0, in1, ...) and the outputs that torch.jit.load computes for them (out0,
out1, ...), both flat. `slow` makes the large ones of torchvision, without it the small ones.

    python make_script_models.py FOLDER [slow]

NAME.shipped.pt are files that pip packages ship, where pip can have them.
"""
import os
import sys
from collections import OrderedDict
from typing import Dict, List, NamedTuple, Optional, Tuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from shipped_models import save_answers, write_shipped

MODELS = {}


def model(*ways):
    """Registers a function that returns (module, example args, args to run)."""

    def register(function):
        MODELS[function.__name__] = (function, ways)
        return function

    return register


def seeded(*shape, seed=3):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        y = self.relu(self.bn(self.conv(x)))
        y += x
        return self.relu(y)


class Convnet(nn.Module):
    """Convolutions of every kind, a block called twice, in-place operators, flatten with sizes."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.block = Block(8)
        self.stages = nn.Sequential(OrderedDict(deep=Block(8), wide=Block(8)))
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.same = nn.Conv2d(4, 4, 3, padding="same", groups=2)
        self.pool = nn.AdaptiveAvgPool2d(2)
        self.drop = nn.Dropout(0.3)
        self.fc = nn.Linear(16, 5)

    def forward(self, x):
        y = F.relu(self.stem(x))
        y = self.block(self.block(y))
        y = F.hardswish(self.same(self.up(self.stages(y))))
        y = self.pool(y)
        return self.fc(self.drop(y.view(y.size(0), -1)))


@model("trace", "script")
def convnet():
    return Convnet(), (seeded(2, 3, 16, 16),), (seeded(3, 3, 16, 16, seed=4),)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 8, num_layers=2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(16, 5)
        self.fc = nn.Linear(5, 3)

    def forward(self, x):
        y, (h, c) = self.lstm(x)
        z, last = self.gru(y.transpose(0, 1))
        return self.fc(z), h, c, last


@model("trace", "script")
def recurrent():
    return Recurrent(), (seeded(2, 5, 6),), (seeded(3, 7, 6, seed=4),)


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTMCell(4, 6)
        self.gru = nn.GRUCell(6, 4)

    def forward(self, x, h, c):
        for i in range(3):
            h, c = self.lstm(x, (h, c))
            x = self.gru(h, x)
        return x, h, c


@model("trace", "script")
def cells():
    args = (seeded(2, 4), seeded(2, 6, seed=4), seeded(2, 6, seed=5))
    return Cells(), args, args


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, dropout=0.1)
        self.embed = nn.Embedding(20, 16)

    def forward(self, tokens):
        return self.layer(self.embed(tokens)).mean(1)


@model("trace", "script")
def attention():
    return Attention(), (torch.tensor([[1, 2, 3], [4, 5, 19]]),), (torch.tensor([[7, 8, 3], [0, 5, 2]]),)


class Answer(NamedTuple):
    value: Tensor
    where: Tensor


class Structures(nn.Module):
    """Tuples, lists, dicts and optionals in, through and out."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.heads = nn.ModuleDict({"a": nn.Linear(4, 2), "b": nn.Linear(4, 3)})
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4)])

    def helper(self, x, scale: Optional[Tensor] = None, times: int = 2):
        if scale is not None:
            x = x * scale
        return x * times

    def forward(self, pair: Tuple[Tensor, Tensor], named: Dict[str, Tensor], bias: Optional[Tensor] = None):
        a, b = pair
        y = self.fc(a) + named["x"]
        if bias is not None:
            y = y + bias
        for layer in self.layers:
            y = layer(y)
        outs: Dict[str, Tensor] = {}
        for name, head in self.heads.items():
            outs[name] = head(y)
        parts: List[Tensor] = []
        for i in range(3):
            parts.append(self.helper(y, None if i == 1 else b, i))
        parts[0] = parts[0] + 1
        top = y.max(dim=1)
        joined = torch.cat(parts[1:], 1)
        first, rest = joined.chunk(2, 1)
        return Answer(top[0], top[1]), outs, [first, rest, torch.stack([p.sum(1) for p in parts])]


@model("script")
def structures():
    args = ((seeded(2, 4), seeded(2, 4, seed=4)), {"x": seeded(2, 4, seed=5)})
    return Structures(), args, args


class Views(nn.Module):
    """Mutation through views, slice assignments, indexing with tensors and masks."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("table", torch.arange(12.0).view(3, 4))

    def forward(self, x):
        y = self.fc(x)
        first = y[:, :2]
        y.add_(1)
        first.mul_(3)
        z = torch.zeros(3, 4)
        z[0] = first[0].sum()
        rows = self.table.clone()
        rows[1:, ::2] += 5
        y[y > 1] = 0.5
        z.masked_fill_(z > 1, 0.25)
        return y, z + 1, first, rows, x[torch.tensor([1, 0])], y.to(torch.float64)


@model("trace", "script")
def views():
    return Views(), (seeded(2, 4),), (seeded(2, 4, seed=5),)


class Branches(nn.Module):
    """Branches and loops that data decide, with what they change around them."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.other = nn.Linear(4, 4)
        self.limit = 3

    def early(self, x):
        if x.sum() > 100:
            return x
        y = self.fc(x)
        if y.max() > 0:
            return y + 1
        return y - 1

    def forward(self, x):
        y = self.fc(x)
        if bool(y.sum() > 0):
            y = torch.relu(y)
            extra = y.sum()
        elif x.size(0) > 5:
            extra = x.sum()
        else:
            y = self.other(y)
            extra = y.mean()
        outs: List[Tensor] = []
        count = 0
        for i in range(x.size(0)):
            outs.append(self.other(x[i]))
            if i >= self.limit:
                break
            if i == 1:
                continue
            count += i
        while y.abs().max() > 0.1:
            y = y * 0.5
            count += 1
        z = torch.zeros(4)
        for i in range(x.size(0)):
            z += x[i]
            if bool(z[0] > 0):
                z[1] = 7.0
        return y, extra, torch.stack(outs), count, z, self.early(x), len(outs)


@model("script")
def branches():
    return Branches(), (seeded(3, 4),), (seeded(6, 4, seed=9),)


class State(nn.Module):
    """Attributes and buffers that a call changes; every call here starts from the saved state."""

    history: List[Tensor]

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("seen", torch.zeros(1))
        self.register_buffer("memory", torch.zeros(2, 4))
        self.calls = 0
        self.history = []

    def forward(self, x):
        self.calls += 1
        self.seen += 1
        self.history.append(x)
        if bool(x.sum() > -1e9):
            self.memory = self.memory + self.fc(x)
            self.calls += 1
        self.memory = self.memory * self.seen
        return self.memory, self.calls, self.seen, torch.stack(self.history).sum(0)


@model("script")
def state():
    return State(), (seeded(2, 4),), (seeded(2, 4, seed=5),)


@torch.jit.script
def gated(x, limit: float):
    if bool(x.max() > limit):
        return x.clamp(max=limit)
    return x + 1


class Halving(nn.Module):
    def forward(self, x):
        y = x + 1
        while bool(y.abs().max() > 0.1):
            y = y * 0.5
        return y, x.sum()


class CallsScript(nn.Module):
    """A traced module that calls a scripted function and a scripted module."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.inner = torch.jit.script(Halving().eval())

    def forward(self, x):
        y = gated(self.fc(x), 0.5)
        z = self.inner(y)
        return y, z[0], z[1]


@model("trace")
def calls_script():
    return CallsScript(), (seeded(3, 4),), (seeded(5, 4, seed=9),)


class Sizes(nn.Module):
    """Arithmetic on sizes, strings, slices of lists, comprehensions, enumerate and zip."""

    def __init__(self):
        super().__init__()
        self.mode = "wide"
        self.widths = [1, 2, 3]
        self.convs = nn.ModuleList([nn.Conv2d(3, w, 1) for w in (1, 2, 3)])

    def forward(self, x):
        n, c, h, w = x.shape
        y = x.reshape(n, c * h, w)
        if self.mode == "wide" and x.dim() == 4:
            y = y.transpose(1, 2)
        scaled = torch.zeros(n, h // 2 + 1) + float(h) / w
        total = 0
        for i, conv in enumerate(self.convs):
            y = y + conv(x).sum() * (i + self.widths[i])
            total += conv(x).shape[1]
        sizes = [s for s in x.shape[2:]]
        for a, b in zip(self.widths, sizes):
            total += a * b
        assert x.size(1) == 3, "three channels"
        return y, scaled, total, F.interpolate(x, size=(sizes[0] * 2, sizes[1]), mode="nearest"), x.new_ones(n, max(h, w))


@model("script", "trace")
def sizes():
    return Sizes(), (seeded(2, 3, 4, 6),), (seeded(2, 3, 4, 6, seed=5),)


def from_torchvision(name, size):
    import torchvision

    torch.manual_seed(0)
    if name.startswith("deeplab"):
        net = torchvision.models.segmentation.deeplabv3_mobilenet_v3_large(weights=None, weights_backbone=None)
    else:
        options = {"init_weights": False} if name == "googlenet" else {}
        net = getattr(torchvision.models, name)(weights=None, **options)
    return net, (seeded(2, 3, size, size),), (seeded(2, 3, size, size, seed=5),)


SLOW = {"resnet18": 64, "mobilenet_v2": 64, "mobilenet_v3_small": 64, "densenet121": 64, "googlenet": 64,
        "shufflenet_v2_x0_5": 64, "squeezenet1_1": 64, "swin_t": 64, "vit_b_16": 224, "deeplabv3": 64}


def write(folder, name, way, made):
    path = os.path.join(folder, name + (".traced.pt" if way == "trace" else ".scripted.pt"))
    if os.path.exists(path[:-3] + ".npz"):
        return
    net, example, args = made
    net = net.eval()
    with torch.no_grad():
        script = torch.jit.trace(net, example, strict=False) if way == "trace" else torch.jit.script(net)
        script.save(path)
    save_answers(path, args)


def main():
    folder, slow = sys.argv[1], "slow" in sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    torch.set_num_threads(1)
    torch.backends.mha.set_fastpath_enabled(False)
    if slow:
        for name, size in SLOW.items():
            made = from_torchvision(name, size)
            for way in ("trace", "script"):
                write(folder, name, way, made)
        return
    for name, (function, ways) in MODELS.items():
        for way in ways:
            torch.manual_seed(0)
            write(folder, name, way, function())
    write_shipped(folder)


if __name__ == "__main__":
    main()
