# SPDX-License-Identifier: Apache-2.0
"""Cures in a recipe: each is the decision that it stands for, to the bit, at the node that it names; off, it is absent; what does
not fit is named and left out; `diff` tells one in one row."""

import json

import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401 - registers what the reference form calls
from torch import nn

import cure_models
from edits import op
from harness import EIGHT_BITS, by_name, expect_bad, export_model, main, run, run_good, run_json, write_recipe
from models import residual

X86 = {"backend": "x86", "mapping": {"global": "x86"}}
TUNE = {"tune_1": {"activation": {"observer": "minmax", "dtype": "quint8"},
                   "weight": {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric"}}}
CONV, FC, POOL = op("conv2", "conv2d.default"), op("fc", "linear.default"), op("pool", "max_pool2d.default")
HIDDEN = torch.finfo(torch.float32).min


def quantized(folder, name, model, data, *words, **recipe):
    """(path of the result, its document) of a run with this recipe."""
    run_good("quantize", model, "--recipe", write_recipe(folder, **{**X86, **recipe}), "--data", data, "--device", "cpu",
             "--export", "none", "--out", folder / name, *words)
    return folder / name, json.loads((folder / name / "result.json").read_text())


def unmarked(document):
    """Its nodes without the marks of cures: rules of a mapping have none."""
    def bare(entry):
        rule = dict(entry["rule"])
        if "inputs" in rule:
            rule["inputs"] = [{key: value for key, value in one.items() if key != "cure"} for one in rule["inputs"]]
        return {**{key: value for key, value in entry.items() if key != "cure"}, "rule": rule}
    return [bare(entry) for entry in document["nodes"]]


def with_rules(**rules):
    return {"global": "x86", **rules}


def changed(before, after):
    """The names of the nodes that two documents tell differently: how they are decided and with which parameters."""
    one, two = by_name(before), by_name(after)
    assert list(one) == list(two)
    keys = ("verdict", "qconfig", "output", "inputs", "weight")
    return {name for name in one if any(one[name].get(key) != two[name].get(key) for key in keys)}


# The preset x86, whose layers hand their result on as float.
REAL = {"real": {"activation": {"observer": "histogram", "dtype": "quint8", "reduce_range": True},
                 "weight": {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric"},
                 "result": "float"}}

CURES = {
    "float": ({"cure": "float", "at": CONV, "gain_db": 1.5}, {"mapping": with_rules(node=[["conv2d_1", None]])}),
    "region": ({"cure": "float", "at": CONV, "nodes": [op("", "add.Tensor")]},
               {"mapping": with_rules(node=[["conv2d_1", None], ["add", None]])}),
    "range": ({"cure": "range", "at": CONV, "qconfig": "tune_1"}, {"mapping": with_rules(node=[["conv2d_1", "tune_1"]])}),
    "range for a reader": ({"cure": "range", "at": POOL, "readers": [{"node": CONV, "argument": "input"}], "qconfig": "tune_1"},
                           {"mapping": with_rules(edge=[["max_pool2d", "conv2d_1", 0, "tune_1"]])}),
    "range of an input": ({"cure": "range", "at": {"input": "x"}, "qconfig": "tune_1"},
                          {"mapping": with_rules(edge=[["x", "conv2d", 0, "tune_1"]])}),
    "dynamic": ({"cure": "dynamic", "at": FC, "qconfig": "default_dynamic"},
                {"mapping": with_rules(node=[["linear", "default_dynamic"]])}),
}
CHANGED = {"float": {"conv2d_1"}, "region": {"conv2d_1", "add"}, "range": {"conv2d_1"}, "range for a reader": {"conv2d_1"},
           "range of an input": {"x", "conv2d"}, "dynamic": {"linear"}}


def test_a_cure_is_the_decision_that_it_stands_for(folder):
    _, path, data, _ = residual(folder)
    _, plain = quantized(folder, "plain", path, data, qconfigs=TUNE)
    for name, (cure, rules) in CURES.items():
        out, cured = quantized(folder, name, path, data, "--strict", qconfigs=TUNE, cures=[cure])
        _, ruled = quantized(folder, name + " by rules", path, data, "--strict", qconfigs=TUNE, **rules)
        assert unmarked(cured) == ruled["nodes"], name
        assert cured["outputs"] == ruled["outputs"], name
        told = changed(plain, cured)
        assert told == CHANGED[name], (name, told)
        recipe = json.loads((out / "recipe.json").read_text())
        assert recipe["cures"] == [cure] and not recipe["mapping"]["node"] + recipe["mapping"]["edge"], name
        _, off = quantized(folder, name + " off", path, data, "--strict", qconfigs=TUNE, cures=[{**cure, "off": True}])
        assert off["nodes"] == plain["nodes"] and off["outputs"] == plain["outputs"], name


def test_a_float_result_is_the_qconfig_with_it(folder):
    _, path, data, _ = residual(folder)
    _, plain = quantized(folder, "plain", path, data)
    # A float operator reads what the linear gives; the addition quantizes what it reads of the convolution.
    for at, node, told in ((FC, "linear", {"linear"}), (CONV, "conv2d_1", {"conv2d_1", "add"})):
        _, cured = quantized(folder, f"{node} cured", path, data, "--strict", cures=[{"cure": "float_result", "at": at}])
        _, ruled = quantized(folder, f"{node} ruled", path, data, "--strict", qconfigs=REAL, mapping=with_rules(node=[[node, "real"]]))
        named = json.dumps(ruled["nodes"]).replace('"real"', '"x86"')  # the cure keeps the name of the qconfig that it changes
        assert json.loads(named) == unmarked(cured) and cured["outputs"] == ruled["outputs"]
        assert by_name(plain)[node]["output"] and not by_name(cured)[node]["output"], by_name(cured)[node]
        assert changed(plain, cured) == told, changed(plain, cured)


def test_a_cure_stands_above_the_mapping_and_later_ones_above_it(folder):
    _, path, data, _ = residual(folder)
    rules = with_rules(node=[["conv2d_1", "tune_1"]], edge=[["max_pool2d", "conv2d_1", 0, "qnnpack"]])
    plain, kept = CURES["range for a reader"]
    _, cured = quantized(folder, "above", path, data, "--strict", qconfigs=TUNE, mapping=rules, cures=[plain])
    _, ruled = quantized(folder, "rules", path, data, "--strict", qconfigs=TUNE,
                         mapping={**rules, "edge": kept["mapping"]["edge"]})
    assert unmarked(cured) == ruled["nodes"]
    _, last = quantized(folder, "last", path, data, qconfigs=TUNE, mapping=rules, cures=[plain, CURES["float"][0]])
    assert by_name(last)["conv2d_1"]["verdict"] == "float by rule"
    edits = [{"do": "remove", "at": op("relu", "relu.default")}, {"do": "rename", "at": CONV, "name": "again"}]
    _, edited = quantized(folder, "edited", path, data, "--strict", qconfigs=TUNE, edits=edits, cures=[CURES["float"][0]])
    assert by_name(edited)["again"]["verdict"] == "float by rule"  # addresses are the file's, whatever edits did


class Masked(nn.Module):
    """Attention with two masks: a stored one that is added, and a number that is filled in."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
        self.out = nn.Linear(8, 4)
        mask = torch.triu(torch.full((6, 6), HIDDEN), 1)
        mask[5, 0] = -5.0
        self.register_buffer("mask", mask)
        hole = torch.zeros(6, 6, dtype=torch.bool)
        hole[:, 2] = True
        hole[2, 2] = False
        self.register_buffer("hole", hole)

    def forward(self, x):
        scores = self.query(x) @ self.key(x).transpose(1, 2) / 8 ** 0.5 + self.mask
        return self.out(torch.softmax(scores.masked_fill(self.hole, -1e9), -1) @ self.value(x))


def masked(folder):
    torch.manual_seed(5)
    model, x = Masked().eval(), torch.randn(16, 6, 8)
    export_model(model, (x[:2],), folder / "masked.pt2")
    np.savez(folder / "masked.npz", x=x.numpy())
    return model, folder / "masked.pt2", folder / "masked.npz", x


BOUNDS = [{"cure": "bound", "at": {"stored": "mask"}, "bound": 200.0},
          {"cure": "bound", "at": op("", "masked_fill.Scalar"), "bound": 200.0}]


def test_a_bounded_mask_computes_the_same(folder):
    model, path, data, x = masked(folder)
    told = run_json("edit", path, "--recipe", write_recipe(folder, cures=BOUNDS), "--out", folder / "bounded.pt2", "--strict")
    assert [cure["problem"] for cure in told["cures"]] == [None, None] and told["edits"] == [], told
    bounded = torch.export.load(folder / "bounded.pt2")
    with torch.no_grad():
        assert torch.equal(bounded.module()(x), model(x))
    mask = bounded.state_dict["mask"]
    assert torch.equal(mask, torch.where(model.mask == HIDDEN, torch.tensor(-200.0), model.mask))  # others stay
    assert sorted(mask.unique().tolist()) == [-200.0, -5.0, 0.0]
    filled = [node for node in bounded.graph.nodes if "masked_fill" in str(node.target)]
    assert [node.args[2] if len(node.args) > 2 else node.kwargs["value"] for node in filled] == [-200.0]

    edits = [{"do": "constant", "at": {"stored": "mask"}, "values": mask.tolist()},
             {"do": "set", "at": op("", "masked_fill.Scalar"), "args": {"value": -200.0}}]
    _, cured = quantized(folder, "cured", path, data, "--strict", cures=BOUNDS)
    _, edited = quantized(folder, "edited", path, data, "--strict", edits=edits)
    assert unmarked(cured) == edited["nodes"] and cured["outputs"] == edited["outputs"]
    _, plain = quantized(folder, "plain", path, data)
    _, off = quantized(folder, "off", path, data, cures=[{**cure, "off": True} for cure in BOUNDS])
    assert off["nodes"] == plain["nodes"]
    scales = [by_name(document)["add"]["output"]["scale"][0] for document in (plain, cured)]
    assert scales[0] > 1e30 and 1 < scales[1] < 2, scales


class Infinite(nn.Module):
    """A softmax behind infinities: a number in `where`, and a constant without dimensions."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.register_buffer("hole", torch.arange(8) > 5)
        self.register_buffer("never", torch.tensor(float("-inf")))

    def forward(self, x):
        scores = torch.where(self.hole, float("-inf"), self.fc(x))
        return torch.softmax(torch.where(x[..., :1] > 9, self.never, scores), -1)


def test_infinities_are_bounded(folder):
    torch.manual_seed(6)
    model, x = Infinite().eval(), torch.randn(16, 8)
    path = folder / "infinite.pt2"
    export_model(model, (x[:2],), path)
    cures = [{"cure": "bound", "at": op("", "where.ScalarSelf"), "bound": 150}, {"cure": "bound", "at": {"stored": "never"}, "bound": 150}]
    run_good("edit", path, "--recipe", write_recipe(folder, cures=cures), "--out", folder / "bounded.pt2", "--strict")
    bounded = torch.export.load(folder / "bounded.pt2")
    assert bounded.state_dict["never"].item() == -150.0
    numbers = [argument for node in bounded.graph.nodes for argument in (*node.args, *node.kwargs.values()) if isinstance(argument, float)]
    assert -150.0 in numbers and float("-inf") not in numbers, numbers
    with torch.no_grad():
        assert torch.equal(bounded.module()(x), model(x))


def wide(folder):
    case = cure_models.outlier_into_linears().sick
    export_model(case.network, (case.data[:2],), folder / "wide.pt2")
    np.savez(folder / "wide.npz", x=case.data.numpy())
    return case.network, folder / "wide.pt2", folder / "wide.npz", case.data


LEFT, RIGHT = op("left", "linear.default"), op("right", "linear.default")
SPLIT = {"cure": "split", "at": LEFT, "nodes": [RIGHT], "channels": [5]}


def test_a_split_computes_the_same_and_meets_the_outlier_in_floats(folder):
    model, path, data, x = wide(folder)
    told = run_json("edit", path, "--recipe", write_recipe(folder, cures=[SPLIT]), "--out", folder / "split.pt2", "--strict")
    assert told["cures"][0]["problem"] is None and "linear_1_split_sum" in told["cures"][0]["nodes"], told
    split = torch.export.load(folder / "split.pt2")
    with torch.no_grad():
        assert torch.allclose(split.module()(x), model(x), rtol=0, atol=1e-5 * float(model(x).abs().max()))
    rests = [tensor for name, tensor in {**split.state_dict, **split.constants}.items() if name.endswith("_rest_weight")]
    assert len(rests) == 2 and all(not rest[:, 5].any() and rest[:, 4].all() for rest in rests), rests
    # With the range of the other channels the outlier costs nothing any more; without it the range stays as wide.
    with torch.no_grad():
        others = torch.cat((model.norm(x)[:, :5], model.norm(x)[:, 6:]), 1)
    low, high = float(others.min()), float(others.max())
    steps = 255 if EIGHT_BITS else 127
    narrow = {"narrow": {**TUNE["tune_1"], "activation": {"observer": "fixed_qparams", "dtype": "quint8", "scale": (high - low) / steps,
                                                          "zero_point": round(-low * steps / (high - low)), "quant_max": steps}}}
    losses = {}
    for name, cures in (("plain", []), ("split", [SPLIT]), ("narrow", [{**SPLIT, "qconfig": "narrow"}])):
        _, document = quantized(folder, name, path, data, "--strict", qconfigs={**TUNE, **narrow}, mapping={"global": "tune_1"}, cures=cures)
        losses[name] = document["outputs"][0]["cumulative"]["sqnr_db"]
    assert losses["narrow"] > losses["plain"] + 10 and losses["narrow"] > losses["split"] + 10, losses
    nodes = by_name(document)
    assert nodes["linear"]["verdict"] == "quantized" and nodes["linear"]["output"] is None, nodes["linear"]
    assert {nodes[name]["verdict"] for name in nodes if "_split" in name} <= {"float by rule", "float by backend"}, nodes.keys()
    assert nodes["linear_split"]["cure"]["kind"] == "split", nodes["linear_split"]
    run_good("quantize", path, "--recipe", write_recipe(folder, backend="x86", qconfigs={**TUNE, **narrow}, mapping={"global": "tune_1"},
             cures=[{**SPLIT, "qconfig": "narrow"}]), "--data", data, "--device", "cpu", "--export", "pt2,torchscript,onnx", "--out", folder / "files", "--strict")
    run_good("verify", folder / "files", "--data", data)


REFUSED = [
    (residual, {"cure": "float", "at": op("conv3", "conv2d.default")}, "modules with it"),
    (residual, {"cure": "float", "at": CONV, "nodes": [op("", "mul.Tensor")]}, "has no operator aten.mul.Tensor"),
    (residual, {"cure": "range", "at": CONV, "qconfig": "tune_2"}, "unknown qconfig 'tune_2'"),
    (residual, {"cure": "range", "at": {"input": "y"}, "qconfig": "default"}, "did you mean 'x'"),
    (residual, {"cure": "range", "at": POOL, "qconfig": "default"}, "shares the range of what it reads"),
    (residual, {"cure": "range", "at": POOL, "qconfig": "default", "readers": [{"node": FC, "argument": "input"}]},
     "does not read that value"),
    (residual, {"cure": "dynamic", "at": FC, "qconfig": "x86"}, "chooses its ranges before the run"),
    (residual, {"cure": "float_result", "at": op("", "add.Tensor")}, "has no weight"),
    (residual, {"cure": "bound", "at": {"stored": "fc.weight"}, "bound": 104}, "is not a mask constant"),
    (residual, {"cure": "bound", "at": CONV, "bound": 104}, "holds no mask constant"),
    (wide, {**SPLIT, "channels": [24]}, "there is no channel 24"),
    (wide, {**SPLIT, "channels": list(range(24))}, "keep it float instead"),
    (wide, {**SPLIT, "at": op("norm", "layer_norm.default")}, "is not a linear layer with a stored weight"),
    (wide, {**SPLIT, "qconfig": "tune_9"}, "unknown qconfig 'tune_9'"),
    (masked, {"cure": "bound", "at": {"stored": "hole"}, "bound": 104}, "holds no real numbers"),
    (masked, {"cure": "bound", "at": {"stored": "mask"}, "bound": 2e9}, "not below the magnitude of a mask constant"),
]


def test_what_does_not_fit_is_left_out(folder):
    made = {make: make(folder)[1] for make in (residual, masked, wide)}
    plain = {make: run_json("plan", path, "--recipe", write_recipe(folder, **X86))["nodes"] for make, path in made.items()}
    for make, cure, why in REFUSED:
        path = made[make]
        recipe = write_recipe(folder, **X86, cures=[cure])
        told = run("plan", path, "--recipe", recipe, "--json")
        line = [line for line in told.stderr.splitlines() if "does not fit this model and was left out" in line]
        assert told.returncode == 0 and len(line) == 1 and why in line[0], (cure, told.stderr)
        assert json.loads(told.stdout)["nodes"] == plain[make], cure
        expect_bad("plan", path, "--recipe", recipe, "--strict", contains=["--strict", "does not fit", why])
        recipe = write_recipe(folder, **X86, cures=[{**cure, "off": True}])
        run_good("plan", path, "--recipe", recipe, "--strict")


def test_a_recipe_that_is_wrong_says_where(folder):
    _, path, _, _ = residual(folder)
    for cures, words in (
        ([{"cure": "flot", "at": CONV}], ["cures[0].cure", "did you mean 'float'"]),
        ([{"cure": "float", "at": CONV}, {"cure": "range", "at": CONV}], ["cures[1]", "'qconfig' is missing"]),
        ([{"cure": "bound", "at": CONV, "bound": -1}], ["cures[0].bound", "above 0"]),
        ({"cure": "float"}, ["cures", "expected a list"]),
    ):
        recipe = write_recipe(folder, cures=cures)
        expect_bad("plan", path, "--recipe", recipe, contains=[recipe, *words])


def test_the_plan_says_which_rule_is_a_cure(folder):
    _, path, _, _ = residual(folder)
    cures = [{**CURES["float"][0], "by": "tune 1f3a"}, {**CURES["range for a reader"][0], "at": POOL,
             "readers": [{"node": op("", "add.Tensor"), "argument": "self"}], "qconfig": "default"}]
    text = run_good("plan", path, "--recipe", write_recipe(folder, **X86, cures=cures))
    assert "node conv2d_1, cure float (tune 1f3a)" in text, text
    assert "edge max_pool2d -> add, input 0, cure range" in text, text
    assert text.count("cure") == 2, text


def test_the_result_marks_what_a_cure_decided(folder):
    _, path, data, _ = residual(folder)
    gone = {"cure": "float", "at": op("neck", "linear.default")}
    cures = [{**CURES["region"][0], "by": "tune 1f3a"}, CURES["range for a reader"][0], {**CURES["dynamic"][0], "off": True}, gone]
    cures[1] = {**cures[1], "readers": [{"node": op("", "add.Tensor"), "argument": "self"}], "qconfig": "default"}
    del cures[0]["nodes"]
    _, told = quantized(folder, "out", path, data, cures=cures)
    marks = {node["name"]: node["cure"] for node in told["nodes"] if "cure" in node}
    assert marks == {"conv2d_1": {"index": 0, "kind": "float", "by": "tune 1f3a"}}, marks
    edges = {(node["name"], one["index"]): one["cure"] for node in told["nodes"] for one in node["rule"].get("inputs", []) if "cure" in one}
    assert edges == {("add", 0): {"index": 1, "kind": "range", "by": None}}, edges
    assert [cure["nodes"] for cure in told["cures"]] == [["conv2d_1"], ["max_pool2d"], [], []], told["cures"]
    assert [cure["text"].split()[0] for cure in told["cures"]] == ["keep", "range", "ranges", "keep"] and told["cures"][2]["off"], told["cures"]
    assert ["problem" in cure for cure in told["cures"]] == [False, False, False, True], told["cures"]
    _, plain = quantized(folder, "plain", path, data)
    assert "cures" not in plain and not any("cure" in node for node in plain["nodes"])


def test_the_result_names_what_a_bound_changed(folder):
    _, path, data, _ = masked(folder)
    _, told = quantized(folder, "out", path, data, cures=BOUNDS)
    named = {cure["at"].get("stored", "masked_fill"): cure["nodes"] for cure in told["cures"]}
    assert named == {"mask": ["b_mask"], "masked_fill": ["masked_fill"]}, told["cures"]
    marks = {node["name"]: node["cure"]["kind"] for node in told["nodes"] if "cure" in node}
    assert marks == {"b_mask": "bound", "masked_fill": "bound"}, marks
    bad = {"cure": "bound", "at": op("out", "linear.default"), "bound": 20.0}
    _, told = quantized(folder, "bad", path, data, cures=[bad])
    assert told["cures"][0]["problem"] and told["cures"][0]["nodes"] == [], told["cures"]
    assert not any("cure" in node for node in told["nodes"])


def test_diff_tells_a_cure_in_one_row(folder):
    _, path, data, _ = residual(folder)
    first, _ = quantized(folder, "first", path, data)
    cure = {**CURES["range"][0], "gain_db": 4.2, "by": "tune 1f3a"}
    second, _ = quantized(folder, "second", path, data, qconfigs=TUNE, cures=[cure])
    third, _ = quantized(folder, "third", path, data, qconfigs=TUNE, cures=[{**cure, "off": True}])
    fourth, _ = quantized(folder, "fourth", path, data, qconfigs=TUNE, cures=[cure, CURES["float"][0]])
    lines = lambda *runs: run_json("diff", *runs)["recipes"][0]["lines"]  # noqa: E731
    what = "range of conv2 · conv2d: tune_1, +4.2 dB, by tune 1f3a"
    assert lines(first, second) == [f"cure: now {what}"]
    assert lines(second, first) == [f"cure: no longer {what}"]
    assert lines(second, third) == [f"cure: {what} ► {what}, off"]
    assert lines(second, fourth) == ["cure: now keep conv2 · conv2d float, +1.5 dB"]
    assert "1 cure" in run_good("diff", first, second)


def test_what_was_written_has_its_cures(folder):
    """The result's recipe gives the same again, from the folder and by itself."""
    _, path, data, _ = masked(folder)
    out, document = quantized(folder, "first", path, data, cures=[*BOUNDS, {"cure": "float", "at": op("out", "linear.default")}])
    assert len(json.loads((out / "recipe.json").read_text())["cures"]) == 3
    run_good("quantize", path, "--recipe", out / "recipe.json", "--data", data, "--device", "cpu", "--export", "none",
             "--out", folder / "again", "--strict")
    assert json.loads((folder / "again" / "result.json").read_text())["nodes"] == document["nodes"]
    assert (folder / "again" / "recipe.json").read_bytes() == (out / "recipe.json").read_bytes()


def test_exports_hold_the_effect(folder):
    """A cured model's files are those of the same decisions as edits and rules, and run as they promise."""
    _, path, data, _ = masked(folder)
    float_out = {"cure": "float", "at": op("out", "linear.default")}
    mask = torch.where(Masked().mask == HIDDEN, torch.tensor(-200.0), Masked().mask)
    edits = [{"do": "constant", "at": {"stored": "mask"}, "values": mask.tolist()},
             {"do": "set", "at": op("", "masked_fill.Scalar"), "args": {"value": -200.0}}]
    outputs = []
    for name, keys in (("cured", {"cures": [*BOUNDS, float_out]}), ("ruled", {"edits": edits, "mapping": with_rules(node=[["linear_3", None]])})):
        run_good("quantize", path, "--recipe", write_recipe(folder, **{**X86, **keys}), "--data", data, "--device", "cpu",
                 "--export", "pt2,pt2-reference", "--out", folder / name, "--strict")
        run_good("verify", folder / name, "--data", data, "--runtime", "torch.export")
        outputs.append(torch.export.load(folder / name / "model.reference.pt2").module()(torch.from_numpy(np.load(data)["x"])))
    assert torch.equal(*outputs)
    run_good("compare", path, "--result", folder / "cured", "--data", data, "--device", "cpu")


def test_a_project_keeps_its_cures(folder):
    _, path, _, _ = residual(folder)
    cure = CURES["float"][0]
    project = folder / "work.project.json"
    recipe = {"format": "quantscope.recipe", "version": 1, **X86, "cures": [cure]}
    project.write_text(json.dumps({"format": "quantscope.project", "version": 1, "model": path.name, "recipe": recipe}))
    nodes = by_name(run_json("plan", project))
    assert nodes["conv2d_1"]["verdict"] == "float by rule" and nodes["conv2d"]["verdict"] == "quantized", nodes


if __name__ == "__main__":
    main(__name__)
