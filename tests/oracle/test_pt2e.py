# SPDX-License-Identifier: Apache-2.0
"""A second oracle: torchao's PT2E flow on three networks.

Its quantizer decides otherwise than prepare_fx, so the plans are not compared. Where both sides observe one value with the
same observer, scale and zero point must agree, and so must the weights of every operator that both quantize.
"""
import json
import pathlib
import sys
import tempfile
import warnings

import numpy as np
import torch
from torchao.quantization.pt2e import HistogramObserver, PerChannelMinMaxObserver
from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e
from torchao.quantization.pt2e.quantizer.x86_inductor_quantizer import (X86InductorQuantizer,
                                                                        get_default_x86_inductor_quantization_config)

import agreement
import models
import oracle

NETWORKS = ["digits", "resnet18", "mixed"]
ACTIVATION = {"observer": "histogram", "dtype": "quint8", "qscheme": "per_tensor_affine", "quant_min": 0, "quant_max": 255,
              "eps": 2 ** -12}
WEIGHT = {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric", "quant_min": -128,
          "quant_max": 127, "eps": 2 ** -12}
RECIPE = {"format": "quantscope.recipe", "version": 1, "backend": "x86", "qconfigs": {"pt2e": {"activation": ACTIVATION,
          "weight": WEIGHT}}, "mapping": {"global": "pt2e"}, "calibration": {"batch_size": 8, "batches": 16}}


def near(a, b):
    return a.shape == b.shape and bool((a - b).norm() <= 1e-4 * b.norm() + 1e-6)


def values_of(module, example):
    """{node: its tensor} of one run, in graph order."""
    seen = {}

    class Record(torch.fx.Interpreter):
        def run_node(self, node):
            out = super().run_node(node)
            if isinstance(out, torch.Tensor):
                seen[node] = out.detach().clone()
            return out

    with torch.no_grad():
        Record(module).run(example)
    return seen


def ask(case):
    """(observed [(value on the example, scale, zero point)], weight scales) of the PT2E flow, calibrated."""
    example = torch.from_numpy(case.calib[:8].copy())
    program = torch.export.export(case.model, (example,), dynamic_shapes=({0: torch.export.Dim("batch")},), strict=True)
    quantizer = X86InductorQuantizer().set_global(get_default_x86_inductor_quantization_config())
    prepared = prepare_pt2e(program.module(), quantizer)
    values = values_of(prepared, example)
    oracle.run(prepared_fresh := prepare_pt2e(program.module(), quantizer), case.calib)
    observed, weights = [], []
    for node, again in zip(prepared.graph.nodes, prepared_fresh.graph.nodes):
        if node.op != "call_module":
            continue
        observer = prepared_fresh.get_submodule(again.target)
        if isinstance(observer, PerChannelMinMaxObserver):
            weights.append(observer.calculate_qparams()[0].float().numpy())
        elif isinstance(observer, HistogramObserver):
            scale, zero_point = observer.calculate_qparams()
            observed.append((values[node.args[0]], float(scale), int(zero_point)))
    return observed, weights


def compare(name, folder):
    report = agreement.Report(f"{name}/pt2e")
    case = models.CASES[name]()
    pt2, calib, _ = models.write(case, folder)
    observed, weights = ask(case)
    recipe = folder / "recipe.json"
    recipe.write_text(json.dumps(RECIPE))
    code, _, error = agreement.quantscope("quantize", pt2, "--recipe", recipe, "--data", calib, "--device", "cpu", "--export",
                                          "pt2-reference", "--out", folder / "out")
    if not report.expect(code == 0, f"quantize failed: {error}"):
        return report
    result = json.loads((folder / "out" / "result.json").read_text())
    program = torch.export.load(pt2)
    ours = {node.name: value for node, value in values_of(program.module(), torch.from_numpy(case.calib[:8].copy())).items()}
    matched, close = 0, 0
    # A shared observer has seen other values too: only observers of a single value can be compared.
    shared = {n["output"]["shared_with"] for n in result["nodes"] if n["output"]} - {None}
    for node in result["nodes"]:
        quantization, value = node["output"], ours.get(node["name"])
        if not quantization or value is None or quantization["shared_with"] or node["name"] in shared:
            continue
        same = [(scale, zero) for other, scale, zero in observed if near(other, value)]
        if not same:
            continue
        matched += 1
        got = (quantization["scale"][0], quantization["zero_point"][0])
        best = min(abs(got[0] / scale - 1) + (abs(got[1] - zero) > 1) for scale, zero in same)
        close += best <= 1e-4
        report.expect(best <= 1e-2, f"{node['name']}: {got}, PT2E {same}")
    report.expect(matched >= 2 and close >= 0.9 * matched, f"only {close} of {matched} common values agree to 1e-4")
    mine = [np.float32(node["weight"]["scale"]) for node in result["nodes"] if node["weight"]]
    found = sum(any(w.shape == m.shape and np.allclose(w, m, rtol=1e-6, atol=0) for m in mine) for w in weights)
    report.expect(weights and found == len(weights), f"{len(weights) - found} of {len(weights)} weights have other scales")
    report.fact(f"{close} of {matched} values that both observe within 1e-4, {found} of {len(weights)} weights equal")
    return report


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(oracle.THREADS)
    failed = 0
    for name in sys.argv[1:] or NETWORKS:
        with tempfile.TemporaryDirectory() as folder:
            report = compare(name, pathlib.Path(folder))
        report.print()
        failed += bool(report.problems)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
