# SPDX-License-Identifier: Apache-2.0
"""Edits of the graph: what `quantscope edit` writes computes what the model edited in Python computes, whatever is edited;
what does not fit is named and left out; quantize, compare and plan work on the edited model."""

import hashlib
import json

import numpy as np
import torch
from torch import nn

from edits import block, edited, op, same
from harness import by_name, expect_bad, export_model, main, run, run_good, run_json, write_recipe
from models import Residual, residual


def test_every_kind_of_edit_computes_what_python_does(folder):
    model, path, _, data = residual(folder)
    x = data[:2]
    F = nn.functional

    def python(change):
        other = Residual().eval()
        other.load_state_dict(model.state_dict())
        other.forward = change.__get__(other)
        with torch.no_grad():
            return other(x)

    def inserted(m, x):
        a = m.pool(F.hardtanh(m.relu(m.conv1(x)), 0.0, 0.5))
        return torch.cos(m.fc(torch.flatten(a + m.conv2(a), 1)))

    clip = {"do": "insert", "op": "aten.hardtanh.default", "at": op("relu", "relu.default"), "name": "clip",
            "args": {"min_val": 0.0, "max_val": 0.5}}
    same(python(inserted), edited(folder, path, [clip])[0](x))

    def on_one_edge(m, x):
        a = m.pool(m.relu(m.conv1(x)))
        return torch.cos(m.fc(torch.flatten(F.relu(a) * 2.0 + m.conv2(a), 1)))

    edge = [{"do": "insert", "op": "aten.relu.default", "at": op("pool", "max_pool2d.default"), "name": "half",
             "readers": [{"node": op("", "add.Tensor"), "argument": "self"}]},
            {"do": "insert", "op": "aten.mul.Tensor", "at": {"added": "half"}, "name": "twice", "args": {"other": 2.0}}]
    same(python(on_one_edge), edited(folder, path, edge)[0](x))

    def removed(m, x):
        a = m.pool(m.conv1(x))
        return torch.cos(m.fc(torch.flatten(a + m.conv2(a), 1)))

    same(python(removed), edited(folder, path, [{"do": "remove", "at": op("relu", "relu.default")}])[0](x))

    def replaced(m, x):
        a = m.pool(F.silu(m.conv1(x)))
        return torch.sin(m.fc(torch.flatten(a + m.conv2(a), 1)))

    swaps = [{"do": "replace", "at": op("relu", "relu.default"), "op": "aten.silu.default"},
             {"do": "replace_every", "every": "aten.cos.default", "op": "aten.sin.default"}]
    same(python(replaced), edited(folder, path, swaps)[0](x))

    def strided(m, x):
        a = F.avg_pool2d(m.relu(m.conv1(x)), 2)
        return torch.cos(m.fc(torch.flatten(a - m.conv2(a), 1)))

    other = [{"do": "replace", "at": op("pool", "max_pool2d.default"), "op": "aten.avg_pool2d.default"},
             {"do": "replace", "at": op("", "add.Tensor"), "op": "aten.sub.Tensor"}]
    same(python(strided), edited(folder, path, other)[0](x))

    def rewired(m, x):
        a = m.pool(m.relu(m.conv1(x)))
        return torch.cos(m.fc(torch.flatten(a + a, 1))), a, m.conv2(a)

    rewire = [{"do": "add_output", "at": op("pool", "max_pool2d.default")},
              {"do": "add_output", "at": op("conv2", "conv2d.default")},
              {"do": "rewire", "at": op("", "add.Tensor"), "argument": "other", "to": op("pool", "max_pool2d.default")}]
    same(python(rewired), edited(folder, path, rewire)[0](x))
    dropped = [*rewire, {"do": "drop_output", "output": 0}]
    same(python(rewired)[1:], edited(folder, path, dropped)[0](x))

    def constants(m, x):
        a = m.pool(m.relu(m.conv1(x)))
        y = F.linear(torch.flatten(a + m.conv2(a), 1), m.fc.weight * 0.5, torch.arange(5.0))
        return torch.cos(y)

    np.save(folder / "weight.npy", (model.fc.weight * 0.5).detach().numpy())
    stored = [{"do": "constant", "at": {"stored": "fc.bias"}, "values": [0, 1, 2, 3, 4]},
              {"do": "constant", "at": {"stored": "fc.weight"}, "file": str(folder / "weight.npy")}]
    same(python(constants), edited(folder, path, stored)[0](x))

    copy = [{"do": "duplicate", "at": op("relu", "relu.default"), "name": "second",
             "readers": [{"node": op("pool", "max_pool2d.default"), "argument": "self"}]},
            {"do": "rename", "at": op("", "cos.default"), "name": "finish"}]
    with torch.no_grad():
        wanted = model(x)
    # The original nobody reads any more; the copy stands in its place.
    made, told = edited(folder, path, copy)
    same(wanted, made(x))
    assert told["edits"][0]["nodes"] == ["second"] and told["edits"][1]["nodes"] == ["finish"], told


