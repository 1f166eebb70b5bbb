# SPDX-License-Identifier: Apache-2.0
"""Operators of .pt2 files that run graphs of their own: what torch.export can save of them is opened, runs as in PyTorch, is
written back and as TorchScript, and shows the modules inside; what cannot run says so in one line. Without --all strict exports alone,
where there are such."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import torch
from torch._higher_order_ops.map import map as map_over
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop

from oracle_run import ALL, check_model, main, run_tool

torch.set_num_threads(1)


class Base(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(4, 4)
        self.b = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())


class Cond(Base):
    def forward(self, x):
        y = torch.cond(x.sum() > 0, lambda x: self.a(x).relu(), lambda x: self.b(x) - 1, (x,))
        return self.a(y)


class Nested(Base):
    def forward(self, x):
        def inner(x):
            return torch.cond(x.max() > 1, lambda x: self.a(x), lambda x: x * 2, (x,))
        return torch.cond(x.sum() > 0, inner, lambda x: x - 1, (x,))


class CondOnSize(Base):
    def forward(self, x):
        n = x.shape[0]
        return torch.cond(n > 4, lambda x: self.a(x).sum() * n + self.a(x), lambda x: self.b(x), (x,))


class TwoResults(Base):
    def forward(self, x, y):
        p, q = torch.cond((x > y).any(), lambda x, y: (x + y, self.a(x)), lambda x, y: (x * y, self.b(y)), (x, y))
        return {"p": p, "q": (q, p - q)}


class While(Base):
    def forward(self, x):
        def more(i, x):
            return (i < 5) & (x.abs().sum() < 100)

        def body(i, x):
            return i + 1, self.a(x).tanh() * 3
        return while_loop(more, body, (torch.tensor(0), x))


class Map(Base):
    def forward(self, xs, y):
        return map_over(lambda x, y: self.b(x) + y, xs, y)


class Scan(Base):
    def forward(self, xs):
        def step(carry, x):
            new = self.a(carry) + x
            return new, new * 2
        return scan(step, torch.zeros(4), xs)


class NoGrad(Base):
    def forward(self, x):
        with torch.no_grad():
            x = self.a(x)
        return self.b(x)


class Autocast(Base):
    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            x = self.a(x)
        return x.float()


class StrictMode(Base):
    def forward(self, x):
        from torch._higher_order_ops.strict_mode import strict_mode
        return strict_mode(lambda x: (self.a(x), x.sin()), (x,))


class Hints(Base):
    def forward(self, x):
        from torch._higher_order_ops.hints_wrap import hints_wrapper

        def body(x):
            return self.b(x)
        return hints_wrapper(body, (x,), {}, hints={"speed": True})


class Invoke(Base):
    def forward(self, x):
        from torch._higher_order_ops.invoke_subgraph import mark_compile_region

        @mark_compile_region
        def part(x):
            return self.a(x).relu()
        return part(part(x))


class OutDtype(torch.nn.Module):
    def forward(self, a, b):
        from torch._higher_order_ops.out_dtype import out_dtype
        return out_dtype(torch.ops.aten.mm.default, torch.int32, a, b)


class Prints(Base):
    def forward(self, x):
        torch.ops.aten._print("seen")
        return self.a(x)


@torch.library.custom_op("helpertest::bump", mutates_args={"x"})
def bump(x: torch.Tensor) -> None:
    x.add_(1)


class Custom(torch.nn.Module):
    def forward(self, x):
        y = x.clone()
        bump(y)
        return y * 2


def inspect(path):
    done = subprocess.run([os.environ["QUANTSCOPE"], "inspect", "--json", str(path)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


class HigherOrder(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(5)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def check(self, model, calls, shapes=None, strict=(False, True), refused=(), decompose=False):
        model = model.eval()
        for mode in strict if ALL else strict[-1:]:
            program = torch.export.export(model, calls[0], dynamic_shapes=shapes, strict=mode)
            for made in [program] + [program.run_decompositions()] * decompose:
                check_model(made, model, calls, self.folder, refused)
        return inspect(self.folder / "model.pt2")

    def opaque(self, document, op):
        found = [node for node in document["nodes"] if node["op"] == op]
        self.assertTrue(found, [node["op"] for node in document["nodes"]])
        for node in found:
            self.assertIn("subgraph", node["opaque"])
        return found

    def test_cond(self):
        document = self.check(Cond(), [(torch.ones(3, 4),), (-torch.ones(3, 4),)], decompose=True)
        self.opaque(document, "higher_order.cond")
        modules = {m["path"]: m["class"] for m in document["modules"]}
        # Modules that are called inside the branches only are there too (a strict export tells them).
        self.assertEqual(modules["b.0"], "torch.nn.Linear")
        self.assertEqual(modules["b.1"], "torch.nn.ReLU")

    def test_cond_in_cond(self):
        self.check(Nested(), [(torch.ones(3, 4) * 2,), (torch.ones(3, 4) * 0.5,), (-torch.ones(3, 4),)], decompose=True)

    def test_cond_on_a_size(self):
        rows = torch.export.Dim("rows", min=2, max=64)
        self.check(CondOnSize(), [(torch.randn(n, 4),) for n in (3, 5, 9)], ({0: rows},), strict=(False,), decompose=True)

    def test_cond_with_structured_results(self):
        x, y = torch.randn(3, 4), torch.randn(3, 4)
        self.check(TwoResults(), [(x, y), (x, x + 1)])

    def test_while_loop(self):
        document = self.check(While(), [(torch.randn(3, 4),), (torch.full((3, 4), 50.0),)], decompose=True)
        self.opaque(document, "higher_order.while_loop")
        # Detaching the counter in place changes no value, though the loop may hand it through.
        self.assertFalse([n for n in document["nodes"] if n["op"] == "quantscope.region.default"])

    def test_map(self):
        document = self.check(Map(), [(torch.randn(5, 3, 4), torch.randn(4))], decompose=True)
        self.opaque(document, "higher_order.map_impl")

    def test_map_over_any_number(self):
        rows = torch.export.Dim("rows", min=2, max=64)
        self.check(Map(), [(torch.randn(n, 3, 4), torch.randn(4)) for n in (5, 2, 7)], ({0: rows}, None), strict=(False,))

    def test_scan(self):
        document = self.check(Scan(), [(torch.randn(5, 4),)], decompose=True)
        self.opaque(document, "higher_order.scan")

    def test_wrappers_leave_nothing_behind(self):
        for model, strict in ((NoGrad(), (False, True)), (StrictMode(), (False, True)), (Hints(), (True,)), (Invoke(), (False,))):
            with self.subTest(type(model).__name__):
                document = self.check(model, [(torch.randn(3, 4),)], strict=strict)
                self.assertFalse([n for n in document["nodes"] if n["op"].startswith("higher_order") or "opaque" in n])

    def test_autocast(self):
        document = self.check(Autocast(), [(torch.randn(3, 4),)], strict=(False,), refused=("torchscript",))
        self.opaque(document, "higher_order.wrap_with_autocast")

    def test_out_dtype(self):
        integers = [torch.randint(-128, 128, shape, dtype=torch.int8) for shape in ((3, 4), (4, 5))]
        self.check(OutDtype(), [tuple(integers)], refused=("torchscript",), decompose=True)

    def test_printing_is_left_out(self):
        document = self.check(Prints(), [(torch.randn(3, 4),)], decompose=True)
        self.assertFalse([n for n in document["nodes"] if "print" in n["op"] or "effects" in n["op"]])

    def test_an_unknown_custom_operator_is_shown_and_written_back(self):
        x = torch.randn(3, 4)
        path = self.folder / "custom.pt2"
        torch.export.save(torch.export.export(Custom(), (x,)).run_decompositions(), path)
        node = next(n for n in inspect(path)["nodes"] if n["op"] == "higher_order.auto_functionalized_v2")
        self.assertIn("'helpertest.bump.default' is unknown", node["opaque"])
        done = run_tool(path, "sample", self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1)
        self.assertIn(node["name"], done.stderr)


if __name__ == "__main__":
    main()
