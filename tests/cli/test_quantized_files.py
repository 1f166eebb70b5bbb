# SPDX-License-Identifier: Apache-2.0
"""Models that somebody else quantized: their parameters are shown, and they are compared with the float model node by node."""
import copy
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.ao.quantization import get_default_qconfig_mapping
from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx
from torch.ao.quantization.backend_config.x86 import get_x86_backend_config

sys.path.insert(0, str(Path(__file__).resolve().parent))
import harness  # noqa: E402
from harness import expect_bad, run_good, run_json, sqnr  # noqa: E402


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.body, self.fc = nn.Conv2d(8, 8, 3, padding=1), nn.Linear(8, 5)

    def forward(self, x):
        x = self.stem(x)
        x = torch.relu(self.body(x) + x)
        return self.fc(x.mean([2, 3]))


def float_model(folder):
    torch.manual_seed(3)
    net = Net()
    net.train()
    with torch.no_grad():
        net(torch.randn(16, 3, 12, 12))
    net.eval()
    x = torch.randn(8, 3, 12, 12)
    torch.export.save(torch.export.export(net, (x,), strict=True), folder / "float.pt2")
    np.savez(folder / "data.npz", x=x.numpy())
    return net, x


def by_torch_ao(net, x):
    torch.backends.quantized.engine = "x86"
    prepared = prepare_fx(copy.deepcopy(net), get_default_qconfig_mapping("x86"), (x,), backend_config=get_x86_backend_config())
    prepared(x)
    return convert_fx(prepared, backend_config=get_x86_backend_config())


def by_pt2e(net, x):
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.quantization.pt2e.quantizer.x86_inductor_quantizer import X86InductorQuantizer, get_default_x86_inductor_quantization_config

    quantizer = X86InductorQuantizer().set_global(get_default_x86_inductor_quantization_config())
    prepared = prepare_pt2e(torch.export.export(net, (x,), strict=True).module(), quantizer)
    prepared(x)
    return convert_pt2e(prepared)


def compared(folder, file):
    return run_json("compare", folder / "float.pt2", "--result", file, "--data", folder / "data.npz")


def check_outputs(document, want, have):
    told = document["outputs"][0]["cumulative"]["sqnr_db"]
    assert abs(told - sqnr(want, have)) < 0.02, (told, sqnr(want, have))
    assert 15 < told < 60, told


def test_torchscript_of_torch_ao(folder):
    net, x = float_model(folder)
    converted = by_torch_ao(net, x)
    with torch.no_grad():
        script = torch.jit.trace(converted, x)
        have = converted(x)
    script.save(str(folder / "int8.pt"))
    shown = {n["module"]: n["quantization"] for n in run_json("inspect", folder / "int8.pt")["nodes"]
             if "quantization" in n and n["op"].startswith("quantized.") and n["module"]}
    for name in ("stem.0", "fc"):
        module = converted.get_submodule(name)
        told, weight = shown[name], module.weight()
        assert told["output"]["scale"] == [np.float32(module.scale)], (name, told["output"])
        assert told["output"]["zero_point"] == [module.zero_point] and told["output"]["dtype"] == "quint8"
        assert told["weight"]["dtype"] == "qint8" and told["weight"]["axis"] == 0
        assert np.allclose(told["weight"]["scale"], weight.q_per_channel_scales().numpy(), rtol=1e-7), name
    assert "quantized.conv2d_relu" in run_good("inspect", folder / "int8.pt")
    expect_bad("quantize", folder / "int8.pt", "--data", folder / "data.npz", "--out", folder / "again",
               contains=["int8.pt", "already quantized", "compare"], out=folder / "again")
    assert "the model is already quantized: " in run_good("plan", folder / "int8.pt").split("\n\n")[0]
    document = compared(folder, folder / "int8.pt")
    with torch.no_grad():
        check_outputs(document, net(x), have)
    matched = {n["name"]: n for n in document["nodes"]}
    relu = next(n for n in document["nodes"] if n["module"] == "stem.2" or n["op"].startswith("aten.relu") and "stem" in n["module"])
    first = converted.get_submodule("stem.0")
    with torch.no_grad():
        want, got = net.stem(x), first(torch.quantize_per_tensor(x, *parameters(converted), torch.quint8)).dequantize()
    assert abs(relu["error"]["cumulative"]["sqnr_db"] - sqnr(want, got)) < 0.02, relu
    # The batch norm went into the convolution, whose relu stands for both.
    assert any(n["op"].startswith("aten.batch_norm") for n in run_json("inspect", folder / "float.pt2")["nodes"])
    assert len(matched) >= 4 and document["unmatched"] == {"model": [], "compared": []}, document["unmatched"]


def parameters(converted):
    return [float(getattr(converted, "stem_0_input_scale_0")), int(getattr(converted, "stem_0_input_zero_point_0"))]