def test_a_transformer_with_an_open_batch(folder):
    model, path, x = block(folder)
    edits = [{"do": "insert", "op": "aten.clamp.default", "at": op("up", "linear.default"), "name": "clip",
              "args": {"min": -1, "max": 1}},
             # First what brings the shape back: every edit alone leaves a model that runs.
             {"do": "insert", "op": "aten.reshape.default", "at": op("down", "linear.default"), "name": "back",
              "args": {"shape": [-1, 6, 16]}},
             {"do": "insert", "op": "aten.reshape.default", "at": op("norm", "layer_norm.default"), "name": "flat",
              "args": {"shape": [-1, 16]}, "readers": [{"node": op("up", "linear.default"), "argument": "input"}]},
             {"do": "set", "at": op("act", "gelu.default"), "args": {"approximate": "tanh"}}]
    made, _ = edited(folder, path, edits)
    for batch in (4, 7, 1):
        inputs = torch.randn(batch, 6, 16)
        with torch.no_grad():
            n = model.norm(inputs + nn.functional.scaled_dot_product_attention(
                model.query(inputs), model.key(inputs), model.value(inputs)))
            h = nn.functional.gelu(model.up(n.reshape(-1, 16)).clamp(-1, 1), approximate="tanh")
            wanted = n + model.down(h).reshape(-1, 6, 16)
        same(wanted, made(inputs))
    # What stands in the file is what runs: shapes behind the edits were told anew, the open one as open.
    shapes = {node["name"]: node["outputs"][0]["shape"]
              for node in run_json("inspect", folder / "edited.pt2")["nodes"] if node["outputs"]}
    assert shapes["clip"][1:] == [64] and str(shapes["clip"][0]).startswith("6*"), shapes["clip"]
    assert shapes["back"][1:] == [6, 16] and not str(shapes["back"][0]).isdigit(), shapes["back"]
    part = [{"do": "extract", "nodes": [op("up", "linear.default"), op("act", "gelu.default"), op("down", "linear.default")]}]
    alone, _ = edited(folder, path, part)
    inputs = torch.randn(5, 6, 16)
    with torch.no_grad():
        same(model.down(model.act(model.up(inputs))), alone(inputs))


