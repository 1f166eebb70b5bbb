# SPDX-License-Identifier: Apache-2.0
# Over 400 lines because each model is a few lines and all of them share one way to be written.
"""Writes the models the tests open into a folder: NAME.pt2 and NAME.npz beside it, with the inputs
(in0, in1, ...) and the float outputs PyTorch computes for them (out0, out1, ...), both flat.

    python make_models.py FOLDER [NAME ...]

What exists is kept. Add a model by adding a function with the @model decorator that returns
(module, args, kwargs, dynamic_shapes, extra_inputs); extra_inputs is one more (args, kwargs) for the
expected outputs, or None to use the example itself.
"""
import os
import sys

import numpy as np
import torch
import torch.utils._pytree as pytree
from torch import nn
from torch.export import Dim

MODELS = {}
THREADS = 1


def model(function):
    MODELS[function.__name__] = function
    return function


def warmed(net, *shape):
    """Batch-norm statistics that differ per channel, as in a trained network."""
    torch.manual_seed(1)
    net.train()
    with torch.no_grad():
        for _ in range(3):
            net(torch.randn(*shape) * 1.5 + 0.3)
    return net.eval()


def torchvision_model(name, batch):
    import torchvision

    torch.manual_seed(0)
    return warmed(getattr(torchvision.models, name)(weights=None), batch, 3, 96, 96)


def image(n, size=96):
    torch.manual_seed(2)
    return torch.randn(n, 3, size, size)


@model
def resnet18():
    return torchvision_model("resnet18", 4), (image(2),), {}, ({0: Dim("batch", min=1, max=1024)},), ((image(5),), {})


@model
def resnet18_static():
    return torchvision_model("resnet18", 4), (image(2),), {}, None, None


@model
def mobilenet_v2():
    net = torchvision_model("mobilenet_v2", 4)
    return net, (image(2),), {}, ({0: Dim("batch", min=1, max=1024)},), ((image(3),), {})


@model
def mobilenet_v2_static():
    return torchvision_model("mobilenet_v2", 4), (image(2),), {}, None, None


class Lists(nn.Module):
    """chunk, split, cat, stack, max with indices, topk, unused list elements."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, x):
        y = self.conv(x)
        a, b = y.chunk(2, 1)
        c, _, d = torch.split(y, [3, 2, 3], dim=1)
        values, where = y.max(dim=1)
        top, places = torch.topk(y.flatten(2), 3, dim=2)
        joined = torch.cat([a * 2, b, c + d], dim=1)
        return joined, values, where, torch.stack([top, places.float()], 0)


@model
def lists():
    return Lists().eval(), (image(2, 8),), {}, ({0: Dim("batch")},), ((image(4, 8),), {})


class Shapes(nn.Module):
    """Sizes as values: view with a symbolic size, arithmetic on sizes, arange and full of a size."""

    def forward(self, x):
        n, c = x.shape[0], x.shape[1]
        flat = x.view(n, -1)
        half = flat[:, : (c // 2) * 4 + 1]
        steps = torch.arange(n, device=x.device).to(torch.float32).unsqueeze(1)
        filled = torch.full((n, c * 2), 0.5)
        return half * steps, filled + n, x.mean() * (n / 2), x.reshape(n * c, -1) * (n * 3 - 1)


@model
def shapes():
    x = torch.arange(2 * 6 * 4 * 4, dtype=torch.float32).reshape(2, 6, 4, 4) / 7
    more = torch.randn(5, 6, 4, 4, generator=torch.Generator().manual_seed(3))
    return Shapes(), (x,), {}, ({0: Dim("batch", min=2)},), ((more,), {})


class Constants(nn.Module):
    """Buffers (saved and not), tensors that are plain attributes, tensors made in forward."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.tensor([0.4, 0.5, 0.6]).view(1, 3, 1, 1))
        self.register_buffer("gain", torch.tensor([2.0, 3.0, 4.0]).view(1, 3, 1, 1), persistent=False)
        self.plain = torch.linspace(0, 1, 3).view(1, 3, 1, 1)
        self.order = torch.tensor([2, 0, 1])

    def forward(self, x):
        y = (x - self.mean) * self.gain + self.plain
        z = y[:, self.order]
        return torch.where(z > 0, z, torch.tensor(-1.0)), y * torch.tensor([1.0, 2.0]).sum()


@model
def constants():
    return Constants().eval(), (image(2, 8),), {}, None, None


