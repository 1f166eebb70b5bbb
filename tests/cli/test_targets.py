# SPDX-License-Identifier: Apache-2.0
"""Hardware targets and setter presets on the command line: plan --backend, --diff, training presets."""

import json
import os

from harness import by_name, expect_bad, main, run, run_good, run_json, write_recipe
from models import residual


def test_backend_overrides_the_recipe(folder):
    _, model, _, _ = residual(folder)
    assert "target: backend x86, global qconfig x86" in run_good("plan", model)
    text = run_good("plan", model, "--backend", "qnnpack")
    assert "target: backend qnnpack, global qconfig qnnpack" in text
    plan = run_json("plan", model, "--backend", "tensorrt")
    assert plan["target"] == {"backend": "tensorrt", "global": "tensorrt"} and plan["backend"] == "tensorrt"
    conv = by_name(plan)["conv2d"]
    assert conv["quantized"] and by_name(plan)["relu"]["output"]["dtype"] == "qint8"
    assert by_name(plan)["relu"]["output"]["qscheme"] == "per_tensor_symmetric"


def test_a_chosen_global_stays(folder):
    _, model, _, _ = residual(folder)
    recipe = write_recipe(folder, backend="x86", mapping={"global": "default_per_channel"})
    plan = run_json("plan", model, "--recipe", recipe, "--backend", "qnnpack")
    assert plan["target"] == {"backend": "qnnpack", "global": "default_per_channel"}
    own = {"x86": {"activation": {"observer": "minmax"}, "weight": {"observer": "minmax", "dtype": "qint8"}}}
    recipe = write_recipe(folder, backend="x86", qconfigs=own, mapping={"global": "x86"})
    plan = run_json("plan", model, "--recipe", recipe, "--backend", "qnnpack")
    assert plan["target"]["global"] == "x86" and by_name(plan)["relu"]["output"]["observer"] == "minmax"


def test_every_backend_plans_with_its_presets(folder):
    _, model, _, _ = residual(folder)
    for name in ("native", "x86", "fbgemm", "qnnpack", "onednn", "executorch", "tensorrt"):
        plan = run_json("plan", model, "--backend", name)
        assert by_name(plan)["conv2d"]["quantized"], name
        assert by_name(plan)["linear"]["quantized"], name


def test_a_target_that_nobody_named_is_told_once(folder):
    """In plan, result and report; never where a recipe names one. The result carries what was taken."""
    _, model, data, _ = residual(folder)
    words = "no target is specified; using x86"
    assert run_good("plan", model).count(words) == 1
    assert words in run_json("plan", model)["target_assumed"]
    named = write_recipe(folder, backend="x86", calibration={"batch_size": 2, "batches": 2})
    assert words not in run_good("plan", model, "--recipe", named)
    assert "target_assumed" not in run_json("plan", model, "--recipe", named)
    open_ended = json.loads(named.read_text())
    del open_ended["backend"]
    recipe = folder / "open.json"
    recipe.write_text(json.dumps(open_ended))
    for name, given in (("open", recipe), ("named", named)):
        out = folder / name
        run_good("quantize", model, "--recipe", given, "--data", data, "--device", "cpu", "--export", "none", "--out", out)
        run_good("report", out, "--html", folder / "report.html")
        assert (folder / "report.html").read_text().count(words) == (name == "open")
        assert json.loads((out / "recipe.json").read_text())["backend"] == "x86"
    numbers = [json.loads((folder / name / "result.json").read_text())["outputs"] for name in ("open", "named")]
    assert numbers[0] == numbers[1]
    assert "differ" not in run("compare", model, "--result", folder / "open", "--data", data, "--recipe", recipe).stderr


