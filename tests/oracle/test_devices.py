# SPDX-License-Identifier: Apache-2.0
"""On a GPU the whole job gives what it gives on the CPU: verdicts, parameters within the bounds of parity, errors to 0.5 dB at the
outputs; and how long the stages take on each.

    python test_devices.py [NAME ...]      names as in models.py and zoo.py
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import torch

import models
import zoo

QUANTSCOPE = os.environ["QUANTSCOPE"]
NETWORKS = {**models.CASES, **zoo.CASES}
QUICK = ["digits", "tutorial_bn", "mixed", "functional", "sequence", "activations", "skips", "twice", "resnet18", "mobilenet_v2"]
NEAR_DB = 0.5


def quantized(paths, folder, device):
    done = subprocess.run([QUANTSCOPE, "quantize", paths[0], "--data", paths[1], "--device", device, "--out", folder],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "result.json").read_text())


def scales(result):
    """Scale and zero point of each observed output, by node."""
    return {node["name"]: (node["output"]["scale"], node["output"]["zero_point"]) for node in result["nodes"]
            if node.get("output") and node["output"].get("scale")}


def complaints(cpu, gpu):
    """What is apart that must not be."""
    found = []
    verdicts = [[(node["name"], node["quantized"], node.get("reason_code")) for node in result["nodes"]] for result in (cpu, gpu)]
    if verdicts[0] != verdicts[1]:
        found.append(f"other verdicts: {[pair for pair in zip(*verdicts) if pair[0] != pair[1]][:3]}")
    wanted, made = scales(cpu), scales(gpu)
    if wanted.keys() != made.keys():
        return found + ["other observers"]
    off = []
    for name, (known, zeros) in wanted.items():
        off += [abs(a - b) / a for a, b in zip(known, made[name][0])]
        if any(abs(a - b) > 2 for a, b in zip(zeros, made[name][1])):
            found.append(f"{name}: zero points {zeros} and {made[name][1]}")
    near = sum(one <= 1e-4 for one in off)
    if off and (near < 0.95 * len(off) or max(off) > 1e-2):
        found.append(f"{near} of {len(off)} scales within 1e-4, the farthest {max(off):.2g}")
    for ours, theirs in zip(cpu["outputs"], gpu["outputs"]):
        for form in ("cumulative", "lowered"):
            a, b = (output[form]["sqnr_db"] for output in (ours, theirs))
            if abs(a - b) > NEAR_DB:
                found.append(f"{form} of {ours['name']}: {a:.2f} and {b:.2f} dB")
    return found


def check(name):
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        folder = pathlib.Path(folder)
        paths = models.write(NETWORKS[name](), folder)
        cpu, gpu = quantized(paths, folder / "cpu", "cpu"), quantized(paths, folder / "gpu", "cuda")
    assert gpu["device"].startswith("cuda"), gpu["device"]
    found = complaints(cpu, gpu)
    times = ", ".join(f"{stage} {seconds:.2f}/{gpu['timing_s'][stage]:.2f}" for stage, seconds in cpu["timing_s"].items()
                      if stage in gpu["timing_s"])
    same = sum(one == other for one, other in zip(scales(cpu).values(), scales(gpu).values()))
    print(f"{'FAIL' if found else 'ok  '} {name}: {same} of {len(scales(cpu))} parameters the same; s on CPU/GPU: {times}"
          + "".join(f"; {line}" for line in found), flush=True)
    return not found


def main():
    warnings.simplefilter("ignore")
    if not torch.cuda.is_available():
        print("skipped: no CUDA device")
        sys.exit(77)
    wanted = sys.argv[1:] or QUICK
    failed = [name for name in wanted if not check(name)]
    print(f"{len(wanted)} networks, {len(failed)} apart on the two devices")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
