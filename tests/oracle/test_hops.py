# SPDX-License-Identifier: Apache-2.0
"""Int8 stays int8: the lowered form leaves the integers no more often than torch.ao's, over real networks.

    python test_hops.py [--all | --zoo | NAME ...]      names as in models.py, zoo.py and families.py; --all: some large ones as well; --zoo: every one
"""
import contextlib
import copy
import functools
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import torch
from torch.ao.quantization.quantize_fx import convert_fx, convert_to_reference_fx, prepare_fx
from torch.utils._pytree import tree_leaves

import families
import models
import recipes
import zoo

QUANTSCOPE = os.environ["QUANTSCOPE"]
NETWORKS = {**{name: functools.partial(models.from_family, name) for name in families.names()}, **models.CASES, **zoo.CASES}
QUICK = ["digits", "mixed", "tutorial_bn", "activations", "functional", "parts", "paths", "skips", "mobilenet_v3_small", "shufflenet_v2_x0_5",
         "timm.lcnet_050"]
MORE = ["torchvision.shufflenet_v2_x0_5", "torchvision.convnext_tiny", "torchvision.segmentation.deeplabv3_mobilenet_v3_large"]
RIGHT_DB = 30  # a lowered form farther from its own reference form has a kernel that is wrong
REFUSED_HOPS = 2  # a kernel that LibTorch gets wrong stays in reference form: one dequantize, one quantize


def is_wrong(prepared, lowered, example, backend):
    """Whether torch.ao's lowered form raises or computes something else than its reference form."""
    reference = convert_to_reference_fx(prepared, backend_config=backend)
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # torch.fx prints where it raises
            outputs = list(zip(tree_leaves(reference(example)), tree_leaves(lowered(example))))
    except Exception:  # noqa: BLE001  whatever torch has against its own form
        return True
    return any(20 * torch.log10(wanted.norm() / (made - wanted).norm()) < RIGHT_DB for wanted, made in outputs)


def theirs(model, example):
    """(hops, kernels, whether a kernel is wrong) of torch.ao's lowered form: quantize and dequantize nodes of values that depend on
    the input, and quantized operators that compute."""
    decisions = recipes.x86()
    prepared = prepare_fx(families.traced(model, example), decisions.mapping, (example,), backend_config=decisions.backend)
    prepared(example)
    lowered = convert_fx(copy.deepcopy(prepared), backend_config=decisions.backend)
    modules = dict(lowered.named_modules())
    hops = kernels = 0
    for node in lowered.graph.nodes:
        if node.target is torch.quantize_per_tensor and node.args[0].op != "get_attr" or node.target == "dequantize":
            hops += 1
        if node.op == "call_module":
            kind = type(modules[node.target])
            kernels += kind.__module__.startswith("torch.ao.nn") and "Dropout" not in kind.__name__
        elif node.op == "call_function":
            kernels += str(node.target).startswith("quantized.")
    return hops, kernels, is_wrong(prepared, lowered, example, decisions.backend)


def ours(path, data, folder):
    """The same of our TorchScript export, and the kernels that the check refused."""
    done = subprocess.run([QUANTSCOPE, "quantize", path, "--data", data, "--device", "cpu", "--export", "torchscript", "--out", folder],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    graph = torch.jit.load(folder / "model.int8.ts.pt").inlined_graph
    stored, hops, kernels = set(), 0, 0
    for node in graph.nodes():
        kind, reads = node.kind(), [value.unique() for value in node.inputs()]
        if kind in ("prim::Constant", "prim::GetAttr") or kind.startswith(("aten::quantize_per", "aten::dequantize")) and reads[0] in stored:
            stored.update(value.unique() for value in node.outputs())
        elif kind.startswith(("aten::quantize_per", "aten::dequantize")):
            hops += 1
        kernels += kind.startswith("quantized::") and "prepack" not in kind
    return hops, kernels, json.loads((folder / "result.json").read_text())


def check(name):
    """Whether the network leaves the integers no more often than torch.ao's; tells the counts."""
    case = NETWORKS[name]()
    example = torch.from_numpy(case.calib[:2].copy())
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        folder = pathlib.Path(folder)
        program = torch.export.load(case.pt2) if case.pt2 else torch.export.export(case.model, (example,))
        torch.export.save(program, folder / "model.pt2")
        np.savez(folder / "data.npz", **{program.graph_signature.user_inputs[0]: example.numpy()})
        hops, kernels, result = ours(folder / "model.pt2", folder / "data.npz", folder / "out")
        wanted, known, wrong = theirs(case.model, example)
    refused = [entry for entry in result["residue"] if entry["reason"].startswith("kernel check")]
    good = hops <= wanted + (REFUSED_HOPS * len(refused) if wrong else 0)
    print(f"{'ok  ' if good else 'FAIL'} {name}: {hops} hops and {kernels} kernels, torch.ao {wanted} and {known}"
          + ", not all of them right" * wrong + "".join(f"; {entry['name']} refused, {entry['reason']}" for entry in refused), flush=True)
    return good


def main():
    warnings.simplefilter("ignore")
    torch.backends.quantized.engine = "x86"
    torch.backends.mha.set_fastpath_enabled(False)
    words = sys.argv[1:]
    wanted = list(NETWORKS) if "--zoo" in words else QUICK + MORE if "--all" in words else words or QUICK
    failed = [name for name in wanted if not check(name)]
    print(f"{len(wanted)} networks, {len(failed)} with more float hops than torch.ao's lowered form")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
