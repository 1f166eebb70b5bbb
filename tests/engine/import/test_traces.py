# SPDX-License-Identifier: Apache-2.0
"""A traced file keeps less than a .pt2 does: no element types, Python's numbers as tensors, no word of how an operator was called. The
plan of the trace is that of the .pt2 all the same."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from oracle_run import equal, run_tool

torch.set_num_threads(1)
QUANTSCOPE = os.environ["QUANTSCOPE"]


class Call(nn.Module):
    """A layer, a function of its result, a layer."""

    def __init__(self, function, front=None, back=None):
        super().__init__()
        self.front, self.function, self.back = front or nn.Linear(8, 8), function, back or nn.Linear(8, 4)

    def forward(self, x):
        return self.back(self.function(self.front(x)))


def filtered(y):
    """Complex numbers between two real ones."""
    spectrum = torch.fft.rfft(y, norm="ortho")
    return torch.fft.irfft(spectrum * torch.view_as_complex(torch.stack([spectrum.real, spectrum.imag], -1)), 8) + y


def powers(y):
    spectrum = torch.fft.fft(y).exp()
    return (spectrum + spectrum).abs() + (spectrum * 2).real


def pooled(y):
    return F.max_pool2d(F.pad(y, (1, 1, 1, 1)), 2)


def scaled(y):
    """Python's numbers on the right and on the left, of values whose dimensions follow from several kinds of operators."""
    mu, logvar = (y * 0.7).chunk(2, -1)
    z = torch.cat([mu, torch.exp(0.5 * logvar)], -1) / 1.5
    z = torch.matmul(z, z.transpose(0, 1)).mean(-1, keepdim=True) * 0.3 + y - 2
    return (1 - z) * 2


def placed(y):
    """Python's numbers beside values that no input tells the dimensions of: places on a grid."""
    rows, columns = (torch.arange(n, dtype=y.dtype) + 0.5 for n in y.shape)
    down, along = torch.meshgrid(rows, columns, indexing="ij")
    return y + (torch.stack([down, along], -1) * 0.1 - 1).sum(-1)


def masked(y):
    """Truth values of operators that the importer has no row for: PyTorch itself tells their type."""
    inside = (y > -0.5) & (y < 0.5)
    several = torch.count_nonzero(y, 1) + torch.count_nonzero(y, 1)
    return y * inside + (inside | torch.signbit(y)) + several.unsqueeze(1).float() + inside.any(1, keepdim=True)


def positions(y):
    """What operators make of whole numbers: some keep them, some make floats."""
    best = y.argmax(1, keepdim=True)
    return y + (torch.div(best, 2, rounding_mode="floor") + best) + (best.clamp(0.5, 2.5) + 1) + (best.sigmoid() + torch.tanh(best))


