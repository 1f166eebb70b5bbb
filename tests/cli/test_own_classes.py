# SPDX-License-Identifier: Apache-2.0
"""Names that are not PyTorch's: module classes of one's own in backends, rows of the lowering table that mean nothing."""

import json

import torch
from torch import nn

from harness import by_name, expect_bad, export_model, main, run, run_good, run_json, write_recipe

import models


class MyLinear(nn.Module):
    """One operator with a weight."""

    def __init__(self, wide, narrow):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(narrow, wide) * 0.3)
        self.bias = nn.Parameter(torch.zeros(narrow))

    def forward(self, x):
        return nn.functional.linear(x, self.weight, self.bias)


class Gated(MyLinear):
    """Two operators."""

    def forward(self, x):
        return torch.sigmoid(super().forward(x))


class Net(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        self.last = nn.Linear(8, 4)

    def forward(self, x):
        return self.last(self.inner(x))


def own_backend(folder, name):
    """x86 without the functional linear, and with an entry for modules of that class."""
    backend = json.loads(run_good("backends", "show", "x86", "--json"))
    linear = next(entry for entry in backend["patterns"] if entry["pattern"] == ["torch.nn.Linear"])
    own = {**linear, "pattern": [name], "root_module": name}
    own.pop("qat_module")
    backend["patterns"] = [entry for entry in backend["patterns"] if "torch.nn.functional.linear" not in entry.get("pattern", [])] + [own]
    backend["name"] = "own"
    file = folder / "own.json"
    file.write_text(json.dumps(backend))
    return file


def test_a_class_of_ones_own_matches(folder):
    torch.manual_seed(3)
    x = torch.randn(4, 8)
    model = Net(MyLinear(8, 8)).eval()
    export_model(model, (x,), folder / "m.pt2")
    torch.jit.save(torch.jit.trace(model, x), folder / "m.pt")
    torch.save([(torch.randn(4, 8),) for _ in range(3)], folder / "data.pt")
    backend = own_backend(folder, f"{__name__}.MyLinear")
    recipe = write_recipe(folder, backend=str(backend), mapping={"global": "x86"})
    assert "matches single-operator modules of that class" in run_good("backends", "check", backend)
    for file in ("m.pt2", "m.pt"):
        out = folder / f"{file}.out"
        run_good("quantize", folder / file, "--recipe", recipe, "--data", folder / "data.pt", "--out", out, "--device", "cpu")
        node = by_name(json.loads((out / "result.json").read_text()))["linear"]
        assert node["quantized"] and node["pattern"] == [f"{__name__}.MyLinear"], node
        assert node["kernel"]["name"] == "quantized.linear.default" and node["kernel"]["passed"], node


def test_a_class_of_several_operators_is_told(folder):
    x = torch.randn(4, 8)
    export_model(Net(Gated(8, 8)).eval(), (x,), folder / "m.pt2")
    recipe = write_recipe(folder, backend=str(own_backend(folder, f"{__name__}.Gated")), mapping={"global": "x86"})
    done = run("plan", folder / "m.pt2", "--recipe", recipe)
    assert done.returncode == 0 and f"'{__name__}.Gated': module 'inner' computes 2 operators itself" in done.stderr, done.stderr


def test_a_misspelled_class_is_told(folder):
    x = torch.randn(4, 8)
    export_model(Net(MyLinear(8, 8)).eval(), (x,), folder / "m.pt2")
    recipe = write_recipe(folder, backend=str(own_backend(folder, f"{__name__}.MyLiner")), mapping={"global": "x86"})
    done = run("plan", folder / "m.pt2", "--recipe", recipe)
    assert done.returncode == 0 and "did you mean '" in done.stderr and "MyLinear'?" in done.stderr, done.stderr


def test_an_operator_that_no_pack_has(folder):
    x = torch.randn(4, 8)
    export_model(Net(MyLinear(8, 8)).eval(), (x,), folder / "m.pt2")
    backend = own_backend(folder, "torch.ops.mypack.linear")
    recipe = write_recipe(folder, backend=str(backend), mapping={"global": "x86"})
    expect_bad("plan", folder / "m.pt2", "--recipe", recipe, contains=["'torch.ops.mypack.linear'", "no loaded extension pack", "--extension DIR"])


def test_rows_that_mean_nothing(folder):
    _, model, data, _ = models.residual(folder)

    def lowering(**rows):
        return write_recipe(folder, convert={"lowering": rows})

    words = ["quantize", model, "--data", data, "--device", "cpu", "--out", folder / "out", "--recipe"]
    for pattern, near in ((["my.Linear"], "did you mean '"), (["torch.nn.Bilinear"], "removes nothing")):
        recipe = lowering(remove=[{"pattern": pattern}])
        done = run("plan", model, "--recipe", recipe)
        assert done.returncode == 0 and pattern[0] in done.stderr and near in done.stderr, done.stderr
        assert any(pattern[0] in line for line in run_json("plan", model, "--recipe", recipe)["warnings"])
        done = run(*words, recipe, "--strict")
        assert done.returncode == 1 and "--strict" in done.stderr and pattern[0] in done.stderr, done.stderr
    for pattern, kernel, wrong, near in (("torch.nn.Linear", "my.Linear", "my.Linear", "did you mean '"),
                                         ("torch.nn.Lineer", "quantized::linear", "torch.nn.Lineer", "did you mean 'torch.nn.Linear'?"),
                                         ("torch.nn.Linear", "quantized::lineer", "quantized::lineer", "did you mean 'quantized::linear'?")):
        recipe = lowering(add=[{"pattern": [pattern], "to": kernel}])
        expect_bad("plan", model, "--recipe", recipe, contains=["recipe.json", "convert.lowering.add", wrong, near])


if __name__ == "__main__":
    main(__name__)
