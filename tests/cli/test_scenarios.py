# SPDX-License-Identifier: Apache-2.0
"""The acceptance scenarios of the requirements, one function each, on the command line. Those of the window are in tests/ui/tst_ui_scenarios
and tst_ui_pack_scenarios."""

import json
import shutil
import subprocess
import sys

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from torch import nn

import scenario_models as models
from harness import (PROGRAM, SOURCE, by_name, expect_bad, keeping, main, run, run_good, run_json, sqnr, write_recipe)
from pathlib import Path

PACKS = SOURCE / "resources" / "extensions"
LSTM_PRESET = {"prepare": {"float_to_observed_custom_module_class": {"static": {"torch.nn.LSTM": "torch.ao.nn.quantizable.LSTM"}}},
               "convert": {"observed_to_quantized_custom_module_class": {
                   "static": {"torch.ao.nn.quantizable.LSTM": "torch.ao.nn.quantized.LSTM"}}}}


def code_of(model, form, *words):
    """(module tree, body of `forward`) of one form, as Python prints it."""
    text = run_good("inspect", model, "--code", "--form", form, *words)
    return text.split("\ndef forward", 1)


def counts(body):
    return body.count("torch.quantize_per_tensor("), body.count(".dequantize()")


def quantized(folder, model, data, *words, export="torchscript"):
    """(folder of results, the document, outputs of the lowered model)."""
    out, kept = folder / "out", folder / "outputs.npz"
    run_good("quantize", model, "--data", data, "--out", out, "--device", "cpu", "--export", export, "--eval", keeping(kept), *words)
    return out, json.loads((out / "result.json").read_text()), models.outputs(kept)


def tutorial(folder, use_bn, backend=None, **recipe):
    torch.manual_seed(3)
    model, data = models.saved(folder, models.Tutorial(use_bn).eval(), torch.randn(1, 3, 10, 10))
    (folder / "my_backend.json").write_text(json.dumps(backend or models.my_backend()))
    decisions = {"qconfigs": {"act7": models.ACT7}, "mapping": models.TYPES, **recipe}
    return model, data, ("--recipe", write_recipe(folder, backend="my_backend.json", **decisions))


def reason_of(nodes, name):
    return nodes[name]["reason"] or ""


def test_5_1_two_states_of_an_lstm(folder):
    torch.manual_seed(1)
    example = torch.randn(3, 3, 8), torch.randn(2, 3, 8), torch.randn(2, 3, 8)
    network = models.TwoStates().eval()
    model, data = models.saved(folder, network, *example)
    recipe = "--recipe", write_recipe(folder, **LSTM_PRESET)
    tree, body = code_of(model, "lowered", *recipe)
    assert "(lstm): QuantizedLSTM(" in tree and counts(body) == (3, 2), (tree, body)
    _, document, (first, second) = quantized(folder, model, data, *recipe)
    shapes = by_name(run_json("inspect", model))["lstm"]["outputs"]
    assert [value["shape"] for value in shapes][1:] == [[2, 3, 8], [2, 3, 8]], shapes
    calls = torch.load(data)
    for at, got in enumerate((first, second)):
        wanted = torch.cat([network(*call)[at] for call in calls]).detach()
        assert tuple(wanted.shape) == (2 * len(calls), 3, 3) and sqnr(wanted, got) > 25, (at, sqnr(wanted, got))
    assert by_name(document)["lstm"]["quantized"]


def test_5_2_counts_of_a_static_lstm(folder):
    torch.manual_seed(2)
    example = torch.randn(5, 3, 50), torch.randn(1, 3, 50), torch.randn(1, 3, 50)
    network = models.Leaves().eval()
    model, data = models.saved(folder, network, *example)
    tree, body = code_of(model, "prepared")
    assert "QuantizableLSTM" in tree or "quantizable.LSTM" in tree or "(lstm):" in tree, tree
    assert body.count("self.activation_post_process_") == 6, body
    assert counts(code_of(model, "reference")[1]) == (6, 6)
    tree, body = code_of(model, "lowered")
    assert counts(body) == (3, 3) and tree.count("QuantizedLinear(") == 3 and tree.count("QuantizedLSTM(") == 1, (tree, body)
    out, document, got = quantized(folder, model, data)
    interior = by_name(document)["lstm"]["interior"]
    assert {row["name"].rsplit(".", 1)[-1] for row in interior} >= {"igates", "hgates", "gates", "fgate_cx", "igate_cgate",
                                                                   "fgate_cx_igate_cgate", "ogate_cy"}, interior
    assert len(document["outputs"]) == 3 and all(value["cumulative"]["sqnr_db"] > 20 for value in document["outputs"]), document["outputs"]
    assert len(got) == 3 and (out / "model.int8.ts.pt").exists()


