# SPDX-License-Identifier: Apache-2.0
"""Float results against PT2E: X86InductorQuantizer annotates the input and the weight of linears and convolutions and no output, which
is what the key "result" says here. With the same observers both sides choose the same parameters, and the converted models agree."""

import dataclasses
import json
import pathlib
import sys
import tempfile
import warnings

import torch
from torch import nn
from torch.nn import functional as F
from torchao.quantization.pt2e import MinMaxObserver
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer.x86_inductor_quantizer import (X86InductorQuantizer,
                                                                        get_default_x86_inductor_quantization_config)

import agreement

LEAST_DB = 60
EPS = 2 ** -12
ACTIVATION = {"observer": "minmax", "dtype": "quint8", "qscheme": "per_tensor_affine", "quant_min": 0, "quant_max": 255, "eps": EPS}
WEIGHT = {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric", "quant_min": -128, "quant_max": 127, "eps": EPS}
FLOATS = {"activation": ACTIVATION, "weight": WEIGHT, "result": "float"}
RECIPE = {"format": "quantscope.recipe", "version": 1, "backend": "x86", "qconfigs": {"floats": FLOATS}, "calibration": {"batch_size": 8},
          "mapping": {"object_type": [["torch.nn.Linear", "floats"], ["torch.nn.Conv2d", "floats"]]}}


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = nn.Linear(24, 32), nn.Linear(32, 32), nn.Linear(32, 6)

    def forward(self, x):
        return self.third(torch.tanh(self.second(F.gelu(self.first(x)))))


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 12, 3, stride=2, groups=2)
        self.last = nn.Linear(12, 5)

    def forward(self, x):
        return self.last(torch.sigmoid(self.second(F.relu(self.first(x)))).mean((2, 3)))


NETWORKS = {"perceptron": (Perceptron, (24,)), "convolutions": (Convolutions, (3, 10, 10))}


def theirs(program, calls):
    """(the converted module, scales of what it quantizes) of PT2E."""
    config = get_default_x86_inductor_quantization_config()
    spec = dataclasses.replace(config.input_activation, observer_or_fake_quant_ctr=MinMaxObserver.with_args(eps=EPS))
    config = dataclasses.replace(config, input_activation=spec)
    prepared = prepare_pt2e(program.module(), X86InductorQuantizer().set_global(config))
    for call in calls:
        prepared(call)
    module = convert_pt2e(prepared)
    quantizes = [node for node in module.graph.nodes if "quantize_per_tensor" in str(node.target) and "dequantize" not in str(node.target)]
    return module, [float(node.args[1]) for node in quantizes]


def compare(name, folder):
    report = agreement.Report(f"{name}/float results")
    make, shape = NETWORKS[name]
    torch.manual_seed(0)
    model, x = make().eval(), torch.randn(32, *shape)
    program = torch.export.export(model, (x[:8],), dynamic_shapes=({0: torch.export.Dim("batch")},), strict=True)
    torch.export.save(program, folder / "model.pt2")
    torch.save([(call,) for call in x.split(8)], folder / "calls.pt")
    (folder / "recipe.json").write_text(json.dumps(RECIPE))
    code, _, error = agreement.quantscope("quantize", folder / "model.pt2", "--recipe", folder / "recipe.json", "--data", folder / "calls.pt",
                                          "--device", "cpu", "--export", "pt2-reference", "--out", folder / "out")
    if not report.expect(code == 0, f"quantize failed: {error}"):
        return report
    module, scales = theirs(program, x.split(8))
    result = json.loads((folder / "out" / "result.json").read_text())
    floats = [node for node in result["nodes"] if node.get("result") == "float"]
    report.expect(len(floats) >= 3 and all(node["output"] is None for node in floats), f"{len(floats)} float results")
    ours = [told["scale"][0] for node in result["nodes"] for told in [node["output"], *node["inputs"]] if told]
    same = len(ours) == len(scales) and all(abs(a / b - 1) <= 1e-6 for a, b in zip(sorted(ours), sorted(scales)))
    report.expect(same, f"scales {sorted(ours)}, PT2E's {sorted(scales)}")
    with torch.no_grad():
        wanted, got = module(x), torch.export.load(folder / "out" / "model.reference.pt2").module()(x)
        floating = model(x)
    noise = float(((wanted - got) ** 2).sum())
    agreed = 200.0 if noise == 0 else float(10 * torch.log10((wanted ** 2).sum() / noise))
    lost = float(10 * torch.log10((floating ** 2).sum() / ((floating - got) ** 2).sum()))
    report.expect(agreed >= LEAST_DB, f"the reference forms agree to {agreed:.1f} dB only")
    report.fact(f"{len(floats)} layers; the reference forms agree to {agreed:.1f} dB, and lose {lost:.1f} dB")
    return report


def main():
    warnings.simplefilter("ignore")
    failed = 0
    for name in sys.argv[1:] or NETWORKS:
        with tempfile.TemporaryDirectory() as folder:
            report = compare(name, pathlib.Path(folder))
        report.print()
        failed += bool(report.problems)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
