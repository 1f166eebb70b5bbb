# SPDX-License-Identifier: Apache-2.0
"""Operators that return their input, or views of it, without a word in their schema: what is changed in place through them
changes what they were given. Operators that always compute into new memory cost an in-place change nothing."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import warnings

import torch
import torch.nn.functional as F
from torch import nn

from oracle_run import check_model, equal, run_tool

torch.set_num_threads(1)
warnings.simplefilter("ignore")
aten = torch.ops.aten


class Writes(nn.Module):
    """Changes what `view` makes of a layer's result, then reads the result."""

    def __init__(self, view, isRead=True):
        super().__init__()
        self.front, self.view, self.back, self.isRead = nn.Linear(8, 8), view, nn.Linear(8, 4), isRead

    def forward(self, x):
        y = self.front(x)
        seen = self.view(y)
        seen = seen[0] if isinstance(seen, (tuple, list)) else seen
        seen.add_(1.0).mul_(0.5)
        return (self.back(y), seen * 2) if self.isRead else self.back(y)


VIEWS = {
    "einsum": lambda y: torch.einsum("ij->ji", y),
    "einsum_diagonal": lambda y: torch.einsum("ii->i", y[:4, :4]),
    "type_as": lambda y: y.type_as(torch.zeros(1)),
    "atleast_1d": torch.atleast_1d,
    "atleast_2d": lambda y: torch.atleast_2d(y),
    "atleast_3d": torch.atleast_3d,
    "atleast_2d_of_several": lambda y: torch.atleast_2d(y[0], y[1]),
    "unsafe_chunk": lambda y: torch.unsafe_chunk(y, 2, 1),
    "unsafe_split": lambda y: torch.unsafe_split(y, 3),
    "unsafe_split_with_sizes": lambda y: torch.unsafe_split_with_sizes(y, [1, 3]),
    "unsafe_view": lambda y: aten._unsafe_view(y, [8, 4]),
    "cartesian_prod": lambda y: torch.cartesian_prod(y[0]),
    "broadcast_tensors": lambda y: torch.broadcast_tensors(y, y[:1]),
    "meshgrid": lambda y: torch.meshgrid(y[0], indexing="ij"),
    "sum_to_size": lambda y: y.sum_to_size(4, 8),
    "conj_physical": torch.conj_physical,
    "dequantize": torch.dequantize,
    "channel_shuffle": lambda y: aten.native_channel_shuffle(y.view(1, 4, 2, 4), 1),
    "dropout": lambda y: F.dropout(y, 0.5, False),
    "pad": lambda y: F.pad(y, (0, 0)),
}


class Fresh(nn.Module):
    """Changes what `made` makes of a value that is read again."""

    def __init__(self, made):
        super().__init__()
        self.front, self.made, self.back = nn.Linear(8, 8), made, nn.Linear(8, 8)

    def forward(self, x):
        y = self.front(x)
        z = self.made(self.back, y)
        z.add_(1.0)
        return z.sum() + y


NEW = {
    "linear": lambda back, y: back(y),
    "matmul": lambda back, y: y @ y.t(),
    "einsum_of_two": lambda back, y: torch.einsum("ij,kj->ik", y, y),
    "layer_norm": lambda back, y: F.layer_norm(y, (8,)),
    "softmax": lambda back, y: y.softmax(-1),
    "conv1d": lambda back, y: F.conv1d(y.unsqueeze(0), back.weight[:, :4].unsqueeze(-1)),
    "max_pool1d": lambda back, y: F.max_pool1d(y, 2),
    "adaptive_pool": lambda back, y: F.adaptive_avg_pool2d(y.view(1, 4, 2, 4), 1),
    "interpolate": lambda back, y: F.interpolate(y.view(1, 4, 2, 4), scale_factor=2.0),
    "attention": lambda back, y: F.scaled_dot_product_attention(y.unsqueeze(0), y.unsqueeze(0), y.unsqueeze(0)),
    "where": lambda back, y: torch.where(y > 0, y, 0.0),
    "hstack": lambda back, y: torch.hstack([y, y]),
}


def operators(path):
    done = subprocess.run([os.environ["QUANTSCOPE"], "inspect", str(path), "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [node["op"] for node in json.loads(done.stdout)["nodes"]]


class All(nn.Module):
    """Each of the cases after a layer of its own."""

    def __init__(self, make, cases):
        super().__init__()
        self.parts = nn.ModuleList(make(case) for case in cases.values())

    def forward(self, x):
        return tuple(part(x) for part in self.parts)


class Aliases(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(4)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.calls = [(torch.randn(4, 8),) for _ in range(2)]
        self.enterContext(torch.no_grad())

    def test_changes_through_a_view(self):
        model = All(Writes, VIEWS).eval()
        check_model(torch.export.export(model, self.calls[0]), model, self.calls, self.folder)

    def test_written_torchscript_keeps_changes_that_nobody_reads_there(self):
        """Its optimizer looks at schemas, and at the second call."""
        model = All(lambda view: Writes(view, isRead=False), VIEWS).eval()
        check_model(torch.export.export(model, self.calls[0]), model, self.calls, self.folder)
        again = torch.jit.load(self.folder / "again.ts.pt")
        for call in self.calls * 2:
            equal(again(*call), model(*call), f"in the order of {list(VIEWS)}")

    def test_changes_through_a_view_in_a_trace(self):
        model = All(Writes, VIEWS).eval()
        torch.jit.save(torch.jit.trace(model, self.calls[0], check_trace=False), self.folder / "model.pt")
        torch.save(self.calls, self.folder / "data.pt")
        done = run_tool(self.folder / "model.pt", self.folder / "data.pt", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = torch.load(self.folder / "float.expected.pt", weights_only=False)
        for call, (_, outputs) in zip(self.calls, told):
            equal(outputs, model(*call), f"in the order of {list(VIEWS)}")

    def test_new_memory_keeps_nothing_back(self):
        path = self.folder / "model.pt2"
        torch.export.save(torch.export.export(All(Fresh, NEW).eval(), self.calls[0]), path)
        found = operators(path)
        self.assertNotIn("quantscope.region.default", found)
        self.assertEqual(found.count("aten.add.Tensor"), 2 * len(NEW))


if __name__ == "__main__":
    unittest.main()
