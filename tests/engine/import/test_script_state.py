# SPDX-License-Identifier: Apache-2.0
"""What a script or a trace holds that a .pt2 spells otherwise: attributes that are set, names that the importer makes itself,
tensors of numbers, module names that are no identifiers. What is written again behaves as the file does."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import warnings

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from torch import nn

from oracle_run import equal, run_tool

torch.set_num_threads(1)
warnings.simplefilter("ignore")


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Linear(4, 4)
        self.register_buffer("h", torch.zeros(2, 4))

    def forward(self, x):
        self.h = torch.tanh(self.f(x) + self.h)
        return self.h * 2


class SetsAttributes(nn.Module):
    """A buffer of an inner module, a plain tensor that is also changed in place, one set in a branch, and a number."""

    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.plain = torch.ones(4)
        self.register_buffer("once", torch.zeros(4))
        self.calls = 0

    def forward(self, x):
        y = self.inner(x)
        self.plain.add_(1.0)
        self.plain = self.plain * y.mean(0)
        self.calls += 1
        if bool(y.sum() > 0):
            self.once = self.once + y.sum(0)
        return y + self.plain, self.once * 3


class Lifted(nn.Module):
    """An attribute with the name that the importer would give to a constant of the code."""

    def __init__(self):
        super().__init__()
        self.f = nn.Linear(4, 4)
        self.register_buffer("lifted_tensor_0", torch.tensor(5.0))
        self.lifted_tensor_2 = torch.tensor([1.0, 2.0, 3.0, 4.0])

    def forward(self, x):
        y = (self.f(x) + torch.tensor([0.5, 1.0, 0.5, 1.0])) * self.lifted_tensor_0
        return y - torch.tensor([0.1, 0.2, 0.3, 0.4]) + self.lifted_tensor_2


class Numbers(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Linear(4, 4)

    def forward(self, x):
        y = self.f(x)
        y[0] = 3.0
        return y * torch.tensor(2) + torch.tensor(True)


class Texts(nn.Module):
    """What no .pt2 can hold."""

    def __init__(self):
        super().__init__()
        self.f = nn.Linear(4, 4)

    def forward(self, x):
        y = self.f(x)
        return y + torch.tensor([float(y.sum()), 1.0, 2.0, 3.0])


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module("layer-1", nn.Linear(4, 4))
        self.add_module("2 x", nn.Sequential(nn.Linear(4, 4), nn.ReLU()))

    def forward(self, x):
        return getattr(self, "2 x")(getattr(self, "layer-1")(x))


class Scripts(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(6)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.calls = [(torch.randn(2, 4),) for _ in range(3)]
        self.enterContext(torch.no_grad())

    def run_model(self, *more):
        torch.save(self.calls, self.folder / "data.pt")
        done = run_tool(self.path, self.folder / "data.pt", self.folder, *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = torch.load(self.folder / "float.expected.pt", weights_only=False)
        return done, [outputs for _, outputs in told]

    def saved(self, model, trace=False):
        self.path = self.folder / "model.pt"
        made = torch.jit.trace(model, self.calls[0], check_trace=False) if trace else torch.jit.script(model)
        torch.jit.save(made, self.path)
        return torch.jit.load(self.path)

    def test_attributes_that_are_set(self):
        self.saved(SetsAttributes().eval())
        done, outputs = self.run_model("sequence")
        self.assertIn("'calls' starts every call from its saved value", done.stderr)
        self.assertNotIn("'plain'", done.stderr)
        model = torch.jit.load(self.path)
        wanted = [model(*call) for call in self.calls]
        for got, want in zip(outputs, wanted):
            equal(got, want, "a sequence")
        again = torch.jit.load(self.folder / "again.ts.pt")
        for call, want in zip(self.calls, wanted):
            equal(again(*call), want, "again.ts.pt")
        _, outputs = self.run_model()
        for got, call in zip(outputs, self.calls):
            equal(got, torch.jit.load(self.path)(*call), "calls apart")

    def test_own_names(self):
        model = self.saved(Lifted().eval(), trace=True)
        wanted = [model(*call) for call in self.calls]
        for round in range(2):  # its own export has such names too
            _, outputs = self.run_model()
            for got, want in zip(outputs, wanted):
                equal(got, want, f"round {round}")
            again = torch.jit.load(self.folder / "again.ts.pt")
            for call, want in zip(self.calls, wanted):
                equal(again(*call), want, f"again.ts.pt, round {round}")
            self.path = self.folder / "model.pt"
            self.path.write_bytes((self.folder / "again.ts.pt").read_bytes())

    def quantized(self, forms):
        torch.save(self.calls, self.folder / "data.pt")
        words = ["quantize", self.path, "--data", self.folder / "data.pt", "--device", "cpu", "--out", self.folder / "out", "--export", forms]
        return subprocess.run([os.environ["QUANTSCOPE"], *map(str, words)], capture_output=True, text=True)

    def test_tensors_of_numbers(self):
        self.saved(Numbers().eval())
        done = self.quantized("pt2-reference,pt2")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("model.int8.pt2", "model.reference.pt2"):
            got = torch.export.load(self.folder / "out" / name).module()(*self.calls[0])
            self.assertTrue(torch.equal(got[0], torch.full((4,), 7.0)), got)

    def test_what_no_pt2_can_hold(self):
        self.saved(Texts().eval())
        done = self.quantized("pt2-reference")
        self.assertEqual(done.returncode, 1)
        told = done.stderr.splitlines()
        self.assertIn("a .pt2 cannot hold", told[-1])
        self.assertIn("export torchscript", told[-1])
        self.assertFalse((self.folder / "out" / "model.reference.pt2").exists())

    def test_module_names(self):
        model = Named().eval()
        wanted = [model(*call) for call in self.calls]
        forms = {"trace.pt": lambda path: torch.jit.save(torch.jit.trace(model, self.calls[0]), path)}
        for strict in (True, False):
            forms[f"strict_{strict}.pt2"] = lambda path, strict=strict: torch.export.save(
                torch.export.export(model, self.calls[0], strict=strict), path)
        for name, save in forms.items():
            with self.subTest(name):
                self.path = self.folder / name
                save(self.path)
                self.run_model()
                again = torch.jit.load(self.folder / "again.ts.pt")
                for call, want in zip(self.calls, wanted):
                    equal(again(*call), want, name)
                done = self.quantized("torchscript,pt2-reference")
                self.assertEqual(done.returncode, 0, done.stderr)
                reference = self.folder / "out" / "model.reference.pt2"
                for load in (lambda: torch.jit.load(self.folder / "out" / "model.int8.ts.pt"), lambda: torch.export.load(reference).module()):
                    self.assertLess((load()(*self.calls[0]) - wanted[0]).abs().max(), 0.1)
                for path in (self.path, reference):
                    done = subprocess.run([os.environ["QUANTSCOPE"], "inspect", str(path), "--json"], capture_output=True, text=True)
                    modules = {node["module"] for node in json.loads(done.stdout)["nodes"] if "linear" in node["op"]}
                    self.assertEqual(modules, {"layer-1", "2 x.0"}, path)


if __name__ == "__main__":
    unittest.main()