def test_another_export_of_the_model_takes_the_same_edits(folder):
    model, path, _, data = residual(folder)
    edits = [{"do": "insert", "op": "aten.clamp.default", "at": op("conv2", "conv2d.default"), "name": "clip", "args": {"max": 0.25}},
             {"do": "remove", "at": op("relu", "relu.default")}]
    made, _ = edited(folder, path, edits)
    # Exported anew: strictly, with an open batch, and as a trace.
    torch.export.save(torch.export.export(model.eval(), (data[:3],), dynamic_shapes=({0: torch.export.Dim("n")},), strict=True),
                      folder / "strict.pt2")
    torch.jit.trace(model.eval(), data[:3]).save(folder / "trace.pt")
    x = data[:2]
    again, told = edited(folder, folder / "strict.pt2", edits)
    same(made(x), again(x))
    traced = run_json("edit", folder / "trace.pt", "--recipe", folder / "recipe.json")["edits"]
    assert [edit["problem"] for edit in traced] == [None, None] and traced[0]["nodes"] == ["clip"], traced
    # A .pt2 wants shapes, which a trace does not tell.
    expect_bad("edit", folder / "trace.pt", "--recipe", folder / "recipe.json", "--out", folder / "no.pt2",
               contains=["holds no shapes", "--data"])
    run_good("edit", folder / "trace.pt", "--recipe", folder / "recipe.json", "--data", folder / "data.npz", "--out", folder / "t.pt2")
    assert not (folder / "t.npz").exists() and not (folder / "no.pt2").exists()
    with torch.no_grad():
        shown = torch.export.load(folder / "t.pt2").module()(data[:8])
        wanted = torch.cat([made(data[i:i + 2]) for i in range(0, 8, 2)])
    assert torch.allclose(shown, wanted, atol=1e-6), (shown - wanted).abs().max()  # other batches add up otherwise
    words = ["--data", folder / "data.npz", "--device", "cpu", "--recipe", folder / "recipe.json"]
    terms = [run_json("quantize", folder / file, *words, "--out", folder / f"out{i}")["outputs"][0]["lowered"]["sqnr_db"]
             for i, file in enumerate(("residual.pt2", "strict.pt2", "trace.pt"))]
    assert max(terms) - min(terms) < 1e-6, terms


def test_fold_keeps_the_numbers(folder):
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(4, 8))
            self.gain = nn.Parameter(torch.rand(4, 1))

        def forward(self, x):
            return nn.functional.linear(x, self.weight * torch.exp(self.gain))

    model, x = Scaled().eval(), torch.randn(3, 8)
    export_model(model, (x,), folder / "scaled.pt2")
    made, told = edited(folder, folder / "scaled.pt2", [{"do": "fold"}])
    with torch.no_grad():
        same(model(x), made(x))
    left = [node["op"] for node in run_json("inspect", folder / "edited.pt2")["nodes"]]
    assert "aten.mul.Tensor" not in left and "aten.exp.default" not in left, left


def test_every_verb_works_on_the_edited_model(folder):
    _, path, data, _ = residual(folder)
    edits = [{"do": "insert", "op": "aten.hardtanh.default", "at": op("", "add.Tensor"), "name": "clip",
              "args": {"min_val": -1.0, "max_val": 1.0}},
             {"do": "remove", "at": op("", "cos.default")}]
    recipe = write_recipe(folder, edits=edits)
    names = [node["name"] for node in run_json("plan", path, "--recipe", recipe)["nodes"]]
    assert "clip" in names and "cos" not in names, names
    words = ["--data", data, "--device", "cpu"]
    document = run_json("quantize", path, "--recipe", recipe, *words, "--out", folder / "journal")
    # The same from the edited file itself: one model, whichever way it came to be.
    run_good("edit", path, "--recipe", recipe, "--out", folder / "edited.pt2")
    direct = run_json("quantize", folder / "edited.pt2", *words, "--out", folder / "direct")
    mine, theirs = by_name(document), by_name(direct)
    assert set(mine) == set(theirs), set(mine) ^ set(theirs)
    for name, node in mine.items():
        assert node["output"] == theirs[name]["output"] and node["error"] == theirs[name]["error"], name
    again = run_json("compare", path, "--result", folder / "journal", *words)
    assert by_name(again)["clip"]["error"] == mine["clip"]["error"]
    # Without the edits it is another model's result.
    plain = run_json("quantize", path, *words, "--out", folder / "plain")
    assert by_name(plain)["fc"]["output"] != mine["fc"]["output"] if "fc" in mine else True


