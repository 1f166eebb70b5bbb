# SPDX-License-Identifier: Apache-2.0
"""A scripted model brings its Python text: it tells how every operator was called, so that its plan is that of the .pt2, name by name."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import warnings
from collections import OrderedDict
from typing import Dict

import torch
import torch as pytorch
import torch.nn.functional as F
from torch import flatten, nn

from oracle_run import equal, run_tool

torch.set_num_threads(1)
QUANTSCOPE = os.environ["QUANTSCOPE"]


class Named(nn.Module):
    """Functions and methods of one name, Python's operators, numbers on the left, indexing, calls over several lines."""

    def __init__(self):
        super().__init__()
        self.front, self.back = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        a = self.front(x).permute(0, 2, 1)
        b = torch.permute(self.back(x), [0, 2, 1])
        c = a @ b
        d = torch.matmul(c, a) + a.matmul(c)
        e = (1 - c) * 2 + 3 / (d * d + 1)
        f = pytorch.flatten(d, 1) + flatten(e * 0.5, 1) + (d + e).transpose(1, 2).flatten(1)
        f += e.transpose(
            1, 2
        ).flatten(1)
        g = f[:, None].mean(1) + torch.mean(f, 1).unsqueeze(-1) + torch.unsqueeze(f.mean(1), 1)
        h = torch.add(g, f).clamp(min=0.1) - F.relu(g) - g.relu()
        return self.back(torch.mul(h, 0.5).view(-1, 8, 8).transpose(1, 2)).mean([1, 2])


class Settled(nn.Module):
    """A branch that the model's settings decide, where the file gives the text of the whole branch for every operator inside."""

    def __init__(self, flat: bool):
        super().__init__()
        self.flat = flat
        self.conv = nn.Conv2d(3, 4, 3)
        self.fc = nn.Linear(9, 4)

    def forward_features(self, x):
        y = self.conv(x)
        if self.flat:
            y = y.flatten(2).transpose(1, 2)
        else:
            y = torch.transpose(torch.flatten(y, 2), 1, 2)
        return y

    def forward(self, x):
        y = self.forward_features(x)
        return self.fc((y + torch.cat([y, y], 1).chunk(2, 1)[0]).transpose(1, 2))


class Collected(nn.Module):
    """What is collected in a list and handed out under names was changed in place before: nothing is seen through anything else."""

    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList(nn.Sequential(nn.Conv2d(3, 3, 3, padding=1), nn.BatchNorm2d(3), act(inplace=True))
                                    for act in (nn.ReLU, nn.Hardswish, nn.ReLU6))

    def forward(self, x) -> Dict[str, torch.Tensor]:
        outputs = []
        for stage in self.stages:
            x = stage(x)
            outputs.append(x)
        return OrderedDict([(str(i), y) for i, y in enumerate(outputs)])


class Seen(nn.Module):
    """Changed after it was collected, and after it was seen through a view: both show the change."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)

    def forward(self, x) -> Dict[str, torch.Tensor]:
        y = self.conv(x)
        z = self.conv(y)
        found = {"y": y, "z": z, "rows": y.flatten(1)}
        y.relu_()
        found["sum"] = found["y"] + z
        return found


class Layers(nn.Module):
    """torch.nn's own layers ask for dimensions, types and gradients before they choose a way."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3), nn.InstanceNorm2d(8, affine=True)
        self.up = nn.Upsample(scale_factor=2.0, mode="bilinear")
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2, enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x):
        y = self.up(self.norm(self.conv(x)))
        y = F.interpolate(y, scale_factor=0.5, mode="bilinear", align_corners=False)
        rows = y.flatten(2).transpose(1, 2)
        rows = self.decoder(self.encoder(rows), rows)
        return self.attention(rows, rows, rows, need_weights=False)[0]


class Parts(nn.Module):
    """What an operator returns that changed a part of a tensor shows what becomes of the whole."""

    def __init__(self):
        super().__init__()
        self.register_buffer("shift", torch.full((8,), 0.5))

    def forward(self, x):
        z = x * 1
        y = z[0].add_(1)
        z.mul_(2)
        part = z[1]
        part[2:4].add_(self.shift[2:4])
        part.relu_()
        z.add_(self.shift)
        return z, y, part


