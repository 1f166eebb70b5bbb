# SPDX-License-Identifier: Apache-2.0
"""The small networks among the models the tests open: each holds what real models do in one place."""
import torch
from torch import nn


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


class Shapes(nn.Module):
    """Sizes as values: view with a symbolic size, arithmetic on sizes, arange and full of a size."""

    def forward(self, x):
        n, c = x.shape[0], x.shape[1]
        flat = x.view(n, -1)
        half = flat[:, : (c // 2) * 4 + 1]
        steps = torch.arange(n, device=x.device).to(torch.float32).unsqueeze(1)
        filled = torch.full((n, c * 2), 0.5)
        return half * steps, filled + n, x.mean() * (n / 2), x.reshape(n * c, -1) * (n * 3 - 1)


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


class TwiceCalled(nn.Module):
    """One module called twice, nested modules, strided and channels-last parameters."""

    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Conv2d(3, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU())
        self.block[0].weight = nn.Parameter(self.block[0].weight.to(memory_format=torch.channels_last))
        self.scale = nn.Parameter(torch.randn(3, 1, 1).expand(3, 8, 8))

    def forward(self, x):
        return self.block(self.block(x) * self.scale)


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


class Branch(nn.Module):
    """torch.cond: a higher-order operator with subgraphs."""

    def forward(self, x):
        y = torch.cond(x.sum() > 0, lambda t: t.sin(), lambda t: t.cos() + 1, (x,))
        return y * 2


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


class Train(nn.Module):
    """Exported in training mode: batch norm that updates its statistics, a counter buffer."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(3)

    def forward(self, x):
        return self.norm(x).relu_()