class Structured(nn.Module):
    """Several inputs, a dict and a tuple among them, keyword inputs, a dict of outputs."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x, pair, options, *, bias=None, scale=1.0):
        a, b = pair
        y = self.fc(x) * scale + a - b * options["factor"]
        if bias is not None:
            y = y + bias
        return {"sum": y.sum(1), "parts": (y, [a, y.argmax(1)])}


@model
def structured():
    g = torch.Generator().manual_seed(4)

    def r(*shape):
        return torch.randn(*shape, generator=g)

    torch.manual_seed(0)
    args = (r(2, 4), (r(2, 3), r(2, 3)), {"factor": r(3)})
    return Structured().eval(), args, {"bias": r(3), "scale": 1.5}, None, None


class NoGrad(nn.Module):
    """Set-grad and autocast regions, which the exporter wraps into higher-order operators."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        y = self.fc(x)
        with torch.no_grad():
            scale = y.abs().amax(1, keepdim=True) + 1
            z = self.norm(y) / scale
        with torch.autocast("cpu", enabled=False):
            w = torch.softmax(z, -1)
        return w + y, scale


@model
def no_grad():
    torch.manual_seed(0)
    x = torch.randn(3, 8)
    return NoGrad().eval(), (x,), {}, ({0: Dim("batch")},), ((torch.randn(6, 8),), {})


class InPlace(nn.Module):
    """In-place operators: on fresh values, with readers before and after, on results of others."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.act = nn.ReLU(inplace=True)
        self.hard = nn.Hardswish(inplace=True)
        self.drop = nn.Dropout(0.2, inplace=True)

    def forward(self, x):
        y = self.conv(x)
        before = y.sum()
        y += 1
        y = self.act(y)
        z = self.drop(self.hard(self.conv(x)))
        z.mul_(2).sub_(y, alpha=3).clamp_(-4, 4)
        z.masked_fill_(z > 3, 0.25)
        w = torch.empty_like(z)
        w.copy_(y)
        v = torch.zeros_like(z)
        v.fill_(0.5)
        return z, y, before, w + v


@model
def in_place():
    torch.manual_seed(0)
    return InPlace().eval(), (image(2, 8),), {}, None, None


class ThroughViews(nn.Module):
    """Mutation seen through views: a slice assignment, and a view changed by its base."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        y = self.fc(x)
        first = y[:, :2]
        y.add_(1)
        first.mul_(3)
        z = torch.zeros(3, 4)
        z[0] = first[0].sum()
        return y, z + 1, first


@model
def through_views():
    torch.manual_seed(0)
    return ThroughViews().eval(), (torch.randn(2, 4),), {}, None, None


class Tied(nn.Module):
    """Two modules that share one weight, and two views of one storage."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 6)
        self.head = nn.Linear(6, 10, bias=False)
        self.head.weight = self.embed.weight
        store = torch.randn(12)
        self.left = nn.Parameter(store[:6])
        self.right = nn.Parameter(store[6:])

    def forward(self, tokens):
        return self.head(self.embed(tokens) * self.left + self.right)


@model
def tied():
    torch.manual_seed(0)
    return Tied().eval(), (torch.tensor([[1, 2, 3], [4, 5, 9]]),), {}, None, None


class TwiceCalled(nn.Module):
    """One module called twice, nested modules, strided and channels-last parameters."""

    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Conv2d(3, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU())
        self.block[0].weight = nn.Parameter(self.block[0].weight.to(memory_format=torch.channels_last))
        self.scale = nn.Parameter(torch.randn(3, 1, 1).expand(3, 8, 8))

    def forward(self, x):
        return self.block(self.block(x) * self.scale)


@model
def twice_called():
    torch.manual_seed(0)
    return warmed(TwiceCalled(), 4, 3, 8, 8), (image(2, 8),), {}, ({0: Dim("batch")},), ((image(3, 8),), {})


class Mixed(nn.Module):
    """Argument kinds: dtype, device, memory format, None in index lists, scalars of the other type, booleans."""

    def forward(self, x):
        y = x.to(torch.float64).contiguous(memory_format=torch.channels_last)
        z = y[:, :, torch.tensor([0, 2]), torch.tensor([1, 3])]
        w = torch.clamp(x, min=0, max=None)
        u = torch.nn.functional.pad(x, [1, 1, 0, 2], mode="constant", value=1)
        i = torch.bucketize(x, torch.linspace(-2, 2, 5))
        f = torch.nn.functional.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)
        return z.float(), w, u, torch.add(i, 1, alpha=2), x.std(dim=(2, 3), unbiased=False), f


@model
def mixed():
    return Mixed(), (image(2, 8),), {}, None, None


class Branch(nn.Module):
    """torch.cond: a higher-order operator with subgraphs."""

    def forward(self, x):
        y = torch.cond(x.sum() > 0, lambda t: t.sin(), lambda t: t.cos() + 1, (x,))
        return y * 2


@model
def branch():
    return Branch(), (torch.ones(3),), {}, None, None


class Loop(nn.Module):
    """while_loop, and an autocast region that does change the arithmetic."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        def more(i, y):
            return i < 3

        def body(i, y):
            return i + 1, y * 0.5 + 1

        _, y = torch._higher_order_ops.while_loop(more, body, (torch.tensor(0), x))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            z = self.fc(y)
        return y, z.float() + 1