class Masked(nn.Module):
    """Attention with masks, which have no batch's dimensions and no weight's type."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.decoder = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x):
        away = x[:, :, 0] > 1.5
        later = torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), 1)
        rows = self.decoder(self.encoder(x, src_key_padding_mask=away), x, tgt_mask=later)
        return self.attention(rows, rows, rows, key_padding_mask=away)[0]


class Steps(nn.Module):
    """Recurrent layers whose weights are no float32."""

    def __init__(self):
        super().__init__()
        self.lstm, self.cell = nn.LSTM(8, 6, batch_first=True), nn.GRUCell(6, 6)

    def forward(self, x):
        y, _ = self.lstm(x)
        return self.cell(y[:, -1])


class Bag(nn.Module):
    """Words have a type of their own."""

    def __init__(self):
        super().__init__()
        self.bag, self.last = nn.EmbeddingBag(10, 8, mode="mean"), nn.Linear(8, 3)

    def forward(self, words):
        return self.last(self.bag(words))


class Offsets(Bag):
    """Bags one behind another, each from its offset on."""

    def forward(self, words):
        return self.last(self.bag(words, torch.tensor([0, 2, 5])))


class Shared(nn.Module):
    """One tensor of two names."""

    def __init__(self):
        super().__init__()
        self.register_buffer("k", torch.ones(4))
        self.register_buffer("also", self.k)

    def forward(self, x):
        self.k.add_(1)
        return x * self.also + self.k


class Single(nn.Module):
    """Tells one sample from a batch behind a layer that takes both."""

    def __init__(self):
        super().__init__()
        self.pool = nn.AvgPool1d(2)

    def forward(self, x):
        y = self.pool(x)
        return y.sum(-1) if y.dim() == 2 else y.mean(-1)


class Turned(nn.Module):
    """A loop and a branch that the data decide change tensors in place that nothing else shows."""

    def forward(self, x):
        out, h = torch.zeros_like(x), x * 2
        for i in range(int(x.sum().abs()) + 2):
            h = (h + 1).relu_()
            out[i % 3] = h[0]
        if bool(out.sum() > 0):
            out.mul_(2)
        view = h[1]
        if bool(h.sum() > 0):
            h.add_(1)
        if bool(x.sum() > -100):
            x = x.mul_(2)
        x.add_(1)
        return out, h, view, x + 1


class Carried(nn.Module):
    def forward(self, x):
        a = x + 0
        c = a[0]
        for _ in range(int(x.abs().sum()) % 3 + 1):
            c = c.mul_(2)
        return a, c


class Listed(nn.Module):
    def forward(self, x):
        b = x + 0
        held = [x, b]
        for _ in range(int(x.abs().sum()) % 3 + 1):
            b = b.relu_()
        return held[1]


class Branched(nn.Module):
    def forward(self, x):
        a = x + 0
        c, d = a[0], a
        if bool(x.sum() > -100):
            d = a.relu_()
            c = c.mul_(2)
        return d, c


class Rebound(nn.Module):
    def forward(self, x):
        y = x + 0
        v = y
        for _ in range(int(x.abs().sum()) % 3 + 1):
            v.add_(1)
            v = y[0]
        return y


class Swapped(nn.Module):
    def forward(self, x):
        b, d = x * 2, x + 1
        for _ in range(int(x.abs().sum()) % 3 + 2):
            b.add_(1)
            b = d.view(-1).view(4, 4)
        return b * d


class HandedOut(nn.Module):
    def forward(self, x):
        a = x + 0
        c = a[0]
        if bool(x.sum() > -100):
            c = c.mul_(2)
        c.add_(1)
        return a


class Saved(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(4))

    def forward(self, x):
        s = self.state
        for _ in range(int(x.abs().sum()) % 3 + 1):
            s = s.add_(1)
        return x + s


def floats(*shape):
    return lambda: torch.randn(*shape)


CASES = {
    "names": (Named, floats(2, 8, 8)),
    "settled": (lambda: Settled(True), floats(2, 3, 5, 5)),
    "settled otherwise": (lambda: Settled(False), floats(2, 3, 5, 5)),
    "collected": (Collected, floats(2, 3, 6, 6)),
    "layers": (Layers, floats(2, 3, 6, 6)),
    "masks": (Masked, floats(2, 5, 8)),
}
# Of which the plan says little, the numbers all.
NUMBERS = {
    "seen": (Seen, floats(2, 3, 6, 6)),
    "parts": (Parts, floats(4, 8)),
    "double": (lambda: Steps().double(), lambda: torch.randn(2, 5, 8).double()),
    "bag": (Bag, lambda: torch.randint(0, 10, (3, 4))),
    "bag, offsets": (Offsets, lambda: torch.randint(0, 10, (7,))),
    "shared": (Shared, floats(3, 4)),
    "turned": (Turned, floats(3, 4)),
    "sample": (Single, floats(3, 8)),
    "batch": (Single, floats(2, 3, 8)),
}


def made(name, folder):
    torch.manual_seed(0)
    build, example = {**CASES, **NUMBERS}[name]
    net, x = build().eval(), example()
    if name in CASES:
        torch.export.save(torch.export.export(net, (x,)), folder / "model.pt2")
    torch.jit.script(net).save(str(folder / "model.pt"))
    return x


def plan(path):
    done = subprocess.run([QUANTSCOPE, "plan", str(path), "--json"], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def decisions(document):
    """TorchScript does not tell the main script's name."""
    rows = [(n["module"], n["module_class"].split(".")[-1], n["call_index"], n["quantized"], str(n["pattern"]), str(n["qconfig"]))
            for n in document["nodes"] if n["op"] not in ("input", "parameter", "constant") and (n["pattern"] or n["quantized"])]
    return sorted(rows)


