# SPDX-License-Identifier: Apache-2.0
"""What PyTorch accepts in silence or raises late, told before or right after calibration: rules that a fusion lacks, entries that never match,
scales beyond a backend's bounds, rows whose removal changes nothing, fusions that a second user blocks, dead quantize-dequantize pairs."""
import copy
import json
import os
import subprocess
from pathlib import Path

import torch
import torch.ao.quantization as ao
from torch.ao.quantization.quantize_fx import prepare_fx
import scenario_models
from harness import PROGRAM, by_name, export_model, main, run, run_good, run_json, write_recipe
from models import residual
from torch import nn


class Functions(nn.Module):
    """A chain of functions that a backend of one's own may quantize as one."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 4)

    def forward(self, x):
        return self.last(nn.functional.relu(torch.sub(self.first(x), x)))


class Crowded(nn.Module):
    """Requirement 1.6: the convolution has a second user."""

    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.relu = nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3), nn.ReLU()

    def forward(self, x):
        y = self.conv(x)
        return self.relu(self.bn(y)) + y


def exported(folder, model, example):
    export_model(model, (example,), folder / "m.pt2", dynamic=False)
    torch.save([(example,)] * 2, folder / "d.pt")
    return folder / "m.pt2"


def x86():
    return run_json("backends", "show", "x86")


def written(folder, backend):
    path = folder / "own.json"
    path.write_text(json.dumps({**backend, "name": "own"}))
    return path


def entry_of(backend, *pattern):
    return next(entry for entry in backend["patterns"] if entry["pattern"] == list(pattern) and entry.get("dtype_configs"))


def quantized(folder, model, recipe, *words, data="d.pt"):
    return run_good("quantize", model, "--recipe", recipe, "--data", folder / data, "--device", "cpu", "--export", "none", "--out", folder / "out", *words)


def test_a_relu_without_a_rule_by_object_type(folder):
    """torch.ao raises in prepare; an explicit null gets a warning of the same kind."""
    model = nn.Sequential(nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3), nn.ReLU()).eval()
    file = exported(folder, model, torch.randn(1, 3, 4, 4))

    def told(**mapping):
        warnings = run_json("plan", file, "--recipe", write_recipe(folder, backend="x86", mapping=mapping))["warnings"]
        return [warning for warning in warnings if "'relu'" in warning and "fused into 'conv2d'" in warning]

    types = [["torch.nn.Conv2d", "x86"], ["torch.nn.BatchNorm2d", "x86"]]
    for mapping in ({"object_type": types}, {"global": "x86", "object_type": types[:1]}):
        (warning,) = told(**mapping)
        assert "takes its qconfig 'x86'" in warning and "torch.ao raises LookupError" in warning and "prepare.unfuse" in warning, warning
    (null,) = told(object_type=[*types, ["torch.nn.ReLU", None]])
    assert "gives 'relu' null has no effect" in null, null
    assert told(object_type=[*types[:1], ["torch.nn.ReLU", "x86"]]) == []  # a batch norm without a rule is harmless
    assert told(**{"global": "x86"}) == [] and told(module_name=[["0", "x86"]]) == []
    qconfig = ao.get_default_qconfig("x86")
    for listed, raises in (([nn.Conv2d, nn.BatchNorm2d], True), ([nn.Conv2d, nn.ReLU], False)):
        mapping = ao.QConfigMapping()
        for one in listed:
            mapping.set_object_type(one, qconfig)
        try:
            prepare_fx(copy.deepcopy(model), mapping, (torch.randn(1, 3, 4, 4),))
            assert not raises
        except LookupError:
            assert raises


def test_fusions_of_functions(folder):
    backend = x86()
    chain = ["torch.sub", "torch.nn.functional.relu"]
    fused = {"pattern": chain, "fuser_method": "sequential", "fused_module": "torch.ao.nn.intrinsic.LinearReLU"}
    for pattern in (chain, ["operator.sub", "torch.nn.ReLU"], ["torch.ops.aten.sub", "torch.nn.ReLU"]):
        done = run("backends", "check", written(folder, {**backend, "patterns": [*backend["patterns"], {**fused, "pattern": pattern}]}))
        assert done.returncode == 1 and "a fusion starts with a module" in done.stderr and "give the pattern dtype_configs" in done.stderr, done.stderr
    works = {"pattern": chain, "observation_type": "output_use_different_observer_as_input",
             "dtype_configs": [{"input_dtype": "quint8", "output_dtype": "quint8"}]}
    own = written(folder, {**backend, "patterns": [*backend["patterns"], works]})
    run_good("backends", "check", own)
    file = exported(folder, Functions(), torch.randn(2, 8))
    nodes = by_name(run_json("plan", file, "--recipe", write_recipe(folder, backend=str(own), mapping={"global": "x86"})))
    assert nodes["relu"]["quantized"] and nodes["sub"]["pattern"] == nodes["relu"]["pattern"] == chain, nodes["sub"]


def test_a_linear_without_root_module(folder):
    backend = x86()
    assert "root_module" not in run_good("backends", "check", "x86")
    entry = entry_of(backend, "torch.nn.Linear")
    for key in ("root_module", "reference_quantized_module"):
        entry.pop(key, None)
    text = run_good("backends", "check", written(folder, backend))
    (line,) = [line for line in text.splitlines() if "no root_module" in line]
    assert "torch.nn.Linear" in line and '"root_module": "torch.nn.Linear"' in line and "the weight stays float" in line, line


def test_scales_beyond_the_bounds(folder):
    backend = x86()
    for config in entry_of(backend, "torch.nn.Linear")["dtype_configs"]:
        config["output_dtype"] = {"dtype": config["output_dtype"], "scale_max_upper_bound": 1e-3} if config.get("output_dtype") == "quint8" else config.get("output_dtype")
        if config["output_dtype"] is None:
            del config["output_dtype"]
    model = nn.Sequential(nn.Linear(8, 8), nn.Sigmoid(), nn.Linear(8, 8))
    file = exported(folder, model, 10 * torch.randn(64, 8))
    recipe = write_recipe(folder, backend=str(written(folder, backend)), mapping={"global": "x86"})
    text = quantized(folder, file, recipe)
    result = json.loads((folder / "out" / "result.json").read_text())
    found = {finding["node"]: finding["text"] for finding in result["findings"] if finding["kind"] == "scale_bound"}
    nodes = by_name(result)
    wide = {name for name in ("linear", "linear_1") if nodes[name]["output"]["scale"][0] > 1e-3}
    assert wide and set(found) == wide, (found, wide)
    for name, line in found.items():
        assert "above the scale_max_upper_bound of own, 0.001" in line and f"scale bound: {line}" in text, (line, text)


def test_a_scale_below_the_bound(folder):
    """A rule for an edge may choose a smaller scale than the eps that the planner checked: of an input, and of no other value."""
    torch.manual_seed(3)
    backend = scenario_models.my_backend()
    tiny = {**scenario_models.ACT7, "activation": {**scenario_models.ACT7["activation"], "eps": 1e-9}}
    model, _ = scenario_models.saved(folder, nn.Sequential(nn.Linear(10, 3), nn.Linear(3, 3)).eval(), torch.randn(4, 10),
                            data=[(1e-3 * torch.randn(4, 10),) for _ in range(4)])

    def found(**mapping):
        recipe = write_recipe(folder, backend=str(written(folder, backend)), qconfigs={"act7": scenario_models.ACT7, "tiny": tiny},
                              mapping={"global": "act7", **mapping})
        text = quantized(folder, model, recipe, data="data.pt")
        result = json.loads((folder / "out" / "result.json").read_text())
        return text, result, [one for one in result["findings"] if one["kind"] == "scale_bound"]

    assert not found()[2]
    text, result, (finding,) = found(edge=[["input", "linear", 0, "tiny"]])
    scale = by_name(result)["input"]["output"]["scale"][0]
    assert 0 < scale < 2 ** -12 and finding["node"] == "linear", (scale, finding)
    for words in ("the scale of its input 'input'", "below the scale_min_lower_bound of own, 0.000244", '"eps": 0.000244140625'):
        assert words in finding["text"], finding
    assert f"scale bound: {finding['text']}" in text, text


def test_a_row_whose_removal_changes_nothing(folder):
    file = exported(folder, nn.Sequential(nn.Linear(8, 8), nn.ReLU()), torch.randn(4, 8))

    def told(*rows):
        recipe = write_recipe(folder, backend="x86", convert={"lowering": {"remove": [{"pattern": list(row)} for row in rows]}})
        return [w for w in run_json("plan", file, "--recipe", recipe)["warnings"] if "changes nothing" in w]

    linear, both = ["torch.nn.Linear"], ["torch.nn.Linear", "torch.nn.ReLU"]
    (warning,) = told(linear)
    assert "[torch.nn.Linear] changes nothing" in warning and "fused as [torch.nn.Linear, torch.nn.ReLU]: remove that row" in warning, warning
    assert told(both) == [] and told(linear, both) == [] and told(["torch.nn.Conv2d"]) == []


def test_a_fusion_that_a_second_user_blocks(folder):
    file = exported(folder, Crowded(), torch.randn(1, 3, 4, 4))
    lines = [line for line in run_good("plan", file).splitlines() if "blocked: 2 users of 'conv2d'" in line]
    assert lines and any("Conv2d" in line or "conv2d" in line for line in lines), lines
    nodes = by_name(run_json("plan", file))
    assert any("blocked: 2 users of 'conv2d'" in one["failed"] for one in nodes["conv2d"]["candidates"]), nodes["conv2d"]
    assert nodes["conv2d"]["pattern"] == ["torch.nn.Conv2d"], nodes["conv2d"]


def test_dead_pairs_in_words(folder):
    _, file, _, _ = residual(folder)
    recipe = write_recipe(folder, backend="x86", convert={"lowering": {"remove": [{"pattern": ["torch.nn.Linear"]}]}})
    text = quantized(folder, file, recipe, data="data.npz")
    result = json.loads((folder / "out" / "result.json").read_text())
    dead = [left for left in result["residue"] if left["kind"] == "dead_pair"]
    assert [left["node"] for left in dead] == ["linear"], result["residue"]
    assert f"dead pair: '{dead[0]['name']}' after 'fc · linear': {dead[0]['reason']}" in text, text
    run_good("report", folder / "out", "--html", folder / "page.html")
    page = (folder / "page.html").read_text()
    assert "Quantize-dequantize pairs without effect" in page.split("Simulated and real")[1], page[-3000:]
    # Nothing to say where there is none.
    assert "dead pair" not in quantized(folder, file, write_recipe(folder, backend="x86"), data="data.npz")


def test_hybrid_mode(folder):
    """Requirement 3.9: what is named falls back to float on the CPU, by option and as Horizon's keys; the result keeps the rules."""
    _, file, _, _ = residual(folder)
    for name, expected in (("conv2", {"conv2d_1"}), ("linear", {"linear"}), ("torch.nn.Conv2d", {"conv2d", "relu", "conv2d_1"}), ("conv2,fc", {"conv2d_1", "linear"})):
        nodes = by_name(run_json("plan", file, "--hybrid", name))
        assert {key for key, node in nodes.items() if (node.get("rule") or {}).get("kind") in ("node", "module_name", "object_type")
                and not node["quantized"]} >= expected, (name, nodes)
        assert all(not nodes[key]["quantized"] for key in expected) and nodes["add"]["quantized"], name
    done = run("plan", file, "--hybrid", "conv3")
    assert done.returncode == 1 and "no node, module or class 'conv3'" in done.stderr and "did you mean 'conv" in done.stderr, done.stderr
    quantized(folder, file, write_recipe(folder, backend="x86"), "--hybrid", "conv2,fc", data="data.npz")
    result = by_name(json.loads((folder / "out" / "result.json").read_text()))
    kept = json.loads((folder / "out" / "recipe.json").read_text())["mapping"]["module_name"]
    assert not result["conv2d_1"]["quantized"] and not result["linear"]["quantized"] and result["conv2d"]["quantized"], result
    assert kept == [["conv2", None], ["fc", None]], kept
    horizon = {"hybrid": True, "hybrid_dict": {"module_name": ["conv2"], "module_type": ["<class 'torch.nn.modules.linear.Linear'>"]}}
    nodes = by_name(run_json("plan", file, "--recipe", write_recipe(folder, backend="x86", prepare=horizon)))
    assert not nodes["conv2d_1"]["quantized"] and not nodes["linear"]["quantized"] and nodes["conv2d"]["quantized"], nodes
    nodes = by_name(run_json("plan", file, "--recipe", write_recipe(folder, backend="x86", prepare={**horizon, "hybrid": False})))
    assert nodes["conv2d_1"]["quantized"] and nodes["linear"]["quantized"], nodes


