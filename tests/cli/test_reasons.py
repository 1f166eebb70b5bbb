# SPDX-License-Identifier: Apache-2.0
"""What keeps nodes float is told by a code and by the sentence that belongs to it, in every document."""

import csv
import json
import re

import numpy as np
import torch
from harness import SOURCE, by_name, export_model, main, run, run_good, run_json, write_recipe
from torch import nn

TABLE = (SOURCE / "engine" / "plan" / "reason" / "reason_table.h").read_text()


def sentences():
    """{name of a cause: regular expression of its sentence}, read from the table of the sources."""
    found = {}
    for name, quoted in re.findall(r'ReasonRow \{ReasonCode::\w+,\s*"(\w+)",((?:\s*"[^"]*")+)\}', TABLE):
        sentence = re.escape("".join(re.findall(r'"([^"]*)"', quoted)))
        sentence = re.sub(r"\\\{\w+\\\}", ".+", sentence)
        found[name] = sentence.replace(r"\[", "(?:").replace(r"\]", ")?")
    return found


SENTENCES = sentences()


class Mixed(nn.Module):
    """One operator or more for each of several causes."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.wide = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)
        self.leaf, self.fourth, self.last = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 4)
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)
        self.register_buffer("shift", torch.ones(16))

    def forward(self, x):
        x = self.second(self.first(x))
        x = self.fourth(self.wide(self.leaf(x)))
        x, _ = self.attention(x, x, x)
        return self.last(torch.cos(x) * torch.sin(self.shift)), x.argmax(1) + 1


def mixed(folder):
    """(path of the model, recipe, data)."""
    torch.manual_seed(1)
    path, data = folder / "mixed.pt2", folder / "data.npz"
    export_model(Mixed(), (torch.randn(2, 5, 16),), path)
    np.savez(data, x=np.random.default_rng(1).standard_normal((8, 5, 16), np.float32))
    minmax = {"observer": "minmax"}
    wide = {"activation": {**minmax, "dtype": "qint8"}, "weight": {**minmax, "dtype": "qint8"}}
    recipe = write_recipe(
        folder, backend="x86", qconfigs={"wide": wide}, calibration={"batch_size": 4, "batches": 2},
        prepare={"non_traceable_module_name": ["leaf"]},
        mapping={"global": "x86", "module_name": [["second", None], ["wide", "wide"]]})
    return path, recipe, data


def check(nodes):
    """Each code belongs to its sentence; {code: names of nodes}."""
    found = {}
    for node in nodes:
        code, reason = node["reason_code"], node["reason"]
        assert (code is None) == (reason is None), node
        if code:
            assert re.fullmatch(SENTENCES[code], reason), (code, reason)
            found.setdefault(code, []).append(node["name"])
    return found


def test_filtered_by_code(folder):
    model, recipe, _ = mixed(folder)
    plan = run_json("plan", model, "--recipe", recipe)
    found = check(plan["nodes"])
    nodes = by_name(plan)
    modules = lambda code: sorted({nodes[name]["module"] for name in found.get(code, [])})
    assert modules("rule_keeps_float") == ["second"], found
    assert modules("module_kept_float") == ["leaf"], found
    assert modules("dtype_not_allowed") == ["wide"], found
    assert modules("inside_module") == ["attention"], found
    assert "cos" in found["no_backend_pattern"] and "sin" in found["reads_stored_tensors_only"], found
    assert found["not_float32"] and all(nodes[name]["op"].startswith("aten.add") for name in found["not_float32"]), found
    quantized = [node for node in plan["nodes"] if node["quantized"]]
    assert {node["module"] for node in quantized} >= {"first", "fourth", "last"}
    assert all(node["reason_code"] is None for node in quantized)


def test_a_broken_limit_and_no_rule(folder):
    model, _, _ = mixed(folder)
    plan = lambda *words, **keys: check(run_json("plan", model, "--recipe", write_recipe(folder, **keys), *words)["nodes"])
    limited = SOURCE / "tests" / "engine" / "plan" / "my_backend.json"  # wants scales of 2^-12 and more
    found = plan("--backend", limited, mapping={"global": "x86"})
    assert found["constraint_violated"] and "dtype_not_allowed" not in found, found
    found = plan(backend="x86", mapping={"module_name": [["first", "x86"]]})
    assert len(found["no_qconfig"]) >= 4 and "rule_keeps_float" not in found, found


def test_the_same_in_every_document(folder):
    model, recipe, data = mixed(folder)
    plan = by_name(run_json("plan", model, "--recipe", recipe))
    diff = run_json("plan", model, "--recipe", recipe, "--diff", "qnnpack")
    assert diff["nodes"]
    for node in diff["nodes"]:
        assert node["before"]["reason_code"] == plan[node["name"]]["reason_code"], node
        check([{"name": node["name"], **side} for side in (node["before"], node["after"])])
    out = folder / "out"
    run_good("quantize", model, "--recipe", recipe, "--data", data, "--device", "cpu", "--export", "none", "--out", out)
    result = json.loads((out / "result.json").read_text())
    assert check(result["nodes"]) == check(plan.values())
    run_good("report", out, "--csv", folder / "r.csv")
    with open(folder / "r.csv", newline="", encoding="utf-8") as file:
        assert {row["name"]: row["reason_code"] or None for row in csv.DictReader(file)} \
            == {node["name"]: node["reason_code"] for node in result["nodes"]}


def test_a_result_without_codes_is_read(folder):
    """Earlier versions wrote none."""
    model, recipe, data = mixed(folder)
    new, old = folder / "new", folder / "old"
    for out in (new, old):
        run_good("quantize", model, "--recipe", recipe, "--data", data, "--device", "cpu", "--export", "none", "--out", out)
    result = json.loads((old / "result.json").read_text())
    for node in result["nodes"]:
        del node["reason_code"]
    (old / "result.json").write_text(json.dumps(result))
    run_good("report", old, "--html", folder / "r.html", "--csv", folder / "r.csv")
    with open(folder / "r.csv", newline="", encoding="utf-8") as file:
        assert all(row["reason_code"] == "" for row in csv.DictReader(file))
    run_good("compare", model, "--result", old, "--data", data)
    assert not [node for node in run_json("diff", new, old)["nodes"] if node.get("changed")]


def test_every_cause_is_told_somewhere(folder):
    codes = re.findall(r"ReasonRow \{ReasonCode::(\w+),", TABLE)
    sources = "".join(path.read_text() for path in (SOURCE / "engine").rglob("*.cpp"))
    made = set(re.findall(r"Reason::of<ReasonCode::(\w+)>", sources))
    assert made == set(codes) - {"None"}, made ^ set(codes)
    assert len(SENTENCES) == len(codes) - 1, "the table was not read whole"


main(__name__)