class Scripts(unittest.TestCase):
    def test_the_plan_of_the_pt2(self):
        for name in CASES:
            with self.subTest(name), tempfile.TemporaryDirectory() as place:
                folder = pathlib.Path(place)
                made(name, folder)
                program, script = plan(folder / "model.pt2"), plan(folder / "model.pt")
                self.assertGreater(len(decisions(program)), 2)
                self.assertEqual(decisions(program), decisions(script))
                self.assertEqual(program["coverage"]["eligible"], script["coverage"]["eligible"])

    def test_the_same_bits(self):
        """With gradients wanted: without, PyTorch computes attention in one fused operator, of which the last bits differ."""
        for name in (*CASES, *NUMBERS):
            with self.subTest(name), tempfile.TemporaryDirectory() as place:
                folder = pathlib.Path(place)
                call = (made(name, folder),)
                torch.save([call], folder / "data.pt")
                done = run_tool(folder / "model.pt", folder / "data.pt", folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                (_, outputs), = torch.load(folder / "float.expected.pt", weights_only=False)
                equal(outputs, torch.jit.load(str(folder / "model.pt"))(*call), name)

    def test_a_change_that_is_not_followed_is_refused(self):
        """Never numbers that PyTorch does not compute."""
        with tempfile.TemporaryDirectory() as place:
            path = pathlib.Path(place) / "model.pt"
            for network in (Carried, Listed, Branched, Rebound, Swapped, HandedOut, Saved):
                torch.jit.script(network().eval()).save(str(path))
                done = subprocess.run([QUANTSCOPE, "inspect", str(path)], capture_output=True, text=True)
                with self.subTest(network.__name__):
                    self.assertEqual(done.returncode, 1)
                    self.assertIn("model.pt: prim::", done.stderr)
                    self.assertIn("changes a tensor in place that has an alias outside its body", done.stderr)
                    self.assertEqual(len(done.stderr.strip().splitlines()), 1)

    def test_a_change_seen_elsewhere_is_kept_as_it_is(self):
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            for name, kept in (("collected", False), ("seen", True)):
                made(name, folder)
                reasons = " ".join(n["reason"] or "" for n in plan(folder / "model.pt")["nodes"])
                self.assertEqual("changes a tensor in place" in reasons, kept, name)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main()