def test_a_target_may_be_required(folder):
    """By this user's settings, for every verb that plans."""
    _, model, data, _ = residual(folder)
    settings = folder / "config" / "quantscope" / "settings.json"
    settings.parent.mkdir(parents=True)
    named = write_recipe(folder, backend="qnnpack")
    bare = folder / "bare.json"
    bare.write_text(json.dumps({"format": "quantscope.recipe", "version": 1}))
    usual = os.environ.get("XDG_CONFIG_HOME")
    os.environ["XDG_CONFIG_HOME"] = str(folder / "config")
    try:
        settings.write_text(json.dumps({"format": "quantscope.settings", "version": 1, "target": "required"}))
        for words in (("plan", model), ("plan", model, "--recipe", bare), ("quantize", model, "--data", data, "--out", folder / "out")):
            expect_bad(*words, contains=("the recipe names no target, which this user's settings require", '"backend"'))
        assert not (folder / "out" / "result.json").exists()
        assert "backend qnnpack" in run_good("plan", model, "--recipe", named)
        assert "backend fbgemm" in run_good("plan", model, "--backend", "fbgemm")
        settings.write_text(json.dumps({"format": "quantscope.settings", "version": 1, "target": "assumed"}))
        run_good("plan", model)
        for text, told in ('{"format": "quantscope.settings", "version": 1, "target": 3}', "target"), ('{"targets": 1}', "format"), ("[", "settings.json"):
            settings.write_text(text)
            expect_bad("plan", model, contains=("settings.json", told))
    finally:
        os.environ.pop("XDG_CONFIG_HOME") if usual is None else os.environ.update(XDG_CONFIG_HOME=usual)


def test_diff(folder):
    _, model, _, _ = residual(folder)
    text = run_good("plan", model, "--backend", "x86", "--diff", "fbgemm")
    assert "no operator changes" in text
    document = run_json("plan", model, "--diff", "tensorrt")
    assert document["format"] == "quantscope.plan_diff"
    assert [document[side]["backend"] for side in ("before", "after")] == ["x86", "tensorrt"]
    before, after = (by_name(run_json("plan", model, "--backend", name)) for name in ("x86", "tensorrt"))
    changed = by_name(document)
    for name, node in before.items():
        if node["op"] in ("input", "parameter", "constant"):
            continue
        if node["quantized"] != after[name]["quantized"]:
            assert "verdict" in changed[name]["changed"], name
            assert changed[name]["before"]["quantized"] == node["quantized"]
            assert changed[name]["after"]["reason"] == after[name]["reason"]
        matched = bool(node["pattern"] or after[name]["pattern"])
        assert (name in changed) == (node["quantized"] != after[name]["quantized"]
                                     or node["pattern"] != after[name]["pattern"]
                                     or (matched and node["qconfig"] != after[name]["qconfig"])), name
    text = run_good("plan", model, "--diff", "tensorrt")
    assert "before: backend x86" in text and "after:  backend tensorrt" in text and "->" in text
    assert f"{len(changed)} of " in text and "cos" not in text.split("operators change")[0].split("reason")[1]


def test_unknown_targets(folder):
    _, model, _, _ = residual(folder)
    for flag in ("--backend", "--diff"):
        expect_bad("plan", model, flag, "qnnpak", contains=["unknown backend 'qnnpak'", "did you mean 'qnnpack'?"])
        expect_bad("plan", model, flag, folder / "mine.json", contains=["mine.json", "no such file"])
    recipe = write_recipe(folder, backend="x68")
    expect_bad("plan", model, "--recipe", recipe, contains=["recipe.json", "'x68'", "did you mean 'x86'?"])


def test_a_target_of_ones_own(folder):
    _, model, _, _ = residual(folder)
    mine = json.loads(run_good("backends", "show", "qnnpack", "--json"))
    mine.update(name="march_a", default_qconfig="symmetric_qnnpack")
    file = folder / "march_a.json"
    file.write_text(json.dumps(mine))
    recipe = write_recipe(folder, backend=str(file))
    plan = run_json("plan", model, "--recipe", recipe)
    assert plan["backend"] == "march_a" and plan["target"]["global"] == "symmetric_qnnpack"
    mine["default_qconfig"] = "symetric_qnnpack"
    file.write_text(json.dumps(mine))
    expect_bad("plan", model, "--backend", file, contains=["default_qconfig", "did you mean 'symmetric_qnnpack'?"])