def test_what_stays_outside_one_module(folder):
    """Requirement 2.2: quantizing a submodule only says what it leaves."""
    model = nn.Sequential()
    model.add_module("stem", nn.Sequential(nn.Linear(8, 8), nn.ReLU()))
    model.add_module("block", nn.Linear(8, 8))
    model.add_module("head", nn.Linear(8, 4))
    file = exported(folder, model, torch.randn(4, 8))
    recipe = write_recipe(folder, backend="x86", prepare={"only_modules": ["block"]})
    (finding,) = [one for one in run_json("plan", file, "--recipe", recipe)["findings"] if one["kind"] == "outside_only_modules"]
    assert finding["text"] == "prepare.only_modules leaves 3 of 4 operators outside, in float: 2 of 'stem', 1 of 'head'", finding
    assert finding["text"] in run("plan", file, "--recipe", recipe).stderr
    done = run("quantize", file, "--recipe", recipe, "--data", folder / "d.pt", "--device", "cpu", "--export", "none", "--out", folder / "out")
    assert done.returncode == 0 and finding["text"] in done.stderr, done.stderr


def test_a_member_of_a_fusion_is_selected(folder):
    """`quantscope-ui --select` takes a node, a fusion's members by node or module among them, or a module."""
    window = Path(PROGRAM).with_name("quantscope-ui")
    if not window.exists():
        return
    _, file, _, _ = residual(folder)

    def picture(*words):
        path = folder / "picture.png"
        done = subprocess.run([window, file, "--screenshot", path, "--size", "1000x700", *words], capture_output=True, text=True, check=False,
                              env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
        return done, path.read_bytes() if done.returncode == 0 else b""

    # What the window works out beside the selection may be in one picture and not yet in the next.
    shown = {name: {picture("--select", name)[1] for _ in range(4)} for name in ("conv2d", "relu", "conv1")}
    assert shown["conv2d"] & shown["relu"] & shown["conv1"], {name: len(kinds) for name, kinds in shown.items()}
    assert picture()[1] not in shown["conv2d"] and b"" not in shown["conv2d"]
    done, _ = picture("--select", "conv7")
    assert done.returncode == 1 and "no node or module is named 'conv7'" in done.stderr, done.stderr


main(__name__)