def test_a_project_stands_wherever_a_model_does(folder):
    _, path, data, _ = residual(folder)
    edits = [{"do": "remove", "at": op("", "cos.default")}]
    recipe = json.loads(write_recipe(folder, edits=edits, calibration={"batch_size": 8, "batches": 2}).read_text())
    project = folder / "work.project.json"
    project.write_text(json.dumps({"format": "quantscope.project", "version": 1, "model": "residual.pt2", "data": "data.npz",
                                   "recipe": recipe}))
    names = [node["name"] for node in run_json("plan", project)["nodes"]]
    assert "cos" not in names and "linear" in names, names
    mine = run_json("quantize", project, "--device", "cpu", "--out", folder / "mine")
    theirs = run_json("quantize", path, "--recipe", folder / "recipe.json", "--data", data, "--device", "cpu", "--out",
                      folder / "theirs")
    assert mine["nodes"] == theirs["nodes"] and mine["outputs"] == theirs["outputs"]
    run_good("edit", project, "--out", folder / "edited.pt2")
    expect_bad("quantize", path, "--out", folder / "no", contains=["--data is required"], code=2)
    # Moved: found by its content beside the project, else told of; another file than the project's is said.
    (folder / "models").mkdir()
    path.rename(folder / "models" / "renamed.pt2")
    lost = json.loads(project.read_text())
    expect_bad("plan", project, contains=[project, "was not found at", "residual.pt2", "--model"])
    digest = hashlib.sha256((folder / "models" / "renamed.pt2").read_bytes()).hexdigest()
    project.write_text(json.dumps({**lost, "model_sha256": digest}))
    found = run("plan", project, "--json")
    assert found.returncode == 0 and "its model was moved; using" in found.stderr and "renamed.pt2" in found.stderr, found.stderr
    assert [node["name"] for node in json.loads(found.stdout)["nodes"]] == names
    (folder / "models" / "renamed.pt2").rename(folder / "elsewhere.bin")
    expect_bad("plan", project, contains=["was not found at"])
    (folder / "elsewhere.bin").rename(folder / "there.pt")
    assert [node["name"] for node in run_json("plan", project, "--model", folder / "there.pt")["nodes"]] == names
    block(folder)
    other = run("plan", project, "--model", folder / "block.pt2", "--json")
    assert other.returncode == 0 and "its content differs from the model of" in other.stderr, other.stderr
    expect_bad("plan", folder / "there.pt", "--model", folder / "there.pt", contains=["--model is for a project"], code=2)


def test_a_changed_model_takes_what_fits(folder):
    _, path, data, _ = residual(folder)
    edits = [{"do": "insert", "op": "aten.relu.default", "at": op("conv2", "conv2d.default"), "name": "act2"},
             {"do": "remove", "at": op("relu", "relu.default")},
             {"do": "insert", "op": "aten.relu.default", "at": {"added": "act2"}, "name": "act3"}]

    class Other(Residual):
        def forward(self, x):  # exported anew: no second convolution, another order
            return torch.cos(self.fc(torch.flatten(self.pool(self.relu(self.conv1(x))), 1)))

    torch.manual_seed(7)
    export_model(Other(), (torch.randn(2, 3, 8, 8),), folder / "other.pt2")
    recipe = write_recipe(folder, edits=edits)
    told = run_json("edit", folder / "other.pt2", "--recipe", recipe)["edits"]
    assert "'conv2' has no operator aten.conv2d.default" in told[0]["problem"], told
    assert told[1]["problem"] is None and "act2" in told[2]["problem"], told
    done = run("quantize", folder / "other.pt2", "--recipe", recipe, "--data", data, "--device", "cpu", "--out", folder / "o")
    assert done.returncode == 0 and done.stderr.count("does not fit this model and was left out") == 2, done.stderr

    # Where none applies nothing is written; where some do, the others are left out.
    alone = write_recipe(folder, edits=[edits[0], edits[2]])
    expect_bad("edit", folder / "other.pt2", "--recipe", alone, "--out", folder / "nothing.pt2",
               contains=["no edit applies, nothing is written", "'conv2' has no operator"], out=folder / "nothing.pt2")
    assert not (folder / "nothing.pt2").exists()
    recipe = write_recipe(folder, edits=edits)

    strict = run("quantize", folder / "other.pt2", "--recipe", recipe, "--data", data, "--device", "cpu", "--strict", "--out",
                 folder / "p")
    assert strict.returncode == 1 and "edit 1, insert aten.relu.default after conv2" in strict.stderr, strict.stderr


