# SPDX-License-Identifier: Apache-2.0
"""Operators without meta kernels: their pack says what their results look like, and nobody runs one to learn it."""

import json
import shutil
import signal
from pathlib import Path

import torch
from torch import nn

from edits import op
from harness import PROGRAM, expect_bad, main, run, run_good, run_json, write_recipe

PACK = Path(PROGRAM).parent.parent / "extensions" / "rules"
torch.ops.load_library(str(PACK / "librules.so"))
TOLD = json.loads((PACK / "extension.json").read_text())["operators"]


# What lets torch.export through: in Python alone, so that the program has the pack's word only.
torch.library.register_fake("rules::damped", lambda x, factor=0.5: torch.empty_like(x))
torch.library.register_fake("rules::project", lambda x, weight: x.new_empty(x.shape[0], weight.shape[0]))
torch.library.register_fake("rules::largest", lambda x, count: (x.new_empty(x.shape[0], count),
                                                                x.new_empty(x.shape[0], count, dtype=torch.int64)))
torch.library.register_fake("rules::windows", lambda x, width: x.new_empty(x.shape[0], x.shape[1] // width, width))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.relu = nn.Linear(16, 16), nn.ReLU()
        self.weight = nn.Parameter(torch.randn(12, 16) * 0.3)

    def forward(self, x):
        x = torch.ops.rules.damped(self.relu(self.first(x)))
        values, places = torch.ops.rules.largest(torch.ops.rules.project(x, self.weight), 8)
        return torch.ops.rules.windows(values, 4).sum(1), places


def network(folder):
    """The model and its exported file with an open batch."""
    torch.manual_seed(5)
    model, x = Net().eval(), torch.randn(6, 16)
    batch = torch.export.Dim("batch", min=1, max=64)
    torch.export.save(torch.export.export(model, (x,), dynamic_shapes=({0: batch},)), folder / "m.pt2")
    return model, folder / "m.pt2"


def changed(folder, place, **operators):
    """A copy of the pack with entries of operators changed; what `results` is None says none."""
    pack = folder / place
    shutil.copytree(PACK, pack)
    document = json.loads((pack / "extension.json").read_text())
    for name, entry in operators.items():
        document["operators"][f"rules::{name}"] = {key: value for key, value in entry.items() if value is not None}
    (pack / "extension.json").write_text(json.dumps(document))
    return pack


def types(file, pack):
    """Shape and element type of all results, by node."""
    nodes = run_json("inspect", file, "--extension", pack)["nodes"]
    return {node["name"]: [(value.get("shape"), value.get("dtype")) for value in node["outputs"]] for node in nodes}


def test_check_tells_them(folder):
    text = run_good("extensions", "check", PACK)
    for line in ("results   rules::damped -> x", "results   rules::project -> [x.0, weight.0]",
                 "results   rules::largest -> [x.0, count], [x.-2, count] int64", "results   rules::windows -> rules::windows_shape"):
        assert line in text, f"{line} is not in\n{text}"
    assert run_json("extensions", "check", PACK)["results"]["rules::windows"] == ["rules::windows_shape"]


def test_an_operator_that_crashes_is_told(folder):
    class Crashes(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 4)

        def forward(self, x):
            return torch.ops.rules.damped(self.fc(x), 13.0)

    torch.export.save(torch.export.export(Crashes(), (torch.randn(2, 4),)), folder / "m.pt2")
    torch.save(torch.randn(2, 4), folder / "data.pt")
    done = run("quantize", folder / "m.pt2", "--data", folder / "data.pt", "--device", "cpu", "--extension", PACK, "--out", folder / "out")
    assert done.returncode == -signal.SIGSEGV, (done.returncode, done.stderr)
    assert "crashed in node 'damped' (rules.damped.default)" in done.stderr, done.stderr
    assert not (folder / "out" / "result.json").exists()


def test_an_edit_before_them(folder):
    """What follows an edit is told anew, open dimensions as open ones, by the pack's word."""
    model, file = network(folder)
    before = types(file, PACK)
    clip = {"do": "insert", "op": "aten.hardtanh.default", "at": op("relu", "relu.default"), "name": "clip", "args": {"min_val": 0.0, "max_val": 0.5}}
    # One that changes the number of columns that the operators get: 12 become 8.
    cut = {"do": "insert", "op": "aten.narrow.default", "at": {"module": "", "op": "rules.project.default"}, "name": "cut",
           "args": {"dim": 1, "start": 0, "length": 8}}
    out = folder / "edited.pt2"
    words = ("edit", file, "--recipe", write_recipe(folder, edits=[clip, cut]), "--out", out, "--strict", "--extension")
    run_good(*words, PACK)
    after = types(out, PACK)
    for name in ("damped", "project", "largest", "windows"):
        assert after[name] == before[name], (name, before[name], after[name])
    batch = before["damped"][0][0][0]
    assert not str(batch).isdigit() and after["cut"] == [([batch, 8], "float32")], after["cut"]
    assert after["windows"][0][0] == [batch, 2, 4] and after["largest"][1] == ([batch, 8], "int64"), after
    x = torch.randn(9, 16)
    with torch.no_grad():
        hidden = nn.functional.hardtanh(model.relu(model.first(x)), 0.0, 0.5) * 0.5
        values, places = (hidden @ model.weight.t())[:, :8].topk(8, 1)
        made = torch.export.load(out).module()(x)
    assert torch.allclose(made[0], values.reshape(9, 2, 4).sum(1)) and torch.equal(made[1], places)
    # Without it they are run, and these are not made for that.
    silent = changed(folder, "silent", damped={**TOLD["rules::damped"], "results": None})
    expect_bad(*words, silent, contains=["it is not made for zeros"])


def test_an_edit_that_inserts_one(folder):
    _, file = network(folder)
    out = folder / "edited.pt2"
    for name, target, args, wanted in (("again", "rules.damped.default", {"factor": 0.25}, [16]),
                                       ("tops", "rules.largest.default", {"count": 16}, [16]),
                                       ("rows", "rules.windows.default", {"width": 8}, [2, 8])):
        insert = {"do": "insert", "op": target, "at": op("relu", "relu.default"), "name": name, "args": args}
        after = [{"do": "insert", "op": "aten.flatten.using_ints", "at": {"added": name}, "name": "flat", "args": {"start_dim": 1}}]
        recipe = write_recipe(folder, edits=[{"do": "add_output", "at": op("relu", "relu.default")}, insert] + (after if name == "rows" else []))
        run_good("edit", file, "--recipe", recipe, "--out", out, "--strict", "--extension", PACK)
        shape, dtype = next(told[0] for node, told in types(out, PACK).items() if node.startswith(name))
        assert shape[1:] == wanted and not str(shape[0]).isdigit() and dtype == "float32", (name, shape, dtype)


def test_sizes_by_a_script(folder):
    """The operator that gives the sizes may be TorchScript."""

    class Sizes(nn.Module):
        @torch.jit.export
        def windows(self, x: torch.Tensor, width: int) -> list[int]:
            return [x.size(0), x.size(1) // width, width]

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x

    _, file = network(folder)
    pack = changed(folder, "script", windows={"input": "x", "results": [{"shape": {"operator": "rules::scripted_shape"}}]})
    torch.jit.script(Sizes()).save(str(pack / "sizes.pt"))
    document = json.loads((pack / "extension.json").read_text())
    document["scripts"] = {"sizes.pt": {"rules::scripted_shape": "windows"}}
    (pack / "extension.json").write_text(json.dumps(document))
    out = folder / "edited.pt2"
    clip = {"do": "insert", "op": "aten.relu.default", "at": {"module": "", "op": "rules.project.default"}, "name": "clip"}
    run_good("edit", file, "--recipe", write_recipe(folder, edits=[clip]), "--out", out, "--strict", "--extension", pack)
    assert types(out, pack)["windows"] == types(file, pack)["windows"], types(out, pack)["windows"]


def test_results_that_are_wrong(folder):
    def bad(place, op_name, results, *contains):
        entry = {key: value for key, value in TOLD.get(f"rules::{op_name}", {}).items() if key != "results"}
        pack = changed(folder, place, **{op_name: {**entry, "results": results}})
        expect_bad("extensions", "check", pack, contains=["extension.json", f"operators.rules::{op_name}.results", *contains])

    x = {"shape": "x"}
    bad("list", "damped", "x", "list")
    bad("empty", "damped", [], "one entry for each result")
    bad("key", "damped", [{"shap": "x"}], "[0]", "unknown key 'shap'", "did you mean 'shape'?")
    bad("missing", "damped", [{"dtype": "int64"}], "[0]", "the key 'shape' is missing")
    bad("number", "damped", [{"shape": 3}], "[0].shape", "this is not a shape")
    bad("dimension", "damped", [{"shape": [{"dimension": 0}]}], "[0].shape[0]", "this is not a dimension")
    bad("word", "damped", [{"shape": ["x"]}], "[0].shape[0]", "this is not a dimension")
    bad("negative", "damped", [{"shape": [-1]}], "[0].shape[0]", "not negative")
    bad("dtype", "damped", [{"shape": "x", "dtype": "int46"}], "[0].dtype", "unknown dtype 'int46'")
    bad("quantized", "damped", [{"shape": "x", "dtype": "quint8"}], "[0].dtype", "no quantized tensor")
    bad("argument", "damped", [{"shape": "y"}], "no tensor 'y'", "x")
    bad("kind", "largest", [{"shape": "count"}, x], "no tensor 'count'")
    bad("size", "largest", [{"shape": [{"argument": "x"}]}, x], "no number 'x'", "count")
    bad("fewer", "largest", [x], "it gives 2 tensors, 1 listed")
    bad("more", "damped", [x, x], "it gives 1 tensor, 2 listed")
    bad("parts", "parts", [x], "it gives Tensor[]")
    bad("aten", "windows", [{"shape": {"operator": "aten::size"}}], "'aten::size' is not the pack's operator")
    bad("unknown", "windows", [{"shape": {"operator": "rules::window_shape"}}], "register no operator 'rules::window_shape'")
    bad("other", "windows", [{"shape": {"operator": "rules::other_shape"}}], "rules::other_shape", "the same arguments")
    bad("gives", "windows", [{"shape": {"operator": "rules::no_shape"}}], "rules::no_shape", "int[]")
    bad("device", "windows", [{"shape": {"operator": "rules::cpu_shape"}}], "rules::cpu_shape", "register it for every device")
    bad("known", "known", [x], "it has a meta kernel")
    # What only a model shows: a dimension that there is not.
    _, file = network(folder)
    pack = changed(folder, "beyond", damped={"input": "x", "results": [{"shape": [{"argument": "x", "dimension": 5}]}]})
    again = {"do": "insert", "op": "rules.damped.default", "at": op("first", "linear.default"), "name": "again"}
    expect_bad("edit", file, "--recipe", write_recipe(folder, edits=[again]), "--out", folder / "e.pt2", "--strict", "--extension", pack,
               contains=["m.pt2", "node 'again'", "rules.damped", "got 5"])


if __name__ == "__main__":
    main(__name__)
