# SPDX-License-Identifier: Apache-2.0
"""Models trained with PT2E's simulated quantization, with signed activations, or saved again after an edit: the converted model is that of
convert_pt2e or convert_to_reference_fx, and a saved model keeps the ranges of its file.
"""
import copy
import functools
import json
import operator
import subprocess
import warnings
import zipfile

import torch
from torch import nn
from torch.ao.quantization import FakeQuantize, MovingAverageMinMaxObserver, QConfig, QConfigMapping
from torch.ao.quantization.backend_config import get_tensorrt_backend_config
from torch.ao.quantization.quantize_fx import convert_to_reference_fx, prepare_qat_fx

from torchao.quantization.pt2e import move_exported_model_to_eval
from torchao.quantization.pt2e.fake_quantize import FakeQuantizeBase
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_qat_pt2e
from torchao.quantization.pt2e.quantizer.x86_inductor_quantizer import (X86InductorQuantizer,
                                                                        get_default_x86_inductor_quantization_config)
from torchao.testing.pt2e._xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config

import checks
import oracle
import test_trained as trained

warnings.simplefilter("ignore")
# Integers that are signed in the file and unsigned here.
SIGNED = QConfig(activation=FakeQuantize.with_args(observer=MovingAverageMinMaxObserver, quant_min=-128, quant_max=127, dtype=torch.qint8),
                 weight=trained.FAKE.weight)


class Stack(nn.Module):
    """Convolutions with and without batch norm, a linear layer: PT2E's quantizers observe what convert_fx observes."""

    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.relu = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()
        self.conv2, self.relu2, self.fc = nn.Conv2d(8, 8, 3, stride=2), nn.ReLU(), nn.Linear(72, 5)

    def forward(self, x):
        y = self.relu(self.bn(self.conv(x)))
        return self.fc(self.relu2(self.conv2(y)).flatten(1))


def train_pt2e(model, quantizer):
    """(prepared, example), trained for a few steps."""
    torch.manual_seed(3)
    example = trained.images(4)
    prepared = prepare_qat_pt2e(torch.export.export(model().train(), (example,), strict=True).module(), quantizer)
    checks.train(prepared, lambda: trained.images(4), trained.STEPS)
    move_exported_model_to_eval(prepared)
    return prepared, example


def x86_quantizer():
    return X86InductorQuantizer().set_global(get_default_x86_inductor_quantization_config(is_qat=True))


def check_pt2e(program, folder):
    """PT2E QAT: values that both observe have convert_pt2e's scales, weights all of them."""
    prepared, example = train_pt2e(trained.Residual, x86_quantizer())
    torch.export.save(torch.export.export(prepared, (example,)), folder / "model.pt2")
    torch.save(example, folder / "calib.pt")
    error, _, result = checks.quantize(program, folder / "model.pt2", folder / "calib.pt", folder, "--export", "torchscript")
    if error:
        return [f"quantize: {error}"]
    theirs = [module for module in prepared.modules() if isinstance(module, FakeQuantizeBase)]
    scales = [module.calculate_qparams()[0].numpy().reshape(-1) for module in theirs]
    taken = [q for node in result["nodes"] for q in (node["output"], node["weight"]) if q and q.get("source")]
    problems = [f"{one['scale'][:3]} is no scale of the file" for one in taken if not any(checks.near(one["scale"], s) for s in scales)]
    weights = sum("axis" in one for one in taken)
    told = result["fake_quantizers"]
    print(f"pt2e: {told}, {weights} weights")
    if weights != 3 or told["found"] != len(theirs) or told["used"] != len(theirs) - 1:
        problems.append(f"{weights} weights, {told} of {len(theirs)}")
    if not any(one["kind"] == "unused_fake_quantizer" for one in result["findings"]):  # the sum's, before its relu
        problems.append("the range that is not used is not named")
    return problems


