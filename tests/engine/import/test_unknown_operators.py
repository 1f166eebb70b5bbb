# SPDX-License-Identifier: Apache-2.0
"""TorchScript that calls operators of a library that is not loaded: the model opens, such an operator is shown, and kept float by the plan;
a run of it says in one line what is missing."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import zipfile
from typing import List

import torch
from torch import Tensor, nn

QUANTSCOPE = os.environ["QUANTSCOPE"]
LIBRARY = torch.library.Library("unknownlib", "DEF")


def define(schema, function):
    LIBRARY.define(schema)
    LIBRARY.impl(schema.split("(")[0], function, "CompositeExplicitAutograd")


define("one(Tensor x, float alpha=1.0) -> Tensor", lambda x, alpha=1.0: x * alpha)
define("pair(Tensor x, int[] sizes, *, int k=2, str? mode=None) -> (Tensor, Tensor)", lambda x, sizes, k=2, mode=None: (x * k, x + k))
define("parts(Tensor[] xs) -> Tensor[]", lambda xs: [x * 2 for x in xs])
define("more(Tensor x) -> bool", lambda x: bool(x.sum() > 0))
define("width(Tensor x) -> int", lambda x: x.shape[-1])
define("of_two(Tensor x, Tensor? y=None, *, Tensor? z=None) -> Tensor", lambda x, y=None, z=None: x * 1)
OPS = torch.ops.unknownlib


class Inner(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return OPS.one(x, alpha=0.5)


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.inner, self.b = nn.Linear(4, 4), Inner(), nn.Linear(4, 4)


class One(Layers):
    def forward(self, x):
        return self.b(self.inner(self.a(x)) + OPS.one(x))


class Pair(Layers):
    def forward(self, x):
        p, q = OPS.pair(self.a(x), [1, 2], k=3)
        r, s = OPS.pair(q, [4], mode="near")
        return self.b(p + q) + r + s


class PartsJoined(Layers):
    def forward(self, x):
        parts = OPS.parts([self.a(x), x])
        y = torch.cat(parts, 1)[:, :4]
        return self.b(y + OPS.parts(parts)[0])


class Lists(Layers):
    def halves(self, x) -> List[Tensor]:
        return OPS.parts([x, x])

    def forward(self, x) -> List[Tensor]:
        return self.halves(self.b(x))


class Width(Layers):
    def forward(self, x):
        return self.b(x).reshape([OPS.width(x), -1])


class Branch(Layers):
    def forward(self, x):
        y = self.a(x)
        if bool(y.sum() > 0):
            y = OPS.one(y, 2.0)
        if OPS.more(y):
            y = y + 1
        return self.b(y)


class Optional(Layers):
    def forward(self, x):
        return self.b(OPS.of_two(x) + OPS.of_two(x, self.a(x)) + OPS.of_two(x, z=x))


class Run:
    def __init__(self, *words):
        done = subprocess.run([QUANTSCOPE, *map(str, words)], capture_output=True, text=True)
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr


class TestUnknownOperators(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.holder.name)

    def tearDown(self):
        self.holder.cleanup()

    def files(self, model, traced=True):
        model = model.eval()
        x, path = torch.randn(2, 4), self.folder / "model.pt"
        torch.save([x], self.folder / "x.pt")
        torch.jit.script(model).save(path)
        yield "scripted", path
        if traced:
            torch.jit.trace(model, x).save(path)
            yield "traced", path

    def opened(self, path):
        run = Run("inspect", path, "--json")
        self.assertEqual(run.code, 0, run.err)
        return {node["name"]: node for node in json.loads(run.out)["nodes"]}

    def check(self, model, wanted, traced=True):
        """`wanted`: how many nodes of which operator."""
        for how, path in self.files(model, traced):
            with self.subTest(type(model).__name__ + ", " + how):
                unknown = [n for n in self.opened(path).values() if n["op"].startswith("unknownlib.")]
                counts = {}
                for node in unknown:
                    word = node["op"].split(".")[1]
                    counts[word] = counts.get(word, 0) + 1
                    self.assertIn("is unknown to", node["opaque"])
                    self.assertTrue(all(out["shape"] is None for out in node["outputs"]), node)
                self.assertEqual(counts, wanted)
                plan = {n["name"]: n for n in json.loads(Run("plan", path, "--json").out)["nodes"]}
                self.assertTrue(all(not plan[node["name"]]["quantized"] for node in unknown))
                self.assertTrue(any(n["quantized"] for n in plan.values() if n["op"].startswith("aten.linear")))
                code = Run("inspect", path, "--code")
                self.assertEqual(code.code, 0, code.err)
                for word in wanted:
                    self.assertIn(f"torch.ops.unknownlib.{word}.default(", code.out)
                self.refused(path)

    def refused(self, path):
        run = Run("quantize", path, "--data", self.folder / "x.pt", "--out", self.folder / "out", "--device", "cpu")
        self.assertEqual(run.code, 1)
        lines = [line for line in run.err.splitlines() if line.startswith("quantscope: ") and "unknownlib." in line]
        self.assertEqual(len(lines), 1, run.err)
        for word in (str(path), "node '", "is unknown to this LibTorch", "export the model with"):
            self.assertIn(word, lines[0])

    def test_a_tensor_in_a_submodule(self):
        self.check(One(), {"one": 2})
        for _, path in self.files(One()):
            nodes = self.opened(path)
            self.assertIn("inner", [n["module"] for n in nodes.values() if n["op"] == "unknownlib.one.default"])

    def test_a_tuple_and_keywords(self):
        self.check(Pair(), {"pair": 2})
        for _, path in self.files(Pair()):
            code = Run("inspect", path, "--code").out
            self.assertIn("[1, 2], k = 3", code)
            self.assertIn('mode = "near"', code)

    def test_lists_and_sizes_are_refused(self):
        """The file does not tell what such an operator returns."""
        for model, word in ((PartsJoined(), "parts"), (Lists(), "parts"), (Width(), "width")):
            for how, path in self.files(model, traced=False):
                run = Run("inspect", path)
                with self.subTest(type(model).__name__):
                    self.assertEqual(run.code, 1)
                    self.assertEqual(len(run.err.strip().splitlines()), 1, run.err)
                    for part in (str(path), f"'unknownlib::{word}'", "--extension DIR", "torch.export"):
                        self.assertIn(part, run.err)

    def test_branches_and_conditions(self):
        for how, path in self.files(Branch(), traced=False):
            bodies = self.opened(path)
            self.assertEqual(sum(n["op"] == "prim.If.default" for n in bodies.values()), 2)
        code = Run("inspect", path, "--code").out
        for word in ("one", "more"):
            self.assertIn(f"unknownlib.{word}.default(", code)
        self.assertEqual(Run("plan", path).code, 0)
        self.refused(path)

    def test_arguments_left_out(self):
        self.check(Optional(), {"of_two": 3})

    def test_an_operator_of_a_newer_torch(self):
        """LibTorch's own namespace counts as any other."""
        path, newer = self.folder / "old.pt", self.folder / "newer.pt"
        torch.jit.script(nn.Sequential(nn.Linear(4, 4), nn.Sigmoid()).eval()).save(path)
        with zipfile.ZipFile(path) as old, zipfile.ZipFile(newer, "w") as new:
            for item in old.infolist():
                data = old.read(item)
                if item.filename.endswith("activation.py"):
                    self.assertIn(b"torch.sigmoid(", data)
                    data = data.replace(b"torch.sigmoid(", b"torch.future_activation(")
                new.writestr(item.filename, data)
        self.assertIn("aten.future_activation.default", [n["op"] for n in self.opened(newer).values()])


if __name__ == "__main__":
    unittest.main()
