# SPDX-License-Identifier: Apache-2.0
"""Real networks, exported every way: the same float outputs as PyTorch, one and the same plan, in TorchScript too, and the whole job to
exports that compute what was told.

    python test_models.py RUN_MODEL [--all | NAME ...]      names as in families.py
"""
import ast
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import torch
import torch.utils._pytree as pytree

import families

QUANTSCOPE = os.environ["QUANTSCOPE"]
QUICK = ["torchvision.mobilenet_v3_small"]
ASKED = ["torchvision." + name for name in (
    "mobilenet_v3_small", "mobilenet_v3_large", "efficientnet_b0", "densenet121", "googlenet", "shufflenet_v2_x0_5", "squeezenet1_1", "regnet_y_400mf",
    "resnext50_32x4d", "convnext_tiny", "swin_t", "vit_b_16", "segmentation.deeplabv3_mobilenet_v3_large", "segmentation.fcn_resnet50",
    "detection.ssdlite320_mobilenet_v3_large")] + ["timm." + name for name in (
        "resnet10t", "lcnet_050", "tinynet_e", "ghostnet_050", "repvgg_a0", "dla34", "mixer_s32_224", "resmlp_12_224", "convnext_atto",
        "poolformer_s12", "vit_tiny_patch16_224", "levit_128s", "edgenext_xx_small", "res2net50_14w_8s")]
# A branch in it that the size of an image decides: kept whole in a script.
BRANCHES = ("torchvision.swin_t",)
# Calls that a trace takes for the one of function and method that backends know (no operator of Python's is one).
EITHER = ("flatten", "permute", "matmul", "unsqueeze")
SQNR_FLOOR = 0.2  # dB between what result.json tells of an output and what the exported file computes


def exports(model, example):
    """The ways to write one network: training IR and core ATen, with a fixed and with an open batch."""
    batch = torch.export.Dim("batch", min=2, max=64)
    for shapes, name in ((None, "static"), (({0: batch},), "dynamic")):
        try:
            program = torch.export.export(model, (example,), dynamic_shapes=shapes)
        except Exception as error:  # PyTorch fixes the batch of some networks itself
            if shapes is None:
                raise
            print(f"  {name}: torch.export refuses: {str(error).splitlines()[0][:100]}")
            continue
        yield name, program
        yield name + ", core ATen", program.run_decompositions()


def in_torchscript(model, example, path):
    """The same network as a trace and as a script, where PyTorch can write it: the way and its plan."""
    for way, write in (("traced", lambda: torch.jit.trace(model, (example,), strict=False, check_trace=False)), ("scripted", lambda: torch.jit.script(model))):
        try:
            written = write()
        except Exception as error:
            print(f"  {way}: PyTorch refuses: {str(error).strip().splitlines()[0][:100]}")
            continue
        written.save(str(path))
        yield way, decisions(path)


def by_word(plan):
    """Without where a function lives, which a trace does not tell: `torch.mean` and `mean`."""
    return {(module, call, tuple(name.rsplit(".", 1)[-1] for name in ast.literal_eval(pattern)), *rest) for module, call, pattern, *rest in plan
            if pattern != "None"}


def same_bits(wanted, got):
    wanted, got = pytree.tree_leaves(wanted), pytree.tree_leaves(got)
    return len(wanted) == len(got) and all(torch.equal(a, b) for a, b in zip(wanted, got))


def decisions(path):
    """What the plan says, module by module: core ATen has other operators, the modules and the patterns are the same. Dropout and
    contiguous(), which change no value, are not in core ATen."""
    done = subprocess.run([QUANTSCOPE, "plan", str(path), "--json"], capture_output=True, text=True, check=True)
    nodes = json.loads(done.stdout)["nodes"]
    return sorted({(n["module"], n["call_index"], str(n["pattern"]), n["quantized"], str(n["qconfig"]))
                   for n in nodes if n["op"] not in ("input", "parameter", "constant") and n["quantized"] and not any(word in str(n["pattern"]) for word in ("ropout", "contiguous"))})


def sqnr(wanted, got):
    noise = float(((wanted.double() - got.double()) ** 2).sum())
    return 200.0 if noise == 0 else 10 * math.log10(max(float((wanted.double() ** 2).sum()), 1e-30) / noise)