FUSED = torch.ops.aten.fused_moving_avg_obs_fake_quant.default
HELPERS = {"helper": torch.ops.aten._fused_moving_avg_obs_fq_helper.default,
           "functional": torch.ops.aten._fused_moving_avg_obs_fq_helper_functional.default}


def spelled(exported, helper):
    """The program with its fused fake quantizers as calls of `helper`, whose first result is theirs."""
    graph = exported.graph_module.graph
    for node in list(graph.nodes):
        if node.target is not FUSED:
            continue
        with graph.inserting_before(node):
            call = graph.call_function(helper, node.args, node.kwargs)
            first = graph.call_function(operator.getitem, (call, 0))
        value = node.meta["val"]
        count = len(helper._schema.returns)
        call.meta = {**node.meta, "val": tuple([value, torch.empty_like(value, dtype=torch.bool), *[node.args[k].meta["val"] for k in
                                                (3, 4, 5, 6)]][:count])}
        first.meta = dict(node.meta)
        node.replace_all_uses_with(first)
        graph.erase_node(node)
        exported.graph_signature.replace_all_uses(node.name, first.name)
    exported.graph_module.recompile()
    return exported


class Values(torch.fx.Interpreter):
    """Runs a graph and keeps what its nodes give."""

    def run_node(self, node):
        self.seen = getattr(self, "seen", {})
        self.seen[node.name] = super().run_node(node)
        return self.seen[node.name]


def check_pt2e_outputs(name, spelling, program, folder):
    """The exported model computes what convert_pt2e's does, up to the last layer's result, which X86InductorQuantizer keeps float."""
    quantizer = x86_quantizer() if name == "x86" else XNNPACKQuantizer().set_global(
        get_symmetric_quantization_config(is_per_channel=True, is_qat=True))
    prepared, example = train_pt2e(Stack, quantizer)
    exported = torch.export.export(prepared, (example,))
    if spelling != "fused":
        exported = spelled(exported, HELPERS[spelling])
    torch.export.save(exported, folder / "model.pt2")
    torch.save(example, folder / "calib.pt")
    error, _, result = checks.quantize(program, folder / "model.pt2", folder / "calib.pt", folder, "--export", "pt2", "--saturate", "observer")
    if error:
        return [f"quantize: {error}"]
    theirs = sum(isinstance(module, FakeQuantizeBase) for module in prepared.modules())
    told = result["fake_quantizers"]
    values = Values(torch.export.load(folder / "out" / "model.int8.pt2").module())
    with torch.no_grad():
        wanted = convert_pt2e(copy.deepcopy(prepared))(example)
        got = values.run(example)
    db = oracle.sqnr_db(wanted.numpy(), (values.seen["linear"] if name == "x86" else got).numpy())
    print(f"pt2e {name}, {spelling}: {told}, {db:.1f} dB against convert_pt2e")
    problems = [f"outputs: {db:.1f} dB"] if db < 60 else []
    if told["found"] != told["used"] or told["found"] < theirs:  # a shared one stands in several places
        problems.append(f"{told} of {theirs}")
    return problems