def test_pt2_of_pt2e(folder):
    net, x = float_model(folder)
    converted = by_pt2e(net, x)
    with torch.no_grad():
        have = converted(x)
    torch.export.save(torch.export.export(converted, (x,), strict=True), folder / "int8.pt2")
    document = run_json("inspect", folder / "int8.pt2")
    assert document["model"]["converted"]
    quantizers = [n for n in document["nodes"] if "quantize_per_tensor" in n["op"] and "dequantize" not in n["op"]]
    assert quantizers and all(n["quantization"]["output"]["dtype"] == "uint8" for n in quantizers), quantizers
    first = next(node for node in converted.graph.nodes if "quantize_per_tensor" in str(node.target))
    assert quantizers[0]["quantization"]["output"]["scale"] == [np.float32(first.args[1])]
    report = compared(folder, folder / "int8.pt2")
    with torch.no_grad():
        check_outputs(report, net(x), have)
    assert {n["op"] for n in report["nodes"]} >= {"aten.relu.default", "aten.linear.default"}, report["nodes"]


def test_our_own_exports_give_the_same_numbers(folder):
    float_model(folder)
    run_good("quantize", folder / "float.pt2", "--data", folder / "data.npz", "--export", "torchscript,pt2-reference", "--out", folder / "out")
    result = json.loads((folder / "out" / "result.json").read_text())
    nodes = {n["name"]: n for n in result["nodes"]}
    for file, key in (("model.reference.pt2", "cumulative"), ("model.int8.ts.pt", "lowered")):
        document = compared(folder, folder / "out" / file)
        told = document["outputs"][0]["cumulative"]["sqnr_db"]
        assert abs(told - result["outputs"][0][key]["sqnr_db"]) < 0.01, (file, told)
        if file.endswith(".pt2"):
            checked = 0
            for entry in document["nodes"]:
                known = nodes[entry["name"]]["error"]
                if known and known["cumulative"]:
                    assert abs(entry["error"]["cumulative"]["sqnr_db"] - known["cumulative"]["sqnr_db"]) < 0.05, entry
                    checked += 1
            assert checked >= 3, document["nodes"]


def test_the_engine_a_file_was_made_for(folder):
    """oneDNN alone has linear and leaky relu in one kernel: known by the recipe beside the file, or by the operator."""
    torch.manual_seed(4)
    model = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.1), nn.Linear(16, 4)).eval()
    harness.export_model(model, (torch.randn(4, 8),), folder / "m.pt2")
    torch.save([(torch.randn(4, 8),) for _ in range(2)], folder / "data.pt")
    recipe = harness.write_recipe(folder, backend="onednn")
    run_good("quantize", folder / "m.pt2", "--recipe", recipe, "--data", folder / "data.pt", "--out", folder / "out", "--device", "cpu")
    told = json.loads((folder / "out" / "result.json").read_text())
    assert any((node.get("kernel") or {}).get("name") == "quantized.linear_leaky_relu.default" for node in told["nodes"])
    (folder / "alone.pt").write_bytes((folder / "out" / "model.int8.ts.pt").read_bytes())
    for file in (folder / "out" / "model.int8.ts.pt", folder / "alone.pt"):
        document = run_json("compare", folder / "m.pt2", "--result", file, "--data", folder / "data.pt")
        measured = document["outputs"][0]["cumulative"]["sqnr_db"]
        assert abs(measured - told["outputs"][0]["lowered"]["sqnr_db"]) < 0.01, measured


def test_an_error_names_the_file_it_is_in(folder):
    class FourRows(nn.Linear):
        def forward(self, x):
            return super().forward(x.view(4, 8))

    model = nn.Linear(8, 3).eval()
    harness.export_model(model, (torch.randn(4, 8),), folder / "float.pt2")
    torch.jit.save(torch.jit.trace(FourRows(8, 3).eval(), torch.randn(4, 8)), folder / "fixed.pt")
    torch.save([(torch.randn(3, 8),)], folder / "data.pt")
    done = harness.run("compare", folder / "float.pt2", "--result", folder / "fixed.pt", "--data", folder / "data.pt")
    assert done.returncode == 1, done.stdout
    assert f"{folder / 'fixed.pt'}: node 'view'" in done.stderr.splitlines()[-1], done.stderr


def test_another_network_is_refused_in_a_line(folder):
    float_model(folder)
    two = torch.jit.trace(TwoInputs(), (torch.randn(2, 3), torch.randn(2, 3)))
    two.save(str(folder / "two.pt"))
    expect_bad("compare", folder / "float.pt2", "--result", folder / "two.pt", "--data", folder / "data.npz", contains=["two.pt", "2 inputs"])


class TwoInputs(nn.Module):
    def forward(self, a, b):
        return a + b


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    harness.main(__name__)