class Failures(list):
    def expect(self, condition, text):
        if not condition:
            print("FAIL", text, flush=True)
            self.append(text)


def check(name, run_model, failures):
    model, example = families.make(name)
    print(name, flush=True)
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        folder = pathlib.Path(folder)
        torch.save([(example,)], folder / "call.pt")
        plans = {}
        for way, program in exports(model, example):
            path = folder / "model.pt2"
            torch.export.save(program, path)
            done = subprocess.run([run_model, path, folder / "call.pt", folder], capture_output=True, text=True)
            failures.expect(done.returncode == 0, f"{name}, {way}: {done.stderr}")
            if done.returncode == 0:
                (_, got), = torch.load(folder / "float.expected.pt", weights_only=False)
                failures.expect(same_bits(program.module()(example), got), f"{name}, {way}: float outputs differ")
            plans[way] = decisions(path)
            if way == "static":
                whole_job(name, model, example, path, folder, failures)
        for way, plan in plans.items():
            differing = [row for row in plan if row not in plans["static"]] + [row for row in plans["static"] if row not in plan]
            failures.expect(not differing, f"{name}, {way}: the plan differs, first {differing[:2]}")
        for way, plan in in_torchscript(model, example, folder / "model.pt"):
            check_torchscript(name, way, plans["static"], plan, failures)
            plans[way] = plan
        print(f"  {', '.join(plans)}: {len(plans['static'])} quantized units", flush=True)


def check_torchscript(name, way, wanted, plan, failures):
    if way == "scripted":
        differing = [] if name in BRANCHES else sorted(set(wanted) ^ set(plan))
    else:
        wanted, plan = by_word(wanted), by_word(plan)
        differing = sorted(wanted - plan, key=str) + [row for row in plan - wanted if row[2][0] not in EITHER]
    failures.expect(not differing, f"{name}, {way}: the plan differs, first {differing[:2]}")


def whole_job(name, model, example, path, folder, failures):
    torch.manual_seed(3)
    data = torch.cat([example, example + 0.2 * torch.randn_like(example)])
    np.savez(folder / "data.npz", x=data.numpy())
    out = folder / "out"
    done = subprocess.run([QUANTSCOPE, "quantize", path, "--data", folder / "data.npz", "--export", "torchscript,pt2-reference", "--out", out], capture_output=True, text=True)
    failures.expect(done.returncode == 0, f"{name}: quantize: {done.stderr.splitlines()[-1:]}")
    if done.returncode:
        return
    result = json.loads((out / "result.json").read_text())
    loaded = torch.jit.load(out / "model.int8.ts.pt")
    size = len(example)
    wanted = [pytree.tree_leaves(model(batch)) for batch in data.split(size)]
    got = [pytree.tree_leaves(loaded(batch)) for batch in data.split(size)]
    for i, told in enumerate(result["outputs"]):
        if told["lowered"]["sqnr_db"] is None:
            continue  # a head that is all zeros before it is trained
        measured = sqnr(torch.cat([w[i].flatten() for w in wanted]), torch.cat([g[i].flatten() for g in got]))
        failures.expect(abs(measured - told["lowered"]["sqnr_db"]) < SQNR_FLOOR,
                        f"{name}: output {told['name']}: the file gives {measured:.2f} dB, result.json says {told['lowered']['sqnr_db']:.2f}")
    coverage = result["coverage"]
    print(f"  {coverage['quantized']} of {coverage['eligible']} eligible, {coverage['total']} in all; "
          + ", ".join(f"{o['cumulative']['sqnr_db'] or 0:.1f} dB, lowered {o['lowered']['sqnr_db'] or 0:.1f}" for o in result["outputs"]), flush=True)


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", torch.get_num_threads())))
    torch.backends.mha.set_fastpath_enabled(False)
    failures = Failures()
    wanted = ASKED if "--all" in sys.argv else sys.argv[2:] or QUICK
    for name in wanted:
        try:
            check(name, sys.argv[1], failures)
        except Exception as error:
            failures.expect(False, f"{name}: {type(error).__name__}: {str(error).splitlines()[0][:300]}")
    print(f"{len(wanted)} networks, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
