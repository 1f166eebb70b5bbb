# SPDX-License-Identifier: Apache-2.0
"""What a newcomer meets in the first hour: a recipe to start from, a decision alone as a recipe, other spellings of an operator."""

import json
import re

import scenario_models
import torch
from harness import ALL, SOURCE, by_name, expect_bad, export_model, main, run, run_good, run_json

SAMPLE = SOURCE / "resources" / "samples" / "digits.pt2"


def decisions(*words):
    return {name: (node["verdict"], node["qconfig"], node["pattern"]) for name, node in by_name(run_json("plan", SAMPLE, *words)).items()}


def test_a_recipe_to_start_from(folder):
    """It decides what no recipe decides; each of its comments that is a rule or a key can be used as it stands."""
    path = folder / "recipe.json"
    run_good("recipe", SAMPLE, "--out", path)
    expect_bad("recipe", SAMPLE, "--out", path, contains=["recipe.json"], code=2)
    text = path.read_text()
    assert text == run_good("recipe", SAMPLE)
    assert decisions("--recipe", path, "--strict") == decisions()
    for key in ("mapping", "module_name_regex", "prepare", "wrap", "convert", "lowering", "calibration", "preprocess", "limits", "edits", "qconfigs"):
        assert f'"{key}": ' in text, key
    rules = re.findall(r'^ *// (\["[^"]+", null\],)', text, re.MULTILINE)
    assert any('"stem.conv"' in rule for rule in rules) and any('"torch.nn.Linear"' in rule for rule in rules), rules
    assert '// ["stem", null], // 1 layer' in text and '// ["block1", null], // 3 layers' in text, rules  # those that hold others, too
    for rule in rules if ALL else rules[::4]:
        path.write_text(text.replace("// " + rule, rule))
        nodes = run_json("plan", SAMPLE, "--recipe", path)["nodes"]
        assert any(node["verdict"] == "float by rule" for node in nodes), rule
    keys = re.findall(r'^ *// ("[a-z_]+": .*,)$', text, re.MULTILINE)
    assert len(keys) > 25, keys
    for key in keys if ALL else keys[::3]:
        path.write_text(text.replace("// " + key, key))
        done = run("plan", SAMPLE, "--recipe", path)
        assert done.returncode == 0 or "not JSON" not in done.stderr and "unknown key" not in done.stderr, (key, done.stderr)


def test_a_decision_alone_is_a_recipe(folder):
    path = folder / "keep.json"
    path.write_text('{"module_name": [["stem.conv", null]]} // one line of README')
    done = run("plan", SAMPLE, "--recipe", path, "--json", "--strict")
    assert done.returncode == 0 and "using backend x86" in done.stderr, done.stderr
    nodes = by_name(json.loads(done.stdout))
    assert nodes["conv2d"]["verdict"] == "float by rule" and nodes["linear"]["verdict"] == "quantized", nodes["conv2d"]
    path.write_text('{"module_names": [["stem.conv", null]]}')
    expect_bad("plan", SAMPLE, "--recipe", path, contains=["keep.json", "format"])


def test_comments_and_commas(folder):
    path = folder / "recipe.json"
    path.write_text('{"format": "quantscope.recipe", "version": 1, /* the // target */ "backend": "x86",\n'
                    ' "mapping": {"global": "x86", "module_name": [["head", null], // "last", one\n ],},}')
    assert by_name(run_json("plan", SAMPLE, "--recipe", path))["linear"]["verdict"] == "float by rule"
    path.write_text('{"format": "quantscope.recipe",\n "version": 1, // one\n "backend": x86}')
    expect_bad("plan", SAMPLE, "--recipe", path, contains=["line 3"])


def test_the_version_names_libtorch(_folder):
    assert re.fullmatch(r"quantscope [\d.]+, LibTorch 2\.11\.0\n", run_good("--version"))
    assert "two to four" in run_good("diff", "--help")


def test_another_spelling_is_found_and_cured(folder):
    """`torch.relu` stays float as in torch.ao, but is not passed over: count, cost and cure; the edit named there quantizes all."""
    path, recipe = folder / "m.pt2", folder / "recipe.json"
    export_model(scenario_models.Spelled(), (torch.randn(2, 3, 16, 16),), path)
    plan = run_json("plan", path)
    (found,) = [one for one in plan["findings"] if one["kind"] == "other_spelling"]
    assert plan["coverage"] == {"quantized": 3, "eligible": 5, "total": 5}, plan["coverage"]
    for word in ("and 1 more: torch.relu stay float", "backend 'x86' lists torch.nn.ReLU", " values, ", "kB a sample pass between int8 and float"):
        assert word in found["text"], (word, found["text"])
    edits = re.search(r'"edits": \[.*\]', found["text"])[0]
    recipe.write_text('{"format": "quantscope.recipe", "version": 1, ' + edits + "}")
    cured = run_json("plan", path, "--recipe", recipe, "--strict")
    assert cured["coverage"] == {"quantized": 5, "eligible": 5, "total": 5} and not cured["findings"], cured["coverage"]


def test_strict_of_plan(folder):
    path = folder / "recipe.json"
    path.write_text('{"module_name": [["nowhere", null]]}')
    expect_bad("plan", SAMPLE, "--recipe", path, "--strict", contains=["nowhere"])


main(__name__)