def shuffled(y):
    """Sizes that are computed, as a shuffle of channels does: the trace has a tensor for every number."""
    b, c, h, w = y.shape
    y = y.view(b, 2, c // 2, h, w).transpose(1, 2).contiguous().view(b, -1, h, w)
    return y[:, :, : h * 2 - h - 3, : (w + 3) % 8 + 1].reshape(b, c, -1).unsqueeze(-1) / h


def whole(y):
    """Numbers beside values without dimensions, whole numbers, halves and truth values: the types are those of PyTorch's own run of the file."""
    places, total = (y > 0).long(), y.sum()
    return (y + (places * 0.1).sum(-1, keepdim=True), places * 0.1, (y > 0) * 0.5, total * 0.3, total.long() * 0.5, total.half() - 0.7, places / 3,
            places // 2, torch.floor_divide(places, 0.5), places.int() * 2, total.int() + 3, torch.add(places, 0.5, alpha=2))


def image(function):
    return Call(function, nn.Conv2d(3, 4, 3), nn.Conv2d(4, 4, 1))


ROWS, PLANE = (4, 8), (4, 3, 12, 12)
CASES = {
    "complex": (lambda: Call(filtered), ROWS),
    "complex, functions of it": (lambda: Call(powers), ROWS),
    "numbers": (lambda: Call(scaled), ROWS),
    "numbers, places": (lambda: Call(placed), ROWS),
    "masks": (lambda: Call(masked), ROWS),
    "positions": (lambda: Call(positions), ROWS),
    "pool": (lambda: image(pooled), PLANE),
    "sizes": (lambda: image(shuffled), PLANE),
}


def run(*args):
    return subprocess.run([QUANTSCOPE, *map(str, args)], capture_output=True, text=True)


def made(function, shape, folder):
    """Writes the model both ways, and data and a recipe for it."""
    torch.manual_seed(0)
    net = function().eval()
    x = torch.randn(*shape)
    with torch.no_grad():
        torch.export.save(torch.export.export(net, (x,)), folder / "model.pt2")
        torch.jit.trace(net, x).save(str(folder / "model.pt"))
    np.savez(folder / "data.npz", x=torch.randn(4 * shape[0], *shape[1:]).numpy())
    (folder / "recipe.json").write_text(json.dumps({"format": "quantscope.recipe", "version": 1,
                                                    "calibration": {"batch_size": shape[0], "batches": 4}}))


def quantize(path):
    folder = path.parent
    return run("quantize", path, "--recipe", folder / "recipe.json", "--data", folder / "data.npz", "--out", folder / "out")


def decisions(path, recipe=None):
    done = run("plan", path, "--recipe", recipe or path.parent / "recipe.json", "--json")
    if done.returncode:
        raise AssertionError(done.stderr)
    keys = ("module", "op", "quantized", "pattern", "qconfig", "output")
    return [tuple(bare(n[key]) for key in keys) for n in json.loads(done.stdout)["nodes"]
            if n["op"] not in ("input", "parameter", "constant") and (n["pattern"] or n["quantized"])]


def bare(value):
    """Patterns by their words alone: a trace does not tell `x.mean()` from `torch.mean(x)`."""
    return [name.rsplit(".", 1)[-1] for name in value] if isinstance(value, list) else str(value)


class Traces(unittest.TestCase):
    def test_the_plan_of_the_pt2(self):
        for name, (function, shape) in CASES.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as place:
                folder = pathlib.Path(place)
                made(function, shape, folder)
                self.assertEqual(decisions(folder / "model.pt"), decisions(folder / "model.pt2"))
                done = quantize(folder / "model.pt")
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_numbers_keep_the_bits(self):
        """What stays a tensor and what becomes a number, in a run as in PyTorch's own of the file."""
        for name, build, shape in (("numbers", lambda: Call(scaled), ROWS), ("places", lambda: Call(placed), ROWS),
                                   ("types", lambda: Call(whole, back=nn.Identity()), ROWS), ("sizes", lambda: image(shuffled), PLANE)):
            with self.subTest(name), tempfile.TemporaryDirectory() as place:
                folder = pathlib.Path(place)
                made(build, shape, folder)
                call = (torch.randn(*shape),)
                torch.save([call], folder / "data.pt")
                done = run_tool(folder / "model.pt", folder / "data.pt", folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                (_, outputs), = torch.load(folder / "float.expected.pt", weights_only=False)
                with torch.no_grad():
                    equal(outputs, torch.jit.load(str(folder / "model.pt"))(*call), name)

    def test_sizes_are_numbers(self):
        """No tensor is made to compute a size, and none counts among what could be quantized."""
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            made(lambda: image(shuffled), PLANE, folder)
            code = run("inspect", folder / "model.pt", "--code").stdout
            for word in ("operator.floordiv", "operator.mul", "operator.sub", "operator.add", "operator.mod"):
                self.assertIn(word, code)
            self.assertEqual(code.count("aten.scalar_tensor"), 1, "the divisor of the values alone")
            eligible = {json.loads(run("plan", folder / name, "--json").stdout)["coverage"]["eligible"] for name in ("model.pt", "model.pt2")}
            self.assertEqual(len(eligible), 1)

    def test_a_rule_for_either_spelling(self):
        """The rule for a method, and the one for the function, both reach a call that may be either."""
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            made(lambda: Call(lambda y: y + y.transpose(0, 1).mean(1).clamp(0, 1)[0]), (8, 8), folder)
            for word, types in (("mean", ("torch.mean", "mean")), ("transpose", ("torch.transpose", "transpose")),
                                ("clamp", ("torch.clamp", "clamp")), ("add", ("operator.add", "torch.add"))):
                for type_name in types:
                    recipe = folder / "rule.json"
                    recipe.write_text(json.dumps({"format": "quantscope.recipe", "version": 1,
                                                  "mapping": {"object_type": [[type_name, None]]}}))
                    found = [d for d in decisions(folder / "model.pt", recipe) if d[1].startswith(f"aten.{word}.")]
                    with self.subTest(type_name):
                        self.assertEqual([d[2] for d in found], ["False"])

    def test_a_batch_that_the_trace_fixes(self):
        """`view(4, -1)` holds the number of samples of the example: the error says which it was and where to set it."""
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            made(lambda: Call(lambda y: y.view(4, -1)), ROWS, folder)
            done = run("quantize", folder / "model.pt", "--data", folder / "data.npz", "--out", folder / "out")
            self.assertNotEqual(done.returncode, 0)
            for word in ("model.pt", "traced with 'x' of size [4, 8], here it is [8, 8]", "calibration.batch_size to 4"):
                self.assertIn(word, done.stderr)
            self.assertEqual(quantize(folder / "model.pt").returncode, 0)

    def test_a_cell_in_its_steps(self):
        """A trace holds what a recurrent cell computes, not the cell."""
        with tempfile.TemporaryDirectory() as place:
            path = pathlib.Path(place) / "model.pt"
            cell = torch.jit.trace(Call(lambda y: y[0], front=nn.LSTMCell(8, 8)).eval(), torch.randn(*ROWS))
            cell.save(str(path))
            told = json.loads(run("plan", path, "--json").stdout)
            self.assertIn("'front' stays float: torch.jit.trace decomposed torch.nn.LSTMCell; export it with torch.export or torch.jit.script to have it "
                          "quantized", told["warnings"])

    def test_an_error_that_is_not_the_batch_s(self):
        """A word beyond the table is told as such, whatever the batch."""
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            made(lambda: Call(lambda y: y + F.embedding((y > 50).long() * 30, torch.ones(20, 1)).squeeze(-1), front=nn.Identity()), ROWS, folder)
            np.savez(folder / "data.npz", x=np.full((16, 8), 100, np.float32))
            done = run("quantize", folder / "model.pt", "--data", folder / "data.npz", "--out", folder / "out")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("index out of range", done.stderr)
            self.assertNotIn("batch_size", done.stderr)

    def test_a_type_that_nothing_tells(self):
        """Places of modes are integers, which neither the file nor any table says: the data do."""
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            places = lambda y: y + (torch.mode(y, 1)[1] + torch.mode(y, 1)[1]).unsqueeze(1).float()
            made(lambda: Call(places), ROWS, folder)
            done = quantize(folder / "model.pt")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("does not record the element types", done.stderr)
            nodes = json.loads((folder / "out" / "result.json").read_text())["nodes"]
            sums = [node["quantized"] for node in nodes if node["op"].startswith("aten.add.")]
            self.assertEqual(sums, [False, True], "the sum of places is one of integers")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main()