def check_signed(program, folder):
    """Signed activations become unsigned ones with the same scale and the point shifted by 128."""
    torch.manual_seed(5)
    backend, example = get_tensorrt_backend_config(), trained.images(8)
    prepared = prepare_qat_fx(Stack().train(), QConfigMapping().set_global(SIGNED), (example,), backend_config=backend)
    for _ in range(trained.STEPS):
        prepared(trained.images(4))
    prepared.eval()
    torch.jit.trace(copy.deepcopy(prepared), (example,), check_trace=False).save(str(folder / "model.pt"))
    torch.save(example, folder / "calib.pt")
    prepared(example)  # as the trace observed it
    reference = convert_to_reference_fx(copy.deepcopy(prepared), backend_config=backend)
    wanted = sorted((float(reference.get_buffer(n.args[1].target)), int(reference.get_buffer(n.args[2].target)) + 128)
                    for n in reference.graph.nodes if n.target is torch.quantize_per_tensor)
    error, _, result = checks.quantize(program, folder / "model.pt", folder / "calib.pt", folder, "--export", "pt2-reference")
    if error:
        return [f"quantize: {error}"]
    ours = sorted((n["output"]["scale"][0], n["output"]["zero_point"][0]) for n in result["nodes"]
                  if n["output"] and n["output"].get("source") and not n["output"]["shared_with"])
    with torch.no_grad():
        got = torch.export.load(folder / "out" / "model.reference.pt2").module()(example)
        db = oracle.sqnr_db(reference(example).numpy(), got.numpy())
    print(f"signed: {len(ours)} of {len(wanted)} activations, {result['fake_quantizers']}, {db:.1f} dB against convert_to_reference_fx")
    problems = [f"outputs: {db:.1f} dB"] if db < 60 else []
    if not ours or any(not any(z == z2 and checks.near([a], [b]) for b, z2 in wanted) for a, z in ours):
        problems.append(f"{ours} instead of {wanted}")
    return problems


def check_saved(program, folder):
    """An edited model that is saved keeps the ranges; a damaged record is an error."""
    prepared = trained.trained("residual")
    torch.manual_seed(7)
    calib = trained.images(8)
    trained.save(prepared, "pt2", calib, folder / "model.pt2")
    torch.save(calib, folder / "calib.pt")
    (folder / "edits.json").write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86",
                                                   "edits": [{"do": "add_output", "at": {"module": "conv.relu", "op": "aten.relu.default"}}]}))
    run = subprocess.run([program, "edit", folder / "model.pt2", "--recipe", folder / "edits.json", "--out", folder / "saved.pt2"],
                         capture_output=True, text=True)
    if run.returncode:
        return [f"edit: {run.stderr.strip()[-400:]}"]
    error, _, before = checks.quantize(program, folder / "model.pt2", folder / "calib.pt", folder)
    again, told, after = checks.quantize(program, folder / "saved.pt2", folder / "calib.pt", folder)
    if error or again:
        return [f"quantize: {error or again}"]

    def ranges(result):
        return {(node["name"], place): (q["scale"], q["zero_point"]) for node in result["nodes"] for place in ("output", "weight")
                if (q := node[place]) and q.get("source")}

    problems = [] if ranges(before) == ranges(after) and ranges(after) else [f"ranges {ranges(after)} instead of {ranges(before)}"]
    if before["fake_quantizers"] != after["fake_quantizers"] or "keeps ranges of training" not in told:
        problems.append(f"{after['fake_quantizers']} instead of {before['fake_quantizers']}: {told}")
    with torch.no_grad():
        torch.export.load(folder / "saved.pt2").module()(calib)  # PyTorch reads it
    with zipfile.ZipFile(folder / "saved.pt2") as source, zipfile.ZipFile(folder / "damaged.pt2", "w") as target:
        for item in source.infolist():
            data = source.read(item)
            target.writestr(item.filename, data.replace(b'"axis":0', b'"axis":9') if "ranges" in item.filename else data)
    damaged, _, _ = checks.quantize(program, folder / "damaged.pt2", folder / "calib.pt", folder)
    if not damaged or "is damaged" not in damaged:
        problems.append(f"a damaged record: {damaged}")
    print(f"saved: {len(ranges(after))} ranges, {after['fake_quantizers']}")
    return problems


CHECKS = {"pt2e": check_pt2e, "signed": check_signed, "saved": check_saved}
for _quantizer, _spelling in (("x86", "fused"), ("x86", "helper"), ("xnnpack", "fused"), ("xnnpack", "functional")):
    CHECKS[f"pt2e-{_quantizer}-{_spelling}"] = functools.partial(check_pt2e_outputs, _quantizer, _spelling)

if __name__ == "__main__":
    checks.main(CHECKS)