@model
def loop():
    torch.manual_seed(0)
    return Loop().eval(), (torch.randn(2, 4),), {}, None, None


class Slices(nn.Module):
    """Slice assignments with readers before, between and after; unrelated work in between."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 1)
        self.register_buffer("table", torch.arange(12.0).view(3, 4))

    def forward(self, x, flags):
        canvas = torch.zeros(2, 3, 8, 8)
        before = canvas + 1
        canvas[:, 0] = x[:, 0]
        y = self.conv(x)
        middle = canvas.sum()
        canvas[:, 1] = y[:, 1] * middle
        canvas[flags] = 7.0
        rows = self.table.clone()
        rows[1:, ::2] += 5
        x[:, :, 0].add_(1)
        view = self.table[0]
        return before, canvas, middle, y, rows, x * 2, view


@model
def slices():
    torch.manual_seed(0)
    return Slices().eval(), (image(2, 8), torch.tensor([True, False])), {}, None, None


class Train(nn.Module):
    """Exported in training mode: batch norm that updates its statistics, a counter buffer."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(3)

    def forward(self, x):
        return self.norm(x).relu_()


@model
def train():
    return Train().train(), (image(4, 8),), {}, None, None


@model
def attention():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    return layer.eval(), (torch.randn(2, 5, 16),), {}, ({0: Dim("batch"), 1: Dim("time")},), ((torch.randn(3, 7, 16),), {})


# The core-ATen form of models above.
CORE_ATEN = {"resnet18_core": "resnet18", "in_place_core": "in_place", "shapes_core": "shapes"}


def flat_numpy(tree):
    out = []
    for leaf in pytree.tree_leaves(tree):
        out.append(leaf.detach().numpy() if isinstance(leaf, torch.Tensor) else np.asarray(leaf))
    return out


def make(folder, name):
    path = os.path.join(folder, name + ".pt2")
    if os.path.exists(path) and os.path.exists(path[:-4] + ".npz"):
        return
    net, args, kwargs, dynamic, extra = MODELS[CORE_ATEN.get(name, name)]()
    use_args, use_kwargs = extra or (args, kwargs)
    # In the order of the file's own inputs, which follows the signature of forward. Copies: forward may
    # write to its inputs.
    flat_in = [a.copy() for a in flat_numpy((use_args, {k: use_kwargs[k] for k in kwargs}))]
    with torch.no_grad():
        program = torch.export.export(net, args, kwargs, dynamic_shapes=dynamic)
        if name in CORE_ATEN:
            program = program.run_decompositions()
        expected = program.module()(*use_args, **use_kwargs) if name in CORE_ATEN else net(*use_args, **use_kwargs)
    arrays = {f"in{i}": a for i, a in enumerate(flat_in)}
    arrays.update({f"out{i}": a for i, a in enumerate(flat_numpy(expected))})
    np.savez(path[:-4] + ".npz", **arrays)
    part = os.path.join(folder, "part")
    os.makedirs(part, exist_ok=True)
    torch.export.save(program, os.path.join(part, name + ".pt2"))
    os.replace(os.path.join(part, name + ".pt2"), path)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    torch.set_num_threads(THREADS)
    # The fused transformer kernels of eager mode are not what a file holds; they round differently.
    torch.backends.mha.set_fastpath_enabled(False)
    for name in sys.argv[2:] or [*MODELS, *CORE_ATEN]:
        make(folder, name)


if __name__ == "__main__":
    main()