def test_5_3_plugins_and_explicit_pairs_around_linear(folder):
    built = Path(PROGRAM).parent.parent / "extensions" / "sparse_conv"
    model, data = models.sparse_with_linear(built / "libsparse_conv.so", folder)
    rows = {"remove": [{"pattern": ["torch.nn.Linear"]}]}
    words = ("--extension", built, "--recipe",
             write_recipe(folder, backend="tensorrt", mapping={"global": "tensorrt"}, extensions=["sparse_conv"], convert={"lowering": rows}))
    out, document, _ = quantized(folder, model, data, *words, export="torchscript,pt2-reference")
    nodes = by_name(document)
    plugins = [node for node in nodes.values() if node.get("kernel") and node["kernel"]["name"].startswith("sparse_conv.conv2d_relu_int8")]
    assert len(plugins) == 5 and all(node["kernel"]["passed"] for node in plugins), plugins
    assert nodes["linear"]["quantized"] and nodes["indices"]["output"] is None, nodes["linear"]
    left = {row["node"]: row["reason"] for row in document["residue"] if row["kind"] == "unlowered"}
    assert set(left) == {"linear", "conv2d_5"} and all("no row" in reason for reason in left.values()), document["residue"]
    tree, body = code_of(model, "lowered", *words)
    assert "(linear): QuantizedLinear(Reference)" in tree, tree
    line = next(line for line in body.splitlines() if "linear = self.linear(" in line or "functional.linear(" in line)
    assert "dequantize" in line, line
    assert (out / "model.reference.pt2").exists() and (out / "model.int8.ts.pt").exists()


def test_5_4_the_tutorial(folder):
    model, data, words = tutorial(folder, False)
    assert code_of(model, "prepared", *words)[1].count("self.activation_post_process_") == 3
    out, document, _ = quantized(folder, model, data, *words)
    tree, body = code_of(out, "lowered")
    for printed in ("QuantizedLinear(in_features=10, out_features=3", "qscheme=torch.per_tensor_affine", "zero_point=0",
                    "QuantizedConvReLU2d(3, 3, kernel_size=(3, 3)", "Sigmoid()"):
        assert printed in tree, (printed, tree)
    assert counts(body) == (1, 1) and "torch.quint8" in body, body
    zeros = [point for node in document["nodes"] if node["output"] for point in node["output"]["zero_point"]]
    assert zeros and all(0 <= point <= 127 for point in zeros), zeros


def test_5_5_a_fusion_that_is_missing(folder):
    model, data, words = tutorial(folder, True)
    nodes = by_name(run_json("plan", model, *words))
    floats = [name for name in nodes if nodes[name]["module"] in ("conv", "bn", "relu")]
    assert len(floats) == 3 and not any(nodes[name]["quantized"] for name in floats), nodes
    reasons = " ".join(reason_of(nodes, name) for name in floats)
    for word in ("no pattern", "Conv2d", "BatchNorm2d", "ReLU"):
        assert word in reasons, reasons
    backend = models.my_backend()
    backend["patterns"].insert(1, {"pattern": ["torch.nn.Conv2d", "torch.nn.BatchNorm2d", "torch.nn.ReLU"],
                                   "fused_module": "torch.ao.nn.intrinsic.ConvBnReLU2d", "fuser_method": "fuse_conv_bn_relu"})
    model, data, words = tutorial(folder, True, backend)
    quantized(folder, model, data, *words)
    tree, _ = code_of(model, "lowered", *words)
    assert "QuantizedConvReLU2d(" in tree, tree