def test_training_presets(folder):
    _, model, data, _ = residual(folder)
    words = ["quantize", model, "--data", data, "--device", "cpu", "--export", "none", "--recipe"]
    observer = {"observer": "moving_average_minmax", "dtype": "quint8", "reduce_range": True, "quant_min": 0,
                "quant_max": 255}
    weight = {"observer": "moving_average_minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric",
              "quant_min": -128, "quant_max": 127}
    results = []
    for name, qconfig in (("plain", {"activation": observer, "weight": weight}), ("default_qat", None)):
        recipe = write_recipe(folder, qconfigs={name: qconfig} if qconfig else {}, mapping={"global": name})
        done = run(*words, recipe, "--out", folder / name)
        assert done.returncode == 0, done.stderr
        assert ("trains for them" in done.stderr) == (qconfig is None), done.stderr
        results.append(by_name(json.loads((folder / name / "result.json").read_text())))
    plain, training = results
    assert plain["relu"]["quantized"] and training["relu"]["quantized"]
    for name, node in plain.items():
        for place in ("output", "weight"):
            ours, theirs = ({**(told[place] or {}), "rule": None} for told in (node, training[name]))
            assert ours == theirs, (name, place)  # but for the name under which the rule gave it
    recipe = write_recipe(folder, mapping={"global": "x86", "object_type": [["torch.nn.Linear", "default_qat"]]})
    expect_bad("plan", model, "--recipe", recipe,
               contains=["recipe.json", "mixed", "'conv1 · conv2d' (conv2d) has 'x86'", "'fc · linear' (linear) has 'default_qat'"])


def dumps(folder):
    """A mapping and a backend of torch.ao, dumped as users do it."""
    import torch
    import torch.ao.quantization as tq
    import torch.ao.quantization.backend_config.utils
    from torch.ao.quantization.backend_config import get_fbgemm_backend_config

    mapping, backend = folder / "mapping.json", folder / "fbgemm_dump.json"
    mapping.write_text(json.dumps(tq.get_default_qconfig_mapping("qnnpack").set_object_type(torch.nn.Linear, None)
                                  .to_dict(), default=str))
    backend.write_text(json.dumps(get_fbgemm_backend_config().to_dict(), default=str))
    return mapping, backend


def test_dumps_of_torch_ao(folder):
    _, model, _, _ = residual(folder)
    mapping, backend = dumps(folder)
    done = run("plan", model, "--recipe", mapping)
    assert done.returncode == 0 and done.stderr.count("a dump of torch.ao's QConfigMapping") == 1, done.stderr
    assert "global qconfig qnnpack with its default entries, 1 object_type rule" in done.stderr
    nodes = by_name(run_json("plan", model, "--recipe", mapping))
    assert nodes["conv2d"]["quantized"] and not nodes["linear"]["quantized"]
    own = by_name(run_json("plan", model, "--recipe", write_recipe(
        folder, mapping={"global": "qnnpack", "object_type": [["torch.nn.Linear", None]]})))
    assert {n: own[n]["output"] for n in own} == {n: nodes[n]["output"] for n in nodes}
    done = run("plan", model, "--backend", backend)
    assert done.returncode == 0 and done.stderr.count("a dump of torch.ao's BackendConfig") == 1, done.stderr
    assert "no operator changes" in run_good("plan", model, "--backend", "fbgemm", "--diff", backend)
    assert "nothing to report" in run_good("backends", "check", backend)
    assert json.loads(run_good("backends", "show", backend, "--json"))["patterns"] == json.loads(
        run_good("backends", "show", "fbgemm", "--json"))["patterns"]


def test_nulls_at_conversion(folder):
    _, model, data, _ = residual(folder)
    late = write_recipe(folder, mapping={"global": "x86", "module_name": [["fc", "qnnpack"]]},
                        convert={"qconfig_mapping": {"object_type": [["torch.nn.Linear", None]]}})
    plan = run_json("plan", model, "--recipe", late)
    linear = by_name(plan)["linear"]
    assert not linear["quantized"] and "torch.nn.Linear" in linear["reason"] and linear["output"] is None
    run_good("quantize", model, "--recipe", late, "--data", data, "--device", "cpu", "--export", "none", "--out",
             folder / "out")
    stored = json.loads((folder / "out" / "recipe.json").read_text())
    assert stored["convert"]["qconfig_mapping"] == {"object_type": [["torch.nn.Linear", None]]}
    assert stored["mapping"]["object_type"] == []
    bad = write_recipe(folder, convert={"qconfig_mapping": {"global": "qnnpack"}})
    expect_bad("plan", model, "--recipe", bad, contains=["recipe.json", "convert.qconfig_mapping", "taken away"])