REFUSED = [
    ({"do": "insert", "op": "aten.relu.default", "at": op("relu", "relu.default"), "name": "2nd"}, "is not a name for an operator"),
    ({"do": "insert", "op": "aten.rellu.default", "at": op("relu", "relu.default"), "name": "a"}, "did you mean 'aten.relu.default'"),
    ({"do": "insert", "op": "aten.relu_.default", "at": op("relu", "relu.default"), "name": "a"}, "writes to what it reads"),
    ({"do": "insert", "op": "aten.hardtanh.default", "at": op("relu", "relu.default"), "name": "a", "args": {"min": 0}},
     "has no argument 'min'"),
    ({"do": "insert", "op": "aten.clamp.default", "at": op("relu", "relu.default"), "name": "a", "args": {"min": "low"}},
     "takes Scalar?, not \"low\""),
    ({"do": "insert", "op": "aten.reshape.default", "at": op("relu", "relu.default"), "name": "a"}, "needs its argument 'shape'"),
    ({"do": "insert", "op": "aten.reshape.default", "at": op("relu", "relu.default"), "name": "a", "args": {"shape": [7, 11]}},
     "shape '[7, 11]' is invalid"),
    ({"do": "replace", "at": op("pool", "max_pool2d.default"), "op": "aten.relu.default"}, "cannot be multiplied"),
    ({"do": "remove", "at": {"input": "x"}}, "is not an operator"),
    ({"do": "remove", "at": {"input": "y"}}, "did you mean 'x'"),
    ({"do": "rewire", "at": op("conv1", "conv2d.default"), "argument": "input", "to": op("", "add.Tensor")},
     "would read what depends on itself"),
    ({"do": "rewire", "at": op("conv1", "conv2d.default"), "argument": "inputs", "to": {"input": "x"}}, "has no argument 'inputs'"),
    ({"do": "set", "at": op("conv1", "conv2d.default"), "args": {"padding": [[1]]}}, "takes"),
    ({"do": "drop_output", "output": 0}, "computes nothing"),
    ({"do": "drop_output", "output": 3}, "the model has 1 output"),
    ({"do": "constant", "at": {"stored": "fc.bias"}, "values": [[1, 2], [3]]}, "nor a regular nesting"),
    ({"do": "constant", "at": {"stored": "fc.bias"}, "values": [1, 2]}, "size"),
    ({"do": "constant", "at": {"stored": "fc.bias"}, "file": "nowhere.npy"}, "nowhere.npy"),
    ({"do": "fold"}, "no value here depends only on stored tensors"),
    ({"do": "rename", "at": op("conv1", "conv2d.default"), "name": "relu"}, "is called 'relu' already"),
]


def test_what_does_not_fit_is_refused_in_one_line(folder):
    _, path, _, _ = residual(folder)
    for edit, word in REFUSED:
        told = run_json("edit", path, "--recipe", write_recipe(folder, edits=[edit]))["edits"][0]
        assert told["problem"] and word in told["problem"], (edit, told)
        assert "\n" not in told["problem"] and "c10" not in told["problem"], told


def test_a_recipe_that_is_wrong_says_where(folder):
    _, path, _, _ = residual(folder)
    for edits, words in (
        ([{"do": "inser"}], ["edits[0].do", "did you mean 'insert'"]),
        ([{"do": "remove"}], ["edits[0]", "'at' is missing"]),
        ([{"do": "remove", "at": {"op": "aten.relu.default", "indx": 1}}], ["edits[0].at", "'indx'"]),
        ([{"do": "insert", "op": "aten.relu.default", "at": "relu", "name": "a"}], ["edits[0].at", "an address is"]),
        ({"do": "fold"}, ["edits", "expected a list"]),
    ):
        recipe = write_recipe(folder, edits=edits)
        expect_bad("edit", path, "--recipe", recipe, contains=[recipe, *words])
    expect_bad("edit", path, "--recipe", write_recipe(folder), contains=["contains no edits"])
    good = write_recipe(folder, edits=[{"do": "remove", "at": op("relu", "relu.default")}])
    expect_bad("edit", path, "--recipe", good, "--out", path, contains=["would overwrite an input file"], code=2)
    assert json.loads(run_good("edit", path, "--recipe", good, "--json"))["written"] is None


if __name__ == "__main__":
    main(__name__)