def test_5_6_the_default_mapping_on_a_stricter_backend(folder):
    model, data, words = tutorial(folder, False, mapping={"global": "x86"})
    nodes = by_name(run_json("plan", model, *words))
    linear = next(node for node in nodes.values() if node["module"] == "linear")
    assert not linear["quantized"] and "eps" in linear["reason"], linear
    assert "0.000244140625" in linear["reason"] and "1.19" in linear["reason"], linear["reason"]
    conv = next(node for node in nodes.values() if node["module"] == "conv")
    assert not conv["quantized"] and "eps" in conv["reason"], conv
    done = run("quantize", model, "--data", data, "--out", folder / "out", "--device", "cpu", "--strict", *words)
    assert done.returncode == 1 and "no node would be quantized, of 4 operators" in done.stderr and "eps" in done.stderr, done.stderr


def test_5_7_a_weight_range_where_pytorch_is_silent(folder):
    backend = models.my_backend(quant_min_lower_bound=-64, quant_max_upper_bound=63)
    wide = {"activation": models.ACT7["activation"], "weight": {**models.ACT7["weight"], "quant_min": -128, "quant_max": 127}}
    model, _, words = tutorial(folder, False, backend, qconfigs={"act7": wide})
    linear = next(node for node in run_json("plan", model, *words)["nodes"] if node["module"] == "linear")
    text = run_good("plan", model, *words)
    assert not linear["quantized"] and "-128" in linear["reason"] and "-64" in linear["reason"], linear
    assert "stricter than PyTorch" in text, text


def test_5_8_a_relu_without_the_qconfig_of_its_fusion(folder):
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 1)).eval()
    model, _ = models.saved(folder, network, torch.randn(1, 3, 8, 8))
    rules = {"global": "x86", "module_name": [["1", None]]}
    done = run("plan", model, "--recipe", write_recipe(folder, mapping=rules))
    assert done.returncode == 0 and "warning" in done.stderr and "fused" in done.stderr, done.stderr
    relu = [node["name"] for node in run_json("inspect", model)["nodes"] if node["module"] == "1"][0]
    apart = run_json("plan", model, "--recipe", write_recipe(folder, mapping=rules, prepare={"unfuse": [relu]}))
    assert [node["quantized"] for node in apart["nodes"] if node["module"] in ("0", "1")] == [True, False], apart["nodes"]
    both = run_json("plan", model, "--recipe", write_recipe(folder, mapping={"global": "x86", "module_name": [["0", None], ["1", None]]}))
    assert [node["quantized"] for node in both["nodes"] if node["module"] in ("0", "1")] == [False, False], both["nodes"]