def test_names_the_model_lacks(folder):
    _, model, _, _ = residual(folder)
    recipe = write_recipe(folder, prepare={"non_traceable_module_name": ["con1"],
                                           "non_traceable_module_class": ["torch.nn.MaxPool2D", "zebra.Crossing"]})
    warnings = run_json("plan", model, "--recipe", recipe)["warnings"]
    text = "\n".join(warnings)
    assert "prepare.non_traceable_module_name: the model has no module 'con1'; did you mean 'conv1'?" in text, text
    assert "class 'torch.nn.MaxPool2D'; did you mean 'torch.nn.MaxPool2d'?" in text, text
    assert "'zebra.Crossing'; 'inspect --json' lists its modules" in text, text
    recipe = write_recipe(folder, prepare={"non_traceable_module_name": ["conv1"],
                                           "non_traceable_module_class": ["<class 'torch.nn.modules.linear.Linear'>"]})
    plan = run_json("plan", model, "--recipe", recipe)
    assert not [w for w in plan["warnings"] if "has no module" in w], plan["warnings"]
    assert not by_name(plan)["conv2d"]["quantized"] and not by_name(plan)["linear"]["quantized"]
    idle = write_recipe(folder, prepare={"input_quantized_idxs": [0], "output_quantized_idxs": []})
    warnings = run_json("plan", model, "--recipe", idle)["warnings"]
    assert [w for w in warnings if w.startswith("prepare.input_quantized_idxs has no effect")], warnings
    assert not [w for w in warnings if "output_quantized_idxs" in w], warnings


def test_edge_rules_are_told_where_they_win(folder):
    _, path, _, _ = residual(folder)

    def planned(*edges):
        recipe = write_recipe(folder, backend="x86", mapping={"global": "x86", "edge": list(edges)})
        return by_name(run_json("plan", path, "--recipe", recipe))

    nodes = planned(["max_pool2d", "add", 0, "qnnpack"], ["x", "conv2d", 0, "qnnpack"])
    told = nodes["add"]["rule"]
    assert told["kind"] == "global" and told["inputs"] == [
        {"kind": "edge", "key": "max_pool2d, add, 0", "qconfig": "qnnpack", "index": 0}], told
    assert nodes["conv2d"]["rule"]["inputs"][0]["index"] == 0 and "inputs" not in nodes["linear"]["rule"]
    assert nodes["x"]["output"]["rule"] == {"kind": "edge", "key": "x, conv2d, 0", "qconfig": "qnnpack"}, nodes["x"]
    assert nodes["add"]["inputs"][0]["rule"]["kind"] == "edge" and nodes["add"]["output"]["rule"]["kind"] == "global"
    text = run_good("plan", path, "--recipe", folder / "recipe.json")
    line = next(line for line in text.splitlines() if line.startswith("add "))
    assert "edge max_pool2d -> add, input 0; global" in line, line
    told = planned(["conv2d_1", "add", 1, None])["add"]
    assert not told["quantized"] and told["rule"]["kind"] == "edge" and told["rule"]["key"] == "conv2d_1, add, 1", told
    assert told["rule"]["overrides"][0]["kind"] == "global" and told["rule"]["qconfig"] is None


def test_sixteen_bit_activations(folder):
    """Presets and targets of 16-bit activations with 8-bit weights; where a backend refuses them it names those that do not."""
    module, model, data, _ = residual(folder)
    losses = {}
    for backend, preset, dtype in (("x86", "x86", "quint8"), ("ethos_u", "int16_activation_int8_weight", "int16"),
                                   ("qnn", "uint16_activation_int8_weight", "uint16")):
        recipe = write_recipe(folder, backend=backend)
        out = folder / backend
        result = json.loads(run_good("quantize", model, "--data", data, "--recipe", recipe, "--device", "cpu", "--strict", "--export", "pt2,onnx",
                                     "--onnx-opset", "21", "--out", out, "--json"))
        losses[backend] = result["outputs"][0]["cumulative"]["sqnr_db"]
        node = by_name(result)["relu"]
        assert node["qconfig"] == preset and node["output"]["dtype"] == dtype, (backend, node)
        assert result["coverage"]["quantized"] == result["coverage"]["eligible"], (backend, result["coverage"])
        if dtype == "int16":
            assert node["output"]["qscheme"] == "per_tensor_symmetric" and node["output"]["zero_point"] == [0]
    assert min(losses["ethos_u"], losses["qnn"]) > losses["x86"] + 6, losses
    recipe = write_recipe(folder, backend="x86", mapping={"global": "int16_activation_int8_weight"})
    nodes = by_name(run_json("plan", model, "--recipe", recipe))
    assert not nodes["conv2d"]["quantized"] and "'ethos_u' takes int16" in nodes["conv2d"]["reason"], nodes["conv2d"]
    expect_bad("quantize", model, "--data", data, "--recipe", recipe, "--out", folder / "none", contains=["'ethos_u' takes int16"])


main(__name__)
