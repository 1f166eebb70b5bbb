# SPDX-License-Identifier: Apache-2.0
"""Every line of the command line about a node names its layer as the tables do, with the graph's name in brackets:
'block1.conv2 + bn2' (conv2d_2). A line about a node of a converted form names the layer of the model."""

import re

import torch
from harness import SOURCE, export_model, main, run, run_good, run_json, write_recipe
from torch import nn

SAMPLES = SOURCE / "resources" / "samples"
DIGITS = SAMPLES / "digits.pt2"
DATA = SAMPLES / "calib.npz"
OTHER = re.compile(r"(?:module|operator|input|output|rule|backend|qconfig|class|type) $")  # what else a sentence quotes


def titles(model, *words):
    """The plan's title of each node."""
    return {node["name"]: node["title"] for node in run_json("plan", model, *words)["nodes"]}


def named_lines(expected, *words, of, code=1):
    """Returns the run's lines; checks that they name these layers, and no node by the graph's name alone."""
    done = run(*words)
    assert done.returncode == code, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith(("quantscope: ", "warning: ", "note: "))]
    for line in lines:
        for quoted in re.finditer(r"(?<!\w)'([^' ]+)'", line):
            name = quoted[1]
            assert of.get(name, name) == name or OTHER.search(line[:quoted.start()]), f"'{name}' is '{of[name]}': {line}"
    for name in expected:
        assert any(f"'{of[name]}' ({name})" in line for line in lines), (name, of[name], lines)
    return lines


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3)

    def forward(self, x):
        return torch.relu(self.bn(self.conv(x))).log()


class Blocks(nn.Module):
    """Two blocks alike: the graph calls their operators conv2d and conv2d_1."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.fc = Block(), Block(), nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(self.second(self.first(x)).mean((2, 3)))


def test_weights_that_are_not_finite(folder):
    torch.manual_seed(0)
    model, path = Blocks(), folder / "m.pt2"
    with torch.no_grad():
        model.second.conv.weight[0] = float("nan")
    export_model(model, (torch.randn(4, 3, 6, 6),), path)
    torch.save([(torch.randn(4, 3, 6, 6),)] * 2, folder / "d.pt")
    line, = named_lines([], "quantize", path, "--data", folder / "d.pt", "--device", "cpu", "--out", folder / "out", of=titles(path))
    assert "node 'second.conv.weight' (p_second_conv_weight): " in line, line


def test_values_that_are_not_finite(folder):
    """NaN that reaches an output: where it comes from."""
    torch.manual_seed(0)
    path = folder / "m.pt2"
    export_model(Blocks(), (torch.randn(4, 3, 6, 6),), path)
    torch.save([(torch.randn(4, 3, 6, 6),)] * 2, folder / "d.pt")
    named_lines(["log"], "quantize", path, "--data", folder / "d.pt", "--device", "cpu", "--export", "none", "--out",
         folder / "out", of=titles(path))


def test_edits(folder):
    taken = {"do": "rename", "at": {"module": "head", "op": "aten.linear.default"}, "name": "relu"}
    recipe = write_recipe(folder, edits=[taken])
    names = titles(DIGITS)
    assert any(f"'{names['relu']}' (relu)" in line for line in named_lines([], "plan", DIGITS, "--recipe", recipe, of=names, code=0))
    line, = named_lines([], "edit", DIGITS, "--recipe", recipe, "--strict", of=names)
    assert "'stem.relu · relu' (relu)" in line, line  # before a plan there are no units
    assert "'stem.relu · relu' (relu)" in run_good("edit", DIGITS, "--recipe", recipe)


def test_decisions_that_are_lost(folder):
    """What --strict refuses, and the same as warnings."""
    recipe = write_recipe(folder, backend="tensorrt", mapping={"global": "x86"})
    names = titles(DIGITS, "--recipe", recipe)
    assert named_lines([], "plan", DIGITS, "--recipe", recipe, of=names, code=0)
    assert named_lines([], "plan", DIGITS, "--recipe", recipe, "--strict", of=names)


def test_what_a_result_is_asked_for(folder):
    run_good("quantize", DIGITS, "--data", DATA, "--device", "cpu", "--export", "none", "--out", folder / "out")
    names = titles(DIGITS)
    look = ("look", DIGITS, "--result", folder / "out", "--data", DATA, "--node")
    named_lines(["conv2d_1"], *look, "conv2d_11", of=names, code=2)
    for word in ("block1.conv2 + bn2", "conv2d_2", "block1.conv2"):
        run_good(*look, word)
        run_good("check", folder / "out", "--node", f"{word}: 1")
    line = run("check", folder / "out", "--node", "conv2d_11: 1").stderr  # of a document: it opens no model
    assert "there is no node or module 'conv2d_11'" in line and "did you mean" in line, line


def test_nodes_of_converted_forms(folder):
    """An export refuses a kernel, whose own name is not one of the model."""
    torch.manual_seed(0)
    path, data = folder / "m.pt2", folder / "d.pt"
    model = nn.Sequential(nn.Sequential(nn.Conv3d(2, 4, 3), nn.ReLU()), nn.Conv3d(4, 2, 1))
    export_model(model, (torch.randn(4, 2, 6, 6, 6),), path, dynamic=False)
    torch.save([(torch.randn(4, 2, 6, 6, 6),)] * 2, data)
    recipe = write_recipe(folder, backend="qnnpack")
    names = titles(path, "--recipe", recipe)
    words = ("quantize", path, "--data", data, "--recipe", recipe, "--device", "cpu", "--out")
    for lines in (named_lines([], *words, folder / "out", of=names, code=0),
                  named_lines([], *words, folder / "named", "--export", "torchscript", of=names)):
        line, = [line for line in lines if "packed for the engine qnnpack" in line]
        assert f"node '{names['conv3d']}' (" in line and "conv3d_relu" not in line, line


main(__name__)