def test_5_9_a_custom_module_in_every_mode(folder):
    subprocess.run([sys.executable, PACKS / "gated_unit" / "gated_unit.py", folder / "pack"], check=True, timeout=300)
    pack = folder / "pack"
    weight = {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"}
    alone = {"activation": {"observer": "placeholder", "dtype": "float32"}, "weight": weight}
    modes = {"static": ({}, (1, 1)), "dynamic": ({"mapping": {"global": "default_dynamic"}}, (0, 0)),
             "weight_only": ({"qconfigs": {"w": alone}, "mapping": {"global": None, "module_name": [["unit", "w"]]}}, (0, 0))}
    for mode, (keys, pairs) in modes.items():
        words = "--extension", pack, "--recipe", write_recipe(folder, **keys)
        unit = by_name(run_json("plan", pack / "network.pt2", *words))["unit"]
        assert unit["quantized"] and unit["mode"] == mode, unit
        body = code_of(pack / "network.pt2", "lowered", *words)[1]
        assert counts(body) == pairs, (mode, body)
        quantized(folder, pack / "network.pt2", pack / "data.pt", *words)
    wrong = {"prepare": {"float_to_observed_custom_module_class": {"dynamic": {"gated_unit.GatedUnit": "gated_unit.ObservedGatedUnit"}}}}
    expect_bad("plan", pack / "network.pt2", "--extension", pack, "--recipe", write_recipe(folder, **wrong), contains=["mode 'dynamic'"])


def test_5_10_a_branch_that_data_decide(folder):
    network = models.Branching().eval()
    done = subprocess.run([sys.executable, SOURCE / "resources" / "export" / "quantscope_export.py", f"{models.__file__}:branching",
                           "-o", folder / "no.pt2", "--draft-seconds", "5"], capture_output=True, text=True, timeout=300, check=False)
    line = next(number for number, text in enumerate(Path(models.__file__).read_text().splitlines(), 1) if "if x.sum() > 0" in text)
    told = [text for text in (done.stdout + done.stderr).splitlines() if "failed at" in text]
    assert done.returncode == 0 and len(told) == 2 and all(f"failed at part (scenario_models.Branching.Deciding), {models.__file__}:{line}" in text
                                                           for text in told), done.stdout
    with torch.no_grad():
        torch.jit.script(network).save(str(folder / "model.pt"))
    torch.save([(torch.randn(2, 8),) for _ in range(4)], folder / "data.pt")
    words = "--recipe", write_recipe(folder, prepare={"non_traceable_module_name": ["part"]})
    nodes = run_json("plan", folder / "model.pt", *words)["nodes"]
    ours = {node["module"]: node["quantized"] for node in nodes if "linear" in node["op"]}
    assert ours["before"] and ours["after"] and not any(done for path, done in ours.items() if path.startswith("part")), ours
    quantized(folder, folder / "model.pt", folder / "data.pt", *words)
    script = torch.jit.load(folder / "out" / "model.int8.ts.pt")
    with torch.no_grad():
        for call in torch.load(folder / "data.pt"):
            assert sqnr(network(*call), script(*call)) > 25


def test_5_11_one_observer_for_all_that_is_joined(folder):
    model, data = models.saved(folder, models.Joined().eval(), torch.randn(2, 3, 8, 8))
    body = code_of(model, "prepared")[1]
    sites = [word.split("(")[0] for word in body.split() if word.startswith("self.activation_post_process_") and "(" in word]
    assert len(sites) == 5, body
    nodes = by_name(run_json("plan", model))
    joined = [name for name, node in nodes.items() if node["op"].startswith(("aten.conv2d", "aten.cat", "aten.avg_pool"))]
    own = {"activation": {"observer": "minmax", "dtype": "quint8", "qscheme": "per_tensor_affine"},
           "weight": {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric"}}
    words = "--recipe", write_recipe(folder, qconfigs={"own": own}, mapping={"global": "x86", "edge": [
        ["conv2d", "cat", 0, "own"], ["conv2d_1", "cat", 1, "own"]]})
    _, document, _ = quantized(folder, model, data, *words)
    nodes = by_name(document)
    told = [nodes[name]["output"] for name in joined]
    assert {value["observer"] for value in told} == {"minmax"}, told
    assert len({(value["scale"][0], value["zero_point"][0]) for value in told}) == 1, told
    assert [value["shared_with"] for value in told] == [None, *[joined[0]] * 3], told


def test_5_12_a_method_as_one_node(folder):
    model, data = models.saved(folder, models.Detector().eval(), torch.randn(1, 3, 8, 8))
    words = "--recipe", write_recipe(folder, prepare={"wrap": ["::_post_process"]})
    nodes = run_json("plan", model, *words)["nodes"]
    refine = [node for node in nodes if node["module"] == "refine"]
    assert len(refine) == 1 and refine[0]["quantized"], nodes
    inner = [node for node in nodes if node["op"].startswith(("aten.permute", "aten.reshape", "aten.cat", "aten.softmax"))]
    assert all(not node["quantized"] for node in inner), inner
    assert sum(node["quantized"] for node in nodes if "conv2d" in node["op"]) == 3, nodes
    quantized(folder, model, data, *words)


def test_5_13_mixed_qconfigs_and_no_target(folder):
    network = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)).eval()
    model, _ = models.saved(folder, network, torch.randn(2, 4))
    mixed = write_recipe(folder, backend="x86", mapping={"global": "x86", "module_name": [["2", "x86_qat"]]})
    expect_bad("plan", model, "--recipe", mixed, contains=["linear_1"])
    config = folder / "config" / "quantscope"
    config.mkdir(parents=True)
    (config / "settings.json").write_text(json.dumps({"format": "quantscope.settings", "version": 1, "target": "required"}))
    done = run("plan", model, env={"XDG_CONFIG_HOME": str(folder / "config")})
    assert done.returncode == 1 and "target" in done.stderr, done.stderr


def test_5_14_not_calibrated(folder):
    model, data = models.saved(folder, models.Idle().eval(), torch.randn(8, 4), torch.randn(8, 0, 4))
    expect_bad("quantize", model, "--data", data, "--device", "cpu", "--export", "torchscript", "--out", folder / "out", out=folder / "out",
               contains=["never saw a value", "'rest'", "(linear_1)"])


def test_5_15_an_lstm_without_states(folder):
    torch.manual_seed(4)
    network = models.TwoStates().eval()
    model, data = models.saved(folder, network, torch.randn(3, 3, 8))
    nodes = by_name(run_json("plan", model))
    text = run_good("plan", model)
    assert nodes["lstm"]["quantized"] and "zeros" in json.dumps(nodes["lstm"]) + text, (nodes["lstm"], text)
    _, _, got = quantized(folder, model, data)
    wanted = torch.cat([network(*call)[0] for call in torch.load(data)]).detach()
    assert sqnr(wanted, got[0]) > 20


def test_5_16_another_quantize_graph_wide(folder):
    torch.manual_seed(5)
    model, data = models.saved(folder, models.Leaves().eval(), torch.randn(5, 3, 50), torch.randn(1, 3, 50), torch.randn(1, 3, 50))
    every = {"do": "replace_every", "form": "lowered", "every": "aten.quantize_per_tensor.default",
             "op": "aten.quantize_per_tensor_dynamic.default", "args": {"reduce_range": False}}
    results, bodies, runs = [], [], []
    for edits in ([], [every], []):
        out, _, got = quantized(folder, model, data, "--recipe", write_recipe(folder, edits=edits))
        results.append(got)
        bodies.append(code_of(out, "lowered")[1])
        script = torch.jit.load(out / "model.int8.ts.pt")
        with torch.no_grad(), torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], acc_events=True) as profile:
            script(*torch.load(data)[0])
        runs.append(sum(event.count for event in profile.key_averages() if event.key == "aten::quantize_per_tensor_dynamic"))
        shutil.rmtree(out)
    targets = [(counts(body)[0], body.count("torch.quantize_per_tensor_dynamic(")) for body in bodies]
    assert targets == [(3, 0), (0, 3), (3, 0)] and runs == [0, 3, 0], (targets, runs)
    assert bodies[0] == bodies[2] and not any(torch.equal(a, b) for a, b in zip(results[0], results[1])), bodies
    assert all(torch.equal(a, b) for a, b in zip(results[0], results[2]))


def test_5_17_exports_that_equal(folder):
    model, data = models.saved(folder, models.Tutorial(False).eval(), torch.randn(1, 3, 10, 10))
    out, document, got = quantized(folder, model, data, export="torchscript,pt2,pt2-reference")
    script, reference = torch.jit.load(out / "model.int8.ts.pt"), torch.export.load(out / "model.reference.pt2").module()
    calls = torch.load(data)
    with torch.no_grad():
        assert torch.equal(torch.cat([script(*call) for call in calls]), got[0])
        assert sqnr(got[0], torch.cat([reference(*call) for call in calls])) > 35
    nodes = by_name(document)
    for module, name in (("linear", "linear"), ("conv", "relu")):
        step = nodes[name]["output"]
        assert (getattr(script, module).scale, getattr(script, module).zero_point) == (step["scale"][0], step["zero_point"][0]), step
    first = nodes["x"]["output"]
    assert (script.linear_input_scale_0, script.linear_input_zero_point_0) == (first["scale"][0], first["zero_point"][0]), first
    certificate = run_json("verify", out, "--data", data, "--runtime", "torch.jit,torch.export")
    assert certificate["passed"], certificate


if __name__ == "__main__":
    main(__name__)
